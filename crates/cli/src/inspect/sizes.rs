//! What takes how much of a model: the parts of the file, and the template lines.

use dropchain::model::Model;
use dropchain_analysis::LineStatistics;

use crate::table::format_table;
use crate::terminal::{cut, wrap};

/// Columns of the numbers of a template line.
const NUMBERS: usize = 56;

/// Returns the sizes of the parts of the file, as a table.
pub fn sizes_text(model: &Model) -> String {
    let total = model.as_bytes().len();
    let rows = parts(model).into_iter().filter(|(_, bytes)| *bytes > 0);
    let rows = rows.map(|(name, bytes)| {
        let share = 100.0 * bytes as f64 / total as f64;
        [name.to_owned(), bytes.to_string(), format!("{share:.1} %")]
    });
    format!("\nbytes of the file\n{}", format_table(rows))
}

/// Returns the parts of the file with their sizes in bytes.
fn parts(model: &Model) -> [(&'static str, usize); 11] {
    let sizes = model.sizes();
    let (nodes, edges) = (sizes.nodes, sizes.edges);
    [
        ("header: labels, transitions, template", sizes.header),
        ("checksums", sizes.checksums),
        ("node attributes: hash table", nodes.slots),
        ("node attributes: weights", nodes.weights),
        ("node attributes: names", nodes.names),
        ("node attributes: lengths of names", nodes.ends),
        ("edge attributes: hash table", edges.slots),
        ("edge attributes: weights", edges.weights),
        ("edge attributes: names", edges.names),
        ("edge attributes: lengths of names", edges.ends),
        ("first pass", sizes.first_pass),
    ]
}

/// Returns what each template line contributes, as a table that fits the terminal; nothing without
/// a template.
pub fn lines_text(model: &Model, lines: &[LineStatistics], columns: usize) -> String {
    let Some(template) = &model.header().template else {
        return String::new();
    };
    let width = columns.saturating_sub(NUMBERS).clamp(16, 60);
    let index = template.attribute_lines();
    let names = index
        .lines()
        .iter()
        .map(|(number, text)| format!("{number} {text}"));
    let names = names.chain([String::from("others")]);
    let mut rows = vec![
        [
            "template line",
            "attributes",
            "weights",
            "|weight|",
            "squares",
            "bytes",
        ]
        .map(str::to_owned),
    ];
    for (name, line) in names.zip(lines) {
        let is_last = rows.len() == lines.len();
        if is_last && line.attributes == 0 {
            continue;
        }
        rows.push([
            cut(&name, width),
            line.attributes.to_string(),
            line.weights.to_string(),
            number(line.absolute),
            number(line.squares),
            format!("{:.0}", line.bytes),
        ]);
    }
    let caption = "attributes by template line: number, weights that are not 0, sums of their \
                   absolute values and squares, bytes";
    format!(
        "\n{}\n{}",
        wrap(caption, columns, 0),
        format_table(rows.into_iter())
    )
}

/// Formats a sum with three or more digits.
fn number(sum: f64) -> String {
    let decimals = match sum {
        sum if sum >= 100.0 => 0,
        sum if sum >= 10.0 => 1,
        _ => 2,
    };
    format!("{sum:.decimals$}")
}
