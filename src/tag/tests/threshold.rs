//! Spans below a threshold.

use super::*;
use crate::corpus::Tagged;
use crate::label::LabelSet;

#[test]
fn a_threshold_is_a_probability_or_one_for_each_type() {
    for (text, kept) in [
        ("0", "PER.5 LOC.5 LOC.7"),
        ("0.6", "LOC.7"),
        ("PER=0.5", "PER.5 LOC.5 LOC.7"),
        (" 1 , LOC = 0.7 ", "LOC.7"),
        ("a=b=0.1,LOC=.6", "PER.5 LOC.7"),
        ("1", ""),
    ] {
        let threshold: Threshold = text.parse().unwrap();
        let spans = [("PER", 0.5), ("LOC", 0.5), ("LOC", 0.7)].into_iter();
        let spans = spans.filter(|(kind, p)| threshold.keeps(kind, *p));
        let found: Vec<String> = spans.map(|(kind, p)| format!("{kind}.{}", 10.0 * p)).collect();
        assert_eq!(found.join(" "), kept, "{text}");
    }
    for (text, fault) in [
        ("", "found \"\"; expected a probability such as 0.8, or one for each of some types"),
        ("PER", "found \"PER\"; expected a probability such as 0.8"),
        ("PER=", "found \"\"; expected a probability such as 0.8"),
        ("1.5", "found the threshold 1.5; expected a probability from 0 to 1"),
        ("LOC=-0.1", "found the threshold -0.1; expected"),
        ("nan", "found the threshold NaN; expected"),
        ("0.5,0.6", "found several thresholds without a type"),
        ("X=0.5,X=0.5", "the type 'X' has two thresholds"),
    ] {
        let message = text.parse::<Threshold>().unwrap_err().to_string();
        assert!(message.starts_with(fault), "{text}: {message}");
    }
}

/// A header with these labels.
fn of_labels(names: &str, scheme: Scheme) -> Header {
    let names: Vec<String> = names.split(' ').map(str::to_owned).collect();
    let labels = LabelSet::try_from(names).unwrap();
    Header { labels, labeling: scheme.into(), ..double("word\nedge: word") }
}

#[test]
fn a_threshold_has_to_fit_the_labels_of_the_model() {
    for (labels, scheme, threshold, fault) in [
        ("O B-PER I-PER B-LOC", Scheme::Iob2, "0.5,LOC=0.1", ""),
        ("O B-PER B-LOC", Scheme::Iob2, "ORG=0.5", "no type 'ORG'; its types are PER LOC"),
        ("NN VB O", Scheme::Raw, "0", ""),
        ("NN VB O", Scheme::Raw, "0.5", "the labels of the model encode no spans"),
        ("B-X I-X I-Y", Scheme::Iob2, "0.5", "no label 'O' for tokens of a span that is left out"),
        ("B I O", Scheme::Iob2, "=0.5", ""),
        ("PER O LOC", Scheme::Plain, "PER=0.5", ""),
    ] {
        let threshold: Threshold = threshold.parse().unwrap();
        let found = threshold.check(&of_labels(labels, scheme));
        let found = found.map_or_else(|error| error.to_string(), |()| String::new());
        assert!(found.contains(fault) && found.is_empty() == fault.is_empty(), "{labels}: {found}");
    }
}

/// The labels that are written and the probabilities of their spans, in a labeling.
fn marked(tagger: &Tagger, tagging: &Tagging, scheme: Scheme) -> (String, Vec<f64>) {
    let sentence = Sentence::from_words(vec!["x"; tagging.labels.len()]);
    let labeling = scheme.into();
    let Tagged { labels, mark_probabilities, .. } = tagger.tagged(&sentence, tagging, &labeling);
    (labels.join(" "), mark_probabilities.unwrap())
}

#[test]
fn spans_below_the_threshold_are_outside_in_every_scheme() {
    let header = Header { labeling: Scheme::Iob2.into(), ..double("word\nedge: word") };
    let [outside, begin, inside] = ["O", "B-X", "I-X"].map(|l| header.labels.id(l).unwrap());
    let tagger = Tagger::new(model(header, &nodes(), &edges()));
    let sentence = Sentence::from_words(["a", "b", "c", "a", "x"]);
    let labels = vec![begin, inside, begin, outside, begin];
    let whole = Tagging { labels, ..Tagging::default() };
    let distribution = tagger.distribution(&sentence).unwrap();
    let exact = [(0, 2), (2, 3), (4, 5)].map(|(start, end)| {
        distribution.span_probability(&label::Span { start, end, kind: "X" }).unwrap()
    });
    let [first, second, last] = exact;
    let marked_at = |threshold: f64| {
        let threshold = Threshold::new(1.0, vec![("X".to_owned(), threshold)]).unwrap();
        let mut tagging = whole.clone();
        tagger.mark(&sentence, &Condition::new(), &threshold, &mut tagging).unwrap();
        tagging
    };
    let all = marked_at(0.0);
    assert_eq!(marked(&tagger, &all, Scheme::Iob2), ("B-X I-X B-X O B-X".into(), exact.into()));
    assert_eq!(marked(&tagger, &all, Scheme::Iob1).0, "I-X I-X B-X O I-X");
    let joined = (String::from("I-X I-X I-X O I-X"), vec![first * second, last]);
    assert_eq!(marked(&tagger, &all, Scheme::Io), joined);
    // A threshold keeps what reaches it, here the most probable span alone.
    let best = first.max(second).max(last);
    let one = marked_at(best);
    let (labels, kept) = marked(&tagger, &one, Scheme::Iob1);
    assert_eq!(kept, [best]);
    assert!(!labels.contains('B') && labels.contains("I-X"), "{labels}");
    assert_eq!(marked(&tagger, &marked_at(1.0), Scheme::Bioes), ("O O O O O".into(), vec![]));
}

#[test]
fn labels_that_encode_no_spans_have_their_own_probabilities() {
    let header = Header { labeling: Scheme::Raw.into(), ..double("word\nedge: word") };
    let tagger = Tagger::new(model(header, &nodes(), &edges()));
    for words in [&["a", "b", "c"][..], &[]] {
        let sentence = Sentence::from_words(words);
        let mut tagging = tagger.tag(&sentence).unwrap();
        tagger.mark(&sentence, &Condition::new(), &Threshold::default(), &mut tagging).unwrap();
        let marginals = tagger.marginals(&sentence).unwrap();
        let expected = tagging.labels.iter().enumerate().map(|(t, l)| marginals[[t, l.index()]]);
        assert_eq!(tagging.mark_probabilities, Some(expected.collect()));
    }
}
