//! Tables for the terminal.

/// Lines of cells: the first to the left, the others to the right, as wide as they need to be. All lines
/// have as many cells as the first.
pub fn aligned<L: AsRef<[String]>>(lines: impl Iterator<Item = L>) -> String {
    let lines: Vec<L> = lines.collect();
    let columns = lines.first().map_or(0, |line| line.as_ref().len());
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.as_ref().get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        for (column, (cell, width)) in line.as_ref().iter().zip(&widths).enumerate() {
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
    fn cells_stand_under_one_another() {
        let lines = [["way", "error"], ["local", "–"], ["a", "0.25"]];
        let lines = lines.map(|line| line.map(str::to_owned));
        assert_eq!(
            aligned(lines.into_iter()),
            "way    error\nlocal      –\na       0.25\n"
        );
    }
}
