//! Plots, explanations and the colors of pages, for notebooks.

use dropchain_analysis::{Block, EXPLANATION_STYLE, ExplainedToken, blocks_html};
use dropchain_report::plot::{STYLE, Sheet};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;

use crate::error::exception;

/// The style of notebooks, whose themes need not be that of the browser.
const NOTEBOOK_STYLE: &str = include_str!("notebook.css");

/// Returns how notebooks show an object: the HTML that a function of `dropchain._html` makes.
///
/// # Errors
///
/// None of objects of the package.
pub fn shown<'py>(function: &str, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    object.py().import("dropchain._html")?.call_method1(function, (object,))
}

/// Draws a figure that is described in JSON, as an SVG file; None if there is nothing to draw.
#[pyfunction]
pub fn draw(description: &str) -> PyResult<Option<String>> {
    Ok(Sheet::parse(description).map_err(exception)?.svg())
}

/// Returns the style sheet of what notebooks show, with that of plots, which has the colors of
/// pages.
#[pyfunction]
pub fn style() -> String {
    format!("{}\n{NOTEBOOK_STYLE}", STYLE.replace(":root", ".dropchain"))
}

/// Returns the hue of a type in degrees: that of pages of tagged text.
#[pyfunction]
pub fn hue(label: &str) -> u16 {
    dropchain_formats::hue(label)
}

/// An explanation as `dropchain explain` writes it.
#[derive(Deserialize)]
struct Explained {
    tokens: Vec<String>,
    blocks: Vec<Block<'static>>,
    explanations: Vec<ExplainedToken<'static>>,
}

/// Returns the reasons of an explanation, given as JSON, as HTML with its style.
#[pyfunction]
pub fn explanation_html(json: &str) -> PyResult<String> {
    let explained: Explained =
        serde_json::from_str(json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let Explained { tokens, blocks, explanations } = explained;
    let html = blocks_html(&tokens, &blocks, &explanations);
    Ok(format!("<style>{EXPLANATION_STYLE}</style>{html}"))
}
