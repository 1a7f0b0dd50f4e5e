//! A corpus in memory, and its labels for the detector that decides how they are read.

use std::ffi::OsStr;

use super::parse::ReadOptions;
use super::reader::Reader;
use crate::error::Result;
use crate::label::{PlainLabels, SchemeDetector};
use crate::memory::input_over_limit;
use crate::sentence::{Schema, Sentence};

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
        let limit = reader.memory_limit();
        let (mut sentences, mut held) = (Vec::new(), 0);
        for sentence in reader {
            let sentence = sentence?;
            held += sentence.memory() as u64;
            // The vector doubles when it grows.
            let spare = sentences.capacity() - sentences.len();
            if held + (spare * size_of::<Sentence>()) as u64 > limit {
                let what = "the sentences up to here need";
                return Err(input_over_limit(sentence.place(0), what, limit, "less text"));
            }
            sentences.push(sentence);
        }
        Ok(Self { sentences })
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

impl SchemeDetector {
    /// A detector that has also seen the labels of these sentences, document boundaries left out.
    #[must_use]
    pub fn of<'a>(&self, sentences: impl IntoIterator<Item = &'a Sentence>) -> Self {
        let mut detector = self.clone();
        let content = sentences.into_iter().filter(|sentence| !sentence.layout.document_start);
        content.for_each(|sentence| detector.observe_sentence(sentence));
        detector
    }

    /// Notes whether the column of labels has tags: those of CoNLL-U are spans only by choice, and
    /// labels that join columns never.
    pub fn observe_column(&mut self, schema: &Schema) {
        if schema.joined().is_some() {
            *self = std::mem::take(self).with_plain_labels(PlainLabels::Tags);
        }
        if schema.has_tags() {
            self.of_tags();
        }
    }

    /// Observes the labels of a sentence and their column.
    pub fn observe_sentence(&mut self, sentence: &Sentence) {
        self.observe_column(sentence.schema());
        let place = |t| Some(sentence.place(t));
        match sentence.allowed_labels() {
            Some(allowed) => self.observe_partial(&allowed, place),
            None => self.observe_at(&sentence.labels().unwrap_or_default(), place),
        }
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
