//! Word clusters, such as Brown clusters, with their paths in a binary tree.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::resource_kind::ResourceKind;
use super::resources::{Resource, Selection};
use super::text::nonblank_lines;
use crate::error::{Error, Place, Result};

/// A map from words to cluster paths.
#[derive(Clone, Debug)]
pub(super) struct Clusters {
    paths: HashMap<String, Box<str>>,
}

impl Resource for Clusters {
    /// Lines `path TAB word [TAB …]`, as written by Brown clustering programs, or what else
    /// [`ResourceKind`] recognizes. The first path of a word wins.
    fn parse(contents: &str, file: &str, selection: Selection) -> Result<Self> {
        let mut paths = HashMap::new();
        let mut add = |word: &str, path: &str| {
            paths.entry_ref(&*selection.fold(word)).or_insert_with(|| path.into());
        };
        match ResourceKind::of(contents) {
            ResourceKind::Table => {
                let table: BTreeMap<String, u32> =
                    serde_json::from_str(contents).map_err(|error| {
                        let message = format!("{error}; expected a number for each word");
                        Error::input(Place::line(file, error.line() as u64), message)
                    })?;
                let with_cluster = table.iter().filter(|(_, number)| **number > 0);
                with_cluster.for_each(|(word, number)| add(word, &path_of_bits(*number)));
            }
            kind => {
                for (i, line) in nonblank_lines(contents) {
                    let (path, word) = cells(line, kind).ok_or_else(|| {
                        let expected = "expected a cluster path, a tab and a word";
                        Error::input(Place::line(file, i), format!("{expected}, found '{line}'"))
                    })?;
                    add(word, path);
                }
            }
        }
        if paths.is_empty() {
            return Err(Error::input(Place::file(file), "the cluster file is empty"));
        }
        Ok(Self { paths })
    }
}

/// Returns the path and the word of a line.
fn cells(line: &str, kind: ResourceKind) -> Option<(&str, &str)> {
    let (path, word) = match kind {
        ResourceKind::Numbered => {
            let (word, path) = line.trim().split_once(char::is_whitespace)?;
            (path.trim_start(), word)
        }
        _ => {
            let (path, rest) = line.split_once('\t')?;
            (path, rest.split('\t').next().unwrap_or(""))
        }
    };
    (!path.is_empty() && !word.is_empty()).then_some((path, word))
}

/// Returns the bits of a number up to its highest, the least significant first.
fn path_of_bits(number: u32) -> String {
    format!("{number:b}").chars().rev().collect()
}

impl Clusters {
    /// Returns the cluster path of `word`.
    pub(super) fn path(&self, word: &str) -> Option<&str> {
        self.paths.get(word).map(|path| &**path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Selection = Selection { lower: false, first: None };

    const LOWER: Selection = Selection { lower: true, ..ALL };

    #[test]
    fn a_word_has_the_path_of_its_cluster() {
        let clusters = Clusters::parse("0110\tthe\t12\n01\tA\n", "c.txt", ALL).unwrap();
        assert_eq!(clusters.path("the"), Some("0110"));
        assert_eq!(clusters.path("A"), Some("01"));
        assert_eq!(clusters.path("a"), None);
        let clusters = Clusters::parse("01\tA\n11\ta\n", "c.txt", LOWER).unwrap();
        assert_eq!(clusters.path("a"), Some("01"));
    }

    #[test]
    fn clusters_of_stanford_and_spacy_are_read() {
        for (text, word, path) in [
            ("the 12\nRome  7\n", "Rome", Some("7")),
            ("the\t0110\nRome\t01\n", "the", Some("0110")),
            ("{\"Rome\": 12, \"of\": 0}", "Rome", Some("0011")),
            ("{\"Rome\": 12, \"of\": 0}", "of", None),
        ] {
            let clusters = Clusters::parse(text, "c.txt", ALL).unwrap();
            assert_eq!(clusters.path(word), path, "{text}");
        }
    }

    #[test]
    fn errors_name_their_line() {
        let error = |text: &str| Clusters::parse(text, "c.txt", ALL).unwrap_err().to_string();
        assert_eq!(error(""), "c.txt: the cluster file is empty");
        assert_eq!(
            error("01\ta\n0110 the\n"),
            "c.txt:2: expected a cluster path, a tab and a word, found '0110 the'"
        );
        let message = error("{\"a\": 1,\n\"b\": -1}");
        assert!(message.starts_with("c.txt:2: ") && message.contains("expected a number"));
    }
}
