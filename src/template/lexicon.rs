//! Lexica (gazetteers): lists of multi-token phrases.

use hashbrown::{HashMap, HashSet};

use super::resource_text::{check_length, phrase_lines};
use super::resources::{Resource, Selection};
use super::text::nonblank_lines;
use crate::error::{Error, Place, Result};

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

    fn step(&self, node: u32, word: &str) -> Option<u32> {
        self.children.get(&(node, *self.words.get(word)?)).copied()
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
                let Some(next) = self.step(node, word(u)) else { break };
                node = next;
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
}
