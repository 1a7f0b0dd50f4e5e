//! Colors of types on terminals.

use crate::marks::hue;

/// Colors of terminals by hue: red, yellow, green, cyan, blue, magenta.
const ANSI: [u8; 6] = [31, 33, 32, 36, 34, 35];

/// Returns the parameter of the escape sequence that colors a type on a terminal.
pub(super) fn ansi(label: &str) -> u8 {
    ANSI[usize::from((hue(label) + 30) % 360 / 60)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_types_of_conll_2003_differ() {
        let types = ["PER", "ORG", "LOC", "MISC"];
        let mut colors = types.map(ansi).to_vec();
        colors.sort_unstable();
        colors.dedup();
        assert_eq!(colors.len(), types.len());
    }
}
