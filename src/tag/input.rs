//! The inputs of a tagger: sentences, alone or in their documents.

use std::borrow::Borrow;

use crate::error::Place;
use crate::sentence::{Document, DocumentRule, Sentence, SentenceRef};

/// The input of a tagger.
#[derive(Clone, Copy, Debug)]
pub enum TagInput<'a> {
    /// A sentence of columns, to which the model's template applies, or of ready-made attributes.
    Sentence(&'a Sentence),
    /// A sentence of a document, by its number. Templates may look at the rest of the document.
    InDocument(&'a Document<'a>, usize),
}

impl<'a> TagInput<'a> {
    /// Returns the number of tokens T; 0 if the document has no such sentence.
    pub fn len(self) -> usize {
        self.in_context().map_or(0, |context| context.sentence().len())
    }

    /// Returns whether there are no tokens.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the sentence with its context; `None` if the document has no such sentence.
    pub(super) fn in_context(self) -> Option<SentenceRef<'a>> {
        match self {
            Self::Sentence(sentence) => Some(sentence.into()),
            Self::InDocument(document, i) => document.in_context(i),
        }
    }

    /// Returns the place of a token, for errors: where it was read, or its number, from 0.
    pub fn place(self, t: usize) -> Place {
        match self {
            Self::Sentence(sentence) => sentence.place(t),
            Self::InDocument(document, i) => match document.sentence(i) {
                Some(sentence) => sentence.place(t),
                None => Place::file(format!("sentence {i}")),
            },
        }
    }
}

impl<'a> From<&'a Sentence> for TagInput<'a> {
    fn from(sentence: &'a Sentence) -> Self {
        Self::Sentence(sentence)
    }
}

impl<'a> From<(&'a Document<'a>, usize)> for TagInput<'a> {
    fn from((document, i): (&'a Document<'a>, usize)) -> Self {
        Self::InDocument(document, i)
    }
}

/// Consecutive sentences in their documents, ready to be tagged.
///
/// ```no_run
/// use dropchain::tag::{TagDocuments, TagOptions, Tagger, Workspace};
/// use dropchain::{Corpus, Result};
///
/// # fn main() -> Result<()> {
/// let tagger = Tagger::open("ner.model")?;
/// let corpus = Corpus::read(["news.conll"], &Default::default())?;
/// let documents = TagDocuments::new(&tagger, corpus.sentences());
/// let mut workspace = Workspace::default();
/// for i in 0..documents.len() {
///     let tagging = tagger.tag_with(documents.input(i), TagOptions::default(), &mut workspace)?;
///     println!("{:?}", tagger.label_names(&tagging.labels));
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct TagDocuments<'a> {
    sentences: Vec<&'a Sentence>,
    documents: Vec<Document<'a>>,
    places: Vec<Option<(usize, usize)>>, // [sentences] the document, and the number in it
}

impl<'a> TagDocuments<'a> {
    /// Divides the sentences of a corpus into the documents that a tagger sees. If its template
    /// does not look at documents, every sentence stands alone.
    pub fn new<S: Borrow<Sentence>>(tagger: &super::Tagger, sentences: &'a [S]) -> Self {
        let rule = tagger.documents().map(|documents| documents.rule);
        Self::with_context(rule, [&[], sentences, &[]])
    }

    /// Divides sentences into documents, given those before and after them that belong to the
    /// documents of the first and the last one. Without a rule, every sentence stands alone.
    pub(super) fn with_context<S: Borrow<Sentence>>(
        rule: Option<DocumentRule>,
        [before, sentences, after]: [&'a [S]; 3],
    ) -> Self {
        let all = [before, sentences, after].into_iter().flatten();
        let documents = rule.map_or_else(Vec::new, |rule| {
            rule.documents(all.map(Borrow::borrow)).into_iter().map(Document::new).collect()
        });
        let lengths = documents.iter().enumerate();
        let mut places = lengths.flat_map(|(d, document)| (0..document.len()).map(move |i| (d, i)));
        let is_boundary = |s: &S| s.borrow().layout.document_start;
        for _ in before.iter().filter(|s| !is_boundary(s)) {
            places.next();
        }
        let places = sentences.iter().map(|sentence| match is_boundary(sentence) {
            true => None,
            false => places.next(),
        });
        Self {
            places: places.collect(),
            sentences: sentences.iter().map(Borrow::borrow).collect(),
            documents,
        }
    }

    /// Returns the number of sentences.
    pub fn len(&self) -> usize {
        self.sentences.len()
    }

    /// Returns whether there are no sentences.
    pub fn is_empty(&self) -> bool {
        self.sentences.is_empty()
    }

    /// Returns sentence `i`, in its document, for a tagger.
    ///
    /// # Panics
    ///
    /// If there is no such sentence.
    pub fn input(&self, i: usize) -> TagInput<'_> {
        match self.places[i] {
            Some((document, number)) => TagInput::InDocument(&self.documents[document], number),
            None => TagInput::Sentence(self.sentences[i]),
        }
    }

    /// Returns the documents.
    pub fn documents(&self) -> &[Document<'a>] {
        &self.documents
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sentence::Separation;

    fn sentences(text: &str) -> Vec<Sentence> {
        let parse = |word: &str| {
            let mut sentence = Sentence::from_words([word]);
            sentence.layout.document_start = word == "-";
            if word.starts_with('M') {
                sentence.layout.separation = Separation::MARK;
            }
            sentence
        };
        text.split_whitespace().map(parse).collect()
    }

    /// The first word and the words of the document of each input.
    fn inputs(rule: Option<DocumentRule>, parts: [&str; 3]) -> Vec<String> {
        let parts = parts.map(sentences);
        let documents = TagDocuments::with_context(rule, [&parts[0], &parts[1], &parts[2]]);
        let describe = |i| match documents.input(i) {
            TagInput::Sentence(sentence) => sentence.cell(0, 0).to_owned(),
            TagInput::InDocument(document, number) => {
                let words: String = document.sentences().map(|s| s.cell(0, 0)).collect();
                format!("{} in {words}", document.sentence(number).unwrap().cell(0, 0))
            }
        };
        (0..documents.len()).map(describe).collect()
    }

    #[test]
    fn sentences_have_the_context_of_their_document() {
        let auto = Some(DocumentRule::Auto);
        let expected = ["b in abc", "c in abc", "-", "M in Mde", "d in Mde"];
        assert_eq!(inputs(auto, ["a", "b c - M d", "e"]), expected);
        assert_eq!(inputs(auto, ["a -", "b - c", "d"]), ["b in b", "-", "c in cd"]);
        assert_eq!(inputs(auto, ["", "- -", ""]), ["-", "-"]);
        assert_eq!(inputs(None, ["a", "b - c", "d"]), ["b", "-", "c"]);
    }
}
