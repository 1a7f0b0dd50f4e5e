//! Labels, duplicates, and annotation that contradicts itself.

use super::super::{
    FindingKind, Role, SuspicionOptions, Variation, suspicious, suspicious_by, variations,
};
use super::{check_with, examples, kinds, report};
use dropchain::corpus::{Corpus, ReadOptions, Supervision};
use dropchain::label::Scheme;
use dropchain::train::{TrainOptions, Trainer};
use dropchain_analysis::Predictions;

const LEGAL: &str = "Ann B-PER\nLee I-PER\nleft O\n\n";

#[test]
fn the_scheme_is_explained_and_illegal_labels_have_places() {
    let text = LEGAL.repeat(100) + "in O\nNew I-LOC\nYork I-LOC\n";
    let report = report(&[("train.conll", &text)]);
    assert_eq!(report.labels.scheme, Scheme::Iob2);
    assert_eq!(
        report.labels.reason,
        "1 of 202 labels in spans does not fit IOB2, 100 do not fit IOB1, 102 do not fit BIOES"
    );
    assert_eq!(
        examples(&report, FindingKind::IllegalTransition),
        ["train.conll:402 IOB2: 'I-LOC' after 'O'"]
    );
}

#[test]
fn a_scheme_that_nothing_fits_is_explained() {
    let half = report(&[("train.conll", &(LEGAL.to_owned() + "a I-LOC\n"))]);
    assert!(!half.labels.labeling.strict);
    assert!(half.labels.reason.starts_with("too many errors for any scheme"));
    assert!(!examples(&half, FindingKind::IllegalTransition).is_empty());
    let stray = report(&[("train.conll", &(LEGAL.to_owned() + "a LOC\n"))]);
    assert_eq!(stray.labels.scheme, Scheme::Iob2);
    assert_eq!(examples(&stray, FindingKind::StrayLabel), ["train.conll:5 'LOC'"]);
    let foreign = report(&[("train.conll", &(LEGAL.to_owned() + "a LOC\nb LOC\n"))]);
    assert_eq!(foreign.labels.reason, "'LOC' belongs to no scheme (B-X, I-X, E-X, S-X, O)");
    let tags = report(&[("train.conll", "a DT\nb NN\n")]);
    assert_eq!(tags.labels.reason, "the labels encode no spans (B-X, I-X, …)");
    assert!(tags.labels.types.is_empty());
}

#[test]
fn a_corpus_without_any_span_is_doubted() {
    let outside = report(&[("train.conll", "a O\nb O\n\nc O\n")]);
    assert_eq!(
        examples(&outside, FindingKind::NoSpan),
        ["train.conll:1 all labels are 'O' (is this the label column?)"]
    );
    for text in ["a O\nb B-X\n", "a DT\nb NN\n"] {
        let report = report(&[("train.conll", text)]);
        assert!(examples(&report, FindingKind::NoSpan).is_empty());
    }
}

#[test]
fn labels_without_prefixes_are_spans_if_they_look_like_it() {
    let text = "Ann PER\nLee PER\nleft O\nthe O\ntown O\n\nAnn O\nLee O\nleft O\n";
    let report = report(&[("train.conll", text), ("dev.conll", "Ann PER\nLee PER\nLee O\n")]);
    assert_eq!(report.labels.scheme, Scheme::Plain);
    assert_eq!(report.labels.types[0].label, "PER");
    assert_eq!(report.sizes[1].unseen_spans, Some(0));
    let found = variations(corpus(text).sentences(), &report.labels, usize::MAX);
    assert_eq!((&*found[0].phrase, &*found[0].labels[1].label), ("Ann Lee", "PER"));
}

#[test]
fn legal_corpora_in_every_scheme_have_no_illegal_labels() {
    for text in
        ["a I-X\nb I-X\nc B-X\nd O\n", "a B-X\nb I-X\nc B-X\nd O\n", "a B-X\nb E-X\nc S-X\nd O\n"]
    {
        let report = report(&[("train.conll", text)]);
        assert!(!kinds(&report).contains(&FindingKind::IllegalTransition), "{text}");
        assert_ne!(report.labels.scheme, Scheme::Raw);
    }
    let report = report(&[("train.conll", &("a B-X\nb E-X\nc S-X\n\n".repeat(150) + "a B-X\n"))]);
    assert_eq!(
        examples(&report, FindingKind::IllegalTransition),
        ["train.conll:601 BIOES: 'B-X' ends the sentence"]
    );
}

#[test]
fn labels_that_look_like_mistakes_are_found() {
    let train = LEGAL.repeat(2) + "a B-Per\nb _\n";
    let report = report(&[("train.conll", &train), ("dev.conll", "a B-LOC\nb O\n")]);
    assert_eq!(
        examples(&report, FindingKind::SimilarLabels),
        ["train.conll:9 'B-Per', more often 'B-PER'"]
    );
    assert_eq!(examples(&report, FindingKind::UnseenLabel), ["dev.conll:1 'B-LOC', 1 times"]);
    assert_eq!(examples(&report, FindingKind::PartialLooking), ["train.conll:10 '_'"]);
    assert_eq!(
        examples(&report, FindingKind::RareLabel),
        ["train.conll:9 'B-Per'", "train.conll:10 '_'"]
    );
}

#[test]
fn partial_labels_are_read_as_such_on_request() {
    let options = ReadOptions {
        supervision: Supervision { partial_labels: true, ..Supervision::default() },
        ..ReadOptions::default()
    };
    let text = LEGAL.repeat(100) + "a _\nb I-PER\n\na O\nb I-PER\nc _\n";
    let files: [(&str, &[u8]); 1] = [("train.conll", text.as_bytes())];
    let report = check_with(&files, &options).1.report();
    assert_eq!(report.labels.scheme, Scheme::Iob2);
    assert_eq!(
        examples(&report, FindingKind::ImpossibleLabels),
        ["train.conll:405 'I-PER', given the other labels (IOB2)"]
    );
    assert!(report.labels.labels.iter().all(|count| count.label != "_"));
}

#[test]
fn sentences_that_occur_again_are_found_unless_they_are_short() {
    let long = "a O\nb O\nc B-X\nd O\ne O\n\n";
    let other = long.replace("B-X", "O");
    let train = format!("{long}f O\n\n{long}");
    let dev = format!("{other}f O\n\n{other}");
    let report = report(&[("train.conll", &train), ("dev.conll", &dev)]);
    assert_eq!(
        examples(&report, FindingKind::SharedSentence),
        ["dev.conll:1 also train.conll:1, 5 tokens", "dev.conll:9 also train.conll:1, 5 tokens"]
    );
    assert_eq!(
        examples(&report, FindingKind::RepeatedSentence),
        ["train.conll:9 also train.conll:1, 5 tokens", "dev.conll:9 also dev.conll:1, 5 tokens"]
    );
    // One example is enough for all sentences with the same words.
    assert_eq!(
        examples(&report, FindingKind::ConflictingLabels),
        ["dev.conll:3 'O'; train.conll:3: 'B-X'"]
    );
    let overlap = &report.overlaps[0];
    assert_eq!((overlap.role, overlap.other), (Role::Dev, Role::Train));
    assert_eq!((overlap.sentences, overlap.long), (3, 2));
}

#[test]
fn what_training_data_do_not_know_is_counted() {
    let dev = "Ann B-PER\nLee I-PER\nmet O\nLee B-PER\n";
    let report = report(&[("train.conll", LEGAL), ("dev.conll", dev)]);
    let dev = &report.sizes[1];
    assert_eq!((dev.tokens, dev.unknown_tokens), (4, Some(1)));
    assert_eq!((dev.spans, dev.unseen_spans), (Some(2), Some(1)));
    assert_eq!(report.sizes[0].unknown_tokens, None);
    assert_eq!(report.labels.types[0].of(Role::Dev), 2);
}

#[test]
fn documents_are_counted_where_they_are_marked() {
    let text = format!("-DOCSTART- O\n\n{LEGAL}-DOCSTART- O\n\n{LEGAL}{LEGAL}");
    let report = report(&[("train.conll", &text), ("dev.conll", LEGAL)]);
    assert_eq!(report.sizes[0].documents, Some(2));
    assert_eq!(report.sizes[0].sentences, 3);
    assert_eq!(report.sizes[1].documents, None);
}

fn corpus(text: &str) -> Corpus {
    Corpus::parse(text, "x.conll", &ReadOptions::default()).unwrap()
}

fn varying(text: &str) -> Vec<Variation> {
    let report = report(&[("train.conll", text)]);
    variations(corpus(text).sentences(), &report.labels, usize::MAX)
}

#[test]
fn phrases_with_different_labels_are_ranked_by_context_and_frequency() {
    let york = "in O\nNew B-LOC\nYork I-LOC\n. O\n\n";
    let text = york.repeat(4)
        + "in O\nNew O\nYork O\n. O\n\n"
        + &"Ann B-PER\nleft O\n\n".repeat(5)
        + "saw O\nAnn O\n\n"
        // Part of a larger span: something else.
        + "The B-ORG\nNew I-ORG\nYork I-ORG\nTimes I-ORG\n";
    let found = varying(&text);
    let phrases: Vec<_> = found.iter().map(|v| (&*v.phrase, v.same_context)).collect();
    assert_eq!(phrases, [("New York", true), ("Ann", false)]);
    let labels: Vec<_> = found[0].labels.iter().map(|l| (&*l.label, l.count)).collect();
    assert_eq!(labels, [("LOC", 4), ("O", 1)]);
    assert_eq!(found[0].labels[1].places, ["x.conll:22"]);
}

#[test]
fn labels_of_words_vary_only_in_the_same_context() {
    let text = "the DT\nrun NN\nis VB\n\nthe DT\nrun VB\nis VB\n\nto TO\nrun VB\n";
    let found = varying(text);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].phrase, "run");
    assert_eq!(found[0].labels[0].places.len(), 1);
}

#[test]
fn a_label_that_contradicts_all_others_is_the_most_suspicious() {
    let text = "Ann B-PER\nleft O\nRome B-LOC\n. O\n\nBob B-PER\nsaw O\nParis B-LOC\n. O\n\n";
    let text = text.repeat(20) + "Ann B-PER\nleft O\nRome O\n. O\n";
    let corpus = corpus(&text);
    let template = "word\nword[-1]\n".parse().unwrap();
    let trainer = Trainer::new(TrainOptions::default()).unwrap();
    let options = SuspicionOptions { limit: 3, ..SuspicionOptions::default() };
    let find = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = || suspicious(&trainer, &corpus, Some(&template), options, &mut ());
        pool.install(found).unwrap().unwrap()
    };
    let found = find(1);
    assert_eq!(found.len(), 3);
    assert_eq!(found[0].place().to_string(), "x.conll:203");
    assert_eq!(found[0].predicted, ["B-PER", "O", "B-LOC", "O"]);
    assert!(found[0].suspicion > 0.8 && found[1].suspicion < 0.5, "{found:?}");
    assert!(found[0].log_probability < found[0].predicted_log_probability);
    assert_eq!(found, find(3));
}

#[test]
fn predictions_stand_for_the_models_that_made_them() {
    let corpus = corpus("Ann B-PER\nleft O\n\nRome O\n\nOslo O\n");
    let columns = "Ann B-PER B-PER 0.900000\nleft O O 0.990000\n\nRome O B-LOC 0.800000\n\n\
                   Oslo O B-LOC 0.900000\n";
    let json = r#"{"tokens":["Ann","left"],"labels":["B-PER","O"],"marginals":[{"B-PER":1},{"O":1}]}
{"tokens":["Rome"],"labels":["B-LOC"],"marginals":[{"B-LOC":0.8,"O":0.1}]}
{"tokens":["Oslo"],"labels":["B-LOC"],"marginals":[{"B-LOC":0.9,"O":0.3}]}
"#;
    let dir = tempfile::tempdir().unwrap();
    // Columns have the probability of the predicted label alone.
    for (name, text, expected) in [
        ("p.conll", columns, [(2, 0.9, None), (1, 0.8, None)]),
        ("p.jsonl", json, [(1, 0.7, Some(0.1)), (2, 0.6, Some(0.3))]),
    ] {
        let file = dir.path().join(name);
        std::fs::write(&file, text).unwrap();
        let options = ReadOptions::default();
        let predictions = Predictions::read(file.as_ref(), &corpus, options).unwrap();
        let found = suspicious_by(&predictions, &corpus, 2).unwrap();
        assert_eq!(found.len(), 2);
        for (found, (sentence, suspicion, own)) in found.iter().zip(expected) {
            assert_eq!((found.sentence, found.token), (sentence, 0), "{name}");
            assert!((found.suspicion - suspicion).abs() < 1e-9, "{name}: {found:?}");
            assert_eq!(Some(found.probabilities[0]).filter(|p| !p.is_nan()), own);
        }
    }
}

#[test]
fn a_label_that_other_folds_do_not_have_is_impossible() {
    let text = "a X\nb O\n\n".repeat(20) + "a X\nb Q\n";
    let corpus = corpus(&text);
    let template = "word\n".parse().unwrap();
    let trainer = Trainer::new(TrainOptions::default()).unwrap();
    let found =
        suspicious(&trainer, &corpus, Some(&template), SuspicionOptions::default(), &mut ());
    let found = &found.unwrap().unwrap()[0];
    assert_eq!((found.sentence, found.token), (20, 1));
    assert_eq!(found.log_probability, f64::NEG_INFINITY);
    assert_eq!(found.probabilities[1], 0.0);
}
