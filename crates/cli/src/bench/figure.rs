//! The figure of `bench gradients --sweep`: what the engines cost and how far their gradients are
//! off, by radius, labels, length and attributes.

use dropchain_report::plot::{Axis, Mark, Plot, Point, Scale, Series, Sheet};

use super::results::{ErrorRow, Gradients, Spread, Sweep, SweepRow, display_name};

/// Errors below are rounding errors, and drawn as this one.
const ROUNDING: f64 = 1e-16;

/// What sweeps vary, with the axis of their figures.
const AXES: [(&str, &str, &str); 4] = [
    ("window", "Cost by radius", "radius r of the window"),
    ("length", "Cost by length", "tokens T of a sentence"),
    ("labels", "Cost by labels", "labels K"),
    ("attributes", "Cost by attributes", "distinct attributes q of a sentence"),
];

/// The curve of windows in figures.
const WINDOW: &str = "window (r = 2, but by radius)";

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
        let corpus = &self.corpus;
        let template = corpus.template.as_deref().unwrap_or("no template");
        let mut note = format!(
            "{}, {template}; {} sentences, {} tokens, {} labels. Errors at weights {}",
            corpus.files.join(", "),
            corpus.sentences,
            corpus.tokens,
            corpus.labels,
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
                    ("error of the noise term", |row| row.deviation.relative_error),
                    ("error of the whole gradient", |row| row.deviation.relative_error_whole),
                ],
            ),
            (
                "Direction by radius",
                "cosine with the exact gradient",
                Scale::Linear,
                [
                    ("error of the noise term", |row| row.deviation.cosine),
                    ("error of the whole gradient", |row| row.deviation.cosine_whole),
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
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_committed_figure_is_drawn_from_the_committed_numbers() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/figures");
        let read = |name| fs::read_to_string(folder.join(name)).unwrap();
        let report: Gradients = serde_json::from_str(&read("gradients.json")).unwrap();
        let svg = report.figure().unwrap().svg().unwrap();
        assert!(svg == read("gradients.svg"), "draw anew with docs/figures/draw.sh");
    }
}
