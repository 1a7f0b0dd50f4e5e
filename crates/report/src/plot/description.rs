//! Figures described in JSON.
//!
//! ```json
//! {"title": "…", "note": "…", "columns": 2, "panels": [{
//!     "title": "…", "x": {"label": "λ", "scale": "log"}, "y": {"label": "accuracy"},
//!     "series": [{"name": "L2", "style": "line", "points": [[0.1, 90.2], [1, 91.0, 90.5, 91.4]]}]
//! }]}
//! ```
//!
//! A point has x and y, and may have the lowest and the highest value of y; `null` is no point. An
//! axis may have a `range`, or `names` of the values 0, 1, 2, …; a panel `shaded` ranges of x, and
//! a series the `best` point. A figure of one plot may have its `x`, `y` and `series` without
//! `panels`.

use dropchain::error::{Error, Result};
use serde::Deserialize;

use super::{Axis, Mark, Panel, Plot, Point, Series, Sheet};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SheetDescription {
    #[serde(default)]
    title: String,
    #[serde(default)]
    panels: Vec<PanelDescription>,
    columns: Option<usize>,
    #[serde(default)]
    note: String,
    #[serde(default)]
    x: Axis,
    #[serde(default)]
    y: Axis,
    #[serde(default)]
    series: Vec<SeriesDescription>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PanelDescription {
    #[serde(default)]
    title: String,
    #[serde(default)]
    x: Axis,
    #[serde(default)]
    y: Axis,
    series: Vec<SeriesDescription>,
    #[serde(default)]
    shaded: Vec<(f64, f64)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SeriesDescription {
    #[serde(default)]
    name: String,
    #[serde(default)]
    style: Style,
    best: Option<(f64, f64)>,
    points: Vec<Vec<Option<f64>>>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Style {
    #[default]
    Line,
    Points,
    Dashed,
    Bars,
}

impl Sheet {
    /// Parses a description in JSON.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the text is none, or a point has not two or four numbers.
    pub fn parse(text: &str) -> Result<Self> {
        let invalid = |e| Error::parameter(format!("not the description of a figure: {e}"));
        let sheet: SheetDescription = serde_json::from_str(text).map_err(invalid)?;
        let mut panels = sheet.panels;
        if !sheet.series.is_empty() {
            panels.insert(
                0,
                PanelDescription {
                    title: String::new(),
                    x: sheet.x,
                    y: sheet.y,
                    series: sheet.series,
                    shaded: Vec::new(),
                },
            );
        }
        Ok(Self {
            title: sheet.title,
            panels: panels.into_iter().map(panel).collect::<Result<_>>()?,
            columns: sheet.columns,
            note: sheet.note,
        })
    }
}

fn panel(panel: PanelDescription) -> Result<Panel> {
    let series = panel.series.into_iter().map(series);
    let mut plot = Plot::new(panel.x, panel.y, series.collect::<Result<_>>()?);
    if !plot.x.names.is_empty() {
        plot.x.range = Some((-0.5, plot.x.names.len() as f64 - 0.5));
    }
    plot.shaded = panel.shaded;
    Ok(Panel { title: panel.title, plot })
}

fn series(description: SeriesDescription) -> Result<Series> {
    let mark = match description.style {
        Style::Line => Mark::LineAndPoints,
        Style::Points => Mark::Points,
        Style::Dashed => Mark::Reference,
        Style::Bars => Mark::Bars,
    };
    let mut points = Vec::new();
    for numbers in description.points {
        let Some(numbers) = numbers.into_iter().collect::<Option<Vec<f64>>>() else {
            continue;
        };
        points.push(match numbers[..] {
            [x, y] => Point::from((x, y)),
            [x, y, low, high] => Point { range: Some((low, high)), ..Point::from((x, y)) },
            _ => {
                return Err(Error::parameter(format!(
                    "a point of series {:?} has {} numbers; expected x and y, or x, y, low and \
                     high",
                    description.name,
                    numbers.len()
                )));
            }
        });
    }
    let series = Series::new(0, mark, points).name(description.name);
    Ok(series.best(description.best))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_drawn() {
        let text = r#"{"title": "T", "x": {"label": "r", "scale": "log"}, "y": {"label": "e"},
            "series": [
                {"name": "a", "points": [[1, 2], [2, 3, 2.5, 3.5], [null, 4]], "best": [2, 3]},
                {"name": "b", "style": "bars", "points": [[1, 1]]}]}"#;
        let sheet = Sheet::parse(text).unwrap();
        let series = &sheet.panels[0].plot.series;
        assert_eq!(series[0].points.len(), 2);
        assert_eq!(series[0].points[1].range, Some((2.5, 3.5)));
        let svg = sheet.svg().unwrap();
        assert!(svg.contains("class=\"box\"") && svg.contains("<circle "));
    }

    #[test]
    fn ranges_of_a_panel_are_shaded() {
        let text =
            r#"{"panels": [{"shaded": [[0, 1]], "series": [{"points": [[0, 1], [4, 2]]}]}]}"#;
        let svg = Sheet::parse(text).unwrap().svg().unwrap();
        assert_eq!(svg.matches("class=\"shade\"").count(), 1);
    }

    #[test]
    fn a_figure_without_its_style_sheet_has_colors_and_no_filled_lines() {
        let text = r#"{"series": [{"points": [[1, 2], [2, 3]]}]}"#;
        let svg = Sheet::parse(text).unwrap().svg().unwrap();
        assert!(svg.contains("class=\"plot sheet\" fill=\"none\""), "{svg}");
        assert!(svg.contains("<g class=\"s0\" color=\"#0072b2\""), "{svg}");
        assert!(svg.matches("<text ").count() == svg.matches("stroke=\"none\">").count());
    }

    #[test]
    fn what_is_no_description_is_an_error() {
        let error = |text| Sheet::parse(text).unwrap_err().to_string();
        let message = error(r#"{"series": [{"name": "a", "points": [[1, 2, 3]]}]}"#);
        assert!(message.contains("series \"a\" has 3 numbers; expected x and y"), "{message}");
        let message = error(r#"{"serie": []}"#);
        assert!(message.contains("unknown field `serie`"), "{message}");
    }
}
