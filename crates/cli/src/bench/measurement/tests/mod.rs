//! All engines, on a corpus of four sentences.

use std::sync::Arc;

use super::*;
use dropchain::kernel::noise::Engine;
use dropchain::sentence::{Schema, Sentence};
use dropchain::template::Template;
use dropchain::train::{Lbfgs, TrainOptions, TrainSettings, TrainingSet};

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
        let mut sentence = Sentence::new(Arc::clone(&schema), Arc::from("x.conll"));
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

/// Returns the problem, and the weights at a point.
fn problem(point: EvaluationPoint) -> (Problem, Vec<f64>) {
    let settings = settings();
    let set = TrainingSet::new(corpus(), template(), &settings).unwrap();
    let theta = point.weights(&set, &settings, 1).unwrap();
    (Problem::new(&set, &settings), theta)
}

fn measured(point: EvaluationPoint, names: &[&str]) -> Vec<Measurement> {
    let (problem, theta) = problem(point);
    let variants = parse_variants(names).unwrap();
    measure(&problem, &theta, &variants, 1, &mut |_| {}).unwrap()
}

const RANDOM: EvaluationPoint = EvaluationPoint::Random { scale: 1.0 };

#[test]
fn exact_engines_have_only_rounding_errors() {
    for point in [RANDOM, EvaluationPoint::Trained { iterations: 3 }] {
        for row in &measured(point, &["exact", "message", "window=7"])[1..] {
            assert!(row.deviation.unwrap().relative_error <= 1e-10, "{row:?}");
            assert!((row.deviation.unwrap().cosine - 1.0).abs() <= 1e-10, "{row:?}");
        }
    }
}

#[test]
fn the_error_of_the_window_falls_with_its_radius() {
    let rows = measured(RANDOM, &["window=0", "window=1", "window=2", "window=4"]);
    let errors: Vec<f64> =
        rows[1..].iter().filter_map(|r| r.deviation).map(|d| d.relative_error).collect();
    assert!(errors[0] > 0.01, "{errors:?}");
    assert!(errors.is_sorted_by(|a, b| a > b), "{errors:?}");
    let cosines: Vec<f64> =
        rows[1..].iter().filter_map(|r| r.deviation).map(|d| d.cosine).collect();
    assert!(cosines.is_sorted_by(|a, b| a < b), "{cosines:?}");
}

#[test]
fn local_is_the_window_of_radius_0() {
    let rows = measured(RANDOM, &["local", "window=0"]);
    assert_eq!(rows[1].deviation, rows[2].deviation);
}

#[test]
fn active_attributes_are_counted_before_and_after_collapsing() {
    // A sentence of T distinct words has T words, T previous words, the bias, and markers of its
    // start and end: 2T + 3. The bias fires T times and is not collapsed; the others collapse to
    // one per token: T + 1.
    let rows = measured(RANDOM, &["message", "local"]);
    let tokens = 5.0 + 7.0 + 4.0 + 2.0;
    let counts: Vec<f64> = rows.iter().map(|row| row.active_per_token).collect();
    let [before, after] = [2.0 * tokens + 12.0, tokens + 4.0].map(|n| n / tokens);
    assert_eq!(counts, [before, after, before, before]);
    let collapsed: Vec<bool> = rows.iter().map(|row| row.collapsed).collect();
    assert_eq!(collapsed, [false, true, false, false]);
}

#[test]
fn the_likelihood_has_no_error_and_a_ratio_of_1() {
    let row = &measured(RANDOM, &["exact"])[0];
    assert_eq!(row.engine, "likelihood");
    assert_eq!(row.deviation, None);
    assert_eq!(row.ratio_to_likelihood, 1.0);
}

#[test]
fn there_is_nothing_to_compare_at_weights_0() {
    for row in measured(EvaluationPoint::Zero, &["exact", "message", "local"]) {
        assert_eq!(row.deviation, None, "{row:?}");
        assert!(row.seconds > 0.0);
    }
}

#[test]
fn all_but_time_is_the_same_for_any_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let mut rows =
                measured(EvaluationPoint::Trained { iterations: 3 }, &["message", "window=1"]);
            for row in &mut rows {
                (row.seconds, row.ratio_to_likelihood) = (0.0, 0.0);
                row.seconds_quartiles = (0.0, 0.0);
            }
            rows
        })
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn every_round_evaluates_every_variant() {
    let (problem, theta) = problem(EvaluationPoint::Zero);
    let variants = [Variant::Likelihood, Variant::Quadratic(Engine::Local)];
    let mut steps = Vec::new();
    measure(&problem, &theta, &variants, 2, &mut |step| {
        steps.push(step);
    })
    .unwrap();
    let step = |round| variants.map(|variant| Step { variant, round });
    assert_eq!(steps, [step(0), step(1), step(2)].concat());
}

#[test]
fn invalid_input_is_rejected() {
    let (problem, theta) = problem(EvaluationPoint::Zero);
    let run = |variants: &[Variant], theta: &[f64], repeat| {
        let result = measure(&problem, theta, variants, repeat, &mut |_| {});
        result.unwrap_err().to_string()
    };
    let local = Variant::Quadratic(Engine::Local);
    let message = run(&[Variant::Likelihood], &theta, 0);
    assert_eq!(message, "0 repeats; expected 1 or more");
    let message = run(&[local], &theta, 1);
    assert_eq!(message, "the likelihood is not among the variants");
    let huge = vec![1e300; theta.len()];
    let message = run(&[Variant::Likelihood, local], &huge, 1);
    assert!(message.starts_with("the objective is not finite"), "{message}");
}

#[test]
fn synthetic_sentences_have_the_sizes_that_are_asked_for() {
    let (problem, _) = problem(RANDOM);
    let shape = Shape { length: 30, labels: 11, share: 1.0 };
    let made = problem.synthetic(shape, 3);
    assert_eq!((made.data.len(), made.data.tokens()), (3, 90));
    assert_eq!(made.space.labels(), 11);
    let half = Shape { share: 0.5, ..shape };
    let [all, half] = [made, problem.synthetic(half, 3)].map(|p| p.active_per_token()[0]);
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
    let active = made.active_per_token()[0] * 10.0;
    let message = 2.0 * pairs * (4.0 * active + 16.0) + 9.0 * pairs;
    let found = work(Engine::Message { collapse: false });
    assert!((found - likelihood - products - message).abs() < 1e-6);
}

#[test]
fn a_window_as_long_as_the_sentence_has_no_error() {
    let (problem, theta) = problem(RANDOM);
    let rows = errors(&problem, &theta).unwrap();
    assert_eq!(rows[0].sentences, 4);
    let errors: Vec<f64> = rows.iter().map(|row| row.deviation.relative_error.median).collect();
    assert!(errors[0] > 0.01 && errors.last().unwrap() < &1e-9, "{errors:?}");
}

#[test]
fn sizes_are_parsed_in_bytes() {
    let status = "Name:\tx\nVmHWM:\t    2020 kB\nVmRSS:\tmuch\n";
    assert_eq!(parse_bytes(status, "VmHWM:"), Some(2020 * 1024));
    assert_eq!(parse_bytes(status, "VmRSS:"), None);
    assert_eq!(parse_bytes(status, "VmSwap:"), None);
}

#[test]
fn the_result_of_the_work_is_returned() {
    assert_eq!(peak_growth(|| 7).0, 7);
}
