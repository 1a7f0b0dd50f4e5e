//! Plots as SVG.
//!
//! A [`Plot`] is an element of a page, a [`Sheet`] of several plots a file of its own, for example
//! from a description in JSON ([`Sheet::parse`]). Both have classes instead of colors. [`STYLE`]
//! has these for light and dark pages. Each series has a color, and a shape of its points or dashes
//! that tell it from others without the color.

mod axis;
mod canvas;
mod elements;
mod series;
mod sheet;
#[cfg(test)]
mod tests;

pub use axis::{Axis, Scale};
pub use canvas::Plot;
pub use elements::STYLE;
pub(crate) use elements::swatch;
pub use series::{COLORS, Mark, Point, Series};
pub use sheet::Sheet;
