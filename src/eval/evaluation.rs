//! Counting tokens and spans.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::counts::{ColumnReport, Confusion, Counts, ratio};
use crate::error::{Error, Result};
use crate::label::{ChunkLabel, Labeling};
use crate::sentence::split_label;

/// Counts of correct, gold and predicted tokens and spans.
///
/// Spans are counted by conlleval's automaton. It scans gold and predicted labels in parallel and
/// has one bit of state: whether both are inside spans that started at the same token with the same
/// type. If both spans end together, they are correct. On the labels of a scheme that is the size
/// of the intersection of the two span sets ([`Labeling::spans`]). On tags outside all schemes,
/// where a span may start without the previous one having ended, the two differ, and published
/// results come from the automaton.
///
/// A token is correct if its two labels are the same string, once predicted labels are converted to
/// the labeling of the gold labels. (conlleval would also equate `B-` with `B` and the type `0`
/// with the empty type; as labels of other tasks those are different.)
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Evaluation {
    sentences: u64,
    tokens: u64,
    correct_tokens: u64,
    types: BTreeMap<String, Counts>,
    in_correct: bool, // inside gold and predicted spans with the same start and type
    labelings: [Labeling; 2], // of gold and predicted labels
    /// Token counts by gold label, then by predicted label. Ordered maps make the order of all
    /// lists deterministic.
    confusions: Option<BTreeMap<String, BTreeMap<String, u64>>>,
    /// The columns that the labels join, with the numbers of correct values.
    pub(super) columns: Vec<(String, u64)>,
}

impl Evaluation {
    /// An evaluation without counts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Like [`Evaluation::new`], but also counts pairs of gold and predicted label, for
    /// [`Evaluation::labels`] and [`Evaluation::confusions`].
    pub fn with_confusions() -> Self {
        Self { confusions: Some(BTreeMap::new()), ..Self::new() }
    }

    /// Sets how the gold and the predicted labels encode spans, as
    /// [detected](crate::label::SchemeDetector). By default they encode none.
    pub fn with_labelings(self, gold: &Labeling, predicted: &Labeling) -> Self {
        Self { labelings: [gold.clone(), predicted.clone()], ..self }
    }

    /// Also counts the correct values of the columns with these names, which the labels join with
    /// `+`. Such labels encode no spans.
    pub fn with_joined_columns(self, names: &[String]) -> Self {
        Self { columns: names.iter().map(|name| (name.clone(), 0)).collect(), ..self }
    }

    /// Counts a sentence.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the numbers of gold and predicted labels differ; then nothing is
    /// counted.
    pub fn add<G: AsRef<str>, P: AsRef<str>>(&mut self, gold: &[G], predicted: &[P]) -> Result<()> {
        if gold.len() != predicted.len() {
            return Err(Error::parameter(format!(
                "sentence {} has {} gold labels but {} predicted ones",
                self.sentences + 1,
                gold.len(),
                predicted.len()
            )));
        }
        self.sentences += 1;
        let [own, other] = self.labelings.clone();
        let gold = normalized(gold, [&own, &own]);
        let written = normalized(predicted, [&other, &own]);
        for (gold, predicted) in gold.iter().zip(&written) {
            self.add_token(gold, predicted);
        }
        let outside = (ChunkLabel::OUTSIDE, ChunkLabel::OUTSIDE);
        let mut previous = outside;
        let gold = own.chunks(gold.iter().map(AsRef::as_ref));
        let predicted = other.chunks(predicted.iter().map(AsRef::as_ref));
        for chunks in gold.into_iter().zip(predicted) {
            self.step(previous, chunks);
            previous = chunks;
        }
        self.step(previous, outside);
        Ok(())
    }

    /// Counts a document boundary (`-DOCSTART-`): for conlleval a token correctly labeled `O`, but
    /// not a sentence.
    pub fn add_document_start(&mut self) {
        self.add_token("O", "O");
    }

    fn add_token(&mut self, gold: &str, predicted: &str) {
        self.tokens += 1;
        self.correct_tokens += u64::from(gold == predicted);
        let parts = self.columns.len();
        if gold == predicted {
            self.columns.iter_mut().for_each(|(_, correct)| *correct += 1);
        } else if let (Some(gold), Some(predicted)) =
            (split_label(gold, parts), split_label(predicted, parts))
        {
            // A label that is not joined has no value in any column.
            let values = gold.into_iter().zip(predicted);
            for ((_, correct), (gold, predicted)) in self.columns.iter_mut().zip(values) {
                *correct += u64::from(gold == predicted);
            }
        }
        let Some(rows) = &mut self.confusions else { return };
        // Allocates only for a new pair of labels.
        if let Some(count) = rows.get_mut(gold).and_then(|row| row.get_mut(predicted)) {
            *count += 1;
        } else {
            rows.entry(gold.to_owned()).or_default().insert(predicted.to_owned(), 1);
        }
    }

    /// Advances the automaton by one token; chunk labels are (gold, predicted).
    fn step(
        &mut self,
        previous: (ChunkLabel<'_>, ChunkLabel<'_>),
        next: (ChunkLabel<'_>, ChunkLabel<'_>),
    ) {
        if self.in_correct {
            let gold_ends = previous.0.ends_before(next.0);
            let predicted_ends = previous.1.ends_before(next.1);
            if gold_ends && predicted_ends && previous.0.kind == previous.1.kind {
                self.in_correct = false;
                self.count(previous.0.kind, |counts| counts.correct += 1);
            } else if gold_ends != predicted_ends || next.0.kind != next.1.kind {
                self.in_correct = false;
            }
        }
        let gold_starts = next.0.starts_after(previous.0);
        let predicted_starts = next.1.starts_after(previous.1);
        if gold_starts {
            self.count(next.0.kind, |counts| counts.gold += 1);
        }
        if predicted_starts {
            self.count(next.1.kind, |counts| counts.predicted += 1);
        }
        self.in_correct |= gold_starts && predicted_starts && next.0.kind == next.1.kind;
    }

    /// Updates the counts of a type; allocates only for a new type.
    fn count(&mut self, kind: &str, change: impl FnOnce(&mut Counts)) {
        if let Some(counts) = self.types.get_mut(kind) {
            change(counts);
        } else {
            change(self.types.entry(kind.to_owned()).or_default());
        }
    }

    /// Number of sentences.
    pub fn sentences(&self) -> u64 {
        self.sentences
    }

    /// Number of tokens, document boundaries included.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Number of tokens with the correct label.
    pub fn correct_tokens(&self) -> u64 {
        self.correct_tokens
    }

    /// Span counts over all types.
    pub fn spans(&self) -> Counts {
        let mut sum = Counts::default();
        for counts in self.types.values() {
            sum.correct += counts.correct;
            sum.gold += counts.gold;
            sum.predicted += counts.predicted;
        }
        sum.correct += u64::from(self.in_correct); // as conlleval does at the end of the file
        sum
    }

    /// Span counts per type, types in bytewise order.
    pub fn types(&self) -> impl Iterator<Item = (&str, Counts)> {
        self.types.iter().filter(|(_, counts)| counts.gold + counts.predicted > 0).map(
            |(kind, &counts)| {
                let unfinished = u64::from(kind.is_empty() && self.in_correct);
                let correct = counts.correct + unfinished;
                (kind.as_str(), Counts { correct, ..counts })
            },
        )
    }

    /// Whether the gold labels encode spans, as their labeling says. If not (parts of speech),
    /// [`Evaluation::accuracy`] is the only meaningful score.
    pub fn has_spans(&self) -> bool {
        self.labelings[0].scheme.has_spans()
    }

    /// The accuracy of each of the columns that the labels join, if they join several.
    pub fn columns(&self) -> Option<Vec<ColumnReport>> {
        let report = |(name, correct): &(String, u64)| ColumnReport {
            column: name.clone(),
            accuracy: ratio(1.0, *correct, self.tokens),
        };
        (!self.columns.is_empty()).then(|| self.columns.iter().map(report).collect())
    }

    /// Fraction of tokens with the correct label.
    pub fn accuracy(&self) -> f64 {
        ratio(1.0, self.correct_tokens, self.tokens)
    }

    /// Cohen's kappa: how far labels agree beyond chance, by tokens. `None` without
    /// [`Evaluation::with_confusions`], and if all labels are one.
    pub fn kappa(&self) -> Option<f64> {
        self.confusions.as_ref()?;
        let labels = self.labels();
        let product = |(_, counts): &(_, Counts)| counts.gold as f64 * counts.predicted as f64;
        let tokens = self.tokens as f64;
        let (chance, all) = (labels.iter().map(product).sum::<f64>(), tokens * tokens);
        let agreed = tokens * self.correct_tokens as f64;
        (chance < all).then(|| (agreed - chance) / (all - chance))
    }

    /// Fraction of predicted spans that are correct.
    pub fn precision(&self) -> f64 {
        self.spans().metrics().precision
    }

    /// Fraction of gold spans that are predicted.
    pub fn recall(&self) -> f64 {
        self.spans().metrics().recall
    }

    /// Harmonic mean of precision and recall over all types.
    pub fn f1(&self) -> f64 {
        self.spans().metrics().f1
    }

    /// Token counts per label, labels in bytewise order; empty without
    /// [`Evaluation::with_confusions`].
    pub fn labels(&self) -> Vec<(&str, Counts)> {
        let mut labels: BTreeMap<&str, Counts> = BTreeMap::new();
        for pair in self.pairs() {
            labels.entry(pair.gold).or_default().gold += pair.count;
            let counts = labels.entry(pair.predicted).or_default();
            counts.predicted += pair.count;
            if pair.gold == pair.predicted {
                counts.correct += pair.count;
            }
        }
        labels.into_iter().collect()
    }

    /// The `limit` most frequent confusions, most frequent first, ties in bytewise order; empty
    /// without [`Evaluation::with_confusions`].
    pub fn confusions(&self, limit: usize) -> Vec<Confusion<'_>> {
        let mut pairs: Vec<_> = self.pairs().filter(|c| c.gold != c.predicted).collect();
        pairs.sort_by_key(|c| Reverse(c.count)); // stable: ties keep bytewise order
        pairs.truncate(limit);
        pairs
    }

    /// The pairs of gold and predicted label, right ones too, in bytewise order.
    fn pairs(&self) -> impl Iterator<Item = Confusion<'_>> {
        self.confusions.iter().flatten().flat_map(|(gold, row)| {
            row.iter().map(|(predicted, &count)| Confusion { gold, predicted, count })
        })
    }
}

/// Returns labels as another labeling writes them, if both encode spans: those that are to be
/// compared, and those outside with a prefix.
fn normalized<'a, S: AsRef<str>>(labels: &'a [S], [from, to]: [&Labeling; 2]) -> Vec<Cow<'a, str>> {
    let are_spans = from.scheme.has_spans() && to.scheme.has_spans();
    let is_other = from != to || labels.iter().any(|l| from.is_prefixed_outside(l.as_ref()));
    match are_spans && is_other {
        true => from.convert(labels, to).into_iter().map(Cow::Owned).collect(),
        false => labels.iter().map(|label| Cow::Borrowed(label.as_ref())).collect(),
    }
}
