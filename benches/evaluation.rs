//! The cost of one evaluation of the objective on real corpora, with and without noise:
//! `cargo bench --bench evaluation -- FOLDER [--threads N] [--rounds N] [CASE…]`.
//!
//! FOLDER holds the public corpora (see `corpora/fetch.sh`). In every case both objectives are
//! evaluated alternately at the same weights, those after twelve iterations of training without
//! noise and twelve with it, and the minimum time of each is reported: processor time with one
//! thread, to be robust against other load, else wall-clock time.
//!
//! With `--active ITERATION,…` nothing is timed: prints how many labels of a token have a marginal
//! probability above 2⁻¹⁶, 2⁻²⁴, 2⁻³² and 2⁻⁴⁰, on average, after these iterations of a training
//! without and with noise.
#![allow(clippy::print_stdout)] // prints its results

mod cases;

use std::ops::ControlFlow;

use dropchain::kernel::chain::{LabelWeights, Lattice, Scores, Transitions};
use dropchain::kernel::extract::Dataset;
use dropchain::kernel::objective::PenalizedLikelihood;
use dropchain::kernel::optim::{LbfgsOptions, minimize};
use dropchain::kernel::score::{ForwardProduct, ParameterSpace};

use cases::{CASES, Case, NOISE, evaluation_seconds, objectives, typical_weights};

/// The thresholds of probabilities, as exponents of 2.
const THRESHOLDS: [i32; 4] = [-16, -24, -32, -40];

/// Returns how many labels of a token have a marginal above each threshold, on average.
fn active_labels(data: &Dataset, space: &ParameterSpace, theta: &[f64]) -> [f64; 4] {
    let mut product = ForwardProduct::new(&data.nodes, &space.nodes);
    product.set_weights(theta);
    let mut weights = LabelWeights::default();
    space.label_weights(theta, &mut weights);
    let transitions = Transitions::from_weights(&weights, space.order());
    let (mut lattice, mut node) = (Lattice::default(), Vec::new());
    let mut counts = [0usize; 4];
    for i in 0..data.len() {
        let tokens = data.sentence(i);
        node.resize(tokens.len() * space.stride(), 0.0);
        product.write(theta, tokens, &mut node, None);
        let scores = Scores { node: &node, edge: None };
        lattice.forward_backward(&transitions, scores, None);
        for (count, exponent) in counts.iter_mut().zip(THRESHOLDS) {
            let threshold = 2f64.powi(exponent);
            let marginals = lattice.node_marginals().iter();
            *count += marginals.filter(|&&p| p > threshold).count();
        }
    }
    counts.map(|count| count as f64 / data.tokens() as f64)
}

/// Prints the active labels along a training without and one with noise.
fn print_active(case: &Case, folder: &str, iterations: &[usize]) {
    let (data, classes, labels) = case.dataset(case.corpus(folder).sentences());
    let space = case.space(&data, &classes, labels);
    let objective = |l2| PenalizedLikelihood::new(&data, &space, l2);
    let objectives = [("none", objective(0.3)), ("dropout 0.3", objective(0.1).with_noise(NOISE))];
    for (noise, mut objective) in objectives {
        let options = LbfgsOptions {
            max_iterations: iterations.iter().max().copied(),
            ..LbfgsOptions::default()
        };
        let start = vec![0.0; space.dimension()];
        let result = minimize(&mut objective, start, None, &options, None, &mut |iteration| {
            if iterations.contains(&iteration.number) {
                let [a, b, c, d] = active_labels(&data, &space, iteration.x);
                println!(
                    "| {} | {labels} | {noise} | {} | {a:.1} | {b:.1} | {c:.1} | {d:.1} |",
                    case.name, iteration.number
                );
            }
            ControlFlow::Continue(())
        });
        assert!(result.is_ok());
    }
}

fn measure(case: &Case, folder: &str, rounds: usize) {
    let (data, classes, labels) = case.dataset(case.corpus(folder).sentences());
    let space = case.space(&data, &classes, labels);
    let mut objectives = objectives(&data, &space);
    let theta = typical_weights(&mut objectives);
    let best = evaluation_seconds(&mut objectives, &theta, rounds);
    let [plain_ms, noisy_ms] = best.map(|seconds| 1e3 * seconds);
    println!(
        "| {} | {labels} | {} | {:.1} | {} \
         | {plain_ms:.1} | {noisy_ms:.1} | {:.2} |",
        case.name,
        data.tokens(),
        data.nodes.nonzeros() as f64 / data.tokens() as f64,
        space.dimension(),
        noisy_ms / plain_ms,
    );
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|a| a != "--bench");
    let (mut threads, mut rounds, mut names) = (1, 10, Vec::new());
    let mut active: Vec<usize> = Vec::new();
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().unwrap().parse().unwrap();
        match &argument[..] {
            "--threads" => threads = number(),
            "--rounds" => rounds = number(),
            "--active" => {
                let list = arguments.next().unwrap();
                active = list.split(',').map(|n| n.parse().unwrap()).collect();
            }
            _ => names.push(argument),
        }
    }
    let Some(folder) = names.first() else {
        println!("no folder of corpora: nothing is measured");
        return;
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let selected = |case: &&Case| names.len() == 1 || names[1..].iter().any(|n| n == case.name);
    if !active.is_empty() {
        println!("| case | K | noise | iteration | > 2⁻¹⁶ | > 2⁻²⁴ | > 2⁻³² | > 2⁻⁴⁰ |");
        println!("|---|---|---|---|---|---|---|---|");
        for case in CASES.iter().filter(selected) {
            let pool = pool.as_ref().unwrap();
            pool.install(|| print_active(case, folder, &active));
        }
        return;
    }
    println!(
        "| case | K | tokens | entries | parameters \
         | plain ms | noise ms | ratio |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let pool = pool.unwrap();
    for case in CASES.iter().filter(selected) {
        pool.install(|| measure(case, folder, rounds));
    }
}
