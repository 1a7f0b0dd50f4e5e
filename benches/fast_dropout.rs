//! Fast dropout against dropout by sampling masks, as in figure 2 of Wang and Manning 2013:
//! `cargo bench --bench fast_dropout -- FILE FILE`, each with the documents of a class, a document
//! per line.
//!
//! The gradients of the whole corpus are compared at weights that were trained with the Gaussian
//! objective: root mean squared differences over all weights of features, between two runs with 200
//! samples of masks, and between a method and the first of these runs. The difference of a perfect
//! method to one run is 1/√2 of that between two runs.
//!
//! The first table has a mask per weight, and the sampled objective of `--noise monte-carlo`, which
//! subtracts terms of first order and so has a smaller variance than the paper's. The second has a
//! mask per feature and the paper's estimate, the mean over samples of the gradient of the
//! likelihood of masked features.
#![allow(clippy::print_stdout)] // prints its results

use std::time::Instant;

use dropchain::Sentence;
use dropchain::internals::chain::Order;
use dropchain::internals::extract::{AttributeSource, Classes, Dataset, DatasetBuilder, Target};
use dropchain::internals::ids::LabelId;
use dropchain::internals::noise::{Engine, MaskGradient, mask_gradient};
use dropchain::internals::objective::{
    MonteCarlo, Noise, NoiseDistribution, NoiseSharing, PenalizedLikelihood,
};
use dropchain::internals::random::nth;
use dropchain::internals::score::{Boundary, ParameterSpace, SpaceOptions, States};
use dropchain::optim::{LbfgsOptions, LbfgsSettings, Objective, minimize};

const RATE: f64 = 0.5;
const SAMPLES: u32 = 200;
const ITERATIONS: usize = 40;
const L2: f64 = 0.1;

/// Evaluations of which the fastest counts.
const REPETITIONS: usize = 5;

/// Reads the documents, each of which has its words as features; returns the number of features.
fn read(files: &[String]) -> (Dataset, usize) {
    let mut builder: Option<DatasetBuilder> = None;
    for (class, file) in files.iter().enumerate() {
        let text = std::fs::read_to_string(file).unwrap();
        for line in text.lines() {
            let mut words: Vec<&str> = line.split_whitespace().collect();
            words.sort_unstable();
            words.dedup();
            let words = words.into_iter().map(|word| (word, 1.0));
            let document = Sentence::from_attributes([words]).unwrap();
            let builder = builder.get_or_insert_with(|| {
                let source = AttributeSource::bind(None, document.schema()).unwrap();
                DatasetBuilder::new(source, true)
            });
            builder.add(&document, &[LabelId(class as u16)]).unwrap();
        }
    }
    let (data, alphabets, _) = builder.unwrap().finish();
    (data, alphabets.nodes.len())
}

fn noise(engine: Engine, sharing: NoiseSharing) -> Noise {
    Noise {
        distribution: NoiseDistribution::Dropout,
        node: RATE,
        edge: 0.0,
        engine,
        sharing,
        unlabeled_weight: 0.0,
    }
}

fn engine(name: &str) -> Engine {
    name.parse().unwrap()
}

/// Trains with the Gaussian objective.
fn train(data: &Dataset, space: &ParameterSpace, sharing: NoiseSharing) -> Vec<f64> {
    let mut objective =
        PenalizedLikelihood::new(data, space, L2).with_noise(noise(engine("gaussian"), sharing));
    let settings = LbfgsSettings::new(LbfgsOptions {
        max_iterations: Some(ITERATIONS),
        ..LbfgsOptions::default()
    });
    let start = vec![0.0; space.dimension()];
    let end = minimize(
        &mut objective,
        start,
        None,
        &settings.unwrap(),
        None,
        &mut |_| std::ops::ControlFlow::Continue(()),
    );
    end.unwrap().x
}

/// Returns the gradient with respect to the weights of features, and the least time of an
/// evaluation in seconds.
fn gradient(
    mut objective: PenalizedLikelihood,
    space: &ParameterSpace,
    theta: &[f64],
) -> (Vec<f64>, f64) {
    let mut gradient = vec![0.0; theta.len()];
    let mut least = f64::INFINITY;
    for _ in 0..REPETITIONS {
        let start = Instant::now();
        objective.evaluate(theta, &mut gradient);
        least = least.min(start.elapsed().as_secs_f64());
    }
    (space.nodes.weights(&gradient).to_vec(), least)
}

/// The root of the mean squared difference.
fn difference(one: &[f64], other: &[f64]) -> f64 {
    let squares = one.iter().zip(other).map(|(x, y)| (x - y).powi(2));
    (squares.sum::<f64>() / one.len() as f64).sqrt()
}

fn print_row(name: &str, error: f64, baseline: f64, seconds: [f64; 2]) {
    let [own, sampled] = seconds;
    println!(
        "| {name} | {error:.5} | {:.3} | {own:.4} | {:.1} |",
        error / baseline,
        sampled / own,
    );
}

fn print_head(title: &str) {
    println!(
        "\n{title}\n\n\
         | gradient | RMSE to the first run | by that of two runs | seconds | times as fast |"
    );
    println!("|---|--:|--:|--:|--:|");
}

/// A mask per weight.
fn compare_engines(data: &Dataset, space: &ParameterSpace) {
    let theta = train(data, space, NoiseSharing::Weights);
    let plain = || PenalizedLikelihood::new(data, space, 0.0);
    let sampled = |seed| {
        let objective = plain().with_monte_carlo(MonteCarlo {
            node: RATE,
            edge: 0.0,
            samples: SAMPLES,
            seed,
            unlabeled_weight: 0.0,
        });
        gradient(objective, space, &theta)
    };
    let (first, seconds) = sampled(1);
    let (second, _) = sampled(2);
    let baseline = difference(&first, &second);
    print_head("A mask per weight; `--noise monte-carlo --samples 200`");
    print_row("monte-carlo, other seed", baseline, baseline, [seconds; 2]);
    for name in ["gaussian", "unscented", "sampling=200", "adjoint"] {
        let objective = plain().with_noise(noise(engine(name), NoiseSharing::Weights));
        let (found, own) = gradient(objective, space, &theta);
        print_row(name, difference(&found, &first), baseline, [own, seconds]);
    }
    let (found, own) = gradient(plain(), space, &theta);
    print_row(
        "no noise",
        difference(&found, &first),
        baseline,
        [own, seconds],
    );
}

/// The number of the class of a document.
fn class_of(data: &Dataset, document: usize) -> usize {
    match data.target(document) {
        Target::Gold(labels) => labels[0].index(),
        _ => panic!("document {document} has no class"),
    }
}

/// The gradient of logistic regression by samples of masks, and the time in seconds.
fn sampled_gradient(data: &Dataset, weights: &[f64], seed: u64) -> (Vec<f64>, f64) {
    let start = Instant::now();
    let mut sums = vec![0.0; weights.len()];
    let scale = 1.0 / (1.0 - RATE);
    for document in 0..data.tokens() {
        let (columns, class) = (data.nodes.row(document).0, class_of(data, document));
        let mut bits = 0;
        let mut at = 0;
        let seed = nth(seed, document as u64);
        for _ in 0..SAMPLES {
            let mut kept = Vec::with_capacity(columns.len());
            let mut score = 0.0;
            for &column in columns {
                if at % 64 == 0 {
                    bits = nth(seed, at / 64); // a bit per mask, of rate ½
                }
                if bits >> (at % 64) & 1 == 1 {
                    kept.push(column);
                    score += scale * weights[column as usize];
                }
                at += 1;
            }
            let error = 1.0 / (1.0 + f64::exp(-score)) - class as f64;
            for column in kept {
                sums[column as usize] += error * scale / f64::from(SAMPLES);
            }
        }
    }
    (sums, start.elapsed().as_secs_f64())
}

/// A mask per feature.
fn compare_formulas(data: &Dataset, space: &ParameterSpace) {
    let theta = train(data, space, NoiseSharing::Inputs);
    let weights: Vec<f64> = (0..space.nodes.columns())
        .map(|column| {
            let pair = &space.nodes.weights(&theta)[space.nodes.targets.range(column)];
            pair[1] - pair[0]
        })
        .collect();
    let (first, seconds) = sampled_gradient(data, &weights, 1);
    let (second, _) = sampled_gradient(data, &weights, 2);
    let baseline = difference(&first, &second);
    print_head("A mask per feature; 200 samples of eq. 2");
    print_row("masks, other seed", baseline, baseline, [seconds; 2]);
    let mut gaussian = Vec::new();
    for (name, method) in [
        ("α, β, γ (eq. 6)", MaskGradient::Linearized),
        ("α, β: the Gaussian objective", MaskGradient::Gaussian),
        ("α: \"naive\"", MaskGradient::Naive),
        ("no noise", MaskGradient::Plain),
    ] {
        let start = Instant::now();
        let mut sums = vec![0.0; weights.len()];
        for document in 0..data.tokens() {
            let columns = data.nodes.row(document).0;
            let features = columns.iter().map(|&j| [1.0, weights[j as usize]]);
            let features: Vec<_> = features.collect();
            let is_positive = class_of(data, document) == 1;
            let terms = mask_gradient(method, &features, RATE, is_positive);
            for (&column, term) in columns.iter().zip(terms) {
                sums[column as usize] += term;
            }
        }
        let own = start.elapsed().as_secs_f64();
        print_row(name, difference(&sums, &first), baseline, [own, seconds]);
        if method == MaskGradient::Gaussian {
            gaussian = sums;
        }
    }
    let objective = PenalizedLikelihood::new(data, space, 0.0)
        .with_noise(noise(engine("gaussian"), NoiseSharing::Inputs));
    let (found, own) = gradient(objective, space, &theta);
    let of_second: Vec<f64> = found.chunks_exact(2).map(|pair| pair[1]).collect();
    let error = difference(&of_second, &first);
    print_row("`--gradient gaussian`", error, baseline, [own, seconds]);
    println!(
        "\nThe engine and the formula with α, β differ by {:.1e}.",
        difference(&of_second, &gaussian)
    );
}

fn main() {
    let files: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    if files.len() != 2 {
        println!("usage: cargo bench --bench fast_dropout -- FILE FILE");
        return;
    }
    let (data, columns) = read(&files);
    let options = SpaceOptions {
        order: Order::Zero,
        boundary: Boundary::Off,
        states: States::All,
        transitions: true,
        label_pairs: States::All,
        min_frequency: None,
    };
    let (nodes, edges) = (Classes::singletons(columns), Classes::singletons(0));
    let space = ParameterSpace::new(2, &data, &nodes, &edges, options);
    println!(
        "{} documents, {columns} features, rate {RATE}, {ITERATIONS} iterations from 0",
        data.tokens()
    );
    compare_engines(&data, &space);
    compare_formulas(&data, &space);
}
