//! Explanations for the terminal, as JSON lines, and as a page for the browser: one file, without
//! scripts or references to others.

use std::fmt::Write as _;
use std::io::Write;

use dropchain::{Error, Result};
use dropchain_analysis::Part;
use dropchain_formats::Escaped;
use serde_json::{Value, json};

use super::{ExplainedSentence, OUTPUT, Reasons};
use crate::terminal::{cut, pad, printable, width, wrap};

/// Columns before the description of a part: its contribution.
const INDENT: usize = 12;

/// Columns between the description of a part and its weights.
const GAP: usize = 2;

/// Minimum number of columns of a description.
const MIN_DESCRIPTION: usize = 16;

/// Writes a sentence: its labels, and the reasons of the chosen tokens.
pub fn write_text(
    sentence: &ExplainedSentence<'_>,
    columns: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    let mut text = wrap(&labeled(sentence), columns, 2);
    text.push('\n');
    let chosen = sentence.chosen();
    for &t in &chosen {
        text.push('\n');
        write_token(sentence, t, columns, &mut text)?;
    }
    if chosen.len() < sentence.words.len() {
        text.push('\n');
        text.push_str(&wrap(&not_shown(sentence, &chosen), columns, 0));
        text.push('\n');
    }
    text.push('\n');
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

/// Returns the words with their labels, except those outside of spans.
fn labeled(sentence: &ExplainedSentence<'_>) -> String {
    let words = sentence.words.iter().enumerate();
    let words = words.map(|(t, word)| match sentence.is_outside(t) {
        true => printable(word),
        false => format!("{}/{}", printable(word), printable(sentence.label(t))),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn write_token(
    sentence: &ExplainedSentence<'_>,
    t: usize,
    columns: usize,
    text: &mut String,
) -> Result<()> {
    let (word, label) = (printable(&sentence.words[t]), printable(sentence.label(t)));
    let probability = sentence.explanation.probability(t);
    let beginning = format!("{} {word}: {label} (p {probability:.3})", t + 1);
    let Some(alternative) = sentence.alternative(t) else {
        let why = match sentence.against {
            Some(labels) if labels.contains(&sentence.explanation.labels()[t]) => {
                "is the label asked for"
            }
            _ => "no other such label is possible",
        };
        text.push_str(&wrap(&format!("{beginning}, {why}"), columns, 2));
        text.push('\n');
        return Ok(());
    };
    let reasons = sentence.reasons(&alternative)?;
    let other = printable(&sentence.describe_alternative(&alternative));
    let title = format!("{beginning}, by {:.3} over {other}", reasons.margin);
    text.push_str(&wrap(&title, columns, 2));
    text.push('\n');
    write_reasons(sentence, t, &reasons, columns, text);
    Ok(())
}

fn write_reasons(
    sentence: &ExplainedSentence<'_>,
    t: usize,
    reasons: &Reasons<'_>,
    columns: usize,
    text: &mut String,
) {
    let weights: Vec<String> = (reasons.shown.iter())
        .map(|part| describe_weights(sentence, part))
        .collect();
    let descriptions: Vec<String> = (reasons.shown.iter())
        .map(|part| describe(sentence, t, part))
        .collect();
    let widest = |texts: &[String]| texts.iter().map(|text| width(text)).max().unwrap_or(0);
    let available = columns - INDENT;
    // Weights get what they need, unless too little is left for descriptions.
    let right = widest(&weights).min(available - GAP - MIN_DESCRIPTION);
    let left = widest(&descriptions).min(available - GAP - right);
    for ((part, weights), description) in reasons.shown.iter().zip(weights).zip(descriptions) {
        let description = pad(&cut(&description, left), left);
        let contribution = part.contribution();
        let weights = cut(&weights, right);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{contribution:+10.3}  {description}  {weights}");
    }
    if reasons.others > 0 {
        let (sum, others) = (reasons.sum_of_others, reasons.others);
        let s = if others == 1 { "" } else { "s" };
        let _ = writeln!(text, "{sum:+10.3}  {others} other{s}");
    }
}

/// Describes a part of the margin of token `t`, with its token if that is another.
fn describe(sentence: &ExplainedSentence<'_>, t: usize, part: &Part<'_>) -> String {
    let description = printable(&ExplainedSentence::describe(part));
    match part.token == t {
        true => description,
        false => format!("{}: {description}", printable(&sentence.words[part.token])),
    }
}

/// Describes the weights of a part that are not 0, with their labels.
fn describe_weights(sentence: &ExplainedSentence<'_>, part: &Part<'_>) -> String {
    let weights = [0, 1]
        .into_iter()
        .filter(|&which| part.weights[which] != 0.0);
    let weights = weights.map(|which| {
        let labels = printable(&sentence.describe_labels(part, which));
        format!("{labels} {:.3}", part.weights[which])
    });
    weights.collect::<Vec<_>>().join(", ")
}

/// Says how clear the labels of the tokens are that are not among the chosen ones, in ascending
/// order.
fn not_shown(sentence: &ExplainedSentence<'_>, chosen: &[usize]) -> String {
    let is_hidden = |t: &usize| chosen.binary_search(t).is_err();
    let hidden = (0..sentence.words.len()).filter(is_hidden);
    let count = sentence.words.len() - chosen.len();
    let margins = hidden.filter_map(|t| {
        let runner_up = sentence.explanation.runner_up(t)?;
        Some((runner_up.margin(), &sentence.words[t]))
    });
    let least = margins.min_by(|x, y| x.0.total_cmp(&y.0));
    let s = if count == 1 { "" } else { "s" };
    let margin = least.map_or(String::new(), |(margin, word)| {
        format!(
            ", with margins of {margin:.3} ({}) or more",
            printable(word)
        )
    });
    format!("{count} other token{s}{margin}; --all explains them")
}

/// Writes a sentence as a line of JSON.
pub fn write_json(sentence: &ExplainedSentence<'_>, out: &mut Vec<u8>) -> Result<()> {
    let labels = 0..sentence.words.len();
    let labels: Vec<&str> = labels.map(|t| sentence.label(t)).collect();
    let beginning = json!({"tokens": sentence.words, "labels": labels}).to_string();
    // Token by token, since values take much more memory than their text.
    out.extend_from_slice(beginning.trim_end_matches('}').as_bytes());
    out.extend_from_slice(b",\"explanations\":[");
    for (i, t) in sentence.chosen().into_iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        let written = write!(out, "{}", token_json(sentence, t)?);
        written.map_err(|e| Error::io(OUTPUT, e))?;
    }
    out.extend_from_slice(b"]}\n");
    Ok(())
}

fn token_json(sentence: &ExplainedSentence<'_>, t: usize) -> Result<Value> {
    let mut value = json!({
        "token": t,
        "text": sentence.words[t],
        "label": sentence.label(t),
        "probability": sentence.explanation.probability(t),
    });
    let Some(alternative) = sentence.alternative(t) else {
        return Ok(value);
    };
    let reasons = sentence.reasons(&alternative)?;
    let range = alternative.range();
    let labels = alternative.labels().iter();
    value["runner_up"] = json!({
        "label": sentence.name(alternative.label()),
        "start": range.start,
        "end": range.end,
        "labels": labels.map(|&label| sentence.name(label)).collect::<Vec<_>>(),
    });
    value["margin"] = reasons.margin.into();
    let shown = reasons.shown.iter();
    value["parts"] = shown.map(|shown| part(sentence, shown)).collect();
    value["others"] = json!({"parts": reasons.others, "contribution": reasons.sum_of_others});
    Ok(value)
}

fn part(sentence: &ExplainedSentence<'_>, part: &Part<'_>) -> Value {
    let labels = part.labels.map(|label| sentence.name(label));
    let mut value = json!({
        "kind": part.kind.name(),
        "token": part.token,
        "contribution": part.contribution(),
        "labels": labels,
        "weights": part.weights,
    });
    if let Some(previous) = part.previous {
        value["previous_labels"] = json!(previous.map(|label| sentence.name(label)));
    }
    if !part.name.is_empty() {
        value["attribute"] = json!(part.name);
        value["value"] = part.value.into();
    }
    value
}

const STYLE: &str = include_str!("style.css");

/// The end of the page.
pub const PAGE_END: &str = "</main>\n</body>\n</html>\n";

/// Returns the beginning of the page for a model.
pub fn page_beginning(model: &str) -> String {
    let model = Escaped(model);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Labels explained: {model}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <main>\n<h1>Labels explained</h1>\n<p class=\"intro\">Model <code>{model}</code>. The \
         margin of a label is the score of the best label sequence minus that of the best one \
         with another label there, which is exp(margin) times less likely. Each reason is what a \
         weight adds to the margin; all of them sum to it.</p>\n"
    )
}

/// Writes a sentence: its words, and the reasons of the chosen tokens below them.
pub fn write_html(sentence: &ExplainedSentence<'_>, out: &mut Vec<u8>) -> Result<()> {
    out.extend_from_slice(b"<section>\n<p class=\"sentence\">");
    for (t, word) in sentence.words.iter().enumerate() {
        let (word, label) = (Escaped(word), Escaped(sentence.label(t)));
        let probability = sentence.explanation.probability(t);
        let title = format!("{label}, p {probability:.3}");
        let token = match sentence.is_outside(t) {
            true => format!("<span title=\"{title}\">{word}</span>\n"),
            false => format!("<mark title=\"{title}\">{word} <small>{label}</small></mark>\n"),
        };
        out.extend_from_slice(token.as_bytes());
    }
    out.extend_from_slice(b"</p>\n");
    for t in sentence.chosen() {
        out.extend_from_slice(token_html(sentence, t)?.as_bytes());
    }
    out.extend_from_slice(b"</section>\n");
    Ok(())
}

/// Returns the reasons of a token, folded.
fn token_html(sentence: &ExplainedSentence<'_>, t: usize) -> Result<String> {
    let (word, label) = (Escaped(&sentence.words[t]), Escaped(sentence.label(t)));
    let class = if sentence.is_outside(t) {
        " class=\"outside\""
    } else {
        ""
    };
    let mut html = format!("<details{class}><summary><b>{word}</b> {label}");
    let Some(alternative) = sentence.alternative(t) else {
        html.push_str("</summary>\n<p>There is nothing to compare it with.</p></details>\n");
        return Ok(html);
    };
    let reasons = sentence.reasons(&alternative)?;
    let other = sentence.describe_alternative(&alternative);
    let other = Escaped(&other);
    // Writing to a string cannot fail.
    let _ = write!(
        html,
        " <span class=\"margin\">by {:.3} over {other}</span></summary>\n<table>\n<tr>\
         <th>adds<th>reason<th>chosen<th>instead</tr>\n",
        reasons.margin
    );
    html.push_str(&rows(sentence, t, &reasons));
    html.push_str("</table></details>\n");
    Ok(html)
}

/// Returns the rows of the table of reasons.
fn rows(sentence: &ExplainedSentence<'_>, t: usize, reasons: &Reasons<'_>) -> String {
    let sizes = reasons.shown.iter().map(|part| part.contribution().abs());
    let largest = sizes.fold(f64::MIN_POSITIVE, f64::max);
    let mut html = String::new();
    for part in &reasons.shown {
        let contribution = part.contribution();
        let share = 100.0 * contribution.abs() / largest;
        let class = if contribution < 0.0 { "against" } else { "for" };
        let place = match part.token == t {
            true => String::new(),
            false => format!("<i>{}</i> ", Escaped(&sentence.words[part.token])),
        };
        let description = ExplainedSentence::describe(part);
        let description = Escaped(&description);
        let [own, other] = [0, 1].map(|which| weight(sentence, part, which));
        let _ = writeln!(
            html,
            "<tr><td class=\"{class}\" style=\"--share:{share:.0}%\">{contribution:+.3}\
             <td>{place}<code>{description}</code><td>{own}<td>{other}</tr>"
        );
    }
    if reasons.others > 0 {
        let (sum, others) = (reasons.sum_of_others, reasons.others);
        let _ = writeln!(
            html,
            "<tr><td>{sum:+.3}<td colspan=\"3\">{others} others</tr>"
        );
    }
    html
}

fn weight(sentence: &ExplainedSentence<'_>, part: &Part<'_>, which: usize) -> String {
    let labels = sentence.describe_labels(part, which);
    format!(
        "{} <span class=\"weight\">{:.3}</span>",
        Escaped(&labels),
        part.weights[which]
    )
}
