//! The curves of runs by iteration and time, and by the amount of training data.

use std::collections::BTreeMap;

use dropchain::train::{DevScore, Iteration};

use super::run::NamedRun;
use super::settings::Settings;
use crate::plot::{Axis, Mark, Plot, Point, Scale, Series};
use crate::views::{Figure, TOLD, count, letter, or_empty, series};

/// Fraction of the scores of a run, the lowest ones, that may lie below the plot: of several runs,
/// which are compared, and of one.
const LOW_SCORES: [f64; 2] = [0.25, 0.05];

/// The x axes of plots.
const ITERATION: IterationValue = |i| i.number as f64;
const SECONDS: IterationValue = |i| i.time.as_secs_f64();

/// The y axes of plots.
const SCORE: IterationValue = |i| 100.0 * i.dev.map_or(f64::NAN, DevScore::value);
const MEAN: IterationValue = |i| 100.0 * i.dev_mean.unwrap_or(f64::NAN);
const OBJECTIVE: IterationValue = |i| i.objective;

/// The objective and its parts. An absent part has no logarithm.
const PARTS: [(&str, IterationValue); 4] = [
    ("objective", OBJECTIVE),
    ("−log-likelihood", |i| -i.terms.log_likelihood),
    ("noise", |i| i.terms.noise),
    ("penalty", |i| i.terms.l2 + i.terms.l1),
];

/// A value of an iteration; NaN without one.
type IterationValue = fn(&Iteration) -> f64;

/// Plots what is not in the summary: of several runs the score by time and the objective, and the
/// parts of the objective of the best.
pub fn curves(runs: &[NamedRun]) -> Vec<Option<Figure>> {
    let mut figures = Vec::new();
    if runs.len() > 1 {
        figures.push(scores(runs, "second", ("seconds", SECONDS)));
        let x = Axis::new("iteration", Scale::Linear);
        let plot = Plot::new(x, Axis::new("", Scale::Log), courses(runs, ITERATION, OBJECTIVE));
        figures.push(Figure::draw("Objective, by iteration", &course_of(runs, OBJECTIVE), &plot));
    }
    figures.extend(runs.first().map(parts_of));
    figures
}

/// Plots the scores of runs on development data by iteration.
pub fn score_curve(runs: &[NamedRun]) -> Option<Figure> {
    scores(runs, "iteration", ("iteration", ITERATION))
}

fn scores(runs: &[NamedRun], by: &str, (label, x): (&str, IterationValue)) -> Option<Figure> {
    let metric = runs.iter().find_map(NamedRun::kept)?.1.metric();
    let mut curves = courses(runs, x, SCORE);
    for (curve, run) in curves.iter_mut().zip(runs).take(TOLD) {
        let kept = run.kept().map(|(number, _)| number);
        let kept = run.run.iterations.iter().find(|i| Some(i.number) == kept);
        curve.best = kept.map(|i| (x(i), SCORE(i)));
    }
    let y = Axis::new(&format!("{metric}, in percent"), Scale::Linear);
    let y = Axis { range: score_range(&curves), ..y };
    let mut note = "★ marks the iteration that was kept.".to_owned();
    let mut shaded = Vec::new();
    if let [run] = runs {
        curves[0].name = metric.to_owned();
        curves.push(Series::new(1, Mark::Line, points(run, x, MEAN)).name("mean of 5"));
        shaded.extend(warm_up(run, x));
        if !shaded.is_empty() {
            note += " Iterations without noise, before those with it, are shaded.";
        }
    }
    let plot = Plot { shaded, ..Plot::new(Axis::new(label, Scale::Linear), y, curves) };
    let title = format!("Score on development data, by {by}");
    let figure = Figure::draw(title, &course_of(runs, SCORE), &plot)?;
    Some(if by == "iteration" { figure.with_legend(&plot).note(note) } else { figure })
}

fn points(run: &NamedRun, x: IterationValue, y: IterationValue) -> Vec<Point> {
    let points = run.run.iterations.iter().map(|i| Point::from((x(i), y(i))));
    points.filter(|point| point.y.is_finite()).collect()
}

/// Returns the range of the warm-up along x, if the run has one and then noise.
fn warm_up(run: &NamedRun, x: IterationValue) -> Option<(f64, f64)> {
    let noise = run.noise()?;
    let mut iterations = run.run.iterations.iter();
    let (first, last) = (iterations.clone().next()?, noise.warm_up);
    let last = iterations.find(|iteration| iteration.number == last)?;
    Some((x(first), x(last))).filter(|_| noise.warm_up > 0)
}

/// Returns the curves of a measure of all runs.
fn courses(runs: &[NamedRun], x: IterationValue, y: IterationValue) -> Vec<Series> {
    let curves = runs.iter().enumerate().map(|(i, run)| {
        let mut curve = series(i, &run.name, points(run, x, y));
        curve.mark = Mark::Line;
        if runs.len() > 1 && !curve.is_rest {
            curve.name = format!("{} {}", letter(i), run.name);
            curve.letter = letter(i);
        }
        curve
    });
    curves.collect()
}

/// Describes the curves of a measure.
fn course_of(runs: &[NamedRun], y: IterationValue) -> String {
    let ends = runs.iter().take(TOLD).filter_map(|run| {
        let points = points(run, ITERATION, y);
        let (first, last) = (points.first()?.y, points.last()?.y);
        Some(format!("{}: from {first:.4} to {last:.4}", run.name))
    });
    let mut ends: Vec<String> = ends.collect();
    if runs.len() > TOLD {
        ends.push(format!("{} other runs in gray", runs.len() - TOLD));
    }
    ends.join("; ")
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

/// Plots the objective of a run and its parts.
fn parts_of(run: &NamedRun) -> Option<Figure> {
    let parts = PARTS.iter().enumerate().map(|(color, &(name, value))| {
        let mut points = points(run, ITERATION, value);
        points.retain(|point| point.y > 0.0);
        Series::new(color, Mark::Line, points).name(name)
    });
    let (x, y) = (Axis::new("iteration", Scale::Linear), Axis::new("", Scale::Log));
    let mut plot = Plot::new(x, y, parts.filter(|part| !part.points.is_empty()).collect());
    plot.shaded = warm_up(run, ITERATION).into_iter().collect();
    let last = run.run.iterations.last()?;
    let present = PARTS.iter().filter(|(_, value)| value(last) > 0.0);
    let values: Vec<String> =
        present.map(|(name, value)| format!("{name} {:.4}", value(last))).collect();
    let title = format!("Loss components of {}", run.name);
    Figure::draw(title, &format!("At the end: {}", values.join(", ")), &plot)
}

/// The numbers of training sentences and the scores of runs, by the share of the data, or by the
/// number of sentences.
type ScoresByShare = BTreeMap<String, Vec<(f64, f64)>>;

/// The scores of runs by the number of training sentences. Runs with the same other options are a
/// curve; of several on the same share of the data, it goes through the mean, within the lowest and
/// the highest.
pub struct LearningCurve {
    curves: Vec<Series>,
    /// The standard error of the best score, in points.
    error: f64,
}

impl LearningCurve {
    /// Collects the scores; `None` if the number of sentences is the same for all.
    pub fn new(runs: &[NamedRun], settings: &Settings) -> Option<Self> {
        let mut curves: Vec<(String, ScoresByShare)> = Vec::new();
        for (i, run) in runs.iter().enumerate() {
            let Some((_, score)) = run.kept().filter(|_| run.run.pass.is_none()) else { continue };
            let name = settings.choice(i, &["fraction", "seed"]);
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
        let curves = curves.into_iter().enumerate().map(|(i, (name, scores))| {
            let mut points: Vec<Point> = scores.values().map(|runs| mean_of(runs)).collect();
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            Series::new(i, Mark::LineAndPoints, points).name(name)
        });
        let curves: Vec<Series> = curves.collect();
        let error = runs.first().and_then(NamedRun::standard_error).unwrap_or(0.0);
        (!curves.is_empty()).then_some(Self { curves, error: 100.0 * error })
    }

    /// Draws the curves.
    pub fn figure(&self) -> Option<Figure> {
        let x = Axis::new("training sentences", Scale::Linear);
        let y = Axis::new("score, in percent", Scale::Linear);
        let plot = Plot::new(x, y, self.curves.clone());
        let note = "Scores on development data of the kept iterations. Several runs on as many \
                    sentences: their mean, lowest and highest.";
        let verdict = or_empty(self.verdict(), |text| text + " ");
        Some(Figure::draw("Learning curve", &verdict, &plot)?.note(verdict + note))
    }

    /// Says what the last doubling of the data of the first curve has gained, and whether more data
    /// would help.
    pub fn verdict(&self) -> Option<String> {
        let [.., from, to] = &self.curves[0].points[..] else { return None };
        let doublings = (to.x / from.x.max(1.0)).log2();
        let gain = (to.y - from.y) / doublings;
        let more_data = match gain {
            gain if gain > self.error => "more data would help".to_owned(),
            _ if self.error == 0.0 => "more data may not help".to_owned(),
            _ => format!("within ±{:.2}, too little to say that more would help", self.error),
        };
        let of_several = self.curves.first().filter(|_| self.curves.len() > 1);
        let name = or_empty(of_several, |first| format!(" ({})", first.name));
        let [less, more] = [from, to].map(|point| count(point.x as u64));
        let gain = format!("each doubling gave {gain:+.1} points: {more_data}.");
        let verdict = format!("From {less} to {more} training sentences{name}, {gain}");
        (doublings > 0.1).then_some(verdict)
    }
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
