//! The weights at which gradients are compared.

use std::f64::consts::TAU;
use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;

use dropchain::error::{Error, Result};
use dropchain::noise::{Engine, NoiseTerm};
use dropchain::objective::Noise;
use dropchain::optim::{LbfgsOptions, LbfgsSettings, minimize};
use dropchain::random::uniform;
use dropchain::train::{TrainSettings, TrainingSet};

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
    /// [`EvaluationPoint::Trained`] needs noise with a quadratic regularizer.
    pub fn weights(
        self,
        set: &TrainingSet,
        settings: &TrainSettings,
        seed: u64,
    ) -> Result<Vec<f64>> {
        let dimension = set.space().dimension();
        match self {
            Self::Zero => Ok(vec![0.0; dimension]),
            Self::Random { scale } => Ok((0..dimension as u64)
                .map(|index| scale * normal(seed, index))
                .collect()),
            Self::Trained { iterations } => {
                let lbfgs = LbfgsSettings::new(LbfgsOptions {
                    max_iterations: Some(iterations),
                    ..LbfgsOptions::default()
                })?;
                let start = vec![0.0; dimension];
                let noise = Noise {
                    term: NoiseTerm::Quadratic(Engine::Adjoint),
                    ..settings.analytic_noise()?
                };
                let mut objective = set.noisy_likelihood(settings.l2(), noise);
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
        let point = match (kind, amount) {
            ("zero", None) => Some(Self::Zero),
            ("random", None) => Some(Self::Random {
                scale: Self::DEFAULT_SCALE,
            }),
            ("random", Some(scale)) => scale
                .parse()
                .ok()
                .filter(|scale: &f64| scale.is_finite() && *scale > 0.0)
                .map(|scale| Self::Random { scale }),
            ("trained", None) => Some(Self::Trained {
                iterations: Self::DEFAULT_ITERATIONS,
            }),
            ("trained", Some(iterations)) => iterations
                .parse()
                .ok()
                .filter(|&iterations| iterations > 0)
                .map(|iterations| Self::Trained { iterations }),
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

/// Returns a standard normal variate for a seed and an index (Box and Muller 1958).
fn normal(seed: u64, index: u64) -> f64 {
    let [first, second] = [2 * index, 2 * index + 1].map(|counter| uniform(seed, counter));
    (-2.0 * first.ln()).sqrt() * (TAU * second).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for name in ["zero", "random=0.5", "trained=7"] {
            assert_eq!(name.parse::<EvaluationPoint>().unwrap().to_string(), name);
        }
        assert_eq!(
            "random".parse::<EvaluationPoint>().unwrap().to_string(),
            "random=0.2"
        );
        assert_eq!(
            "trained".parse::<EvaluationPoint>().unwrap().to_string(),
            "trained=30"
        );
    }

    #[test]
    fn invalid_names_are_rejected() {
        for name in [
            "",
            "one",
            "zero=1",
            "random=",
            "random=0",
            "random=inf",
            "trained=0",
        ] {
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
