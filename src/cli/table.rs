//! Tables for the terminal.

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
}
