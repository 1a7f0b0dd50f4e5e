//! A document: a borrowed view of consecutive sentences, and an index of its words.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashMap;

use super::sentence::Sentence;
use crate::error::Result;

/// Writes the text of a token that an index is made of, given its cell.
pub type IndexedText = fn(&str, &mut String);

/// A document: a borrowed view of consecutive sentences, whose tokens are numbered throughout.
///
/// It may be a part of a longer document: the sentences of interest, and as many before and after
/// them as the functions of a template see ([`DocumentOptions::window`](super::DocumentOptions)).
/// Attributes are the same then.
///
/// ```
/// use dropchain::Sentence;
/// use dropchain::sentence::Document;
///
/// let sentences = ["Ada Lovelace left", "Ada died"]
///     .map(|text| Sentence::from_words(text.split(' ')));
/// let document = Document::new(&sentences);
/// assert_eq!(document.len(), 2);
/// assert_eq!(document.tokens_of(1), 3..5);
/// ```
#[derive(Debug)]
pub struct Document<'a> {
    identity: Arc<()>,
    sentences: Vec<Cow<'a, Sentence>>,
    starts: Vec<usize>, // [sentences + 1] the first token of each sentence
    /// By column, and whether its cells are indexed as an `IndexedText` writes them.
    indices: Mutex<HashMap<(usize, bool), Arc<WordIndex>>>,
    derived: Mutex<Vec<DerivedDocument>>,
}

/// A derived document, with the identity of what made it.
type DerivedDocument = (Arc<()>, Arc<Document<'static>>);

impl<'a> Document<'a> {
    /// Creates a document of sentences. Document boundaries among them are left out.
    pub fn new(sentences: impl IntoIterator<Item = &'a Sentence>) -> Self {
        let is_content = |sentence: &&Sentence| !sentence.layout.document_start;
        let sentences = sentences.into_iter().filter(is_content);
        Self::of(sentences.map(Cow::Borrowed).collect())
    }

    /// Creates a document of one sentence, which may be a document boundary.
    pub fn alone(sentence: &'a Sentence) -> Self {
        Self::of(vec![Cow::Borrowed(sentence)])
    }

    fn of(sentences: Vec<Cow<'a, Sentence>>) -> Self {
        let mut starts = vec![0];
        for sentence in &sentences {
            starts.push(starts[starts.len() - 1] + sentence.len());
        }
        Self {
            identity: Arc::new(()),
            sentences,
            starts,
            indices: Mutex::default(),
            derived: Mutex::default(),
        }
    }

    /// Returns the number of sentences.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns whether there are no sentences.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns sentence `i`, if there is one.
    pub fn sentence(&self, i: usize) -> Option<&Sentence> {
        self.sentences.get(i).map(AsRef::as_ref)
    }

    /// Iterates over the sentences.
    pub fn sentences(&self) -> impl Iterator<Item = &Sentence> {
        self.sentences.iter().map(AsRef::as_ref)
    }

    /// Returns sentence `i` with its context, if there is one.
    pub fn in_context(&self, i: usize) -> Option<SentenceRef<'_>> {
        Some(SentenceRef { sentence: self.sentence(i)?, document: Some((self, i)) })
    }

    /// Iterates over the sentences with their context.
    pub fn in_contexts(&self) -> impl Iterator<Item = SentenceRef<'_>> {
        (0..self.len()).filter_map(|i| self.in_context(i))
    }

    /// Returns the number of tokens of all sentences.
    pub fn tokens(&self) -> usize {
        self.starts[self.len()]
    }

    /// Returns the tokens of sentence `i`, as numbered through the document.
    ///
    /// # Panics
    ///
    /// If there is no such sentence.
    pub fn tokens_of(&self, i: usize) -> Range<usize> {
        self.starts[i]..self.starts[i + 1]
    }

    /// Returns the sentence of a token of the document.
    ///
    /// # Panics
    ///
    /// If there is no such token.
    pub fn sentence_of(&self, token: usize) -> usize {
        assert!(token < self.tokens(), "token {token} of {}", self.tokens());
        self.starts.partition_point(|&start| start <= token) - 1
    }

    /// Returns what distinguishes it from other documents that are indexed.
    pub fn identity(&self) -> &Arc<()> {
        &self.identity
    }

    /// Returns the index of a column, which all sentences must have, of its cells verbatim or of
    /// what `text` writes. It is built once.
    pub fn index(&self, column: usize, text: Option<IndexedText>) -> Arc<WordIndex> {
        let mut indices = self.indices.lock().unwrap_or_else(PoisonError::into_inner);
        let index = indices.entry((column, text.is_some())).or_insert_with(|| {
            let write = |sentence: &Sentence, t: usize, out: &mut String| {
                let cell = sentence.cell(t, column);
                match text {
                    Some(write) => write(cell, out),
                    None => out.push_str(cell),
                }
            };
            Arc::new(WordIndex::new(self.sentences(), self.tokens(), write))
        });
        Arc::clone(index)
    }

    /// Returns the document that `make` makes of this one, whose sentences have the same tokens. It
    /// is made once for each `maker`.
    ///
    /// # Errors
    ///
    /// The error of `make`.
    pub fn derived(
        &self,
        maker: &Arc<()>,
        make: impl FnOnce() -> Result<Vec<Sentence>>,
    ) -> Result<Arc<Document<'static>>> {
        let mut derived = self.derived.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, document)) = derived.iter().find(|(other, _)| Arc::ptr_eq(other, maker)) {
            return Ok(Arc::clone(document));
        }
        let document = Arc::new(Document::of(make()?.into_iter().map(Cow::Owned).collect()));
        derived.push((Arc::clone(maker), Arc::clone(&document)));
        Ok(document)
    }

    /// Returns the memory in bytes of the view and its indices, without the sentences.
    pub fn memory(&self) -> usize {
        let indices = self.indices.lock().unwrap_or_else(PoisonError::into_inner);
        let indices: usize = indices.values().map(|index| index.memory()).sum();
        16 * self.starts.capacity() + indices
    }
}

/// A sentence, alone or in its document ([`Document::in_context`]), which templates may look at.
#[derive(Clone, Copy, Debug)]
pub struct SentenceRef<'a> {
    sentence: &'a Sentence,
    document: Option<(&'a Document<'a>, usize)>,
}

impl<'a> SentenceRef<'a> {
    /// Returns the sentence.
    pub fn sentence(self) -> &'a Sentence {
        self.sentence
    }

    /// Returns the document and the number of the sentence in it.
    pub fn document(self) -> Option<(&'a Document<'a>, usize)> {
        self.document
    }
}

impl<'a> From<&'a Sentence> for SentenceRef<'a> {
    fn from(sentence: &'a Sentence) -> Self {
        Self { sentence, document: None }
    }
}

/// Where each word of a document occurs. Building it takes time and memory linear in the text;
/// looking up takes constant time.
#[derive(Debug, Default)]
pub struct WordIndex {
    words: Vec<u32>,       // [T] the number of the word of each token
    ranks: Vec<u32>,       // [T] which of the occurrences of its word each token is
    starts: Vec<u32>,      // [words + 1] of each word in `occurrences`
    occurrences: Vec<u32>, // [T] tokens, by word and then ascending
}

impl WordIndex {
    /// Indexes the texts of tokens; `write` appends that of a token.
    pub(super) fn new<'a>(
        sentences: impl Iterator<Item = &'a Sentence>,
        tokens: usize,
        write: impl Fn(&Sentence, usize, &mut String),
    ) -> Self {
        let mut index = Self { words: Vec::with_capacity(tokens), ..Self::default() };
        let mut text = String::new();
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut counts: Vec<u32> = Vec::new(); // [words]
        for sentence in sentences {
            for t in 0..sentence.len() {
                text.clear();
                write(sentence, t, &mut text);
                let next = numbers.len() as u32;
                let word = *numbers.entry_ref(text.as_str()).or_insert(next);
                counts.resize(counts.len().max(word as usize + 1), 0);
                index.words.push(word);
                index.ranks.push(counts[word as usize]);
                counts[word as usize] += 1;
            }
        }
        index.starts.push(0);
        for (word, count) in counts.iter().enumerate() {
            index.starts.push(index.starts[word] + count);
        }
        index.occurrences = vec![0; index.words.len()];
        for (t, (&word, &rank)) in index.words.iter().zip(&index.ranks).enumerate() {
            index.occurrences[(index.starts[word as usize] + rank) as usize] = t as u32;
        }
        index
    }

    /// Returns the tokens of the document with the word of token `t`, ascending, and which of them
    /// `t` is.
    pub fn occurrences(&self, t: usize) -> (&[u32], usize) {
        let word = self.words[t] as usize;
        let range = self.starts[word] as usize..self.starts[word + 1] as usize;
        (&self.occurrences[range], self.ranks[t] as usize)
    }

    /// Returns where the occurrences of the word of token `t` begin in a list of all tokens by
    /// word, in which those of a word are consecutive.
    pub fn first_of_word(&self, t: usize) -> usize {
        self.starts[self.words[t] as usize] as usize
    }

    /// Returns all tokens by word, those of a word ascending.
    pub fn by_word(&self) -> &[u32] {
        &self.occurrences
    }

    /// Returns the memory usage in bytes.
    pub fn memory(&self) -> usize {
        let numbers = [&self.words, &self.ranks, &self.starts, &self.occurrences];
        4 * numbers.into_iter().map(Vec::capacity).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences() -> Vec<Sentence> {
        let texts = ["a b", "-", "c", "d a"];
        let mut sentences = texts.map(|text| Sentence::from_words(text.split(' ')));
        sentences[1].layout.document_start = true;
        sentences.into()
    }

    #[test]
    fn tokens_are_numbered_through_the_sentences_without_boundaries() {
        let sentences = sentences();
        let document = Document::new(&sentences);
        assert_eq!((document.len(), document.tokens()), (3, 5));
        let ranges: Vec<_> = (0..3).map(|i| document.tokens_of(i)).collect();
        assert_eq!(ranges, [0..2, 2..3, 3..5]);
        let of: Vec<usize> = (0..5).map(|token| document.sentence_of(token)).collect();
        assert_eq!(of, [0, 0, 1, 2, 2]);
    }

    #[test]
    fn empty_sentences_have_no_tokens() {
        let sentences = ["", "a", ""].map(|text| Sentence::from_words(text.split_whitespace()));
        let document = Document::new(&sentences);
        assert_eq!((document.len(), document.tokens()), (3, 1));
        assert_eq!(document.sentence_of(0), 1);
        assert!(Document::new([]).is_empty());
    }

    #[test]
    fn an_index_is_built_once_for_each_text() {
        let sentences = sentences();
        let document = Document::new(&sentences);
        let before = document.memory();
        let verbatim = document.index(0, None);
        assert_eq!(verbatim.occurrences(0), (&[0, 4][..], 0));
        assert!(Arc::ptr_eq(&verbatim, &document.index(0, None)));
        assert!(document.memory() > before);
        let same = document.index(0, Some(|_, out| out.push('x')));
        assert_eq!(same.occurrences(2), (&[0, 1, 2, 3, 4][..], 2));
    }

    fn index(sentences: &[&str]) -> WordIndex {
        let sentences: Vec<Sentence> =
            sentences.iter().map(|text| Sentence::from_words(text.split(' '))).collect();
        let sentences: Vec<&Sentence> = sentences.iter().collect();
        let tokens = sentences.iter().map(|s| s.len()).sum();
        WordIndex::new(sentences.iter().copied(), tokens, |s, t, out| {
            out.push_str(s.cell(t, 0));
        })
    }

    #[test]
    fn occurrences_are_those_of_a_search_of_all_tokens() {
        let texts = ["a b a c", "b", "c a b b", "ab aa a"];
        let index = index(&texts);
        let words: Vec<&str> = texts.iter().flat_map(|text| text.split(' ')).collect();
        for (t, word) in words.iter().enumerate() {
            let same = (0..words.len()).filter(|&u| words[u] == *word);
            let same: Vec<u32> = same.map(|u| u as u32).collect();
            let (found, rank) = index.occurrences(t);
            assert_eq!(found, same, "{word}");
            assert_eq!(found[rank], t as u32);
            assert_eq!(&index.by_word()[index.first_of_word(t)..][..same.len()], same);
        }
        assert!(index.memory() >= 4 * 3 * words.len());
    }

    #[test]
    fn a_document_without_tokens_has_no_words() {
        assert!(WordIndex::new([].into_iter(), 0, |_, _, _| unreachable!()).by_word().is_empty());
    }
}
