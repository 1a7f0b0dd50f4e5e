//! Lexica (gazetteers): lists of multi-token phrases.

use hashbrown::HashMap;

use super::resources::{Resource, Selection};
use super::text::nonblank_lines;
use crate::error::{Error, Place, Result};

/// Maximum length of a phrase, in tokens. Bounds the matching time per token for any file.
pub(super) const MAX_PHRASE: usize = 64;

/// A token of a phrase that was found: its position in the phrase, `B`egin, `I`nside, `E`nd or
/// `S`ingle, or a blank for none; and the number of the phrase.
pub(super) type PhraseTag = (u8, u32);

/// Phrases with values, stored as a trie over word ids.
#[derive(Clone, Debug, Default)]
pub(super) struct Phrases<V> {
    words: HashMap<String, u32>,
    children: HashMap<(u32, u32), u32>, // (node, word) → node; node 0 is the root
    values: HashMap<u32, V>,            // by the node at which a phrase ends
}

/// A set of phrases.
pub(super) type Lexicon = Phrases<()>;

impl<V: Default> Phrases<V> {
    /// Returns the value of a phrase, which is added if necessary.
    pub(super) fn entry<'a>(&mut self, phrase: impl Iterator<Item = &'a str>) -> &mut V {
        let mut node = 0;
        for word in phrase {
            let next = self.words.len() as u32;
            let word = *self.words.entry_ref(word).or_insert(next);
            let next = self.children.len() as u32 + 1;
            node = *self.children.entry((node, word)).or_insert(next);
        }
        self.values.entry(node).or_default()
    }

    /// Returns the value of a phrase, by its number.
    pub(super) fn get(&self, phrase: u32) -> Option<&V> {
        self.values.get(&phrase)
    }

    /// Returns all values, in no particular order.
    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.values.values()
    }

    fn step(&self, node: u32, word: &str) -> Option<u32> {
        self.children.get(&(node, *self.words.get(word)?)).copied()
    }

    /// Tags each of `length` tokens with its position in a phrase whose value `counts`. Matching is
    /// leftmost-longest, in at most `length` times the length of the longest phrase steps.
    pub(super) fn tag<'a>(
        &self,
        length: usize,
        word: impl Fn(usize) -> &'a str,
        counts: impl Fn(&V) -> bool,
        tags: &mut Vec<PhraseTag>,
    ) {
        tags.clear();
        tags.resize(length, (b' ', 0));
        let mut t = 0;
        while t < length {
            let (mut node, mut found) = (0, (t, 0));
            for u in t..length {
                let Some(next) = self.step(node, word(u)) else {
                    break;
                };
                node = next;
                if self.get(node).is_some_and(&counts) {
                    found = (u + 1, node);
                }
            }
            let (end, node) = found;
            match end - t {
                0 => t += 1,
                1 => tags[t] = (b'S', node),
                _ => {
                    tags[t..end].fill((b'I', node));
                    tags[t].0 = b'B';
                    tags[end - 1].0 = b'E';
                }
            }
            t = t.max(end);
        }
    }
}

impl Resource for Lexicon {
    /// One phrase per line, tokens separated by white space, of at most 64 tokens.
    fn parse(contents: &str, file: &str, selection: Selection) -> Result<Self> {
        let mut lexicon = Self::default();
        let folded = selection.fold(contents);
        for (i, line) in nonblank_lines(&folded) {
            let length = line.split_whitespace().count();
            if length > MAX_PHRASE {
                return Err(Error::input(
                    Place::line(file, i),
                    format!("a phrase of {length} tokens; at most {MAX_PHRASE} are allowed"),
                ));
            }
            lexicon.entry(line.split_whitespace());
        }
        if lexicon.values.is_empty() {
            return Err(Error::input(Place::file(file), "the lexicon is empty"));
        }
        Ok(lexicon)
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
        lexicon.tag(words.len(), |t| words[t], |()| true, &mut tags);
        let tags = tags.iter().map(|&(tag, _)| char::from(tag));
        tags.collect::<String>().replace(' ', "-")
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
