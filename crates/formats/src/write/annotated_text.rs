//! Texts with marks: what the formats of annotation tools write instead of sentences.
//!
//! A text is what the input has as one: a line of raw text, or the `text` of a JSON object. Of a
//! sentence without text, it is its words, joined by spaces. A mark is a span or, if labels encode
//! no spans, a token.

use std::ops::Range;
use std::sync::Arc;

use dropchain::sentence::{Offsets, SourceFile, TextPosition};
use dropchain::{Error, Place, Result, Sentence, corpus::Tagged, label::Span, tokenize};

/// The type of a span without one (the label `B`).
const UNTYPED: &str = "SPAN";

/// A marked part of a text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mark {
    /// The tokens of the span.
    pub tokens: Range<usize>,
    /// The type of the span, or the label of the token.
    pub label: String,
    /// Probability of the span, if it was requested.
    pub probability: Option<f64>,
}

/// A text with its tokens and marks.
#[derive(Debug)]
pub(super) struct AnnotatedText {
    pub text: Arc<str>,
    /// The file that it comes from.
    pub file: SourceFile,
    /// Where it begins in the file, if that is raw text.
    pub start: Option<TextPosition>,
    /// The positions of its tokens, of all sentences.
    pub tokens: Vec<Offsets>,
    /// In order, disjoint and not empty.
    pub marks: Vec<Mark>,
    /// The probability of all labels, if it was requested.
    pub probability: Option<f64>,
    /// The input object, if there is one.
    pub record: Option<Arc<str>>,
    has_source: bool,
    /// The first token of each sentence, and where it is.
    pub places: Vec<(usize, Place)>,
}

impl AnnotatedText {
    /// The text of a sentence, without its tokens.
    pub fn of(tagged: &Tagged) -> Self {
        let sentence = tagged.sentence;
        let source = tagged.source_text().and(sentence.layout.source.clone());
        let words = || (0..sentence.len()).map(|t| tagged.word(t)).collect::<Vec<_>>().join(" ");
        Self {
            has_source: source.is_some(),
            text: source.unwrap_or_else(|| words().into()),
            file: sentence.file().clone(),
            start: sentence.layout.source_start,
            tokens: Vec::new(),
            marks: Vec::new(),
            probability: None,
            record: sentence.layout.record.clone(),
            places: Vec::new(),
        }
    }

    /// Returns whether a sentence belongs to the text.
    pub fn contains(&self, tagged: &Tagged) -> bool {
        let source = (tagged.source_text()).and(tagged.sentence.layout.source.as_ref());
        self.has_source && source.is_some_and(|source| Arc::ptr_eq(source, &self.text))
    }

    /// Returns whether no other sentence belongs to the text after this one.
    pub fn ends_with(&self, sentence: &Sentence) -> bool {
        !self.has_source || sentence.layout.ends_source
    }

    /// Adds the tokens and marks of a sentence; `spans`: its labels encode spans.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the number of probabilities is not that of the marks.
    pub fn add(&mut self, tagged: &Tagged, spans: bool) -> Result<()> {
        let sentence = tagged.sentence;
        let (before, first) = (self.marks.len(), self.tokens.len());
        self.places.push((first, sentence.place(0)));
        if self.has_source {
            self.tokens.extend_from_slice(&sentence.offsets);
        } else {
            let mut end = 0;
            let words = (0..sentence.len()).map(|t| {
                let start = end;
                end += tagged.word(t).len() + 1; // and a space
                start..end - 1
            });
            self.tokens = tokenize::offsets(&self.text, words);
        }
        let probabilities = tagged.mark_probabilities.as_deref();
        let mark = |(i, Span { start, end, kind }): (usize, Span<'_>)| Mark {
            tokens: first + start..first + end,
            label: if kind.is_empty() { UNTYPED } else { kind }.to_owned(),
            probability: probabilities.and_then(|all| all.get(i).copied()),
        };
        let labels = tagged.labels.iter().enumerate();
        let spans = match spans {
            true => tagged.labeling.spans(&tagged.labels),
            false => labels.map(|(t, kind)| Span { start: t, end: t + 1, kind }).collect(),
        };
        self.marks.extend(spans.into_iter().enumerate().map(mark));
        let marks = self.marks.len() - before;
        if let Some(probabilities) = probabilities.filter(|all| all.len() != marks) {
            let (place, given) = (sentence.place(0), probabilities.len());
            let message = format!("{place}: {given} probabilities for {marks} marks");
            return Err(Error::parameter(message));
        }
        self.probability = match (self.places.len(), self.probability, tagged.probability) {
            (1, _, probability) => probability,
            (_, Some(others), Some(probability)) => Some(others * probability),
            _ => None,
        };
        Ok(())
    }

    /// Returns the bytes that a mark covers.
    pub fn bytes(&self, mark: &Mark) -> Range<usize> {
        self.tokens[mark.tokens.start].bytes.start..self.tokens[mark.tokens.end - 1].bytes.end
    }

    /// Returns the text that a mark covers.
    pub fn covered(&self, mark: &Mark) -> &str {
        &self.text[self.bytes(mark)]
    }

    /// Returns the parts of the text in order, each with the mark that covers it, if any.
    pub fn parts(&self) -> impl Iterator<Item = (&str, Option<&Mark>)> {
        let mut end = 0;
        let marked = self.marks.iter().flat_map(move |mark| {
            let bytes = self.bytes(mark);
            let before = &self.text[end..bytes.start];
            end = bytes.end;
            [(before, None), (&self.text[bytes], Some(mark))]
        });
        let last = self.marks.last().map_or(0, |mark| self.bytes(mark).end);
        marked.chain([(&self.text[last..], None)]).filter(|(part, _)| !part.is_empty())
    }

    /// Returns the place of the sentence that a token is in, for messages.
    pub fn place(&self, token: usize) -> Place {
        let next = self.places.partition_point(|(first, _)| *first <= token);
        let sentence = self.places.get(next.saturating_sub(1));
        sentence.map_or_else(|| Place::file(&*self.file), |(_, place)| place.clone())
    }
}
