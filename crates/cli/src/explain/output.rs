//! Explanations as a page for the browser: one file, without scripts or references to others.

use std::fmt::Write as _;

use dropchain::Result;
use dropchain_analysis::{ExplainedSentence, Part, Reasons};
use dropchain_formats::{Escaped, MARKS_STYLE, mark};

const STYLE: &str = include_str!("style.css");

/// The end of the page.
pub const PAGE_END: &str = "</main>\n</body>\n</html>\n";

/// Returns the beginning of the page for a model.
pub fn page_beginning(model: &str) -> String {
    let model = Escaped(model);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Labels explained: {model}</title>\n\
         <style>\n{STYLE}{MARKS_STYLE}</style>\n</head>\n<body>\n\
         <main>\n<h1>Labels explained</h1>\n<p class=\"intro\">Model <code>{model}</code>. The \
         margin of a label is the score of the best label sequence minus that of the best one \
         with another label there, which is exp(margin) times less likely. Each reason is what a \
         weight adds to the margin; all of them sum to it.</p>\n"
    )
}

/// Writes a sentence: its words, and the reasons of the chosen tokens below them.
pub fn write_html(sentence: &ExplainedSentence<'_>, out: &mut Vec<u8>) -> Result<()> {
    out.extend_from_slice(b"<section>\n<p class=\"sentence\" dir=\"auto\">");
    for (t, word) in sentence.words.iter().enumerate() {
        let label = sentence.label(t);
        let title = format!("{label}, p {:.3}", sentence.explanation.probability(t));
        let token = match sentence.is_outside(t) {
            true => format!("<span title=\"{}\">{}</span>\n", Escaped(&title), Escaped(word)),
            false => mark(word, (sentence.type_of(t), label), &title, false) + "\n",
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
    let class = if sentence.is_outside(t) { " class=\"outside\"" } else { "" };
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
        let _ = writeln!(html, "<tr><td>{sum:+.3}<td colspan=\"3\">{others} others</tr>");
    }
    html
}

fn weight(sentence: &ExplainedSentence<'_>, part: &Part<'_>, which: usize) -> String {
    let labels = sentence.describe_labels(part, which);
    format!("{} <span class=\"weight\">{:.3}</span>", Escaped(&labels), part.weights[which])
}
