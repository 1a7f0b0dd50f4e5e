//! The section on training: the course of runs, and how their settings differ.

use dropchain::Result;
use dropchain_report::{RecordedIteration, RecordedRun};
use serde::Serialize;
use serde_json::{Map, Value};

use super::plot::{Axis, Mark, Plot, Scale, Series};
use super::views::{Figure, LegendEntry, Table, count, curve, legend, letter, percent};

/// Maximum number of runs whose objective is shown in parts.
const PARTS: usize = 8;

/// Fraction of the scores of a run, the lowest ones, that may lie below the plot.
const LOW_SCORES: f64 = 0.25;

/// Fields of the line `start` that are no settings.
const NOT_SETTINGS: [&str; 3] = ["event", "parameters", "estimated_memory"];

/// The section.
#[derive(Debug, Serialize)]
pub struct Training {
    legend: Vec<LegendEntry>,
    runs: Table,
    settings: Table,
    same_settings: Table,
    /// In pairs: by iteration and by second.
    courses: Vec<Figure>,
    parts: Vec<Figure>,
    parts_left_off: usize,
    unfinished: Vec<String>,
}

/// A run and where it was recorded.
pub struct NamedRun {
    pub name: String,
    pub run: RecordedRun,
}

impl Training {
    pub fn new(runs: &[NamedRun]) -> Result<Self> {
        let (settings, same_settings) = compare_settings(runs);
        let mut courses = Vec::new();
        for measure in &MEASURES {
            for by in [By::Iteration, By::Second] {
                courses.extend(course(runs, measure, by)?);
            }
        }
        let mut parts = Vec::new();
        for (i, run) in runs.iter().enumerate().take(PARTS) {
            parts.extend(parts_of(&letter(i), run)?);
        }
        let unfinished = runs.iter().filter(|run| run.run.end.is_none());
        Ok(Self {
            legend: legend(runs.iter().map(|run| run.name.as_str())),
            runs: table_of(runs),
            settings,
            same_settings,
            courses,
            parts,
            parts_left_off: runs.len().saturating_sub(PARTS),
            unfinished: unfinished.map(|run| run.name.clone()).collect(),
        })
    }
}

/// What a plot shows along x.
#[derive(Clone, Copy)]
enum By {
    Iteration,
    Second,
}

/// What a plot shows along y.
struct Measure {
    name: &'static str,
    scale: Scale,
    value: fn(&RecordedIteration) -> Option<f64>,
}

const MEASURES: [Measure; 3] = [
    Measure {
        name: "Objective",
        scale: Scale::Log,
        value: |iteration| iteration.objective,
    },
    Measure {
        name: DEV_SCORE,
        scale: Scale::Linear,
        value: |iteration| iteration.dev_score().map(|score| 100.0 * score),
    },
    Measure {
        name: "Norm of the gradient",
        scale: Scale::Log,
        value: |iteration| iteration.gradient_norm,
    },
];

const DEV_SCORE: &str = "Score on development data (%)";

fn points(run: &NamedRun, value: impl Fn(&RecordedIteration) -> Option<f64>, by: By) -> Points {
    let iterations = run.run.iterations.iter();
    let x = |iteration: &RecordedIteration| match by {
        By::Iteration => iteration.iteration as f64,
        By::Second => iteration.seconds,
    };
    iterations
        .filter_map(|iteration| Some((x(iteration), value(iteration)?)))
        .collect()
}

type Points = Vec<(f64, f64)>;

/// Plots a measure of all runs.
fn course(runs: &[NamedRun], measure: &Measure, by: By) -> Result<Option<Figure>> {
    let is_score = measure.name == DEV_SCORE;
    let series: Vec<Series> = runs
        .iter()
        .enumerate()
        .map(|(i, run)| {
            let points = points(run, measure.value, by);
            let best = best(&points).filter(|_| is_score);
            Series {
                mark: mark(&points),
                best,
                ..curve(i, runs.len(), points)
            }
        })
        .collect();
    let x = match by {
        By::Iteration => "iteration",
        By::Second => "seconds",
    };
    let mut y = Axis::new("", measure.scale);
    if is_score {
        y.range = score_range(&series);
    }
    let title = format!("{}, by {}", measure.name, x.trim_end_matches('s'));
    let description = series.iter().zip(runs).filter_map(|(series, run)| {
        let ((_, first), (_, last)) = (series.points.first()?, series.points.last()?);
        Some(format!("{}: from {first:.4} to {last:.4}", run.name))
    });
    let description: Vec<String> = description.collect();
    let plot = Plot {
        x: Axis::new(x, Scale::Linear),
        y,
        series,
        diagonal: false,
    };
    Figure::draw(&title, description.join("; "), &plot)
}

/// A single point is no line.
fn mark(points: &Points) -> Mark {
    match points.len() {
        1 => Mark::Points,
        _ => Mark::Line,
    }
}

/// Returns the first point with the highest value.
fn best(points: &Points) -> Option<(f64, f64)> {
    points
        .iter()
        .copied()
        .reduce(|a, b| if b.1 > a.1 { b } else { a })
}

/// Returns a range without the low scores of the first iterations, in which the others would look
/// the same.
fn score_range(series: &[Series]) -> Option<(f64, f64)> {
    let low = series.iter().filter_map(|series| {
        let mut scores: Vec<f64> = series.points.iter().map(|point| point.1).collect();
        scores.sort_by(f64::total_cmp);
        scores
            .get((LOW_SCORES * scores.len() as f64) as usize)
            .copied()
    });
    let low = low.fold(f64::INFINITY, f64::min);
    let high = series.iter().filter_map(|series| best(&series.points));
    let high = high.map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
    let pad = (0.15 * (high - low)).max(0.5);
    let is_score = (0.0..=100.0).contains(&low) && (0.0..=100.0).contains(&high);
    is_score.then(|| ((low - pad).max(0.0), (high + pad).min(100.0)))
}

/// Plots the parts of the objective of a run.
fn parts_of(letter: &str, run: &NamedRun) -> Result<Option<Figure>> {
    let penalty = |i: &RecordedIteration| Some(i.l2.unwrap_or(0.0) + i.l1.unwrap_or(0.0));
    let parts: [(&str, Points); 3] = [
        (
            "−log-likelihood",
            points(run, |i| i.log_likelihood.map(|v| -v), By::Iteration),
        ),
        ("noise", points(run, |i| i.dropout, By::Iteration)),
        ("penalty", points(run, penalty, By::Iteration)),
    ];
    let series = parts
        .into_iter()
        .enumerate()
        .map(|(color, (name, mut points))| {
            points.retain(|point| point.1 > 0.0); // an absent part has no logarithm
            Series {
                color,
                letter: name.to_owned(),
                mark: mark(&points),
                points,
                best: None,
            }
        });
    let plot = Plot {
        x: Axis::new("iteration", Scale::Linear),
        y: Axis::new("", Scale::Log),
        series: series.collect(),
        diagonal: false,
    };
    let last = run.run.iterations.last();
    let value = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.4}"));
    let description = format!(
        "At the end: −log-likelihood {}, noise term {}, penalty {}",
        value(last.and_then(|i| i.log_likelihood).map(|v| -v)),
        value(last.and_then(|i| i.dropout)),
        value(last.and_then(penalty)),
    );
    Figure::draw(
        &format!("Parts of the objective of {letter}, {}", run.name),
        description,
        &plot,
    )
}

/// Lists the runs with their results.
fn table_of(runs: &[NamedRun]) -> Table {
    let head = [
        "",
        "run",
        "best score",
        "at iteration",
        "iterations",
        "seconds",
        "ended by",
    ];
    let mut table = Table::new("Runs", &head);
    let mut scores = Vec::new();
    for (i, run) in runs.iter().enumerate() {
        let iterations = &run.run.iterations;
        let scored = iterations
            .iter()
            .filter_map(|i| Some((i.iteration, i.dev_score()?)));
        let best = scored.reduce(|a, b| if b.1 > a.1 { b } else { a });
        let end = run.run.end.as_ref();
        let last = iterations.last();
        let field = |name: &str| end.and_then(|end| end.get(name));
        let best_iteration = field("best_iteration").map(plain);
        let kind = match iterations.iter().any(|i| i.dev_f1.is_some()) {
            true => "F1",
            false => "acc.",
        };
        table.row(vec![
            letter(i),
            run.name.clone(),
            best.map_or("–".to_owned(), |(_, score)| {
                format!("{kind} {}", percent(score))
            }),
            best_iteration
                .or(best.map(|(i, _)| i.to_string()))
                .unwrap_or("–".to_owned()),
            last.map_or("0".to_owned(), |last| count(last.iteration)),
            last.map_or("–".to_owned(), |last| format!("{:.1}", last.seconds)),
            field("stop_reason").map_or("not ended".to_owned(), |r| plain(r).replace('_', " ")),
        ]);
        scores.push(best.map(|(_, score)| score));
    }
    let highest = scores
        .iter()
        .flatten()
        .copied()
        .fold(f64::NEG_INFINITY, f64::max);
    for (row, score) in table.rows.iter_mut().zip(scores) {
        row.is_best = runs.len() > 1 && score == Some(highest);
    }
    table
}

/// Returns tables of the settings that differ between runs and of those that are the same.
fn compare_settings(runs: &[NamedRun]) -> (Table, Table) {
    let all: Vec<Map<String, Value>> = runs.iter().map(|run| settings_of(&run.run.start)).collect();
    let mut names: Vec<&String> = Vec::new();
    for name in all.iter().flat_map(Map::keys) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let letters: Vec<String> = (0..runs.len()).map(letter).collect();
    let head = ["setting"]
        .into_iter()
        .chain(letters.iter().map(String::as_str));
    let head: Vec<&str> = head.collect();
    let mut different = Table::new("Settings that differ", &head);
    let mut same = Table::new("Settings that are the same", &["setting", "value"]);
    for name in names {
        let values: Vec<Option<&Value>> = all.iter().map(|settings| settings.get(name)).collect();
        let text = |value: &Option<&Value>| value.map_or("–".to_owned(), plain);
        let mut cells = vec![name.clone()];
        if values.iter().all(|value| *value == values[0]) {
            cells.push(text(&values[0]));
            same.row(cells);
        } else {
            cells.extend(values.iter().map(text));
            different.row(cells);
        }
    }
    if runs.len() == 1 {
        same.caption = "Settings".to_owned();
    }
    (different, same)
}

/// Returns the settings of a run: its parameters, and what it was trained on.
fn settings_of(start: &Map<String, Value>) -> Map<String, Value> {
    let mut settings = Map::new();
    if let Some(parameters) = start.get("parameters") {
        flatten("", parameters, &mut settings);
    }
    for (name, value) in start
        .iter()
        .filter(|(name, _)| !NOT_SETTINGS.contains(&name.as_str()))
    {
        flatten(name, value, &mut settings);
    }
    settings
}

/// Adds the fields of an object with their paths.
fn flatten(path: &str, value: &Value, settings: &mut Map<String, Value>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let separator = if path.is_empty() { "" } else { "." };
                flatten(&format!("{path}{separator}{name}"), value, settings);
            }
        }
        _ => _ = settings.insert(path.to_owned(), value.clone()),
    }
}

/// Formats a value without quotes.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "–".to_owned(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(plain).collect();
            items.join(", ")
        }
        Value::Number(number) => match number.as_f64() {
            Some(value) if number.is_f64() && value.fract() != 0.0 => {
                let text = format!("{value:.6}");
                let text = text.trim_end_matches('0');
                if text == "0." {
                    number.to_string()
                } else {
                    text.to_owned()
                }
            }
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}
