//! Explanations as text.

use std::fmt::Write as _;

use dropchain::Result;
use dropchain_layout::{cut, pad, printable, width, wrap};

use super::{ExplainedSentence, Part, Reasons};

/// Columns before the description of a part: its contribution.
const INDENT: usize = 12;

/// Columns between the description of a part and its weights.
const GAP: usize = 2;

/// Minimum number of columns of a description.
const MIN_DESCRIPTION: usize = 16;

impl ExplainedSentence<'_> {
    /// Returns a text: the labels, and the reasons of the chosen tokens.
    ///
    /// # Errors
    ///
    /// Same as [`Alternative::parts`](super::Alternative::parts).
    pub fn text(&self, columns: usize) -> Result<String> {
        write_sentence(self, columns)
    }
}

fn write_sentence(sentence: &ExplainedSentence<'_>, columns: usize) -> Result<String> {
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
    Ok(text)
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
    let weights: Vec<String> =
        (reasons.shown.iter()).map(|part| describe_weights(sentence, part)).collect();
    let descriptions: Vec<String> =
        (reasons.shown.iter()).map(|part| describe(sentence, t, part)).collect();
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
    let weights = [0, 1].into_iter().filter(|&which| part.weights[which] != 0.0);
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
    let least = sentence.least_clear(hidden);
    let s = if count == 1 { "" } else { "s" };
    let least = least.and_then(|t| Some((sentence.explanation.runner_up(t)?, t)));
    let margin = least.map_or(String::new(), |(runner_up, t)| {
        let (margin, word) = (runner_up.margin(), printable(&sentence.words[t]));
        format!(", with margins of {margin:.3} ({word}) or more")
    });
    format!("{count} other token{s}{margin}; --all explains them")
}
