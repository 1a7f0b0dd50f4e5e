//! Plots, and the colors of pages, for notebooks.

use dropchain_report::plot::{STYLE, Sheet};
use pyo3::prelude::*;

use crate::error::exception;

/// Returns how notebooks show an object: the HTML that a function of `dropchain._views` makes.
///
/// # Errors
///
/// None of objects of the package.
pub fn shown<'py>(function: &str, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let module = object.py().import("dropchain._views")?;
    module.call_method1(function, (object,))
}

/// Draws a figure that is described in JSON, as an SVG file; None if there is nothing to draw.
#[pyfunction]
pub fn draw(description: &str) -> PyResult<Option<String>> {
    let sheet = Sheet::parse(description).map_err(exception)?;
    Ok(sheet.svg())
}

/// Returns the style sheet of plots, which has the colors of pages.
#[pyfunction]
pub fn plot_style() -> &'static str {
    STYLE
}

/// Returns the hue of a type in degrees: that of pages of tagged text.
#[pyfunction]
pub fn hue(label: &str) -> u16 {
    dropchain_formats::hue(label)
}
