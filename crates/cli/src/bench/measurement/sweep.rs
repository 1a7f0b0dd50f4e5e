//! How cost and error of the engines depend on radius, labels, length and attributes.

use std::str::FromStr;

use dropchain::error::{Error, Result};
use dropchain::kernel::noise::Engine;

use super::work::multiply_adds;
use super::{Clock, Evaluations, Problem, Shape, Step, Variant, random_weights};
use crate::bench::results::{Exponent, Spread, Sweep, SweepRow};

/// The radii of windows.
pub const RADII: [usize; 7] = [0, 1, 2, 3, 4, 6, 8];

/// The radius of the window among the engines of the other axes.
const RADIUS: usize = 2;

/// Numbers of labels, of tokens, and shares of attributes.
const LABELS: [usize; 4] = [4, 8, 16, 32];
const LENGTHS: [usize; 5] = [5, 10, 20, 40, 80];
const SHARES: [f64; 4] = [0.125, 0.25, 0.5, 1.0];

/// The number of tokens of a sentence where it does not vary, and the highest number of labels of
/// the corpus that then stays.
const LENGTH: usize = 20;
const MAX_LABELS: usize = 32;

/// Maximum number of multiply-adds of an evaluation of several sentences, and of sentences.
const WORK: f64 = 1.5e8;
const SENTENCES: usize = 200;

/// Standard deviation of the weights at which costs are measured.
const SCALE: f64 = 0.2;

/// The varied quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SweepAxis {
    Window,
    Labels,
    Length,
    Attributes,
}

impl SweepAxis {
    const NAMES: [(Self, &'static str); 4] = [
        (Self::Window, "window"),
        (Self::Labels, "labels"),
        (Self::Length, "length"),
        (Self::Attributes, "attributes"),
    ];

    pub fn name(self) -> &'static str {
        let names = Self::NAMES.iter().find(|(axis, _)| *axis == self);
        names.map_or("", |(_, name)| name)
    }

    /// Parses a list of names.
    pub fn parse_all<S: AsRef<str>>(names: &[S]) -> Result<Vec<Self>> {
        let mut axes = Vec::new();
        for name in names {
            let axis: Self = name.as_ref().parse()?;
            if !axes.contains(&axis) {
                axes.push(axis);
            }
        }
        Ok(axes)
    }

    /// Returns the sizes of sentences, where other sizes than what varies are those of the corpus.
    pub fn shapes(self, labels: usize) -> Vec<Shape> {
        let base = Shape { length: LENGTH, labels: labels.clamp(1, MAX_LABELS), share: 1.0 };
        match self {
            Self::Window => vec![base],
            Self::Labels => LABELS.map(|labels| Shape { labels, ..base }).to_vec(),
            Self::Length => LENGTHS.map(|length| Shape { length, ..base }).to_vec(),
            Self::Attributes => SHARES.map(|share| Shape { share, ..base }).to_vec(),
        }
    }

    fn construction(self) -> String {
        let varied = match self {
            Self::Window => "windows of several radii",
            Self::Labels => "random labels of several numbers",
            Self::Length => "cut at several lengths",
            Self::Attributes => "random parts of the attributes",
        };
        format!(
            "the tokens of the corpus one after another, cut into sentences of {LENGTH} tokens, \
             with random labels and without edge attributes; {varied}; weights random={SCALE}, on \
             which costs do not depend"
        )
    }

    /// Returns the engines in groups, of which each is evaluated on the same sentences; the slow
    /// ones have fewer.
    fn groups(self) -> Vec<Vec<Variant>> {
        let engine = |engine: Engine| Variant::Quadratic(engine);
        if self == Self::Window {
            let windows = RADII.map(|radius| engine(Engine::Window(radius)));
            return vec![
                [Variant::Likelihood, engine(Engine::Exact)].into_iter().chain(windows).collect(),
            ];
        }
        let message = |collapse| engine(Engine::Message { collapse });
        let fast = [Engine::Exact, Engine::Window(RADIUS), Engine::Local].map(engine);
        vec![
            [Variant::Likelihood].into_iter().chain(fast).collect(),
            vec![Variant::Likelihood, message(true), message(false)],
        ]
    }

    /// Returns the exponent of the theory, given that of q.
    fn theory(self, variant: Variant, active: f64) -> f64 {
        let is_message = matches!(variant, Variant::Quadratic(Engine::Message { .. }));
        match (self, is_message) {
            (Self::Window, _) | (Self::Length, false) => 1.0,
            (Self::Labels, true) => 3.0,
            (Self::Labels, false) => 2.0,
            (Self::Length, true) => 1.0 + active,
            (Self::Attributes, true) => active,
            (Self::Attributes, false) => 0.0,
        }
    }
}

impl FromStr for SweepAxis {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let known = Self::NAMES.iter().find(|(_, known)| *known == name);
        known.map(|(axis, _)| *axis).ok_or_else(|| {
            Error::parameter(format!(
                "'{name}'; expected window, labels, length or attributes, or several of them \
                 separated by commas"
            ))
        })
    }
}

/// A point of a sweep: sentences, and the engines that are evaluated on them.
pub struct SweepPoint {
    pub problem: Problem,
    /// The first sentence alone, on which memory is measured.
    pub single: Problem,
    pub variants: Vec<Variant>,
    /// The varied quantity; `None` if the engines say.
    value: Option<f64>,
}

/// Returns the points of a sweep over sentences like those of a problem.
pub fn points(axis: SweepAxis, problem: &Problem) -> Vec<SweepPoint> {
    let mut points = Vec::new();
    for shape in axis.shapes(problem.space.labels()) {
        let value = match axis {
            SweepAxis::Window => None,
            SweepAxis::Labels => Some(shape.labels as f64),
            SweepAxis::Length => Some(shape.length as f64),
            SweepAxis::Attributes => {
                let [active, _] = problem.synthetic(shape, SENTENCES).active_per_token();
                Some((active * shape.length as f64).round())
            }
        };
        for variants in axis.groups() {
            let single = problem.synthetic(shape, 1);
            let work = variants.iter().map(|&v| multiply_adds(&single, v));
            let sentences = WORK / work.fold(1.0, f64::max);
            let sentences = (sentences as usize).clamp(1, SENTENCES);
            points.push(SweepPoint {
                problem: problem.synthetic(shape, sentences),
                single,
                variants,
                value,
            });
        }
    }
    points
}

/// Evaluates the points of a sweep `repeat` times on one thread. `memory` returns the peak memory
/// of an engine, by the numbers of point and engine.
///
/// # Errors
///
/// Same as [`points`]; an objective that is not finite.
pub fn sweep(
    axis: SweepAxis,
    problem: &Problem,
    repeat: usize,
    observer: &mut (dyn FnMut(Step) + Send),
    memory: &dyn Fn(usize, usize) -> Option<u64>,
) -> Result<Sweep> {
    let points = points(axis, problem);
    let mut rows = Vec::new();
    for (number, point) in points.iter().enumerate() {
        rows.extend(measure_point(point, repeat, observer)?);
        let first = rows.len() - point.variants.len();
        for (variant, row) in rows[first..].iter_mut().enumerate() {
            row.1.peak_bytes = memory(number, variant);
        }
    }
    let exponents = exponents(axis, &rows);
    // Of each group, the likelihood is evaluated; that of the first is the most precise.
    let mut kept: Vec<SweepRow> = Vec::new();
    for (_, row) in rows {
        let same = |other: &&SweepRow| (&other.engine, other.value) == (&row.engine, row.value);
        if row.engine != "likelihood" || !kept.iter().any(|other| same(&other)) {
            kept.push(row);
        }
    }
    Ok(Sweep {
        axis: axis.name().to_owned(),
        construction: axis.construction(),
        rows: kept,
        exponents,
    })
}

fn measure_point(
    point: &SweepPoint,
    repeat: usize,
    observer: &mut (dyn FnMut(Step) + Send),
) -> Result<Vec<(Variant, SweepRow)>> {
    let SweepPoint { problem, variants, .. } = point;
    let theta = random_weights(problem.space.dimension(), 1, SCALE);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.map_err(Error::threads)?;
    let seconds = pool.install(|| {
        let mut evaluations = Evaluations::new(problem, variants, Clock::Thread);
        for round in 0..=repeat {
            evaluations.evaluate(round, &theta, observer, &mut |_, _| {});
        }
        evaluations.seconds
    });
    let sentences = problem.data.len();
    let active = problem.active_per_token();
    let likelihood_work = multiply_adds(problem, Variant::Likelihood);
    let per_sentence = 1.0 / sentences as f64;
    let rows = variants.iter().zip(&seconds).map(|(&variant, times)| {
        let beyond = times.iter().zip(&seconds[0]).map(|(time, base)| time - base);
        let work = multiply_adds(problem, variant);
        let (part, part_work) = match variant {
            Variant::Likelihood => (times.clone(), work),
            _ => (beyond.collect(), work - likelihood_work),
        };
        let spread = |times: Vec<f64>| {
            let spread = Spread::of(times).map(|spread| spread.times(per_sentence));
            spread.ok_or_else(|| Error::parameter("0 repeats; expected 1 or more"))
        };
        let row = SweepRow {
            value: point.value.or(match variant {
                Variant::Quadratic(Engine::Window(radius)) => Some(radius as f64),
                _ => None,
            }),
            engine: variant.name(),
            collapsed: variant.is_collapsed(),
            sentences,
            seconds: spread(times.clone())?,
            part_seconds: spread(part)?,
            multiply_adds: work * per_sentence,
            part_multiply_adds: part_work * per_sentence,
            active_per_token: active[usize::from(variant.is_collapsed())],
            peak_bytes: None,
        };
        Ok((variant, row))
    });
    rows.collect()
}

/// Fits the exponents of the engines that have values, in the order of the rows.
fn exponents(axis: SweepAxis, rows: &[(Variant, SweepRow)]) -> Vec<Exponent> {
    if axis == SweepAxis::Window {
        return Vec::new(); // a + b·r, thus no power of r
    }
    let mut variants: Vec<Variant> = Vec::new();
    for (variant, _) in rows {
        if !variants.contains(variant) {
            variants.push(*variant);
        }
    }
    let mut exponents: Vec<Exponent> = Vec::new();
    for variant in variants {
        let own = || rows.iter().filter(|(v, row)| *v == variant && row.value.is_some());
        let fit = |get: &dyn Fn(&SweepRow) -> f64| {
            let points = own().map(|(_, row)| (row.value.unwrap_or(0.0), get(row)));
            slope(points.filter(|&(x, y)| x > 0.0 && y > 0.0).map(|(x, y)| (x.ln(), y.ln())))
        };
        let length = |row: &SweepRow| match axis {
            SweepAxis::Length => row.value.unwrap_or(1.0),
            _ => 1.0,
        };
        let active = fit(&|row| row.active_per_token * length(row)).unwrap_or(0.0);
        if let (Some(seconds), Some(multiply_adds)) =
            (fit(&|row| row.part_seconds.median), fit(&|row| row.part_multiply_adds))
        {
            exponents.push(Exponent {
                engine: variant.name(),
                collapsed: variant.is_collapsed(),
                seconds,
                multiply_adds,
                theory: axis.theory(variant, active),
            });
        }
    }
    exponents
}

/// Returns the slope of the line through points by least squares; `None` if they have the same x.
fn slope(points: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let points: Vec<(f64, f64)> = points.collect();
    let n = points.len() as f64;
    let mean = |get: fn(&(f64, f64)) -> f64| points.iter().map(get).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let square: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
    let product: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    (square > 0.0).then(|| product / square)
}
