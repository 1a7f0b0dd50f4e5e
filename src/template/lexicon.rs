//! Word lists: gazetteers of phrases, and clusters of words.

use hashbrown::HashMap;

use super::text::push_lower;
use crate::error::{Error, Place, Result};

/// Longest phrase, in tokens: bounds the work per token whatever the file holds.
const MAX_PHRASE: usize = 64;

/// Phrases, one per line, tokens separated by blanks; a trie over word numbers.
///
/// Matching a sentence costs at most T times the length of the longest phrase.
#[derive(Clone, Debug)]
pub(super) struct Lexicon {
    words: HashMap<String, u32>,
    children: HashMap<(u32, u32), u32>,
    complete: Vec<bool>, // [node] a phrase ends here; node 0 is the root
}

impl Lexicon {
    /// Reads the phrases of `contents`; `lower` makes them lower case.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] when a phrase is longer than 64 tokens or there is none.
    pub(super) fn parse(contents: &str, file: &str, lower: bool) -> Result<Self> {
        let mut lexicon = Self {
            words: HashMap::new(),
            children: HashMap::new(),
            complete: vec![false],
        };
        let folded = fold(contents, lower);
        for (i, line) in lines(&folded) {
            let length = line.split_whitespace().count();
            if length > MAX_PHRASE {
                return Err(Error::input(
                    Place::line(file, i),
                    format!("a phrase of {length} tokens; at most {MAX_PHRASE} are allowed"),
                ));
            }
            lexicon.insert(line.split_whitespace());
        }
        if lexicon.complete.len() == 1 {
            return Err(Error::input(Place::file(file), "the lexicon is empty"));
        }
        Ok(lexicon)
    }

    fn insert<'a>(&mut self, phrase: impl Iterator<Item = &'a str>) {
        let mut node = 0;
        for word in phrase {
            let next = self.words.len() as u32;
            let word = *self.words.entry_ref(word).or_insert(next);
            let next = self.complete.len() as u32;
            node = *self.children.entry((node, word)).or_insert(next);
            if node == next {
                self.complete.push(false);
            }
        }
        if node != 0 {
            self.complete[node as usize] = true;
        }
    }

    /// Writes for each of `length` tokens its place in a phrase: `B`egin, `I`nside, `E`nd,
    /// `S`ingle, or a blank outside. The leftmost phrase counts, of those the longest.
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
            let end = self.longest(t, length, &word);
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

    /// End of the longest phrase that begins at token `t`; `t` if there is none.
    fn longest<'a>(&self, t: usize, length: usize, word: impl Fn(usize) -> &'a str) -> usize {
        let (mut node, mut end) = (0, t);
        for u in t..length {
            let step = self.words.get(word(u));
            let Some(&next) = step.and_then(|&w| self.children.get(&(node, w))) else {
                break;
            };
            node = next;
            if self.complete[node as usize] {
                end = u + 1;
            }
        }
        end
    }
}

/// Words with the path of their cluster: `path TAB word [TAB count]`, as Brown clustering
/// writes it.
#[derive(Clone, Debug)]
pub(super) struct Clusters {
    paths: HashMap<String, Box<str>>,
}

impl Clusters {
    /// Reads the clusters of `contents`; `lower` makes the words lower case. Where a word
    /// comes twice its first path counts.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] when a line has no path or no word, or there is no line.
    pub(super) fn parse(contents: &str, file: &str, lower: bool) -> Result<Self> {
        let mut paths = HashMap::new();
        let mut folded = String::new();
        for (i, line) in lines(contents) {
            let mut cells = line.split('\t');
            let (path, word) = (cells.next().unwrap_or(""), cells.next().unwrap_or(""));
            if path.is_empty() || word.is_empty() {
                return Err(Error::input(
                    Place::line(file, i),
                    format!("expected a cluster's path, a tab and a word, found '{line}'"),
                ));
            }
            folded.clear();
            if lower {
                push_lower(word, &mut folded);
            } else {
                folded.push_str(word);
            }
            paths
                .entry_ref(folded.as_str())
                .or_insert_with(|| path.into());
        }
        if paths.is_empty() {
            return Err(Error::input(Place::file(file), "the cluster file is empty"));
        }
        Ok(Self { paths })
    }

    /// The path of the cluster of `word`.
    pub(super) fn path(&self, word: &str) -> Option<&str> {
        self.paths.get(word).map(|path| &**path)
    }
}

fn fold(contents: &str, lower: bool) -> std::borrow::Cow<'_, str> {
    if !lower {
        return contents.into();
    }
    let mut folded = String::with_capacity(contents.len());
    push_lower(contents, &mut folded);
    folded.into()
}

/// Lines that are not blank, with their numbers from 1; a byte order mark is skipped.
fn lines(contents: &str) -> impl Iterator<Item = (u64, &str)> {
    let contents = contents.strip_prefix('\u{feff}').unwrap_or(contents);
    let numbered = (1..).zip(contents.lines());
    numbered.filter(|(_, line)| !line.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(lexicon: &Lexicon, sentence: &str) -> String {
        let words: Vec<&str> = sentence.split(' ').collect();
        let mut tags = Vec::new();
        lexicon.tag(words.len(), |t| words[t], &mut tags);
        String::from_utf8(tags).unwrap().replace(' ', "-")
    }

    #[test]
    fn the_leftmost_longest_phrase_counts() {
        let lexicon =
            Lexicon::parse("New York\r\n\nNew York City\nYork\nParis\n", "l.txt", false).unwrap();
        assert_eq!(tags(&lexicon, "in New York City or Paris"), "-BIE-S");
        assert_eq!(tags(&lexicon, "New York New Paris York"), "BE-SS");
        assert_eq!(tags(&lexicon, "new york"), "--");
    }

    #[test]
    fn a_phrase_that_breaks_off_leaves_its_shorter_beginning() {
        let lexicon = Lexicon::parse("a b c d\na b\n", "l.txt", false).unwrap();
        assert_eq!(tags(&lexicon, "a b c x"), "BE--");
    }

    #[test]
    fn lower_case_lexica_fold_their_phrases() {
        let lexicon = Lexicon::parse("New York\n", "l.txt", true).unwrap();
        assert_eq!(tags(&lexicon, "new york New"), "BE-");
    }

    #[test]
    fn lexicon_faults_name_their_line() {
        let fault = |text: &str| {
            Lexicon::parse(text, "l.txt", false)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(fault(" \n"), "l.txt: the lexicon is empty");
        let long = format!("a\n{}\n", "x ".repeat(65));
        assert_eq!(
            fault(&long),
            "l.txt:2: a phrase of 65 tokens; at most 64 are allowed"
        );
    }

    #[test]
    fn clusters_give_the_path_of_a_word() {
        let clusters = Clusters::parse("0110\tthe\t12\n01\tA\n", "c.txt", false).unwrap();
        assert_eq!(clusters.path("the"), Some("0110"));
        assert_eq!(clusters.path("A"), Some("01"));
        assert_eq!(clusters.path("a"), None);
        let clusters = Clusters::parse("01\tA\n11\ta\n", "c.txt", true).unwrap();
        assert_eq!(clusters.path("a"), Some("01"));
    }

    #[test]
    fn cluster_faults_name_their_line() {
        let fault = |text: &str| {
            Clusters::parse(text, "c.txt", false)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(fault(""), "c.txt: the cluster file is empty");
        assert_eq!(
            fault("01\ta\n0110 the\n"),
            "c.txt:2: expected a cluster's path, a tab and a word, found '0110 the'"
        );
    }
}
