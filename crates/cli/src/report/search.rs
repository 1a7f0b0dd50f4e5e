//! The section on searches of hyperparameters.

use dropchain::Result;
use dropchain_report::RecordedSearch;
use serde::Serialize;
use serde_json::{Map, Value};

use super::plot::{Axis, Mark, Plot, Scale, Series};
use super::training::plain;
use super::views::{Figure, Table, count_of, percent};

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

/// Maximum number of configurations in the table.
const MAX_ROWS: usize = 100;

/// A search.
#[derive(Debug, Serialize)]
pub struct Search {
    name: String,
    summary: String,
    results: Table,
    figures: Vec<Figure>,
}

impl Search {
    pub fn new(name: &str, search: &RecordedSearch) -> Result<Self> {
        let mut trials = last_results(&search.configurations);
        trials.sort_by(|a, b| score(b).total_cmp(&score(a)));
        let varied: Vec<(&str, Scale)> = AXES
            .into_iter()
            .filter(|(axis, _)| {
                trials
                    .iter()
                    .any(|trial| trial.get(*axis) != trials[0].get(*axis))
            })
            .collect();
        let mut figures = Vec::new();
        for (axis, scale) in &varied {
            figures.extend(plot_axis(axis, *scale, &trials)?);
        }
        let state = match &search.end {
            None => "; the search was killed or is still running",
            Some(end) if end.get("interrupted") == Some(&Value::Bool(true)) => "; interrupted",
            Some(_) => "",
        };
        Ok(Self {
            name: name.to_owned(),
            summary: format!("{}{state}", count_of(trials.len() as u64, "configuration")),
            results: results(&trials, &varied, search.end.as_ref()),
            figures,
        })
    }
}

/// Returns the result of each configuration in the last rung that it reached.
fn last_results(lines: &[Map<String, Value>]) -> Vec<&Map<String, Value>> {
    let mut trials: Vec<&Map<String, Value>> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for line in lines {
        let number = line.get("number").map(ToString::to_string);
        let place = *places.entry(number).or_insert(trials.len());
        match trials.get_mut(place) {
            Some(trial) => *trial = line,
            None => trials.push(line),
        }
    }
    trials
}

/// Returns the score of a configuration; −1 without one.
fn score(trial: &Map<String, Value>) -> f64 {
    let names = ["dev_f1", "mean_f1", "dev_accuracy", "mean_accuracy"];
    let score = names.iter().find_map(|name| trial.get(*name)?.as_f64());
    score.unwrap_or(-1.0)
}

fn results(
    trials: &[&Map<String, Value>],
    varied: &[(&str, Scale)],
    end: Option<&Map<String, Value>>,
) -> Table {
    let has_folds = trials
        .iter()
        .any(|trial| trial.contains_key("standard_error"));
    let axes = varied.iter().map(|(axis, _)| *axis);
    let mut head: Vec<&str> = ["number"].into_iter().chain(axes.clone()).collect();
    head.push("score");
    if has_folds {
        head.push("standard error");
    }
    head.extend(["best iteration", "iterations", "rung"]);
    let mut table = Table::new("Configurations, best first", &head);
    let best = end.and_then(|end| end.get("best"));
    for trial in trials.iter().take(MAX_ROWS) {
        let cell = |name: &str| trial.get(name).map_or("–".to_owned(), plain);
        let mut cells = vec![cell("number")];
        cells.extend(axes.clone().map(cell));
        let score = score(trial);
        cells.push(if score < 0.0 {
            "–".to_owned()
        } else {
            percent(score)
        });
        if has_folds {
            let error = trial.get("standard_error").and_then(Value::as_f64);
            cells.push(error.map_or("–".to_owned(), percent));
        }
        cells.extend(["best_iteration", "iterations", "rung"].map(cell));
        table.row(cells);
        if let Some(row) = table.rows.last_mut() {
            row.is_best = best.is_some() && trial.get("number") == best;
        }
    }
    if trials.len() > MAX_ROWS {
        table.note = format!("The best {MAX_ROWS} of {}.", trials.len());
    }
    table
}

/// Plots scores by the values of a setting.
fn plot_axis(name: &str, scale: Scale, trials: &[&Map<String, Value>]) -> Result<Option<Figure>> {
    let mut axis = Axis::new(name, scale);
    let scored = trials.iter().filter(|trial| score(trial) >= 0.0);
    let is_named = scored
        .clone()
        .any(|trial| trial.get(name).is_some_and(Value::is_string));
    if is_named {
        for trial in scored.clone() {
            let value = trial.get(name).map_or("–".to_owned(), plain);
            if !axis.names.contains(&value) {
                axis.names.push(value);
            }
        }
        axis.names.sort();
        axis.range = Some((-0.5, axis.names.len() as f64 - 0.5));
    }
    let x = |trial: &Map<String, Value>| match is_named {
        false => trial.get(name)?.as_f64(),
        true => {
            let value = trial.get(name).map_or("–".to_owned(), plain);
            let place = axis.names.iter().position(|name| *name == value);
            place.map(|place| place as f64)
        }
    };
    let points: Vec<_> = scored
        .filter_map(|trial| Some((x(trial)?, 100.0 * score(trial))))
        .collect();
    let plot = Plot {
        series: vec![Series {
            color: 0,
            letter: String::new(),
            mark: Mark::Points,
            best: points.first().copied(),
            points,
        }],
        x: axis,
        y: Axis::new("score, in percent", Scale::Linear),
        diagonal: false,
    };
    let description = "Each configuration is a point; the table has the same numbers.".to_owned();
    Figure::draw(&format!("Score by {name}"), description, &plot)
}
