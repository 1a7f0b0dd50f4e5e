//! The cost of one evaluation of the objective on real corpora, with and without noise:
//! `cargo bench --bench evaluation -- FOLDER [--threads N] [--rounds N] [CASE…]`.
//!
//! FOLDER holds the public corpora (see `corpora/fetch.sh`). In every case both objectives are
//! evaluated alternately at the same weights, those after twelve iterations of training, and the
//! minimum time of each is reported: processor time with one thread, to be robust against other
//! load, else wall-clock time.
//!
//! With `--active ITERATION,…` nothing is timed: prints how many labels of a token have a marginal
//! probability above 2⁻¹⁶, 2⁻²⁴, 2⁻³² and 2⁻⁴⁰, on average, after these iterations of a training
//! without and with noise.
#![allow(clippy::print_stdout)] // prints its results

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use dropchain::chain::{LabelWeights, Lattice, Order, Scores, Transitions};
use dropchain::corpus::{Corpus, Format, ReadOptions};
use dropchain::extract::{Alphabets, AttributeSource, Classes, Dataset, DatasetBuilder};
use dropchain::ids::LabelId;
use dropchain::label::LabelSet;
use dropchain::noise::{Engine, NoiseTerm};
use dropchain::objective::{
    AttributeNoise, Noise, NoiseDistribution, NoiseMasks, PenalizedLikelihood,
};
use dropchain::optim::{LbfgsOptions, LbfgsSettings, Objective, minimize};
use dropchain::score::{Boundary, ForwardProduct, ParameterSpace, SpaceOptions, States};
use dropchain::template::Template;

/// After twelve iterations, the weights are typical of most of training.
const ITERATIONS: usize = 12;

/// A corpus and template to measure.
struct Case {
    name: &'static str,
    file: &'static str,
    format: Format,
    label: Option<&'static str>,
    template: &'static str,
    states: States,
    /// Maximum number of labels; all rarer ones are merged into one.
    max_labels: usize,
}

const CASES: [Case; 9] = {
    const CASE: Case = Case {
        name: "",
        file: "conll2000/train.txt",
        format: Format::Conll,
        label: None,
        template: "chunk",
        states: States::All,
        max_labels: 100,
    };
    const EWT: Case = Case {
        file: "ewt/train.conllu",
        format: Format::Conllu,
        template: "pos-sancl",
        ..CASE
    };
    [
        Case {
            name: "chunks5",
            max_labels: 5,
            ..CASE
        },
        Case {
            name: "esp",
            file: "conll2002-esp/esp.train",
            template: "ner",
            ..CASE
        },
        Case {
            name: "wnut17",
            file: "wnut17/train.conll",
            template: "ner",
            ..CASE
        },
        Case {
            name: "upos",
            label: Some("upos"),
            ..EWT
        },
        Case {
            name: "chunks",
            ..CASE
        },
        Case {
            name: "chunks-observed",
            states: States::Observed,
            ..CASE
        },
        Case {
            name: "xpos",
            label: Some("xpos"),
            ..EWT
        },
        Case {
            name: "upos+feats",
            label: Some("upos+feats"),
            states: States::Observed,
            max_labels: 10_000,
            ..EWT
        },
        Case {
            name: "upos+feats+deprel",
            label: Some("upos+feats+deprel"),
            states: States::Observed,
            max_labels: 10_000,
            ..EWT
        },
    ]
};

/// The data set of a case.
fn dataset(case: &Case, folder: &str) -> (Dataset, Classes, usize) {
    let path = Path::new(folder).join(case.file);
    let options = ReadOptions {
        format: Some(case.format),
        label: case.label.map(str::to_owned),
        ..ReadOptions::default()
    };
    let corpus = Corpus::read([path.to_str().unwrap()], &options).unwrap();
    let sentences = corpus.sentences();
    let mut template = Template::shipped(case.template).unwrap().unwrap();
    template.learn(sentences.iter());
    let source = AttributeSource::bind(Some(&template), sentences[0].schema()).unwrap();
    let mut builder = DatasetBuilder::extending(source, Alphabets::default(), true);
    let mut labels = LabelSet::new();
    for sentence in sentences.iter().filter(|s| !s.layout.document_start) {
        let ids = sentence.labels().unwrap().into_iter().map(|label| {
            if labels.len() < case.max_labels {
                labels.insert(label).unwrap()
            } else {
                labels.id(label).unwrap_or(LabelId(0))
            }
        });
        let ids: Vec<LabelId> = ids.collect();
        builder.add(sentence, &ids).unwrap();
    }
    let (mut data, alphabets, _) = builder.finish();
    let classes = Classes::equal_columns(&data.nodes, alphabets.nodes.len());
    data.nodes = classes.collapsed(&data.nodes).into();
    (data, classes, labels.len())
}

/// Seconds of an evaluation: processor time with one thread, else wall-clock time.
fn seconds(objective: &mut PenalizedLikelihood, theta: &[f64], gradient: &mut [f64]) -> f64 {
    let alone = rayon::current_num_threads() == 1;
    let processor = || {
        let line = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        let nanoseconds: f64 = line.split(' ').next()?.parse().ok()?;
        alone.then_some(1e-9 * nanoseconds)
    };
    let (clock, before) = (Instant::now(), processor());
    assert!(objective.evaluate(theta, gradient).0.is_finite());
    match (before, processor()) {
        (Some(before), Some(after)) => after - before,
        _ => clock.elapsed().as_secs_f64(),
    }
}

/// The noise of all cases.
const NOISE: Noise = Noise {
    distribution: NoiseDistribution::Dropout,
    node: 0.3,
    edge: 0.3,
    term: NoiseTerm::Quadratic(Engine::Exact),
    masks: NoiseMasks::Weights,
    unlabeled_weight: 0.0,
};

/// Creates the parameters of a case.
fn space(case: &Case, data: &Dataset, classes: &Classes, labels: usize) -> ParameterSpace {
    let options = SpaceOptions {
        order: Order::One,
        boundary: Boundary::On,
        states: case.states,
        transitions: true,
        label_pairs: case.states,
        min_frequency: None,
    };
    ParameterSpace::new(labels, data, classes, &Classes::singletons(0), options)
}

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
        let scores = Scores {
            node: &node,
            edge: None,
        };
        lattice.forward_backward(&transitions, scores);
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
    let (data, classes, labels) = dataset(case, folder);
    let space = space(case, &data, &classes, labels);
    let objective = |l2| PenalizedLikelihood::new(&data, &space, l2);
    let objectives = [
        ("none", objective(0.3)),
        (
            "dropout 0.3",
            objective(0.1).with_attribute_noise(NOISE, AttributeNoise::default()),
        ),
    ];
    for (noise, mut objective) in objectives {
        let settings = LbfgsSettings::new(LbfgsOptions {
            max_iterations: iterations.iter().max().copied(),
            ..LbfgsOptions::default()
        });
        let start = vec![0.0; space.dimension()];
        let result = minimize(
            &mut objective,
            start,
            None,
            &settings.unwrap(),
            None,
            &mut |iteration| {
                if iterations.contains(&iteration.number) {
                    let [a, b, c, d] = active_labels(&data, &space, iteration.x);
                    println!(
                        "| {} | {labels} | {noise} | {} | {a:.1} | {b:.1} | {c:.1} | {d:.1} |",
                        case.name, iteration.number
                    );
                }
                ControlFlow::Continue(())
            },
        );
        assert!(result.is_ok());
    }
}

fn measure(case: &Case, folder: &str, rounds: usize) {
    let (data, classes, labels) = dataset(case, folder);
    let space = space(case, &data, &classes, labels);
    let mut plain = PenalizedLikelihood::new(&data, &space, 0.1);
    let mut noisy = PenalizedLikelihood::new(&data, &space, 0.1)
        .with_attribute_noise(NOISE, AttributeNoise::default());
    let settings = LbfgsSettings::new(LbfgsOptions {
        max_iterations: Some(ITERATIONS),
        ..LbfgsOptions::default()
    });
    let start = vec![0.0; space.dimension()];
    let settings = settings.unwrap();
    let theta = minimize(&mut plain, start, None, &settings, None, &mut |_| {
        ControlFlow::Continue(())
    });
    let theta = theta.unwrap().x;
    let mut gradient = vec![0.0; theta.len()];
    let mut best = [f64::INFINITY; 2];
    for _ in 0..rounds {
        for (objective, best) in [&mut plain, &mut noisy].into_iter().zip(&mut best) {
            *best = best.min(seconds(objective, &theta, &mut gradient));
        }
    }
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
