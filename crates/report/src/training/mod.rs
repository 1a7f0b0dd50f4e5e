//! The section on training: the course of runs, and how their settings differ.

use dropchain::train::{DevScore, Iteration};
use serde_json::{Map, Value, json};

use crate::NamedRun;
use crate::plot::{Axis, Mark, Plot, Scale, Series};
use crate::views::{
    Figure, Section, Table, count, curve, heads, letter, or_empty, percent, with_letters,
};

/// Maximum number of runs whose objective is shown in parts.
const PARTS: usize = 8;

/// Fraction of the scores of a run, the lowest ones, that may lie below the plot.
const LOW_SCORES: f64 = 0.25;

const DEV_SCORE: &str = "Score on development data (%)";

/// What plots show along y.
const MEASURES: [(&str, Scale, IterationValue); 3] = [
    ("Objective", Scale::Log, |i| i.objective),
    (DEV_SCORE, Scale::Linear, |i| {
        100.0 * i.dev.map_or(f64::NAN, DevScore::value)
    }),
    ("Norm of the gradient", Scale::Log, |i| i.gradient_norm),
];

/// What plots show along x.
const BY: [(&str, &str, IterationValue); 2] = [
    ("iteration", "iteration", |i| i.number as f64),
    ("second", "seconds", |i| i.time.as_secs_f64()),
];

/// The parts of the objective. An absent part has no logarithm.
const OBJECTIVE: [(&str, IterationValue); 3] = [
    ("−log-likelihood", |i| -i.log_likelihood),
    ("noise", |i| i.noise),
    ("penalty", |i| i.l2 + i.l1),
];

/// A value of an iteration; NaN without one.
type IterationValue = fn(&Iteration) -> f64;

pub fn training(runs: &[NamedRun]) -> Section {
    let mut section = Section::new("training", "Training");
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    section.legend(&names);
    for run in runs.iter().filter(|run| run.run.end.is_none()) {
        section.note(format!(
            "{} has no end: the run was killed, or is still going on.",
            run.name
        ));
    }
    section.table(table_of(runs));
    let another = Some("another run").filter(|_| runs.len() > 1);
    for run in runs {
        let end = run.run.end.as_ref();
        if let Some(warning) = end.and_then(|end| end.record().warning_of_noise()) {
            section.warning_of_noise(&run.name, &warning, another);
        }
    }
    let (different, same) = compare_settings(runs);
    section.table(different);
    section.details(&same.caption.clone(), vec![same]);
    section.heading("Training curves");
    section.text(
        "Dots mark the best iterations. The y-axis of scores is cropped: lower ones are drawn at \
         its edge.",
    );
    if runs.iter().any(|run| warm_up(run, BY[0].2).is_some()) {
        section.text("Iterations without noise, before those with it, are shaded.");
    }
    let pairs = MEASURES
        .iter()
        .flat_map(|m| BY.iter().map(move |by| (m, by)));
    section.figures(pairs.map(|(&measure, &by)| course(runs, measure, by)));
    let parts: Vec<_> = runs.iter().take(PARTS).enumerate().map(parts_of).collect();
    if parts.iter().any(Option::is_some) {
        section.heading("Loss components");
        section.text("The objective is their sum. A part that is zero is not drawn.");
        section.figures(parts);
        if runs.len() > PARTS {
            section.note(format!("Not shown for {} more.", runs.len() - PARTS));
        }
    }
    section
}

fn points(run: &NamedRun, x: IterationValue, y: IterationValue) -> Vec<(f64, f64)> {
    let points = run.run.iterations.iter().map(|i| (x(i), y(i)));
    points.filter(|point| point.1.is_finite()).collect()
}

/// Returns the range of the warm-up along x, if the run has one and then noise.
fn warm_up(run: &NamedRun, x: IterationValue) -> Option<(f64, f64)> {
    let noise = run.run.end.as_ref()?.noise.as_ref()?;
    let mut iterations = run.run.iterations.iter();
    let (first, last) = (iterations.clone().next()?, noise.warm_up);
    let last = iterations.find(|iteration| iteration.number == last)?;
    Some((x(first), x(last))).filter(|_| noise.warm_up > 0)
}

/// Returns the ranges of the warm-ups of runs along x, each of them once.
fn warm_ups<'a>(
    runs: impl IntoIterator<Item = &'a NamedRun>,
    x: IterationValue,
) -> Vec<(f64, f64)> {
    let mut ranges: Vec<(f64, f64)> = Vec::new();
    for range in runs.into_iter().filter_map(|run| warm_up(run, x)) {
        if !ranges.contains(&range) {
            ranges.push(range);
        }
    }
    ranges
}

/// Plots a measure of all runs.
fn course(
    runs: &[NamedRun],
    (name, scale, y): (&str, Scale, IterationValue),
    (by, label, x_of): (&str, &str, IterationValue),
) -> Option<Figure> {
    let is_score = name == DEV_SCORE;
    let (mut series, mut description) = (Vec::new(), Vec::new());
    for (i, run) in runs.iter().enumerate() {
        let points = points(run, x_of, y);
        if let (Some((_, first)), Some((_, last))) = (points.first(), points.last()) {
            description.push(format!("{}: from {first:.4} to {last:.4}", run.name));
        }
        let best = best(points.iter().copied()).filter(|_| is_score);
        let mut curve = curve(i, runs.len(), points).best(best);
        curve.mark = Mark::Line;
        series.push(curve);
    }
    let mut y = Axis::new("", scale);
    y.range = score_range(&series).filter(|_| is_score);
    let mut plot = Plot::new(Axis::new(label, Scale::Linear), y, series);
    plot.shaded = warm_ups(runs, x_of);
    Figure::draw(format!("{name}, by {by}"), &description.join("; "), &plot)
}

/// Returns the first point with the highest value.
fn best<X>(points: impl Iterator<Item = (X, f64)>) -> Option<(X, f64)> {
    points.reduce(|a, b| if b.1 > a.1 { b } else { a })
}

/// Returns a range without the low scores of the first iterations, in which the others would look
/// the same.
fn score_range(series: &[Series]) -> Option<(f64, f64)> {
    let low = series.iter().filter_map(|series| {
        let mut scores: Vec<f64> = series.points.iter().map(|point| point.y).collect();
        scores.sort_by(f64::total_cmp);
        let low = (LOW_SCORES * scores.len() as f64) as usize;
        scores.get(low).copied()
    });
    let low = low.fold(f64::INFINITY, f64::min);
    let (_, high) = best(
        series
            .iter()
            .flat_map(|series| series.points.iter().map(|point| (point.x, point.y))),
    )?;
    let pad = (0.15 * (high - low)).max(0.5);
    let is_score = (0.0..=100.0).contains(&low) && (0.0..=100.0).contains(&high);
    is_score.then(|| ((low - pad).max(0.0), (high + pad).min(100.0)))
}

/// Plots the parts of the objective of a run.
fn parts_of((i, run): (usize, &NamedRun)) -> Option<Figure> {
    let parts = OBJECTIVE.iter().enumerate().map(|(color, &(name, value))| {
        let mut points = points(run, BY[0].2, value);
        points.retain(|point| point.1 > 0.0);
        Series::new(color, Mark::Line, points).letter(name)
    });
    let (x, y) = (
        Axis::new("iteration", Scale::Linear),
        Axis::new("", Scale::Log),
    );
    let mut plot = Plot::new(x, y, parts.collect());
    plot.shaded = warm_ups([run], BY[0].2);
    let last = run.run.iterations.last()?;
    let values = OBJECTIVE.map(|(name, value)| format!("{name} {:.4}", value(last)));
    let title = format!("Loss components of {}, {}", letter(i), run.name);
    Figure::draw(title, &format!("At the end: {}", values.join(", ")), &plot)
}

/// Lists the runs with their results.
fn table_of(runs: &[NamedRun]) -> Table {
    let head = heads(
        "run, trained with, best score, at iteration, with noise, iterations, seconds, stop reason",
    );
    let mut table = Table::named("Runs", head);
    let scores = runs.iter().map(|run| {
        let scored = run.run.iterations.iter().filter_map(|i| Some((i, i.dev?)));
        best(scored.map(|(i, score)| ((i.number, score), score.value())))
    });
    let scores: Vec<_> = scores.collect();
    let highest = best(scores.iter().flatten().copied()).map(|(_, score)| score);
    for (run, score) in runs.iter().zip(scores) {
        let (end, last) = (run.run.end.as_ref(), run.run.iterations.last());
        let best_at = end
            .map(|end| end.best_iteration)
            .or(score.map(|((i, _), _)| i));
        let shown = or_empty(score, |((_, score), _)| score.to_string());
        let reason = end.map_or("not ended", |end| end.reason.name());
        let row = table.row([
            run.name.clone(),
            or_empty(end, |end| end.regularization.clone()),
            shown.replace("accuracy", "acc."),
            or_empty(best_at, |i| i.to_string()),
            or_empty(end.and_then(|end| end.noise.as_ref()), |noise| {
                noise.iterations.to_string()
            }),
            count(last.map_or(0, |last| last.number) as u64),
            or_empty(last, |last| format!("{:.1}", last.time.as_secs_f64())),
            reason.replace('_', " "),
        ]);
        row.is_best = runs.len() > 1 && score.is_some() && score.map(|(_, score)| score) == highest;
    }
    table
}

/// Returns tables of the settings that differ between runs and of those that are the same.
fn compare_settings(runs: &[NamedRun]) -> (Table, Table) {
    let all: Vec<Map<String, Value>> = runs.iter().map(settings_of).collect();
    let mut different = Table::new("Settings that differ", with_letters("setting", runs.len()));
    let caption = if runs.len() == 1 {
        "Settings"
    } else {
        "Settings that are the same"
    };
    let mut same = Table::new(caption, heads("setting, value"));
    let mut names = Vec::new();
    for name in all.iter().flat_map(Map::keys) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    for name in names {
        let mut values: Vec<Option<&Value>> = all.iter().map(|one| one.get(name)).collect();
        let is_same = values.iter().all(|value| *value == values[0]);
        if is_same {
            values.truncate(1);
        }
        let table = if is_same { &mut same } else { &mut different };
        let values = values.into_iter().map(|value| or_empty(value, plain));
        table.row([name.clone()].into_iter().chain(values));
    }
    (different, same)
}

/// Returns the settings of a run: its parameters, and what it was trained on.
fn settings_of(run: &NamedRun) -> Map<String, Value> {
    let mut settings = Map::new();
    let (header, start) = (json!(run.run.header), json!(run.run.start));
    flatten("", &start["parameters"], &mut settings);
    let fields = header
        .as_object()
        .into_iter()
        .chain(start.as_object())
        .flatten();
    for (name, value) in fields {
        if !["parameters", "estimated_memory"].contains(&name.as_str()) {
            flatten(name, value, &mut settings);
        }
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

/// Formats a value without quotes; nothing for null.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        // Rounded, unless nothing would be left of it.
        Value::Number(number) => match number.as_f64().filter(|x| x.fract().abs() >= 1e-6) {
            Some(value) => format!("{value:.6}").trim_end_matches('0').to_owned(),
            None => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// Formats a score, if there is one.
pub fn score(value: Option<f64>) -> String {
    or_empty(value, percent)
}
