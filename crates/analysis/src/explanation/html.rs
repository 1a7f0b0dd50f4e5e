//! Explanations as HTML: a page in one file, without scripts or references to others, and the parts
//! of it that other pages show.

use std::fmt::Write as _;

use dropchain::Result;
use dropchain_formats::{Escaped, MARKS_STYLE, mark};
use dropchain_layout::counted;

use super::explained::{ExplainedSentence, Recorder};
use super::record::{Block, ExplainedToken, Row};

/// The style of explanations, wherever they are shown, besides that of marks. The page declares its
/// `color-scheme`.
pub const EXPLANATION_STYLE: &str = include_str!("style.css");

/// The style of the page.
const PAGE_STYLE: &str = include_str!("page.css");

/// What students need to know.
const LEGEND: &str = "<details class=\"legend\"><summary>How to read this</summary><p>The model \
     scores labels by adding up weights of clues. The <b>margin</b> is the lead in score of the \
     labels over the runner-up: the best labels that differ there. With a margin of <em>m</em>, \
     they are e<sup><em>m</em></sup> times as likely. Each row is what one clue adds to it: green \
     bars speak for the labels, red ones for the runner-up, and all of them sum to the margin. \
     Clues that often occur together share their weight. Shapes have <code>X</code> for a capital, \
     <code>x</code> for a small letter and <code>d</code> for a digit; a known word occurs in \
     lower case in the training data. Open a row for the name of \
     the clue in the template, and its weights.</p></details>\n";

/// The end of a page of explanations.
pub const PAGE_END: &str = "</main>\n</body>\n</html>\n";

/// Returns the beginning of a page of explanations for a model.
pub fn page_beginning(model: &str) -> String {
    let model = Escaped(model);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Labels explained: {model}</title>\n\
         <style>\n{PAGE_STYLE}{MARKS_STYLE}{EXPLANATION_STYLE}</style>\n</head>\n<body>\n\
         <main>\n<h1>Labels explained</h1>\n<p>Model <code>{model}</code></p>\n\
         <div class=\"why\">{LEGEND}</div>\n"
    )
}

impl ExplainedSentence<'_> {
    /// Writes a section of a page: the sentence with marks, and the reasons of the chosen spans and
    /// tokens below it.
    ///
    /// # Errors
    ///
    /// Same as [`Alternative::parts`](super::Alternative::parts).
    pub fn write_html(&self, out: &mut Vec<u8>) -> Result<()> {
        let marked = self.all_blocks().into_iter().map(|block| match block.outside {
            true => format!("{}\n", Escaped(&block.text)),
            false => block_mark(&block) + "\n",
        });
        let marked: String = marked.collect();
        let recorder = Recorder::new(self);
        let blocks = folded_blocks(&self.words, &self.blocks(), |t| recorder.token(t))?;
        let html = format!(
            "<section>\n<p class=\"sentence\" dir=\"auto\">{marked}</p>\n\
             <div class=\"why\">\n{blocks}</div>\n</section>\n"
        );
        out.extend_from_slice(html.as_bytes());
        Ok(())
    }
}

/// Returns the reasons of all blocks, each folded but the least clear one, with a legend. `tokens`
/// are the records of all tokens.
pub fn blocks_html(
    words: &[String],
    blocks: &[Block<'_>],
    tokens: &[ExplainedToken<'_>],
) -> String {
    let find = |t: usize| {
        let found = tokens.iter().find(|token| token.token == t);
        found.cloned().ok_or_else(|| dropchain::Error::parameter(format!("no token {t}")))
    };
    let blocks = folded_blocks(words, blocks, find).unwrap_or_default();
    format!("<div class=\"why\">{blocks}{LEGEND}</div>")
}

/// Returns the notable blocks, the least clear one unfolded, and after them the others.
fn folded_blocks<'a>(
    words: &[String],
    blocks: &[Block<'_>],
    token: impl Fn(usize) -> Result<ExplainedToken<'a>>,
) -> Result<String> {
    let (mut notable, mut clear, mut count) = (Vec::new(), String::new(), 0);
    let mut least = (f64::INFINITY, 0);
    for block in blocks {
        let token = token(block.token)?;
        let html = token.folded(words, block);
        if !block.notable {
            clear += &html;
            count += 1;
            continue;
        }
        let margin = token.lead.as_ref().map_or(f64::INFINITY, |lead| lead.margin);
        if margin < least.0 {
            least = (margin, notable.len());
        }
        notable.push(html);
    }
    if let Some(html) = notable.get_mut(least.1) {
        *html = html.replacen("<details", "<details open", 1);
    }
    let mut html = notable.concat();
    if count > 0 {
        let others = counted(count, "other token");
        let _ = writeln!(
            html,
            "<details class=\"clear\"><summary>{others}, which are clear</summary>\n\
             {clear}</details>"
        );
    }
    Ok(html)
}

fn block_mark(block: &Block<'_>) -> String {
    mark(&block.text, &block.label, Some(block.probability))
}

impl ExplainedToken<'_> {
    /// Returns the block that the token explains, folded.
    fn folded(&self, words: &[String], block: &Block<'_>) -> String {
        let (class, title) = match block.outside {
            true => {
                let (text, label) = (Escaped(&block.text), Escaped(&block.label));
                ("outside", format!("<bdi>{text}</bdi> <b>{label}</b>"))
            }
            false => ("block", block_mark(block)),
        };
        let html = self.html(words, block);
        format!("<details class=\"{class}\"><summary>{title}</summary>\n{html}</details>\n")
    }

    /// Returns how clear the label of the block is that the token explains, and the reasons.
    pub fn html(&self, words: &[String], block: &Block<'_>) -> String {
        let p = format!("Probability {:.3}", block.probability);
        let Some(lead) = &self.lead else {
            return format!("<p>{p}. There is nothing to compare it with.</p>\n");
        };
        let other = lead.runner_up.describe(words, block.token);
        let (times, other, margin) = (lead.times(), Escaped(&other), lead.margin);
        let mut html = format!(
            "<p>{p}; {times} as likely as <bdi>{other}</bdi> (margin {margin:.3}):</p>\n<table>\n\
             <thead><tr><th scope=\"col\">adds</th><th scope=\"col\">because</th></tr></thead>\n\
             <tbody>\n"
        );
        for row in lead.rows() {
            let place = words.get(row.token).filter(|_| block.needs_place(row.token));
            html += &row.html(place);
        }
        if lead.others.parts > 0 {
            let (sum, others) = (lead.others.contribution, lead.others.parts);
            let others = counted(others, "other");
            let _ = writeln!(html, "<tr><td>{sum:+.3}</td><td>{others}</td></tr>");
        }
        html + "</tbody>\n</table>\n"
    }
}

impl Row<'_> {
    /// Returns a row of the table, which is about the word `place`, if it is given.
    fn html(&self, place: Option<&String>) -> String {
        let Self { words, contribution, share, parts, .. } = self;
        let class = if *contribution < 0.0 { "against" } else { "for" };
        let emphasis = |word: &String| format!("<em dir=\"auto\">{}</em>: ", Escaped(word));
        let (place, share) = (place.map_or(String::new(), emphasis), 100.0 * share);
        let mut html = format!(
            "<tr><td class=\"{class}\" style=\"--share:{share:.0}%\">{contribution:+.3}</td>\
             <td><details><summary>{place}{}</summary>",
            Escaped(words)
        );
        for part in parts {
            let code = match part.code() {
                code if code.is_empty() => code,
                code => format!("<code>{}</code> ", Escaped(&code)),
            };
            let _ = write!(html, "<p>{code}{}</p>", Escaped(&part.describe_weights()));
        }
        html + "</details></td></tr>\n"
    }
}
