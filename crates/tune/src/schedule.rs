//! Successive halving (Jamieson and Talwalkar, AISTATS 2016): all configurations train for a few
//! iterations, the best 1/η of them for η times as many, and so on; the last ones, at most η, train
//! to the end.
//!
//! For n configurations and a first rung of r iterations, the rungs have n, ⌈n/η⌉, ⌈n/η²⌉, …
//! configurations and end after r, rη, rη², … iterations.

use serde::Serialize;

use dropchain::error::{Error, Result};

/// A schedule of successive halving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    pub(super) eta: Option<usize>,
    pub(super) first: usize,
}

/// A rung of successive halving.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Rung {
    /// Number of configurations that take part.
    pub configurations: usize,
    /// Iterations of each configuration at the end of the rung, the warm-up excluded; `None`: until
    /// training ends.
    pub iterations: Option<usize>,
}

impl Schedule {
    /// Default η: one in η configurations survives a rung.
    pub const ETA: usize = 3;
    /// Default number of iterations of the first rung. With much noise, scores on Spanish names
    /// rise for 60 iterations or more, and after 15 the ranking of configurations was still wrong.
    pub const FIRST: usize = 30;

    /// Creates a schedule that keeps one in `eta` configurations after each rung (`None`: all train
    /// to the end). The first rung has `first` iterations.
    ///
    /// # Errors
    ///
    /// `eta` is below 2, or `first` is 0.
    pub fn new(eta: Option<usize>, first: usize) -> Result<Self> {
        if let Some(eta) = eta.filter(|&eta| eta < 2) {
            return Err(Error::parameter(format!(
                "halving {eta}; expected 2 or more (2 keeps one in two configurations)"
            )));
        }
        if first == 0 {
            return Err(Error::parameter("0 iterations in the first rung; expected 1 or more"));
        }
        Ok(Self { eta, first })
    }

    /// Returns the rungs for a number of configurations.
    pub fn rungs(&self, configurations: usize) -> Vec<Rung> {
        let mut rungs = Vec::new();
        let (mut configurations, mut iterations) = (configurations, self.first);
        if let Some(eta) = self.eta {
            while configurations > eta {
                rungs.push(Rung { configurations, iterations: Some(iterations) });
                configurations = configurations.div_ceil(eta);
                iterations = iterations.saturating_mul(eta);
            }
        }
        rungs.push(Rung { configurations, iterations: None });
        rungs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rungs(eta: Option<usize>, configurations: usize) -> Vec<(usize, Option<usize>)> {
        let rungs = Schedule::new(eta, 10).unwrap().rungs(configurations);
        rungs.iter().map(|r| (r.configurations, r.iterations)).collect()
    }

    #[test]
    fn a_third_of_the_configurations_gets_three_times_the_iterations() {
        assert_eq!(rungs(Some(3), 28), [(28, Some(10)), (10, Some(30)), (4, Some(90)), (2, None)]);
        assert_eq!(rungs(Some(2), 4), [(4, Some(10)), (2, None)]);
    }

    #[test]
    fn few_configurations_or_no_halving_make_a_single_rung() {
        assert_eq!(rungs(Some(3), 3), [(3, None)]);
        assert_eq!(rungs(Some(3), 1), [(1, None)]);
        assert_eq!(rungs(None, 100), [(100, None)]);
    }

    #[test]
    fn eta_is_at_least_2_and_a_rung_has_iterations() {
        assert_eq!(
            Schedule::new(Some(1), 10).unwrap_err().to_string(),
            "halving 1; expected 2 or more (2 keeps one in two configurations)"
        );
        assert_eq!(
            Schedule::new(None, 0).unwrap_err().to_string(),
            "0 iterations in the first rung; expected 1 or more"
        );
    }
}
