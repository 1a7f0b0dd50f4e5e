//! Corpora of ready-made attributes.

use std::sync::Arc;

use super::push_sentence;
use crate::extract::AttributeCorpus;
use crate::ids::LabelId;
use crate::sentence::Sentence;

#[test]
fn sentences_are_labeled_or_unlabeled_and_share_their_attributes() {
    let mut corpus = AttributeCorpus::new();
    push_sentence(&mut corpus, [[("a", 1.0)], [("b", 1.0)]], &["X", "Y"]);
    corpus.attribute("b", 0.5).unwrap();
    corpus.attribute("c", 1.0).unwrap();
    corpus.end_token(None).unwrap();
    corpus.end_sentence().unwrap();
    corpus.end_sentence().unwrap(); // empty
    assert_eq!((corpus.len(), corpus.labeled().len()), (2, 1));
    let row: Vec<_> = corpus.unlabeled().nodes.entries(0).collect();
    assert_eq!(row, [(1, 0.5), (2, 1.0)]);
    let names = corpus.labeled().labels.iter();
    let names: Vec<&str> = names.map(|&id| corpus.label_name(id)).collect();
    assert_eq!(names, ["X", "Y"]);
}

#[test]
fn values_of_one_name_are_summed_and_those_of_0_ignored() {
    let mut corpus = AttributeCorpus::new();
    corpus.attribute("zero", 0.0).unwrap();
    corpus.attribute("a", 0.5).unwrap();
    corpus.attribute("a", 2.0).unwrap();
    corpus.end_token(None).unwrap();
    corpus.end_sentence().unwrap();
    let row: Vec<_> = corpus.unlabeled().nodes.entries(0).collect();
    assert_eq!(row, [(0, 2.5)]);
}

#[test]
fn edge_attributes_belong_to_the_edge_into_a_token() {
    let mut corpus = AttributeCorpus::new();
    for _ in 0..2 {
        corpus.edge_attribute("e", 1.0).unwrap();
        corpus.end_token(Some("X")).unwrap();
    }
    corpus.end_sentence().unwrap();
    let edges = &corpus.labeled().edges;
    assert_eq!((edges.row(0).0.len(), edges.row(1).0.len()), (0, 1));
}

#[test]
fn a_split_keeps_the_order_and_the_labels_of_all() {
    let mut corpus = AttributeCorpus::new();
    corpus.observe_zeros();
    for (i, (attribute, label)) in (0..).zip([("a", "X"), ("b", "Y"), ("c", "Z"), ("a", "X")]) {
        corpus.set_part(i % 2);
        let zero = if i == 1 { "d" } else { "a" };
        let attributes = [(attribute, 1.0), (zero, 0.0)];
        push_sentence(&mut corpus, [attributes], &[label]);
    }
    corpus.attribute("d", 1.0).unwrap();
    corpus.end_token(None).unwrap();
    corpus.end_sentence().unwrap();
    let [rest, held_out] = corpus.split(|part| part == 1);
    assert_eq!((rest.len(), held_out.len()), (3, 2));
    assert_eq!((rest.unlabeled().len(), held_out.unlabeled().len()), (1, 0));
    let columns = |part: &AttributeCorpus| {
        let nodes = Arc::clone(&part.labeled().nodes);
        (0..nodes.len()).map(|row| nodes.row(row).0[0]).collect::<Vec<_>>()
    };
    let found = (columns(&rest), columns(&held_out));
    assert_eq!(found, (vec![0, 3], vec![1, 0]));
    let zeros = |part: &AttributeCorpus| -> Vec<_> {
        part.zeros().into_iter().map(|(attribute, label)| (attribute, label.0)).collect()
    };
    let found = (zeros(&rest), zeros(&held_out));
    assert_eq!(found, (vec![(0, 0), (0, 2)], vec![(0, 0), (2, 1)]));
    assert_eq!(held_out.labeled().labels, [LabelId(1), LabelId(0)]);
    for part in [rest, held_out] {
        assert_eq!(part.given_labels(), ["X", "Y", "Z"]);
    }
    assert_eq!(corpus.given_labels(), [""; 0]);
    assert_eq!((corpus.part_len(0), corpus.part_len(1), corpus.part_len(2)), (2, 2, 0));
}

#[test]
fn labels_may_be_partial_and_sentences_weighted() {
    let mut corpus = AttributeCorpus::new();
    corpus.weight(0.5).unwrap();
    corpus.end_token(None).unwrap();
    corpus.end_token_one_of(&["X", "Y"]).unwrap();
    corpus.end_sentence().unwrap();
    push_sentence(&mut corpus, [[("a", 1.0)]], &["X"]);
    let labeled = corpus.labeled();
    assert_eq!((labeled.partial_tokens(), labeled.labels.len()), (2, 3));
    assert_eq!((labeled.weight(0), labeled.weight(1)), (0.5, 1.0));
    assert!(corpus.weight(-1.0).is_err());
}

#[test]
fn sentences_without_attributes_are_rejected() {
    let error = AttributeCorpus::new().push(&Sentence::from_words(["a"]));
    let expected = "-:1: found columns; expected ready-made attributes";
    assert_eq!(error.unwrap_err().to_string(), expected);
}

#[test]
fn a_faulty_sentence_is_dropped_and_the_rest_kept() {
    let mut corpus = AttributeCorpus::new();
    push_sentence(&mut corpus, [[("a", 1.0)]], &["X"]);
    for (name, value, expected) in [
        ("", 1.0, "an attribute has no name"),
        ("b", f64::NAN, "attribute 'b' has the value NaN; expected a number of at most 1e30"),
    ] {
        corpus.attribute("b", 1.0).unwrap();
        corpus.end_token(Some("X")).unwrap();
        assert_eq!(corpus.attribute(name, value).unwrap_err().to_string(), expected);
    }
    corpus.end_token(Some("X")).unwrap();
    assert_eq!(
        corpus.end_token(Some("")).unwrap_err().to_string(),
        "the label of token 2 is empty; expected a label, such as O"
    );
    corpus.attribute("c", 1.0).unwrap();
    corpus.end_token(Some("X")).unwrap();
    corpus.discard_sentence();
    corpus.end_sentence().unwrap();
    corpus.attribute("c", 1.0).unwrap();
    let error = corpus.end_sentence().unwrap_err().to_string();
    assert!(error.starts_with("attributes follow the last token"));
    push_sentence(&mut corpus, [[("a", 1.0)]], &["X"]);
    assert_eq!(corpus.labeled().tokens(), 2);
    assert_eq!(corpus.labeled().labels, [LabelId(0); 2]);
    let before = corpus.memory();
    corpus.shrink_to_fit();
    assert!(corpus.memory() < before);
}
