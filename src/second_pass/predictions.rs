//! The predictions of the first pass for a document, as columns of its sentences.

use std::sync::Arc;

use super::elsewhere::{Occurrence, POSITIONS, Parts, Phrases, WordVote, WordVotes};
use super::prediction::{LabelTypes, PredictedSpan, Prediction};
use crate::error::{Error, Result};
use crate::sentence::{PREDICTIONS, Schema, Sentence};

/// A document with the predictions of the first pass.
#[derive(Debug)]
pub struct PredictedDocument<'a> {
    sentences: Vec<PredictedSentence<'a>>,
    votes: Vec<Option<WordVote>>, // [tokens]
    phrases: Phrases<'a>,
    parts: Parts<'a>,
    types: &'a LabelTypes,
    window: usize,
}

#[derive(Debug)]
struct PredictedSentence<'a> {
    sentence: &'a Sentence,
    prediction: &'a Prediction,
    words: Vec<&'a str>,
    start: usize, // position in the document
}

impl<'a> PredictedDocument<'a> {
    /// Counts the predictions for the sentences of a document.
    pub fn new(
        sentences: impl IntoIterator<Item = (&'a Sentence, &'a Prediction)>,
        types: &'a LabelTypes,
        window: usize,
    ) -> Self {
        let mut document = Self {
            sentences: Vec::new(),
            votes: Vec::new(),
            phrases: Phrases::default(),
            parts: Parts::default(),
            types,
            window,
        };
        let mut votes = WordVotes::default();
        let mut start = 0;
        for (sentence, prediction) in sentences {
            let words = sentence.words();
            let words: Vec<&str> =
                words.map_or_else(|| vec![""; sentence.len()], Iterator::collect);
            for (t, &word) in words.iter().enumerate() {
                let occurrence = Occurrence { position: start + t, shares: prediction.shares(t) };
                votes.push(word, occurrence);
            }
            for &span in &prediction.spans {
                document.phrases.push(&words, start, span);
                document.parts.push(&words, start, span);
            }
            document.sentences.push(PredictedSentence { sentence, prediction, words, start });
            start += sentence.len();
        }
        document.votes = votes.count(start, window);
        document
    }

    /// Returns copies of the sentences with the columns of predictions.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if a sentence has a column with such a name, or would have more text than a
    /// sentence can hold.
    pub fn extended(&self) -> Result<Vec<Sentence>> {
        let mut schemas: Option<(&Arc<Schema>, Arc<Schema>)> = None;
        let mut extended = Vec::with_capacity(self.sentences.len());
        for (i, PredictedSentence { sentence, .. }) in self.sentences.iter().enumerate() {
            let schema = match &schemas {
                Some((own, schema)) if *own == sentence.schema() => schema,
                _ => {
                    let schema = sentence.schema().with_derived(&PREDICTIONS).map_err(|error| {
                        let message = format!("{error}, of which one is a prediction");
                        Error::input(sentence.place(0), message)
                    })?;
                    &schemas.insert((sentence.schema(), Arc::new(schema))).1
                }
            };
            extended.push(self.sentence(i, schema)?);
        }
        Ok(extended)
    }

    /// Returns a copy of sentence `i` with the columns of predictions, which `schema` has.
    fn sentence(&self, i: usize, schema: &Arc<Schema>) -> Result<Sentence> {
        let PredictedSentence { sentence, prediction, words, start } = &self.sentences[i];
        let spans = self.phrases.find(words, *start, self.window);
        let cells = (0..sentence.len()).map(|t| {
            let vote = self.votes[start + t].map(|vote| self.vote(vote));
            let phrase = span_at(&spans, t).map(|span| {
                let position = if span.start == t { 'B' } else { 'I' };
                format!("{position}-{}", self.types.types[span.kind])
            });
            let own = span_at(&prediction.spans, t);
            let part =
                self.parts.find(words, *start, t, own, self.window).map(|(position, kind)| {
                    format!("{}-{}", POSITIONS[position], self.types.types[kind])
                });
            [
                self.types.labels[prediction.labels[t].index()].name.clone(),
                vote.unwrap_or_default(),
                phrase.unwrap_or_default(),
                part.unwrap_or_default(),
            ]
        });
        sentence.with_columns(Arc::clone(schema), cells)
    }

    fn vote(&self, WordVote { kind, level }: WordVote) -> String {
        format!("{}:{level}", self.types.types[kind])
    }
}

/// Returns the span that contains token `t`.
fn span_at(spans: &[PredictedSpan], t: usize) -> Option<PredictedSpan> {
    let next = spans.partition_point(|span| span.end <= t);
    spans.get(next).filter(|span| span.start <= t).copied()
}
