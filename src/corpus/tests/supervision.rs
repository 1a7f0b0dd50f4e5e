//! Weights of sentences and partial labels, in every format.

use super::*;
use crate::sentence::{LineRules, TokenLabel};
use crate::testing::escaped_rows;

/// A row of CoNLL-U.
fn row(id: usize, word: &str, label: &str) -> String {
    format!("{id}\t{word}\t_\t_\t{label}\t_\t_\t_\t_\t_\n")
}

/// Options that read everything that is said of labels.
fn supervised(format: Format) -> ReadOptions {
    ReadOptions {
        label: (format == Format::Conllu).then(|| "xpos".to_owned()),
        lines: LineRules { comments: format == Format::Conll, header: false },
        supervision: Supervision { partial_labels: true, ..Supervision::default() },
        ..options(format)
    }
}

#[test]
fn every_format_has_weights_and_partial_labels_with_the_same_meaning() {
    let rows = [("Ann", "B-X|B-Y"), ("Lee", "_"), ("left", "O")];
    let each = |line: &dyn Fn(usize, &str, &str) -> String| -> String {
        (1..).zip(rows).map(|(i, (word, label))| line(i, word, label)).collect()
    };
    let conll = each(&|_, word, label| format!("{word}\t{label}\n"));
    let conllu = each(&|i, word, label| row(i, word, label));
    let crfsuite = each(&|_, word, label| format!("{label}\tw={word}\n"));
    let json = |labels: &str| {
        format!("{{\"tokens\":[\"Ann\",\"Lee\",\"left\"],\"weight\":2.5,\"labels\":{labels}}}\n")
    };
    for (format, text) in [
        (Format::Conll, format!("#weight=2.5\n{conll}\n# Weight = 2\n# weights = 3\n{conll}")),
        (Format::Conllu, format!("# weight = 2.5\n{conllu}\n{conllu}\n")),
        (Format::Crfsuite, format!("@weight:2.5\n{crfsuite}\n{crfsuite}")),
        (Format::Jsonl, json(r#"["B-X|B-Y","_","O"]"#)),
        (Format::Jsonl, json(r#"[["B-Y","B-X"],null,"O"]"#)),
        (Format::Jsonl, json(r#"[["B-X","B-Y"],"_",["O"]]"#).replace("2.5", "null")),
    ] {
        let read = sentences(&text, &supervised(format)).unwrap();
        let expected = if text.contains("null,\"labels") { 1.0 } else { 2.5 };
        assert_eq!(read[0].weight(), expected, "{text}");
        assert!(read[1..].iter().all(|sentence| sentence.weight() == 1.0), "{text}");
        for sentence in &read {
            let mut set = sentence.partial_label(0).unwrap().labels().to_vec();
            set.sort();
            assert_eq!(set, ["B-X", "B-Y"], "{text}");
            assert_eq!(sentence.partial_label(1), Some(&TokenLabel::Unknown), "{text}");
            assert_eq!((sentence.partial_label(2), sentence.label(2)), (None, Some("O")));
        }
    }
}

#[test]
fn weights_that_are_none_are_errors_with_their_line() {
    let table = r#"
        x.conll: a O\n\n# weight = -0.5\nb B-X\n → x:3: the weight of a sentence is -0.5; RANGE
        x.conll: a O\n\n# weight = nan\nb B-X\n → x:3: the weight of a sentence is NaN; RANGE
        x.conll: a O\n\n# weight = 1e999\nb B-X\n → x:3: the weight of a sentence is inf; RANGE
        x.conll: a O\n\n# weight = \nb B-X\n → x:3: the weight of the sentence is ''; expected a
            number
        x.conll: # weight = 1\n# weight = 2\na O\n → x:2: a second weight for the next sentence;
            expected one (the first is on line 1)
        x.conll: a O\n# weight = 2\nb O\n → x:2: the weight of a sentence stands inside it; expected
            it before the first token
        x.conll: a O\n\n# weight = 2\n-DOCSTART- O\n\nb O\n → x:3: the weight is followed by a
            document boundary; expected a sentence
        x.conllu: # weight = -1\n1\ta\t_\t_\tX\t_\t_\t_\t_\t_\n\n → x:1: the weight of a sentence is
            -1; RANGE
        x.jsonl: {"tokens":["a"],"labels":["X"],"weight":-2} → x:1: the weight of a sentence is -2;
            RANGE
        x.jsonl: {"tokens":["a"],"labels":["X"],"weight":"2"} → x:1: key "weight": expected a
            number, found a string
    "#;
    for (text, expected) in escaped_rows(table) {
        let (name, text) = text.split_once(": ").unwrap();
        let expected = expected.replace("RANGE", "expected a number from 0 to 1e9");
        assert_eq!(error(text, &supervised(Format::guess(name))), expected);
    }
}

#[test]
fn partial_labels_that_are_none_are_errors_with_their_line() {
    let expected = "expected a label, several such as B-PER|B-ORG, or '_' for any";
    for (label, fault) in [
        ("B-X|", "a label is empty"),
        ("|", "a label is empty"),
        ("B-X|B-Y|B-X", "a label is repeated"),
        ("B-X|_", "'_', any label, is one of its parts"),
    ] {
        assert_eq!(
            error(&format!("a O\nb {label}\n"), &supervised(Format::Conll)),
            format!("x:2: the partial label '{label}': {fault}; {expected}")
        );
    }
    let json = |labels: &str| {
        let text = format!("{{\"tokens\":[\"a\",\"b\"],\"labels\":{labels}}}\n");
        error(&text, &supervised(Format::Jsonl))
    };
    assert_eq!(json("[\"O\",[]]"), "x:1: key \"labels\", item 2: no label is allowed");
    assert_eq!(
        json("[\"O\",3]"),
        "x:1: key \"labels\", item 2: expected a label, an array of labels or null, found a number"
    );
}
