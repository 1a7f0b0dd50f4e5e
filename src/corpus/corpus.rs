//! A corpus in memory.

use std::ffi::OsStr;

use super::parse::ReadOptions;
use super::reader::Reader;
use crate::error::Result;
use crate::sentence::Sentence;

/// The sentences of a corpus, in order.
///
/// A corpus comes from files ([`Corpus::read`]), from text in one of the [formats](super::Format)
/// ([`Corpus::parse`]), or from sentences built in memory, which it collects:
///
/// ```
/// use dropchain::corpus::Corpus;
/// use dropchain::{Result, Sentence};
///
/// # fn main() -> Result<()> {
/// let rows = [
///     (vec!["Ada", "left"], vec!["B-PER", "O"]),
///     (vec!["in", "London"], vec!["O", "B-LOC"]),
/// ];
/// let corpus = rows
///     .into_iter()
///     .map(|(words, labels)| Sentence::from_words(words).with_labels(labels))
///     .collect::<Result<Corpus>>()?;
/// assert_eq!(corpus.len(), 2);
/// assert_eq!(corpus.sentences()[1].labels().unwrap(), ["O", "B-LOC"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Corpus {
    sentences: Vec<Sentence>,
}

impl Corpus {
    /// An empty corpus.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads all sentences of some files; `-` is standard input.
    ///
    /// # Errors
    ///
    /// The errors of [`Reader::open`] and of reading; [`Error::Input`](crate::Error::Input) if a
    /// file has no sentence or the sentences exceed [`ReadOptions::limits`].
    pub fn read<S: AsRef<OsStr>>(paths: impl AsRef<[S]>, options: &ReadOptions) -> Result<Self> {
        Self::collect(Reader::open(paths.as_ref(), options)?)
    }

    /// Reads all sentences of a reader.
    ///
    /// # Errors
    ///
    /// Same as [`Corpus::read`].
    pub fn collect(mut reader: Reader) -> Result<Self> {
        reader.require_sentences();
        Ok(Self::from(reader.collect_within_memory()?))
    }

    /// Parses text in memory; `name` identifies it in error messages. Without a format in the
    /// options, the extension of `name` selects one, as for a file.
    ///
    /// To parse a stream, collect the sentences of [`Reader::from_read`].
    ///
    /// # Errors
    ///
    /// The errors of reading; [`Error::Input`](crate::Error::Input) if the text has no sentence or
    /// the sentences exceed [`ReadOptions::limits`].
    pub fn parse(text: impl Into<String>, name: &str, options: &ReadOptions) -> Result<Self> {
        let input = std::io::Cursor::new(text.into());
        Self::collect(Reader::from_read(Box::new(input), name, options))
    }

    /// Appends a sentence.
    pub fn push(&mut self, sentence: Sentence) {
        self.sentences.push(sentence);
    }

    /// Number of sentences, document boundaries included.
    pub fn len(&self) -> usize {
        self.sentences.len()
    }

    /// Whether there are no sentences.
    pub fn is_empty(&self) -> bool {
        self.sentences.is_empty()
    }

    /// The memory usage in bytes.
    pub fn memory(&self) -> u64 {
        self.iter().map(|sentence| sentence.memory() as u64).sum()
    }

    /// Iterates over the sentences.
    pub fn iter(&self) -> std::slice::Iter<'_, Sentence> {
        self.sentences.iter()
    }

    /// The sentences.
    pub fn sentences(&self) -> &[Sentence] {
        &self.sentences
    }

    /// Returns the sentences, consuming the corpus.
    pub fn into_sentences(self) -> Vec<Sentence> {
        self.sentences
    }
}

impl From<Vec<Sentence>> for Corpus {
    fn from(sentences: Vec<Sentence>) -> Self {
        Self { sentences }
    }
}

impl FromIterator<Sentence> for Corpus {
    fn from_iter<I: IntoIterator<Item = Sentence>>(sentences: I) -> Self {
        Self::from(Vec::from_iter(sentences))
    }
}

impl Extend<Sentence> for Corpus {
    fn extend<I: IntoIterator<Item = Sentence>>(&mut self, sentences: I) {
        self.sentences.extend(sentences);
    }
}

impl IntoIterator for Corpus {
    type Item = Sentence;
    type IntoIter = std::vec::IntoIter<Sentence>;

    fn into_iter(self) -> Self::IntoIter {
        self.sentences.into_iter()
    }
}

impl<'a> IntoIterator for &'a Corpus {
    type Item = &'a Sentence;
    type IntoIter = std::slice::Iter<'a, Sentence>;

    fn into_iter(self) -> Self::IntoIter {
        self.sentences.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Format;

    fn conll() -> ReadOptions {
        ReadOptions { format: Some(Format::Conll), ..ReadOptions::default() }
    }

    #[test]
    fn text_in_memory_is_parsed_like_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.conll");
        let text = "Ada\tB-PER\n\nleft\tO\n";
        std::fs::write(&path, text).unwrap();
        let path = path.to_str().unwrap();
        let corpus = Corpus::parse(text, path, &ReadOptions::default()).unwrap();
        assert_eq!(corpus, Corpus::read([path], &ReadOptions::default()).unwrap());
        assert_eq!(corpus.len(), 2);
        assert_eq!(corpus.sentences()[1].place(0).to_string(), format!("{path}:3"));
    }

    #[test]
    fn text_without_a_sentence_is_an_error_that_names_it() {
        let error = Corpus::parse("\n\n", "x", &conll()).unwrap_err();
        assert_eq!(error.to_string(), "x: no sentence found; expected at least one");
    }

    #[test]
    fn sentences_are_kept_in_order() {
        let words = |corpus: &Corpus| -> Vec<String> {
            corpus.iter().map(|s| s.cell(0, 0).to_owned()).collect()
        };
        let mut corpus = Corpus::new();
        assert!(corpus.is_empty());
        corpus.push(Sentence::from_words(["a"]));
        corpus.extend([Sentence::from_words(["b"]), Sentence::from_words(["c"])]);
        assert_eq!(words(&corpus), ["a", "b", "c"]);
        assert_eq!(words(&corpus.clone().into_iter().rev().collect()), ["c", "b", "a"]);
        assert_eq!(corpus, Corpus::from(corpus.clone().into_sentences()));
    }
}
