//! What a template stores of a file of clusters or phrases: plain lines, whatever its kind.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::resource_kind::ResourceKind;
use super::text::{nonblank_lines, push_lower};
use crate::error::{Error, Place, Result};

/// Maximum length of a phrase, in tokens. Bounds the matching time per token for any file.
const MAX_PHRASE: usize = 64;

/// Maximum number of clusters of a table in JSON.
const MAX_CLUSTERS: usize = 1 << 16;

/// Number of phrases that tell whether a list is in capitals.
const INSPECTED: usize = 100;

/// Returns the lines of a file of clusters of any [`ResourceKind`]: a path, a tab and a word, or,
/// for another word of the cluster of the line before, a tab and the word. Lines of a text keep
/// their numbers, and invalid ones are left as they are.
///
/// # Errors
///
/// [`Error::Input`] at the line of JSON that is not a number for each word, or has more than 65,536
/// of them.
pub fn cluster_lines(text: &str, file: &str) -> Result<String> {
    let (kind, mut lines, mut last) = (ResourceKind::of(text), String::new(), "");
    if matches!(kind, ResourceKind::Table | ResourceKind::Json) {
        return table_lines(text, file);
    }
    for line in text.strip_prefix('\u{feff}').unwrap_or(text).lines() {
        let cells = match kind {
            ResourceKind::Numbered => {
                let mut cells = line.split_whitespace();
                cells.next().and_then(|word| Some((cells.next()?, word)))
            }
            _ => line
                .split_once('\t')
                .map(|(path, rest)| (path, rest.split('\t').next().unwrap_or(rest))),
        };
        match cells {
            Some((path, word)) if !word.is_empty() => {
                if path != last {
                    lines += path;
                    last = path;
                }
                lines.extend(["\t", word]);
            }
            _ => lines += line,
        }
        lines.push('\n');
    }
    Ok(lines)
}

/// Returns the lines of a table of clusters in JSON, cluster by cluster.
fn table_lines(json: &str, file: &str) -> Result<String> {
    let mut clusters: BTreeMap<u32, String> = BTreeMap::new();
    read_json(json, file, "a number for each word", |word: String, Cluster::Number(number)| {
        if number == 0 || word.trim().is_empty() || word.contains(['\t', '\n', '\r']) {
            return Ok(());
        }
        clusters.entry(number).or_default().extend(["\t", &word, "\n"]);
        match clusters.len() {
            0..=MAX_CLUSTERS => Ok(()),
            _ => Err(format!("more than {MAX_CLUSTERS} clusters")),
        }
    })?;
    let path = |number: u32| format!("{number:b}").chars().rev().collect::<String>();
    Ok(clusters.iter().map(|(number, words)| path(*number) + words).collect())
}

/// Returns the lines of a gazetteer of any [`ResourceKind`]: a phrase each. Phrases of tables in
/// capitals are also there with only the first letters of words in capitals.
///
/// # Errors
///
/// [`Error::Input`] at a line without a phrase, or with one of more than 64 tokens.
pub fn phrase_lines(text: String, file: &str) -> Result<String> {
    let mut lines = String::new();
    let kind = ResourceKind::of(&text);
    match kind {
        ResourceKind::Json | ResourceKind::Table => {
            let expected = "phrases, or objects with the key `name`";
            read_json(&text, file, expected, |_, entry: Entry| match entry {
                Entry::Phrase(phrase) | Entry::Named { name: phrase } => {
                    push_phrase(&phrase, false, &mut lines)
                }
            })?;
        }
        ResourceKind::Paths | ResourceKind::Numbered | ResourceKind::Other => return Ok(text),
        _ => {
            let has_header = matches!(kind, ResourceKind::Rows { .. });
            let rows = || nonblank_lines(&text).skip(usize::from(has_header));
            let mut first = rows().take(INSPECTED).filter_map(|(_, row)| kind.phrases(row));
            let are_capitals = (has_header || kind == ResourceKind::Census)
                && first.all(|phrases| !phrases.concat().contains(char::is_lowercase));
            for (number, row) in rows() {
                let error = |message| Error::input(Place::line(file, number), message);
                let phrases = kind.phrases(row);
                let phrases = phrases.ok_or_else(|| error("no cell with a phrase".to_owned()))?;
                for phrase in phrases {
                    push_phrase(&phrase, are_capitals, &mut lines).map_err(error)?;
                }
            }
        }
    }
    Ok(lines)
}

/// Checks that a phrase is not too long.
pub(super) fn check_length(phrase: &str) -> Result<(), String> {
    match phrase.split_whitespace().count() {
        0..=MAX_PHRASE => Ok(()),
        length => Err(format!("a phrase of {length} tokens; at most {MAX_PHRASE} are allowed")),
    }
}

/// A cluster in JSON.
#[derive(Deserialize)]
#[serde(untagged, expecting = "no number of a cluster")]
enum Cluster {
    Number(u32),
}

/// A phrase in JSON.
#[derive(Deserialize)]
#[serde(untagged, expecting = "no phrase")]
enum Entry {
    Phrase(String),
    Named { name: String },
}

/// Adds the line of a phrase, and of one in capitals also that with only the first letters of words
/// in capitals.
fn push_phrase(phrase: &str, is_capitals: bool, lines: &mut String) -> Result<(), String> {
    check_length(phrase)?;
    let words: Vec<&str> = phrase.split_whitespace().collect();
    *lines += &words.join(" ");
    if is_capitals {
        for (i, word) in words.into_iter().enumerate() {
            let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
            lines.extend([if i == 0 { "\n" } else { " " }, first]);
            push_lower(rest, lines);
        }
    }
    lines.push('\n');
    Ok(())
}

/// Calls `add` with the keys and values of a JSON object, or the elements of a list.
fn read_json<T: DeserializeOwned>(
    json: &str,
    file: &str,
    expected: &'static str,
    add: impl FnMut(String, T) -> Result<(), String>,
) -> Result<()> {
    let json = json.strip_prefix('\u{feff}').unwrap_or(json);
    let mut reader = serde_json::Deserializer::from_str(json);
    let entries = Entries { add, expected, values: PhantomData };
    reader.deserialize_any(entries).and_then(|()| reader.end()).map_err(|error| {
        let place = Place::line(file, error.line() as u64);
        Error::input(place, format!("{error}; expected {expected}"))
    })
}

/// Receives the entries of a JSON object or list, one at a time.
struct Entries<T, F> {
    add: F,
    expected: &'static str,
    values: PhantomData<T>,
}

impl<'de, T: DeserializeOwned, F: FnMut(String, T) -> Result<(), String>> Visitor<'de>
    for Entries<T, F>
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some((key, value)) = map.next_entry()? {
            (self.add)(key, value).map_err(A::Error::custom)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(value) = list.next_element()? {
            (self.add)(String::new(), value).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_stored_without_counts_and_repeated_paths() {
        for (text, expected) in [
            ("\u{feff}01\ta\t7\r\n01\tb\t3\r\n\r\n10\tc\t1", "01\ta\n\tb\n\n10\tc\n"),
            ("a 7 9\nb  7\nc\t12\n", "7\ta\n\tb\n12\tc\n"),
            ("{\"a\": 5, \"b\": 2, \"c d\": 5, \"e\": 0, \" \": 5}", "01\tb\n101\ta\n\tc d\n"),
            ("01\ta\nwhat is this\n", "01\ta\nwhat is this\n"),
        ] {
            let lines = cluster_lines(text, "c").unwrap();
            assert_eq!(lines, expected, "{text}");
            assert_eq!(cluster_lines(&lines, "c").unwrap(), lines);
        }
    }

    #[test]
    fn gazetteers_are_stored_as_phrases() {
        let geonames = format!("12\tMálaga\tMalaga{0}\n13\tOslo\tOslo{0}\n", "\t".repeat(16));
        for (text, expected) in [
            ("LOC New York\nPER Ann\n", "New York\nAnn\n"),
            ("FC York\nFC Ann\n", "FC York\nFC Ann\n"),
            ("LI 0.8 1.8 2\nSMITH 1.006 1.006 1\r\n", "LI\nLi\nSMITH\nSmith\n"),
            ("Li 0.8 1.8 2\nSMITH 1.006 1.006 1\n", "Li\nSMITH\n"),
            (&geonames, "Málaga\nMalaga\nOslo\n"),
            ("[\"Oslo\", {\"name\": \" New\\n York\", \"x\": [{}]}]", "Oslo\nNew York\n"),
            ("{\"1\": {\"id\": 1, \"name\": \"M\\u00e1laga\"}, \"2\": \"Oslo\"}", "Málaga\nOslo\n"),
            (
                "\u{feff}Name,x\r\nOslo,1\r\n\r\n\"New York, \"\"NY\"\"\",2\r\n",
                "Oslo\nNew York, \"NY\"\n",
            ),
            ("rank\tname\n1\tÉTÉ DE LA CRUZ\n", "ÉTÉ DE LA CRUZ\nÉté De La Cruz\n"),
            ("Area 51\nRoute 66\n", "Area 51\nRoute 66\n"),
            ("[]", ""),
        ] {
            assert_eq!(phrase_lines(text.to_owned(), "g").unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_phrase_is_an_error_at_its_line() {
        let long = "x ".repeat(65);
        for (text, expected) in [
            ("name,x\nOslo,1\n\n", ""),
            ("x,name\nOslo,1\n\nRome\n", "g:4: no cell with a phrase"),
            (&format!("x,name\n1,{long}\n"), "g:2: a phrase of 65 tokens; at most 64"),
            (&format!("[\"Oslo\",\n\"{long}\"]"), "g:2: a phrase of 65 tokens; at most 64"),
            ("{\"a\": -3.5}", "g:1: no phrase at line 1 column 11; expected phrases, or objects"),
            ("{\"a\": {\"b\": \"Oslo\"}}", "g:1: no phrase"),
            ("[\"Oslo\",\n\"Rome\"\n", "g:3: EOF while parsing a list"),
            ("[\"Oslo\"]\n[\"Rome\"]\n", "g:2: trailing characters"),
            (&"[".repeat(300).replacen('[', "[\"a\",", 1), "g:1: "),
        ] {
            let found = phrase_lines(text.to_owned(), "g")
                .map_or_else(|e| e.to_string(), |_| String::new());
            assert!(
                found.starts_with(expected) && found.is_empty() == expected.is_empty(),
                "{found}"
            );
        }
    }
}
