//! Weights of sentences.

use serde_json::Value;

use crate::support::{NER_CORPUS, TestDir};

/// Trains `m` on a file with `options` and returns its fingerprint.
fn fingerprint(dir: &TestDir, file: &str, options: &str) -> Value {
    dir.run(&format!("train {file} --model m --quiet --precision f64 {options}")).success();
    dir.inspect("")["fingerprint"].clone()
}

/// Trains on two files and asserts that the models tag alike, with the same marginals up to
/// rounding.
fn assert_alike(files: [(&str, &str); 2], tagged: &str, options: &str) {
    let dir = TestDir::new(&files);
    let marginals = files.map(|(name, _)| {
        dir.run(&format!("train {name} --model m --quiet {options}")).success();
        dir.run(&format!("tag m {tagged} --output jsonl --marginals")).json_lines()
    });
    let [one, other] = marginals;
    assert_eq!(one.len(), other.len());
    let mut compared = 0;
    for (one, other) in one.iter().zip(&other) {
        assert_eq!(one["labels"], other["labels"]);
        let rows = one["marginals"].as_array().unwrap();
        for (row, other) in rows.iter().zip(other["marginals"].as_array().unwrap()) {
            for (label, p) in row.as_object().unwrap() {
                let difference = p.as_f64().unwrap() - other[label].as_f64().unwrap();
                assert!(difference.abs() < 1e-6, "{label}: {row} {other}");
                compared += 1;
            }
        }
    }
    assert!(compared >= 8);
}

const EXACT: &str = "--template minimal --epsilon 1e-9 --precision f64";

/// [`NER_CORPUS`] with a weight of each sentence, and with as many copies.
fn weighted_and_repeated(weight: impl Fn(usize) -> String) -> [String; 2] {
    let sentences: Vec<&str> = NER_CORPUS.trim_end().split("\n\n").collect();
    let counts = [2, 1, 3];
    let weighted = (0..3).map(|i| format!("{}{}\n\n", weight(counts[i]), sentences[i]));
    let repeated = (0..3).map(|i| format!("{}\n\n", sentences[i]).repeat(counts[i]));
    [weighted.collect(), repeated.collect()]
}

#[test]
fn integer_weights_equal_repeated_sentences_with_noise_and_without() {
    let [weighted, repeated] = weighted_and_repeated(|n| format!("# weight = {n}\n"));
    for options in ["", "--dropout 0", "--min-count 2", "--scheme bioes --order 0"] {
        assert_alike(
            [("a.conll", &weighted), ("b.conll", &repeated)],
            "b.conll",
            &format!("{EXACT} --comments {options}"),
        );
    }
}

#[test]
fn a_weight_changes_the_model_and_1_does_not() {
    let dir = TestDir::new(&[
        ("plain.conll", NER_CORPUS),
        ("one.conll", &format!("# weight = 1\n{NER_CORPUS}")),
        ("two.conll", &format!("#weight=2.0\n{NER_CORPUS}")),
        ("other.conll", &format!("# Weight = 2\n# weights = 3\n{NER_CORPUS}")),
    ]);
    let options = "--template minimal --comments";
    let plain = fingerprint(&dir, "plain.conll", options);
    assert_eq!(fingerprint(&dir, "one.conll", options), plain);
    assert_eq!(fingerprint(&dir, "other.conll", options), plain);
    assert_ne!(fingerprint(&dir, "two.conll", options), plain);
}

#[test]
fn a_sentence_of_weight_0_counts_for_nothing() {
    let zero = format!("# weight = 0\nRome NNP B-PER\nAnn NNP O\n\n{NER_CORPUS}");
    assert_alike(
        [("a.conll", &zero), ("b.conll", NER_CORPUS)],
        "b.conll",
        &format!("{EXACT} --comments"),
    );
}

#[test]
fn every_format_has_weights() {
    let row =
        |i: usize, word: &str, tag: &str| format!("{i}\t{word}\t_\t{tag}\t_\t_\t_\t_\t_\t_\n");
    let sentences = [
        [row(1, "Ann", "PROPN"), row(2, "left", "VERB")].concat(),
        [row(1, "left", "NOUN"), row(2, "Ann", "PROPN")].concat(),
    ];
    let conllu = format!("# weight = 2\n{}\n# weight = 1\n{}\n", sentences[0], sentences[1]);
    let copies = format!("{0}\n{0}\n{1}\n", sentences[0], sentences[1]);
    assert_alike([("a.conllu", &conllu), ("b.conllu", &copies)], "b.conllu", EXACT);

    let object = |weight: &str, labels: &str| {
        format!("{{\"tokens\":[\"Ann\",\"left\"],{weight}\"labels\":{labels}}}\n")
    };
    let [first, second] = [r#"["A","B"]"#, r#"["B","B"]"#];
    let json = object("\"weight\":3,", first) + &object("\"weight\":null,", second);
    let copies = object("", first).repeat(3) + &object("", second);
    let doubled = copies.repeat(2);
    let json = json.repeat(2);
    assert_alike([("a.jsonl", &json), ("b.jsonl", &doubled)], "b.jsonl", EXACT);

    let crfsuite = "@weight:2\nA\tw=a\tx\nB\tw=b\n\nB\tw=a\nB\tw=c\n\n".repeat(2);
    let copies = ("A\tw=a\tx\nB\tw=b\n\n".repeat(2) + "B\tw=a\nB\tw=c\n\n").repeat(2);
    assert_alike(
        [("a.crfsuite", &crfsuite), ("b.crfsuite", &copies)],
        "b.crfsuite",
        "--epsilon 1e-9 --precision f64",
    );
}

#[test]
fn weights_of_unlabeled_text_count_too() {
    let text = "# weight = 2\nAnn N\nleft V\n\nBob N\nmet V\nRome N\n\n";
    let copies = "Ann N\nleft V\n\nAnn N\nleft V\n\nBob N\nmet V\nRome N\n\n";
    let dir = TestDir::new(&[("train.conll", NER_CORPUS), ("a.conll", text), ("b.conll", copies)]);
    let objective = |unlabeled: &str| {
        dir.run(&format!(
            "train train.conll --model m --quiet --columns word,pos,label --comments \
             --template minimal --max-iterations 4 --warm-up 1 --log {unlabeled}.log \
             --unlabeled {unlabeled}.conll --unlabeled-weight 0.5"
        ));
        let log = dir.json_lines(&format!("{unlabeled}.log"));
        log[4]["objective"].as_f64().unwrap()
    };
    let [weighted, repeated] = ["a", "b"].map(objective);
    assert!((weighted - repeated).abs() < 1e-6, "{weighted} {repeated}");
}

#[test]
fn training_says_that_weights_are_used() {
    let weighted = format!("# weight = 0.5\n{NER_CORPUS}");
    let dir = TestDir::new(&[("train.conll", &weighted)]);
    let run = dir.run("train train.conll --model m --template minimal --comments --log log");
    let stderr = run.stderr.clone();
    run.success();
    assert!(stderr.contains("3 sentences of total weight 2.5, 19 tokens"), "{stderr}");
    let log = dir.json_lines("log");
    assert_eq!(log[0]["total_weight"], 2.5);
    assert_eq!(log[0].get("partial_tokens"), None);
}

#[test]
fn a_weight_that_is_none_is_an_error_with_its_line() {
    let error = |file: &str, text: &str| {
        let dir = TestDir::new(&[(file, text)]);
        let template = match file.ends_with("crfsuite") {
            true => "",
            false => "--template minimal --comments",
        };
        dir.run(&format!("train {file} --model m --quiet {template}")).failure()
    };
    let range = "expected a number from 0 to 1e9";
    for (weight, fault) in [
        ("-0.5", format!("the weight of a sentence is -0.5; {range}")),
        ("nan", format!("the weight of a sentence is NaN; {range}")),
        ("inf", format!("the weight of a sentence is inf; {range}")),
        ("1e999", format!("the weight of a sentence is inf; {range}")),
        ("", "the weight of the sentence is ''; expected a number".to_owned()),
        ("x", "the weight of the sentence is 'x'; expected a number".to_owned()),
    ] {
        let text = format!("a O\n\n# weight = {weight}\nb B-X\n");
        assert_eq!(error("x.conll", &text), format!("x.conll:3: {fault}"));
    }
    assert_eq!(
        error("x.conll", "# weight = 1\n# weight = 2\na O\n"),
        "x.conll:2: a second weight for the next sentence; expected one (the first is on line 1)"
    );
    assert_eq!(
        error("x.conll", "a O\n# weight = 2\nb O\n"),
        "x.conll:2: the weight of a sentence stands inside it; expected it before the first token"
    );
    assert_eq!(
        error("x.conll", "a O\n\n# weight = 2\n-DOCSTART- O\n\nb O\n"),
        "x.conll:3: the weight is followed by a document boundary; expected a sentence"
    );
    let row = "1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n";
    assert_eq!(
        error("x.conllu", &format!("# weight = -1\n{row}\n")),
        format!("x.conllu:1: the weight of a sentence is -1; {range}")
    );
    assert_eq!(
        error("x.jsonl", "{\"tokens\":[\"a\"],\"labels\":[\"X\"],\"weight\":-2}\n"),
        format!("x.jsonl:1: the weight of a sentence is -2; {range}")
    );
    assert_eq!(
        error("x.jsonl", "{\"tokens\":[\"a\"],\"labels\":[\"X\"],\"weight\":\"2\"}\n"),
        "x.jsonl:1: key \"weight\": expected a number, found a string"
    );
    assert_eq!(
        error("x.crfsuite", "O\ta\n@weight:-2\n"),
        format!("x.crfsuite:2: the weight of a sentence is -2; {range}")
    );
    assert_eq!(
        error("x.conll", "# weight = 0\na B-X\nb O\n"),
        "the weights of all training sentences are 0; expected some above 0"
    );
}

#[test]
fn tagging_ignores_weights_and_copies_their_comments() {
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal");
    let text = "# weight = heavy\nAnn NNP\nleft VBD\n\n";
    let tagged = dir.run_with_stdin("tag m --format conll --comments", text).success();
    assert_eq!(tagged, "# weight = heavy\nAnn NNP B-PER\nleft VBD O\n\n");
    dir.write("x.jsonl", "{\"weight\":-1,\"tokens\":[\"Ann\"],\"1\":[\"NNP\"]}\n");
    let tagged = dir.run("tag m x.jsonl").success();
    assert!(tagged.starts_with("{\"weight\":-1,"), "{tagged}");
}
