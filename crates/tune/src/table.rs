//! What a search says: its table, how certain the best configuration is, and where to go on.

use dropchain::kernel::eval::standard_error;
use dropchain::train::DevScore;

use super::differences::{FoldDifference, FoldDifferences};
use super::search::TuneResult;
use super::space::{PARAMETERS, text};
use super::statistics::half_interval;
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
                rows[0].push(heading.to_owned());
                for (row, trial) in rows[1..].iter_mut().zip(trials) {
                    row.push(cell(trial).unwrap_or_else(|| "–".to_owned()));
                }
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
    fn standard_error(&self) -> Option<f64> {
        standard_error(self.trials.first()?.value()?, self.dev_units)
    }

    /// Returns whether a configuration is not told apart from the best one: it lies within a
    /// standard error of it, or over folds the paired difference is not significant.
    fn is_tie(&self, trial: &Trial) -> bool {
        let (Some(best), Some(value)) = (self.trials.first(), trial.value()) else { return false };
        match self.standard_error() {
            Some(error) => best.value().is_some_and(|highest| highest - value <= error),
            None => FoldDifference::new(best, trial).is_none_or(|d| d.p_value > LEVEL),
        }
    }

    /// Returns the name of the score.
    pub fn metric(&self) -> &'static str {
        let mut scores = self.trials.iter().filter_map(|trial| trial.score.as_ref());
        scores.next().map_or("F1", |score| score.score.metric())
    }

    /// Returns sentences about the best configuration: the uncertainty of its score, those not told
    /// apart from it, its lead over the runner-up and that of noise over its absence, and values at
    /// the end of their range.
    pub fn notes(&self) -> Vec<String> {
        let FoldDifferences { runner_up, noise_gain } = &self.differences;
        let describe = |what: &str, one: &Option<_>| Some(self.describe(what, one.as_ref()?));
        let gain = describe("dropout over the best without", noise_gain);
        let lead = describe("best over the runner-up", runner_up);
        let lead = lead.filter(|_| runner_up != noise_gain);
        let notes = [self.uncertainty(), self.ties(), lead, gain].into_iter().flatten();
        let options = PARAMETERS.iter().map(|parameter| (parameter.option, parameter.name));
        notes.chain(options.filter_map(|(option, name)| self.end_of_range(option, name))).collect()
    }

    /// Says how uncertain the best score is.
    fn uncertainty(&self) -> Option<String> {
        let best = self.trials.first()?.score.as_ref()?;
        let (value, metric) = (100.0 * best.score.value(), self.metric());
        if let Some(folds) = &best.folds {
            let half = 100.0 * half_interval(&folds.fold_scores);
            let [low, high] = [value - half, value + half].map(|end| end.clamp(0.0, 100.0));
            let folds = folds.fold_scores.len();
            return Some(format!(
                "mean {metric} {value:.2} over {folds} folds: 95 % interval {low:.2} to {high:.2}"
            ));
        }
        let error = 100.0 * self.standard_error()?;
        let units = self.dev_units;
        let what = match best.score {
            DevScore::F1(_) => "spans",
            DevScore::Accuracy(_) => "tokens",
        };
        Some(format!(
            "a score on {units} {what} is uncertain by about ±{error:.2} (standard error)"
        ))
    }

    /// Says how many configurations are not told apart from that with the highest score.
    fn ties(&self) -> Option<String> {
        let ties = self.trials.iter().filter(|trial| self.is_tie(trial)).count();
        let all = self.trials.len();
        let why = match self.standard_error() {
            Some(error) => format!("within ±{:.2}", 100.0 * error),
            None => "paired t-test over the folds, p > 0.05".to_owned(),
        };
        let are = if ties == 2 { "is" } else { "are" };
        (ties > 1).then(|| {
            format!("≈: {} of {all} {are} not told apart from the highest score ({why})", ties - 1)
        })
    }

    /// Describes the difference between two configurations.
    fn describe(&self, what: &str, lead: &FoldDifference) -> String {
        let (mean, deviation) = (100.0 * lead.mean, 100.0 * lead.standard_deviation);
        let p = match lead.p_value {
            p if p < 0.001 => "p < 0.001".to_owned(),
            p => format!("p = {p:.3}"),
        };
        let (metric, ahead, folds) = (self.metric(), lead.ahead, lead.fold_differences.len());
        format!(
            "{what}: {mean:+.2} ± {deviation:.2} points of {metric}, ahead in {ahead} of {folds} \
             folds ({p})"
        )
    }

    /// Suggests extending the search if the best value of an option is the smallest or largest of
    /// several.
    fn end_of_range(&self, option: &str, name: &str) -> Option<String> {
        let trials = self.trials.iter();
        let values = trials.filter_map(|trial| trial.configuration.value(option).as_f64());
        let best = self.trials.first()?.configuration.value(option).as_f64()?;
        let is_largest = values.clone().all(|x| x <= best);
        let is_smallest = values.clone().all(|x| x >= best);
        let (end, direction) = match (is_largest, is_smallest) {
            (true, false) => ("largest", "larger"),
            (false, true) if best > 0.0 => ("smallest", "smaller"),
            _ => return None,
        };
        Some(format!(
            "the highest score has the {end} {name} tried, {best}; {direction} values may be better"
        ))
    }
}
