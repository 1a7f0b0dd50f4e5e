//! Word clusters, such as Brown clusters, with their paths in a binary tree.

use hashbrown::HashMap;

use super::resources::{Resource, Selection};
use super::text::nonblank_lines;
use crate::error::{Error, Place, Result};

/// A map from words to cluster paths.
#[derive(Clone, Debug)]
pub(super) struct Clusters {
    paths: HashMap<String, Box<str>>,
}

impl Resource for Clusters {
    /// Lines `path TAB word [TAB …]`, as written by Brown clustering programs. The first path of a
    /// word wins.
    fn parse(contents: &str, file: &str, selection: Selection) -> Result<Self> {
        let mut paths = HashMap::new();
        for (i, line) in nonblank_lines(contents) {
            let mut cells = line.split('\t');
            let (path, word) = (cells.next().unwrap_or(""), cells.next().unwrap_or(""));
            if path.is_empty() || word.is_empty() {
                return Err(Error::input(
                    Place::line(file, i),
                    format!("expected a cluster path, a tab and a word, found '{line}'"),
                ));
            }
            let word = selection.fold(word);
            paths.entry_ref(&*word).or_insert_with(|| path.into());
        }
        if paths.is_empty() {
            return Err(Error::input(Place::file(file), "the cluster file is empty"));
        }
        Ok(Self { paths })
    }
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
    fn errors_name_their_line() {
        let error = |text: &str| Clusters::parse(text, "c.txt", ALL).unwrap_err().to_string();
        assert_eq!(error(""), "c.txt: the cluster file is empty");
        assert_eq!(
            error("01\ta\n0110 the\n"),
            "c.txt:2: expected a cluster path, a tab and a word, found '0110 the'"
        );
    }
}
