//! Explanations as a page for the browser: one file, without scripts or references to others.

use std::fmt::Write as _;

use dropchain::Result;
use dropchain::tag::Part;

use super::sentence::{ExplainedSentence, Reasons};

const STYLE: &str = include_str!("style.css");

/// The end of the page.
pub const END: &str = "</main>\n</body>\n</html>\n";

/// Returns the beginning of the page for a model.
pub fn beginning(model: &str) -> String {
    let model = escape(model);
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
pub fn write(sentence: &ExplainedSentence<'_>, out: &mut Vec<u8>) -> Result<()> {
    out.extend_from_slice(b"<section>\n<p class=\"sentence\">");
    for (t, word) in sentence.words.iter().enumerate() {
        let (word, label) = (escape(word), escape(sentence.label(t)));
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
        out.extend_from_slice(token(sentence, t)?.as_bytes());
    }
    out.extend_from_slice(b"</section>\n");
    Ok(())
}

/// Returns the reasons of a token, folded.
fn token(sentence: &ExplainedSentence<'_>, t: usize) -> Result<String> {
    let (word, label) = (escape(&sentence.words[t]), escape(sentence.label(t)));
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
    let other = escape(&sentence.describe_alternative(&alternative));
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
            false => format!("<i>{}</i> ", escape(&sentence.words[part.token])),
        };
        let description = escape(&ExplainedSentence::describe(part));
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
    let labels = escape(&sentence.describe_labels(part, which));
    format!(
        "{labels} <span class=\"weight\">{:.3}</span>",
        part.weights[which]
    )
}

/// Escapes a text for elements and for attributes in quotes.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // Not allowed in HTML.
            c if c.is_control() && !c.is_whitespace() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn markup_is_escaped() {
        assert_eq!(escape("<b a=\"'\">&"), "&lt;b a=&quot;&#39;&quot;&gt;&amp;");
        assert_eq!(escape("a\0b\tc"), "a\u{fffd}b\tc");
    }
}
