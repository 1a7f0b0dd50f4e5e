//! The section on searches of hyperparameters.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::heat_map::{Scored, heat_map};
use crate::plot::{Axis, Mark, Plot, Scale, Series};
use crate::training::{command, plain, score};
use crate::views::{Figure, IN_TABLE, Section, Table, count_of, or_empty, percent};

/// The settings that a search may vary, and those that spread over orders of magnitude.
const AXES: &str = "template dropout edge_dropout l2 l1 unlabeled_weight warm_up gradient";
const LOG_AXES: [&str; 2] = ["l2", "l1"];

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
    /// The first line.
    start: Fields,
    /// The result of each configuration.
    trials: Vec<Fields>,
    end: Option<Fields>,
}

impl Search {
    /// Creates a search from the lines of its log.
    pub fn new(name: &str, lines: impl Iterator<Item = Fields>) -> Self {
        let mut search = Self { name: name.to_owned(), ..Self::default() };
        let trials = &mut search.trials;
        for line in lines {
            match line.get("event").and_then(Value::as_str) {
                Some("configuration") => trials.push(line),
                Some("end") => search.end = Some(line),
                Some("start") => search.start = line,
                _ => {}
            }
        }
        let rank = |trial: &Fields| score_of(trial).unwrap_or(-1.0);
        trials.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
        search
    }

    /// Returns the files it was trained on, and the command.
    pub fn inputs(&self) -> (Vec<String>, Option<String>) {
        let files = self.start.get("files").and_then(Value::as_array);
        let files = files.into_iter().flatten().map(plain);
        let command = self.start.get("config").and_then(command);
        (files.collect(), command)
    }

    /// Says which configuration is the best, and how far the second is.
    pub fn verdict(&self) -> Option<String> {
        let number = self.end.as_ref().and_then(|end| end.get("best"));
        let is_best = |trial: &&Fields| number.is_some() && trial.get("number") == number;
        let best = self.trials.iter().find(is_best).or(self.trials.first())?;
        let highest = score_of(best)?;
        let settings = self.varied().into_iter();
        let settings = settings.map(|name| {
            let value = or_empty(best.get(name), plain);
            format!("{} {value}", name.replace('_', "-"))
        });
        let error = best.get("standard_error").and_then(Value::as_f64);
        let error = error.map(|error| format!(" ± {} (standard error)", percent(error)));
        let mut verdict = format!(
            "{}: the best of {} is {}, with {}{}",
            self.name,
            count_of(self.trials.len() as u64, "configuration"),
            settings.collect::<Vec<_>>().join(", "),
            percent(highest),
            error.unwrap_or_default()
        );
        let others = self.trials.iter().filter(|trial| trial.get("number") != best.get("number"));
        if let Some(second) = others.filter_map(score_of).reduce(f64::max) {
            let gap = 100.0 * (highest - second);
            verdict += &format!("; the second is {gap:.2} points below");
        }
        Some(verdict + ".")
    }

    /// Returns the settings that differ between configurations.
    fn varied(&self) -> Vec<&'static str> {
        let trials = &self.trials;
        let is_varied = |axis: &&str| trials.iter().any(|t| t.get(*axis) != trials[0].get(*axis));
        AXES.split(' ').filter(is_varied).collect()
    }

    /// Adds the search to its section.
    pub fn show(&self, section: &mut Section) {
        let trials = &self.trials;
        let varied = self.varied();
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
        let number = |trial: &Fields, name: &str| trial.get(name)?.as_f64();
        let scored = trials.iter().filter_map(|trial| {
            Some(Scored {
                dropout: number(trial, "dropout")?,
                l2: number(trial, "l2")?,
                score: score_of(trial)?,
            })
        });
        let map = heat_map(&scored.collect::<Vec<_>>());
        section.tables(map.into_iter().collect());
        section.figures(varied.iter().map(|axis| self.plot(axis)));
    }

    fn results(&self, varied: &[&str]) -> Table {
        let mut head = vec!["number"];
        head.extend(varied);
        head.push("score");
        if self.trials.iter().any(|t| t.contains_key("standard_error")) {
            head.push("standard_error");
        }
        head.extend(["best_iteration", "iterations"]);
        let names = head.iter().map(|name| name.replace('_', " ")).collect();
        let mut table = Table::new("Configurations, best first", names);
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
    fn plot(&self, name: &str) -> Option<Figure> {
        let value = |trial: &Fields| trial.get(name).cloned().unwrap_or_default();
        let scored = |trial| Some((value(trial), score_of(trial)?));
        let scored: Vec<(Value, f64)> = self.trials.iter().filter_map(scored).collect();
        let is_log = LOG_AXES.contains(&name);
        let option = name.replace('_', "-");
        let mut axis = Axis::new(&option, if is_log { Scale::Log } else { Scale::Linear });
        if scored.iter().any(|(value, _)| value.is_string()) {
            let names: BTreeSet<String> = scored.iter().map(|(value, _)| plain(value)).collect();
            axis = axis.names(names.into_iter().collect());
        }
        let x = |value: &Value| match axis.names.is_empty() {
            true => value.as_f64(),
            false => Some(axis.names.iter().position(|name| *name == plain(value))? as f64),
        };
        let point = |(value, score): &(Value, f64)| Some((x(value)?, 100.0 * score));
        let points: Vec<_> = scored.iter().filter_map(point).collect();
        let best = points.first().copied();
        let series = Series::new(0, Mark::Points, points).best(best);
        let plot = Plot::new(axis, Axis::new("score, in percent", Scale::Linear), vec![series]);
        Figure::draw(format!("Score by {option}"), IN_TABLE, &plot)
    }
}

fn score_of(trial: &Fields) -> Option<f64> {
    SCORES.iter().find_map(|name| trial.get(*name)?.as_f64())
}
