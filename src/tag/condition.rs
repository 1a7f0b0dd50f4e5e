//! What is known about the labels of a sentence before it is tagged.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::input::TagInput;
use crate::chain::padded;
use crate::error::{Error, Result};
use crate::ids::LabelId;
use crate::label::Span;
use crate::model::Header;
use crate::sentence::{Sentence, TokenLabel};

/// Labels and spans of a sentence that are known before it is tagged. Tagging keeps them and
/// completes the others ([`Tagger::tag_given`](super::Tagger::tag_given)).
///
/// Labels are those of the training corpus, in its label scheme.
///
/// ```
/// use dropchain::sentence::TokenLabel;
/// use dropchain::label::Span;
/// use dropchain::tag::Condition;
///
/// let condition = Condition::new()
///     .label(3, "O")
///     .label(4, TokenLabel::OneOf(vec!["B-PER".into(), "B-LOC".into()]))
///     .span(&Span { start: 0, end: 2, kind: "ORG" });
/// assert!(!condition.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Condition {
    pub(super) labels: Vec<(usize, TokenLabel)>,
    pub(super) spans: Vec<KnownSpan>,
}

/// A span that is known, as JSON output has it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct KnownSpan {
    #[serde(rename = "token_start")]
    pub start: usize,
    #[serde(rename = "token_end")]
    pub end: usize, // exclusive
    #[serde(rename = "type")]
    pub kind: String,
}

impl Condition {
    /// Creates a condition that every label sequence fulfills.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a condition from the labels of a sentence, known ones and partial ones
    /// ([`Sentence::partial_label`]).
    pub fn from_labels(sentence: &Sentence) -> Self {
        let label = |t| {
            let partial = sentence.partial_label(t).cloned();
            let label = partial.or_else(|| sentence.label(t).map(TokenLabel::from));
            (t, label.unwrap_or(TokenLabel::Unknown))
        };
        Self { labels: (0..sentence.len()).map(label).collect(), spans: Vec::new() }
    }

    /// Adds what is known about the label of token `t`, counted from 0.
    pub fn label(mut self, t: usize, label: impl Into<TokenLabel>) -> Self {
        self.labels.push((t, label.into()));
        self
    }

    /// Adds a span: the labels will encode a span that starts and ends there, of this type.
    pub fn span(mut self, span: &Span<'_>) -> Self {
        self.spans.push(KnownSpan { start: span.start, end: span.end, kind: span.kind.to_owned() });
        self
    }

    /// Returns whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
            && (self.labels.iter()).all(|(_, label)| *label == TokenLabel::Unknown)
    }

    /// Returns whether it may forbid pairs of labels: spans do, and labels of another scheme than
    /// the model's.
    pub(super) fn has_pairs(&self, header: &Header) -> bool {
        !self.spans.is_empty()
            || (!self.labels.is_empty() && header.labeling != header.corpus_labeling)
    }

    /// Returns the memory in bytes that resolving it on a sentence takes at most: the labels that
    /// are allowed, here and in the mask, and pairs of all labels around a token.
    pub(super) fn memory(&self, tokens: usize, header: &Header) -> u64 {
        // Vectors double when they grow.
        const PAIR: u64 = 2 * size_of::<(usize, LabelId, LabelId)>() as u64;
        const ALLOWED: u64 = 1 + 2 * size_of::<f64>() as u64;
        if self.is_empty() {
            return 0;
        }
        let labels = header.labels.len();
        let inside = |span: &KnownSpan| span.end.min(tokens).saturating_sub(span.start);
        let inside: usize = self.spans.iter().map(inside).sum();
        let around = if self.has_pairs(header) { 2 * (self.labels.len() + inside) } else { 0 };
        let pairs = (labels as u64).pow(2).saturating_mul(around as u64);
        let row = size_of::<Vec<bool>>() as u64 + padded(labels) as u64 * ALLOWED;
        (tokens as u64 * row).saturating_add(pairs.saturating_mul(PAIR))
    }

    /// Checks that labels and spans are inside the sentence and spans do not overlap.
    pub(super) fn check(&self, sentence: TagInput<'_>) -> Result<()> {
        let tokens = sentence.len();
        if let Some((t, _)) = self.labels.iter().find(|(t, _)| *t >= tokens) {
            return Err(Error::input(
                sentence.place(0),
                format!(
                    "a known label for token {t}, counted from 0, of a sentence of {tokens} tokens"
                ),
            ));
        }
        let error = |span: &KnownSpan, fault: &str| {
            let KnownSpan { start, end, kind } = span;
            Err(Error::input(
                sentence.place(*start),
                format!(
                    "the known span of type '{kind}' from token {start} to {end} (counted from 0, \
                     end exclusive) {fault}"
                ),
            ))
        };
        let mut spans: Vec<&KnownSpan> = self.spans.iter().collect();
        spans.sort_by_key(|span| (span.start, span.end));
        for (i, span) in spans.iter().enumerate() {
            if span.start >= span.end {
                return error(span, "is empty; expected an end after the start");
            }
            if span.end > tokens {
                let fault = format!("ends after the sentence, which has {tokens} tokens");
                return error(span, &fault);
            }
            if i > 0 && spans[i - 1].end > span.start {
                let before = spans[i - 1];
                let fault = format!("overlaps that from {} to {}", before.start, before.end);
                return error(span, &fault);
            }
        }
        Ok(())
    }

    /// Creates a condition from `keys` of the JSON object that a sentence was read from. The value
    /// of a key is an array of labels, one per token, each a string (`_` is unknown, `A|B` one of
    /// two), an array of labels or null; or an array of spans as in JSON output. A key that is
    /// missing or null says nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if a value is something else, or the object has text instead of tokens.
    pub fn from_record(sentence: &Sentence, keys: &[String]) -> Result<Self> {
        let mut condition = Self::new();
        let Some(record) = sentence.layout.record.as_deref() else { return Ok(condition) };
        let error = |message: String| Error::input(sentence.place(0), message);
        let record: Map<String, Value> =
            serde_json::from_str(record).map_err(|e| error(format!("not valid JSON: {e}")))?;
        for (i, key) in keys.iter().enumerate() {
            if keys[..i].contains(key) {
                return Err(error(format!("key \"{key}\": expected it once, found it twice")));
            }
            let items = match record.get(key) {
                None | Some(Value::Null) => continue,
                Some(Value::Array(items)) => items,
                Some(_) => {
                    return Err(error(format!(
                        "key \"{key}\": expected an array of labels or spans"
                    )));
                }
            };
            if !record.contains_key("tokens") && !items.is_empty() {
                return Err(error(format!(
                    "key \"{key}\": the object has text, whose tokens are not known yet; \
                     expected the key \"tokens\" with known labels and spans"
                )));
            }
            let fault = |fault: String| error(format!("key \"{key}\"{fault}"));
            if items.iter().all(Value::is_object) {
                for (number, item) in (1_usize..).zip(items) {
                    let expected = |_| {
                        fault(format!(
                            ", item {number}: expected a span such as {{\"token_start\": 0, \
                             \"token_end\": 2, \"type\": \"PER\"}}"
                        ))
                    };
                    condition.spans.push(KnownSpan::deserialize(item).map_err(expected)?);
                }
                continue;
            }
            let labels = TokenLabel::all_from_json(items, sentence.len()).map_err(fault)?;
            let known = (0..).zip(labels).filter(|(_, label)| *label != TokenLabel::Unknown);
            condition.labels.extend(known);
        }
        Ok(condition)
    }
}
