//! The penalty by enumeration of all masks and all paths: written to be obviously right, never
//! optimized.

use super::*;

/// One weight at one token: active where y_t = b, and y_{t−1} = a if there is an a.
pub(super) struct Occurrence {
    t: usize,
    a: Option<usize>,
    b: usize,
    value: f64,
    rate: f64,
}

/// All weights of the first sentence, with the members of classes one by one.
pub(super) fn occurrences(
    data: &Dataset,
    space: &ParameterSpace,
    theta: &[f64],
    monte_carlo: NoiseOptions,
) -> Vec<Occurrence> {
    let (k, stride) = (space.labels(), space.stride());
    let has_chain = space.order() == Order::One;
    let [node, edge] = monte_carlo.amounts();
    let mut all = Vec::new();
    let mut push = |t, a, b, value, rate| {
        all.push(Occurrence { t, a, b, value, rate });
    };
    let mut weights = LabelWeights::default();
    space.label_weights(theta, &mut weights);
    let tokens = data.sentence(0);
    for t in tokens.clone() {
        for (column, x) in data.nodes.entries(t) {
            let scale = space.nodes.scale[column as usize];
            for _ in 0..(scale * scale).round() as u32 {
                space.nodes.targets.for_each(column as usize, |b, i| {
                    let value = x * space.nodes.weights(theta)[i] / scale;
                    push(t, None, b, value, node);
                });
            }
        }
        for (column, x) in data.edges.entries(t).filter(|_| has_chain) {
            let scale = space.edges.scale[column as usize];
            for _ in 0..(scale * scale).round() as u32 {
                space.edges.targets.for_each(column as usize, |position, i| {
                    let value = x * space.edges.weights(theta)[i] / scale;
                    let (a, b) = (position / stride, position % stride);
                    push(t, Some(a), b, value, edge);
                });
            }
        }
        for b in 0..k {
            for a in (0..k).filter(|_| has_chain && t > 0) {
                push(t, Some(a), b, weights.transitions[a * k + b], edge);
            }
            if t == 0 {
                push(t, None, b, weights.start[b], edge);
            }
            if t + 1 == tokens.end {
                push(t, None, b, weights.end[b], edge);
            }
        }
    }
    all.retain(|occurrence| occurrence.value != 0.0);
    all
}

/// The results of the enumeration.
pub(super) struct Exact {
    pub(super) mean: f64,      // E A(s̃) − A(s)
    pub(super) deviation: f64, // of D
    pub(super) second: f64,    // ½ tr ∇²A·Cov(s̃): the part of second order
    pub(super) best: f64,      // probability of the best path
}

impl Exact {
    /// Enumerates, given the number of labels and the gold ones.
    pub(super) fn new(labels: usize, gold: &[LabelId], occurrences: &[Occurrence]) -> Self {
        let tokens = gold.len();
        let n = occurrences.len();
        assert!(n <= 18, "{n} weights are too many");
        // The active occurrences of each path, as bits.
        let paths: Vec<u32> = (0..labels.pow(tokens as u32))
            .map(|number| {
                let y = |t: usize| number / labels.pow(t as u32) % labels;
                let counts = |o: &Occurrence| y(o.t) == o.b && o.a.is_none_or(|a| y(o.t - 1) == a);
                occurrences.iter().enumerate().map(|(i, o)| u32::from(counts(o)) << i).sum()
            })
            .collect();
        let log_partition = |values: &[f64]| {
            let on = |path: u32, i: usize| f64::from(path >> i & 1);
            let scores = paths.iter().map(|&path| -> f64 {
                values.iter().enumerate().map(|(i, v)| on(path, i) * v).sum()
            });
            let scores: Vec<f64> = scores.collect();
            dropchain_numerics::math::log_sum_exp(&scores)
        };
        let values: Vec<f64> = occurrences.iter().map(|o| o.value).collect();
        let clean = log_partition(&values);
        let best = paths.iter().map(|&path| -> f64 {
            values.iter().enumerate().map(|(i, v)| f64::from(path >> i & 1) * v).sum()
        });
        let best = (best.fold(f64::NEG_INFINITY, f64::max) - clean).exp();
        let digits = gold.iter().enumerate();
        let gold: usize = digits.map(|(t, y)| y.index() * labels.pow(t as u32)).sum();
        // The probability that an occurrence is active.
        let probability = |i: usize| -> f64 {
            let paths = paths.iter().filter(|&path| path >> i & 1 == 1);
            let scores = paths
                .map(|&path| -> f64 { (0..n).map(|j| f64::from(path >> j & 1) * values[j]).sum() });
            scores.map(|score| (score - clean).exp()).sum()
        };
        let p: Vec<f64> = (0..n).map(probability).collect();
        let [mut mean, mut squares] = [0.0; 2];
        let mut noised = values.clone();
        for mask in 0..1_u32 << n {
            let (mut chance, mut gold_change) = (1.0, 0.0);
            for (i, o) in occurrences.iter().enumerate() {
                let is_kept = mask >> i & 1 == 1;
                chance *= if is_kept { 1.0 - o.rate } else { o.rate };
                noised[i] = if is_kept { o.value / (1.0 - o.rate) } else { 0.0 };
                gold_change += f64::from(paths[gold] >> i & 1) * (noised[i] - o.value);
            }
            if chance > 0.0 {
                let d = log_partition(&noised) - clean - gold_change;
                mean += chance * d;
                squares += chance * d * d;
            }
        }
        let second = occurrences
            .iter()
            .zip(&p)
            .map(|(o, p)| 0.5 * o.rate / (1.0 - o.rate) * o.value * o.value * p * (1.0 - p));
        Self { mean, deviation: (squares - mean * mean).sqrt(), second: second.sum(), best }
    }
}
