//! Fingerprints of models: the same training data yield the same, other data, options or templates
//! another.

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

/// A directory with a corpus and a template, the model `m` trained on them, and its fingerprint.
fn trained() -> (TestDir, String) {
    let files = [
        ("train.conll", NER_CORPUS),
        ("my.tpl", "word\nlexicon(\"names\")\nedge: word\n"),
        ("names", "Ann Lee\nRome\n"),
    ];
    let dir = TestDir::trained(&files, "train train.conll --template my.tpl --model m --quiet");
    let fingerprint = dir.inspect("")["fingerprint"].as_str().unwrap().to_owned();
    (dir, fingerprint)
}

#[test]
fn a_file_and_the_same_data_compressed_or_piped_yield_one_fingerprint() {
    let (dir, expected) = trained();
    let bytes = dir.bytes("m");
    let (first, rest) = NER_CORPUS.split_once("\n\n").unwrap();
    dir.write("first.gz", gzip(first));
    dir.write("rest.conll", rest);
    for (options, stdin) in
        [("first.gz rest.conll --template ./my.tpl", ""), ("- --template my.tpl", NER_CORPUS)]
    {
        assert_eq!(fingerprint(&dir, options, stdin), expected, "{options}");
        assert!(dir.bytes("m") != bytes, "{options}: the names are in the file");
    }
}

#[test]
fn dates_and_notes_are_in_the_file_and_not_in_the_fingerprint() {
    let (dir, expected) = trained();
    let bytes = dir.bytes("m");
    let inspected = dir.inspect("");
    assert_eq!(inspected["date"], Value::Null);
    assert!(inspected["modified"].as_str().unwrap().ends_with('Z'));
    let line = "train train.conll --template my.tpl --model m --quiet --note x";
    let dated = |date: &str| dir.command(line).env("SOURCE_DATE_EPOCH", date).output().unwrap();
    assert!(dated("951782400").status.success());
    let inspected = dir.inspect("");
    assert_eq!(inspected["date"], "2000-02-29T00:00:00Z");
    assert_eq!(inspected["note"], "x");
    assert_eq!(inspected["fingerprint"], expected);
    assert!(dir.bytes("m") != bytes);
    let error = dated("today").stderr;
    assert!(String::from_utf8_lossy(&error).contains("SOURCE_DATE_EPOCH is \"today\"; expected"));
    let roles = inspected["files"].as_array().unwrap().iter().map(|file| &file["role"]);
    assert_eq!(roles.collect::<Vec<_>>(), ["train", "template", "resource"]);
}

#[test]
fn other_weights_labels_or_templates_yield_another_fingerprint() {
    let (dir, first) = trained();
    let mut fingerprints = vec![first];
    for (options, corpus) in [
        ("- --template my.tpl --l2 0.2", NER_CORPUS.to_owned()),
        ("- --template my.tpl", NER_CORPUS.replace("B-LOC", "B-GPE")),
        ("- --template minimal", NER_CORPUS.to_owned()),
    ] {
        let found = fingerprint(&dir, options, &corpus);
        assert!(!fingerprints.contains(&found), "{options}");
        fingerprints.push(found);
    }
}
