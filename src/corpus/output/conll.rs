//! CoNLL output: the input's columns and an additional one, the predicted label; one for each part
//! of labels that join columns.
//!
//! With marginals, another column has the probability of that label. N-best output has one block
//! per candidate, best first, headed by a line `# n=0 score=… probability=…` as in CRF++.

use std::borrow::Cow;
use std::fmt::Write;

use super::writer::{Tagged, WriteOptions};
use crate::corpus::columns::OUTSIDE;
use crate::error::{Error, Result};
use crate::sentence::Sentence;

/// Writes a sentence and a blank line.
pub(super) fn sentence(buffer: &mut String, tagged: &Tagged, options: &WriteOptions) -> Result<()> {
    for comment in &tagged.sentence.layout.comments {
        line(buffer, comment);
    }
    if tagged.nbest.is_empty() {
        return block(buffer, tagged, &tagged.labels, options);
    }
    for (n, path) in tagged.nbest.iter().enumerate() {
        let head = format!("# n={n} score={:.6} probability={:.6}", path.score, path.probability);
        line(buffer, &head);
        block(buffer, tagged, &path.labels, options)?;
    }
    Ok(())
}

/// Writes a document boundary, with its own label as the predicted label.
pub(super) fn boundary(buffer: &mut String, tagged: &Tagged, options: &WriteOptions) -> Result<()> {
    let sentence = tagged.sentence;
    for comment in &sentence.layout.comments {
        line(buffer, comment);
    }
    for t in 0..sentence.len() {
        let own = |name: &String| {
            let column = sentence.schema().position(name);
            column.map_or(OUTSIDE, |column| sentence.cell(t, column))
        };
        let labels = match options.joined.is_empty() {
            true => vec![sentence.label(t).unwrap_or(OUTSIDE)],
            false => options.joined.iter().map(own).collect(),
        };
        row(buffer, sentence, t, &labels, options.separator)?;
        buffer.push('\n');
    }
    buffer.push('\n');
    Ok(())
}

/// Writes the rows of a sentence with the labels of one candidate, and a blank line.
fn block(
    buffer: &mut String,
    tagged: &Tagged,
    labels: &[Cow<'_, str>],
    options: &WriteOptions,
) -> Result<()> {
    let sentence = tagged.sentence;
    // Multiword tokens and empty nodes of CoNLL-U have no label, so they cannot be rows.
    let comments = sentence.layout.extra_lines.iter();
    let mut comments = comments.filter(|(_, text)| text.starts_with('#')).peekable();
    for (t, label) in labels.iter().enumerate() {
        while let Some((_, text)) = comments.next_if(|(before, _)| *before <= t) {
            line(buffer, text);
        }
        let parts = options.parts(tagged, t, label)?;
        row(buffer, sentence, t, &parts, options.separator)?;
        if tagged.marginals.is_some() {
            let probability = tagged.marginal(t, label).unwrap_or(0.0);
            buffer.push(options.separator);
            // Writing to a string cannot fail.
            let _ = write!(buffer, "{probability:.6}");
        }
        buffer.push('\n');
    }
    for (_, text) in comments {
        line(buffer, text);
    }
    buffer.push('\n');
    Ok(())
}

/// Writes the cells of a token and its label, or the parts of it, without a line ending.
fn row(
    buffer: &mut String,
    sentence: &Sentence,
    t: usize,
    label: &[&str],
    separator: char,
) -> Result<()> {
    let cells = sentence.cells(t).take(sentence.schema().input_names().len());
    for cell in cells.chain(label.iter().copied()) {
        let (is_invalid, reason) = match separator {
            '\t' => (cell.contains(['\t', '\n', '\r']), "it contains a tab or a line break"),
            _ => (
                cell.is_empty() || cell.contains([' ', '\t', '\n', '\r']),
                "it is empty or contains white space",
            ),
        };
        if is_invalid {
            let message =
                format!("the cell {cell:?} cannot be written as CoNLL: {reason}; use JSON lines");
            return Err(Error::input(sentence.place(t), message));
        }
        buffer.push_str(cell);
        buffer.push(separator);
    }
    buffer.pop();
    Ok(())
}

/// Writes a line.
pub(super) fn line(buffer: &mut String, text: &str) {
    buffer.push_str(text);
    buffer.push('\n');
}

#[cfg(test)]
mod tests {
    use crate::corpus::output::tests::{full, one, read, written};
    use crate::corpus::output::{OutputFormat, Tagged, WriteOptions};
    use crate::corpus::tests::sentences;
    use crate::corpus::{Format, ReadOptions};
    use crate::sentence::LineRules;

    fn tabs() -> WriteOptions {
        WriteOptions::new(OutputFormat::Conll)
    }

    fn spaces() -> WriteOptions {
        WriteOptions { separator: ' ', ..tabs() }
    }

    #[test]
    fn the_label_is_an_additional_column() {
        let out = one(&spaces(), Format::Conll, "a  NN B\nb VB O\n", &["X", "Y"]);
        assert_eq!(out, "a NN B X\nb VB O Y\n\n");
        let out = one(&tabs(), Format::Conll, "New York\t\tB\n", &["X"]);
        assert_eq!(out, "New York\t\tB\tX\n\n");
    }

    #[test]
    fn columns_of_other_formats_are_written() {
        let out = one(&tabs(), Format::Text, "Ann left", &["X", "Y"]);
        assert_eq!(out, "Ann\tX\nleft\tY\n\n");
        let out = one(&tabs(), Format::Crfsuite, "B\tw=a\n", &["X"]);
        assert_eq!(out, "B\tX\n\n");
        let json = r#"{"tokens":["a b"],"pos":["N"]}"#;
        assert_eq!(one(&tabs(), Format::Jsonl, json, &["X"]), "a b\tN\tX\n\n");
    }

    #[test]
    fn multiword_tokens_of_conllu_are_omitted_and_comments_kept() {
        let row = "a\t_\t_\t_\t_\t_\t_\t_\t_\n";
        let text = format!("# x\n1-1\t{row}1\t{row}# y\n");
        let out = one(&tabs(), Format::Conllu, &text, &["X"]);
        assert_eq!(out, format!("# x\n1\t{}\tX\n# y\n\n", row.trim_end()));
    }

    #[test]
    fn document_starts_keep_their_own_label() {
        let text = "-DOCSTART- -X- O\n\na NN B\n";
        let options = ReadOptions { format: Some(Format::Conll), ..ReadOptions::default() };
        let labeled = sentences(text, &options).unwrap();
        let tagged = [Tagged::new(&labeled[0], Vec::new()), Tagged::new(&labeled[1], vec!["B"])];
        let expected = "-DOCSTART- -X- O O\n\na NN B B\n\n";
        assert_eq!(written(&spaces(), &tagged).unwrap(), expected);
        let bare = read(Format::Conll, "-DOCSTART- B\n\na NN\n");
        let tagged = Tagged::new(&bare[0], Vec::new());
        assert_eq!(written(&spaces(), &[tagged]).unwrap(), "-DOCSTART- B O\n\n");
    }

    #[test]
    fn comments_keep_their_positions() {
        let lines = LineRules { comments: true, header: false };
        let options = ReadOptions { format: Some(Format::Conll), lines, ..ReadOptions::default() };
        let sentences = sentences("# 1\na O\n# 2\nb O\n# 3\n", &options).unwrap();
        let tagged = Tagged::new(&sentences[0], vec!["X", "Y"]);
        let expected = "# 1\na O X\n# 2\nb O Y\n# 3\n\n";
        assert_eq!(written(&spaces(), &[tagged]).unwrap(), expected);
    }

    #[test]
    fn marginals_are_a_column_and_candidates_are_blocks() {
        let sentences = read(Format::Conll, "a\nb\n");
        let mut tagged = full(&sentences[0], &["X", "Y"], &["Y", "X"]);
        let expected = "\
# n=0 score=2.500000 probability=0.500000
a X 0.750000
b Y 0.750000

# n=1 score=-1.000000 probability=0.125000
a Y 0.250000
b X 0.250000

";
        assert_eq!(written(&spaces(), &[tagged.clone()]).unwrap(), expected);
        tagged.nbest.clear();
        assert_eq!(written(&spaces(), &[tagged]).unwrap(), "a X 0.750000\nb Y 0.750000\n\n");
    }

    #[test]
    fn a_cell_that_would_break_the_columns_is_an_error() {
        let error = |options: &WriteOptions, json: &str| {
            let sentences = read(Format::Jsonl, json);
            let tagged = Tagged::new(&sentences[0], vec!["X"]);
            written(options, &[tagged]).unwrap_err().to_string()
        };
        assert_eq!(
            error(&tabs(), r#"{"tokens":["a\tb"]}"#),
            "x:1: the cell \"a\\tb\" cannot be written as CoNLL: \
             it contains a tab or a line break; use JSON lines"
        );
        assert_eq!(
            error(&spaces(), r#"{"tokens":[""]}"#),
            "x:1: the cell \"\" cannot be written as CoNLL: \
             it is empty or contains white space; use JSON lines"
        );
    }
}
