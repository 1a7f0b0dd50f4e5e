//! Tables for the terminal.

use comfy_table::{CellAlignment, Table, presets};

/// Formats rows of cells as a table: the first column left-aligned, the others right-aligned.
pub fn format_table<R: AsRef<[String]>>(rows: impl Iterator<Item = R>) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    for row in rows {
        table.add_row(row.as_ref());
    }
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if i == 0 { 0 } else { 2 }, 0));
        if i > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines = table.lines();
    lines.map(|line| format!("{}\n", line.trim_end())).collect()
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
