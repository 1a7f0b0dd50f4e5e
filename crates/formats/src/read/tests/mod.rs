//! Tests that all readers have in common.

mod spans;

use std::fs;
use std::io::Cursor;

use dropchain::corpus::{ReadOptions, Reader};
use dropchain::sentence::LineRules;
use dropchain::{MemoryLimit, Sentence};
use proptest::prelude::*;

use crate::{InputFormat, SpanOptions};

/// Pieces of input in all formats, right and wrong.
const SHORT: [&str; 17] = [
    "\n", "\n\n", "\r\n", "\t", " ", "a", "1-2\tab", "{", "}", "[", "]", ",", "\"", "true\n",
    "3\n", "\u{feff}", "\0",
];
const LONG: [&str; 20] = [
    "Ann B-PER\n",
    "left\tO\n",
    "# weight = x\n",
    "# newdoc\n",
    "-DOCSTART- O\n\n",
    "1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n",
    "B\tw=Ann:x\n",
    "@weight:y\n",
    "@weight:1\n\n",
    "{\"text\":\"Ann left\"",
    ",\"spans\":[[0,3,\"A\"],[1,4,\"B\"]]}",
    ",\"spans\":[]}\n",
    "{\"tokens\":[\"a\"],\"labels\":[\"O\"]}\n",
    "{\"doc\":[{\"tokens\":[\"a\"]}]}",
    "\u{1f600}",
    "T1\tA 0 3\tAnn\n",
    "T2\tB 1 4;9 2\n",
    "#FORMAT=WebAnno TSV 3.3\n#T_SP=a.Name|value\n",
    "1-1\t0-3\tAnn\tA[1]|B\n",
    "1-1.1\t0-2\tAn\tA[1]\n",
];

/// Damaged bytes, which may be not UTF-8.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        9 => prop::sample::select([&SHORT[..], &LONG].concat())
            .prop_map(|piece| piece.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 1..4),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Reads an input to its end, whatever is wrong with it. Returns the numbers of sentences and of
/// errors, which stop when there are more than `most`.
fn counts(mut reader: Reader, most: usize) -> [usize; 2] {
    let mut counts = [0, 0];
    while let Some(read) = reader.next_or_error() {
        counts[usize::from(read.is_err())] += 1;
        if counts[0] + counts[1] > most {
            break;
        }
    }
    counts
}

proptest! {
    #[test]
    fn recovery_makes_progress_in_every_reader(
        input in damaged(),
        annotations in damaged(),
        unlabeled: bool,
        memory in prop_oneof![Just(1_u64 << 30), 0..100_000_u64],
    ) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.txt"), &input).unwrap();
        fs::write(folder.path().join("a.ann"), &annotations).unwrap();
        for format in InputFormat::ALL {
            let options = format.apply(SpanOptions::default(), ReadOptions {
                unlabeled,
                lines: LineRules { comments: true, header: false },
                limits: MemoryLimit::Bytes(memory).into(),
                ..ReadOptions::default()
            });
            let reader = match format {
                InputFormat::Brat => Reader::open(&[folder.path()], &options).unwrap(),
                _ => Reader::from_read(Box::new(Cursor::new(input.clone())), "x", &options),
            };
            // A sentence or an error for each byte at most, and an error that the end is met in.
            let most = input.len() + 2;
            let [sentences, errors] = counts(reader, most);
            prop_assert!(sentences + errors <= most, "{format}: {sentences}, {errors}");
        }
    }
}

#[test]
fn faults_of_a_folder_end_it_with_one_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.txt"), "Ann Lee left").unwrap();
    fs::write(folder.path().join("a.ann"), "T1\tA 0 7\tAnn Lee\nT2\tB 4 7\tLee\n").unwrap();
    fs::write(folder.path().join("b.txt"), "Bob left").unwrap();
    fs::write(folder.path().join("b.ann"), "T1\tA 0 3\tBob\n").unwrap();
    let options = InputFormat::Brat.apply(SpanOptions::default(), ReadOptions::default());
    let reader = Reader::open(&[folder.path()], &options).unwrap();
    assert_eq!(counts(reader, 99), [1, 1]);
}

#[test]
fn what_is_no_object_is_one_error_each_and_the_objects_are_read() {
    let text =
        "true\n{\"text\": \"Ann\", \"spans\": []}\n3 4\n[{\"text\": \"Bob\", \"spans\": []},\n";
    let options = InputFormat::Spans.apply(SpanOptions::default(), ReadOptions::default());
    let reader = || Reader::from_read(Box::new(Cursor::new(text)), "x", &options);
    assert_eq!(counts(reader(), 99), [2, 3]);
    let mut reader = reader();
    let found: Vec<String> = std::iter::from_fn(|| reader.next_or_error())
        .map(|read| match read {
            Ok(sentence) => sentence.cell(0, 0).to_owned(),
            Err(error) => error.to_string().chars().take(6).collect(),
        })
        .collect();
    assert_eq!(found, ["x:1:1:", "Ann", "x:3:1:", "Bob", "x:4: t"]);
}

#[test]
fn an_object_without_an_end_is_an_error_at_its_beginning_within_the_memory_limit() {
    for rest in ["\"a\": [1, 2],\n", "\n", "  \n"] {
        let text = format!("\n{{\"text\": \"a\",\n{}", rest.repeat(100_000));
        let options =
            ReadOptions { limits: MemoryLimit::Bytes(1_000_000).into(), ..ReadOptions::default() };
        let options = InputFormat::Spans.apply(SpanOptions::default(), options);
        let mut reader = Reader::from_read(Box::new(Cursor::new(text)), "x", &options);
        let error: Result<Sentence, _> = reader.next_or_error().unwrap();
        let error = error.unwrap_err().to_string();
        assert!(
            error.starts_with("x:2: the JSON object that begins here needs more memory than"),
            "{error}"
        );
        assert!(reader.next_or_error().is_none(), "the rest belongs to the object");
    }
}
