//! The section on searches of hyperparameters.

use serde_json::{Map, Value};

use crate::plot::{Axis, Mark, Plot, Scale, Series};
use crate::training::{plain, score};
use crate::views::{Figure, IN_TABLE, Section, Table, count_of, or_empty};

/// The settings that a search may vary, and whether they spread over orders of magnitude.
const AXES: [(&str, Scale); 8] = [
    ("template", Scale::Linear),
    ("dropout", Scale::Linear),
    ("edge_dropout", Scale::Linear),
    ("l2", Scale::Log),
    ("l1", Scale::Log),
    ("unlabeled_weight", Scale::Linear),
    ("warm_up", Scale::Linear),
    ("gradient", Scale::Linear),
];

/// The names of the score of a configuration.
const SCORES: [&str; 4] = ["dev_f1", "mean_f1", "dev_accuracy", "mean_accuracy"];

/// Maximum number of configurations in the table.
const MAX_ROWS: usize = 100;

/// The fields of a line of the log.
type Fields = Map<String, Value>;

/// A search, as far as it was recorded.
#[derive(Clone, Debug, Default)]
pub struct Search {
    name: String,
    /// The result of each configuration in the last rung that it reached.
    trials: Vec<Fields>,
    end: Option<Fields>,
}

impl Search {
    /// Creates a search from the lines of its log.
    pub fn new(name: &str, lines: impl Iterator<Item = Fields>) -> Self {
        let mut search = Self {
            name: name.to_owned(),
            ..Self::default()
        };
        let trials = &mut search.trials;
        for line in lines {
            match line.get("event").and_then(Value::as_str) {
                Some("configuration") => {
                    let number = line.get("number");
                    match trials
                        .iter_mut()
                        .find(|trial| trial.get("number") == number)
                    {
                        Some(trial) => *trial = line,
                        None => trials.push(line),
                    }
                }
                Some("end") => search.end = Some(line),
                _ => {}
            }
        }
        let rank = |trial: &Fields| score_of(trial).unwrap_or(-1.0);
        trials.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
        search
    }

    /// Adds the search to its section.
    pub fn show(&self, section: &mut Section) {
        let trials = &self.trials;
        let varied = AXES.into_iter().filter(|(axis, _)| {
            trials
                .iter()
                .any(|trial| trial.get(*axis) != trials[0].get(*axis))
        });
        let varied: Vec<(&str, Scale)> = varied.collect();
        let state = match &self.end {
            None => "; the search was killed or is still running",
            Some(end) if end.get("interrupted") == Some(&Value::Bool(true)) => "; interrupted",
            Some(_) => "",
        };
        section.heading(&self.name);
        section.text(count_of(trials.len() as u64, "configuration") + state + ".");
        section.table(self.results(&varied));
        if trials.len() > MAX_ROWS {
            section.note(format!("The best {MAX_ROWS} of {}.", trials.len()));
        }
        section.figures(
            varied
                .into_iter()
                .map(|(axis, scale)| self.plot(axis, scale)),
        );
    }

    fn results(&self, varied: &[(&str, Scale)]) -> Table {
        let has_folds = self
            .trials
            .iter()
            .any(|trial| trial.contains_key("standard_error"));
        let mut head = vec!["number"];
        head.extend(varied.iter().map(|(axis, _)| *axis));
        head.push("score");
        head.extend(has_folds.then_some("standard_error"));
        head.extend(["best_iteration", "iterations", "rung"]);
        let names: Vec<String> = head.iter().map(|name| name.replace('_', " ")).collect();
        let mut table = Table::new("Configurations, best first", &names);
        let best = self.end.as_ref().and_then(|end| end.get("best"));
        for trial in self.trials.iter().take(MAX_ROWS) {
            let row = table.row(head.iter().map(|&name| match name {
                "score" => score(score_of(trial)),
                "standard_error" => score(trial.get(name).and_then(Value::as_f64)),
                name => or_empty(trial.get(name), plain),
            }));
            row.is_best = best.is_some() && trial.get("number") == best;
        }
        table
    }

    /// Plots scores by the values of a setting.
    fn plot(&self, name: &str, scale: Scale) -> Option<Figure> {
        let value = |trial: &Fields| trial.get(name).cloned().unwrap_or_default();
        let scored = self
            .trials
            .iter()
            .filter_map(|trial| Some((value(trial), score_of(trial)?)));
        let scored: Vec<(Value, f64)> = scored.collect();
        let mut axis = Axis::new(name, scale);
        if scored.iter().any(|(value, _)| value.is_string()) {
            let mut names: Vec<String> = scored.iter().map(|(value, _)| plain(value)).collect();
            names.sort();
            names.dedup();
            axis = axis.names(names);
        }
        let x = |value: &Value| match axis.names.is_empty() {
            true => value.as_f64(),
            false => {
                let place = axis.names.iter().position(|name| *name == plain(value));
                place.map(|place| place as f64)
            }
        };
        let points = scored
            .iter()
            .filter_map(|(value, score)| Some((x(value)?, 100.0 * score)));
        let points: Vec<_> = points.collect();
        let plot = Plot {
            series: vec![Series {
                mark: Mark::Points,
                best: points.first().copied(),
                points,
                ..Series::default()
            }],
            x: axis,
            y: Axis::new("score, in percent", Scale::Linear),
            diagonal: false,
        };
        Figure::draw(format!("Score by {name}"), IN_TABLE, &plot)
    }
}

fn score_of(trial: &Fields) -> Option<f64> {
    SCORES.iter().find_map(|name| trial.get(*name)?.as_f64())
}
