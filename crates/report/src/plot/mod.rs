//! Plots as SVG.
//!
//! A [`Plot`] is an element of a page, a [`Sheet`] of several plots a file of its own, for example
//! from a description in JSON ([`Sheet::parse`]). Both have classes instead of colors. [`STYLE`] has
//! these for light and dark pages. Each series has a color, and a shape of its points or dashes
//! that tell it from others without the color.

mod axis;
mod canvas;
mod description;
mod sheet;

pub use axis::{Axis, Scale};
pub use sheet::{Panel, Sheet};

use axis::LARGEST;
use canvas::Canvas;

/// The style sheet of plots.
pub const STYLE: &str = include_str!("plot.css");

/// Number of styles of series in [`STYLE`]. A series beyond has the style of the first again;
/// letters at the curves tell them apart.
pub const COLORS: usize = 6;

/// Maximum number of points of a curve.
const MAX_POINTS: usize = 400;

/// How the points of a series are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// Connected; a single point as a mark.
    #[default]
    Line,
    /// Connected marks; just connected, if there are many.
    LineAndPoints,
    /// Marks.
    Points,
    /// Bars from 0, or from the lowest value of a logarithmic axis.
    Bars,
    /// A dashed line without a color, to compare with.
    Reference,
}

/// A point, and the range around it in which its value may lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The horizontal coordinate.
    pub x: f64,
    /// The vertical coordinate.
    pub y: f64,
    /// The lowest and the highest value.
    pub range: Option<(f64, f64)>,
}

impl From<(f64, f64)> for Point {
    fn from((x, y): (f64, f64)) -> Self {
        Self { x, y, range: None }
    }
}

impl Point {
    /// Returns the point within the values that can be drawn; `None` if it is not finite.
    fn bounded(self) -> Option<Self> {
        let bounded = |value: f64| value.is_finite().then(|| value.clamp(-LARGEST, LARGEST));
        let range = self
            .range
            .and_then(|(low, high)| Some((bounded(low)?, bounded(high)?)));
        Some(Self {
            x: bounded(self.x)?,
            y: bounded(self.y)?,
            range,
        })
    }
}

/// Points in one style.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// What it is called in the legend of a sheet.
    pub name: String,
    /// Number of its style.
    pub color: usize,
    /// What is written at the curve.
    pub letter: String,
    /// How the points are drawn.
    pub mark: Mark,
    /// The points. Ranges are a band around a line, and error bars of points and bars.
    pub points: Vec<Point>,
    /// A point to emphasize.
    pub best: Option<(f64, f64)>,
}

impl Series {
    /// Creates a series in the style of a number.
    pub fn new<P: Into<Point>>(
        color: usize,
        mark: Mark,
        points: impl IntoIterator<Item = P>,
    ) -> Self {
        let points = points.into_iter().map(Into::into).collect();
        Self {
            color,
            mark,
            points,
            ..Self::default()
        }
    }

    /// Sets the name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
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

    /// Keeps the finite points, and of many only some: every k-th and the last.
    fn thin(&self) -> Self {
        let points = self.points.iter().filter_map(|point| point.bounded());
        let points: Vec<Point> = points.collect();
        let (step, len) = (points.len().div_ceil(MAX_POINTS).max(1), points.len());
        let kept = points.into_iter().enumerate();
        let kept = kept.filter(|(i, _)| i % step == 0 || i + 1 == len);
        let best = self.best.and_then(|best| Point::from(best).bounded());
        Self {
            points: kept.map(|(_, point)| point).collect(),
            best: best.map(|point| (point.x, point.y)),
            ..self.clone()
        }
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
}

impl Plot {
    /// Creates a plot.
    pub fn new(x: Axis, y: Axis, series: Vec<Series>) -> Self {
        Self {
            x,
            y,
            series,
            diagonal: false,
        }
    }

    /// Draws the plot as an element of a page that has [`STYLE`]; `None` if no point has finite
    /// coordinates.
    pub fn svg(&self) -> Option<String> {
        self.svg_at("")
    }

    /// Draws the plot as [`svg`](Self::svg) does, with more attributes of the element.
    fn svg_at(&self, attributes: &str) -> Option<String> {
        let series: Vec<Series> = self.series.iter().map(Series::thin).collect();
        series.iter().find(|series| !series.points.is_empty())?;
        Some(Canvas::new(self, &series).draw(self, &series, attributes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(scale: Scale, mark: Mark, points: &[(f64, f64)]) -> Plot {
        let series = Series::new(7, mark, points.to_vec());
        let series = series.letter("A&B").best(points.last().copied());
        let (x, y) = (Axis::new("x", Scale::Linear), Axis::new("<y>", scale));
        Plot::new(x, y, vec![series])
    }

    const LINE: Mark = Mark::LineAndPoints;

    #[test]
    fn text_is_escaped_and_the_size_scales() {
        let svg = plot(Scale::Log, LINE, &[(0.0, 1.0), (1.0, 100.0)]);
        let svg = svg.svg().unwrap();
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
        let points = [(f64::NAN, 1.0), (1.0, f64::INFINITY)];
        assert_eq!(plot(Scale::Linear, LINE, &points).svg(), None);
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
            for (scale, mark) in [
                (Scale::Linear, LINE),
                (Scale::Log, LINE),
                (Scale::Log, Mark::Bars),
                (Scale::Linear, Mark::Reference),
            ] {
                let mut plot = plot(scale, mark, &points);
                plot.series[0].points[0].range = Some((tiny, f64::MAX));
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
        let thin = plot(Scale::Linear, LINE, &points).series[0].thin();
        assert!(thin.points.len() <= MAX_POINTS + 1);
        assert_eq!(thin.points.last().map(|p| p.x), Some(10_000.0));
    }

    #[test]
    fn ranges_are_a_band_around_a_line_and_error_bars_of_points() {
        let count = |mark, class: &str| {
            let mut plot = plot(Scale::Linear, mark, &[(0.0, 1.0), (1.0, 2.0)]);
            for point in &mut plot.series[0].points {
                point.range = Some((point.y - 0.5, point.y + 0.5));
            }
            plot.svg().unwrap().matches(class).count()
        };
        assert_eq!(count(LINE, "class=\"band\""), 1);
        assert_eq!(count(Mark::Points, "class=\"error\""), 2);
        assert_eq!(count(Mark::Bars, "class=\"box\""), 2);
        assert_eq!(count(Mark::Reference, "class=\"reference\""), 1);
    }
}
