//! Colors of types: hues of HTML, and colors of terminals.

use xxhash_rust::xxh3::xxh3_64;

/// Hues of common types, in degrees. Those of one corpus differ clearly.
const HUES: [(&str, u16); 26] = [
    ("PER", 265),
    ("PERSON", 265),
    ("ORG", 195),
    ("ORGANIZATION", 195),
    ("LOC", 25),
    ("LOCATION", 25),
    ("GPE", 40),
    ("MISC", 120),
    ("DATE", 165),
    ("TIME", 180),
    ("MONEY", 80),
    ("PERCENT", 95),
    ("QUANTITY", 70),
    ("CARDINAL", 55),
    ("ORDINAL", 60),
    ("NORP", 345),
    ("FAC", 10),
    ("PRODUCT", 150),
    ("EVENT", 225),
    ("WORK_OF_ART", 300),
    ("LAW", 0),
    ("LANGUAGE", 330),
    ("NOUN", 210),
    ("PROPN", 265),
    ("VERB", 120),
    ("ADJ", 25),
];

/// Colors of terminals by hue: red, yellow, green, cyan, blue, magenta.
const ANSI: [u8; 6] = [31, 33, 32, 36, 34, 35];

/// Returns the hue of a type in degrees, always the same.
pub fn hue(label: &str) -> u16 {
    let known = HUES
        .iter()
        .find(|(name, _)| label.eq_ignore_ascii_case(name));
    known.map_or_else(|| (xxh3_64(label.as_bytes()) % 360) as u16, |(_, hue)| *hue)
}

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
        assert_eq!(hue("Person"), hue("PER"));
        assert!(hue("anything else") < 360);
    }
}
