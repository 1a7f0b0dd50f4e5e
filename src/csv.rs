//! Splitting rows of CSV.

use std::borrow::Cow;

/// Splits a line of CSV into cells. In a quoted one, two quotes are one; a quote that does not end
/// on the line is a character like others.
pub(crate) fn csv_cells(line: &str, separator: char) -> Vec<Cow<'_, str>> {
    let (mut cells, mut rest) = (Vec::new(), Some(line));
    while let Some(text) = rest {
        let (cell, after) =
            quoted(text, separator).unwrap_or_else(|| match text.split_once(separator) {
                Some((cell, after)) => (cell.trim().into(), Some(after)),
                None => (text.trim().into(), None),
            });
        cells.push(cell);
        rest = after;
    }
    cells
}

/// Returns the quoted cell that a text begins with, and the text after its separator.
fn quoted(text: &str, separator: char) -> Option<(Cow<'_, str>, Option<&str>)> {
    let text = text.trim_start_matches(' ').strip_prefix('"')?;
    let mut end = 0;
    loop {
        end += text[end..].find('"')?;
        if !text[end + 1..].starts_with('"') {
            break;
        }
        end += 2;
    }
    let after = text[end + 1..].trim_start_matches(' ');
    let rest = after.strip_prefix(separator);
    let cell = match text[..end].contains('"') {
        true => text[..end].replace("\"\"", "\"").into(),
        false => text[..end].into(),
    };
    (rest.is_some() || after.trim_end().is_empty()).then_some((cell, rest))
}
