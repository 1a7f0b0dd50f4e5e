//! Lexica (gazetteers): lists of multi-token phrases.

use hashbrown::HashMap;

use super::text::{nonblank_lines, push_lower};
use crate::error::{Error, Place, Result};

/// Maximum length of a phrase, in tokens. Bounds the matching time per token for any file.
const MAX_PHRASE: usize = 64;

/// A set of phrases, stored as a trie over word ids.
///
/// Matching a sentence of T tokens takes at most T·(length of the longest phrase) steps.
#[derive(Clone, Debug)]
pub(super) struct Lexicon {
    words: HashMap<String, u32>,
    children: HashMap<(u32, u32), u32>, // (node, word) → node
    complete: Vec<bool>,                // [node] a phrase ends here; node 0 is the root
}

impl Lexicon {
    /// Parses `contents`: one phrase per line, tokens separated by white space. `lower` folds the
    /// phrases to lower case.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if a phrase is longer than 64 tokens, or if there are no phrases.
    pub(super) fn parse(contents: &str, file: &str, lower: bool) -> Result<Self> {
        let mut lexicon = Self {
            words: HashMap::new(),
            children: HashMap::new(),
            complete: vec![false],
        };
        let folded = fold(contents, lower);
        for (i, line) in nonblank_lines(&folded) {
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

    /// Tags each of `length` tokens with its position in a phrase: `B`egin, `I`nside, `E`nd,
    /// `S`ingle, or a blank for none. Matching is leftmost-longest.
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
            let end = self.longest_match(t, length, &word);
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

    /// Returns the end of the longest phrase that starts at token `t`, or `t` if there is none.
    fn longest_match<'a>(&self, t: usize, length: usize, word: impl Fn(usize) -> &'a str) -> usize {
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

fn fold(contents: &str, lower: bool) -> std::borrow::Cow<'_, str> {
    if !lower {
        return contents.into();
    }
    let mut folded = String::with_capacity(contents.len());
    push_lower(contents, &mut folded);
    folded.into()
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
    fn the_leftmost_longest_phrase_wins() {
        let lexicon =
            Lexicon::parse("New York\r\n\nNew York City\nYork\nParis\n", "l.txt", false).unwrap();
        assert_eq!(tags(&lexicon, "in New York City or Paris"), "-BIE-S");
        assert_eq!(tags(&lexicon, "New York New Paris York"), "BE-SS");
        assert_eq!(tags(&lexicon, "new york"), "--");
    }

    #[test]
    fn an_incomplete_phrase_falls_back_to_a_shorter_one() {
        let lexicon = Lexicon::parse("a b c d\na b\n", "l.txt", false).unwrap();
        assert_eq!(tags(&lexicon, "a b c x"), "BE--");
    }

    #[test]
    fn lower_case_lexica_fold_their_phrases() {
        let lexicon = Lexicon::parse("New York\n", "l.txt", true).unwrap();
        assert_eq!(tags(&lexicon, "new york New"), "BE-");
    }

    #[test]
    fn lexicon_errors_name_their_line() {
        let error = |text: &str| {
            Lexicon::parse(text, "l.txt", false)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(error(" \n"), "l.txt: the lexicon is empty");
        let long = format!("a\n{}\n", "x ".repeat(65));
        assert_eq!(
            error(&long),
            "l.txt:2: a phrase of 65 tokens; at most 64 are allowed"
        );
    }
}
