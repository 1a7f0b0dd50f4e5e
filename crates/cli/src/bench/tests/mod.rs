//! All engines, on a corpus of four sentences.

use std::sync::Arc;

use dropchain::kernel::noise::Engine;
use dropchain::kernel::train::TrainingSet;
use dropchain::sentence::{Schema, Sentence};
use dropchain::template::Template;
use dropchain::train::{Lbfgs, TrainOptions, TrainSettings};

use super::measurement::measure;
use super::problem::{Problem, Shape, Variant, Weights, multiply_adds};
use super::results::{Measurement, Spread};

const NAMES: &str = "\
Ada/P Lovelace/P lived/O in/O London/L
Charles/P Babbage/P left/O London/L in/O the/O morning/O
Mary/P Somerville/P taught/O Ada/P
she/O left/O";

/// Parses [`NAMES`]: one sentence per line, of tokens `word/label`.
fn corpus() -> Vec<Sentence> {
    let names = vec!["word".to_owned(), "label".to_owned()];
    let schema = Arc::new(Schema::new(names, Some(1)).unwrap());
    let sentence = |text: &str| {
        let mut sentence = Sentence::new(Arc::clone(&schema), "x.conll");
        for token in text.split(' ') {
            let (word, label) = token.rsplit_once('/').unwrap();
            sentence.push([word, label], 1).unwrap();
        }
        sentence
    };
    NAMES.lines().map(sentence).collect()
}

fn template() -> Template {
    let source = "word\nword[-1]\nbias\n";
    Template::parse(source, "t.tpl", &mut |_| unreachable!()).unwrap()
}

fn settings() -> TrainSettings {
    let mut options = TrainOptions::new(Lbfgs::dropout(0.5));
    options.attributes.collapse = false;
    TrainSettings::new(options).unwrap()
}

/// Returns the problem, and the weights.
fn problem(weights: Weights) -> (Problem, Vec<f64>) {
    let settings = settings();
    let set = TrainingSet::new(corpus(), template(), &settings).unwrap();
    let theta = weights.compute(&set, &settings).unwrap();
    (Problem::new(&set, &settings), theta)
}

fn variants(names: &[&str]) -> Vec<Variant> {
    let engines = names.iter().map(|name| name.parse().unwrap());
    [Variant::Likelihood].into_iter().chain(engines).collect()
}

fn measured(weights: Weights, names: &[&str]) -> Vec<Measurement> {
    let (problem, theta) = problem(weights);
    measure(&problem, &theta, &variants(names), 1, &|_, _| {}).unwrap()
}

const RANDOM: Weights = Weights::Random(1.0);

#[test]
fn exact_engines_have_only_rounding_errors() {
    for weights in [RANDOM, Weights::Trained(3)] {
        let rows = measured(weights, &["exact", "message", "message=plain", "window=7"]);
        for row in &rows[1..] {
            assert!(row.deviation.unwrap().relative_error <= 1e-10, "{row:?}");
            assert!((row.deviation.unwrap().cosine - 1.0).abs() <= 1e-10, "{row:?}");
        }
    }
}

#[test]
fn narrower_windows_have_larger_errors() {
    let rows = measured(RANDOM, &["window=2", "window=1", "local"]);
    let errors: Vec<f64> =
        rows[1..].iter().map(|row| row.deviation.unwrap().relative_error).collect();
    assert!(errors[0] < errors[1] && errors[1] < errors[2], "{errors:?}");
}

#[test]
fn active_attributes_are_counted_before_and_after_collapsing() {
    // A sentence of T distinct words has T words, T previous words, the bias, and markers of its
    // start and end: 2T + 3. The bias fires T times and is not collapsed; the others collapse to
    // one per token: T + 1.
    let rows = measured(RANDOM, &["message", "message=plain", "local"]);
    let tokens = 5.0 + 7.0 + 4.0 + 2.0;
    let counts: Vec<f64> = rows.iter().map(|row| row.active_per_token).collect();
    let [before, after] = [2.0 * tokens + 12.0, tokens + 4.0].map(|n| n / tokens);
    assert_eq!(counts, [before, after, before, before]);
}

#[test]
fn the_likelihood_has_no_error_and_a_ratio_of_1() {
    let row = &measured(RANDOM, &["exact"])[0];
    assert_eq!(row.engine, "likelihood");
    assert_eq!(row.deviation, None);
    assert_eq!(row.ratio_to_likelihood, 1.0);
}

#[test]
fn there_is_nothing_to_compare_where_the_noise_term_vanishes() {
    let (problem, theta) = problem(RANDOM);
    let zeros = vec![0.0; theta.len()];
    let variants = variants(&["exact", "message", "local"]);
    for row in measure(&problem, &zeros, &variants, 1, &|_, _| {}).unwrap() {
        assert_eq!(row.deviation, None, "{row:?}");
        assert!(row.seconds > 0.0);
    }
}

#[test]
fn all_but_time_is_the_same_for_any_number_of_threads() {
    let run = |threads| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let mut rows = measured(Weights::Trained(3), &["message", "window=1"]);
            for row in &mut rows {
                (row.seconds, row.seconds_quartiles) = (0.0, [0.0; 2]);
                row.added_seconds = Spread::of(vec![0.0]);
                row.ratio_to_likelihood = 0.0;
            }
            rows
        })
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn every_repeat_evaluates_every_variant() {
    let (problem, theta) = problem(RANDOM);
    let variants = variants(&["local"]);
    let steps = std::sync::Mutex::new(Vec::new());
    measure(&problem, &theta, &variants, 2, &|variant, repeat| {
        steps.lock().unwrap().push((variant, repeat));
    })
    .unwrap();
    let expected = (0..=2).flat_map(|repeat| variants.iter().map(move |&v| (v, repeat)));
    assert_eq!(steps.into_inner().unwrap(), expected.collect::<Vec<_>>());
}

#[test]
fn invalid_input_is_rejected() {
    let (problem, theta) = problem(RANDOM);
    let huge = vec![1e300; theta.len()];
    let error = measure(&problem, &huge, &variants(&["local"]), 1, &|_, _| {}).unwrap_err();
    assert!(error.to_string().starts_with("the objective is not finite"), "{error}");
}

#[test]
fn synthetic_sentences_have_the_sizes_that_are_asked_for() {
    let (problem, _) = problem(RANDOM);
    let shape = Shape { length: 30, labels: 11, share: 1.0 };
    let made = problem.synthetic(shape, 3);
    assert_eq!((made.data.len(), made.data.tokens()), (3, 90));
    assert_eq!(made.space.labels(), 11);
    let half = Shape { share: 0.5, ..shape };
    let [all, half] = [made, problem.synthetic(half, 3)].map(|p| p.active_per_token(false));
    assert!(half < all && half > 0.0, "{half} of {all}");
}

#[test]
fn work_is_counted_from_the_shapes() {
    let (problem, _) = problem(RANDOM);
    let shape = Shape { length: 10, labels: 4, share: 1.0 };
    let made = problem.synthetic(shape, 1);
    let (products, pairs) = (2.0 * made.data.nodes.nonzeros() as f64 * 4.0, 160.0);
    let work = |engine| multiply_adds(&made, Variant::Quadratic(engine));
    let likelihood = products + 3.0 * pairs;
    assert_eq!(multiply_adds(&made, Variant::Likelihood), likelihood);
    assert_eq!(work(Engine::Exact), likelihood + products + 13.0 * pairs);
    assert_eq!(work(Engine::Window(2)), likelihood + products + 33.0 * pairs);
    let active = made.active_per_token(false) * 10.0;
    let message = 2.0 * pairs * (4.0 * active + 16.0) + 9.0 * pairs;
    let found = work(Engine::Message { collapse: false });
    assert!((found - likelihood - products - message).abs() < 1e-6);
}
