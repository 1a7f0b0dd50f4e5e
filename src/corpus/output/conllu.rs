//! CoNLL-U output.
//!
//! CoNLL-U input is reproduced byte for byte (except for runs of blank lines and CRLF), with one
//! column replaced by the predicted label. Input in other formats becomes new sentences: columns
//! named as in CoNLL-U are kept, tokenized text has `# text` and `SpaceAfter=No`, and everything
//! else is `_`. A label that is not a column becomes a key in `MISC` ([`misc`]).
//!
//! With marginals, `MISC` has the probability of the label, `Prob=0.987654`. The probability of the
//! label sequence and the candidates are comments: `# probability = 0.5` and
//! `# nbest 0 = score=2.5 probability=0.5 NOUN VERB`.

use std::fmt::Write;

use super::conll::line;
use super::writer::{Tagged, WriteOptions};
use crate::corpus::columns::{CONLLU_COLUMNS, MISC, find_column};
use crate::corpus::misc;
use crate::error::{Error, Result};

/// The names of the columns or keys of a label.
fn label_names(options: &WriteOptions) -> &[String] {
    if options.joined.is_empty() { std::slice::from_ref(&options.label) } else { &options.joined }
}

/// Checks that what labels consist of are columns or can be keys in `MISC`.
pub(super) fn check_labels(options: &WriteOptions) -> Result<()> {
    let is_valid = |name: &str| find_column(&CONLLU_COLUMNS, name).is_some() || misc::is_key(name);
    match label_names(options).iter().find(|name| !is_valid(name)) {
        None => Ok(()),
        Some(name) => Err(Error::parameter(format!(
            "'{name}' is neither a column of CoNLL-U nor a key for its MISC column: expected a \
             name without '=', '|', '\\' and white space"
        ))),
    }
}

/// Writes a sentence and a blank line.
pub(super) fn sentence(
    buffer: &mut String,
    tagged: &Tagged,
    options: &WriteOptions,
    new_document: bool,
) -> Result<()> {
    let sentence = tagged.sentence;
    let layout = &sentence.layout;
    if new_document && !layout.comments.iter().any(|c| c.starts_with("# newdoc")) {
        buffer.push_str("# newdoc\n");
    }
    for comment in &layout.comments {
        line(buffer, comment);
    }
    comments(buffer, tagged);
    let native = sentence.schema().input_names() == CONLLU_COLUMNS;
    let mut extra_lines = layout.extra_lines.iter().peekable();
    for t in 0..=sentence.len() {
        while let Some((_, text)) = extra_lines.next_if(|(before, _)| *before <= t) {
            line(buffer, text);
        }
        if t < sentence.len() {
            let mut row = if native {
                sentence.cells(t).take(CONLLU_COLUMNS.len()).map(str::to_owned).collect()
            } else {
                new_row(tagged, t)?
            };
            let parts = options.parts(tagged, t, &tagged.labels[t])?;
            for (part, name) in parts.into_iter().zip(label_names(options)) {
                set_label(&mut row, part, name)
                    .map_err(|message| Error::input(sentence.place(t), message))?;
            }
            if tagged.marginals.is_some() {
                let probability = tagged.marginal(t, &tagged.labels[t]).unwrap_or(0.0);
                row[MISC] = misc::with_key(&row[MISC], "Prob", &format!("{probability:.6}"));
            }
            line(buffer, &row.join("\t"));
        }
    }
    buffer.push('\n');
    Ok(())
}

/// Writes the comments that describe the sentence as a whole.
fn comments(buffer: &mut String, tagged: &Tagged) {
    if let Some((text, _)) = tagged.text() {
        let text = text.replace(['\n', '\r', '\t'], " ");
        // Writing to a string cannot fail.
        let _ = writeln!(buffer, "# text = {text}");
    }
    if let Some(probability) = tagged.probability {
        let _ = writeln!(buffer, "# probability = {probability:.6}");
    }
    for (n, path) in tagged.nbest.iter().enumerate() {
        let _ = writeln!(
            buffer,
            "# nbest {n} = score={:.6} probability={:.6} {}",
            path.score,
            path.probability,
            path.labels.join(" ")
        );
    }
}

/// A new row for a token from another format.
fn new_row(tagged: &Tagged, t: usize) -> Result<Vec<String>> {
    let sentence = tagged.sentence;
    let form = tagged.word(t);
    if form.contains(['\t', '\n', '\r']) {
        let message = format!(
            "the token {form:?} cannot be written as CoNLL-U: it contains a tab or a line break; \
             use JSON lines"
        );
        return Err(Error::input(sentence.place(t), message));
    }
    let mut row = CONLLU_COLUMNS.map(|name| match name {
        "id" => (t + 1).to_string(),
        "form" if form.is_empty() => "_".to_owned(),
        "form" => form.to_owned(),
        _ => {
            let column = sentence.schema().position(name);
            let cell = column.map_or("", |column| sentence.cell(t, column));
            let is_valid = !cell.is_empty() && !cell.contains(char::is_whitespace);
            (if is_valid { cell } else { "_" }).to_owned()
        }
    });
    let rest = (tagged.source_text().zip(sentence.offsets.get(t)))
        .and_then(|(text, token)| text.get(token.bytes.end..));
    if rest.is_some_and(|rest| rest.starts_with(|c: char| !c.is_whitespace())) {
        row[MISC] = misc::with_key(&row[MISC], "SpaceAfter", "No");
    }
    Ok(row.into())
}

/// Writes a predicted label, or a part of it, into a row: in the column with this name, or else as
/// a key in `MISC`.
fn set_label(row: &mut [String], label: &str, name: &str) -> Result<(), String> {
    let column = find_column(&CONLLU_COLUMNS, name);
    if column.is_some() && (label.is_empty() || label.contains(char::is_whitespace)) {
        return Err(format!(
            "the label {label:?} cannot be written in a column of CoNLL-U: it is empty or contains \
             white space"
        ));
    }
    match column {
        Some(column) => label.clone_into(&mut row[column]),
        None => row[MISC] = misc::with_key(&row[MISC], name, label),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::corpus::output::tests::{full, one, read, written};
    use crate::corpus::output::{OutputFormat, Tagged, WriteOptions};
    use crate::corpus::{Format, ReadOptions};

    const NATIVE: &str = "\
# newdoc id = d
# text = vámonos ya
1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tvamos\tir\tVERB\tV\tA=b|C=d\t0\troot\t0:root\t_
# inside
2\tnos\tnosotros\tPRON\tP\t_\t1\tobj\t1:obj\tNER=O|x
2.1\tya\tya\tADV\t_\t_\t_\t_\t1:advmod\t_

";

    fn label(name: &str) -> WriteOptions {
        WriteOptions { label: name.to_owned(), ..WriteOptions::new(OutputFormat::Conllu) }
    }

    #[test]
    fn conllu_is_reproduced_byte_for_byte_if_the_labels_are_unchanged() {
        for (column, labels) in
            [("upos", ["VERB", "PRON"]), ("4", ["V", "P"]), ("feats", ["A=b|C=d", "_"])]
        {
            let out = one(&label(column), Format::Conllu, NATIVE, &labels);
            assert_eq!(out, NATIVE, "{column}");
        }
    }

    #[test]
    fn a_column_is_replaced() {
        let out = one(&label("xpos"), Format::Conllu, NATIVE, &["NEW", "P"]);
        assert_eq!(out, NATIVE.replace("\tV\t", "\tNEW\t"));
    }

    #[test]
    fn a_label_without_a_column_is_a_key_in_misc() {
        let out = one(&label("NER"), Format::Conllu, NATIVE, &["B-A", "a|b c\\"]);
        let expected = NATIVE
            .replace("0:root\t_", "0:root\tNER=B-A")
            .replace("NER=O|x", "x|NER=a\\pb\\sc\\\\");
        assert_eq!(out, expected);
        for key in ["", "_", "a=b", "a|b", "a b"] {
            assert_eq!(
                written(&label(key), &[]).unwrap_err().to_string(),
                format!(
                    "'{key}' is neither a column of CoNLL-U nor a key for its MISC column: \
                     expected a name without '=', '|', '\\' and white space"
                )
            );
        }
    }

    #[test]
    fn raw_text_becomes_a_new_sentence() {
        let mut sentences = read(Format::Text, "  Ann left. ");
        // As split by a tokenizer that separates full stops.
        let mut tokenized = crate::sentence::Sentence::from_words(["Ann", "left", "."]);
        tokenized.layout = std::mem::take(&mut sentences[0].layout);
        tokenized.offsets = crate::tokenize::offsets("  Ann left. ", [2..5, 6..10, 10..11]);
        let tagged = Tagged::new(&tokenized, vec!["PROPN", "VERB", "PUNCT"]);
        let expected = "\
# text = Ann left.
1\tAnn\t_\tPROPN\t_\t_\t_\t_\t_\t_
2\tleft\t_\tVERB\t_\t_\t_\t_\t_\tSpaceAfter=No
3\t.\t_\tPUNCT\t_\t_\t_\t_\t_\t_

";
        assert_eq!(written(&label("upos"), &[tagged]).unwrap(), expected);
    }

    #[test]
    fn columns_named_as_in_conllu_are_kept_and_documents_are_marked() {
        let options = ReadOptions {
            format: Some(Format::Conll),
            columns: Some(["word", "xpos", "lemma", "ner"].map(str::to_owned).to_vec()),
            ..ReadOptions::default()
        };
        let text = "-DOCSTART- -X- -X- O\n\na\tNN\t\tO\nb\tVB\tb\tO\n\nc\tX\tc\tO\n";
        let sentences =
            crate::corpus::tests::sentences(&text.replace(' ', "\t"), &options).unwrap();
        let labels = [vec![], vec!["X", "Y"], vec!["Z"]];
        let tagged: Vec<Tagged> = sentences
            .iter()
            .zip(labels)
            .map(|(sentence, labels)| Tagged::new(sentence, labels))
            .collect();
        let expected = "\
# newdoc
1\ta\t_\t_\tNN\t_\t_\t_\t_\tner=X
2\tb\tb\t_\tVB\t_\t_\t_\t_\tner=Y

1\tc\tc\t_\tX\t_\t_\t_\t_\tner=Z

";
        assert_eq!(written(&label("ner"), &tagged).unwrap(), expected);
    }

    #[test]
    fn marginals_are_in_misc_and_candidates_in_comments() {
        let sentences = read(Format::Conll, "a\n");
        let tagged = full(&sentences[0], &["X"], &["Y"]);
        let expected = "\
# probability = 0.500000
# nbest 0 = score=2.500000 probability=0.500000 X
# nbest 1 = score=-1.000000 probability=0.125000 Y
1\ta\t_\tX\t_\t_\t_\t_\t_\tProb=0.750000

";
        assert_eq!(written(&label("upos"), &[tagged]).unwrap(), expected);
    }

    #[test]
    fn white_space_that_would_break_the_columns_is_an_error() {
        let sentences = read(Format::Jsonl, r#"{"tokens":["a\nb"]}"#);
        let error = |label_name: &str, sentence, found| {
            let tagged = Tagged::new(sentence, vec![found]);
            written(&label(label_name), &[tagged]).unwrap_err().to_string()
        };
        assert_eq!(
            error("upos", &sentences[0], "X"),
            "x:1: the token \"a\\nb\" cannot be written as CoNLL-U: \
             it contains a tab or a line break; use JSON lines"
        );
        let sentences = read(Format::Conll, "a\n");
        assert_eq!(
            error("upos", &sentences[0], "X Y"),
            "x:1: the label \"X Y\" cannot be written in a column of CoNLL-U: \
             it is empty or contains white space"
        );
    }

    #[test]
    fn joined_labels_are_split_into_columns_and_keys() {
        let options = WriteOptions {
            joined: ["upos", "ner"].map(str::to_owned).to_vec(),
            ..WriteOptions::new(OutputFormat::Conllu)
        };
        let sentences = read(Format::Conllu, "1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n");
        let write = |label| written(&options, &[Tagged::new(&sentences[0], vec![label])]);
        assert_eq!(write("DET+B-A+b").unwrap(), "1\ta\t_\tDET\t_\t_\t0\troot\t_\tner=B-A+b\n\n");
        assert_eq!(
            write("DET").unwrap_err().to_string(),
            "x:1: the label \"DET\" does not consist of values of 2 columns (upos+ner)"
        );
    }
}
