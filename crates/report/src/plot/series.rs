//! Points in one style.

use dropchain::Error;
use serde::Deserialize;

use super::axis::LARGEST;

/// Number of styles of series in [`STYLE`](super::STYLE). A series beyond has the style of the
/// first again; letters at the curves tell them apart.
pub const COLORS: usize = 8;

/// Maximum number of points of a curve, and of one that is not told apart from others.
pub(super) const MAX_POINTS: usize = 400;
const MAX_REST: usize = 100;

/// How the points of a series are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// Connected; a single point as a mark.
    #[serde(skip)]
    Line,
    /// Connected marks; just connected, if there are many.
    #[default]
    #[serde(rename = "line")]
    LineAndPoints,
    /// Marks.
    Points,
    /// Bars from 0, or from the lowest value of a logarithmic axis.
    Bars,
    /// A dashed line without a color, to compare with.
    #[serde(rename = "dashed")]
    Reference,
}

/// A point, and the range around it in which its value may lie.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Vec<Option<f64>>")]
pub struct Point {
    /// The horizontal coordinate.
    pub x: f64,
    /// The vertical coordinate.
    pub y: f64,
    /// The lowest and the highest value.
    pub range: Option<(f64, f64)>,
    /// Number of observations behind it, if it says something of their reliability.
    pub count: Option<u64>,
}

impl From<(f64, f64)> for Point {
    fn from((x, y): (f64, f64)) -> Self {
        Self { x, y, range: None, count: None }
    }
}

/// Takes x and y, or x, y, the lowest and the highest value. A point is not drawn if one of x and y
/// is absent.
impl TryFrom<Vec<Option<f64>>> for Point {
    type Error = Error;

    fn try_from(numbers: Vec<Option<f64>>) -> Result<Self, Error> {
        let numbers: Vec<f64> = numbers.into_iter().map(|n| n.unwrap_or(f64::NAN)).collect();
        match numbers[..] {
            [x, y] => Ok(Self::from((x, y))),
            [x, y, low, high] => Ok(Self { range: Some((low, high)), ..Self::from((x, y)) }),
            _ => Err(Error::parameter(format!(
                "a point has {} numbers; expected x and y, or x, y, low and high",
                numbers.len()
            ))),
        }
    }
}

impl Point {
    /// Returns the point within the values that can be drawn; `None` if it is not finite.
    fn bounded(self) -> Option<Self> {
        let bounded = |value: f64| value.is_finite().then(|| value.clamp(-LARGEST, LARGEST));
        let range = self.range.and_then(|(low, high)| Some((bounded(low)?, bounded(high)?)));
        Some(Self { x: bounded(self.x)?, y: bounded(self.y)?, range, ..self })
    }
}

/// Points in one style.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Series {
    /// Name in the legend of a sheet.
    pub name: String,
    /// Number of its style.
    #[serde(skip)]
    pub color: usize,
    /// Text at the end of the curve.
    #[serde(skip)]
    pub letter: String,
    /// Drawing style of the points.
    #[serde(rename = "style")]
    pub mark: Mark,
    /// The points. Ranges are a band around a line, and error bars of points and bars.
    pub points: Vec<Point>,
    /// Whether it is one of many that are not told apart: thin and gray, below the others.
    #[serde(skip)]
    pub is_rest: bool,
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
        Self { color, mark, points, ..Self::default() }
    }

    /// Sets the name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Keeps the finite points, and of many only some: every k-th and the last.
    pub(super) fn thin(&self) -> Self {
        let points: Vec<Point> = self.points.iter().filter_map(|point| point.bounded()).collect();
        let max = if self.is_rest { MAX_REST } else { MAX_POINTS };
        let (step, len) = (points.len().div_ceil(max).max(1), points.len());
        let kept = points.into_iter().enumerate().filter(|(i, _)| i % step == 0 || i + 1 == len);
        let best = self.best.and_then(|best| Point::from(best).bounded());
        Self {
            points: kept.map(|(_, point)| point).collect(),
            best: best.map(|point| (point.x, point.y)),
            ..self.clone()
        }
    }
}
