//! The results of `bench gradients`: as its JSON has them, as tables, and as a figure of how far
//! the gradients within a window are off, by radius, and what the engines cost, by labels, length
//! and attributes.

use clap::ValueEnum;
use dropchain_layout::format_table;
use dropchain_report::plot::{Axis, Mark, Plot, Point, Scale, Series, Sheet};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The results of `bench gradients`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gradients {
    /// Version of dropchain.
    pub version: String,
    /// Training files.
    pub files: Vec<String>,
    /// The template.
    pub template: Option<String>,
    /// Number of sentences.
    pub sentences: usize,
    /// Number of tokens.
    pub tokens: usize,
    /// Number of labels.
    pub labels: usize,
    /// Number of weights.
    pub parameters: usize,
    /// The training parameters.
    pub options: Value,
    /// The weights at which gradients are compared.
    pub weights: String,
    /// Number of timed repeats.
    pub repeat: u32,
    /// Number of threads.
    pub threads: usize,
    /// The engines, on the corpus; the first is the likelihood.
    pub engines: Vec<Measurement>,
    /// Costs by what was varied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sweeps: Vec<Sweep>,
}

/// The measurements of the likelihood, or of it with an engine of the noise term.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Name of the engine, or `likelihood`.
    pub engine: String,
    /// True if attributes that fire once, at the same token, were collapsed.
    pub collapsed: bool,
    /// Number of sentences that were evaluated.
    pub sentences: usize,
    /// Seconds per evaluation of value and gradient, the median over all repeats.
    pub seconds: f64,
    /// The quartiles around it.
    pub seconds_quartiles: [f64; 2],
    /// Seconds beyond those of the likelihood in the same repeat; of the likelihood, its own.
    pub added_seconds: Spread,
    /// Median of the seconds divided by that of the likelihood.
    pub ratio_to_likelihood: f64,
    /// Multiply-adds of an evaluation, by the formulas of the documentation.
    pub multiply_adds: f64,
    /// Multiply-adds beyond those of the likelihood; of the likelihood, its own.
    pub added_multiply_adds: f64,
    /// Comparison with the exact gradient; absent for the likelihood, and if the exact gradient is
    /// lost in rounding errors.
    #[serde(flatten)]
    pub deviation: Option<Deviation>,
    /// q/T of Wang et al. 2013: distinct attributes of a sentence per token, averaged over tokens;
    /// after collapsing if the engine collapses attributes, otherwise before.
    pub active_per_token: f64,
    /// Peak memory of an evaluation in bytes, if it was measured.
    pub peak_bytes: Option<u64>,
}

impl Measurement {
    /// Returns the name that distinguishes it from other measurements: that of the option.
    pub fn name(&self) -> &str {
        match &*self.engine {
            "message" if !self.collapsed => "message=plain",
            name => name,
        }
    }
}

/// How far a gradient is from the exact one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Deviation {
    /// ‖g − g*‖ / ‖g*‖ of the gradient g of the noise term alone, where g* is the exact one.
    pub relative_error: f64,
    /// ‖g − g*‖ / ‖∇J*‖: the error relative to the whole gradient, of likelihood and noise term.
    pub relative_error_whole: f64,
    /// Cosine of the angle between g and g*.
    pub cosine: f64,
}

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
    /// Returns the median and the quartiles of one or more values, between which it interpolates
    /// linearly.
    pub fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let quantile = |share: f64| {
            let place = share * (values.len() - 1) as f64;
            let (low, high) = (values[place.floor() as usize], values[place.ceil() as usize]);
            low + (high - low) * place.fract()
        };
        Self { median: quantile(0.5), low: quantile(0.25), high: quantile(0.75) }
    }
}

/// The varied quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum SweepAxis {
    Window,
    Labels,
    Length,
    Attributes,
}

impl SweepAxis {
    /// Returns the name of the quantity with its symbol.
    pub fn label(self) -> &'static str {
        match self {
            Self::Window => "radius r",
            Self::Labels => "labels K",
            Self::Length => "tokens T",
            Self::Attributes => "distinct attributes q",
        }
    }
}

/// The cost of the engines on sentences of several sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// The varied quantity.
    pub axis: SweepAxis,
    /// The measurements.
    pub points: Vec<SweepPoint>,
}

/// The cost of the engines on sentences of one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepPoint {
    /// The radius of windows, or the number of labels, of tokens or of distinct attributes of a
    /// sentence.
    pub value: f64,
    /// The engines; the first is the likelihood.
    pub engines: Vec<Measurement>,
}

/// The columns of all tables.
const HEADS: [&str; 10] = [
    "gradient",
    "µs/sentence",
    "quartiles",
    "x likelihood",
    "multiply-adds",
    "error",
    "of all",
    "cosine",
    "active/token",
    "memory",
];

/// Formats the cost and the accuracy of each engine on the corpus, and by what was varied.
pub fn tables(results: &Gradients) -> String {
    let mut text = table("", results.engines.iter().map(|row| (None, row)));
    for sweep in &results.sweeps {
        let size = sweep.axis.label();
        let rows = sweep.points.iter().flat_map(|point| {
            point.engines.iter().map(move |row| (Some(format!("{:.0}", point.value)), row))
        });
        text += &format!("\nBy {size} of a sentence\n{}", table(size, rows));
    }
    text
}

/// Formats rows, which may have a first cell with the heading `first`.
fn table<'a>(first: &str, rows: impl Iterator<Item = (Option<String>, &'a Measurement)>) -> String {
    let first = (!first.is_empty()).then(|| first.to_owned());
    let heads: Vec<String> = first.into_iter().chain(HEADS.map(str::to_owned)).collect();
    let rows = rows.map(|(value, row)| value.into_iter().chain(cells(row)).collect());
    format_table([heads].into_iter().chain(rows))
}

fn cells(row: &Measurement) -> [String; 10] {
    let [time, low, high] = [row.seconds, row.seconds_quartiles[0], row.seconds_quartiles[1]]
        .map(|seconds| 1e6 * seconds / row.sentences as f64);
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    let deviation = row.deviation;
    [
        row.name().to_owned(),
        format!("{time:.1}"),
        format!("{low:.1}–{high:.1}"),
        format!("{:.2}", row.ratio_to_likelihood),
        format!("{:.2e}", row.multiply_adds / row.sentences as f64),
        or_dash(deviation.map(|d| format_error(d.relative_error))),
        or_dash(deviation.map(|d| format_error(d.relative_error_whole))),
        or_dash(deviation.map(|d| format!("{:.6}", d.cosine))),
        format!("{:.1}", row.active_per_token),
        or_dash(row.peak_bytes.map(|bytes| format!("{:.1} MB", bytes as f64 / 1e6))),
    ]
}

/// Formats small errors in scientific notation, others as fractions.
fn format_error(error: f64) -> String {
    if error < 1e-3 { format!("{error:.1e}") } else { format!("{error:.4}") }
}

/// Errors below are rounding errors, and drawn as this one.
const ROUNDING: f64 = 1e-16;

impl Gradients {
    /// Returns the figure.
    pub fn figure(&self) -> Sheet {
        let mut sheet = Sheet {
            title: "Gradients of the noise term: error and cost".to_owned(),
            note: self.note(),
            ..Sheet::default()
        };
        sheet.add("Error by radius", self.errors());
        for sweep in &self.sweeps {
            sheet.add(format!("Cost by {}", sweep.axis.label()), sweep.plot());
        }
        sheet
    }

    fn note(&self) -> String {
        format!(
            "{}, {}; {} sentences, {} tokens, {} labels. Errors at weights {}. Times are processor \
             seconds of the part that an engine adds to the likelihood: median and quartiles of \
             repeats. Dashed: the count of multiply-adds, in proportion to the last time.",
            self.files.join(", "),
            self.template.as_deref().unwrap_or("no template"),
            self.sentences,
            self.tokens,
            self.labels,
            self.weights,
        )
    }

    fn errors(&self) -> Plot {
        type RelativeError = fn(&Deviation) -> f64;
        let curves: [(&str, RelativeError); 2] = [
            ("error of the noise term", |d| d.relative_error),
            ("error of the whole gradient", |d| d.relative_error_whole),
        ];
        let series = curves.map(|(name, error)| {
            let points = self.engines.iter().filter_map(|row| {
                Some((row.radius()?, error(row.deviation.as_ref()?).max(ROUNDING)))
            });
            let mut points: Vec<(f64, f64)> = points.collect();
            points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            Series::new(0, Mark::LineAndPoints, points).name(name)
        });
        let x = Axis::new("radius r of the window", Scale::Linear);
        Plot::new(x, Axis::new("relative error", Scale::Log), series.into())
    }
}

impl Measurement {
    /// Returns the radius of a window; that of `local` is 0.
    pub fn radius(&self) -> Option<f64> {
        match self.engine.as_str() {
            "local" => Some(0.0),
            name => name.strip_prefix("window=")?.parse().ok(),
        }
    }

    /// Returns what the engine adds per sentence in microseconds, if it takes time.
    fn cost(&self, x: f64) -> Option<Point> {
        let Spread { median, low, high } = self.added_seconds;
        let [y, low, high] = [median, low, high].map(|time| 1e6 / self.sentences as f64 * time);
        let range = (low > 0.0).then_some((low, high));
        (y > 0.0).then_some(Point { x, y, range, count: None })
    }
}

impl Sweep {
    fn plot(&self) -> Plot {
        let engines = self.points.first().map_or(0, |point| point.engines.len());
        let curves = (0..engines).map(|number| {
            let rows = self.points.iter().map(|point| (point.value, &point.engines[number]));
            let costs = rows.filter_map(|(x, row)| {
                Some((row.cost(x)?, row.added_multiply_adds / row.sentences as f64))
            });
            let (points, work): (Vec<Point>, Vec<f64>) = costs.unzip();
            let scale = points.last().zip(work.last()).map(|(point, work)| point.y / work);
            let counted = points.iter().zip(&work);
            let counted = counted.filter_map(|(point, work)| Some((point.x, scale? * work)));
            let counted = Series::new(0, Mark::Reference, counted).name("count of multiply-adds");
            let name = match self.points[0].engines[number].name() {
                name if name.starts_with("window=") && self.axis == SweepAxis::Window => "window",
                name => name,
            };
            (counted, Series::new(0, Mark::LineAndPoints, points).name(name))
        });
        let (mut series, curves): (Vec<Series>, Vec<Series>) = curves.unzip();
        series.extend(curves);
        let y = Axis::new("microseconds per sentence", Scale::Log);
        Plot::new(Axis::new(self.axis.label(), Scale::Log), y, series)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn quartiles_are_interpolated() {
        let spread = Spread::of(vec![4.0, 1.0, 3.0, 2.0]);
        assert_eq!((spread.low, spread.median, spread.high), (1.75, 2.5, 3.25));
        assert_eq!(Spread::of(vec![7.0]).low, 7.0);
    }

    #[test]
    fn small_errors_are_in_scientific_notation() {
        assert_eq!([3.21e-14, 0.0, 0.20345].map(format_error), ["3.2e-14", "0.0e0", "0.2034"]);
    }

    #[test]
    fn the_committed_figure_is_drawn_from_the_committed_numbers() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/figures");
        let read = |name| fs::read_to_string(folder.join(name)).unwrap();
        let report: Gradients = serde_json::from_str(&read("gradients.json")).unwrap();
        let svg = report.figure().svg().unwrap();
        assert!(svg == read("gradients.svg"), "draw anew with docs/figures/draw.sh");
    }
}
