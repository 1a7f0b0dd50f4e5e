//! Inline output: a line per sentence, for human readers.
//!
//! Labels that encode spans are written as `[PER Ann Lee] left .`, with the original spacing if the
//! sentence comes from raw text. `[`, `]` and `\` in the text are escaped as `\[`, `\]` and `\\`.
//! Other labels follow their words, `Ann/NNP left/VBD`; the label starts after the last slash. A
//! line break in a text or token is written as a space. N-best output has one line per candidate,
//! preceded by its probability and a tab. Marginals are not shown.
//!
//! On a terminal, spans and tags may be colored by type. Control characters, which could be escape
//! sequences, are written as U+FFFD.

use std::borrow::Cow;
use std::fmt::Write;

use dropchain::Result;
use dropchain::corpus::{SentenceWriter, Tagged, WriteFormat, WriteOptions};

use dropchain_layout::ground;

use crate::marks::hue;

/// One sentence per line, with spans in brackets or a tag after each word.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inline {
    /// Whether to color spans and tags with the escape sequences of terminals.
    pub color: bool,
}

impl WriteFormat for Inline {
    fn writer(&self, options: &WriteOptions) -> Result<Box<dyn SentenceWriter>> {
        Ok(Box::new(InlineWriter { spans: options.spans, color: self.color }))
    }
}

struct InlineWriter {
    spans: bool,
    color: bool,
}

impl SentenceWriter for InlineWriter {
    fn sentence(&mut self, buffer: &mut String, tagged: &Tagged) -> Result<()> {
        if tagged.nbest.is_empty() {
            self.line(buffer, tagged, &tagged.labels);
        }
        for path in &tagged.nbest {
            // Writing to a string cannot fail.
            let _ = write!(buffer, "{:.6}\t", path.probability);
            self.line(buffer, tagged, &path.labels);
        }
        Ok(())
    }
}

impl InlineWriter {
    fn line(&self, buffer: &mut String, tagged: &Tagged, labels: &[Cow<'_, str>]) {
        match self.spans {
            true => self.brackets(buffer, tagged, labels),
            false => self.slashes(buffer, tagged, labels),
        }
        buffer.push('\n');
    }

    /// Writes `word/LABEL word/LABEL`.
    fn slashes(&self, buffer: &mut String, tagged: &Tagged, labels: &[Cow<'_, str>]) {
        for (t, label) in labels.iter().enumerate() {
            if t > 0 {
                buffer.push(' ');
            }
            buffer.extend(tagged.word(t).chars().map(displayed));
            self.start(buffer, '/', label);
            self.end(buffer, "");
        }
    }

    /// Writes `[TYPE word word] word`.
    fn brackets(&self, buffer: &mut String, tagged: &Tagged, labels: &[Cow<'_, str>]) {
        let sentence = tagged.sentence;
        let text = tagged.source_text();
        let spans = tagged.labeling.spans(labels);
        let mut spans = spans.iter().peekable();
        for t in 0..sentence.len() {
            if t > 0 {
                let between = text.and_then(|text| {
                    let (before, after) = (sentence.offsets.get(t - 1)?, sentence.offsets.get(t)?);
                    text.get(before.bytes.end..after.bytes.start)
                });
                escape(buffer, between.unwrap_or(" "));
            }
            if let Some(span) = spans.peek().filter(|span| span.start == t) {
                self.start(buffer, '[', span.kind);
                buffer.push(' ');
            }
            escape(buffer, tagged.word(t));
            if spans.next_if(|span| span.end == t + 1).is_some() {
                self.end(buffer, "]");
            }
        }
    }

    /// Begins a mark, in the color of its label.
    fn start(&self, buffer: &mut String, bracket: char, label: &str) {
        if self.color {
            let _ = write!(buffer, "{}", ground(hue(label)));
        }
        buffer.push(bracket);
        buffer.extend(label.chars().map(displayed));
    }

    /// Ends a mark and its color.
    fn end(&self, buffer: &mut String, bracket: &str) {
        buffer.push_str(bracket);
        buffer.push_str(if self.color { "\x1b[0m" } else { "" });
    }
}

/// Writes text outside the markup.
fn escape(buffer: &mut String, text: &str) {
    for c in text.chars() {
        if matches!(c, '[' | ']' | '\\') {
            buffer.push('\\');
        }
        buffer.push(displayed(c));
    }
}

/// Replaces line breaks, and other control characters than tabs.
fn displayed(c: char) -> char {
    match c {
        '\n' | '\r' => ' ',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => char::REPLACEMENT_CHARACTER,
        c if c.is_control() && c != '\t' => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dropchain::corpus::{Candidate, Format, Tagged, WriteOptions};

    use super::Inline;
    use crate::write::tests::{one, read, written};

    fn spans() -> WriteOptions {
        WriteOptions::new(Inline::default())
    }

    fn tags() -> WriteOptions {
        WriteOptions { spans: false, ..spans() }
    }

    #[test]
    fn spans_are_in_brackets() {
        let labels = ["B-PER", "I-PER", "O", "B-LOC"];
        let out = one(&spans(), Format::Conll, "Ann\nLee\nin\nRome\n", &labels);
        assert_eq!(out, "[PER Ann Lee] in [LOC Rome]\n");
    }

    #[test]
    fn the_spacing_of_a_text_is_kept() {
        let labels = ["B-PER", "I-PER", "O"];
        let out = one(&spans(), Format::Text, "  Ann  Lee\tleft ", &labels);
        assert_eq!(out, "[PER Ann  Lee]\tleft\n");
        let json = r#"{"text": "Ann\nLee left"}"#;
        let out = one(&spans(), Format::Jsonl, json, &labels);
        assert_eq!(out, "[PER Ann Lee] left\n");
    }

    #[test]
    fn brackets_and_backslashes_of_the_text_are_escaped() {
        let out = one(&spans(), Format::Conll, "[x]\n\\\n", &["B-A", "O"]);
        assert_eq!(out, "[A \\[x\\]] \\\\\n");
    }

    #[test]
    fn labels_without_spans_follow_their_words() {
        let out = one(&tags(), Format::Conll, "1/2\nleft]\n", &["CD", "VB"]);
        assert_eq!(out, "1/2/CD left]/VB\n");
        let out = one(&tags(), Format::Text, "Ann  left", &["NN", "VB"]);
        assert_eq!(out, "Ann/NN left/VB\n");
        let out = one(&tags(), Format::Crfsuite, "B\tw=a\n", &["X"]);
        assert_eq!(out, "_/X\n");
    }

    #[test]
    fn colors_depend_on_the_type_and_control_characters_cannot_change_them() {
        let color = |options| WriteOptions { format: Arc::new(Inline { color: true }), ..options };
        let json = r#"{"tokens": ["Ann", "\u001b[31m", "Rome"]}"#;
        let out = one(&color(spans()), Format::Jsonl, json, &["B-PER", "O", "B-LOC"]);
        let expected = "\x1b[38;5;16m\x1b[48;5;183m[PER Ann]\x1b[0m \u{fffd}\\[31m \
                        \x1b[38;5;16m\x1b[48;5;223m[LOC Rome]\x1b[0m\n";
        assert_eq!(out, expected);
        let out = one(&color(tags()), Format::Conll, "Ann\n", &["PROPN"]);
        assert_eq!(out, "Ann\x1b[38;5;16m\x1b[48;5;147m/PROPN\x1b[0m\n");
        for (options, expected) in [(spans(), "[\u{fffd} a]\n"), (tags(), "a/B-\u{fffd}\n")] {
            assert_eq!(one(&options, Format::Conll, "a\n", &["B-\u{9b}"]), expected);
        }
    }

    #[test]
    fn each_candidate_has_a_line() {
        let sentences = read(Format::Conll, "a\n");
        let candidate = |label: &'static str, probability| Candidate {
            labels: vec![label.into()],
            score: 0.0,
            probability,
        };
        let tagged = Tagged {
            nbest: vec![candidate("B-A", 0.5), candidate("O", 0.125)],
            ..Tagged::new(&sentences[0], vec!["B-A"])
        };
        let expected = "0.500000\t[A a]\n0.125000\ta\n";
        assert_eq!(written(&spans(), &[tagged]).unwrap(), expected);
    }
}
