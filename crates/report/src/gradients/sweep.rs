//! What the engines cost and how far their gradients are off, by radius, labels, length and
//! attributes.

use serde::{Deserialize, Serialize};

use super::{Gradients, ROUNDING, display_name};
use crate::plot::{Axis, Mark, Panel, Plot, Point, Scale, Series, Sheet};
use crate::views::{Section, Table, heads, letter, or_empty};

/// What sweeps vary, with the axis of their figures.
const AXES: [(&str, &str, &str); 4] = [
    ("window", "Cost by radius", "radius r of the window"),
    ("length", "Cost by length", "tokens T of a sentence"),
    ("labels", "Cost by labels", "labels K"),
    ("attributes", "Cost by attributes", "distinct attributes q of a sentence"),
];

/// The curve of windows in figures.
const WINDOW: &str = "window (r = 2, but by radius)";

/// A median and the quartiles around it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The first quartile.
    pub low: f64,
    /// The third quartile.
    pub high: f64,
}

impl Spread {
    /// Returns the median and the quartiles of values, between which it interpolates linearly;
    /// `None` without any.
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let last = values.len().checked_sub(1)?;
        let quantile = |share: f64| {
            let place = share * last as f64;
            let (low, high) = (values[place.floor() as usize], values[place.ceil() as usize]);
            low + (high - low) * place.fract()
        };
        Some(Self { median: quantile(0.5), low: quantile(0.25), high: quantile(0.75) })
    }

    /// Returns the spread of multiples of the values.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self { median: factor * self.median, low: factor * self.low, high: factor * self.high }
    }
}

/// The error of the gradient within a window, over sentences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorRow {
    /// The radius r.
    pub radius: usize,
    /// Number of sentences.
    pub sentences: usize,
    /// ‖g − g*‖ / ‖g*‖ of the gradient g of the noise term, where g* is the exact one.
    pub relative_error: Spread,
    /// ‖g − g*‖ / ‖∇J*‖: the error relative to the whole gradient, of likelihood and noise term.
    pub relative_error_whole: Spread,
    /// Cosine of the angle between g and g*.
    pub cosine: Spread,
    /// Cosine of the angle between the whole gradients.
    pub cosine_whole: Spread,
}

/// The varied quantity, and the cost of an evaluation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// `window`, `labels`, `length` or `attributes`.
    pub axis: String,
    /// Generator of the sentences.
    pub construction: String,
    /// The measurements.
    pub rows: Vec<SweepRow>,
    /// Fitted growth of the cost.
    pub exponents: Vec<Exponent>,
}

/// The cost of an engine at one value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepRow {
    /// The radius, number of labels, of tokens or of distinct attributes; `None` of an engine that
    /// does not depend on it.
    pub value: Option<f64>,
    /// Name of the engine, or `likelihood`.
    pub engine: String,
    /// Whether the engine collapses attributes.
    pub collapsed: bool,
    /// Number of sentences that were evaluated.
    pub sentences: usize,
    /// Seconds per sentence for value and gradient of likelihood and noise term.
    pub seconds: Spread,
    /// Seconds per sentence beyond those of the likelihood in the same repeat; of the likelihood,
    /// its own.
    pub part_seconds: Spread,
    /// Multiply-adds per sentence, by the formulas of the documentation.
    pub multiply_adds: f64,
    /// Multiply-adds per sentence beyond those of the likelihood; of the likelihood, its own.
    pub part_multiply_adds: f64,
    /// Distinct attributes of a sentence per token, after collapsing if `collapsed`.
    pub active_per_token: f64,
    /// Peak memory of an evaluation of one of the sentences in bytes, if it was measured.
    pub peak_bytes: Option<u64>,
}

/// The slope of the cost on logarithmic axes, of the part that an engine adds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exponent {
    /// Name of the engine, or `likelihood`.
    pub engine: String,
    /// Whether the engine collapses attributes.
    pub collapsed: bool,
    /// Fitted to seconds.
    pub seconds: f64,
    /// Fitted to multiply-adds.
    pub multiply_adds: f64,
    /// Asymptotic exponent of the theory, without terms linear in attributes and labels.
    pub theory: f64,
}

impl SweepRow {
    fn name(&self) -> String {
        display_name(&self.engine, self.collapsed)
    }

    /// Returns the name in figures, where the windows are one curve.
    fn curve(&self) -> String {
        match self.engine.starts_with("window=") {
            true => WINDOW.to_owned(),
            false => self.name(),
        }
    }
}

impl Gradients {
    /// Returns the figure of the sweeps; `None` without any.
    pub fn figure(&self) -> Option<Sheet> {
        if self.errors.is_empty() && self.sweeps.is_empty() {
            return None;
        }
        let mut sheet = Sheet {
            title: "Gradients of the noise term: error and cost".to_owned(),
            note: self.note(),
            ..Sheet::default()
        };
        self.add_errors(&mut sheet);
        for (axis, title, label) in AXES {
            let sweeps = self.sweeps.iter().filter(|sweep| sweep.axis == axis);
            sweeps.for_each(|sweep| sheet.add(title, sweep.plot(label)));
        }
        let by_labels = self.sweeps.iter().find(|sweep| sweep.axis == "labels");
        let memory = by_labels.map(Sweep::memory);
        if let Some(memory) = memory.filter(|plot| plot.series.iter().any(|s| !s.points.is_empty()))
        {
            sheet.add("Memory by labels", memory);
        }
        if !self.sweeps.is_empty() {
            sheet.add("Time by count of work", self.time_by_work());
        }
        Some(sheet)
    }

    fn note(&self) -> String {
        let template = self.template.as_deref().unwrap_or("no template");
        let mut note = format!(
            "{}, {template}; {} sentences, {} tokens, {} labels. Errors at weights {}",
            self.files.join(", "),
            self.sentences,
            self.tokens,
            self.labels,
            self.weights,
        );
        if let Some(row) = self.errors.first() {
            note += &format!(", over {} sentences (median, quartiles)", row.sentences);
        }
        note += ". Times are processor seconds of the part that an engine adds to the likelihood: \
                 median and quartiles of repeats. Dashed: the slope of the theory.";
        for sweep in self.sweeps.iter().filter(|s| !s.exponents.is_empty()) {
            let exponents = sweep.exponents.iter().map(|exponent| {
                let name = display_name(&exponent.engine, exponent.collapsed);
                format!("{name} {:.2} ({:.2})", exponent.seconds, exponent.theory)
            });
            let exponents: Vec<String> = exponents.collect();
            note += &format!(
                " Exponents by {}, fitted (theory): {}.",
                sweep.axis,
                exponents.join("; ")
            );
        }
        note
    }

    fn add_errors(&self, sheet: &mut Sheet) {
        type Curves = [(&'static str, fn(&ErrorRow) -> Spread); 2];
        let figures: [(&str, &str, Scale, Curves); 2] = [
            (
                "Error by radius",
                "relative error",
                Scale::Log,
                [
                    ("error of the noise term", |row| row.relative_error),
                    ("error of the whole gradient", |row| row.relative_error_whole),
                ],
            ),
            (
                "Direction by radius",
                "cosine with the exact gradient",
                Scale::Linear,
                [
                    ("error of the noise term", |row| row.cosine),
                    ("error of the whole gradient", |row| row.cosine_whole),
                ],
            ),
        ];
        for (title, label, scale, curves) in figures {
            let series = curves.into_iter().map(|(name, get)| {
                let points = self.errors.iter().map(|row| {
                    let spread = get(row);
                    let floor = if scale == Scale::Log { ROUNDING } else { -1.0 };
                    point(row.radius as f64, spread, floor)
                });
                Series::new(0, Mark::LineAndPoints, points).name(name)
            });
            if !self.errors.is_empty() {
                let x = Axis::new(AXES[0].2, Scale::Linear);
                sheet.add(title, Plot::new(x, Axis::new(label, scale), series.collect()));
            }
        }
    }

    fn time_by_work(&self) -> Plot {
        let mut series: Vec<Series> = Vec::new();
        for row in self.sweeps.iter().flat_map(|sweep| &sweep.rows) {
            let point = point(row.part_multiply_adds, row.part_seconds.times(1e6), 0.0);
            if point.y > 0.0 {
                push(&mut series, row.curve(), Mark::Points, point);
            }
        }
        let x = Axis::new("multiply-adds of a sentence", Scale::Log);
        Plot::new(x, Axis::new("microseconds", Scale::Log), series)
    }

    /// Adds the measurements to their section.
    pub(super) fn show_sweeps(&self, section: &mut Section) {
        let Some(sheet) = self.figure() else {
            return;
        };
        section.text(sheet.note.clone());
        let (panels, names) = sheet.colored();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        section.legend(&names, names.len(), true);
        let figures = panels.into_iter().map(|Panel { title, mut plot }| {
            for series in plot.series.iter_mut().filter(|s| s.mark != Mark::Reference) {
                series.letter = letter(series.color);
            }
            crate::views::Figure::draw(title, crate::views::IN_TABLE, &plot)
        });
        section.figures(figures);
        section.table(self.error_table());
        for sweep in &self.sweeps {
            section.text(format!("By {}: {}.", sweep.axis, sweep.construction));
            section.table(sweep.table());
            section.table(sweep.exponent_table());
        }
    }

    fn error_table(&self) -> Table {
        let head = heads("radius, error, quartiles, error of all, quartiles, cosine, of all");
        let mut table = Table::new("Error by radius", head);
        for row in &self.errors {
            let quartiles = |spread: Spread| format!("{:.1e}–{:.1e}", spread.low, spread.high);
            table.row([
                row.radius.to_string(),
                format!("{:.1e}", row.relative_error.median),
                quartiles(row.relative_error),
                format!("{:.1e}", row.relative_error_whole.median),
                quartiles(row.relative_error_whole),
                format!("{:.6}", row.cosine.median),
                format!("{:.6}", row.cosine_whole.median),
            ]);
        }
        table
    }
}

impl Sweep {
    fn plot(&self, label: &str) -> Plot {
        let mut series: Vec<Series> = Vec::new();
        let values = self.rows.iter().filter_map(|row| row.value);
        let ends = [values.clone().fold(f64::MAX, f64::min), values.fold(0.0, f64::max)];
        for row in &self.rows {
            let values = row.value.map_or(ends.to_vec(), |value| vec![value]);
            for value in values {
                let point = point(value, row.part_seconds.times(1e6), 0.0);
                if point.y > 0.0 {
                    push(&mut series, row.curve(), Mark::LineAndPoints, point);
                }
            }
        }
        let noise = self.exponents.iter().filter(|exponent| exponent.engine != "likelihood");
        let references = noise.filter_map(|exponent| {
            let name = match exponent.engine.starts_with("window=") {
                true => WINDOW.to_owned(),
                false => display_name(&exponent.engine, exponent.collapsed),
            };
            let curve = series.iter().find(|series| series.name == name)?;
            let last = curve.points.last()?;
            let from = curve.points.first()?.x;
            let start = last.y * (from / last.x).powf(exponent.theory);
            let line = [(from, start), (last.x, last.y)];
            Some(Series::new(0, Mark::Reference, line).name("slope of the theory"))
        });
        let references: Vec<Series> = references.collect();
        let scale = match self.axis.as_str() {
            "window" => Scale::Linear,
            _ => Scale::Log,
        };
        let series = references.into_iter().chain(series).collect();
        let y = Axis::new("microseconds per sentence", scale);
        Plot::new(Axis::new(label, scale), y, series)
    }

    fn memory(&self) -> Plot {
        let mut series: Vec<Series> = Vec::new();
        for row in &self.rows {
            if let (Some(x), Some(bytes)) = (row.value, row.peak_bytes) {
                let point = Point::from((x, bytes as f64 / 1e6));
                push(&mut series, row.curve(), Mark::LineAndPoints, point);
            }
        }
        let y = Axis::new("megabytes, of one sentence", Scale::Log);
        Plot::new(Axis::new(AXES[2].2, Scale::Log), y, series)
    }

    fn table(&self) -> Table {
        let head = heads(
            "value, gradient, µs per sentence, quartiles, beyond the likelihood, multiply-adds, \
             beyond the likelihood, attributes per token, memory",
        );
        let mut table = Table::new(format!("Cost by {}", self.axis), head);
        for row in &self.rows {
            let micros = row.seconds.times(1e6);
            table.row([
                or_empty(row.value, |value| format!("{value:.0}")),
                row.name(),
                format!("{:.1}", micros.median),
                format!("{:.1}–{:.1}", micros.low, micros.high),
                format!("{:.1}", 1e6 * row.part_seconds.median),
                format!("{:.3e}", row.multiply_adds),
                format!("{:.3e}", row.part_multiply_adds),
                format!("{:.1}", row.active_per_token),
                or_empty(row.peak_bytes, |b| format!("{:.1} MB", b as f64 / 1e6)),
            ]);
        }
        table
    }

    fn exponent_table(&self) -> Table {
        let head = heads("gradient, fitted to seconds, to multiply-adds, theory");
        let mut table = Table::new(format!("Exponents by {}", self.axis), head);
        for exponent in &self.exponents {
            table.row([
                display_name(&exponent.engine, exponent.collapsed),
                format!("{:.2}", exponent.seconds),
                format!("{:.2}", exponent.multiply_adds),
                format!("{:.2}", exponent.theory),
            ]);
        }
        table
    }
}

/// Returns a point with its quartiles, none below `floor`.
fn point(x: f64, spread: Spread, floor: f64) -> Point {
    let range = Some((spread.low.max(floor), spread.high.max(floor)));
    Point {
        count: None,
        x,
        y: spread.median.max(floor),
        range: range.filter(|(low, _)| *low > 0.0 || floor < 0.0),
    }
}

/// Adds a point to the series of a name.
fn push(series: &mut Vec<Series>, name: String, mark: Mark, point: Point) {
    match series.iter_mut().find(|series| series.name == name) {
        Some(series) => series.points.push(point),
        None => series.push(Series::new(0, mark, [point]).name(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_interpolated() {
        let spread = Spread::of(vec![4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((spread.low, spread.median, spread.high), (1.75, 2.5, 3.25));
        assert_eq!(Spread::of(vec![7.0]).map(|s| s.low), Some(7.0));
        assert_eq!(Spread::of(Vec::new()), None);
    }
}
