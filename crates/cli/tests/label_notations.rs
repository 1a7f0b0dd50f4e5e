//! Labels of other notations than `B-PER`: recognized, said, kept, scored and convertible.

use crate::support::{NER_CORPUS, TestDir};

/// The corpus of named entities with other labels, given as functions of tag and type; `O` has no
/// type.
fn corpus(write: impl Fn(&str, &str) -> String) -> String {
    let mut text = String::new();
    for line in NER_CORPUS.lines() {
        match line.rsplit_once(' ') {
            Some((cells, label)) => {
                let (tag, kind) = label.split_once('-').unwrap_or((label, ""));
                text.push_str(&format!("{cells} {}\n", write(tag, kind)));
            }
            None => text.push('\n'),
        }
    }
    text
}

/// Trains on the corpus, and checks that its labels are read so, come back as they are, and are
/// scored as spans.
#[track_caller]
fn check(corpus: &str, read_as: &str) {
    let dir = TestDir::new(&[("train.conll", corpus)]);
    let run = dir.run("train train.conll --model m --l2 0.01 --template minimal");
    let line = format!("read as {read_as}, ");
    assert!(run.stderr.contains(&line), "{}", run.stderr);
    assert!(!run.stderr.contains("warning"), "{}", run.stderr);
    run.success();
    assert_eq!(dir.inspect("")["labels_read_as"], read_as);
    let tagged = dir.run("tag m train.conll").success();
    for line in tagged.lines().filter(|line| !line.is_empty()) {
        let cells: Vec<&str> = line.split([' ', '\t']).collect();
        assert_eq!(cells[2], cells[3], "{line}");
    }
    let whole = "with 6 phrases; found: 6 phrases; correct: 6";
    for command in ["eval m train.conll", "eval --predictions train.conll train.conll"] {
        let report = dir.run(command);
        assert!(report.stdout.contains(whole), "{report:?}");
        assert!(report.stderr.contains(&line), "{report:?}");
    }
    let sentence = &dir.run("tag m train.conll --output jsonl").json_lines()[0];
    assert_eq!(sentence["spans"].as_array().unwrap().len(), 2, "{sentence}");
    assert_eq!(sentence["spans"][0]["token_end"], 2, "{sentence}");
    let canonical = dir.run("tag m train.conll --scheme iob2").success();
    let lower = canonical.to_uppercase();
    assert!(lower.contains("B-") && lower.contains("I-"), "{canonical}");
    let checked = dir.run("check train.conll").stdout;
    assert!(checked.contains(&format!("\nLabels\n{read_as}, ")), "{checked}");
}

#[test]
fn separators_suffixes_and_case_are_kept() {
    check(
        &corpus(|tag, kind| match tag {
            "O" => "o".to_owned(),
            _ => format!("{}-{kind}", tag.to_lowercase()),
        }),
        "IOB2 written b-X, outside 'o'",
    );
}

#[test]
fn a_stray_label_is_named_and_leaves_the_scheme_as_it_is() {
    for stray in ["\"", "NE-COARSE-LIT", "comment", "B:PER"] {
        let text = format!("{NER_CORPUS}\nodd NN {stray}\nword NN O\n");
        let dir = TestDir::new(&[("train.conll", &text)]);
        let train = "train train.conll --model m --template minimal --max-iterations 5";
        let run = dir.run(train);
        let lines = text.lines().count();
        let place = format!("warning: train.conll:{}: the label '", lines - 1);
        assert!(run.stderr.contains(&place), "{}", run.stderr);
        run.success();
        assert_eq!(dir.inspect("")["scheme"], "iob2");
        let report = dir.run("eval --predictions train.conll train.conll");
        assert!(report.stdout.contains("with 6 phrases"), "{report:?}");
        assert!(report.stderr.contains(&place), "{report:?}");
        // What cannot be converted is an error, not a span.
        let converted = dir.run(&format!("{train} --scheme bioes"));
        let expected = format!("train.conll:{}: --scheme bioes: the label '", lines - 1);
        assert!(converted.stderr.contains(&expected), "{}", converted.stderr);
    }
}

#[test]
fn a_sentence_that_may_be_several_is_said() {
    let dir = TestDir::new(&[("long.conll", &"a B-X\nb O\n".repeat(501))]);
    let run = dir.run("train long.conll --model m --template minimal --max-iterations 2");
    let long = "warning: long.conll:1: a sentence of 1002 tokens; are the blank lines between";
    assert!(run.stderr.contains(long), "{run:?}");
}
