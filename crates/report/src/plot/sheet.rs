//! Plots side by side, as a file of their own.

use dropchain::{Error, Result};
use dropchain_formats::Escaped;
use serde::Deserialize;

use super::STYLE;
use super::canvas::{Plot, SIZE};
use super::elements::{UNSTYLED, filled, group, line_class, path, shape, text};
use super::series::{Mark, Series};

/// Colors and fonts that a page otherwise has.
const SHEET_STYLE: &str = include_str!("sheet.css");

/// Space around the plots, and between them.
const MARGIN: f64 = 16.0;

/// Heights of a line of the title, of the legend and of the note, and of the title of a panel.
const TITLE: f64 = 26.0;
const LINE: f64 = 19.0;
const HEADING: f64 = 24.0;

/// Width of a sample in the legend with the space around it, and about that of a character.
const SAMPLE: f64 = 52.0;
const CHARACTER: f64 = 6.4;

/// Plots with a legend that they share, or with their own if no series is in two of them.
///
/// Series of the same name have the same color in all plots. Described in JSON, it is
///
/// ```json
/// {"title": "…", "note": "…", "columns": 2, "panels": [{
///     "title": "…", "x": {"label": "λ", "scale": "log"}, "y": {"label": "accuracy"},
///     "series": [{"name": "L2", "style": "line", "points": [[0.1, 90.2], [1, 91.0, 90.5, 91.4]]}]
/// }]}
/// ```
///
/// A point has x and y, and may have the lowest and the highest value of y; one without a number
/// (`null`) is not drawn. An axis may have a `range`, or `names` of the values 0, 1, 2, …; a plot
/// `shaded` ranges of x, and a series the `best` point. Styles are `line`, `points`, `dashed` and
/// `bars`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sheet {
    /// The title.
    pub title: String,
    /// The plots, row by row.
    pub panels: Vec<Plot>,
    /// The number of plots in a row; by default two, if there are several.
    pub columns: Option<usize>,
    /// Text below the plot.
    pub note: String,
}

impl Sheet {
    /// Parses a description in JSON.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the text is none, or a point has not two or four numbers.
    pub fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text)
            .map_err(|e| Error::parameter(format!("not the description of a figure: {e}")))
    }

    /// Adds a plot.
    pub fn add(&mut self, title: impl Into<String>, plot: Plot) {
        self.panels.push(Plot { title: title.into(), ..plot });
    }

    /// Returns the sheet as an SVG file for light and dark pages; `None` if there is nothing to
    /// draw.
    pub fn svg(&self) -> Option<String> {
        let panels = self.colored();
        let columns = self.columns.unwrap_or(2).clamp(1, panels.len().max(1));
        let width = columns as f64 * (SIZE[0] + MARGIN) + MARGIN;
        let (mut body, mut y) = (String::new(), MARGIN);
        if !self.title.is_empty() {
            body += &text("title", (MARGIN, y + 14.0), &self.title);
            y += TITLE;
        }
        let shared = legend(&panels);
        let has_own = panels.len() > 1
            && shared.len() == panels.iter().map(|panel| legend([panel]).len()).sum::<usize>();
        if !has_own {
            y = draw_legend(&shared, (MARGIN, width), y, &mut body);
        }
        for row in panels.chunks(columns) {
            let title = if row.iter().any(|p| !p.title.is_empty()) { HEADING } else { 0.0 };
            let places = (0..).map(|i| MARGIN + f64::from(i) * (SIZE[0] + MARGIN));
            let legends = row.iter().zip(places.clone()).filter(|_| has_own).map(|(panel, x)| {
                draw_legend(&legend([panel]), (x + 4.0, x + SIZE[0]), y + title, &mut body) - y
            });
            let heading = legends.fold(title, f64::max);
            let mut is_empty = true;
            for (panel, x) in row.iter().zip(places) {
                let ([width, height], top) = (SIZE, y + heading);
                let place = format!(" x=\"{x}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"");
                let Some(plot) = panel.draw(&place, false) else { continue };
                is_empty = false;
                body += &text("heading", (x + 4.0, y + 15.0), &panel.title);
                body += &plot;
            }
            y += if is_empty { 0.0 } else { heading + SIZE[1] + MARGIN / 2.0 };
        }
        if !body.contains("<svg") {
            return None;
        }
        for line in wrap(&self.note, width - 2.0 * MARGIN) {
            body += &text("note", (MARGIN, y + 12.0), &line);
            y += LINE;
        }
        let height = y + MARGIN / 2.0;
        let (title, description) = (Escaped(&self.title), self.description());
        let (description, style) = (Escaped(&description), STYLE.replace(":root", ".sheet"));
        Some(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot sheet\" {UNSTYLED} \
             role=\"img\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
             <title>{title}</title>\n<desc>{description}</desc>\n<style>\n{style}{SHEET_STYLE}\
             </style>\n<rect class=\"page\" fill=\"#ffffff\" stroke=\"none\" width=\"100%\" \
             height=\"100%\"/>\n{body}</svg>\n"
        ))
    }

    /// Returns the plots, where series of the same name have the same color.
    fn colored(&self) -> Vec<Plot> {
        let (mut panels, mut names) = (self.panels.clone(), Vec::<String>::new());
        let series = panels.iter_mut().flat_map(|panel| &mut panel.series);
        for series in series.filter(|series| series.mark != Mark::Reference) {
            let known = names.iter().position(|name| *name == series.name);
            series.color = known.unwrap_or_else(|| {
                names.push(series.name.clone());
                names.len() - 1
            });
        }
        panels
    }

    /// Describes the sheet for those who do not see it.
    fn description(&self) -> String {
        let panels = self.panels.iter().map(|plot| {
            let series = plot.series.iter().filter(|series| !series.name.is_empty());
            let series: Vec<&str> = series.map(|series| series.name.as_str()).collect();
            let title = if plot.title.is_empty() { "Plot" } else { &plot.title };
            let (x, y) = (&plot.x.label, &plot.y.label);
            format!("{title}: {y} by {x}; {}.", series.join(", "))
        });
        panels.chain([self.note.clone()]).collect::<Vec<_>>().join(" ").trim().to_owned()
    }
}

/// Returns the names of all series, each once; those of references come last.
fn legend<'a>(panels: impl IntoIterator<Item = &'a Plot>) -> Vec<&'a Series> {
    let mut entries: Vec<&Series> = Vec::new();
    let series = panels.into_iter().flat_map(|panel| &panel.series);
    let (references, others): (Vec<&Series>, _) =
        series.partition(|series| series.mark == Mark::Reference);
    for series in others.into_iter().chain(references) {
        let is_known = entries.iter().any(|entry| entry.name == series.name);
        if !series.name.is_empty() && !series.points.is_empty() && !is_known {
            entries.push(series);
        }
    }
    entries
}

/// Draws a legend from left to right in as many lines as it takes; returns where it ends.
fn draw_legend(
    entries: &[&Series],
    (left, right): (f64, f64),
    mut y: f64,
    body: &mut String,
) -> f64 {
    let mut x = left;
    for entry in entries {
        let entry_width = SAMPLE + CHARACTER * entry.name.chars().count() as f64;
        if x > left && x + entry_width > right {
            (x, y) = (left, y + LINE);
        }
        let middle = y + 7.0;
        *body += &group(Some(entry.color), "");
        if entry.mark == Mark::Bars {
            *body += &filled("box", &format!("M{x:.1} {}h24v9h-24z", middle - 4.5), "");
        } else if entry.mark != Mark::Points {
            let class = line_class(entry.mark, entry.mark == Mark::LineAndPoints);
            *body += &path(&format!("class=\"{class}\" d=\"M{x:.1} {middle}h24\""), "");
        }
        if matches!(entry.mark, Mark::LineAndPoints | Mark::Points) {
            *body += &shape(entry.color, (x + 12.0, middle), false, "");
        }
        *body += "</g>\n";
        *body += &text("name", (x + 30.0, middle + 4.0), &entry.name);
        x += entry_width;
    }
    if entries.is_empty() { y } else { y + LINE + 4.0 }
}

/// Breaks a text into lines of about this width.
fn wrap(note: &str, width: f64) -> Vec<String> {
    let limit = (width / CHARACTER) as usize;
    let mut lines: Vec<String> = Vec::new();
    for word in note.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= limit => {
                *line += " ";
                *line += word;
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::Axis;
    use super::*;

    fn sheet(names: &[&str]) -> Sheet {
        let mut sheet = Sheet::default();
        for name in names {
            let series = Series::new(0, Mark::LineAndPoints, [(1.0, 1.0), (2.0, 3.0)]);
            let plot = Plot::new(Axis::default(), Axis::default(), vec![series.name(*name)]);
            sheet.add("<panel>", plot);
        }
        sheet.title = "A & B".to_owned();
        sheet
    }

    #[test]
    fn a_file_has_a_title_a_description_and_both_themes() {
        let svg = sheet(&["a"]).svg().unwrap();
        for part in [
            "<title>A &amp; B</title>",
            "<desc>&lt;panel&gt;:",
            "role=\"img\"",
            "color-scheme: light dark",
            "--text: light-dark(",
        ] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
    }

    #[test]
    fn series_of_the_same_name_share_a_color_and_a_line_of_the_legend() {
        let svg = sheet(&["a", "b", "a"]).svg().unwrap();
        assert_eq!(svg.matches(">a</text>").count(), 1);
        assert_eq!(svg.matches("<g class=\"s0\"").count(), 3);
        assert_eq!(svg.matches("<g class=\"s1\"").count(), 2);
    }

    #[test]
    fn plots_without_common_series_have_legends_of_their_own() {
        let own = sheet(&["a", "b"]).svg().unwrap();
        let place = own[..own.find(">b</text>").unwrap()].rsplit_once(" x=\"").unwrap().1;
        assert!(place.starts_with("486"), "{place}");
    }

    #[test]
    fn a_sheet_without_points_is_none() {
        assert_eq!(Sheet::default().svg(), None);
    }

    #[test]
    fn notes_are_wrapped() {
        let note = "word ".repeat(100);
        let lines = wrap(&note, 400.0);
        assert!(lines.len() > 5 && lines.iter().all(|line| line.len() <= 62), "{lines:?}");
    }

    #[test]
    fn a_description_is_drawn() {
        let text = r#"{"title": "T", "panels": [{
            "x": {"label": "r", "scale": "log"}, "y": {"label": "e"},
            "series": [
                {"name": "a", "points": [[1, 2], [2, 3, 2.5, 3.5], [null, 4]], "best": [2, 3]},
                {"name": "b", "style": "bars", "points": [[1, 1]]}]}]}"#;
        let sheet = Sheet::parse(text).unwrap();
        let series = &sheet.panels[0].series;
        assert_eq!(series[0].points.len(), 3);
        assert_eq!(series[0].points[1].range, Some((2.5, 3.5)));
        let svg = sheet.svg().unwrap();
        assert!(svg.contains("class=\"box\"") && svg.contains("class=\"best\""));
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
        let text = r#"{"panels": [{"series": [{"points": [[1, 2], [2, 3]]}]}]}"#;
        let svg = Sheet::parse(text).unwrap().svg().unwrap();
        assert!(svg.contains("class=\"plot sheet\" fill=\"none\""), "{svg}");
        assert!(svg.contains("<g class=\"s0\" color=\"#0072b2\""), "{svg}");
        assert!(svg.matches("<text ").count() == svg.matches("stroke=\"none\">").count());
    }

    #[test]
    fn what_is_no_description_is_an_error() {
        let error = |text| Sheet::parse(text).unwrap_err().to_string();
        let message = error(r#"{"panels": [{"series": [{"points": [[1, 2, 3]]}]}]}"#);
        assert!(message.contains("a point has 3 numbers; expected x and y"), "{message}");
        let message = error(r#"{"serie": []}"#);
        assert!(message.contains("unknown field `serie`"), "{message}");
    }
}
