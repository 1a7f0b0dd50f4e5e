//! The readers of all formats, and the writers, which write what can be read again.

use std::io::{BufRead, BufReader, Cursor, Read, Write};
use std::sync::Arc;

use dropchain::corpus::{
    Format, OutputFormat, ReadOptions, ReadReport, Reader, Supervision, Tagged, TextOptions,
    WriteFormat, WriteOptions, Writer,
};
use dropchain::sentence::LineRules;
use dropchain::{Error, MemoryLimit, Result, Sentence};
use dropchain_formats::{
    Inline, InputFormat, Misaligned, Overlaps, SpanOffsets, SpanOptions, TextFormat,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::de::IgnoredAny;

use crate::harness::Target;

const CONLL: &str = r#"
    -DOCSTART- -DOCSTART-␣-X-␣O␣O B-X I-X O #␣c # token⇥ner_tag word␣pos␣label 1␣ 2⇥ , "a","b"
    a|DT|O a/DT _ B-X|O #␣weight␣=␣0.5
"#;
const CONLLU: &str = r#"1-2 2.1 3 _ ⇥_ #␣newdoc #␣text␣=␣ SpaceAfter=No | = # name=B-X \p"#;
const CRFSUITE: &str = r#"w=a :0.5 \: \\ : @weight _⇥ B-X⇥"#;
const JSONL: &str = r#"
    { } [ ] , : "tokens" "labels" "text" "a" \u0000 \ud83d \n null [] {} "pos":["X"] "offsets"
"#;
const SPANS: &str = r#"
    {"text":" "spans":[ "label":[[0,3,"X"]] "entities":[{"start_offset":
    "tokens":[{"start":0,"end":1}] "data":{ "annotations":[{"result":[{"value":{ "start": "end":
    "answer":"reject" "labels":["X"] "labels":["X","Y"] "data":{"body": "startOffset": -1 1e99 [ ]
    } , é \ud83d\ude00
"#;
const TEXT: &str = "Mr. U.S. ... “ ” :-) http://a.b/ don't 1.";

/// Passes on at most `size` bytes at a time, as a pipe may.
struct Pieces(Cursor<Vec<u8>>, usize);

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let size = buffer.len().min(self.1);
        self.0.read(&mut buffer[..size])
    }
}

/// What was read: the sentences, then the error if there is one; and what is said of it.
#[derive(Debug, PartialEq)]
struct Account {
    sentences: Vec<Result<Sentence, String>>,
    notices: Vec<String>,
}

fn read(input: Box<dyn BufRead + Send>, options: &ReadOptions) -> Account {
    let options = &with_report(options);
    let sentences = Reader::from_read(input, "x", options);
    Account {
        sentences: sentences.map(|read| read.map_err(|e| placed(&e))).collect(),
        notices: {
            // In any order: decoding is ahead of the lines by as much as is buffered.
            let mut notices = options.report.notices();
            notices.sort();
            notices
        },
    }
}

/// The options with a report of their own.
fn with_report(options: &ReadOptions) -> ReadOptions {
    ReadOptions { report: ReadReport::default(), ..options.clone() }
}

/// The message of an error, which has a place.
fn placed(error: &Error) -> String {
    let message = error.to_string();
    assert!(message.contains('x'), "no place: {message}");
    message
}

/// The ways to read a format that are checked.
fn variants(format: InputFormat) -> Vec<ReadOptions> {
    let plain = ReadOptions {
        limits: MemoryLimit::Bytes(1 << 30).into(), // asking the system takes longer than an input
        ..ReadOptions::default()
    };
    let plain = format.apply(SpanOptions::default(), plain);
    let unlabeled = ReadOptions {
        unlabeled: true,
        lines: LineRules { comments: true, header: false },
        ..plain.clone()
    };
    let label = ReadOptions { label: Some("1".to_owned()), ..plain.clone() };
    let mut variants = vec![plain.clone(), unlabeled.clone(), label];
    let text = TextOptions { lossy: true, paragraphs: true, encoding: None };
    variants.push(ReadOptions { text, ..unlabeled.clone() });
    if format == Format::Conll.into() {
        variants.push(ReadOptions {
            lines: LineRules { comments: true, header: true },
            supervision: Supervision { partial_labels: true, ..Supervision::default() },
            ..plain.clone()
        });
    }
    if format == Format::Conllu.into() {
        let label = |name: &str| ReadOptions { label: Some(name.to_owned()), ..plain.clone() };
        variants.extend(["name", "upos+feats"].map(label));
    }
    if format == InputFormat::Spans {
        let spans = SpanOptions { misaligned: Misaligned::Drop, ..SpanOptions::default() };
        let body = Some(vec!["body".to_owned()]);
        variants.push(format.apply(spans, ReadOptions { columns: body, ..plain.clone() }));
        variants.extend(SpanOffsets::ALL.map(|offsets| {
            let misaligned = Misaligned::Expand;
            let spans =
                SpanOptions { offsets: Some(offsets), misaligned, overlaps: Overlaps::Longest };
            format.apply(spans, plain.clone())
        }));
    }
    if format == Format::Text.into() {
        let encoding = Some("shift_jis".parse().unwrap());
        let text = TextOptions { encoding, lossy: true, paragraphs: false };
        variants.push(ReadOptions { text, ..unlabeled });
    }
    variants
}

/// Checks that an input has the same sentences in pieces of any size, and compressed.
fn check_reader(format: impl Into<InputFormat>, input: &[u8]) {
    for options in variants(format.into()) {
        let whole = read(Box::new(Cursor::new(input.to_vec())), &options);
        for size in [1, 3, 4096] {
            let pieces = Pieces(Cursor::new(input.to_vec()), size);
            let pieces = read(Box::new(BufReader::with_capacity(size, pieces)), &options);
            assert_eq!(pieces, whole, "in pieces of {size}");
        }
        if !input.starts_with(&[0x1f, 0x8b]) {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(input).unwrap();
            let compressed = read(Box::new(Cursor::new(encoder.finish().unwrap())), &options);
            assert_eq!(compressed, whole, "compressed");
        }
        check_recovery(input, &options);
        let sentences: Vec<&Sentence> = whole.sentences.iter().flatten().collect();
        sentences.iter().for_each(|sentence| check_sentence(sentence));
        check_writers(&sentences);
    }
}

/// Checks that reading goes on after each error, to the end.
fn check_recovery(input: &[u8], options: &ReadOptions) {
    let options = &with_report(options);
    let mut reader = Reader::from_read(Box::new(Cursor::new(input.to_vec())), "x", options);
    let mut errors = 0;
    while let Some(read) = reader.next_or_error() {
        errors += usize::from(read.map_err(|e| placed(&e)).is_err());
        assert!(errors <= input.len() + 2, "more errors than bytes");
    }
}

/// Checks what every sentence holds.
fn check_sentence(sentence: &Sentence) {
    assert!(!sentence.is_empty() || sentence.layout.document_start);
    let Some(source) = sentence.layout.source.as_deref() else { return };
    for (t, offsets) in sentence.offsets.iter().enumerate() {
        assert_eq!(&source[offsets.bytes.clone()], sentence.cell(t, 0));
    }
}

/// A label for a token, by its number.
fn label(t: usize) -> &'static str {
    ["O", "B-X", "I-X", "S-Y"][t % 4]
}

/// Writes sentences in a format; `None` if it cannot represent them.
fn write(sentences: &[&Sentence], options: &WriteOptions) -> Option<Vec<u8>> {
    let mut writer = Writer::new(Vec::new(), "out", options).unwrap();
    for sentence in sentences {
        let labels = (0..sentence.len()).map(label).collect();
        writer.write(&Tagged::new(sentence, labels)).ok()?;
    }
    writer.finish().ok()?;
    Some(writer.into_inner())
}

/// Whether any comments will be copied to CoNLL output.
fn has_comments(sentence: &Sentence) -> bool {
    let layout = &sentence.layout;
    let mut lines = layout.extra_lines.iter().map(|(_, line)| line);
    !layout.comments.is_empty() || lines.any(|line| line.starts_with('#'))
}

/// Checks that what is written has the same words, and the labels.
fn check_writers(sentences: &[&Sentence]) {
    let comments = sentences.iter().any(|sentence| has_comments(sentence));
    // A token may look like a comment, or begin with what a reader drops at the start of a line.
    let is_ambiguous = sentences.iter().any(|sentence| {
        let mut tokens = (0..sentence.len()).map(|t| sentence.cell(t, 0));
        tokens.any(|first| comments && first.starts_with('#') || first.starts_with('\u{feff}'))
    });
    let formats = [
        (OutputFormat::Conll, Format::Conll, "-1"),
        (OutputFormat::Conllu, Format::Conllu, "upos"),
        (OutputFormat::Jsonl, Format::Jsonl, "labels"),
    ];
    for (output, format, label_column) in formats {
        let Some(written) = write(sentences, &WriteOptions::new(output)) else { continue };
        // Text with NULs may look like UTF-16.
        if output == OutputFormat::Conll && (is_ambiguous || written.contains(&0)) {
            continue;
        }
        let options = ReadOptions {
            format: Some(format),
            label: Some(label_column.to_owned()),
            lines: LineRules { comments, header: false },
            // Other keys of the input may look like columns, and columns like those of sentences.
            columns: match (format, sentences.first()) {
                (Format::Jsonl, _) => Some(Vec::new()),
                (Format::Conll, Some(first)) => {
                    let width = first.schema().input_names().len();
                    Some((0..=width).map(|column| column.to_string()).collect())
                }
                _ => None,
            },
            limits: MemoryLimit::Bytes(1 << 30).into(),
            ..ReadOptions::default()
        };
        let again: Vec<Sentence> = read(Box::new(Cursor::new(written)), &options)
            .sentences
            .into_iter()
            .map(|sentence| sentence.unwrap_or_else(|e| panic!("{output:?}: {e}")))
            .collect();
        let mut again = again.iter().filter(|s| !s.layout.document_start);
        for sentence in sentences.iter().filter(|s| !s.layout.document_start) {
            let found = again.next().unwrap_or_else(|| panic!("{output:?}: a sentence is missing"));
            let labels: Vec<&str> = (0..sentence.len()).map(label).collect();
            if output == OutputFormat::Conll {
                for (t, label) in labels.iter().enumerate() {
                    let of_input = sentence.schema().input_names().len();
                    let cells = sentence.cells(t).take(of_input).chain([*label]);
                    assert!(found.cells(t).eq(cells), "token {t} of {found:?}");
                }
            } else if let Some(expected) = words(sentence, output) {
                assert_eq!(words(found, output), Some(expected), "{output:?}");
            }
            assert_eq!(found.labels().unwrap(), labels, "{output:?}");
        }
        assert_eq!(again.count(), 0, "{output:?}: there are more sentences");
    }
    let model = "m".to_owned();
    let others: [(Arc<dyn WriteFormat>, bool); 7] = [
        (Arc::new(Inline::default()), false),
        (Arc::new(TextFormat::Html), false),
        (Arc::new(TextFormat::LabelStudio { model }), false),
        (Arc::new(TextFormat::Brat), false),
        (Arc::new(TextFormat::Displacy), true),
        (Arc::new(TextFormat::Spans), true),
        (Arc::new(TextFormat::Doccano), true),
    ];
    for (format, is_json) in others {
        let options = WriteOptions { format, ..WriteOptions::new(Inline::default()) };
        // The labels have no white space, so BRAT has a place for all of them.
        let written = write(sentences, &options).unwrap();
        for line in written.lines().filter(|_| is_json) {
            // Not a `Value`: numbers are copied, and f64 may not hold them.
            let _: IgnoredAny = serde_json::from_str(&line.unwrap()).unwrap();
        }
    }
}

/// The words of a sentence as a format writes them, if it has words.
fn words(sentence: &Sentence, output: OutputFormat) -> Option<Vec<&str>> {
    let schema = sentence.schema();
    let first = (schema.width() > 0 && schema.label() != Some(0)).then_some(0);
    let column = schema.position("word").or(first)?;
    let word = |t| match sentence.cell(t, column) {
        "" if output == OutputFormat::Conllu => "_",
        word => word,
    };
    Some((0..sentence.len()).map(word).collect())
}

#[test]
fn conll_is_read_alike_in_any_pieces_and_written_as_it_can_be_read() {
    Target::new("conll", CONLL).run(|input| check_reader(Format::Conll, input));
}

#[test]
fn conllu_is_read_alike_in_any_pieces_and_written_as_it_can_be_read() {
    Target::new("conllu", CONLLU).run(|input| check_reader(Format::Conllu, input));
}

#[test]
fn crfsuite_is_read_alike_in_any_pieces() {
    Target::new("crfsuite", CRFSUITE).run(|input| check_reader(Format::Crfsuite, input));
}

#[test]
fn json_lines_are_read_alike_in_any_pieces_and_written_as_they_can_be_read() {
    Target::new("jsonl", JSONL).run(|input| check_reader(Format::Jsonl, input));
}

#[test]
fn spans_of_characters_are_read_alike_in_any_pieces() {
    Target::new("spans", SPANS).run(|input| check_reader(InputFormat::Spans, input));
}

#[test]
fn annotations_of_brat_never_crash() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("a.txt");
    std::fs::write(&text, "Zoë Lee left\r\nRome. 😀 Bob\n").unwrap();
    let options = variants(InputFormat::Brat);
    Target::new("brat", "T1⇥X␣0␣3⇥Zoë ; 9 #").run(|input| {
        std::fs::write(folder.path().join("a.ann"), input).unwrap();
        for options in &options {
            let read = Reader::open(&[&text], options).unwrap();
            read.flatten().for_each(|sentence| check_sentence(&sentence));
        }
    });
}

#[test]
fn text_is_read_alike_in_any_pieces_and_written_as_it_can_be_read() {
    Target::new("text", TEXT).run(|input| check_reader(Format::Text, input));
}

#[test]
fn damaged_gzip_is_an_error_in_any_pieces() {
    Target::new("gzip", "").run(|input| {
        let options = &variants(Format::Conll.into())[0];
        let whole = read(Box::new(Cursor::new(input.to_vec())), options);
        let pieces = BufReader::with_capacity(5, Pieces(Cursor::new(input.to_vec()), 5));
        let pieces = read(Box::new(pieces), options);
        let (pieces, whole) = (pieces.sentences, whole.sentences);
        let fails = |read: &[Result<_, String>]| read.last().is_some_and(Result::is_err);
        assert_eq!(fails(&pieces), fails(&whole));
        // How far the decoder comes before it finds the damage depends on what it has read.
        for (a, b) in pieces.iter().zip(&whole) {
            assert!(a == b || a.is_err() || b.is_err(), "{a:?} or {b:?}");
        }
    });
}
