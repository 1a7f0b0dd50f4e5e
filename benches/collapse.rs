//! What the noise term consists of along a training without L2, by frequency of attributes:
//! `cargo bench --bench collapse -- TRAIN TEMPLATE [ITERATION…]`, with word and label in the first
//! and last column of TRAIN.
//!
//! R = Σ Λ_jb·θ_jb² splits into the parts of single attributes, given the marginals (see
//! `objective::penalty`). Every row of the output is a range of frequencies at one
//! iteration: the part of R, Σ θ² and the mean of Λ, which is the mean uncertainty of the tokens of
//! such an attribute times its frequency.
#![allow(clippy::print_stdout)] // prints its results

use std::ops::ControlFlow;

use dropchain::corpus::{Corpus, Format, ReadOptions};
use dropchain::kernel::extract::{Alphabets, AttributeSource, Classes, Dataset, DatasetBuilder};
use dropchain::kernel::objective::{NoiseKind, NoiseOptions, PenalizedLikelihood};
use dropchain::kernel::optim::{LbfgsOptions, Objective, minimize};
use dropchain::kernel::score::{ParameterSpace, SpaceOptions};
use dropchain::label::LabelSet;
use dropchain::template::Template;

/// The lowest frequency of each range.
const RANGES: [usize; 7] = [1, 2, 4, 16, 64, 256, 4096];

fn dataset(path: &str, template: &str) -> (Dataset, Classes, usize) {
    let options = ReadOptions { format: Some(Format::Conll), ..ReadOptions::default() };
    let corpus = Corpus::read([path], &options).unwrap();
    let sentences = corpus.sentences();
    let mut template = Template::shipped(template).unwrap().unwrap();
    template.learn(sentences.iter());
    let source = AttributeSource::bind(Some(&template), sentences[0].schema()).unwrap();
    let mut builder = DatasetBuilder::extending(source, Alphabets::default(), true);
    let mut labels = LabelSet::new();
    for sentence in sentences.iter().filter(|s| !s.layout.document_start) {
        let ids = sentence.labels().unwrap().into_iter();
        let ids: Vec<_> = ids.map(|label| labels.insert(label).unwrap()).collect();
        builder.add(sentence, &ids).unwrap();
    }
    let (mut data, alphabets) = builder.finish();
    let classes = Classes::equal_columns(&data.nodes, alphabets.nodes.len());
    data.nodes = classes.collapsed(&data.nodes).into();
    (data, classes, labels.len())
}

/// Prints the parts of R at θ.
fn print_parts(
    objective: &mut PenalizedLikelihood,
    space: &ParameterSpace,
    frequencies: &[usize],
    iteration: usize,
    theta: &[f64],
) {
    let mut gradient = vec![0.0; theta.len()];
    let (_, terms) = objective.evaluate(theta, &mut gradient);
    let strengths = objective.rounds().remove(0).unwrap().numbers.into_owned();
    let mut sums = [[0.0; 4]; RANGES.len() + 1]; // R, Σ θ², Σ Λ, weights; the last of label pairs
    let mut add = |range: usize, i: usize| {
        let square = theta[i] * theta[i];
        let terms = [strengths[i] * square, square, strengths[i], 1.0];
        sums[range].iter_mut().zip(terms).for_each(|(sum, x)| *sum += x);
    };
    for (column, &frequency) in frequencies.iter().enumerate() {
        let range = RANGES.iter().rposition(|&lowest| lowest <= frequency);
        for i in space.nodes.targets.range(column) {
            add(range.unwrap_or(0), space.nodes.range.start + i);
        }
    }
    (space.edges.range.end..theta.len()).for_each(|i| add(RANGES.len(), i));
    for (i, [part, squares, strength, count]) in sums.into_iter().enumerate() {
        let name = match RANGES.get(i) {
            None => "label pairs".to_owned(),
            Some(&low) if i + 1 == RANGES.len() => format!("{low}–"),
            Some(&low) if low + 1 == RANGES[i + 1] => low.to_string(),
            Some(&low) => format!("{low}–{}", RANGES[i + 1] - 1),
        };
        println!(
            "| {iteration} | {:.2} | {name} | {part:.2} | {squares:.1} | {:.2e} |",
            terms.noise,
            strength / f64::max(count, 1.0),
        );
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let [train, template, iterations @ ..] = &arguments[..] else {
        println!("usage: cargo bench --bench collapse -- TRAIN TEMPLATE [ITERATION…]");
        return;
    };
    let iterations: Vec<usize> = iterations.iter().map(|n| n.parse().unwrap()).collect();
    let (data, classes, labels) = dataset(train, template);
    let options = SpaceOptions::FIRST_ORDER;
    let edges = Classes::singletons(0);
    let space = ParameterSpace::new(labels, &data, &classes, &edges, options);
    let mut frequencies = vec![0; space.nodes.columns()];
    for token in 0..data.tokens() {
        for &column in data.nodes.row(token).0 {
            frequencies[column as usize] += 1;
        }
    }
    let noise = |kind| NoiseOptions { kind, unlabeled_weight: 0.0, ..NoiseOptions::dropout(0.5) };
    let mut objective =
        PenalizedLikelihood::new(&data, &space, 0.0).with_noise(noise(NoiseKind::Dropout));
    let limit = iterations.iter().max().copied();
    let options = LbfgsOptions { max_iterations: limit.or(Some(100)), ..LbfgsOptions::default() };
    println!("| iteration | R | frequency | of R | Σ θ² | mean Λ |\n|---|---|---|---|---|---|");
    let start = vec![0.0; space.dimension()];
    minimize(&mut objective, start, None, &options, None, &mut |iteration| {
        if iterations.contains(&iteration.number) {
            // A new objective, since each begins a round with its first evaluation.
            let plain = PenalizedLikelihood::new(&data, &space, 0.0);
            let mut split = plain.with_noise(noise(NoiseKind::Reweighted(1)));
            print_parts(&mut split, &space, &frequencies, iteration.number, iteration.x);
        }
        ControlFlow::Continue(())
    })
    .unwrap();
}
