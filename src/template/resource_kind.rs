//! What the lines of a file of words are, by the first of them.

use hashbrown::HashSet;

use super::text::nonblank_lines;

/// Number of lines that are looked at.
const INSPECTED: usize = 100;

/// Classes that gazettes of Stanford NER name.
const CLASSES: &str = "PER PERS PERSON LOC LOCATION ORG ORGANIZATION ORGANISATION MISC GPE CITY \
                       COUNTRY STATE_OR_PROVINCE NATIONALITY RELIGION TITLE DATE";

/// What the lines of a file of words are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceKind {
    /// A path of bits, a tab, a word, and perhaps a tab and a count: Brown clusters, as those of
    /// Percy Liang's program.
    Paths,
    /// A word, and after blanks the number of its cluster: Stanford's `distSimLexicon`.
    Numbered,
    /// A JSON object with a number for each word, whose bits are the path, the least significant
    /// first; 0 is no cluster: tables of spaCy.
    Table,
    /// A class, then a phrase: Stanford's gazettes.
    Gazette,
    /// Something else: words, phrases, or text.
    Other,
}

impl ResourceKind {
    /// Recognizes a file by its beginning, whose last line may be cut.
    pub fn of(beginning: &str) -> Self {
        let complete = beginning.rsplit_once('\n').map_or(beginning, |(lines, _)| lines);
        let lines: Vec<&str> =
            nonblank_lines(complete).take(INSPECTED).map(|(_, line)| line).collect();
        let Some(first) = lines.first() else {
            return Self::Other;
        };
        let number = first.trim_start().strip_prefix("{\"").and_then(|rest| rest.split_once("\":"));
        if number.is_some_and(|(_, value)| value.trim_start().starts_with(is_digit)) {
            Self::Table
        } else if lines.iter().all(|line| is_path(line)) {
            Self::Paths
        } else if are_numbered(&lines) && !has_gaps(complete) {
            Self::Numbered
        } else if lines.iter().all(|line| phrase_of_class(line).is_some()) {
            Self::Gazette
        } else {
            Self::Other
        }
    }

    /// Returns whether the file has clusters.
    pub fn has_clusters(self) -> bool {
        matches!(self, Self::Paths | Self::Numbered | Self::Table)
    }
}

/// Returns the phrase of a line of a gazette, without its class.
pub(super) fn phrase_of_class(line: &str) -> Option<&str> {
    let (class, phrase) = line.trim().split_once(char::is_whitespace)?;
    CLASSES.split(' ').any(|known| known == class).then_some(phrase)
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

fn is_path(line: &str) -> bool {
    let mut fields = line.split('\t');
    let path = fields.next().unwrap_or_default();
    let is_path = !path.is_empty() && path.bytes().all(|bit| matches!(bit, b'0' | b'1'));
    let has_word = fields.next().is_some_and(|word| !word.is_empty());
    let is_count = |field: &str| field.trim().parse::<u64>().is_ok();
    is_path && has_word && fields.next().is_none_or(is_count) && fields.next().is_none()
}

/// Returns whether lines have a word and a number each, and no word twice. Some word is not a
/// number itself.
fn are_numbered(lines: &[&str]) -> bool {
    let mut words = HashSet::new();
    let is_pair = |line: &&str| match line.split_whitespace().collect::<Vec<_>>()[..] {
        [word, number] => number.chars().all(is_digit) && words.insert(word.to_owned()),
        _ => false,
    };
    lines.iter().all(is_pair) && words.iter().any(|word| !word.chars().all(is_digit))
}

/// Returns whether there are blank lines between others, as between sentences.
fn has_gaps(text: &str) -> bool {
    text.trim().lines().any(|line| line.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::ResourceKind::{Gazette, Numbered, Other, Paths, Table};
    use super::*;

    #[test]
    fn the_lines_of_a_resource_tell_its_kind() {
        for (text, expected) in [
            ("0110\tthe\t12\n01\tA\t3\n", Paths),
            ("0110\tthe\n01\tA\n", Paths),
            ("\n1\ta\t1\n", Paths),
            ("01\t1990\n10\t1991\n", Paths),
            ("the 12\nof 7\n", Numbered),
            ("the\t0110\nA\t01\n", Numbered),
            ("1990 3\nthe   4\n", Numbered),
            ("{\"the\": 12, \"of\": 0}\n", Table),
            ("{\"\\\"\":3,\n\"the\":4}", Table),
            ("PER Kai Holm\nLOC Oslo\n", Gazette),
            ("PERSON\tKai\nPERSON\tMira\n", Gazette),
            // Tokens of sentences, phrases, and text.
            ("the 1\ncat 0\n\nthe 1\n", Other),
            ("the 1\ncat 0\nthe 1\n", Other),
            ("1\tThe\tthe\tDET\n2\tcat\tcat\tNOUN\n", Other),
            ("0110 the 12\n", Other),
            ("the\tDET\n", Other),
            ("101\t\t3\n", Other),
            ("12 7\n13 8\n", Other),
            ("{\"tokens\": [\"the\"]}\n", Other),
            ("FC Oslo\nFC Bergen\n", Other),
            ("PER Kai\nNew York\n", Other),
            ("", Other),
        ] {
            // The beginning of a longer file ends anywhere.
            for cut in ["", "x"] {
                assert_eq!(ResourceKind::of(&format!("{text}{cut}")), expected, "{text:?}{cut}");
            }
        }
    }
}
