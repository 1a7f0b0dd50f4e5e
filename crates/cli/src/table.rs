//! Tables for the terminal.

use super::terminal::{cut, width, wrap};

/// Largest width of the first column of a table that must fit the terminal.
const MAX_NAME: usize = 24;

/// Formats rows of cells as a table: the first column left-aligned, the others right-aligned. All
/// rows have as many cells as the first.
pub fn format_table<R: AsRef<[String]>>(rows: impl Iterator<Item = R>) -> String {
    let rows: Vec<R> = rows.collect();
    let columns = rows.first().map_or(0, |row| row.as_ref().len());
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.as_ref().get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        for (column, (cell, width)) in row.as_ref().iter().zip(&widths).enumerate() {
            if column == 0 {
                text += &format!("{cell:width$}");
            } else {
                text += &format!("  {cell:>width$}");
            }
        }
        text.push('\n');
    }
    text
}

/// Formats rows of cells, the first of them headings, like [`format_table`]. If a line is longer
/// than `columns`, columns of a single value move to a line below the table, as many as necessary,
/// from the left; long names in the first column are cut.
pub fn format_narrow_table(mut rows: Vec<Vec<String>>, columns: usize) -> String {
    let mut moved = Vec::new();
    let mut at = 0;
    for row in &mut rows {
        row[0] = cut(&row[0], MAX_NAME);
    }
    while rows.len() > 2 && line_width(&rows) > columns && at < rows[0].len() {
        if rows[2..].iter().any(|row| row[at] != rows[1][at]) {
            at += 1;
            continue;
        }
        moved.push(format!("{} {}", rows[0][at], rows[1][at]));
        for row in &mut rows {
            row.remove(at);
        }
    }
    let mut text = format_table(rows.iter());
    if !moved.is_empty() {
        let all = format!("in all rows: {}", moved.join(", "));
        text += &format!("{}\n", wrap(&all, columns, 2));
    }
    text
}

/// Returns the number of columns of a line of a table.
fn line_width(rows: &[Vec<String>]) -> usize {
    let text = format_table(rows.iter());
    text.lines().map(width).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_column_is_left_aligned_and_the_others_right_aligned() {
        let rows = [["gradient", "error"], ["local", "–"], ["a", "0.25"]];
        let rows = rows.map(|row| row.map(str::to_owned));
        assert_eq!(
            format_table(rows.into_iter()),
            "gradient  error\nlocal         –\na          0.25\n"
        );
    }

    #[test]
    fn columns_of_one_value_make_room_on_a_narrow_terminal() {
        let rows = [
            ["template", "L2", "F1"],
            ["ner", "0.1", "80"],
            ["ner", "0.2", "81"],
        ];
        let rows = || rows.map(|row| row.map(str::to_owned).to_vec()).to_vec();
        let wide = "template   L2  F1\nner       0.1  80\nner       0.2  81\n";
        assert_eq!(format_narrow_table(rows(), 17), wide);
        assert_eq!(
            format_narrow_table(rows(), 16),
            "L2   F1\n0.1  80\n0.2  81\nin all rows:\n  template ner\n"
        );
        // Nothing can be moved away from a single row.
        let single = format_narrow_table(rows()[..2].to_vec(), 5);
        assert_eq!(single, "template   L2  F1\nner       0.1  80\n");
    }
}
