//! Files that cannot be read, and the characters in them.

use super::super::{Check, CheckOptions, FindingKind, Role};
use super::{check_with, examples, kinds, report};
use dropchain::MemoryLimit;
use dropchain::corpus::{ReadLimits, ReadOptions, TextOptions};

#[test]
fn reading_goes_on_after_every_sentence_that_cannot_be_read() {
    let text = "a O\n\nb\nc O\nd\n\ne O\nf O\n\ng\n\nh O\n";
    let report = report(&[("train.conll", text)]);
    assert_eq!(
        examples(&report, FindingKind::Malformed),
        [
            "train.conll:3 expected 2 columns (word label), found 1",
            "train.conll:10 expected 2 columns (word label), found 1"
        ]
    );
    assert_eq!((report.sizes[0].sentences, report.sizes[0].tokens), (3, 4));
}

#[test]
fn reading_goes_on_in_every_format() {
    let conllu = |id: u32| format!("{id}\ta\t_\tX\t_\t_\t_\t_\t_\t_\n");
    let ok = conllu(1) + &conllu(2) + "\n";
    let conllu = format!("{ok}{}{}\n{ok}# a\n\n{ok}", conllu(1), conllu(7));
    let jsonl = r#"{"tokens":["a"],"labels":["O"]}
{"tokens":["a"],"labels":[]}
not JSON
{"tokens":["a"],"labels":["O"]}
"#;
    let crfsuite = "O\ta\nO\tb:x\n\nO\ta\n\n@weight:x\nO\ta\n\nO\ta\n";
    for (name, text, lines, sentences) in [
        ("train.conllu", &conllu[..], &[5_u64][..], 3),
        ("train.jsonl", jsonl, &[2, 3], 2),
        ("train.crfsuite", crfsuite, &[2, 6], 2),
    ] {
        let report = report(&[(name, text)]);
        let found = report.findings.iter().find(|f| f.kind == FindingKind::Malformed);
        let found: Vec<u64> = found.unwrap().examples.iter().map(|e| e.place.line).collect();
        assert_eq!(found, lines, "{name}");
        assert_eq!(report.sizes[0].sentences, sentences, "{name}");
    }
}

#[test]
fn bytes_that_are_not_utf8_do_not_hide_the_rest() {
    let bytes: &[u8] = b"a\xe9 O\nb O\n\nc I-X\nd\n\ne O\n";
    let report = check_with(&[("train.conll", bytes)], &ReadOptions::default()).1.report();
    assert_eq!(kinds(&report)[..2], [FindingKind::InvalidUtf8, FindingKind::Malformed]);
    assert_eq!(report.sizes[0].sentences, 2);
}

#[test]
fn compressed_files_are_scanned_too_and_damaged_ones_reported() {
    let mut compressed = flate2::write::GzEncoder::new(Vec::new(), Default::default());
    std::io::Write::write_all(&mut compressed, b"a\xe9 O\n\nb O\n").unwrap();
    let mut compressed = compressed.finish().unwrap();
    let options = ReadOptions::default();
    let report = check_with(&[("train.conll.gz", &compressed)], &options).1.report();
    assert_eq!(kinds(&report)[0], FindingKind::InvalidUtf8);
    compressed.truncate(compressed.len() - 9);
    let report = check_with(&[("train.conll.gz", &compressed)], &options).1.report();
    assert_eq!(kinds(&report)[0], FindingKind::Unreadable);
}

#[test]
fn files_without_sentences_are_errors() {
    let report = report(&[("train.conll", "a O\n"), ("dev.conll", "\n \n")]);
    assert_eq!(examples(&report, FindingKind::NoSentences), ["dev.conll"]);
}

#[test]
fn other_encodings_are_decoded_before_characters_are_looked_at() {
    let utf16: Vec<u8> = "\u{feff}é O\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let report = check_with(&[("train.conll", &utf16)], &ReadOptions::default()).1.report();
    assert_eq!(report.sizes[0].tokens, 1);
    assert!(!kinds(&report).contains(&FindingKind::InvalidUtf8), "{report:?}");
    let lossy = ReadOptions {
        text: TextOptions { lossy: true, ..TextOptions::default() },
        ..ReadOptions::default()
    };
    let report = check_with(&[("train.conll", b"a\xe9 O\n")], &lossy).1.report();
    assert_eq!(report.findings[0].kind, FindingKind::ReplacementCharacter);
}

#[test]
fn columns_are_compared_within_and_between_roles() {
    let files = [("train.conll", "a X O\n"), ("train2.conll", "a O\n"), ("dev.conll", "a O\n")];
    let report = report(&files);
    assert_eq!(
        examples(&report, FindingKind::OtherColumns),
        ["train2.conll:1 word label; in train.conll: word 1 label"]
    );
    assert_eq!(examples(&report, FindingKind::OtherRoleColumns).len(), 1);
}

#[test]
fn sentences_over_the_limits_are_errors() {
    let text = "a O\n".repeat(30) + "\nb O\n";
    let options = ReadOptions {
        limits: ReadLimits { max_sentence: 20, ..ReadLimits::default() },
        ..ReadOptions::default()
    };
    let report = check_with(&[("train.conll", text.as_bytes())], &options).1.report();
    assert_eq!(kinds(&report)[0], FindingKind::Malformed);
    assert_eq!(report.findings[0].count, 1);
    assert_eq!(report.sizes[0].tokens, 1);

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.conll");
    std::fs::write(&path, "a O\n\n".repeat(1000)).unwrap();
    let read = ReadOptions { limits: MemoryLimit::Bytes(50_000).into(), ..ReadOptions::default() };
    let options = CheckOptions { read, ..CheckOptions::default() };
    let error = Check::read(&[(Role::Train, path)], options).unwrap_err();
    assert!(error.to_string().contains("more memory than the limit"), "{error}");
}

#[test]
fn blanks_in_words_and_labels_are_one_problem_in_every_format() {
    let json = r#"{"tokens":["a b","c"],"labels":["O","B X"]}"#;
    for (file, text, lines) in
        [("train.conll", "a b\tO\nc\tB X\nd\tO\n", [1, 2]), ("train.jsonl", json, [1, 1])]
    {
        let report = report(&[(file, text)]);
        let [word, label] = lines;
        let word = format!("{file}:{word} 'a b'");
        assert_eq!(examples(&report, FindingKind::BlankInWord), [word]);
        let label = format!("{file}:{label} 'B X'");
        assert_eq!(examples(&report, FindingKind::BlankInLabel), [label]);
        assert!(!kinds(&report).contains(&FindingKind::DoubtfulReading));
    }
}

#[test]
fn cells_and_words_are_looked_at() {
    let text = "a b\t1\tO\nA\u{301}\t\tO\n\nÁ\t1\tO\n";
    let report = report(&[("train.conll", text)]);
    assert_eq!(examples(&report, FindingKind::BlankInWord), ["train.conll:1 'a b'"]);
    assert_eq!(examples(&report, FindingKind::EmptyCell), ["train.conll:2 column 2 (1)"]);
    assert_eq!(
        examples(&report, FindingKind::MixedNormalization),
        ["train.conll:2 'A\u{301}', also composed"]
    );
    assert_eq!(examples(&report, FindingKind::ConstantColumn), ["train.conll:1 label: 'O'"]);
}
