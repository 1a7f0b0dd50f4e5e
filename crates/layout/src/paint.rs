//! Colors on terminals, and bars. Words of the program are bold letters in the colors of the
//! terminal. Marks of text, and shades, are black on a light ground, as in pages, which is legible
//! (a contrast of more than 7 : 1) whatever the colors of the terminal.

use anstream::adapter::strip_str;
use anstyle::{Ansi256Color, AnsiColor, Style};

/// Light colors of the 256 of terminals, from red by yellow, green, cyan, blue and magenta.
const GROUNDS: [u8; 12] = [217, 223, 229, 193, 157, 158, 159, 153, 147, 183, 219, 218];

/// Shades from orange, of −1, by white to blue, of 1.
const SHADES: [u8; 9] = [209, 216, 223, 230, 231, 189, 153, 117, 75];

/// Black, whatever the theme.
const INK: Ansi256Color = Ansi256Color(16);

/// Returns the style of a mark with a hue in degrees.
pub fn ground(hue: u16) -> Style {
    on_ground(GROUNDS[usize::from((hue + 15) % 360 / 30)])
}

/// Returns the style of a value from −1 to 1.
pub fn shade(value: f64) -> Style {
    on_ground(SHADES[(4.0 + 4.0 * value.clamp(-1.0, 1.0)).round() as usize])
}

fn on_ground(ground: u8) -> Style {
    let style = Style::new().fg_color(Some(INK.into()));
    style.bg_color(Some(Ansi256Color(ground).into()))
}

/// Returns a text with escape sequences for a style, which [`width`](crate::width) does not count.
pub fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Role of a text, which decides its color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// The title of a section.
    Title,
    /// Nothing is wrong.
    Good,
    /// Good to know.
    Notice,
    /// Most likely a mistake; something is missing.
    Warning,
    /// An error; something is there that should not be.
    Bad,
}

impl Paint {
    /// Returns words of the program in its color.
    pub fn on(self, text: &str) -> String {
        let color = match self {
            Self::Title => return styled(Style::new().bold(), text),
            Self::Good => AnsiColor::Green,
            Self::Notice => AnsiColor::Cyan,
            Self::Warning => AnsiColor::Yellow,
            Self::Bad => AnsiColor::Red,
        };
        styled(color.on_default().bold(), text)
    }

    /// Returns a text that is marked, of a sentence.
    pub fn mark(self, text: &str) -> String {
        let hue = match self {
            Self::Title => return self.on(text),
            Self::Good => 120,
            Self::Notice => 210,
            Self::Warning => 45,
            Self::Bad => 0,
        };
        styled(ground(hue), text)
    }
}

/// Returns a text without escape sequences.
pub fn without_paint(text: &str) -> String {
    strip_str(text).to_string()
}

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
    styled(color.on_default(), &cells) + &" ".repeat(columns - cells.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::width;

    #[test]
    fn paint_takes_no_columns_and_comes_off() {
        let marked = Paint::Bad.mark("Ann");
        assert_eq!(marked, "\u{1b}[38;5;16m\u{1b}[48;5;217mAnn\u{1b}[0m");
        let painted = Paint::Bad.on("✘ error");
        assert_eq!(painted, "\u{1b}[1m\u{1b}[31m✘ error\u{1b}[0m");
        assert_eq!(width(&painted), width("✘ error"));
        assert_eq!(without_paint(&painted), "✘ error");
    }

    #[test]
    fn black_is_legible_on_every_ground() {
        let linear =
            |level: u8| match f64::from([0, 95, 135, 175, 215, 255][level as usize]) / 255.0 {
                level if level <= 0.04045 => level / 12.92,
                level => ((level + 0.055) / 1.055).powf(2.4),
            };
        for ground in GROUNDS.into_iter().chain(SHADES) {
            let cube = ground - 16;
            let [red, green, blue] = [cube / 36, cube / 6 % 6, cube % 6].map(linear);
            let luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
            assert!((luminance + 0.05) / 0.05 > 7.0, "{ground}");
        }
    }

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
