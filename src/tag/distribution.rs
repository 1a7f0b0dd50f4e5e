//! The distribution over the label sequences of a sentence.

use super::condition::Condition;
use super::input::TagInput;
use super::restriction::continues;
use super::scorer::SentenceScores;
use super::tagger::Tagger;
use super::tagging::TagOptions;
use super::workspace::Workspace;
use crate::chain::{Lattice, Marginals, Order, score};
use crate::error::{Error, Result};
use crate::ids::LabelId;
use crate::label::{ChunkLabel, Span};

impl Tagger {
    /// Computes the scores of a sentence of which some labels or spans are known.
    ///
    /// # Errors
    ///
    /// Same as [`Tagger::tag_given`], whose memory these options determine; but a condition that no
    /// sequence fulfills is not noticed.
    pub fn scores_given<'s>(
        &self,
        sentence: impl Into<TagInput<'s>>,
        condition: &Condition,
        options: TagOptions,
        workspace: &mut Workspace,
    ) -> Result<SentenceScores> {
        let sentence = sentence.into();
        self.check_memory(sentence, condition, options)?;
        self.score(sentence, condition, workspace)?;
        Ok(std::mem::take(&mut workspace.scores))
    }
}

/// The distribution p(y | x) over the label sequences of a sentence: probabilities of any labels,
/// not only of the predicted ones.
///
/// All sequences count, whether they are legal in the label scheme or not. Labels are those of the
/// model; [`convert`](crate::label::convert) converts others to its scheme.
///
/// ```no_run
/// use dropchain::label::Span;
/// use dropchain::{Result, Sentence, Tagger};
///
/// # fn main() -> Result<()> {
/// let tagger = Tagger::open("ner.model")?;
/// let sentence = Sentence::from_words(["Ada", "Lovelace", "left"]);
/// let distribution = tagger.distribution(&sentence)?;
/// println!("{}", distribution.probability(&["B-PER", "I-PER", "O"])?);
/// println!("{}", distribution.marginal(2, "O")?);
/// let name = Span { start: 0, end: 2, kind: "PER" };
/// println!("{}", distribution.span_probability(&name)?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Distribution<'t> {
    tagger: &'t Tagger,
    scores: SentenceScores,
    lattice: Lattice,
    log_partition: f64,
    marginals: Marginals,
}

impl Tagger {
    /// Computes the distribution over the label sequences of a sentence.
    ///
    /// # Errors
    ///
    /// Same as [`Tagger::tag_with`].
    pub fn distribution<'s>(&self, sentence: impl Into<TagInput<'s>>) -> Result<Distribution<'_>> {
        self.distribution_given(sentence, &Condition::default())
    }

    /// Computes the distribution over the label sequences of a sentence that fulfill a condition.
    /// Probabilities are those given that it holds.
    ///
    /// # Errors
    ///
    /// Same as [`Tagger::tag_given`], except that sequences need not be legal.
    pub fn distribution_given<'s>(
        &self,
        sentence: impl Into<TagInput<'s>>,
        condition: &Condition,
    ) -> Result<Distribution<'_>> {
        let sentence = sentence.into();
        let options = TagOptions::with_marginals();
        let scores = |workspace: &mut _| self.scores_given(sentence, condition, options, workspace);
        let scores = self.with_workspace(scores)?;
        let mut lattice = Lattice::default();
        let log_partition = self.forward_backward(sentence, &scores, &mut lattice)?;
        Ok(Distribution {
            tagger: self,
            marginals: self.marginals_of(sentence.len(), &scores, &lattice),
            scores,
            lattice,
            log_partition,
        })
    }
}

impl Distribution<'_> {
    /// Returns the number of tokens T.
    pub fn len(&self) -> usize {
        self.marginals.rows().len()
    }

    /// Returns whether the sentence has no tokens.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the logarithm of the partition function, Σ exp(score) over all label sequences.
    pub fn log_partition(&self) -> f64 {
        self.log_partition
    }

    /// Returns p(labels | sentence) for one label per token.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the number of labels is not that of tokens, or the model does not
    /// have one of them.
    pub fn probability<S: AsRef<str>>(&self, labels: &[S]) -> Result<f64> {
        Ok(self.log_probability(labels)?.exp())
    }

    /// Returns log p(labels | sentence), which does not underflow; at most 0.
    ///
    /// # Errors
    ///
    /// Same as [`probability`](Self::probability).
    pub fn log_probability<S: AsRef<str>>(&self, labels: &[S]) -> Result<f64> {
        if labels.len() != self.len() {
            return Err(Error::parameter(format!(
                "{} labels for a sentence of {} tokens; expected one per token",
                labels.len(),
                self.len()
            )));
        }
        let labels = labels.iter().map(|label| self.label(label.as_ref()));
        let labels: Vec<LabelId> = labels.collect::<Result<_>>()?;
        if labels.is_empty() {
            return Ok(0.0);
        }
        if !labels.iter().enumerate().all(|(t, label)| self.scores.allows(t, label.index())) {
            return Ok(f64::NEG_INFINITY);
        }
        let score = score(self.tagger.transitions(), self.scores.scores(), &labels);
        Ok((score - self.log_partition).min(0.0))
    }

    /// Returns p(label | sentence) of token `t`.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if there is no such token, or the model does not have the label.
    pub fn marginal(&self, t: usize, label: &str) -> Result<f64> {
        if t >= self.len() {
            return Err(Error::parameter(format!(
                "token {t} of a sentence of {} tokens, counted from 0",
                self.len()
            )));
        }
        let label = self.label(label)?;
        Ok(self.marginals[[t, label.index()]])
    }

    /// Returns p(label | sentence) of all tokens and labels, `[T][K]`.
    pub fn marginals(&self) -> Marginals {
        self.marginals.clone()
    }

    /// Returns the probability that the labels encode exactly this span, as
    /// [`spans`](crate::label::spans) decodes them: that it starts and ends where `span` does, with
    /// its type. O(length of the span · K²).
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the span is empty or ends after the sentence, or if no label of the
    /// model encodes its type.
    pub fn span_probability(&self, span: &Span<'_>) -> Result<f64> {
        let Span { start, end, kind } = *span;
        if start >= end || end > self.len() {
            return Err(Error::parameter(format!(
                "a span of tokens {start} to {end} (exclusive) in a sentence of {} tokens",
                self.len()
            )));
        }
        let header = self.tagger.model().header();
        let labels = header.labels.names();
        let chunks: Vec<_> = labels.iter().map(|label| header.labeling.chunk(label)).collect();
        let opens = |a: ChunkLabel<'_>, b: ChunkLabel<'_>| b.starts_after(a) && b.kind == kind;
        if !chunks.iter().any(|&b| opens(ChunkLabel::OUTSIDE, b)) {
            return Err(Error::parameter(format!(
                "a span of type '{kind}'; the model has no label for it"
            )));
        }
        // Over the labels of a token: the probability of the labels up to it that encode the span
        // so far.
        let mut prefix = self.marginals.row(start.saturating_sub(1)).to_vec();
        if start > 0 {
            prefix = self.advance(start, &prefix, |a, b| opens(chunks[a], chunks[b]));
        } else {
            let starts = chunks.iter().map(|&b| opens(ChunkLabel::OUTSIDE, b));
            let others = prefix.iter_mut().zip(starts).filter(|(_, starts)| !starts);
            others.for_each(|(p, _)| *p = 0.0);
        }
        for t in start + 1..end {
            prefix = self.advance(t, &prefix, |a, b| continues(chunks[a], chunks[b]));
        }
        if end < self.len() {
            let ends = |a: usize, b: usize| !continues(chunks[a], chunks[b]);
            prefix = self.advance(end, &prefix, ends);
        }
        Ok(prefix.iter().sum::<f64>().min(1.0))
    }

    /// Moves probabilities of the labels of token `t − 1` to those of token `t`, along the label
    /// pairs that are allowed: p(y_t = b | y_{t−1} = a) = p(a, b) / p(a), since given the sentence
    /// the labels are a Markov chain.
    fn advance(
        &self,
        t: usize,
        prefix: &[f64],
        allowed: impl Fn(usize, usize) -> bool,
    ) -> Vec<f64> {
        let [previous, current] = [t - 1, t].map(|t| self.marginals.row(t));
        let transitions = self.tagger.transitions();
        let (k, stride) = (transitions.labels(), transitions.stride());
        // The marginals of label pairs, which are independent in order 0. Those of labels that are
        // not allowed are rounded up, but the prefix and the marginals of these labels are 0.
        let mut pairs = Vec::new();
        if transitions.order() == Order::One {
            pairs.resize(k * stride, 0.0);
            self.lattice.edge_marginals(transitions, t, &mut pairs);
        }
        let mut next = vec![0.0; k];
        for a in 0..k {
            for b in 0..k {
                if !allowed(a, b) || prefix[a] == 0.0 || current[b] == 0.0 {
                    continue;
                }
                next[b] += match pairs.get(a * stride + b) {
                    None => prefix[a] * current[b],
                    Some(pair) => prefix[a] * pair / previous[a],
                };
            }
        }
        next
    }

    fn label(&self, name: &str) -> Result<LabelId> {
        let labels = &self.tagger.model().header().labels;
        labels
            .id(name)
            .ok_or_else(|| Error::parameter(format!("the label '{name}' is unknown to the model")))
    }
}
