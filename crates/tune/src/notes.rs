//! What a search says about its table: how certain the best configuration is, and where to go on.

use dropchain::train::DevScore;

use super::difference::{FoldDifference, FoldDifferences};
use super::search::TuneResult;
use super::space::PARAMETERS;
use super::statistics::half_interval;

impl TuneResult {
    /// Returns sentences about the best configuration: the uncertainty of its score, those not told
    /// apart from it, its lead over the runner-up and that of noise over its absence, and values at
    /// the end of their range.
    pub fn notes(&self) -> Vec<String> {
        let FoldDifferences { runner_up, noise_gain } = &self.differences;
        let describe = |what: &str, one: &Option<_>| Some(self.describe(what, one.as_ref()?));
        let gain = describe("dropout over the best without", noise_gain);
        let runner_up = match runner_up == noise_gain {
            true => None,
            false => describe("best over the runner-up", runner_up),
        };
        let notes = [self.uncertainty(), self.ties(), runner_up, gain].into_iter().flatten();
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
            return Some(format!(
                "mean {metric} {value:.2} over {} folds: 95 % interval {low:.2} to {high:.2}",
                folds.fold_scores.len()
            ));
        }
        let error = 100.0 * self.standard_error()?;
        let what = match best.score {
            DevScore::F1(_) => "spans",
            DevScore::Accuracy(_) => "tokens",
        };
        Some(format!(
            "a score on {} {what} is uncertain by about ±{error:.2} (standard error)",
            self.dev_units
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
        format!(
            "{what}: {mean:+.2} ± {deviation:.2} points of {}, ahead in {} of {} folds ({p})",
            self.metric(),
            lead.ahead,
            lead.fold_differences.len()
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
