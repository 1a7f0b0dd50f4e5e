//! Inline output: a line per sentence, for human readers.
//!
//! Labels that encode spans are written as `[PER Ann Lee] left .`, with the original spacing if the
//! sentence comes from raw text. `[`, `]` and `\` in the text are escaped as `\[`, `\]` and `\\`.
//! Other labels follow their words, `Ann/NNP left/VBD`; the label starts after the last slash. A
//! line break in a text or token is written as a space. N-best output has one line per candidate,
//! preceded by its probability and a tab. Marginals are not shown.

use std::fmt::Write;

use super::tagged::{Tagged, source_text, word};

/// Writes a sentence.
pub(super) fn sentence(buffer: &mut String, tagged: &Tagged, spans: bool) {
    let line = |buffer: &mut String, labels: &[&str]| {
        if spans {
            brackets(buffer, tagged, labels);
        } else {
            slashes(buffer, tagged, labels);
        }
        buffer.push('\n');
    };
    if tagged.nbest.is_empty() {
        line(buffer, &tagged.labels);
    }
    for path in &tagged.nbest {
        // Writing to a string cannot fail.
        let _ = write!(buffer, "{:.6}\t", path.probability);
        line(buffer, &path.labels);
    }
}

/// Writes `word/LABEL word/LABEL`.
fn slashes(buffer: &mut String, tagged: &Tagged, labels: &[&str]) {
    for (t, label) in labels.iter().enumerate() {
        if t > 0 {
            buffer.push(' ');
        }
        buffer.extend(word(tagged.sentence, t).chars().map(on_one_line));
        buffer.push('/');
        buffer.push_str(label);
    }
}

/// Writes `[TYPE word word] word`.
fn brackets(buffer: &mut String, tagged: &Tagged, labels: &[&str]) {
    let sentence = tagged.sentence;
    let text = source_text(sentence);
    let spans = tagged.scheme.spans(labels);
    let mut spans = spans.iter().peekable();
    for t in 0..sentence.len() {
        if t > 0 {
            let between = text.and_then(|text| {
                let (before, after) = (sentence.offsets.get(t - 1)?, sentence.offsets.get(t)?);
                text.get(before.bytes.end..after.bytes.start)
            });
            escape(buffer, between.unwrap_or(" "));
        }
        if let Some(span) = spans.peek()
            && span.start == t
        {
            buffer.push('[');
            buffer.push_str(span.kind);
            buffer.push(' ');
        }
        escape(buffer, word(sentence, t));
        if spans.next_if(|span| span.end == t + 1).is_some() {
            buffer.push(']');
        }
    }
}

/// Writes text outside the markup.
fn escape(buffer: &mut String, text: &str) {
    for c in text.chars() {
        if matches!(c, '[' | ']' | '\\') {
            buffer.push('\\');
        }
        buffer.push(on_one_line(c));
    }
}

/// Replaces line breaks.
fn on_one_line(c: char) -> char {
    if matches!(c, '\n' | '\r') { ' ' } else { c }
}

#[cfg(test)]
mod tests {
    use crate::corpus::Format;
    use crate::corpus::output::tests::{full, one, read, written};
    use crate::corpus::output::{OutputFormat, WriteOptions};

    fn spans() -> WriteOptions {
        WriteOptions::new(OutputFormat::Inline)
    }

    fn tags() -> WriteOptions {
        WriteOptions {
            spans: false,
            ..spans()
        }
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
    fn each_candidate_has_a_line() {
        let sentences = read(Format::Conll, "a\n");
        let tagged = full(&sentences[0], &["B-A"], &["O"]);
        let expected = "0.500000\t[A a]\n0.125000\ta\n";
        assert_eq!(written(&spans(), &[tagged]).unwrap(), expected);
    }
}
