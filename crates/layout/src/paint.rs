//! Colors on terminals: black on a light ground, as marks in pages, which is legible (a contrast of
//! more than 10 : 1) whatever the colors of the terminal.

use anstream::adapter::strip_str;
use anstyle::{Ansi256Color, Style};

/// Light colors of the 256 of terminals, from red by yellow, green, cyan, blue and magenta.
const GROUNDS: [u8; 12] = [217, 223, 229, 193, 157, 158, 159, 153, 147, 183, 219, 218];

/// Black, whatever the theme.
const INK: Ansi256Color = Ansi256Color(16);

/// Returns the style of a mark with a hue in degrees.
pub fn ground(hue: u16) -> Style {
    let ground = GROUNDS[usize::from((hue + 15) % 360 / 30)];
    Style::new().fg_color(Some(INK.into())).bg_color(Some(Ansi256Color(ground).into()))
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
    /// Returns its style.
    pub fn style(self) -> Style {
        match self {
            Self::Title => Style::new().bold(),
            Self::Good => ground(120),
            Self::Notice => ground(210),
            Self::Warning => ground(45),
            Self::Bad => ground(0),
        }
    }

    /// Returns a text with escape sequences for its style, which [`width`](crate::width) does not
    /// count.
    pub fn on(self, text: &str) -> String {
        let style = self.style();
        format!("{style}{text}{style:#}")
    }
}

/// Returns a text without escape sequences.
pub fn without_paint(text: &str) -> String {
    strip_str(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::width;

    #[test]
    fn paint_takes_no_columns_and_comes_off() {
        let painted = Paint::Bad.on("✘ error");
        assert_eq!(painted, "\u{1b}[38;5;16m\u{1b}[48;5;217m✘ error\u{1b}[0m");
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
        for ground in GROUNDS {
            let cube = ground - 16;
            let [red, green, blue] = [cube / 36, cube / 6 % 6, cube % 6].map(linear);
            let luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
            assert!((luminance + 0.05) / 0.05 > 10.0, "{ground}");
        }
    }
}
