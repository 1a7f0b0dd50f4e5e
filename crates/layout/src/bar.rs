//! Bars of terminals.

use anstyle::{AnsiColor, Style};

use crate::styled;

/// Eighths of a cell, from one.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// Returns a bar of a share of `columns`, which it takes with blanks: full and green, or if
/// `is_against` shaded and red, so that both differ without colors, too.
pub fn bar(share: f64, is_against: bool, columns: usize) -> String {
    let eighths = (share.clamp(0.0, 1.0) * (8 * columns) as f64).round() as usize;
    let (cells, color) = match is_against {
        false => {
            let last = (eighths % 8).checked_sub(1).map(|last| EIGHTHS[last]);
            let full = "█".repeat(eighths / 8);
            (full.chars().chain(last).collect::<String>(), AnsiColor::Green)
        }
        true => ("▒".repeat(eighths.div_ceil(8)), AnsiColor::Red),
    };
    let style = Style::new().fg_color(Some(color.into()));
    let blanks = " ".repeat(columns - cells.chars().count());
    styled(style, &cells) + &blanks
}

#[cfg(test)]
mod tests {
    use super::bar;
    use crate::without_paint;

    #[test]
    fn bars_have_eighths_of_cells() {
        for (share, is_against, expected) in [
            (1.0, false, "████"),
            (0.5, false, "██  "),
            (0.55, false, "██▎ "),
            (0.0, false, "    "),
            (0.3, true, "▒▒  "),
            (f64::NAN, true, "    "),
        ] {
            assert_eq!(without_paint(&bar(share, is_against, 4)), expected);
        }
    }
}
