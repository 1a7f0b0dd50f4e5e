//! Lexica (gazetteers), which are lists of multi-token phrases, and clusters of words, such as
//! Brown clusters, with their paths in a binary tree.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashMap, HashSet, HashTable};

use super::resource_text::{check_length, cluster_lines, phrase_lines};
use super::resources::{Resource, Selection};
use super::text::{nonblank_lines, quote_start};
use crate::error::{Error, Place, Result};
use crate::name_list::NameList;

/// A set of phrases, stored as a trie over word ids.
#[derive(Clone, Debug, Default)]
pub(super) struct Lexicon {
    words: HashMap<String, u32>,
    children: HashMap<(u32, u32), u32>, // (node, word) → node; node 0 is the root
    ends: HashSet<u32>,                 // nodes at which a phrase ends
}

impl Lexicon {
    fn insert<'a>(&mut self, phrase: impl Iterator<Item = &'a str>) {
        let mut node = 0;
        for word in phrase {
            let next = self.words.len() as u32;
            let word = *self.words.entry_ref(word).or_insert(next);
            let next = self.children.len() as u32 + 1;
            node = *self.children.entry((node, word)).or_insert(next);
        }
        self.ends.insert(node);
    }

    /// Tags each of `length` tokens with its position in a phrase, `B`egin, `I`nside, `E`nd or
    /// `S`ingle, or a blank for none. Matching is leftmost-longest, in at most `length` times the
    /// length of the longest phrase steps.
    pub(super) fn tag<'a>(
        &self,
        length: usize,
        word: impl Fn(usize) -> &'a str,
        tags: &mut Vec<u8>,
    ) {
        tags.clear();
        tags.resize(length, b' ');
        let mut t = 0;
        while t < length {
            let (mut node, mut end) = (0, t);
            for u in t..length {
                let word = self.words.get(word(u));
                let next = word.and_then(|word| self.children.get(&(node, *word)));
                let Some(next) = next else { break };
                node = *next;
                if self.ends.contains(&node) {
                    end = u + 1;
                }
            }
            match end - t {
                0 => t += 1,
                1 => tags[t] = b'S',
                _ => {
                    tags[t..end].fill(b'I');
                    tags[t] = b'B';
                    tags[end - 1] = b'E';
                }
            }
            t = t.max(end);
        }
    }
}

impl Resource for Lexicon {
    /// The lines of [`phrase_lines`]: a phrase each, tokens separated by white space.
    fn parse(contents: &str, file: &str, selection: Selection) -> Result<Self> {
        let mut lexicon = Self::default();
        for (i, line) in nonblank_lines(contents) {
            let line = selection.fold(line);
            check_length(&line).map_err(|message| Error::input(Place::line(file, i), message))?;
            lexicon.insert(line.split_whitespace());
        }
        if lexicon.ends.is_empty() {
            return Err(Error::input(Place::file(file), "the lexicon is empty"));
        }
        Ok(lexicon)
    }

    fn normalized(text: String, file: &str) -> Result<String> {
        phrase_lines(text, file)
    }
}

/// A map from words to cluster paths, of which there may be millions.
#[derive(Clone, Debug, Default)]
pub(super) struct Clusters {
    paths: Vec<Box<str>>, // of each cluster
    words: NameList,
    clusters: Vec<u32>,    // of each word
    index: HashTable<u32>, // of words
    hasher: DefaultHashBuilder,
}

impl Resource for Clusters {
    /// The lines of [`cluster_lines`]. The first path of a word wins.
    fn parse(contents: &str, file: &str, selection: Selection) -> Result<Self> {
        let mut clusters = Self::default();
        for (i, line) in nonblank_lines(contents) {
            let cells = line.split_once('\t');
            let cells = cells.filter(|(_, word)| !word.is_empty() && !word.contains('\t'));
            if let Some((path, _)) = cells.filter(|(path, _)| !path.is_empty()) {
                clusters.paths.push(path.into());
            }
            let Some((_, word)) = cells.filter(|_| !clusters.paths.is_empty()) else {
                let found = quote_start(line);
                let message = format!("expected a cluster path, a tab and a word, found '{found}'");
                return Err(Error::input(Place::line(file, i), message));
            };
            clusters.add(&selection.fold(word));
        }
        if clusters.words.is_empty() {
            return Err(Error::input(Place::file(file), "the cluster file is empty"));
        }
        Ok(clusters)
    }

    fn normalized(text: String, file: &str) -> Result<String> {
        cluster_lines(&text, file)
    }
}

impl Clusters {
    /// Adds a word to the last cluster, unless it is in one.
    fn add(&mut self, word: &str) {
        if self.path(word).is_none() {
            let (words, hasher) = (&mut self.words, &self.hasher);
            let number = words.len() as u32;
            words.push(word.as_bytes());
            let hash = |i: &u32| hasher.hash_one(words.get(*i as usize));
            self.index.insert_unique(hash(&number), number, hash);
            self.clusters.push(self.paths.len() as u32 - 1);
        }
    }

    /// Returns the cluster path of `word`.
    pub(super) fn path(&self, word: &str) -> Option<&str> {
        let is_word = |i: &u32| self.words.get(*i as usize) == word.as_bytes();
        let i = *self.index.find(self.hasher.hash_one(word.as_bytes()), is_word)? as usize;
        Some(&*self.paths[self.clusters[i] as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Selection = Selection { lower: false, first: None };

    const LOWER: Selection = Selection { lower: true, ..ALL };

    fn tags(lexicon: &Lexicon, sentence: &str) -> String {
        let words: Vec<&str> = sentence.split(' ').collect();
        let mut tags = Vec::new();
        lexicon.tag(words.len(), |t| words[t], &mut tags);
        tags.iter().map(|&tag| char::from(tag)).collect::<String>().replace(' ', "-")
    }

    #[test]
    fn the_leftmost_longest_phrase_wins() {
        let lexicon =
            Lexicon::parse("New York\r\n\nNew York City\nYork\nParis\n", "l.txt", ALL).unwrap();
        assert_eq!(tags(&lexicon, "in New York City or Paris"), "-BIE-S");
        assert_eq!(tags(&lexicon, "New York New Paris York"), "BE-SS");
        assert_eq!(tags(&lexicon, "new york"), "--");
    }

    #[test]
    fn an_incomplete_phrase_falls_back_to_a_shorter_one() {
        let lexicon = Lexicon::parse("a b c d\na b\n", "l.txt", ALL).unwrap();
        assert_eq!(tags(&lexicon, "a b c x"), "BE--");
    }

    #[test]
    fn lower_case_lexica_fold_their_phrases() {
        let lexicon = Lexicon::parse("New York\n", "l.txt", LOWER).unwrap();
        assert_eq!(tags(&lexicon, "new york New"), "BE-");
    }

    #[test]
    fn lexicon_errors_name_their_line() {
        let error = |text: &str| Lexicon::parse(text, "l.txt", ALL).unwrap_err().to_string();
        assert_eq!(error(" \n"), "l.txt: the lexicon is empty");
        let long = format!("a\n{}\n", "x ".repeat(65));
        assert_eq!(error(&long), "l.txt:2: a phrase of 65 tokens; at most 64 are allowed");
    }

    /// Parses a file as it is.
    fn read(text: &str, selection: Selection) -> Result<Clusters> {
        Clusters::parse(&Clusters::normalized(text.to_owned(), "c.txt")?, "c.txt", selection)
    }

    #[test]
    fn a_word_has_the_path_of_its_cluster() {
        let clusters = read("0110\tthe\t12\n01\tA\n", ALL).unwrap();
        assert_eq!(clusters.path("the"), Some("0110"));
        assert_eq!(clusters.path("A"), Some("01"));
        assert_eq!(clusters.path("a"), None);
        assert_eq!(read("01\tA\n11\ta\n", LOWER).unwrap().path("a"), Some("01"));
    }

    #[test]
    fn clusters_of_stanford_and_spacy_are_read() {
        for (text, word, path) in [
            ("the 12\nRome  7\n", "Rome", Some("7")),
            ("the\t0110\nRome\t01\n", "the", Some("0110")),
            ("{\"Rome\": 12, \"of\": 0}", "Rome", Some("0011")),
            ("{\"Rome\": 12, \"of\": 0}", "of", None),
            (
                "\u{feff}{\r\n  \"a\":8,\r\n  \"\\n\":8,\r\n  \"\\u00e9\":8\r\n}\r\n",
                "é",
                Some("0001"),
            ),
            ("NOUN\tdog\tx\nVERB\tran\n\tcame\n", "came", Some("VERB")),
        ] {
            assert_eq!(read(text, ALL).unwrap().path(word), path, "{text}");
        }
    }

    #[test]
    fn cluster_errors_name_their_line() {
        let error = |text: &str| read(text, ALL).unwrap_err().to_string();
        for text in ["", "{}", "{\"a\": 0, \"\\t\": 3}"] {
            assert_eq!(error(text), "c.txt: the cluster file is empty");
        }
        assert_eq!(
            error("01\ta\n\n0110 the\n"),
            "c.txt:3: expected a cluster path, a tab and a word, found '0110 the'"
        );
        for text in ["\ta\n", "01\t\t3\n", "01\t\n", &"x".repeat(500)] {
            assert!(error(text).starts_with("c.txt:1: expected a cluster path, a tab"), "{text}");
            assert!(error(text).len() < 120);
        }
        for number in ["-1", "1.5", "4294967296", "\"x\"", "[1]", "1e400", "1,\n\"c\""] {
            let message = error(&format!("{{\"a\": 1,\n\"b\": {number}}}"));
            let is_line = message.starts_with("c.txt:2: ") || message.starts_with("c.txt:3: ");
            assert!(is_line && message.contains("expected a number for each word"), "{message}");
        }
        let many: String = (1..70_000).map(|i| format!("\"w{i}\":{i},")).collect();
        assert!(error(&format!("{{{many}\"a\":0}}")).contains("more than 65536 clusters"));
    }
}
