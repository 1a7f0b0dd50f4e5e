//! The variants of the objective that are compared, and the weights at which they are.

use std::f64::consts::TAU;
use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;

use dropchain::error::{Error, Result};
use dropchain::kernel::noise::Engine;
use dropchain::kernel::optim::{LbfgsOptions, minimize};
use dropchain::kernel::random::uniform;
use dropchain::train::{NoiseKind, NoiseOptions, TrainSettings, TrainingSet};

/// A variant of the objective: the likelihood alone, or with the noise term computed by an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// The likelihood without noise: the baseline.
    Likelihood,
    /// The likelihood with the quadratic regularizer, and the gradient of an engine.
    Quadratic(Engine),
    /// The likelihood with noise that is reweighted after this number of iterations.
    Reweighted(usize),
}

impl Variant {
    /// Sets the kind of noise and its gradient.
    pub fn apply(self, noise: &mut NoiseOptions) {
        match self {
            Self::Likelihood => (noise.dropout, noise.edge_dropout) = (0.0, None),
            Self::Quadratic(engine) => noise.gradient = engine,
            Self::Reweighted(iterations) => noise.kind = NoiseKind::Reweighted(iterations),
        }
    }

    /// Returns the name, excluding [`is_collapsed`](Self::is_collapsed): `likelihood`, `exact`,
    /// `message`, `reweighted=N`, `window=R` or `local`.
    pub fn name(self) -> String {
        match self {
            Self::Likelihood => "likelihood".to_owned(),
            Self::Quadratic(engine) => engine.to_string(),
            Self::Reweighted(iterations) => format!("reweighted={iterations}"),
        }
    }

    /// Returns true if attributes that fire once, at the same token, are collapsed (Wang et al.
    /// 2013, section 4.1).
    pub fn is_collapsed(self) -> bool {
        self == Self::Quadratic(Engine::Message { collapse: true })
    }
}

/// Parses engine names: `exact`, `message` (both `message=collapsed` and `message=plain`),
/// `reweighted[=N]`, `window=R`, `local`. The result starts with the likelihood and has no
/// duplicates.
///
/// # Errors
///
/// [`Error::Parameter`] for an unknown name, or without any name.
pub fn parse_variants<S: AsRef<str>>(names: &[S]) -> Result<Vec<Variant>> {
    let mut variants = vec![Variant::Likelihood];
    for name in names {
        let name = name.as_ref();
        let message = |collapse| Variant::Quadratic(Engine::Message { collapse });
        let named = match name {
            "message" => vec![message(true), message(false)],
            "message=collapsed" => vec![message(true)],
            "message=plain" => vec![message(false)],
            "reweighted" => vec![Variant::Reweighted(NoiseKind::ROUND)],
            _ => match (name.parse::<Engine>(), name.parse::<NoiseKind>()) {
                (Ok(engine), _) => vec![Variant::Quadratic(engine)],
                (_, Ok(NoiseKind::Reweighted(n))) => vec![Variant::Reweighted(n)],
                _ => return Err(unknown(name)),
            },
        };
        for variant in named {
            if !variants.contains(&variant) {
                variants.push(variant);
            }
        }
    }
    if names.is_empty() {
        return Err(Error::parameter("no engines; expected at least one"));
    }
    Ok(variants)
}

fn unknown(name: &str) -> Error {
    Error::parameter(format!(
        "engine '{name}'; expected exact, message, message=collapsed, message=plain, \
         reweighted, reweighted=N, local, or window=R with integers N above 0 and R"
    ))
}

/// The weights θ at which gradients are compared: `zero`, `random[=SCALE]` or
/// `trained[=ITERATIONS]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EvaluationPoint {
    /// All 0. R and its gradient vanish there for every engine, so only costs can be compared.
    Zero,
    /// Independent normal variates with mean 0.
    Random {
        /// Standard deviation.
        scale: f64,
    },
    /// The result of some iterations of training from 0, with the noise (exact gradient) and the L2
    /// penalty of the settings.
    Trained {
        /// Iterations of L-BFGS.
        iterations: usize,
    },
}

impl EvaluationPoint {
    /// Default standard deviation: with 20 attributes per token, scores have a standard deviation
    /// of about 1.
    pub const DEFAULT_SCALE: f64 = 0.2;
    /// Default number of iterations: well on the way to the minimum on the corpora tried, where
    /// training stops after 50 to 130.
    pub const DEFAULT_ITERATIONS: usize = 30;

    /// Returns the weights for a training set, `[set.space().dimension()]`. Random weights depend
    /// on `seed` and their index only.
    ///
    /// # Errors
    ///
    /// Those of the optimizer of [`EvaluationPoint::Trained`].
    pub fn weights(
        self,
        set: &TrainingSet,
        settings: &TrainSettings,
        seed: u64,
    ) -> Result<Vec<f64>> {
        let dimension = set.space().dimension();
        match self {
            Self::Zero => Ok(vec![0.0; dimension]),
            Self::Random { scale } => Ok(random_weights(dimension, seed, scale)),
            Self::Trained { iterations } => {
                let lbfgs =
                    LbfgsOptions { max_iterations: Some(iterations), ..LbfgsOptions::default() };
                let start = vec![0.0; dimension];
                let noise = settings.regularization().noise;
                let mut objective = set.likelihood(settings.l2()).with_noise(noise);
                let outcome = minimize(&mut objective, start, None, &lbfgs, None, &mut |_| {
                    ControlFlow::Continue(())
                })?;
                Ok(outcome.x)
            }
        }
    }
}

impl fmt::Display for EvaluationPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero => f.write_str("zero"),
            Self::Random { scale } => write!(f, "random={scale}"),
            Self::Trained { iterations } => write!(f, "trained={iterations}"),
        }
    }
}

impl FromStr for EvaluationPoint {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let (kind, amount) = match name.split_once('=') {
            Some((kind, amount)) => (kind, Some(amount)),
            None => (name, None),
        };
        let point = match kind {
            "zero" if amount.is_none() => Some(Self::Zero),
            "random" => {
                let scale = amount.map_or(Some(Self::DEFAULT_SCALE), |scale| scale.parse().ok());
                let scale = scale.filter(|scale| scale.is_finite() && *scale > 0.0);
                scale.map(|scale| Self::Random { scale })
            }
            "trained" => {
                let iterations = amount.map_or(Some(Self::DEFAULT_ITERATIONS), |n| n.parse().ok());
                let iterations = iterations.filter(|&iterations| iterations > 0);
                iterations.map(|iterations| Self::Trained { iterations })
            }
            _ => None,
        };
        point.ok_or_else(|| {
            Error::parameter(format!(
                "weights '{name}'; expected zero, random, random=SCALE with a scale above 0, \
                 trained, or trained=N with an integer N above 0"
            ))
        })
    }
}

/// Returns independent normal variates with mean 0, which depend on `seed` and their index only.
pub fn random_weights(dimension: usize, seed: u64, scale: f64) -> Vec<f64> {
    (0..dimension as u64).map(|index| scale * normal(seed, index)).collect()
}

/// Returns a standard normal variate for a seed and an index (Box and Muller 1958).
fn normal(seed: u64, index: u64) -> f64 {
    let [first, second] = [2 * index, 2 * index + 1].map(|counter| uniform(seed, counter));
    (-2.0 * first.ln()).sqrt() * (TAU * second).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<(String, bool)> {
        let variants = parse_variants(list).unwrap();
        let name = |variant: Variant| (variant.name(), variant.is_collapsed());
        variants.into_iter().map(name).collect()
    }

    #[test]
    fn the_likelihood_comes_first_and_message_is_two_variants() {
        let found = names(&["window=2", "message"]);
        let expected =
            [("likelihood", false), ("window=2", false), ("message", true), ("message", false)];
        assert_eq!(found, expected.map(|(name, on)| (name.to_owned(), on)));
    }

    #[test]
    fn duplicates_are_dropped() {
        let found = names(&["message=plain", "local", "message", "local"]);
        let collapsed: Vec<bool> = found.iter().map(|(_, on)| *on).collect();
        assert_eq!(collapsed, [false, false, false, true]);
    }

    #[test]
    fn unknown_names_are_rejected() {
        for name in ["", "likelihood", "adjoint", "window", "window=-1", "message=on", "gaussian"] {
            let error = parse_variants(&["exact", name]).unwrap_err().to_string();
            let expected = "expected exact, message, message=collapsed, message=plain, \
                            reweighted, reweighted=N, local, or window=R with integers N above 0 \
                            and R";
            assert_eq!(error, format!("engine '{name}'; {expected}"));
        }
        let none: [&str; 0] = [];
        let error = parse_variants(&none).unwrap_err().to_string();
        assert_eq!(error, "no engines; expected at least one");
    }

    #[test]
    fn names_round_trip() {
        for name in ["zero", "random=0.5", "trained=7"] {
            assert_eq!(name.parse::<EvaluationPoint>().unwrap().to_string(), name);
        }
        assert_eq!("random".parse::<EvaluationPoint>().unwrap().to_string(), "random=0.2");
        assert_eq!("trained".parse::<EvaluationPoint>().unwrap().to_string(), "trained=30");
    }

    #[test]
    fn invalid_names_are_rejected() {
        for name in ["", "one", "zero=1", "random=", "random=0", "random=inf", "trained=0"] {
            let error = name.parse::<EvaluationPoint>().unwrap_err().to_string();
            let expected = "expected zero, random, random=SCALE with a scale above 0, trained, or \
                            trained=N with an integer N above 0";
            assert_eq!(error, format!("weights '{name}'; {expected}"));
        }
    }

    #[test]
    fn random_weights_are_standard_normal() {
        let n = 100_000;
        let moment = |power: i32| {
            let numbers = (0..n).map(|index| normal(1, index).powi(power));
            numbers.sum::<f64>() / n as f64
        };
        for (power, expected) in [(1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0)] {
            let found = moment(power);
            assert!((found - expected).abs() < 0.05, "moment {power}: {found}");
        }
    }
}
