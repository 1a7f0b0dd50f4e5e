//! A plot, and its drawing.

use dropchain_formats::Escaped;
use serde::Deserialize;

use super::axis::{Axis, Interval, Scale, format_digits};
use super::elements::{UNSTYLED, filled, group, line_class, path, shape, text};
use super::series::{Mark, Point, Series};

/// Width and height of a plot.
pub(super) const SIZE: [f64; 2] = [420.0, 250.0];

/// Ends of the axes in the plot: left and right, bottom and top.
const X: [f64; 2] = [60.0, 406.0];
const Y: [f64; 2] = [208.0, 8.0];

/// Maximum number of points of a curve that are marked.
const MAX_MARKS: usize = 40;

/// Number of observations below which the mark of a point is hollow.
const FEW: u64 = 10;

/// Width and height of a letter in text beside curves, about, and its distance from the plot.
const LETTER: [f64; 2] = [9.0, 13.0];
const GAP: f64 = 8.0;

/// The mark of the point to emphasize, centered at 0.
const STAR: &str = "m0-6.5l1.9 4.2 4.6.5-3.4 3.1.9 4.5-4-2.3-4 2.3.9-4.5-3.4-3.1 4.6-.5z";

/// Share of the distance between bars that they fill.
const BAR: f64 = 0.8;

/// A plot of one or more series.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Plot {
    /// The title in a sheet.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The plot.
    pub series: Vec<Series>,
    /// Ranges of x that are shaded.
    pub shaded: Vec<(f64, f64)>,
}

impl Plot {
    /// Creates a plot.
    pub fn new(x: Axis, y: Axis, series: Vec<Series>) -> Self {
        Self { x, y, series, ..Self::default() }
    }

    /// Draws the plot as an element of a page that has [`STYLE`](super::STYLE); `None` if no point
    /// has finite coordinates. Browsers show the values of what the pointer is at.
    pub fn svg(&self) -> Option<String> {
        self.draw("", true)
    }

    /// Draws the plot with more attributes of the element; if not `has_titles`, without values at
    /// the pointer.
    pub(super) fn draw(&self, attributes: &str, has_titles: bool) -> Option<String> {
        let mut series: Vec<Series> = self.series.iter().map(Series::thin).collect();
        series.retain(|series| !series.points.is_empty());
        series.first()?;
        Some(Canvas::new(self, &series, has_titles).draw(&series, attributes))
    }
}

struct Canvas<'p> {
    plot: &'p Plot,
    x: Interval,
    y: Interval,
    /// Whether to say what is where in titles.
    has_titles: bool,
    svg: String,
}

impl<'p> Canvas<'p> {
    fn new(plot: &'p Plot, series: &[Series], has_titles: bool) -> Self {
        let points = || series.iter().flat_map(|series| &series.points);
        let x: Vec<f64> = points().map(|point| point.x).collect();
        let ranges = points().map(|point| (point.y, point.range.unwrap_or((point.y, point.y))));
        let mut y: Vec<f64> = ranges.flat_map(|(y, (low, high))| [y, low, high]).collect();
        match plot.y.scale {
            Scale::Log if points().all(|point| point.y > 0.0) => y.retain(|&y| y > 0.0),
            Scale::Linear if series.iter().any(|s| s.mark == Mark::Bars) => y.push(0.0),
            _ => {}
        }
        let letters = series.iter().map(|series| series.letter.chars().count()).max().unwrap_or(0);
        let margin = if letters > 0 { GAP + LETTER[0] * letters as f64 } else { 0.0 };
        let x = Interval::new(&plot.x, &x, [X[0], (X[1] - margin).max(X[0] + LETTER[0])]);
        let y = Interval::new(&plot.y, &y, Y);
        Self { plot, x, y, has_titles, svg: String::new() }
    }

    /// Returns the plot of these series as an element.
    fn draw(mut self, all: &[Series], attributes: &str) -> String {
        let [width, height] = SIZE;
        let data = match self.has_titles {
            true => format!(" data-x=\"{}\" data-y=\"{}\"", self.x.data(), self.y.data()),
            false => String::new(),
        };
        self.svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" {UNSTYLED} \
             viewBox=\"0 0 {width} {height}\"{attributes}{data}>\n"
        );
        self.axes(all);
        let bars = all.iter().filter(|series| series.mark == Mark::Bars);
        let (mut bar, bars) = (0, bars.count());
        let (rest, told): (Vec<&Series>, Vec<_>) = all.iter().partition(|series| series.is_rest);
        for series in rest.into_iter().chain(told) {
            let color = Some(series.color).filter(|_| !series.is_rest);
            self.svg += &group(color, &self.data_of(series));
            if series.mark == Mark::Bars {
                self.bars(series, bar, bars);
                bar += 1;
            } else {
                self.series(series);
            }
            self.svg += "</g>\n";
        }
        self.letters(all);
        self.svg + "</svg>\n"
    }

    /// Writes the letters of curves right of the plot, apart from each other, each with a line to
    /// the end of its curve.
    fn letters(&mut self, all: &[Series]) {
        let lettered = all.iter().filter(|series| !series.letter.is_empty());
        let ends = lettered.filter_map(|series| Some((series, self.place(series.points.last()?))));
        let mut ends: Vec<(&Series, (f64, f64))> = ends.collect();
        ends.sort_by(|(_, a), (_, b)| a.1.total_cmp(&b.1));
        let mut places: Vec<f64> = ends.iter().map(|(_, (_, y))| *y).collect();
        let mut highest = Y[1] + LETTER[1] / 2.0;
        for place in &mut places {
            *place = place.max(highest);
            highest = *place + LETTER[1];
        }
        let mut lowest = Y[0];
        for place in places.iter_mut().rev() {
            *place = place.min(lowest);
            lowest = *place - LETTER[1];
        }
        let right = self.x.ends[1] + GAP;
        for ((series, (x, y)), place) in ends.into_iter().zip(places) {
            self.svg += &group(Some(series.color), "");
            self.path("leader", &format!("M{x:.1} {y:.1}L{:.1} {place:.1}", right - 2.0));
            self.svg += &text("letter", (right, place + 4.0), &series.letter);
            self.svg += "</g>\n";
        }
    }

    fn axes(&mut self, all: &[Series]) {
        let (plot, [left, right], [bottom, top]) = (self.plot, self.x.ends, Y);
        for &(from, to) in &plot.shaded {
            let (x, height) = (self.x.place(from), bottom - top);
            let width = self.x.place(to) - x;
            self.svg += &format!(
                "<rect class=\"shade\" x=\"{x:.1}\" y=\"{top}\" width=\"{width:.1}\" \
                 height=\"{height}\"/>\n"
            );
        }
        for (value, label) in self.x.ticks(&plot.x) {
            let x = self.x.place(value);
            self.path("grid", &format!("M{x:.1} {bottom}V{top}"));
            self.svg += &text("x", (x, bottom + 15.0), &label);
        }
        for (value, label) in self.y.ticks(&plot.y) {
            let y = self.y.place(value);
            self.path("grid", &format!("M{left} {y:.1}H{right}"));
            self.svg += &text("y", (left - 6.0, y + 4.0), &label);
        }
        let values = all.iter().flat_map(|series| &series.points).map(|point| point.y);
        let lowest = values.fold(f64::INFINITY, f64::min);
        if lowest < self.y.low {
            let note = format!("axis cut: values go down to {}", format_digits(lowest));
            self.svg += &text("y", (right - 4.0, bottom - 6.0), &note);
        }
        let minor = self.x.minor_ticks().into_iter();
        let minor = minor.map(|value| format!("M{:.1} {bottom}v-3.5", self.x.place(value)));
        let rows = self.y.minor_ticks().into_iter();
        let rows = rows.map(|value| format!("M{left} {:.1}h3.5", self.y.place(value)));
        let minor: String = minor.chain(rows).collect();
        self.path("axis", &format!("M{left} {top}V{bottom}H{right}{minor}"));
        self.svg += &text("x", ((left + right) / 2.0, SIZE[1] - 8.0), &plot.x.label);
        let middle = (bottom + top) / 2.0;
        self.svg += &format!("<g transform=\"rotate(-90 12 {middle})\" class=\"turned\">");
        self.svg += &text("x", (12.0, middle), &plot.y.label);
        self.svg += "</g>\n";
    }

    /// Returns the name of a series for scripts.
    fn data_of(&self, series: &Series) -> String {
        match self.has_titles && !series.name.is_empty() {
            true => format!(" data-name=\"{}\"", Escaped(&series.name)),
            false => String::new(),
        }
    }

    /// Returns the title of a point; nothing where there are none.
    fn title_of(&self, series: &Series, point: &Point) -> String {
        if !self.has_titles {
            return String::new();
        }
        let mut text = series.name.clone() + if series.name.is_empty() { "" } else { ": " };
        let [x, y] = [self.plot.x.describe(point.x), self.plot.y.describe(point.y)];
        text += &format!("{x}, {y}");
        if let Some((low, high)) = point.range.filter(|(low, high)| low < high) {
            text += &format!(" ({} to {})", format_digits(low), format_digits(high));
        }
        if let Some(count) = point.count {
            text += &format!(", n = {count}");
        }
        format!("<title>{}</title>", Escaped(&text))
    }

    fn series(&mut self, series: &Series) {
        let points = &series.points;
        let is_marked = match series.mark {
            Mark::LineAndPoints if !series.is_rest => points.len() <= MAX_MARKS,
            Mark::Points | Mark::Bars if !series.is_rest => true,
            _ => points.len() == 1,
        };
        if series.mark == Mark::Points || points.len() == 1 {
            points.iter().for_each(|point| self.error_bar(self.x.place(point.x), point));
        } else {
            self.band(points);
            let line = self.curve(points);
            self.path(line_class(series.mark, is_marked || series.is_rest), &line);
        }
        for point in points.iter().filter(|_| is_marked) {
            let title = self.title_of(series, point);
            let is_hollow = point.count.is_some_and(|count| count < FEW);
            self.svg += &shape(series.color, self.place(point), is_hollow, &title);
        }
        if let Some((x, y)) = series.best {
            let title = self.title_of(series, &Point::from((x, y)));
            let place = format!("M{:.1} {:.1}", self.x.place(x), self.y.place(y));
            self.svg += &filled("best", &(place + STAR), &title);
        }
    }

    /// Draws the bars of one of several series, which stand side by side.
    fn bars(&mut self, series: &Series, number: usize, count: usize) {
        let mut places: Vec<f64> = series.points.iter().map(|p| self.x.place(p.x)).collect();
        places.sort_by(f64::total_cmp);
        let gaps = places.windows(2).map(|pair| pair[1] - pair[0]);
        let gap = gaps.filter(|gap| *gap > 0.0).fold(X[1] - X[0], f64::min);
        let width = BAR * gap / count.max(1) as f64;
        let shift = (number as f64 - (count as f64 - 1.0) / 2.0) * width;
        let base = self.y.place(0.0);
        for point in &series.points {
            let (x, y) = self.place(point);
            let left = x + shift - width / 2.0;
            let bar = format!("M{left:.1} {base:.1}V{y:.1}h{width:.1}V{base:.1}z");
            self.svg += &filled("box", &bar, &self.title_of(series, point));
            self.error_bar(x + shift, point);
        }
    }

    /// Draws the band between the ranges of points.
    fn band(&mut self, points: &[Point]) {
        let ranges = points.iter().map(|point| Some((self.x.place(point.x), point.range?)));
        let Some(ranges) = ranges.collect::<Option<Vec<_>>>() else { return };
        let highs = ranges.iter().map(|(x, (_, high))| (x, *high));
        let outline = highs.chain(ranges.iter().rev().map(|(x, (low, _))| (x, *low)));
        let outline = outline.map(|(x, y)| format!("{x:.1} {:.1}", self.y.place(y)));
        let band = format!("M{}z", outline.collect::<Vec<_>>().join("L"));
        self.path("band", &band);
    }

    fn error_bar(&mut self, x: f64, point: &Point) {
        if let Some((low, high)) = point.range {
            let [low, high] = [low, high].map(|y| self.y.place(y));
            let left = x - 3.0;
            let bar =
                format!("M{x:.1} {low:.1}V{high:.1}M{left:.1} {low:.1}h6M{left:.1} {high:.1}h6");
            self.path("error", &bar);
        }
    }

    fn path(&mut self, class: &str, d: &str) {
        self.svg += &path(&format!("class=\"{class}\" d=\"{d}\""), "");
    }

    fn place(&self, point: &Point) -> (f64, f64) {
        (self.x.place(point.x), self.y.place(point.y))
    }

    /// Returns the path of a curve, without what lies below or above the plot.
    fn curve(&self, points: &[Point]) -> String {
        let places: Vec<(f64, f64)> =
            points.iter().map(|p| (self.x.place(p.x), self.y.place_beyond(p.y))).collect();
        let (mut path, mut last) = (String::new(), None);
        for [from, to] in places.windows(2).filter_map(|pair| within([pair[0], pair[1]])) {
            if last != Some(from) {
                path += &format!("M{:.1} {:.1}", from.0, from.1);
            }
            path += &format!("L{:.1} {:.1}", to.0, to.1);
            last = Some(to);
        }
        path
    }
}

/// Returns the part of a line between the ends of the y axis, if any.
fn within(line: [(f64, f64); 2]) -> Option<[(f64, f64); 2]> {
    let ([bottom, top], [from, to]) = (Y, line);
    let at = |y: f64| (from.0 + (y - from.1) / (to.1 - from.1) * (to.0 - from.0), y);
    let is_outside = from.1.min(to.1) > bottom || from.1.max(to.1) < top;
    (!is_outside).then(|| {
        line.map(|end| match end.1 {
            y if y > bottom => at(bottom),
            y if y < top => at(top),
            _ => end,
        })
    })
}
