//! Raw text in one call: sentences, tokens and spans with their offsets.

use std::ops::Range;

use super::condition::Condition;
use super::input::TagDocuments;
use super::tagger::Tagger;
use super::tagging::TagOptions;
use super::threshold::Threshold;
use crate::corpus::TextSplitter;
use crate::error::Result;
use crate::sentence::Offsets;

/// A tagged sentence of a text. All offsets count from the start of the text.
#[derive(Clone, Debug, PartialEq)]
pub struct TaggedSentence {
    /// From the first token to the last.
    pub offsets: Offsets,
    /// The tokens.
    pub tokens: Vec<TaggedToken>,
    /// The spans that the labels encode; none for labels such as parts of speech.
    pub spans: Vec<TaggedSpan>,
}

/// A token and its label.
#[derive(Clone, Debug, PartialEq)]
pub struct TaggedToken {
    /// Position in the text.
    pub offsets: Offsets,
    /// The label, in the scheme of the training corpus.
    pub label: String,
    /// Probability of the label, if it was requested.
    pub probability: Option<f64>,
}

/// A span, such as a name.
#[derive(Clone, Debug, PartialEq)]
pub struct TaggedSpan {
    /// The type, such as `PER`.
    pub kind: String,
    /// The tokens of the span in the sentence.
    pub tokens: Range<usize>,
    /// Position in the text.
    pub offsets: Offsets,
    /// The probability that the labels encode it, if it was asked for.
    pub probability: Option<f64>,
}

impl Tagger {
    /// Tags raw text: splits it into sentences and tokens as `dropchain tag` does, every line on
    /// its own, and tags them.
    ///
    /// ```no_run
    /// # use dropchain::{Result, Tagger};
    /// # fn main() -> Result<()> {
    /// let tagger = Tagger::open("ner.model")?;
    /// let text = "Ada Lovelace lived in London.\nShe died in Marylebone.";
    /// for sentence in tagger.tag_text(text)? {
    ///     for span in sentence.spans {
    ///         println!("{} {}", span.kind, &text[span.offsets.bytes]);
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Same as [`Tagger::tag_with`]; the place in the error has the line.
    pub fn tag_text(&self, text: &str) -> Result<Vec<TaggedSentence>> {
        self.tagged_text(text, None)
    }

    /// Tags raw text as [`tag_text`](Self::tag_text) does, and computes the probabilities of labels
    /// and spans; those below a threshold are left out.
    ///
    /// # Errors
    ///
    /// Same as [`tag_text`](Self::tag_text).
    pub fn tag_text_with_probabilities(
        &self,
        text: &str,
        threshold: &Threshold,
    ) -> Result<Vec<TaggedSentence>> {
        self.tagged_text(text, Some(threshold))
    }

    fn tagged_text(
        &self,
        text: &str,
        threshold: Option<&Threshold>,
    ) -> Result<Vec<TaggedSentence>> {
        let mut sentences = TextSplitter::default().sentences(text)?;
        for sentence in &mut sentences {
            let start = sentence.layout.source_start.unwrap_or_default();
            for offsets in &mut sentence.offsets {
                *offsets = offsets.after(start);
            }
        }
        let documents = TagDocuments::new(self, &sentences);
        let header = self.model().header();
        let options = TagOptions { marginals: threshold.is_some(), ..TagOptions::default() };
        let mut tagged = Vec::with_capacity(sentences.len());
        for (i, sentence) in sentences.iter().enumerate() {
            let Some(offsets) = Offsets::of_tokens(&sentence.offsets) else { continue };
            let input = documents.input(i);
            let mut tagging = self.with_workspace(|all| self.tag_with(input, options, all))?;
            if let Some(threshold) = threshold {
                self.mark(input, &Condition::new(), threshold, &mut tagging)?;
            }
            let marginals = tagging.marginals.as_ref();
            let marks = self.mark_probabilities_in(&header.corpus_labeling, &tagging);
            let labels = self.label_names_in(&header.corpus_labeling, &tagging.labels);
            let found = match header.encodes_spans() {
                true => header.corpus_labeling.spans(&labels),
                false => Vec::new(),
            };
            let spans = found.into_iter().enumerate().filter_map(|(i, span)| {
                let tokens = span.start..span.end;
                Some(TaggedSpan {
                    kind: span.kind.to_owned(),
                    offsets: Offsets::of_tokens(&sentence.offsets[tokens.clone()])?,
                    tokens,
                    probability: marks.as_ref().and_then(|marks| marks.get(i).copied()),
                })
            });
            let tokens = sentence.offsets.iter().zip(&labels).enumerate();
            let tokens = tokens.map(|(t, (offsets, label))| TaggedToken {
                offsets: offsets.clone(),
                label: label.to_string(),
                probability: marginals.map(|m| m[[t, tagging.labels[t].index()]]),
            });
            tagged.push(TaggedSentence {
                offsets,
                tokens: tokens.collect(),
                spans: spans.collect(),
            });
        }
        Ok(tagged)
    }
}
