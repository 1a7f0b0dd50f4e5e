//! Tagging given labels and spans, against the enumeration of all label sequences.

use super::*;
use crate::ids::LabelId;
use crate::label::{Span, convert, spans};
use crate::sentence::TokenLabel;
use crate::testing::Lcg;
use crate::testing::Oracle;

const WORDS: [&str; 5] = ["c", "a", "d", "b", "x"];

const ATTRIBUTES: [&str; 5] = ["word[0]=c", "word[0]=a", "word[0]=d", "word[0]=b", "word[0]=x"];

/// A tagger whose labels are `labels` in `scheme`, of a corpus in another, with random weights.
fn random_tagger(labels: &[&str], scheme: Scheme, corpus_scheme: Scheme) -> (Tagger, Chain) {
    let k = labels.len();
    let mut numbers = Lcg(k as u64 + 7 * scheme as u64);
    let mut header = header(labels, "word\nedge: word", Precision::F64);
    header.labeling = scheme.into();
    header.corpus_labeling = corpus_scheme.into();
    header.label_weights.transitions = numbers.vector(k * k);
    header.label_weights.start = numbers.vector(k);
    header.label_weights.end = numbers.vector(k);
    let mut chain = Chain::new(WORDS.len(), k, || 0.0);
    let weights = &header.label_weights;
    chain.trans = weights.transitions.chunks(k).map(<[f64]>::to_vec).collect();
    chain.start.clone_from(&weights.start);
    chain.end.clone_from(&weights.end);
    chain.constraint = decoding_constraint(&header.labels, &header.labeling);
    let mut nodes: NamedWeights = Vec::new();
    for (word, scores) in ATTRIBUTES.into_iter().zip(&mut chain.node) {
        *scores = numbers.vector(k);
        nodes.push((word, (0..).zip(scores.iter().copied()).collect()));
    }
    (Tagger::new(model(header, &nodes, &vec![])), chain)
}

fn names<'a>(tagger: &'a Tagger, path: &[LabelId]) -> Vec<&'a str> {
    tagger.label_names(path)
}

/// Asserts that tagging given `condition` agrees with the enumeration of the sequences for which
/// `holds` holds, with and without the constraint of the scheme. Returns the number of those that
/// are legal.
fn assert_given(
    tagger: &Tagger,
    chain: &Chain,
    condition: &Condition,
    holds: impl Fn(&[&str]) -> bool,
) -> usize {
    let sentence = Sentence::from_words(&WORDS[..chain.node.len()]);
    let mut unconstrained = chain.clone();
    unconstrained.constraint = None;
    let fulfilled = |oracle: Oracle| oracle.given(|path| holds(&names(tagger, path)));
    let all = fulfilled(unconstrained.enumerate());
    let legal = fulfilled(chain.enumerate());
    let stride = crate::chain::padded(chain.labels);
    for (constrain, oracle) in [(true, &legal), (false, &all)] {
        let options = TagOptions { constrain, ..EVERYTHING };
        let mut workspace = Workspace::default();
        let found = tagger.tag_given(&sentence, condition, options, &mut workspace);
        if oracle.paths.is_empty() {
            let error = found.unwrap_err().to_string();
            assert!(error.contains("label sequence has the known labels"), "{error}");
            continue;
        }
        let found = found.unwrap();
        let expected = oracle.nbest(5);
        assert_eq!(found.labels, expected[0].0);
        assert_eq!(found.nbest.len(), expected.len());
        let total = all.log_partition();
        for (found, (labels, score)) in found.nbest.iter().zip(&expected) {
            assert_eq!(&found.labels, labels);
            assert_close(found.score, *score);
            assert_close(found.probability, (score - total).exp());
        }
        let marginals = all.node_marginals();
        for (found, expected) in found.marginals.unwrap().rows().zip(marginals.chunks(stride)) {
            for (p, expected) in found.iter().zip(expected) {
                assert_close(*p, *expected);
            }
        }
    }
    legal.paths.len()
}

const BIO: [&str; 5] = ["O", "B-X", "I-X", "B-Y", "I-Y"];

#[test]
fn known_labels_are_kept_and_the_others_completed() {
    let tagger = tagger();
    let labels = |path: &[&str]| path.iter().map(|&name| TokenLabel::from(name)).collect();
    for words in SENTENCES {
        let mut chain = chain(tagger.model().header(), words);
        let header = tagger.model().header();
        chain.constraint = decoding_constraint(&header.labels, &header.labeling);
        let sentence = Sentence::from_words(words);
        for (t, b) in (0..words.len()).flat_map(|t| (0..LABELS.len()).map(move |b| (t, b))) {
            let condition = Condition::new().label(t, LABELS[b]);
            let oracle = chain.enumerate().given(|path| path[t].index() == b);
            let tagging =
                tagger.tag_given(&sentence, &condition, EVERYTHING, &mut Workspace::default());
            match oracle.nbest(1).first() {
                None => assert!(tagging.is_err()),
                Some((labels, _)) => {
                    let tagging = tagging.unwrap();
                    assert_eq!(&tagging.labels, labels);
                    assert_close(tagging.marginals.unwrap()[[t, b]], 1.0);
                }
            }
        }
        let all: Vec<TokenLabel> = labels(&vec!["O"; words.len()]);
        let condition = Condition::from_labels(&sentence.clone().with_partial_labels(all).unwrap());
        let tagging =
            tagger.tag_given(&sentence, &condition, EVERYTHING, &mut Workspace::default()).unwrap();
        assert_close(tagging.probability.unwrap(), 1.0);
    }
}

#[test]
fn sets_of_labels_are_kept() {
    let (tagger, chain) = random_tagger(&BIO, Scheme::Iob2, Scheme::Iob2);
    let set =
        |labels: &[&str]| TokenLabel::OneOf(labels.iter().map(|&label| label.to_owned()).collect());
    let condition = Condition::new()
        .label(0, set(&["O", "B-X"]))
        .label(2, set(&["I-X", "I-Y"]))
        .label(3, TokenLabel::Unknown);
    let count = assert_given(&tagger, &chain, &condition, |path| {
        ["O", "B-X"].contains(&path[0]) && ["I-X", "I-Y"].contains(&path[2])
    });
    assert!(count > 5);
}

#[test]
fn known_spans_are_kept_in_every_scheme() {
    let bioes = ["O", "B-X", "I-X", "E-X", "S-X", "S-Y"];
    let io = ["O", "I-X", "I-Y"];
    let taggers = [
        random_tagger(&BIO, Scheme::Iob2, Scheme::Iob2),
        random_tagger(&BIO, Scheme::Iob1, Scheme::Iob1),
        random_tagger(&bioes, Scheme::Bioes, Scheme::Iob2),
        random_tagger(&io, Scheme::Io, Scheme::Io),
    ];
    let mut legal = 0;
    for (tagger, chain) in &taggers {
        for (start, end) in [(0, 1), (0, 2), (1, 3), (2, 5), (4, 5), (0, 5)] {
            let span = Span { start, end, kind: "X" };
            let condition = Condition::new().span(&span);
            legal += assert_given(tagger, chain, &condition, |path| spans(path).contains(&span));
            // With another span right after it, and a label.
            if end < 4 {
                let next = Span { start: end, end: end + 1, kind: "X" };
                let condition = condition.span(&next).label(4, "O");
                let both = |path: &[&str]| {
                    let spans = spans(path);
                    spans.contains(&span) && spans.contains(&next) && path[4] == "O"
                };
                legal += assert_given(tagger, chain, &condition, both);
            }
        }
    }
    assert!(legal > 100, "{legal}");
}

#[test]
fn labels_of_the_corpus_are_kept_by_a_model_of_another_scheme() {
    let bioes = ["O", "B-X", "I-X", "E-X", "S-X", "S-Y"];
    let schemes = [Scheme::Io, Scheme::Iob1, Scheme::Iob2, Scheme::Bioes];
    let mut legal = 0;
    for scheme in schemes {
        let labels = match scheme {
            Scheme::Bioes => &bioes[..],
            Scheme::Io => &["O", "I-X", "I-Y"],
            _ => &BIO,
        };
        for corpus_scheme in schemes.into_iter().filter(|&other| other != scheme) {
            let (tagger, chain) = random_tagger(labels, scheme, corpus_scheme);
            for label in ["O", "B-X", "I-X", "E-X", "S-X"] {
                for t in 0..WORDS.len() {
                    let condition = Condition::new().label(t, label);
                    legal += assert_given(&tagger, &chain, &condition, |path| {
                        convert(path, corpus_scheme)[t] == label
                    });
                }
            }
        }
    }
    assert!(legal > 1000, "{legal}");
}

#[test]
fn an_empty_condition_changes_no_bit() {
    let tagger = tagger();
    for words in SENTENCES {
        let sentence = Sentence::from_words(words);
        let condition = Condition::new().label(0, TokenLabel::Unknown);
        let mut workspace = Workspace::default();
        let given = tagger.tag_given(&sentence, &condition, EVERYTHING, &mut workspace);
        assert_eq!(given.unwrap(), tag(&tagger, words, EVERYTHING));
    }
}

#[test]
fn a_workspace_may_be_used_with_and_without_conditions() {
    let tagger = tagger();
    let mut workspace = Workspace::default();
    let span = Span { start: 0, end: 2, kind: "X" };
    for words in SENTENCES {
        let sentence = Sentence::from_words(words);
        let condition = Condition::new().span(&span);
        let given = tagger.tag_given(&sentence, &condition, EVERYTHING, &mut workspace);
        assert_eq!(given.is_ok(), words.len() > 1);
        let found = tagger.tag_with(&sentence, EVERYTHING, &mut workspace);
        assert_eq!(found.unwrap(), tag(&tagger, words, EVERYTHING));
    }
}

#[test]
fn conditions_that_cannot_be_are_errors() {
    let (tagger, _) = random_tagger(&BIO, Scheme::Iob2, Scheme::Iob2);
    let sentence = Sentence::from_words(WORDS);
    let error = |condition: Condition| {
        let options = TagOptions::default();
        let tagging = tagger.tag_given(&sentence, &condition, options, &mut Workspace::default());
        tagging.unwrap_err().to_string()
    };
    let span = |start, end, kind| Condition::new().span(&Span { start, end, kind });
    let overlapping = span(1, 3, "X").span(&Span { start: 0, end: 2, kind: "X" });
    let counted = "(counted from 0, end exclusive)";
    for (condition, expected) in [
        (span(3, 6, "X"), format!("3 to 6 {counted} ends after the sentence, which has 5 tokens")),
        (span(3, 3, "X"), format!("3 to 3 {counted} is empty; expected an end after the start")),
        (overlapping, format!("1 to 3 {counted} overlaps that from 0 to 2")),
    ] {
        let expected = format!("-:1: the known span of type 'X' from token {expected}");
        assert_eq!(error(condition), expected);
    }
    for (condition, expected) in [
        (span(1, 3, "Q"), "the model has no labels for the known span of type 'Q'"),
        (
            Condition::new().label(5, "O"),
            "a known label for token 5, counted from 0, of a sentence of 5 tokens",
        ),
        (
            Condition::new().label(1, "B-Q"),
            "the model has no label for the known label 'B-Q'; its labels are O B-X I-X B-Y I-Y",
        ),
    ] {
        assert_eq!(error(condition), format!("-:1: {expected}"));
    }
    let illegal = Condition::new().label(0, "O").label(1, "I-X");
    assert_eq!(
        error(illegal),
        "-:1: no legal label sequence has the known labels and spans up to here; expected labels \
         and spans that fit together, or `constrain` off"
    );
}
