//! Plots as SVG, drawn by plotters.
//!
//! Colors are those of the light theme; the style sheet of the page replaces them by selectors on
//! their values, so that a plot follows the theme, and gives each series a dash pattern of its own.

use std::error::Error as StdError;

use dropchain::{Error, Result};
use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

/// Width and height of a plot, in units of the page.
const SIZE: (u32, u32) = (420, 250);

/// Units of a drawing per unit of the page: plotters rounds coordinates to whole numbers.
const SCALE: u32 = 4;

/// Size of text in units of the page; plotters divides by 1.24.
const TEXT: f64 = 11.5 * 1.24;

/// Colors of series, by Okabe and Ito: distinct for all kinds of color vision. A seventh series has
/// the first color again; letters at the curves tell them apart.
const SERIES: [RGBColor; 6] = [
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xD5, 0x5E, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0x56, 0xB4, 0xE9),
];
const AXIS: RGBColor = RGBColor(0x66, 0x66, 0x66);
const GRID: RGBColor = RGBColor(0xE4, 0xE4, 0xE4);

/// Maximum number of points of a curve.
const MAX_POINTS: usize = 400;

/// Values beyond are drawn at this distance from zero.
const LARGEST: f64 = 1e30;

/// Returns the number of colors that differ.
pub fn colors() -> usize {
    SERIES.len()
}

/// How values are mapped to places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    Linear,
    /// Logarithmic, if all values are positive.
    Log,
}

/// An axis.
#[derive(Clone, Debug)]
pub struct Axis {
    pub label: String,
    pub scale: Scale,
    /// The ends; by default those of the values.
    pub range: Option<(f64, f64)>,
    /// Names of the values 0, 1, 2, …, if they are no numbers.
    pub names: Vec<String>,
}

impl Axis {
    pub fn new(label: &str, scale: Scale) -> Self {
        Self {
            label: label.to_owned(),
            scale,
            range: None,
            names: Vec::new(),
        }
    }
}

/// How the points of a series are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Line,
    LineAndPoints,
    Points,
}

/// Points of one color.
#[derive(Clone, Debug)]
pub struct Series {
    /// Number of its color.
    pub color: usize,
    /// What is written at the curve.
    pub letter: String,
    pub mark: Mark,
    pub points: Vec<(f64, f64)>,
    /// A point to emphasize.
    pub best: Option<(f64, f64)>,
}

/// A plot of one or more series.
#[derive(Clone, Debug)]
pub struct Plot {
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
    /// Whether to draw the line y = x.
    pub diagonal: bool,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

impl Plot {
    /// Draws the plot; `None` if no point has finite coordinates.
    pub fn svg(&self) -> Result<Option<String>> {
        let series: Vec<Series> = self.series.iter().map(thin).collect();
        let points = || series.iter().flat_map(|series| &series.points);
        if points().next().is_none() {
            return Ok(None);
        }
        let x = Interval::of(&self.x, &points().map(|point| point.0));
        let y = Interval::of(&self.y, &points().map(|point| point.1));
        let mut text = String::new();
        {
            let size = (SIZE.0 * SCALE, SIZE.1 * SCALE);
            let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
            let (a, b) = (x.low..x.high, y.low..y.high);
            let drawn = match (x.scale, y.scale) {
                (Scale::Linear, Scale::Linear) => self.draw(&area, &series, [x, y], a, b),
                (Scale::Linear, Scale::Log) => self.draw(&area, &series, [x, y], a, b.log_scale()),
                (Scale::Log, Scale::Linear) => self.draw(&area, &series, [x, y], a.log_scale(), b),
                (Scale::Log, Scale::Log) => {
                    self.draw(&area, &series, [x, y], a.log_scale(), b.log_scale())
                }
            };
            drawn.map_err(|e| Error::parameter(format!("a plot cannot be drawn: {e}")))?;
        }
        Ok(Some(text))
    }

    fn draw<X, Y>(
        &self,
        area: &Area<'_>,
        series: &[Series],
        [a, b]: [Interval; 2],
        x: X,
        y: Y,
    ) -> Result<(), Box<dyn StdError>>
    where
        X: AsRangedCoord<Value = f64>,
        Y: AsRangedCoord<Value = f64>,
        X::CoordDescType: ValueFormatter<f64>,
        Y::CoordDescType: ValueFormatter<f64>,
    {
        let text = |size: f64| ("sans-serif", size * f64::from(SCALE)).into_font();
        let line = |color: RGBColor, width: u32| color.stroke_width(width * SCALE / 2);
        let mut chart = ChartBuilder::on(area)
            .margin(6 * SCALE)
            .margin_right(14 * SCALE)
            .x_label_area_size(36 * SCALE)
            .y_label_area_size(54 * SCALE)
            .build_cartesian_2d(x, y)?;
        let tick = |axis: &Axis, value: f64| match axis.names.is_empty() {
            true => format_tick(value),
            false => name_tick(axis, value),
        };
        let labels = match self.x.names.len() {
            0 => 6,
            names => names,
        };
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(line(GRID, 2))
            .axis_style(line(AXIS, 2))
            .x_labels(labels)
            .y_labels(6)
            .x_label_formatter(&|value| tick(&self.x, *value))
            .y_label_formatter(&|value| tick(&self.y, *value))
            .label_style(text(TEXT).color(&AXIS))
            .axis_desc_style(text(TEXT).color(&AXIS))
            .x_desc(&self.x.label)
            .y_desc(&self.y.label)
            .draw()?;
        if self.diagonal {
            let ends = [(0.0, 0.0), (1.0, 1.0)];
            chart.draw_series([PathElement::new(ends, line(AXIS, 2))])?;
        }
        let inside = |(x, y): (f64, f64)| (a.clamp(x), b.clamp(y));
        for (i, series) in series.iter().enumerate() {
            let color = SERIES[series.color % SERIES.len()];
            let points: Vec<_> = series.points.iter().map(|&point| inside(point)).collect();
            if series.mark != Mark::Points {
                chart.draw_series([PathElement::new(points.clone(), line(color, 4))])?;
            }
            if series.mark != Mark::Line {
                let circle = |point| Circle::new(point, 3 * SCALE, color.filled());
                chart.draw_series(points.iter().map(|&point| circle(point)))?;
            }
            if let Some(best) = series.best {
                let circle = Circle::new(inside(best), 4 * SCALE, color.filled());
                chart.draw_series([circle])?;
            }
            // At different places, since curves often end in the same one.
            let at = (i + 1) * points.len() / (self.series.len() + 1);
            if let Some(&at) = points.get(at) {
                let font = text(TEXT).style(FontStyle::Bold).color(&color);
                let element = EmptyElement::at(at)
                    + Text::new(series.letter.clone(), (6, -14 * SCALE as i32), font);
                chart.draw_series([element])?;
            }
        }
        area.present()?;
        Ok(())
    }
}

/// The values of an axis.
#[derive(Clone, Copy, Debug)]
struct Interval {
    low: f64,
    high: f64,
    scale: Scale,
}

impl Interval {
    fn of(axis: &Axis, values: &(impl Iterator<Item = f64> + Clone)) -> Self {
        let (low, high) = values
            .clone()
            .fold((f64::MAX, f64::MIN), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        let scale = match axis.scale {
            Scale::Log if low > 1.0 / LARGEST => Scale::Log,
            _ => Scale::Linear,
        };
        if let Some((low, high)) = axis.range {
            return Self { low, high, scale };
        }
        let (low, high) = match scale {
            Scale::Log => (low / 1.2, high * 1.2),
            Scale::Linear => {
                // Ranges that rounding errors fill would have no places for labels.
                let pad = (0.04 * (high - low)).max(1e-6 * low.abs().max(high.abs()));
                let pad = if pad > 0.0 { pad } else { 1.0 };
                (low - pad, high + pad)
            }
        };
        Self { low, high, scale }
    }

    fn clamp(self, value: f64) -> f64 {
        value.clamp(self.low, self.high)
    }
}

/// Keeps the finite points, and of many only some: every k-th, the last and the best.
fn thin(series: &Series) -> Series {
    let finite = |&(x, y): &(f64, f64)| x.is_finite() && y.is_finite();
    let bounded = |(x, y): (f64, f64)| (x.clamp(-LARGEST, LARGEST), y.clamp(-LARGEST, LARGEST));
    let points: Vec<_> = series
        .points
        .iter()
        .copied()
        .filter(finite)
        .map(bounded)
        .collect();
    let step = points.len().div_ceil(MAX_POINTS).max(1);
    let last = points.len().saturating_sub(1);
    let kept = points.into_iter().enumerate();
    let kept = kept.filter(|(i, _)| i % step == 0 || *i == last);
    Series {
        points: kept.map(|(_, point)| point).collect(),
        best: series.best.filter(finite).map(bounded),
        ..series.clone()
    }
}

/// Formats the value of a grid line.
pub fn format_tick(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-3..1e6).contains(&size) {
        let text = format!("{value:.1e}");
        return text.replace(".0e", "e");
    }
    let text = format!("{value:.*}", if size < 1.0 { 4 } else { 2 });
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns the name of a whole number; other values have none.
fn name_tick(axis: &Axis, value: f64) -> String {
    let is_whole = (value - value.round()).abs() < 1e-6 && value > -0.5;
    let name = axis.names.get(value.round().max(0.0) as usize);
    name.filter(|_| is_whole).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(scale: Scale, points: &[(f64, f64)]) -> Plot {
        Plot {
            x: Axis::new("x", Scale::Linear),
            y: Axis::new("<y>", scale),
            series: vec![Series {
                color: 1,
                letter: "A&B".to_owned(),
                mark: Mark::LineAndPoints,
                points: points.to_vec(),
                best: points.last().copied(),
            }],
            diagonal: false,
        }
    }

    #[test]
    fn text_is_escaped_and_the_size_scales() {
        let svg = plot(Scale::Log, &[(0.0, 1.0), (1.0, 100.0)])
            .svg()
            .unwrap()
            .unwrap();
        assert!(
            svg.contains("&lt;y&gt;") && svg.contains("A&amp;B"),
            "{svg}"
        );
        assert!(svg.contains("viewBox=\"0 0 1680 1000\""), "{svg}");
        assert!(
            svg.contains("#D55E00") && svg.ends_with("</svg>\n"),
            "{svg}"
        );
    }

    #[test]
    fn a_plot_without_finite_points_is_none() {
        let nothing = plot(Scale::Linear, &[(f64::NAN, 1.0), (1.0, f64::INFINITY)]);
        assert_eq!(nothing.svg().unwrap(), None);
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
                assert!(plot.svg().unwrap().is_some(), "{points:?}");
                plot.x.scale = scale;
                assert!(plot.svg().unwrap().is_some(), "{points:?}");
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
    fn values_have_few_digits() {
        let values = [0.0, 1500.0, 0.25, 12.5, 1e-7, 2.5e6, 1e6];
        let texts = values.map(format_tick);
        assert_eq!(texts, ["0", "1500", "0.25", "12.5", "1e-7", "2.5e6", "1e6"]);
    }
}
