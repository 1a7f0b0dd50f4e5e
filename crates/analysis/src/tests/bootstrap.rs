//! Tests against the enumeration of all samples of a few sentences, and against a reference
//! implementation (`tests/data/compare/bootstrap.py`).

use std::fs;

use dropchain::eval::Evaluation;
use dropchain::label::{Labeling, Scheme, SchemeDetector};
use serde_json::Value;

use crate::SentenceCounts;
use crate::bootstrap::*;

/// A bootstrap test of sentences written as `gold / A / B`.
fn bootstrap(sentences: &[&str]) -> PairedBootstrap {
    let gold = sentences.iter().filter_map(|sentence| sentence.split('/').next());
    let gold = gold.map(|labels| labels.split_whitespace().collect::<Vec<_>>());
    let labeling = SchemeDetector::new().after(gold).detected().labeling;
    let mut bootstrap = PairedBootstrap::default().with_labelings(&labeling, [&labeling; 2]);
    for sentence in sentences {
        let sides: Vec<Vec<&str>> =
            sentence.split('/').map(|side| side.split_whitespace().collect()).collect();
        let [gold, a, b] = &sides[..] else {
            panic!("{sentence}");
        };
        bootstrap.add(gold, [a, b]).unwrap();
    }
    bootstrap
}

const FOUR: [&str; 4] = [
    "B-X I-X O O / B-X O O O / B-X I-X O O",
    "O B-Y B-X O / O B-Y O B-X / O B-X B-X O",
    "B-Y O / O O / B-Y O",
    "O O B-X / O O B-X / B-X O B-X",
];

/// Span counts of [`FOUR`], counted by hand: gold, correct by A and B, predicted by A and B.
const COUNTED: [[u32; 5]; 4] = [[1, 0, 1, 1, 1], [2, 1, 1, 2, 2], [1, 0, 1, 0, 1], [1, 1, 1, 1, 2]];

/// The differences in F1 over all 4⁴ samples of [`COUNTED`].
fn all_differences() -> Vec<f64> {
    let f1 = |sum: &[u32; 5], side: usize| {
        2.0 * f64::from(sum[1 + side]) / f64::from(sum[0] + sum[3 + side])
    };
    let mut differences = Vec::new();
    for number in 0..256_usize {
        let mut sum = [0; 5];
        for digit in [1, 4, 16, 64] {
            let row = COUNTED[number / digit % 4];
            for (total, count) in sum.iter_mut().zip(row) {
                *total += count;
            }
        }
        differences.push(f1(&sum, 1) - f1(&sum, 0));
    }
    differences
}

#[test]
fn sentences_are_counted_as_by_hand() {
    let report = bootstrap(&FOUR).run(1, 0).unwrap();
    let f1 = report.f1.unwrap();
    assert_eq!(f1.scores, [4.0 / 9.0, 8.0 / 11.0]);
    assert_eq!(report.accuracy.scores, [9.0 / 13.0, 11.0 / 13.0]);
    assert_eq!(f1.difference, f1.scores[1] - f1.scores[0]);
    assert_eq!((report.sentences, report.tokens), (4, 13));
}

#[test]
fn samples_have_the_distribution_of_the_enumeration() {
    const SAMPLES: u32 = 100_000;
    let bootstrap = bootstrap(&FOUR);
    let drawn = (0..u64::from(SAMPLES)).map(|s| {
        let [a, b] = bootstrap.sample(3, s).f1();
        b - a
    });
    let drawn: Vec<f64> = drawn.collect();
    let all = all_differences();
    let fraction = |values: &[f64], limit: f64| {
        let below = values.iter().filter(|&&d| d <= limit).count();
        below as f64 / values.len() as f64
    };
    for &limit in &all {
        let (expected, found) = (fraction(&all, limit), fraction(&drawn, limit));
        // Three standard deviations.
        assert!((expected - found).abs() < 0.005, "{limit}: {expected} {found}");
    }
}

#[test]
fn the_p_value_is_twice_the_smaller_tail() {
    let report = bootstrap(&FOUR).run(100_000, 5).unwrap();
    let all = all_differences();
    let tail = all.iter().filter(|&&d| d <= 0.0).count() as f64 / 256.0;
    let found = report.f1.unwrap().p_value;
    assert!((found - 2.0 * tail).abs() < 0.005, "{found} {tail}");
}

#[test]
fn identical_scores_have_no_significant_difference() {
    let same = bootstrap(&["B-X O / O O / O O", "O B-X / O B-X / O B-X"]);
    let f1 = same.run(200, 1).unwrap().f1.unwrap();
    assert_eq!((f1.difference, f1.interval, f1.p_value), (0.0, [0.0, 0.0], 1.0));
}

#[test]
fn a_tagger_that_is_better_on_every_sentence_has_the_smallest_p_value() {
    let better = bootstrap(&["B-X O / O O / B-X O"; 5]);
    let f1 = better.run(999, 1).unwrap().f1.unwrap();
    assert_eq!((f1.interval, f1.p_value), ([1.0, 1.0], 0.002));
}

#[test]
fn labels_without_spans_have_no_f1() {
    let report = bootstrap(&["N V / N N / N V"]).run(10, 1).unwrap();
    assert_eq!(report.f1, None);
    assert_eq!(report.accuracy.difference, 0.5);
}

#[test]
fn document_boundaries_count_as_tokens_but_are_not_drawn() {
    let mut bootstrap = bootstrap(&["B-X / O / B-X"]);
    bootstrap.add_document_start();
    let report = bootstrap.run(10, 1).unwrap();
    assert_eq!((report.sentences, report.tokens), (1, 2));
    assert_eq!(report.accuracy.interval, [0.5, 0.5]);
}

#[test]
fn the_result_is_the_same_for_any_number_of_threads() {
    let bootstrap = bootstrap(&FOUR);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        pool.install(|| bootstrap.run(500, 9).unwrap())
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn another_seed_draws_other_samples() {
    let bootstrap = bootstrap(&FOUR);
    let at = |seed| bootstrap.run(500, seed).unwrap().accuracy.p_value;
    assert_ne!(at(1), at(2));
}

#[test]
fn no_sentences_no_samples_and_different_lengths_are_errors() {
    let mut bootstrap = PairedBootstrap::default();
    assert!(bootstrap.run(1, 1).is_err());
    let error = bootstrap.add(&["O", "O"], [&["O", "O"], &["O"]]);
    assert_eq!(error.unwrap_err().to_string(), "sentence 1 has 2 gold labels but 1 predicted ones");
    bootstrap.add(&["O"], [&["O"], &["O"]]).unwrap();
    assert!(bootstrap.run(0, 1).is_err());
}

/// A file that `tests/data/compare/bootstrap.py` wrote.
fn file(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/compare");
    fs::read_to_string(format!("{folder}/{name}")).unwrap()
}

/// The labels of a file, sentence by sentence.
fn sentences(text: &str) -> Vec<Vec<&str>> {
    text.trim_end()
        .split("\n\n")
        .map(|lines| lines.lines().map(|line| line.split_once(' ').unwrap().1))
        .map(Iterator::collect)
        .collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// The generated sentences, and the results of the reference implementation.
fn generated() -> (PairedBootstrap, Value) {
    let [gold, a, b] = ["gold", "a", "b"].map(|name| file(&format!("{name}.conll")));
    let iob2 = Scheme::Iob2.into();
    let mut bootstrap = PairedBootstrap::default().with_labelings(&iob2, [&iob2; 2]);
    for (gold, (a, b)) in sentences(&gold).iter().zip(sentences(&a).iter().zip(&sentences(&b))) {
        bootstrap.add(gold, [a, b]).unwrap();
    }
    (bootstrap, serde_json::from_str(&file("expected.json")).unwrap())
}

fn assert_near(found: &Difference, expected: &Value, tolerance: f64) {
    let near = |x: f64, y: &Value| (x - number(y)).abs() <= tolerance;
    assert!(near(found.scores[0], &expected["a"]) && near(found.scores[1], &expected["b"]));
    assert!(near(found.interval[0], &expected["interval"][0]), "{found:?}");
    assert!(near(found.interval[1], &expected["interval"][1]), "{found:?}");
    assert!(near(found.p_value, &expected["p_value"]), "{found:?}");
}

#[test]
fn the_reference_agrees_exactly_on_the_same_draws() {
    let (bootstrap, expected) = generated();
    let report = bootstrap.run(2000, 7).unwrap();
    assert_eq!(report.tokens, expected["tokens"].as_u64().unwrap());
    assert_near(&report.f1.unwrap(), &expected["same_draws"]["f1"], 1e-14);
    assert_near(&report.accuracy, &expected["same_draws"]["accuracy"], 1e-14);
}

#[test]
fn the_reference_agrees_approximately_on_other_draws() {
    let (bootstrap, expected) = generated();
    let report = bootstrap.run(50_000, 1).unwrap();
    assert_near(&report.f1.unwrap(), &expected["other_draws"]["f1"], 0.01);
    assert_near(&report.accuracy, &expected["other_draws"]["accuracy"], 0.01);
}

#[test]
fn intervals_of_one_tagger_are_those_of_the_paired_test() {
    let of_a: Vec<String> = FOUR
        .iter()
        .map(|sentence| {
            let sides: Vec<&str> = sentence.split('/').collect();
            format!("{}/{}/{}", sides[0], sides[1], sides[1])
        })
        .collect();
    let of_a: Vec<&str> = of_a.iter().map(String::as_str).collect();
    let paired = bootstrap(&of_a);
    let labeling = Labeling::from(Scheme::Iob2);
    let mut counts = SentenceCounts::default();
    for sentence in FOUR {
        let sides: Vec<Vec<&str>> =
            sentence.split('/').map(|side| side.split_whitespace().collect()).collect();
        let mut alone = Evaluation::new().with_labelings(&labeling, &labeling);
        alone.add(&sides[0], &sides[1]).unwrap();
        counts.add(&alone);
    }
    let intervals = counts.intervals(1).unwrap();
    assert_eq!(intervals.f1, paired.interval(PairedBootstrap::SAMPLES, 1).unwrap());
    assert!(intervals.accuracy[0] < intervals.accuracy[1] && intervals.types.len() == 2);
    assert_eq!(SentenceCounts::default().intervals(1), None);
}
