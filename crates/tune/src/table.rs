//! The table of a search.

use dropchain::train::DevScore;
use serde_json::Value;

use super::search::TuneResult;
use super::space::Parameter;
use super::trial::Trial;

impl TuneResult {
    /// Returns a row of headings, then one for each configuration, the best first. There are no
    /// columns of parameters that are the same in all configurations, and none of noise on edges
    /// that is always that of attributes.
    pub fn table(&self, templates: &[String]) -> Vec<Vec<String>> {
        let trials = &self.trials;
        let mut rows = vec![Vec::new(); 1 + trials.len()];
        let mut add = |heading: &str, is_shown: bool, cell: &dyn Fn(&Trial) -> String| {
            if is_shown {
                let cells = trials.iter().map(cell);
                let cells = [heading.to_owned()].into_iter().chain(cells);
                rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
            }
        };
        for parameter in Parameter::ALL {
            let value = |trial: &Trial| trial.configuration.value(parameter);
            let is_of_edges = parameter == Parameter::EdgeDropout;
            let like_others = |t: &Trial| t.configuration.edge_dropout == t.configuration.dropout;
            let is_shown = trials.iter().any(|trial| value(trial) != value(&trials[0]))
                && !(is_of_edges && trials.iter().all(like_others));
            add(parameter.name(), is_shown, &|trial| match parameter {
                Parameter::Template => templates[trial.configuration.template].clone(),
                _ => text(&value(trial)),
            });
        }
        let has_folds = trials.iter().any(|trial| trial.folds().is_some());
        let has_counts = trials.iter().any(|trial| nonzero(trial).is_some());
        let source = if has_folds { "mean" } else { "dev" };
        let percent = |x: Option<f64>| or_dash(x.map(|x| format!("{:.2}", 100.0 * x)));
        add(&format!("{source} {}", self.metric()), true, &|t| percent(t.value()));
        add("±", has_folds, &|t| percent(t.folds().map(|folds| folds.standard_deviation)));
        add("weights", has_counts, &|t| or_dash(nonzero(t)));
        add("best at", true, &|t| or_dash(t.score.as_ref().map(|score| score.best_iteration)));
        add("iterations", true, &|t| t.iterations.to_string());
        add("stopped by", true, &|t| t.stop_reason().to_owned());
        rows
    }

    /// Returns the name of the score.
    pub fn metric(&self) -> &'static str {
        match self.trials.iter().find_map(|trial| Some(trial.score.as_ref()?.score)) {
            Some(DevScore::Accuracy(_)) => "accuracy",
            _ => "F1",
        }
    }
}

fn nonzero(trial: &Trial) -> Option<usize> {
    trial.score.as_ref()?.nonzero_weights
}

/// Formats the value of a parameter: a whole number without `.0`, a dash if there is none.
pub fn text(value: &Value) -> String {
    match value {
        Value::Null => or_dash(None::<String>),
        Value::String(text) => text.clone(),
        value => value.as_f64().map_or_else(|| value.to_string(), |number| number.to_string()),
    }
}

/// Formats a value, or a dash if there is none.
fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| value.to_string())
}
