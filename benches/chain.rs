//! Inference alone: from scores to expectations or paths.

use criterion::{BenchmarkId, Criterion, Throughput};
use dropchain::kernel::chain::{EdgeSums, Lattice, Order, Scores, Transitions, Viterbi, padded};

use crate::corpus::Numbers;

const SENTENCES: usize = 200;
/// Tokens of a sentence.
const LENGTH: usize = 25;
/// Numbers of labels K: small and large NER schemes, chunks, universal and Penn parts of speech.
const LABELS: [usize; 5] = [5, 9, 17, 22, 49];

/// Sentences with random scores and random transitions.
struct Chains {
    transitions: Transitions,
    nodes: Vec<Vec<f64>>, // [SENTENCES][T][S]
}

impl Chains {
    fn new(labels: usize) -> Self {
        let mut numbers = Numbers(labels as u64);
        let mut weights =
            |n: usize| -> Vec<f64> { (0..n).map(|_| 3.0 * numbers.score()).collect() };
        let mut transitions = Transitions::new(labels, Order::One);
        transitions.set(&weights(labels * labels), &weights(labels), &weights(labels));
        let nodes = (0..SENTENCES).map(|_| weights(LENGTH * padded(labels))).collect();
        Self { transitions, nodes }
    }

    fn scores(&self) -> impl Iterator<Item = Scores<'_>> {
        self.nodes.iter().map(|node| Scores { node, edge: None })
    }
}

pub fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("chain");
    group.throughput(Throughput::Elements((SENTENCES * LENGTH) as u64));
    for labels in LABELS {
        let chains = Chains::new(labels);
        let transitions = &chains.transitions;

        let mut lattice = Lattice::default();
        let mut sums = EdgeSums::new(transitions);
        let mut expectations = vec![0.0; labels * transitions.stride()];
        group.bench_function(BenchmarkId::new("forward-backward", labels), |bencher| {
            bencher.iter(|| {
                sums.clear();
                for scores in chains.scores() {
                    lattice.forward_backward(transitions, scores, None);
                    lattice.add_edge_expectations(transitions, &mut sums);
                }
                sums.finish(transitions, &mut expectations);
                let edges = (SENTENCES * (LENGTH - 1)) as f64;
                assert!((expectations.iter().sum::<f64>() - edges).abs() < 1e-6);
            });
        });

        let (mut viterbi, mut path) = (Viterbi::default(), Vec::new());
        group.bench_function(BenchmarkId::new("viterbi", labels), |bencher| {
            bencher.iter(|| {
                let mut tokens = 0;
                for scores in chains.scores() {
                    viterbi.decode(transitions, scores, None, None, &mut path);
                    tokens += path.len();
                }
                assert_eq!(tokens, SENTENCES * LENGTH);
            });
        });
    }
    group.finish();
}
