//! The weights at which gradients are compared.

use std::f64::consts::TAU;
use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::optim::{LbfgsOptions, LbfgsSettings, minimize};
use crate::random::uniform;
use crate::train::Problem;

/// The weights θ at which gradients are compared: `zero`, `random[=SCALE]` or
/// `trained[=ITERATIONS]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weights {
    /// All 0. R and its gradient vanish there, whatever the engine: only costs can be compared.
    Zero,
    /// Independent and normal, with mean 0.
    Random {
        /// Their standard deviation.
        scale: f64,
    },
    /// Those after so many iterations of training with the noise of the options (exact gradient) and
    /// their L2 penalty, from 0.
    Trained {
        /// Iterations of L-BFGS.
        iterations: usize,
    },
}

impl Weights {
    /// Standard deviation where none is given: with 20 attributes a token, scores differ by about 1.
    pub const SCALE: f64 = 0.2;
    /// Iterations where no number is given: enough to be well on the way on the corpora that were
    /// tried, where training stops after 50 to 130.
    pub const ITERATIONS: usize = 30;

    /// The weights for a problem, `[problem.space().dimension()]`. Random ones depend on `seed` and
    /// on their place alone.
    ///
    /// # Errors
    ///
    /// None that data can cause.
    pub fn of(self, problem: &Problem, seed: u64) -> Result<Vec<f64>> {
        let dimension = problem.space().dimension();
        match self {
            Self::Zero => Ok(vec![0.0; dimension]),
            Self::Random { scale } => Ok((0..dimension as u64)
                .map(|place| scale * normal(seed, place))
                .collect()),
            Self::Trained { iterations } => {
                let settings = LbfgsSettings::new(LbfgsOptions {
                    max_iterations: Some(iterations),
                    ..LbfgsOptions::default()
                })?;
                let start = vec![0.0; dimension];
                let mut objective = problem.objective();
                let outcome = minimize(&mut objective, start, None, &settings, None, &mut |_| {
                    ControlFlow::Continue(())
                })?;
                Ok(outcome.x)
            }
        }
    }
}

impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero => f.write_str("zero"),
            Self::Random { scale } => write!(f, "random={scale}"),
            Self::Trained { iterations } => write!(f, "trained={iterations}"),
        }
    }
}

impl FromStr for Weights {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let (kind, amount) = match name.split_once('=') {
            Some((kind, amount)) => (kind, Some(amount)),
            None => (name, None),
        };
        let weights = match (kind, amount) {
            ("zero", None) => Some(Self::Zero),
            ("random", None) => Some(Self::Random { scale: Self::SCALE }),
            ("random", Some(scale)) => scale
                .parse()
                .ok()
                .filter(|scale: &f64| scale.is_finite() && *scale > 0.0)
                .map(|scale| Self::Random { scale }),
            ("trained", None) => Some(Self::Trained {
                iterations: Self::ITERATIONS,
            }),
            ("trained", Some(iterations)) => iterations
                .parse()
                .ok()
                .filter(|&iterations| iterations > 0)
                .map(|iterations| Self::Trained { iterations }),
            _ => None,
        };
        weights.ok_or_else(|| {
            Error::parameter(format!(
                "weights '{name}'; expected zero, random, random=SCALE with a scale above 0, trained, \
                 or trained=N with a whole number N above 0"
            ))
        })
    }
}

/// A standard normal number for a seed and a place (Box and Muller 1958).
fn normal(seed: u64, place: u64) -> f64 {
    let [first, second] = [2 * place, 2 * place + 1].map(|counter| uniform(seed, counter));
    (-2.0 * first.ln()).sqrt() * (TAU * second).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for name in ["zero", "random=0.5", "trained=7"] {
            assert_eq!(name.parse::<Weights>().unwrap().to_string(), name);
        }
        assert_eq!(
            "random".parse::<Weights>().unwrap().to_string(),
            "random=0.2"
        );
        assert_eq!(
            "trained".parse::<Weights>().unwrap().to_string(),
            "trained=30"
        );
    }

    #[test]
    fn names_without_meaning_are_refused() {
        for name in [
            "",
            "one",
            "zero=1",
            "random=",
            "random=0",
            "random=inf",
            "trained=0",
        ] {
            let error = name.parse::<Weights>().unwrap_err().to_string();
            let expected = "expected zero, random, random=SCALE with a scale above 0, trained, or \
                            trained=N with a whole number N above 0";
            assert_eq!(error, format!("weights '{name}'; {expected}"));
        }
    }

    #[test]
    fn random_weights_are_standard_normal() {
        let n = 100_000;
        let moment = |power: i32| {
            let numbers = (0..n).map(|place| normal(1, place).powi(power));
            numbers.sum::<f64>() / n as f64
        };
        for (power, expected) in [(1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0)] {
            let found = moment(power);
            assert!((found - expected).abs() < 0.05, "moment {power}: {found}");
        }
    }
}
