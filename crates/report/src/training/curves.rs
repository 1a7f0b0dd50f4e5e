//! The curves of runs by iteration and time, and by the amount of training data.

use std::collections::BTreeMap;

use dropchain::train::{DevScore, Iteration};

use super::run::NamedRun;
use super::settings::Settings;
use crate::plot::{Axis, Mark, Plot, Point, Scale, Series};
use crate::views::{Figure, IN_TABLE, TOLD, letter, told};

/// Fraction of the scores of a run, the lowest ones, that may lie below the plot: of several runs,
/// which are compared, and of one.
const LOW_SCORES: [f64; 2] = [0.25, 0.05];

const DEV_SCORE: &str = "Score on development data (%)";

/// The y axis of a plot.
const MEASURES: [(&str, Scale, IterationValue); 2] = [
    (DEV_SCORE, Scale::Linear, |i| 100.0 * i.dev.map_or(f64::NAN, DevScore::value)),
    ("Objective", Scale::Log, |i| i.objective),
];

/// The x axis of a plot.
const BY: [(&str, &str, IterationValue); 2] = [
    ("iteration", "iteration", |i| i.number as f64),
    ("second", "seconds", |i| i.time.as_secs_f64()),
];

/// The parts of the objective. An absent part has no logarithm.
const OBJECTIVE: [(&str, IterationValue); 3] = [
    ("−log-likelihood", |i| -i.terms.log_likelihood),
    ("noise", |i| i.terms.noise),
    ("penalty", |i| i.terms.l2 + i.terms.l1),
];

/// A value of an iteration; NaN without one.
type IterationValue = fn(&Iteration) -> f64;

/// Plots all measures of runs, by iteration and by time.
pub fn curves(runs: &[NamedRun]) -> impl Iterator<Item = Option<Figure>> {
    let pairs = MEASURES.iter().flat_map(|m| BY.iter().map(move |by| (m, by)));
    pairs.map(|(&measure, &by)| course(runs, measure, by))
}

/// Returns whether a run has iterations without noise before those with it.
pub fn has_warm_up(run: &NamedRun) -> bool {
    warm_up(run, BY[0].2).is_some()
}

fn points(run: &NamedRun, x: IterationValue, y: IterationValue) -> Vec<(f64, f64)> {
    let points = run.run.iterations.iter().map(|i| (x(i), y(i)));
    points.filter(|point| point.1.is_finite()).collect()
}

/// Returns the range of the warm-up along x, if the run has one and then noise.
fn warm_up(run: &NamedRun, x: IterationValue) -> Option<(f64, f64)> {
    let noise = run.noise()?;
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
    let told = told(runs.len());
    let (mut series, mut description) = (Vec::new(), Vec::new());
    for (i, run) in runs.iter().enumerate() {
        let points = points(run, x_of, y);
        if let (Some((_, first)), Some((_, last)), true) = (points.first(), points.last(), i < told)
        {
            description.push(format!("{}: from {first:.4} to {last:.4}", run.name));
        }
        let kept = run.kept().filter(|_| is_score).map(|(number, _)| number);
        let kept = run.run.iterations.iter().find(|i| Some(i.number) == kept);
        let mut curve = curve((i, runs.len()), letter, &run.name, points);
        curve.best = kept.map(|i| (x_of(i), y(i))).filter(|_| !curve.is_rest);
        curve.mark = Mark::Line;
        series.push(curve);
    }
    if told < runs.len() {
        description.push(format!("{} other runs in gray", runs.len() - told));
    }
    let mut y = Axis::new("", scale);
    y.range = score_range(&series).filter(|_| is_score);
    let mut plot = Plot::new(Axis::new(label, Scale::Linear), y, series);
    if told == runs.len() {
        plot.shaded = warm_ups(runs, x_of);
    }
    Figure::draw(format!("{name}, by {by}"), &description.join("; "), &plot)
}

/// Returns the curve of one of `count` things, by its number, with its short name if there are
/// several.
pub fn curve(
    (number, count): (usize, usize),
    short: fn(usize) -> String,
    name: &str,
    points: Vec<(f64, f64)>,
) -> Series {
    let series = Series::new(number, Mark::LineAndPoints, points);
    let mut series = match count {
        1 => series.name(name),
        _ => series.name(format!("{} {name}", short(number))),
    };
    series.is_rest = number >= told(count);
    if count > 1 && !series.is_rest {
        series.letter = short(number);
    }
    series
}

/// Returns a range without the low scores of the first iterations of what is told apart, in which
/// the others would look the same.
fn score_range(series: &[Series]) -> Option<(f64, f64)> {
    let share = LOW_SCORES[usize::from(series.len() == 1)];
    let told = series.iter().filter(|series| !series.is_rest);
    let low = told.filter_map(|series| {
        let mut scores: Vec<f64> = series.points.iter().map(|point| point.y).collect();
        scores.sort_by(f64::total_cmp);
        let low = (share * scores.len() as f64) as usize;
        scores.get(low).copied()
    });
    let low = low.fold(f64::INFINITY, f64::min);
    let all = series.iter().flat_map(|series| &series.points);
    let high = all.map(|point| point.y).reduce(f64::max)?;
    let pad = (0.15 * (high - low)).max(0.5);
    let is_score = (0.0..=100.0).contains(&low) && (0.0..=100.0).contains(&high);
    is_score.then(|| ((low - pad).max(0.0), (high + pad).min(100.0)))
}

/// Plots the parts of the objective of a run.
pub fn parts_of((i, run): (usize, &NamedRun)) -> Option<Figure> {
    let parts = OBJECTIVE.iter().enumerate().map(|(color, &(name, value))| {
        let mut points = points(run, BY[0].2, value);
        points.retain(|point| point.1 > 0.0);
        Series::new(color, Mark::Line, points).letter(name).name(name)
    });
    let (x, y) = (Axis::new("iteration", Scale::Linear), Axis::new("", Scale::Log));
    let mut plot = Plot::new(x, y, parts.collect());
    plot.shaded = warm_ups([run], BY[0].2);
    let last = run.run.iterations.last()?;
    let values = OBJECTIVE.map(|(name, value)| format!("{name} {:.4}", value(last)));
    let title = format!("Loss components of {}, {}", letter(i), run.name);
    Figure::draw(title, &format!("At the end: {}", values.join(", ")), &plot)
}

/// The numbers of training sentences and the scores of runs, by the share of the data, or by the
/// number of sentences.
type ScoresByShare = BTreeMap<String, Vec<(f64, f64)>>;

/// Plots the scores of runs by the number of training sentences; `None` if that is the same for
/// all. Runs with the same other options are a curve; of several on the same share of the data, it
/// goes through the mean, within the lowest and the highest.
pub fn learning_curve(runs: &[NamedRun], settings: &Settings) -> Option<Figure> {
    let mut curves: Vec<(String, ScoresByShare)> = Vec::new();
    for (i, run) in runs.iter().enumerate() {
        let Some((_, score)) = run.kept().filter(|_| run.run.pass.is_none()) else {
            continue;
        };
        let name = settings.choice_besides(i, &["fraction", "seed"]);
        let at = curves.iter().position(|(other, _)| *other == name);
        let at = at.unwrap_or_else(|| {
            curves.push((name, ScoresByShare::new()));
            curves.len() - 1
        });
        let sentences = run.run.start.data.sentences;
        let fraction = Some(settings.value(i, "fraction")).filter(|value| !value.is_empty());
        let share = fraction.unwrap_or_else(|| sentences.to_string());
        let point = (sentences as f64, 100.0 * score.value());
        curves[at].1.entry(share).or_default().push(point);
    }
    curves.retain(|(_, scores)| scores.len() > 1);
    curves.truncate(TOLD);
    let count = curves.len();
    let series = curves.into_iter().enumerate().map(|(i, (name, scores))| {
        let mut points: Vec<Point> = scores.values().map(|runs| mean_of(runs)).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let label = if count > 1 { name.clone() } else { String::new() };
        Series::new(i, Mark::LineAndPoints, points).name(name).letter(label)
    });
    let x = Axis::new("training sentences", Scale::Linear);
    let y = Axis::new("score, in percent", Scale::Linear);
    let plot = Plot::new(x, y, series.collect());
    Figure::draw("Learning curve", IN_TABLE, &plot)
}

/// Returns the mean of points, with the lowest and the highest of several.
fn mean_of(points: &[(f64, f64)]) -> Point {
    let mean = |value: fn(&(f64, f64)) -> f64| {
        points.iter().map(value).sum::<f64>() / points.len().max(1) as f64
    };
    let y = mean(|point| point.1);
    let end = |pick: fn(f64, f64) -> f64| points.iter().map(|p| p.1).fold(y, pick);
    Point { range: Some((end(f64::min), end(f64::max))), ..Point::from((mean(|point| point.0), y)) }
}
