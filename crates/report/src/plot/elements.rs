//! The elements of a drawing: marks, lines, text.

use dropchain_formats::Escaped;

use super::series::{COLORS, Mark};

/// The style sheet of plots.
pub const STYLE: &str = include_str!("plot.css");

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

/// Returns the beginning of the group of a series with a color, or without one, with more
/// attributes.
pub(super) fn group(number: Option<usize>, attributes: &str) -> String {
    let Some(number) = number.map(|number| number % COLORS) else {
        return format!("<g class=\"rest\"{attributes}>\n");
    };
    // Where style sheets are removed, the color of light pages.
    let color = STYLE.split_once(&format!("--c{number}: light-dark("));
    let color = color.and_then(|(_, rest)| rest.split_once(','));
    let color = color.map_or(INK, |(color, _)| color);
    format!("<g class=\"s{number}\" color=\"{color}\" stroke=\"{color}\"{attributes}>\n")
}

/// Returns the path of the mark of a color at a place, with what is in it; hollow marks are those
/// of few observations.
pub(super) fn shape(color: usize, (x, y): (f64, f64), is_hollow: bool, content: &str) -> String {
    let shape = SHAPES[color % COLORS];
    let shape = format!("M{x:.1} {y:.1}{shape}");
    match is_hollow {
        true => path(&format!("class=\"mark hollow\" fill=\"none\" d=\"{shape}\""), content),
        false => filled("mark", &shape, content),
    }
}

/// Returns the key of a series in a legend beside plots: its color and dashes, and its mark.
pub(crate) fn swatch(color: Option<usize>, is_marked: bool) -> String {
    let class = line_class(Mark::Line, is_marked || color.is_none());
    let mark = color.filter(|_| is_marked);
    let mark = mark.map_or(String::new(), |color| shape(color, (16.0, 6.0), false, ""));
    let group = group(color, "");
    format!(
        "<svg class=\"plot swatch\" viewBox=\"0 0 32 12\" aria-hidden=\"true\">{group}\
         <path class=\"{class}\" d=\"M0 6H32\"/>{mark}</g></svg>"
    )
}

/// Returns a path with what is in it.
pub(super) fn path(attributes: &str, content: &str) -> String {
    match content {
        "" => format!("<path {attributes}/>\n"),
        _ => format!("<path {attributes}>{content}</path>\n"),
    }
}

/// Returns the class of the line of a series: without marks, dashes tell it from others.
pub(super) fn line_class(mark: Mark, is_marked: bool) -> &'static str {
    match mark {
        Mark::Reference => "reference",
        _ if is_marked => "line",
        _ => "line dashed",
    }
}

/// Returns a filled path of a class with what is in it.
pub(super) fn filled(class: &str, d: &str, content: &str) -> String {
    path(&format!("class=\"{class}\" fill=\"currentColor\" d=\"{d}\""), content)
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
