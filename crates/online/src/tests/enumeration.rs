//! Sentences by the enumeration of all label paths.

use dropchain::kernel::chain::Order;
use dropchain::kernel::extract::{Dataset, Target};
use dropchain::kernel::ids::LabelId;
use dropchain::kernel::score::ParameterSpace;

/// All paths of a sentence, in ascending order of the labels read from last to first.
pub(super) fn paths(data: &Dataset, space: &ParameterSpace, sentence: usize) -> Vec<Vec<LabelId>> {
    let (tokens, labels) = (data.sentence(sentence).len() as u32, space.labels());
    let label = |path: usize, t: u32| LabelId((path / labels.pow(t) % labels) as u16);
    let path = |path| (0..tokens).map(|t| label(path, t)).collect();
    (0..labels.pow(tokens)).map(path).collect()
}

/// The features of a path: how often it uses each parameter.
pub(super) fn features(
    data: &Dataset,
    space: &ParameterSpace,
    sentence: usize,
    path: &[LabelId],
) -> Vec<f64> {
    let stride = space.stride();
    let mut features = vec![0.0; space.dimension()];
    let [mut pairs, mut first, mut last] =
        [vec![0.0; space.labels() * stride], vec![0.0; stride], vec![0.0; stride]];
    first[path[0].index()] = 1.0;
    last[path[path.len() - 1].index()] = 1.0;
    for (t, token) in data.sentence(sentence).enumerate() {
        let node = path[t].index();
        let pair = (t > 0 && space.order() == Order::One)
            .then(|| path[t - 1].index() * stride + path[t].index());
        if let Some(pair) = pair {
            pairs[pair] += 1.0;
        }
        for (rows, block, position) in
            [(&data.nodes, &space.nodes, Some(node)), (&data.edges, &space.edges, pair)]
        {
            for (column, x) in rows.entries(token) {
                let features = block.weights_mut(&mut features);
                block.targets.for_each(column as usize, |p, i| {
                    features[i] += if Some(p) == position { x } else { 0.0 };
                });
            }
        }
    }
    space.add_label_gradient([&pairs, &first, &last], &mut features);
    features
}

/// Returns the labels that each token of a sentence have; none: any.
pub(super) fn allowed(data: &Dataset, sentence: usize) -> Vec<Vec<LabelId>> {
    match data.target(sentence) {
        Target::Gold(labels) => labels.iter().map(|&label| vec![label]).collect(),
        Target::Allowed(labels) => labels
            .iter()
            .map(|token| {
                let mut labels = Vec::new();
                token.for_each(|label| labels.push(label));
                labels
            })
            .collect(),
        Target::Unlabeled => unreachable!(),
    }
}

/// Returns whether a path has allowed labels alone.
fn is_allowed(allowed: &[Vec<LabelId>], path: &[LabelId]) -> bool {
    allowed.iter().zip(path).all(|(labels, label)| labels.is_empty() || labels.contains(label))
}

/// The logarithm of the sum of the exponentials of scores.
fn log_sum(scores: impl Iterator<Item = f64> + Clone) -> f64 {
    let highest = scores.clone().fold(f64::NEG_INFINITY, f64::max);
    highest + scores.map(|score| (score - highest).exp()).sum::<f64>().ln()
}

/// The negative log-likelihood of a sentence, times its weight, and the gradient.
pub(super) fn loss(
    data: &Dataset,
    space: &ParameterSpace,
    theta: &[f64],
    sentence: usize,
) -> (f64, Vec<f64>) {
    let (allowed, weight) = (allowed(data, sentence), data.weight(sentence));
    let paths = scored_paths(data, space, theta, sentence);
    let gold = |path: &&ScoredPath| is_allowed(&allowed, &path.labels);
    let all_sum = log_sum(paths.iter().map(|path| path.score));
    let gold_sum = log_sum(paths.iter().filter(gold).map(|path| path.score));
    let mut gradient = vec![0.0; theta.len()];
    for path in &paths {
        let mut factor = (path.score - all_sum).exp();
        if gold(&path) {
            factor -= (path.score - gold_sum).exp();
        }
        let derivatives = gradient.iter_mut().zip(&path.features);
        derivatives.for_each(|(g, x)| *g += weight * factor * x);
    }
    (weight * (all_sum - gold_sum), gradient)
}

struct ScoredPath {
    labels: Vec<LabelId>,
    features: Vec<f64>,
    score: f64,
}

fn scored_paths(
    data: &Dataset,
    space: &ParameterSpace,
    theta: &[f64],
    sentence: usize,
) -> Vec<ScoredPath> {
    let scored = |labels: Vec<LabelId>| {
        let features = features(data, space, sentence, &labels);
        let score = features.iter().zip(theta).map(|(f, w)| f * w).sum();
        ScoredPath { labels, features, score }
    };
    paths(data, space, sentence).into_iter().map(scored).collect()
}
