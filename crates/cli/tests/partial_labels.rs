//! Training on labels that are not fully known.

use std::fmt::Write;

use crate::support::{NER_CORPUS, TestDir, keys, sample_corpus};

const TRAIN: &str = "train train.conll --model m --quiet --template minimal";

/// Returns the labels of the model `m`.
fn labels(dir: &TestDir) -> Vec<String> {
    let tag = "tag m --format conll --columns word,1,label --output jsonl --marginals";
    let tagged = dir.run_with_stdin(tag, "Ann NNP O\n").json_lines();
    let labels = keys(&tagged[0]["marginals"][0]);
    labels.into_iter().map(str::to_owned).collect()
}

/// Hides the labels of the tokens for which `hide` holds, given their number and label.
fn hidden(corpus: &str, hide: impl Fn(usize, &str) -> bool) -> String {
    let mut text = String::new();
    for (i, line) in corpus.lines().enumerate() {
        let start = line.rfind([' ', '\t']).map_or(0, |i| i + 1);
        let (rest, label) = line.split_at(start);
        let label = if hide(i, label) && start > 0 { "_" } else { label };
        writeln!(text, "{rest}{label}").unwrap();
    }
    text
}

#[test]
fn the_examples_of_the_documentation_print_what_it_says() {
    let page = include_str!("../../../docs/partial-labels.md");
    let blocks: Vec<&str> = page.split("```").skip(1).step_by(2).collect();
    let corpus = blocks[0].strip_prefix("conll\n").unwrap();
    let dir = TestDir::new(&[("names.conll", corpus)]);
    let console = blocks[1..].iter().map(|block| block.strip_prefix("console\n").unwrap());
    let mut commands = 0;
    for entry in console.flat_map(|block| block.split("$ ").skip(1)) {
        let (command, output) = entry.split_once('\n').unwrap();
        match command.split_once(' ').unwrap() {
            ("cat", file) => dir.write(file, output),
            ("dropchain", arguments) => {
                let found = dir.run(arguments).success();
                assert_eq!(found.trim_end(), output.trim_end(), "{command}");
                commands += 1;
            }
            _ => panic!("{command}"),
        }
    }
    assert_eq!(commands, 4);
}

#[test]
fn a_model_learns_from_the_labels_that_are_known() {
    // Every second token of the sample corpus; its tokens are those of the complete corpus.
    let train = sample_corpus("train");
    let dir = TestDir::new(&[
        ("train.conll", &hidden(&train, |i, _| i % 2 == 0)),
        ("dev.conll", &sample_corpus("dev")),
    ]);
    let train = "train train.conll --template ner --max-iterations 25 --model m --log log";
    let run = dir.run(&format!("{train} --partial-labels"));
    let stderr = run.stderr.clone();
    run.success();
    let log = dir.json_lines("log");
    let (tokens, partial) = (&log[0]["tokens"], &log[0]["partial_tokens"]);
    assert!(
        stderr.contains(&format!("{tokens} tokens ({partial} with partial labels)")),
        "{stderr}"
    );
    let share = partial.as_f64().unwrap() / tokens.as_f64().unwrap();
    assert!((share - 0.5).abs() < 0.05, "{share}");
    assert!(!labels(&dir).contains(&"_".to_owned()));
    let score = dir.run("eval m dev.conll --json").json();
    assert!(score["f1"].as_f64().unwrap() > 0.4, "{score}");
}

#[test]
fn without_the_option_the_labels_are_ordinary_and_a_note_says_so() {
    for (text, note) in [
        (hidden(NER_CORPUS, |i, _| i == 2), "note: '_' is trained as a label like any other"),
        (NER_CORPUS.replace("B-LOC\nclosed", "B-LOC|B-PER\nclosed"), "note: 'B-LOC|B-PER' is "),
    ] {
        let dir = TestDir::new(&[("train.conll", &text)]);
        let stderr = dir.run("train train.conll --model m --template minimal").exits(0);
        assert!(stderr.contains(note), "{stderr}");
        assert!(labels(&dir).iter().any(|label| label.contains(['_', '|'])));
    }
}

#[test]
fn partial_labels_that_make_no_sense_are_errors_with_their_line() {
    let corpus = "a B-X\nb I-X\nc B-X\n\n".repeat(120) + "a O\nb I-X\nc _\n";
    let dir = TestDir::new(&[("train.conll", &corpus)]);
    for scheme in ["", "--scheme bioes"] {
        assert_eq!(
            dir.run(&format!("{TRAIN} --partial-labels {scheme}")).failure(),
            "train.conll:482: the label 'I-X' has no place in a legal sequence, given the other \
             labels of the sentence (IOB2); expected labels that fit together"
        );
    }
}

#[test]
fn folds_are_scored_on_the_sentences_with_all_labels() {
    let text = NER_CORPUS.repeat(3).replace(". . O\n", ". . O\n\n");
    let partial = hidden(&text, |i, _| i % 21 == 4);
    let dir = TestDir::new(&[("train.conll", &partial)]);
    let tune = "tune train.conll --template minimal --model m --quiet --partial-labels \
                --folds 2 --l2 0.1 --dropout 0.3 --max-iterations 25";
    let run = dir.run(tune);
    assert!(matches!(run.status.code(), Some(0 | 3)), "{run:?}");
}
