//! What is evaluated: sentences as numbers, the layout of the weights, the noise and the variants
//! of the objective; the weights at which gradients are compared; the work of an evaluation.

use std::f64::consts::TAU;
use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;
use std::sync::Arc;

use dropchain::kernel::chain::Order;
use dropchain::kernel::extract::{Classes, Dataset, SparseRows};
use dropchain::kernel::ids::LabelId;
use dropchain::kernel::noise::Engine;
use dropchain::kernel::objective::{PenalizedLikelihood, active_counts};
use dropchain::kernel::optim::{LbfgsOptions, minimize};
use dropchain::kernel::random::uniform;
use dropchain::kernel::score::{ParameterSpace, SpaceOptions};
use dropchain::kernel::train::TrainingSet;
use dropchain::train::{NoiseKind, NoiseOptions, TrainSettings};
use dropchain::{Error, Result};

/// Seeds of the labels, and of the attributes that are kept.
const LABELS: u64 = 1;
const ATTRIBUTES: u64 = 2;

/// The objective without a penalty, of any variant.
#[derive(Clone, Debug)]
pub struct Problem {
    pub data: Dataset,
    pub space: ParameterSpace,
    noise: NoiseOptions,
}

/// The size of synthetic sentences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Number of tokens T of each sentence.
    pub length: usize,
    /// Number of labels K.
    pub labels: usize,
    /// The share of the attributes that are kept.
    pub share: f64,
}

impl Problem {
    /// Returns the problem of a training set with the noise of the settings.
    pub fn new(set: &TrainingSet, settings: &TrainSettings) -> Self {
        let noise = settings.regularization().noise;
        Self { data: set.data().clone(), space: set.space().clone(), noise }
    }

    /// Returns the objective of a variant, without L2 penalty.
    pub fn objective(&self, variant: Variant) -> PenalizedLikelihood {
        let likelihood = PenalizedLikelihood::new(&self.data, &self.space, 0.0);
        let mut noise = self.noise;
        variant.apply(&mut noise);
        if noise.is_on() { likelihood.with_noise(noise) } else { likelihood }
    }

    /// Returns q/T, before collapsing or after.
    pub fn active_per_token(&self, is_collapsed: bool) -> f64 {
        let counts = active_counts(&self.data, &self.space);
        let active = if is_collapsed { counts.collapsed } else { counts.attributes };
        active as f64 / counts.tokens.max(1) as f64
    }

    /// Returns synthetic sentences: the tokens of the corpus one after another, from the start
    /// again if they are too few, cut after every T; random labels; a random part of the node
    /// attributes, and no edge attributes. Only attributes that occur have weights, and all pairs
    /// with labels.
    pub fn synthetic(&self, shape: Shape, sentences: usize) -> Self {
        let tokens = self.data.tokens().max(1);
        let kept = |column: u32| uniform(ATTRIBUTES, u64::from(column)) < shape.share;
        let mut numbers = vec![None; self.space.nodes.columns()];
        let (mut data, mut count) = (Dataset::default(), 0);
        let (mut nodes, mut edges) = (SparseRows::default(), SparseRows::default());
        for sentence in 0..sentences {
            for token in sentence * shape.length..(sentence + 1) * shape.length {
                let entries = self.data.nodes.entries(token % tokens);
                let entries = entries.filter(|(column, _)| kept(*column));
                let mut row: Vec<(u32, f64)> = entries
                    .map(|(column, value)| {
                        let number = numbers[column as usize].get_or_insert_with(|| {
                            count += 1;
                            count - 1
                        });
                        (*number, value)
                    })
                    .collect();
                nodes.push_row(&mut row);
                edges.push_row(&mut Vec::new());
                let label = uniform(LABELS, token as u64) * shape.labels as f64;
                data.push_labels(&[LabelId(label as u16)]);
            }
            data.end_sentence((sentence + 1) * shape.length, 1.0);
        }
        (data.nodes, data.edges) = (Arc::new(nodes), Arc::new(edges));
        let options = SpaceOptions { order: self.space.order(), ..SpaceOptions::FIRST_ORDER };
        let classes = [count as usize, 0].map(Classes::singletons);
        Self {
            space: ParameterSpace::new(shape.labels, &data, &classes[0], &classes[1], options),
            data,
            noise: self.noise,
        }
    }
}

/// Returns the number of multiply-adds of an evaluation.
///
/// Counted from the shapes: K labels; of each sentence T tokens, E node attributes of all tokens
/// and q distinct ones, before or after collapsing; r the radius. Padding of rows to whole vectors,
/// exponentials, and what is linear in the number of weights are not counted.
///
/// | part | multiply-adds | |
/// |---|---|---|
/// | likelihood | 2EK + 3TK² | scores and their transpose; forward, backward, expectations |
/// | every noise term | 2EK | variances and their transpose |
/// | `exact` | 13TK² | `adjoint_kernel.rs`: 4 forward, 4 backward, 5 in sums |
/// | `local` | 13TK² | marginals and M 4, value 5, covariances 4 |
/// | `window=R` | (21 + 6r)TK² | also marginals and M twice, 3 per source to both sides |
/// | `message` | 2TK²·(Kq + K²) + 9TK² | vectors over (feature, label) and label pairs |
/// | `reweighted` | – | a weighted L2 penalty within a round |
///
/// Edge attributes, of which each stands for K features of `message` and K² products with every
/// other, count K-fold.
pub fn multiply_adds(problem: &Problem, variant: Variant) -> f64 {
    let (data, labels) = (&problem.data, problem.space.labels() as f64);
    let pairs = match problem.space.order() {
        Order::Zero => 0.0,
        Order::One => labels * labels,
    };
    let entries = data.nodes.nonzeros() as f64 + labels * data.edges.nonzeros() as f64;
    let products = 2.0 * entries * labels;
    let tokens = data.tokens() as f64;
    let likelihood = products + 3.0 * tokens * pairs;
    let engine = match variant {
        Variant::Likelihood | Variant::Reweighted(_) => return likelihood,
        Variant::Quadratic(engine) => match engine {
            Engine::Exact | Engine::Window(0) => 13.0 * tokens * pairs,
            Engine::Window(radius) => (21.0 + 6.0 * radius as f64) * tokens * pairs,
            Engine::Message { collapse } => {
                let vectors = (0..data.len()).map(|i| {
                    let sentence = data.select(&[i]);
                    let counts = active_counts(&sentence, &problem.space);
                    let active = if collapse { counts.collapsed } else { counts.attributes };
                    sentence.tokens() as f64 * (labels * active as f64 + pairs)
                });
                2.0 * pairs * vectors.sum::<f64>() + 9.0 * tokens * pairs
            }
        },
    };
    likelihood + products + engine
}

/// A variant of the objective: the likelihood alone, or with the noise term computed by an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// The likelihood without noise: the baseline.
    Likelihood,
    /// The quadratic regularizer, with the gradient of an engine.
    Quadratic(Engine),
    /// The weighted L2 penalty that stands for it for a number of iterations.
    Reweighted(usize),
}

impl Variant {
    /// Sets the kind of noise and its gradient.
    pub fn apply(self, noise: &mut NoiseOptions) {
        match self {
            Self::Likelihood => *noise = NoiseOptions::none(),
            Self::Quadratic(engine) => noise.gradient = engine,
            Self::Reweighted(iterations) => noise.kind = NoiseKind::Reweighted(iterations),
        }
    }

    /// Returns the name of the engine, collapsing or not.
    pub fn engine(self) -> String {
        match self {
            Self::Quadratic(Engine::Message { .. }) => "message".to_owned(),
            _ => self.to_string(),
        }
    }

    /// Returns true if attributes that fire once, at the same token, are collapsed (Wang et al.
    /// 2013, section 4.1).
    pub fn is_collapsed(self) -> bool {
        self == Self::Quadratic(Engine::Message { collapse: true })
    }
}

/// The name as an option, or `likelihood`.
impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Likelihood => f.write_str("likelihood"),
            Self::Quadratic(Engine::Message { collapse: false }) => f.write_str("message=plain"),
            Self::Quadratic(engine) => engine.fmt(f),
            Self::Reweighted(iterations) => NoiseKind::Reweighted(*iterations).fmt(f),
        }
    }
}

/// Parses the name of an engine.
impl FromStr for Variant {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match (name, name.parse(), name.parse()) {
            ("message=plain", ..) => Ok(Self::Quadratic(Engine::Message { collapse: false })),
            (_, Ok(engine), _) => Ok(Self::Quadratic(engine)),
            (_, _, Ok(NoiseKind::Reweighted(iterations))) => Ok(Self::Reweighted(iterations)),
            _ => Err(Error::parameter(
                "expected exact, message, message=plain, reweighted, reweighted=N, local, or \
                 window=R with integers N above 0 and R",
            )),
        }
    }
}

/// Default standard deviation of random weights: with 20 attributes per token, scores have a
/// standard deviation of about 1.
pub const SCALE: f64 = 0.2;

/// Default number of iterations: well on the way to the minimum on the corpora tried, where
/// training stops after 50 to 130.
const ITERATIONS: usize = 30;

/// The weights θ at which gradients are compared: `random[=SCALE]` or `trained[=ITERATIONS]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weights {
    /// Independent normal variates with mean 0 and this standard deviation.
    Random(f64),
    /// The result of so many iterations of training from 0, with the noise (exact gradient) and
    /// the L2 penalty of the settings.
    Trained(usize),
}

impl Weights {
    /// Returns the weights for a training set, `[set.space().dimension()]`.
    ///
    /// # Errors
    ///
    /// The errors of the optimizer, for [`Weights::Trained`].
    pub fn compute(self, set: &TrainingSet, settings: &TrainSettings) -> Result<Vec<f64>> {
        let dimension = set.space().dimension();
        let iterations = match self {
            Self::Random(scale) => return Ok(random_weights(dimension, scale)),
            Self::Trained(iterations) => iterations,
        };
        let lbfgs = LbfgsOptions { max_iterations: Some(iterations), ..LbfgsOptions::default() };
        let noise = settings.regularization().noise;
        let mut objective = set.likelihood(settings.l2()).with_noise(noise);
        let start = vec![0.0; dimension];
        let outcome =
            minimize(&mut objective, start, None, &lbfgs, None, &mut |_| ControlFlow::Continue(()));
        Ok(outcome?.x)
    }
}

impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random(scale) => write!(f, "random={scale}"),
            Self::Trained(iterations) => write!(f, "trained={iterations}"),
        }
    }
}

impl FromStr for Weights {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let weights = match name.split_once('=').unwrap_or((name, "")) {
            _ if name == "random" => Some(Self::Random(SCALE)),
            _ if name == "trained" => Some(Self::Trained(ITERATIONS)),
            ("random", scale) => {
                let scale = scale.parse().ok().filter(|scale: &f64| scale.is_finite());
                scale.filter(|scale| *scale > 0.0).map(Self::Random)
            }
            ("trained", count) => count.parse().ok().filter(|&n| n > 0).map(Self::Trained),
            _ => None,
        };
        weights.ok_or_else(|| {
            Error::parameter(
                "expected random, random=SCALE with a scale above 0, trained, or trained=N with \
                 an integer N above 0",
            )
        })
    }
}

/// Returns independent normal variates with mean 0, which depend on their index only.
pub fn random_weights(dimension: usize, scale: f64) -> Vec<f64> {
    (0..dimension as u64).map(|index| scale * normal(index)).collect()
}

/// Returns a standard normal variate for an index (Box and Muller 1958).
fn normal(index: u64) -> f64 {
    let [first, second] = [2 * index, 2 * index + 1].map(|counter| uniform(1, counter));
    (-2.0 * first.ln()).sqrt() * (TAU * second).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_variants_round_trip() {
        for name in ["exact", "message", "message=plain", "window=2", "local", "reweighted=7"] {
            assert_eq!(name.parse::<Variant>().unwrap().to_string(), name);
        }
        assert!("message".parse::<Variant>().unwrap().is_collapsed());
    }

    #[test]
    fn unknown_names_of_variants_are_rejected() {
        for name in ["", "likelihood", "adjoint", "window", "window=-1", "message=on", "gaussian"] {
            let error = name.parse::<Variant>().unwrap_err().to_string();
            assert!(error.starts_with("expected exact, message, message=plain,"), "{error}");
        }
    }

    #[test]
    fn names_of_weights_round_trip() {
        for name in ["random=0.5", "trained=7"] {
            assert_eq!(name.parse::<Weights>().unwrap().to_string(), name);
        }
        assert_eq!("random".parse::<Weights>().unwrap().to_string(), "random=0.2");
        assert_eq!("trained".parse::<Weights>().unwrap().to_string(), "trained=30");
        for name in ["", "one", "random=", "random=0", "random=inf", "trained=", "trained=0"] {
            assert!(name.parse::<Weights>().is_err(), "{name}");
        }
    }

    #[test]
    fn random_weights_are_standard_normal() {
        let n = 100_000;
        for (power, expected) in [(1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0)] {
            let sum: f64 = (0..n).map(|index| normal(index).powi(power)).sum();
            let found = sum / n as f64;
            assert!((found - expected).abs() < 0.05, "moment {power}: {found}");
        }
    }
}
