//! A plot, and its drawing.

use dropchain_formats::Escaped;

use super::STYLE;
use super::axis::{Axis, Interval, Scale};
use super::series::{COLORS, Mark, Point, Series};

/// Width and height of a plot.
pub(super) const SIZE: [f64; 2] = [420.0, 250.0];

/// Ends of the axes in the plot: left and right, bottom and top.
const X: [f64; 2] = [60.0, 406.0];
const Y: [f64; 2] = [208.0, 8.0];

/// Maximum number of points of a curve that are marked.
const MAX_MARKS: usize = 40;

/// Share of the distance between bars that they fill.
const BAR: f64 = 0.8;

/// The marks, centered at 0: circle, square, triangle, diamond, triangle, cross, hexagon and bar.
const SHAPES: [&str; COLORS] = [
    "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
    "m-2.7-2.7h5.4v5.4h-5.4z",
    "m0-3.6l3.5 6.2h-7z",
    "m0-3.9l3.5 3.9l-3.5 3.9l-3.5-3.9z",
    "m0 3.6l3.5-6.2h-7z",
    "m-1.2-3.5h2.4v2.3h2.3v2.4h-2.3v2.3h-2.4v-2.3h-2.3v-2.4h2.3z",
    "m-1.9-3.2h3.8l1.9 3.2l-1.9 3.2h-3.8l-1.9-3.2z",
    "m-1.4-3.8h2.8v7.6h-2.8z",
];

/// The color of text where style sheets are removed.
const INK: &str = "#1c2024";

/// Attributes of plots where style sheets are removed. A style sheet has precedence over them.
pub(super) const UNSTYLED: &str =
    "fill=\"none\" stroke=\"#5b636b\" font-family=\"sans-serif\" font-size=\"11.5\"";

/// Returns the beginning of the group of a series.
pub(super) fn group(number: usize) -> String {
    let number = number % COLORS;
    // Where style sheets are removed, the color of light pages.
    let color = STYLE.split_once(&format!("--c{number}: light-dark("));
    let color = color.and_then(|(_, rest)| rest.split_once(','));
    let color = color.map_or(INK, |(color, _)| color);
    format!("<g class=\"s{number}\" color=\"{color}\" stroke=\"{color}\">\n")
}

/// Returns the path of the mark of a color at a place.
pub(super) fn shape(color: usize, (x, y): (f64, f64)) -> String {
    let shape = SHAPES[color % COLORS];
    format!("<path class=\"mark\" fill=\"currentColor\" d=\"M{x:.1} {y:.1}{shape}\"/>\n")
}

/// Returns the class of the line of a series: without marks, dashes tell it from others.
pub(super) fn line_class(mark: Mark, is_marked: bool) -> &'static str {
    match mark {
        Mark::Reference => "reference",
        _ if is_marked => "line",
        _ => "line dashed",
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

    /// Draws the plot as an element of a page that has [`STYLE`](super::STYLE); `None` if no point
    /// has finite coordinates.
    pub fn svg(&self) -> Option<String> {
        self.svg_at("")
    }

    /// Draws the plot as [`svg`](Self::svg) does, with more attributes of the element.
    pub(super) fn svg_at(&self, attributes: &str) -> Option<String> {
        let series: Vec<Series> = self.series.iter().map(Series::thin).collect();
        series.iter().find(|series| !series.points.is_empty())?;
        Some(Canvas::new(self, &series).draw(self, &series, attributes))
    }
}

struct Canvas {
    x: Interval,
    y: Interval,
    svg: String,
}

impl Canvas {
    fn new(plot: &Plot, series: &[Series]) -> Self {
        let points = || series.iter().flat_map(|series| &series.points);
        let x: Vec<f64> = points().map(|point| point.x).collect();
        let ranges = points().flat_map(|point| [Some(point.y), lows(point), highs(point)]);
        let mut y: Vec<f64> = ranges.flatten().collect();
        match plot.y.scale {
            Scale::Log if points().all(|point| point.y > 0.0) => y.retain(|&y| y > 0.0),
            Scale::Linear if series.iter().any(|s| s.mark == Mark::Bars) => y.push(0.0),
            _ => {}
        }
        Self {
            x: Interval::new(&plot.x, &x, X),
            y: Interval::new(&plot.y, &y, Y),
            svg: String::new(),
        }
    }

    /// Returns the plot as an element.
    fn draw(mut self, plot: &Plot, series: &[Series], attributes: &str) -> String {
        let [width, height] = SIZE;
        self.svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" {UNSTYLED} \
             viewBox=\"0 0 {width} {height}\"{attributes}>\n"
        );
        self.axes(plot);
        if plot.diagonal {
            let ends = [(0.0, 0.0), (1.0, 1.0)].map(Point::from);
            let line = self.line(&ends);
            self.path("axis", &line);
        }
        let bars = || series.iter().filter(|series| series.mark == Mark::Bars);
        let mut bar = 0;
        for (i, series) in series.iter().enumerate() {
            self.svg += &group(series.color);
            // Letters at different places, since curves often end in the same one.
            let letter_at = (i + 1) * series.points.len() / (plot.series.len() + 1);
            match series.mark {
                Mark::Bars => {
                    self.bars(series, bar, bars().count());
                    bar += 1;
                }
                _ => self.series(series, letter_at),
            }
            self.svg += "</g>\n";
        }
        self.svg + "</svg>\n"
    }

    fn axes(&mut self, plot: &Plot) {
        let ([left, right], [bottom, top]) = (X, Y);
        for &(from, to) in &plot.shaded {
            let (x, end, height) = (self.x.place(from), self.x.place(to), bottom - top);
            self.svg += &format!(
                "<rect class=\"shade\" x=\"{x:.1}\" y=\"{top}\" width=\"{:.1}\" \
                 height=\"{height}\"/>\n",
                end - x
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
        let minor = self.x.minor_ticks().into_iter();
        let minor = minor.map(|value| format!("M{:.1} {bottom}v-3.5", self.x.place(value)));
        let rows = self.y.minor_ticks().into_iter();
        let rows = rows.map(|value| format!("M{left} {:.1}h3.5", self.y.place(value)));
        let minor: String = minor.chain(rows).collect();
        self.path("axis", &format!("M{left} {top}V{bottom}H{right}{minor}"));
        self.text("x", ((left + right) / 2.0, SIZE[1] - 8.0), &plot.x.label);
        let middle = (bottom + top) / 2.0;
        self.svg += &format!("<g transform=\"rotate(-90 12 {middle})\" class=\"turned\">");
        self.text("x", (12.0, middle), &plot.y.label);
        self.svg += "</g>\n";
    }

    fn series(&mut self, series: &Series, letter_at: usize) {
        let points = &series.points;
        let is_marked = match series.mark {
            Mark::Line | Mark::Reference => points.len() == 1,
            Mark::LineAndPoints => points.len() <= MAX_MARKS,
            Mark::Points | Mark::Bars => true,
        };
        if series.mark == Mark::Points || points.len() == 1 {
            points.iter().for_each(|point| self.error_bar(*point));
        } else {
            self.band(points);
            let line = self.line(points);
            self.path(line_class(series.mark, is_marked), &line);
        }
        for point in points.iter().filter(|_| is_marked) {
            self.svg += &shape(series.color, self.place(point));
        }
        if let Some((x, y)) = series.best {
            let (x, y) = (self.x.place(x), self.y.place(y));
            self.svg += &format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\"/>\n");
        }
        let labeled = points.get(letter_at).filter(|_| !series.letter.is_empty());
        if let Some(point) = labeled {
            let (x, y) = self.place(point);
            self.text("letter", (x + 4.0, y.max(20.0) - 6.0), &series.letter);
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
            self.svg += &rectangle(&bar);
            self.error_bar_at(x + shift, *point);
        }
    }

    /// Draws the band between the ranges of points.
    fn band(&mut self, points: &[Point]) {
        if !points.iter().all(|point| point.range.is_some()) {
            return;
        }
        let end = |end: fn(&Point) -> Option<f64>| {
            let end = points.iter().map(move |p| (p.x, end(p).unwrap_or(p.y)));
            end.map(Point::from).collect::<Vec<_>>()
        };
        let (mut outline, back) = (end(highs), end(lows));
        outline.extend(back.into_iter().rev());
        let band = self.line(&outline) + "z";
        self.path("band", &band);
    }

    fn error_bar(&mut self, point: Point) {
        self.error_bar_at(self.x.place(point.x), point);
    }

    fn error_bar_at(&mut self, x: f64, point: Point) {
        if let Some((low, high)) = point.range {
            let [low, high] = [low, high].map(|y| self.y.place(y));
            let left = x - 3.0;
            let bar =
                format!("M{x:.1} {low:.1}V{high:.1}M{left:.1} {low:.1}h6M{left:.1} {high:.1}h6");
            self.path("error", &bar);
        }
    }

    fn path(&mut self, class: &str, d: &str) {
        self.svg += &format!("<path class=\"{class}\" d=\"{d}\"/>\n");
    }

    fn text(&mut self, class: &str, place: (f64, f64), content: &str) {
        self.svg += &text(class, place, content);
    }

    fn place(&self, point: &Point) -> (f64, f64) {
        (self.x.place(point.x), self.y.place(point.y))
    }

    /// Returns the path through points.
    fn line(&self, points: &[Point]) -> String {
        let places = points.iter().map(|point| self.place(point));
        let places: Vec<String> = places.map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        format!("M{}", places.join("L"))
    }
}

/// Returns a filled rectangle.
pub(super) fn rectangle(d: &str) -> String {
    format!("<path class=\"box\" fill=\"currentColor\" d=\"{d}\"/>\n")
}

/// Returns a text at a place.
pub(super) fn text(class: &str, (x, y): (f64, f64), content: &str) -> String {
    let content = Escaped(content);
    let anchor = match class {
        "x" => "middle",
        "y" => "end",
        _ => "start",
    };
    format!(
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" \
         fill=\"{INK}\" stroke=\"none\">{content}</text>\n"
    )
}

fn lows(point: &Point) -> Option<f64> {
    point.range.map(|(low, _)| low)
}

fn highs(point: &Point) -> Option<f64> {
    point.range.map(|(_, high)| high)
}
