//! The fingerprint of a model: the same for the same training data, whatever they are called.

use serde_json::Value;

use crate::support::{NER_CORPUS, TestDir, gzip};

/// Trains with some options and returns the fingerprint that `inspect --json` prints.
fn fingerprint(dir: &TestDir, options: &str, stdin: &str) -> String {
    dir.run_with_stdin(&format!("train {options} --model m --quiet"), stdin).success();
    let fingerprint = dir.inspect("")["fingerprint"].as_str().unwrap().to_owned();
    assert_eq!(fingerprint.len(), 32);
    let text = dir.run("inspect m").success();
    assert!(text.contains(&format!("\nfingerprint  {fingerprint}\n")), "{text}");
    fingerprint
}

fn inputs() -> TestDir {
    let dir = TestDir::new(&[
        ("train.conll", NER_CORPUS),
        ("my.tpl", "word\nlexicon(\"names\")\nedge: word\n"),
        ("names", "Ann Lee\nRome\n"),
    ]);
    dir.write("train.conll.gz", gzip(NER_CORPUS));
    let (first, rest) = NER_CORPUS.split_once("\n\n").unwrap();
    dir.write("first.conll", first);
    dir.write("rest.conll", rest);
    dir
}

#[test]
fn a_file_and_the_same_data_compressed_or_piped_yield_one_fingerprint() {
    let dir = inputs();
    let expected = fingerprint(&dir, "train.conll --template my.tpl", "");
    let bytes = dir.bytes("m");
    for (options, stdin) in [
        ("./train.conll --template ./my.tpl", ""),
        ("train.conll.gz --template my.tpl", ""),
        ("first.conll rest.conll --template my.tpl", ""),
        ("- --template my.tpl", NER_CORPUS),
    ] {
        assert_eq!(fingerprint(&dir, options, stdin), expected, "{options}");
        assert!(dir.bytes("m") != bytes, "{options}: the names are in the file");
    }
}

#[test]
fn dates_and_notes_are_in_the_file_and_not_in_the_fingerprint() {
    let dir = inputs();
    let line = "train train.conll --template my.tpl --model m --quiet";
    let expected = fingerprint(&dir, "train.conll --template my.tpl", "");
    let bytes = dir.bytes("m");
    let dated = |date: &str| dir.command(line).env("SOURCE_DATE_EPOCH", date).output().unwrap();
    assert!(dated("951782400").status.success());
    let inspected = dir.inspect("");
    assert_eq!(inspected["date"], "2000-02-29T00:00:00Z");
    assert_eq!(inspected["fingerprint"], expected);
    assert!(dir.bytes("m") != bytes);
    let error = dated("today").stderr;
    assert!(String::from_utf8_lossy(&error).contains("SOURCE_DATE_EPOCH is \"today\"; expected"));
    assert_eq!(fingerprint(&dir, "train.conll --template my.tpl --note x", ""), expected);
    let inspected = dir.inspect("");
    assert_eq!((&inspected["note"], &inspected["date"]), (&"x".into(), &Value::Null));
    assert!(inspected["modified"].as_str().unwrap().ends_with('Z'));
    let roles = inspected["files"].as_array().unwrap().iter().map(|file| &file["role"]);
    assert_eq!(roles.collect::<Vec<_>>(), ["train", "template", "resource"]);
}

#[test]
fn other_weights_labels_or_templates_yield_another_fingerprint() {
    let dir = inputs();
    let other = NER_CORPUS.replace("B-LOC", "B-GPE");
    let of = |options: &str, stdin: &str| fingerprint(&dir, options, stdin);
    let fingerprints = [
        of("train.conll --template my.tpl", ""),
        of("train.conll --template my.tpl --l2 0.2", ""),
        of("- --template my.tpl", &other),
        of("train.conll --template ner", ""),
    ];
    for (i, fingerprint) in fingerprints.iter().enumerate() {
        assert!(!fingerprints[..i].contains(fingerprint), "run {i}");
    }
}
