//! Plots as SVG.
//!
//! A plot has classes instead of colors. [`STYLE`] has them for light and dark pages, and gives
//! each series a color and dashes of its own.

use dropchain_formats::Escaped;

/// The style sheet of plots.
pub const STYLE: &str = include_str!("plot.css");

/// Number of styles of series in [`STYLE`]. A series beyond has the style of the first again;
/// letters at the curves tell them apart.
pub const COLORS: usize = 6;

/// Width and height of a plot.
const SIZE: [f64; 2] = [420.0, 250.0];

/// Ends of the axes in the plot: left and right, bottom and top.
const X: [f64; 2] = [60.0, 406.0];
const Y: [f64; 2] = [208.0, 8.0];

/// Number of grid lines to aim at.
const TICKS: f64 = 6.0;

/// Maximum number of points of a curve.
const MAX_POINTS: usize = 400;

/// Values beyond are drawn at this distance from zero.
const LARGEST: f64 = 1e30;

/// How values are mapped to places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// In proportion.
    #[default]
    Linear,
    /// Logarithmic, if all values are positive.
    Log,
}

/// An axis.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    /// What it shows.
    pub label: String,
    /// How values are mapped to places.
    pub scale: Scale,
    /// The ends; by default those of the values.
    pub range: Option<(f64, f64)>,
    /// Names of the values 0, 1, 2, …, if they are no numbers.
    pub names: Vec<String>,
}

impl Axis {
    /// Creates an axis from the lowest to the highest value.
    pub fn new(label: &str, scale: Scale) -> Self {
        let label = label.to_owned();
        Self {
            label,
            scale,
            ..Self::default()
        }
    }

    /// Sets the ends.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// Names the values 0, 1, 2, …, between which there are none.
    #[must_use]
    pub fn names(mut self, names: Vec<String>) -> Self {
        self.range = Some((-0.5, names.len() as f64 - 0.5));
        self.names = names;
        self
    }
}

/// How the points of a series are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// Connected; a single point as a circle.
    #[default]
    Line,
    /// Connected circles.
    LineAndPoints,
    /// Circles.
    Points,
}

/// Points in one style.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Number of its style.
    pub color: usize,
    /// What is written at the curve.
    pub letter: String,
    /// How the points are drawn.
    pub mark: Mark,
    /// The points.
    pub points: Vec<(f64, f64)>,
    /// A point to emphasize.
    pub best: Option<(f64, f64)>,
}

impl Series {
    /// Creates a series in the style of a number.
    pub fn new(color: usize, mark: Mark, points: Vec<(f64, f64)>) -> Self {
        Self {
            color,
            mark,
            points,
            ..Self::default()
        }
    }

    /// Sets what is written at the curve.
    #[must_use]
    pub fn letter(mut self, letter: impl Into<String>) -> Self {
        self.letter = letter.into();
        self
    }

    /// Emphasizes a point.
    #[must_use]
    pub fn best(mut self, best: Option<(f64, f64)>) -> Self {
        self.best = best;
        self
    }
}

/// A plot of one or more series.
#[derive(Clone, Debug, Default)]
pub struct Plot {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is plotted.
    pub series: Vec<Series>,
    /// Whether to draw the line y = x from 0 to 1.
    pub diagonal: bool,
    /// Ranges of x that are shaded.
    pub shaded: Vec<(f64, f64)>,
}

impl Plot {
    /// Creates a plot.
    pub fn new(x: Axis, y: Axis, series: Vec<Series>) -> Self {
        Self {
            x,
            y,
            series,
            diagonal: false,
            shaded: Vec::new(),
        }
    }

    /// Draws the plot as an element of a page that has [`STYLE`]; `None` if no point has finite
    /// coordinates.
    pub fn svg(&self) -> Option<String> {
        let series: Vec<Series> = self.series.iter().map(thin).collect();
        series.iter().find(|series| !series.points.is_empty())?;
        let points = series
            .iter()
            .flat_map(|series| series.points.iter().copied());
        let (x, y): (Vec<f64>, Vec<f64>) = points.unzip();
        let (x, y) = (Interval::new(&self.x, &x, X), Interval::new(&self.y, &y, Y));
        let [width, height] = SIZE;
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" \
             viewBox=\"0 0 {width} {height}\">\n"
        );
        let mut canvas = Canvas { x, y, svg };
        canvas.draw(self, &series);
        Some(canvas.svg + "</svg>\n")
    }
}

/// Keeps the finite points, and of many only some: every k-th and the last.
fn thin(series: &Series) -> Series {
    let bounded = |value: f64| value.is_finite().then(|| value.clamp(-LARGEST, LARGEST));
    let point = |(x, y)| Some((bounded(x)?, bounded(y)?));
    let points: Vec<_> = series.points.iter().copied().filter_map(point).collect();
    let (step, len) = (points.len().div_ceil(MAX_POINTS).max(1), points.len());
    let kept = points.into_iter().enumerate();
    let kept = kept.filter(|(i, _)| i % step == 0 || i + 1 == len);
    Series {
        points: kept.map(|(_, point)| point).collect(),
        best: series.best.and_then(point),
        ..series.clone()
    }
}

/// The values of an axis, and where they are in the plot.
struct Interval {
    low: f64,
    high: f64,
    scale: Scale,
    ends: [f64; 2],
}

impl Interval {
    fn new(axis: &Axis, values: &[f64], ends: [f64; 2]) -> Self {
        let low = values.iter().copied().fold(f64::MAX, f64::min);
        let high = values.iter().copied().fold(f64::MIN, f64::max);
        let scale = match low > 1.0 / LARGEST {
            true => axis.scale,
            false => Scale::Linear,
        };
        let (low, high) = axis.range.unwrap_or_else(|| match scale {
            Scale::Log => (low / 1.2, high * 1.2),
            Scale::Linear => {
                // Ranges that rounding errors fill would have no places for labels.
                let pad = (0.04 * (high - low)).max(1e-6 * low.abs().max(high.abs()));
                let pad = if pad > 0.0 { pad } else { 1.0 };
                (low - pad, high + pad)
            }
        });
        Self {
            low,
            high,
            scale,
            ends,
        }
    }

    /// Returns the place of a value, at an end if it lies outside.
    fn place(&self, value: f64) -> f64 {
        let value = value.max(self.low).min(self.high);
        let share = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        self.ends[0] + share * (self.ends[1] - self.ends[0])
    }

    /// Returns the values of the grid lines with their labels.
    fn ticks(&self, axis: &Axis) -> Vec<(f64, String)> {
        if !axis.names.is_empty() {
            let names = axis.names.iter().enumerate();
            return names.map(|(i, name)| (i as f64, name.clone())).collect();
        }
        let decades = (self.high / self.low).log10();
        if self.scale == Scale::Log && decades > 1.0 {
            let digits = [1.0, 2.0, 5.0].into_iter();
            let digits = digits.take(if decades < 3.0 { 3 } else { 1 });
            let step = (decades / TICKS).ceil().max(1.0) as usize;
            let (first, last) = (self.low.log10().floor(), self.high.log10().ceil());
            let powers = (first as i32..=last as i32).step_by(step);
            let values =
                powers.flat_map(|power| digits.clone().map(move |d| d * 10f64.powi(power)));
            let values = values.filter(|value| (self.low..=self.high).contains(value));
            let ticks = values.map(|value| (value, format_tick(value, value)));
            return ticks.collect();
        }
        let rough = (self.high - self.low) / TICKS;
        let power = 10f64.powf(rough.log10().floor());
        let mut steps = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter();
        let step = steps.find(|step| *step >= rough).unwrap_or(rough);
        let first = (self.low / step).ceil();
        let values = (0..=TICKS as u32).map(|i| (first + f64::from(i)) * step);
        let values = values.take_while(|value| *value <= self.high);
        values
            .map(|value| (value, format_tick(value, step)))
            .collect()
    }
}

struct Canvas {
    x: Interval,
    y: Interval,
    svg: String,
}

impl Canvas {
    fn draw(&mut self, plot: &Plot, series: &[Series]) {
        let ([left, right], [bottom, top]) = (X, Y);
        for &(from, to) in &plot.shaded {
            let (x, width) = (self.x.place(from), self.x.place(to) - self.x.place(from));
            let height = bottom - top;
            self.svg += &format!(
                "<rect class=\"shade\" x=\"{x:.1}\" y=\"{top}\" width=\"{width:.1}\" \
                 height=\"{height}\"/>\n"
            );
        }
        for (value, label) in self.x.ticks(&plot.x) {
            let x = self.x.place(value);
            self.path("grid", &format!("M{x:.1} {bottom}V{top}"));
            self.text("x", (x, bottom + 15.0), &label);
        }
        for (value, label) in self.y.ticks(&plot.y) {
            let y = self.y.place(value);
            self.path("grid", &format!("M{left} {y:.1}H{right}"));
            self.text("y", (left - 6.0, y + 4.0), &label);
        }
        self.path("axis", &format!("M{left} {top}V{bottom}H{right}"));
        self.text("x", ((left + right) / 2.0, SIZE[1] - 8.0), &plot.x.label);
        let middle = (bottom + top) / 2.0;
        self.svg += &format!("<g transform=\"rotate(-90 12 {middle})\" class=\"turned\">");
        self.text("x", (12.0, middle), &plot.y.label);
        self.svg += "</g>\n";
        if plot.diagonal {
            let line = self.line([(0.0, 0.0), (1.0, 1.0)].into_iter());
            self.path("axis", &line);
        }
        for (i, series) in series.iter().enumerate() {
            self.svg += &format!("<g class=\"s{}\">\n", series.color % COLORS);
            // Letters at different places, since curves often end in the same one.
            let letter_at = (i + 1) * series.points.len() / (plot.series.len() + 1);
            self.series(series, letter_at);
            self.svg += "</g>\n";
        }
    }

    fn series(&mut self, series: &Series, letter_at: usize) {
        let points = || series.points.iter().copied();
        if series.mark != Mark::Points && points().len() > 1 {
            let line = self.line(points());
            self.path("line", &line);
        }
        if series.mark != Mark::Line || points().len() == 1 {
            points().for_each(|point| self.circle(point, 3));
        }
        if let Some(best) = series.best {
            self.circle(best, 4);
        }
        if let Some(point) = points()
            .nth(letter_at)
            .filter(|_| !series.letter.is_empty())
        {
            let (x, y) = self.place(point);
            self.text("letter", (x + 4.0, y.max(20.0) - 6.0), &series.letter);
        }
    }

    fn circle(&mut self, point: (f64, f64), radius: u32) {
        let (x, y) = self.place(point);
        self.svg += &format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>\n");
    }

    fn path(&mut self, class: &str, d: &str) {
        self.svg += &format!("<path class=\"{class}\" d=\"{d}\"/>\n");
    }

    fn text(&mut self, class: &str, (x, y): (f64, f64), text: &str) {
        let text = Escaped(text);
        self.svg += &format!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>\n");
    }

    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x.place(x), self.y.place(y))
    }

    /// Returns the path through points.
    fn line(&self, points: impl Iterator<Item = (f64, f64)>) -> String {
        let places = points.map(|point| self.place(point));
        let places: Vec<String> = places.map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        format!("M{}", places.join("L"))
    }
}

/// Formats the value of a grid line, where lines are `step` apart.
fn format_tick(value: f64, step: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e6).contains(&size) && step.abs() < 1e-3 || size >= 1e6 {
        let text = format!("{value:.1e}");
        return text.replace(".0e", "e");
    }
    let decimals = (-step.log10()).ceil().clamp(0.0, 9.0) as usize;
    let text = format!("{value:.decimals$}");
    match text.trim_start_matches(['-', '0', '.']) {
        "" => "0".to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(scale: Scale, points: &[(f64, f64)]) -> Plot {
        let series = Series::new(7, Mark::LineAndPoints, points.to_vec());
        let series = series.letter("A&B").best(points.last().copied());
        let (x, y) = (Axis::new("x", Scale::Linear), Axis::new("<y>", scale));
        Plot::new(x, y, vec![series])
    }

    #[test]
    fn text_is_escaped_and_the_size_scales() {
        let svg = plot(Scale::Log, &[(0.0, 1.0), (1.0, 100.0)]).svg().unwrap();
        assert!(
            svg.contains("&lt;y&gt;") && svg.contains("A&amp;B"),
            "{svg}"
        );
        assert!(svg.contains("viewBox=\"0 0 420 250\""), "{svg}");
        assert!(
            svg.contains("<g class=\"s1\">") && svg.ends_with("</svg>\n"),
            "{svg}"
        );
    }

    #[test]
    fn a_plot_without_finite_points_is_none() {
        let nothing = plot(Scale::Linear, &[(f64::NAN, 1.0), (1.0, f64::INFINITY)]);
        assert_eq!(nothing.svg(), None);
    }

    #[test]
    fn extreme_values_are_drawn() {
        let tiny = f64::MIN_POSITIVE;
        for points in [
            [(0.0, f64::MAX), (1.0, f64::MIN)],
            [(0.0, 1.0), (1.0, 1.0 + f64::EPSILON)],
            [(1e300, 5.0), (1e300, 5.0)],
            [(0.0, tiny), (tiny, 1e30)],
            [(0.0, 0.0), (0.0, 0.0)],
            [(0.0, 1e-29), (1.0, 1e308)],
        ] {
            for scale in [Scale::Linear, Scale::Log] {
                let mut plot = plot(scale, &points);
                for _ in 0..2 {
                    let svg = plot.svg().unwrap();
                    assert!(
                        !svg.contains("NaN") && !svg.contains("inf"),
                        "{points:?}: {svg}"
                    );
                    assert!(svg.contains("class=\"grid\""), "{points:?}: {svg}");
                    plot.x.scale = scale;
                }
            }
        }
    }

    #[test]
    fn of_many_points_some_are_drawn_and_the_last() {
        let points: Vec<_> = (0..10_001).map(|i| (f64::from(i), 1.0)).collect();
        let thin = thin(&plot(Scale::Linear, &points).series[0]);
        assert!(thin.points.len() <= MAX_POINTS + 1);
        assert_eq!(thin.points.last(), points.last());
    }

    #[test]
    fn grid_lines_are_at_round_values() {
        let labels = |low: f64, high: f64, scale| {
            let axis = Axis::new("", scale).range(low, high);
            let ticks = Interval::new(&axis, &[low, high], X).ticks(&axis);
            let labels: Vec<String> = ticks.into_iter().map(|(_, label)| label).collect();
            labels.join(" ")
        };
        assert_eq!(labels(0.0, 105.0, Scale::Linear), "0 20 40 60 80 100");
        assert_eq!(labels(-0.1, 0.25, Scale::Linear), "-0.1 0 0.1 0.2");
        assert_eq!(
            labels(99.5, 100.5, Scale::Linear),
            "99.6 99.8 100.0 100.2 100.4"
        );
        assert_eq!(labels(0.04, 3.0, Scale::Log), "0.05 0.1 0.2 0.5 1 2");
        assert_eq!(labels(1e-17, 20.0, Scale::Log), "1e-17 1e-13 1e-9 1e-5 0.1");
        assert_eq!(
            labels(2e6, 3e6, Scale::Linear),
            "2e6 2.2e6 2.4e6 2.6e6 2.8e6 3e6"
        );
    }
}
