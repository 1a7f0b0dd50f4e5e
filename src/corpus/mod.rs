//! Corpora in, tagged sentences out.
//!
//! A [`Reader`] goes through files one sentence at a time, so that its memory does not grow with
//! them and a sentence can be answered as soon as its last line has come. A [`Writer`] gives
//! tagged sentences back in the form that was asked for. What each format looks like and says
//! around its tokens is described in `docs/formats.md`.

mod conll;
mod conllu;
#[allow(clippy::module_inception)]
mod corpus;
mod crfsuite;
mod format;
mod jsonl;
mod lines;
mod output;
mod reader;
mod text;

pub use corpus::Corpus;
pub use format::Format;
pub use output::{Candidate, OutputFormat, Tagged, WriteOptions, Writer};
pub use reader::{ReadOptions, Reader, read_all};

/// The ten columns of CoNLL-U, in file order.
pub const CONLLU_COLUMNS: [&str; 10] = [
    "id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc",
];

/// The first cell of a line that begins a new document in CoNLL files.
const DOCUMENT_START: &str = "-DOCSTART-";

/// The column that `name` means: its name first, else its number, from 0 or, negative, from the end.
fn find_column<S: AsRef<str>>(names: &[S], name: &str) -> Option<usize> {
    let by_name = names.iter().position(|n| n.as_ref() == name);
    by_name.or_else(|| {
        let number: i64 = name.parse().ok()?;
        let width = i64::try_from(names.len()).ok()?;
        let position = if number < 0 {
            width.checked_add(number)?
        } else {
            number
        };
        let position = usize::try_from(position).ok()?;
        (position < names.len()).then_some(position)
    })
}

/// Whether a line separates sentences. White space beyond ASCII can be a token.
fn is_blank(line: &str) -> bool {
    line.bytes().all(|b| b.is_ascii_whitespace() || b == 0x0b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads `text` in `format` and writes what comes in every output format.
    fn pass(text: &str, format: Format, unlabeled: bool) {
        let options = ReadOptions {
            format: Some(format),
            unlabeled,
            comments: unlabeled,
            ..ReadOptions::default()
        };
        for sentence in reader::tests::sentences(text, &options).unwrap_or_default() {
            for output in [
                OutputFormat::Conll,
                OutputFormat::Conllu,
                OutputFormat::Jsonl,
                OutputFormat::Inline,
            ] {
                let mut writer = Writer::new(Vec::new(), "x", WriteOptions::new(output)).unwrap();
                let labels = vec!["B-A"; sentence.len()];
                // Some cells have no place in some formats: that is an error and no panic.
                let _ = writer.write(&Tagged::new(&sentence, labels));
            }
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_a_reader_or_a_writer_panic(
            text in "(\\PC|[\n\n\n\t\t \r#:\\\\\"]|-DOCSTART-|1-2|[1-3]|2\\.1|(\t_){9}\n){0,40}",
            object in "\\{\"(tokens|text|labels)\": ?(\"(\\PC|\\\\n){0,4}\"|\\[(\"a\")?(,\"[bé]\")?\\])(, ?\"pos\":\\[(\"N\")?\\])?\\}\n",
        ) {
            for format in [Format::Text, Format::Conll, Format::Conllu, Format::Crfsuite, Format::Jsonl] {
                for unlabeled in [false, true] {
                    pass(&text, format, unlabeled);
                    pass(&object, format, unlabeled);
                }
            }
        }
    }

    #[test]
    fn a_column_is_found_by_name_then_by_number_from_either_end() {
        let names = ["word", "2", "pos", "label"];
        assert_eq!(find_column(&names, "pos"), Some(2));
        assert_eq!(find_column(&names, "2"), Some(1));
        assert_eq!(find_column(&names, "0"), Some(0));
        assert_eq!(find_column(&names, "-1"), Some(3));
        assert_eq!(find_column(&names, "-4"), Some(0));
        assert_eq!(find_column(&names, "-5"), None);
        assert_eq!(find_column(&names, "4"), None);
        assert_eq!(find_column(&names, "-9223372036854775808"), None);
        assert_eq!(find_column(&names, "ner"), None);
    }

    #[test]
    fn only_ascii_white_space_makes_a_line_blank() {
        assert!(is_blank(""));
        assert!(is_blank(" \t \r\u{b}\u{c}"));
        assert!(!is_blank("\u{a0}"));
    }
}
