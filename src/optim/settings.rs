//! Optimizer parameters, unchecked and checked.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The largest useful memory; more is a typo.
const MAX_MEMORY: usize = 1000;

/// Unchecked parameters of [`minimize`](super::minimize); [`LbfgsSettings::new`] checks them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LbfgsOptions {
    /// Number of curvature pairs to keep, 1 to 1000. Each takes two vectors of n `f32`.
    ///
    /// Default 6, like CRFsuite: more pairs save few evaluations when training a CRF, and those of
    /// a large model take most of the memory of training.
    pub memory: usize,
    /// Maximum number of accepted steps. Default: unlimited.
    pub max_iterations: Option<usize>,
    /// How steps along a direction are chosen. With an L1 penalty, OWL-QN has a line search of its
    /// own.
    pub line_search: LineSearch,
    /// Maximum number of evaluations in one line search, at least 1.
    ///
    /// Default 20, like CRFsuite: nearly every line search takes one, and twenty tenfold reductions
    /// are beyond the resolution of `f64`.
    pub max_line_search: usize,
    /// Stop if (F_{k−period} − F_k) / |F_k| is below this; at 0, only the rounding test stops.
    ///
    /// For an objective that changes with every iteration, the test compares means: that of the
    /// values at the start of the last `period` iterations must be below that of the `period`
    /// before by this fraction. A mean that does not decrease stops the optimizer at any tolerance.
    ///
    /// Default 10⁻⁵, like CRFsuite, so that training times are comparable.
    pub improvement_tolerance: f64,
    /// Number of iterations, at least 1, over which the improvement is measured.
    ///
    /// Default 10, like CRFsuite: single steps of L-BFGS can be poor long before the end.
    pub period: usize,
    /// Stop if ‖g‖ ≤ `gradient_tolerance` · max(1, ‖x‖); at 0 only a gradient of exactly 0 stops.
    ///
    /// Default 10⁻⁵, like CRFsuite.
    pub gradient_tolerance: f64,
    /// Whether to do without what liblbfgs, the optimizer of CRFsuite, does not have: the estimate
    /// of the curvature that the objective has
    /// ([`Objective::inverse_curvature`](super::Objective::inverse_curvature)), and, with an L1
    /// penalty, interpolation between steps, which are halved instead. The points are then those
    /// that it visits; there are more of them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub plain: bool,
}

/// The line search of L-BFGS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineSearch {
    /// Strong Wolfe conditions, by cubic interpolation, as Moré and Thuente do: the fewest
    /// evaluations.
    #[default]
    StrongWolfe,
    /// Wolfe conditions, by backtracking.
    Backtracking,
    /// Strong Wolfe conditions, by backtracking.
    StrongBacktracking,
}

crate::named!(LineSearch, "line search":
    StrongWolfe = "strong-wolfe",
    Backtracking = "backtracking",
    StrongBacktracking = "strong-backtracking",
);

impl Default for LbfgsOptions {
    fn default() -> Self {
        Self {
            memory: 6,
            max_iterations: None,
            line_search: LineSearch::default(),
            max_line_search: 20,
            improvement_tolerance: 1e-5,
            period: 10,
            gradient_tolerance: 1e-5,
            plain: false,
        }
    }
}

/// Checked [`LbfgsOptions`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "LbfgsOptions", into = "LbfgsOptions")]
pub struct LbfgsSettings(LbfgsOptions);

impl LbfgsSettings {
    /// Checks `options`.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] naming the option that is out of range.
    pub fn new(options: LbfgsOptions) -> Result<Self> {
        if !(1..=MAX_MEMORY).contains(&options.memory) {
            return Err(Error::parameter(format!(
                "memory of {} pairs; expected 1 to {MAX_MEMORY}",
                options.memory
            )));
        }
        for (name, count) in [
            ("max_line_search", options.max_line_search),
            ("period", options.period),
        ] {
            if count == 0 {
                return Err(Error::parameter(format!("{name} is 0; expected 1 or more")));
            }
        }
        for (name, tolerance) in [
            ("improvement_tolerance", options.improvement_tolerance),
            ("gradient_tolerance", options.gradient_tolerance),
        ] {
            if !tolerance.is_finite() || tolerance < 0.0 {
                return Err(Error::parameter(format!(
                    "{name} is {tolerance}; expected a finite number that is not negative"
                )));
            }
        }
        Ok(Self(options))
    }

    /// Returns the options.
    #[must_use]
    pub fn options(&self) -> &LbfgsOptions {
        &self.0
    }
}

impl TryFrom<LbfgsOptions> for LbfgsSettings {
    type Error = Error;

    fn try_from(options: LbfgsOptions) -> Result<Self> {
        Self::new(options)
    }
}

impl From<LbfgsSettings> for LbfgsOptions {
    fn from(settings: LbfgsSettings) -> Self {
        settings.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(change: impl FnOnce(&mut LbfgsOptions)) -> String {
        let mut options = LbfgsOptions::default();
        change(&mut options);
        LbfgsSettings::new(options).unwrap_err().to_string()
    }

    #[test]
    fn the_default_options_are_valid() {
        assert_eq!(
            LbfgsSettings::new(LbfgsOptions::default()).unwrap(),
            LbfgsSettings::default()
        );
    }

    #[test]
    fn an_option_out_of_range_is_named() {
        assert_eq!(
            error(|o| o.memory = 0),
            "memory of 0 pairs; expected 1 to 1000"
        );
        assert_eq!(error(|o| o.period = 0), "period is 0; expected 1 or more");
        assert_eq!(
            error(|o| o.max_line_search = 0),
            "max_line_search is 0; expected 1 or more"
        );
        assert_eq!(
            error(|o| o.gradient_tolerance = -1.0),
            "gradient_tolerance is -1; expected a finite number that is not negative"
        );
        assert_eq!(
            error(|o| o.improvement_tolerance = f64::NAN),
            "improvement_tolerance is NaN; expected a finite number that is not negative"
        );
    }

    #[test]
    fn settings_are_checked_when_deserialized() {
        let text = serde_json::to_string(&LbfgsSettings::default()).unwrap();
        assert_eq!(
            serde_json::from_str::<LbfgsSettings>(&text).unwrap(),
            LbfgsSettings::default()
        );
        assert!(serde_json::from_str::<LbfgsSettings>(r#"{"memory":0}"#).is_err());
    }
}
