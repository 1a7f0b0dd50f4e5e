//! The table of a search.

use dropchain::kernel::eval::standard_error;
use dropchain::train::DevScore;

use super::difference::FoldDifference;
use super::search::TuneResult;
use super::space::{PARAMETERS, text};
use super::trial::Trial;

/// Significance level of differences over folds.
const LEVEL: f64 = 0.05;

impl TuneResult {
    /// Returns a row of headings, then one for each configuration, the best first. A column without
    /// heading marks it with `★`, and with `≈` those that are not told apart from it. There are no
    /// columns of options that are the same in all configurations.
    pub fn table(&self) -> Vec<Vec<String>> {
        let trials = &self.trials;
        let mut rows = vec![Vec::new(); 1 + trials.len()];
        let mut add = |heading: &str, is_shown: bool, cell: &dyn Fn(&Trial) -> Option<String>| {
            if is_shown {
                let cells =
                    trials.iter().map(|trial| cell(trial).unwrap_or_else(|| "–".to_owned()));
                let cells = [heading.to_owned()].into_iter().chain(cells);
                rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
            }
        };
        for parameter in &PARAMETERS {
            let value = |trial: &Trial| trial.configuration.value(parameter.option).clone();
            let is_shown = trials.iter().any(|trial| value(trial) != value(&trials[0]));
            add(parameter.name, is_shown, &|trial| Some(text(&value(trial))));
        }
        let nonzero = |trial: &Trial| trial.score.as_ref()?.nonzero_weights;
        let percent = |x: f64| format!("{:.2}", 100.0 * x);
        let has_folds = trials.iter().any(|trial| trial.folds().is_some());
        let has_counts = trials.iter().any(|trial| nonzero(trial).is_some());
        let source = if has_folds { "mean" } else { "dev" };
        add(&format!("{source} {}", self.metric()), true, &|t| t.value().map(percent));
        let tie = |t: &Trial| if self.is_tie(t) { "≈" } else { "" };
        let is_best = |t: &Trial| t.number == trials[0].number;
        add("", true, &|t| Some(if is_best(t) { "★" } else { tie(t) }.to_owned()));
        add("±", has_folds, &|t| Some(percent(t.folds()?.standard_deviation)));
        add("mean of 5", true, &|t| Some(percent(t.score.as_ref()?.dev_mean)));
        add("weights", has_counts, &|t| Some(nonzero(t)?.to_string()));
        add("kept", true, &|t| Some(t.score.as_ref()?.best_iteration.to_string()));
        add("iterations", true, &|t| Some(t.iterations.to_string()));
        add("stopped by", true, &|t| Some(t.stop_reason.to_owned()));
        rows
    }

    /// Returns the standard error of the best score as a proportion of the development data; `None`
    /// with folds.
    pub(super) fn standard_error(&self) -> Option<f64> {
        standard_error(self.trials.first()?.value()?, self.dev_units)
    }

    /// Returns whether a configuration is not told apart from the best one: it lies within a
    /// standard error of it, or over folds the paired difference is not significant.
    pub(super) fn is_tie(&self, trial: &Trial) -> bool {
        let (Some(best), Some(value)) = (self.trials.first(), trial.value()) else {
            return false;
        };
        match self.standard_error() {
            Some(error) => best.value().is_some_and(|highest| highest - value <= error),
            None => FoldDifference::new(best, trial).is_none_or(|d| d.p_value > LEVEL),
        }
    }

    /// Returns the name of the score.
    pub fn metric(&self) -> &'static str {
        match self.trials.iter().find_map(|trial| Some(trial.score.as_ref()?.score)) {
            Some(DevScore::Accuracy(_)) => "accuracy",
            _ => "F1",
        }
    }
}
