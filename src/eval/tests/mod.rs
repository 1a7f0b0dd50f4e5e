//! Tests against the output of conlleval.pl: `tests/data/conlleval/NAME.txt` has words, gold and
//! predicted labels, `NAME.expected` the output of the script.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::label::{Scheme, SchemeDetector, spans};

/// Reads the three columns of conlleval's input.
fn evaluate(text: &str) -> Evaluation {
    let mut evaluation = Evaluation::with_confusions();
    let (mut gold, mut predicted) = (Vec::new(), Vec::new());
    for line in text.lines().chain([""]) {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["-DOCSTART-", ..] => evaluation.add_document_start(),
            [_, .., g, p] => {
                gold.push(g);
                predicted.push(p);
            }
            _ if gold.is_empty() => {}
            _ => {
                evaluation.add(&gold, &predicted).unwrap();
                gold.clear();
                predicted.clear();
            }
        }
    }
    evaluation
}

fn assert_equals_conlleval(name: &str) {
    let file = |extension: &str| {
        let path: PathBuf =
            [env!("CARGO_MANIFEST_DIR"), "tests/data/conlleval", name].iter().collect();
        fs::read_to_string(path.with_extension(extension)).unwrap()
    };
    assert_eq!(evaluate(&file("txt")).conlleval(), file("expected"));
}

macro_rules! same_as_conlleval {
    ($($name:ident)*) => {
        mod same_as_conlleval {
            $(#[test] fn $name() { super::assert_equals_conlleval(stringify!($name)); })*
        }
    };
}

same_as_conlleval! {
    iob1
    iob2
    ioe
    brackets
    type_switches
    illegal_starts
    hyphenated_types
    non_ascii_types
    empty_type
    odd_tags
    span_across_sentences
    document_starts
    missing_types
    no_phrases
    no_tokens
    rounding
}

fn split(labels: &str) -> Vec<&str> {
    labels.split_whitespace().collect()
}

#[test]
fn bioes_spans_count_like_those_of_iob2() {
    let mut bioes = Evaluation::new();
    bioes
        .add(&split("S-X B-X E-X O B-Y I-Y E-Y S-Y"), &split("S-X B-X E-X O B-Y E-Y S-Y S-Y"))
        .unwrap();
    let mut iob2 = Evaluation::new();
    iob2.add(&split("B-X B-X I-X O B-Y I-Y I-Y B-Y"), &split("B-X B-X I-X O B-Y I-Y B-Y B-Y"))
        .unwrap();
    let counts = Counts { correct: 3, gold: 4, predicted: 5 };
    assert_eq!((bioes.spans(), iob2.spans()), (counts, counts));
}

#[test]
fn the_line_of_the_empty_type_is_printed_twice_only_if_both_have_such_spans() {
    let lines = |text: &str| evaluate(text).conlleval().lines().skip(2).count();
    assert_eq!(lines("a B B\n"), 2);
    assert_eq!(lines("a B O\n"), 1);
    assert_eq!(lines("a O B\n"), 1);
}

#[test]
fn a_type_without_a_start_is_not_listed_even_if_it_ends_a_span() {
    let labels = split("A-X .-X .-Y A-Y O");
    let mut evaluation = Evaluation::new();
    evaluation.add(&labels, &labels).unwrap();
    let types: Vec<&str> = evaluation.types().map(|(kind, _)| kind).collect();
    assert_eq!(types, ["X"]);
}

#[test]
fn a_span_that_is_open_at_the_end_is_correct_with_the_empty_type() {
    let mut evaluation = Evaluation::new();
    for labels in ["B O", "A-X .-X"] {
        evaluation.add(&split(labels), &split(labels)).unwrap();
    }
    let types: Vec<(&str, u64)> = evaluation.types().map(|(kind, c)| (kind, c.correct)).collect();
    assert_eq!(types, [("", 2), ("X", 0)]);
    assert_eq!(evaluation.spans().correct, 2);
}

#[test]
fn scores_are_fractions() {
    let mut evaluation = Evaluation::new();
    evaluation.add(&split("B-X O B-Y I-Y"), &split("B-X B-X O O")).unwrap();
    assert_eq!(evaluation.accuracy(), 0.25);
    assert_eq!(evaluation.precision(), 0.5);
    assert_eq!(evaluation.recall(), 0.5);
    assert_eq!(evaluation.f1(), 0.5);
}

#[test]
fn different_lengths_are_an_error_and_nothing_is_counted() {
    let mut evaluation = Evaluation::new();
    evaluation.add(&["O"], &["O"]).unwrap();
    let error = evaluation.add(&["O", "B-X"], &["O"]).unwrap_err();
    assert_eq!(error.to_string(), "sentence 2 has 2 gold labels but 1 predicted ones");
    assert_eq!((evaluation.sentences(), evaluation.tokens()), (1, 1));
}

#[test]
fn a_document_start_is_a_token_but_not_a_sentence() {
    let mut evaluation = Evaluation::new();
    evaluation.add_document_start();
    assert_eq!((evaluation.sentences(), evaluation.tokens()), (0, 1));
    assert_eq!(evaluation.accuracy(), 1.0);
}

#[test]
fn labels_of_another_notation_are_the_same_tokens() {
    let of = |corpus: [&str; 2]| {
        let detect = |labels| SchemeDetector::new().after([split(labels)]).detected().labeling;
        let labelings = corpus.map(detect);
        let mut evaluation = Evaluation::with_confusions();
        evaluation = evaluation.with_labelings(&labelings[0], &labelings[1]);
        evaluation.add(&split(corpus[0]), &split(corpus[1])).unwrap();
        [evaluation.f1(), evaluation.accuracy(), evaluation.kappa().unwrap_or(f64::NAN)]
    };
    for (gold, predicted, expected) in [
        ("B-X I-X O B-Y", "B-X E-X O S-Y", [1.0; 3]),
        ("B-X I-X O B-Y", "X_B X_I O Y_B", [1.0; 3]),
        ("B-X I-X O O", "B-X I-X O B-O", [1.0; 3]),
        ("X X 0 0 0 Y", "I-X I-X O O O I-Y", [1.0; 3]),
        ("B-X I-X O O", "0 0 B-X I-X", [0.0, 0.0, -0.6]),
    ] {
        assert_eq!(of([gold, predicted]), expected, "{gold}, {predicted}");
    }
}

#[test]
fn kappa_is_agreement_beyond_chance() {
    // 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: 0.7 agree, 0.5 by chance.
    let repeated = |n: [usize; 4], names: [&str; 4]| -> Vec<String> {
        let all = names.iter().zip(n).flat_map(|(name, n)| vec![(*name).to_owned(); n]);
        all.collect()
    };
    let [a, b] = [["yes", "yes", "no", "no"], ["yes", "no", "yes", "no"]]
        .map(|names| repeated([20, 5, 10, 15], names));
    let kappa = |mut evaluation: Evaluation| {
        evaluation.add(&a, &b).unwrap();
        evaluation.kappa()
    };
    assert_eq!(kappa(Evaluation::new()), None);
    assert!((kappa(Evaluation::with_confusions()).unwrap() - 0.4).abs() < 1e-12);
    let mut same = Evaluation::with_confusions();
    same.add(&["O", "O"], &["O", "O"]).unwrap();
    assert_eq!(same.kappa(), None);
}

fn parts_of_speech() -> Evaluation {
    let mut evaluation = Evaluation::with_confusions();
    evaluation.add(&split("DT NN NN VBZ NN"), &split("DT NN NNP NN VBZ")).unwrap();
    evaluation.add(&split("NN NN"), &split("NNP NN")).unwrap();
    evaluation
}

#[test]
fn the_report_for_parts_of_speech_is_accuracy_alone() {
    assert_eq!(parts_of_speech().to_string(), "accuracy:  42.86%  (3 of 7 tokens)\n");
}

#[test]
fn the_report_for_spans_is_that_of_conlleval() {
    let iob2 = Scheme::Iob2.into();
    let evaluation = evaluate("a B-X B-X\n").with_labelings(&iob2, &iob2);
    assert_eq!(evaluation.to_string(), evaluation.conlleval());
}

#[test]
fn the_label_table_is_sorted_by_label() {
    assert_eq!(
        parts_of_speech().label_table(),
        "label  precision  recall      f1  support\n\
         DT        100.00  100.00  100.00        1\n\
         NN         66.67   40.00   50.00        5\n\
         NNP         0.00    0.00    0.00        0\n\
         VBZ         0.00    0.00    0.00        1\n"
    );
}

#[test]
fn the_confusion_table_is_sorted_by_frequency_then_label_and_capped() {
    assert_eq!(
        parts_of_speech().confusion_table(2),
        "gold  predicted    count\n\
         NN    NNP              2\n\
         NN    VBZ              1\n"
    );
    assert_eq!(parts_of_speech().confusions(usize::MAX).len(), 3);
}

#[test]
fn the_json_of_spans_has_the_documented_members() {
    let iob2 = Scheme::Iob2.into();
    let evaluation = evaluate("a B-X B-X\nb I-X O\nc B-Y B-Y\n").with_labelings(&iob2, &iob2);
    assert_eq!(
        serde_json::to_string(&evaluation).unwrap(),
        concat!(
            r#"{"tokens":3,"sentences":1,"accuracy":0.6666666666666666,"#,
            r#""kappa":0.5714285714285714,"#,
            r#""precision":0.5,"recall":0.5,"f1":0.5,"#,
            r#""types":{"X":{"precision":0.0,"recall":0.0,"f1":0.0,"support":1},"#,
            r#""Y":{"precision":1.0,"recall":1.0,"f1":1.0,"support":1}}}"#
        )
    );
}

#[test]
fn the_json_of_parts_of_speech_has_no_span_members() {
    assert_eq!(
        serde_json::to_string(&parts_of_speech()).unwrap(),
        r#"{"tokens":7,"sentences":2,"accuracy":0.42857142857142855,"kappa":0.125}"#
    );
}

#[test]
fn an_empty_evaluation_scores_zero() {
    let evaluation = Evaluation::new();
    assert_eq!((evaluation.accuracy(), evaluation.f1()), (0.0, 0.0));
    assert!(evaluation.labels().is_empty());
}

/// Sentences of gold and predicted labels.
fn sentences(label: &'static str) -> impl Strategy<Value = Vec<Vec<(String, String)>>> {
    prop::collection::vec(prop::collection::vec((label, label), 1..12), 1..4)
}

proptest! {
    #[test]
    fn counts_equal_those_of_the_span_sets(
        sentences in sentences("O|[BIES](-[XY])?")
    ) {
        let mut evaluation = Evaluation::new();
        let mut expected = Counts::default();
        for sentence in &sentences {
            let (gold, predicted): (Vec<_>, Vec<_>) = sentence.iter().cloned().unzip();
            evaluation.add(&gold, &predicted).unwrap();
            let (gold, predicted) = (spans(&gold), spans(&predicted));
            expected.correct += gold.iter().filter(|s| predicted.contains(s)).count() as u64;
            expected.gold += gold.len() as u64;
            expected.predicted += predicted.len() as u64;
        }
        prop_assert_eq!(evaluation.spans(), expected);
    }

    #[test]
    fn there_is_a_span_for_every_start_counted(
        sentences in sentences("[BIOES.X\\[\\]]?-?[XY]?")
    ) {
        let mut evaluation = Evaluation::new();
        let mut found = (0, 0);
        for sentence in &sentences {
            let (gold, predicted): (Vec<_>, Vec<_>) = sentence.iter().cloned().unzip();
            evaluation.add(&gold, &predicted).unwrap();
            found.0 += spans(&gold).len() as u64;
            found.1 += spans(&predicted).len() as u64;
        }
        let counts = evaluation.spans();
        prop_assert_eq!((counts.gold, counts.predicted), found);
        prop_assert!(counts.correct <= counts.gold.min(counts.predicted));
    }
}

#[test]
fn joined_labels_are_scored_by_column_and_encode_no_spans() {
    let names = ["ner", "pos"].map(str::to_owned);
    let mut evaluation = Evaluation::new().with_joined_columns(&names);
    let gold = ["B-PER+N", "I-PER+N", "O+V+x", "O"];
    let predicted = ["B-PER+V", "I-PER+N", "O+V", "O+V"];
    evaluation.add(&gold, &predicted).unwrap();
    evaluation.add_document_start();
    assert!(!evaluation.has_spans());
    assert_eq!(
        evaluation.to_string(),
        "accuracy:  40.00%  (2 of 5 tokens)\n     \
         ner:  80.00%  (4 of 5 tokens)\n     \
         pos:  40.00%  (2 of 5 tokens)\n"
    );
    let report = serde_json::to_value(&evaluation).unwrap();
    let expected = serde_json::json!([
        {"column": "ner", "accuracy": 0.8},
        {"column": "pos", "accuracy": 0.4},
    ]);
    assert_eq!(report["columns"], expected);
    assert_eq!(report.get("f1"), None);
}

#[test]
fn labels_of_any_length_have_tables() {
    let label = "x".repeat(70_000);
    let mut evaluation = Evaluation::with_confusions();
    evaluation.add(&[&*label, "y"], &["y", "y"]).unwrap();
    assert!(evaluation.label_table().contains(&label));
    assert!(evaluation.confusion_table(3).contains(&label));
}
