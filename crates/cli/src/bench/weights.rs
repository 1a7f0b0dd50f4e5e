//! The weights at which gradients are compared.

use std::f64::consts::TAU;
use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;

use dropchain::kernel::optim::{LbfgsOptions, minimize};
use dropchain::kernel::random::uniform;
use dropchain::kernel::train::TrainingSet;
use dropchain::train::TrainSettings;
use dropchain::{Error, Result};

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
            minimize(
                &mut objective,
                start,
                None,
                &lbfgs,
                None,
                &mut |_| ControlFlow::Continue(()),
            )?;
        Ok(outcome.x)
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
    fn names_round_trip() {
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
