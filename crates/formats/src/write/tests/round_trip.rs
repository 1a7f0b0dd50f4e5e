//! What is written is read again with the same sentences and labels.

use std::fs;
use std::io::Cursor;

use dropchain::corpus::{
    Format, OutputFormat, ReadOptions, Reader, Tagged, TextOptions, WriteOptions,
};
use dropchain::sentence::OffsetUnit;
use dropchain::{MemoryLimit, Sentence};
use proptest::prelude::*;

use super::{label_studio, written};
use crate::{InputFormat, SpanOptions, TextFormat};

/// Pieces of random texts.
const PIECES: [&str; 26] = [
    "Ann", "left", ".", "Rome", "don't", "é", "😀", "東京", "U.S.", "3.5", "<b>", "\"", "\\", ";",
    "|", "/", "[", " ", " ", " ", "  ", "\t", "\u{a0}", "\n", "\n\n", "\r\n",
];

/// Words with labels.
type Labeled = Vec<(Vec<String>, Vec<String>)>;

/// Labels of spans in a sentence of some tokens, from a number for each.
fn labels(tokens: usize, choices: &mut impl Iterator<Item = u8>) -> Vec<&'static str> {
    let mut before = "O";
    let label = |choice: u8| {
        before = match (choice % 4, before) {
            (0, _) => "O",
            (1, _) => "B-A",
            (2, _) => "B-B",
            (_, "B-A" | "I-A") => "I-A",
            (_, "B-B" | "I-B") => "I-B",
            _ => "O",
        };
        before
    };
    choices.take(tokens).map(label).collect()
}

fn options(format: InputFormat, unit: OffsetUnit, options: ReadOptions) -> ReadOptions {
    let spans = SpanOptions { offsets: unit.name().parse().ok(), ..SpanOptions::default() };
    let options = ReadOptions { limits: MemoryLimit::Bytes(1 << 30).into(), ..options };
    format.apply(spans, options)
}

/// The sentences of a reader, without document boundaries, with their labels.
fn labeled(reader: Reader) -> Labeled {
    let sentences: Vec<Sentence> = reader.map(|sentence| sentence.unwrap()).collect();
    let content = sentences.iter().filter(|s| !s.layout.document_start);
    let owned = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
    content
        .map(|sentence| {
            let column = sentence.schema().position("word").unwrap_or(0);
            let words = (0..sentence.len()).map(|t| sentence.cell(t, column));
            (owned(words.collect()), owned(sentence.labels().unwrap()))
        })
        .collect()
}

proptest! {
    #[test]
    fn what_is_written_is_read_with_the_same_sentences_and_labels(
        pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 1..40),
        choices in prop::collection::vec(any::<u8>(), 80),
        paragraphs: bool,
    ) {
        let text = pieces.concat();
        let of_text = ReadOptions {
            text: TextOptions { paragraphs, ..TextOptions::default() },
            ..ReadOptions::default()
        };
        let raw = ReadOptions { unlabeled: true, ..of_text.clone() };
        let raw = options(Format::Text.into(), OffsetUnit::Chars, raw);
        let input = || Reader::from_read(Box::new(Cursor::new(text.clone())), "x", &raw);
        let sentences: Vec<Sentence> = input().collect::<Result<_, _>>().unwrap();
        let mut choices = choices.into_iter().chain(std::iter::repeat(0));
        let tagged: Vec<Tagged> = sentences
            .iter()
            .map(|sentence| Tagged::new(sentence, labels(sentence.len(), &mut choices)))
            .collect();
        let owned = |words: Vec<&str>| -> Vec<String> {
            words.into_iter().map(str::to_owned).collect()
        };
        let expected: Labeled = tagged
            .iter()
            .filter(|tagged| !tagged.sentence.layout.document_start)
            .map(|tagged| {
                let words = (0..tagged.sentence.len()).map(|t| tagged.word(t)).collect();
                (owned(words), owned(tagged.labels.iter().map(AsRef::as_ref).collect()))
            })
            .collect();
        let check = |write: WriteOptions, read: ReadOptions| {
            // Columns have no words with white space.
            let Ok(written) = written(&write, &tagged) else { return };
            // As Label Studio does when an annotator accepts them.
            let written = written.replace("\"predictions\":", "\"annotations\":");
            let reader = Reader::from_read(Box::new(Cursor::new(written.clone())), "y", &read);
            assert_eq!(labeled(reader), expected, "{:?}: {written}", write.format);
        };
        for (output, format, label) in [
            (OutputFormat::Conll, Format::Conll, "-1"),
            (OutputFormat::Conllu, Format::Conllu, "upos"),
            (OutputFormat::Jsonl, Format::Jsonl, "labels"),
        ] {
            let read = ReadOptions {
                label: Some(label.to_owned()),
                columns: (format == Format::Jsonl).then(Vec::new),
                ..ReadOptions::default()
            };
            check(WriteOptions::new(output), options(format.into(), OffsetUnit::Chars, read));
        }
        let spans = |unit| options(InputFormat::Spans, unit, of_text.clone());
        for unit in OffsetUnit::ALL {
            for format in [TextFormat::Spans, TextFormat::Doccano] {
                let written = WriteOptions {
                    offsets: unit,
                    ..WriteOptions::new(format)
                };
                check(written, spans(unit));
            }
        }
        check(WriteOptions::new(label_studio()), spans(OffsetUnit::Chars));
        // The text of BRAT is the input itself.
        let folder = tempfile::tempdir().unwrap();
        let annotations = written(&WriteOptions::new(TextFormat::Brat), &tagged).unwrap();
        fs::write(folder.path().join("a.txt"), &text).unwrap();
        fs::write(folder.path().join("a.ann"), &annotations).unwrap();
        let brat = options(InputFormat::Brat, OffsetUnit::Chars, of_text.clone());
        let reader = Reader::open(&[folder.path()], &brat).unwrap();
        assert_eq!(labeled(reader), expected, "{annotations}");
    }
}
