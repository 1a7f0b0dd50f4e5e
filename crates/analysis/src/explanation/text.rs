//! Explanations as text.

use std::fmt::Write as _;

use dropchain::Result;
use dropchain_formats::hue;
use dropchain_layout::{bar, counted, ground, printable, styled, without_paint, wrap};

use super::explained::{ExplainedSentence, Recorder};
use super::record::{Block, ExplainedToken, Lead};

/// Columns before the bar of a reason: what it adds.
const NUMBER: usize = 10;

/// Stands for a blank inside a mark, where no line breaks.
const NO_BREAK: &str = "\u{a0}";

impl ExplainedSentence<'_> {
    /// Returns the [painted text](Self::painted_text) without paint, and without code.
    ///
    /// # Errors
    ///
    /// Same as [`Alternative::parts`](super::Alternative::parts).
    pub fn text(&self, columns: usize) -> Result<String> {
        self.painted_text(columns, false).map(|text| without_paint(&text))
    }

    /// Returns a text with paint: the sentence, and the reasons of the chosen spans and tokens, if
    /// wanted with the names and weights of attributes.
    ///
    /// # Errors
    ///
    /// Same as [`Alternative::parts`](super::Alternative::parts).
    pub fn painted_text(&self, columns: usize, has_code: bool) -> Result<String> {
        let mut text = wrap(&self.marked(), columns, 2) + "\n";
        let (blocks, recorder) = (self.blocks(), Recorder::new(self));
        for block in &blocks {
            let token = recorder.token(block.token)?;
            let title = self.title(block, &token);
            let title = format!("{}  {title}", mark(&block.text, &block.label));
            text += &format!("\n{}\n", wrap(&title, columns, 2));
            if let Some(lead) = &token.lead {
                self.write_reasons(block, lead, (columns, has_code), &mut text);
            }
        }
        let shown: usize = blocks.iter().map(|block| block.end - block.start).sum();
        if shown < self.words.len() {
            text += &format!("\n{}\n", wrap(&self.not_shown(&blocks), columns, 0));
        }
        text.push('\n');
        Ok(text.replace(NO_BREAK, " "))
    }

    /// Returns the words, with spans and labels as marks.
    fn marked(&self) -> String {
        let blocks = self.all_blocks();
        let marked =
            blocks.iter().map(|block| match (block.outside, self.header().encodes_spans()) {
                (true, _) => printable(&block.text),
                (false, true) => mark(&block.text, &block.label),
                (false, false) => format!("{}/{}", printable(&block.text), printable(&block.label)),
            });
        marked.collect::<Vec<_>>().join(" ")
    }

    /// Says how clear a label is.
    fn title(&self, block: &Block<'_>, token: &ExplainedToken<'_>) -> String {
        let beginning = format!("p {:.3}", block.probability);
        let Some(lead) = &token.lead else {
            let own = self.explanation.labels()[block.token];
            let why = match self.against {
                Some(labels) if labels.contains(&own) => "the label asked for",
                _ => "no other such label is possible",
            };
            return format!("{beginning}, {why}");
        };
        let other = printable(&lead.runner_up.describe(&self.words, block.token));
        let (times, margin) = (lead.times(), lead.margin);
        format!("{beginning}, {times} as likely as {other} (margin {margin:.3})")
    }

    fn write_reasons(
        &self,
        block: &Block<'_>,
        lead: &Lead<'_>,
        (columns, has_code): (usize, bool),
        text: &mut String,
    ) {
        let bar_columns = (columns / 6).clamp(6, 16);
        let indent = NUMBER + bar_columns + 2;
        let available = columns.saturating_sub(indent).max(20);
        for row in lead.rows() {
            let added = row.contribution;
            let bar = bar(row.share, added < 0.0, bar_columns);
            let mut words = printable(row.words);
            if block.needs_place(row.token) {
                words = format!("“{}”: {words}", printable(&self.words[row.token]));
            }
            let mut lines = wrap(&words, available, 2);
            for part in row.parts.iter().filter(|_| has_code) {
                let code = printable(&part.code());
                let gap = if code.is_empty() { "" } else { "  " };
                let code = format!("{code}{gap}{}", printable(&part.describe_weights()));
                lines += &format!("\n  {}", wrap(&code, available - 2, 2));
            }
            let lines = lines.replace('\n', &format!("\n{}", " ".repeat(indent)));
            let _ = writeln!(text, "{added:+9.3}  {bar} {lines}");
        }
        if lead.others.parts > 0 {
            let (sum, others) = (lead.others.contribution, lead.others.parts);
            let (blanks, others) = (" ".repeat(bar_columns), counted(others, "other"));
            let _ = writeln!(text, "{sum:+9.3}  {blanks} {others}");
        }
    }

    /// Says how clear the labels of the tokens are that are not shown.
    fn not_shown(&self, blocks: &[Block<'_>]) -> String {
        let mut is_shown = vec![false; self.words.len()];
        blocks.iter().for_each(|block| is_shown[block.start..block.end].fill(true));
        let hidden: Vec<usize> = (0..self.words.len()).filter(|&t| !is_shown[t]).collect();
        let margin = |t: usize| self.explanation.margin(t);
        let least = hidden.iter().copied().min_by(|&x, &y| margin(x).total_cmp(&margin(y)));
        let margin = least.map_or(String::new(), |t| {
            format!(", with margins of {:.3} ({}) or more", margin(t), printable(&self.words[t]))
        });
        counted(hidden.len(), "other token") + &margin
    }
}

/// Returns a text with its label in the color of the label.
fn mark(text: &str, label: &str) -> String {
    let style = ground(hue(label));
    styled(style, &format!("[{} {}]", printable(label), printable(text)).replace(' ', NO_BREAK))
}
