//! From the scores of a sentence to its labels: the second half of tagging.

use super::input::TagInput;
use super::scorer::SentenceScores;
use super::scoring::overflow;
use super::tagger::Tagger;
use super::tagging::{LabelPath, TagOptions, Tagging};
use super::workspace::Workspace;
use crate::chain::{Constraint, Lattice, Marginals, ScoredPath};
use crate::error::{Error, Result};

impl Tagger {
    /// Predicts the labels of a sentence, given its scores in the workspace.
    pub(super) fn decode(
        &self,
        sentence: TagInput<'_>,
        options: TagOptions,
        workspace: &mut Workspace,
    ) -> Result<Tagging> {
        let Workspace { scores: all, viterbi, lattice, interrupt, .. } = workspace;
        let (scores, mask) = (all.scores(), all.mask.as_ref());
        let constraint = self.constraint().filter(|_| options.constrain);
        let mut tagging = Tagging::default();
        let labels = &mut tagging.labels;
        let best = viterbi.decode(self.transitions(), scores, constraint, mask, labels);
        interrupt.check()?;
        if best == f64::NEG_INFINITY && mask.is_some() {
            return Err(self.no_sequence(sentence, all, constraint));
        }
        if !best.is_finite() {
            return Err(overflow(sentence, 0));
        }
        if !options.has_probabilities() {
            return Ok(tagging);
        }
        let log_partition = self.forward_backward(sentence, all, lattice)?;
        let probability = |score: f64| (score - log_partition).exp().min(1.0);
        tagging.probability = options.probability.then(|| probability(best));
        tagging.marginals =
            options.marginals.then(|| self.marginals_of(sentence.len(), all, lattice));
        if options.nbest > 1 {
            let n = options.nbest;
            let paths = viterbi.nbest(self.transitions(), scores, n, constraint, mask);
            interrupt.check()?;
            let path = |ScoredPath { labels, score }| LabelPath {
                labels,
                score,
                probability: probability(score),
            };
            tagging.nbest = paths.into_iter().map(path).collect();
        }
        Ok(tagging)
    }

    /// Fills the lattice of a sentence. Returns the logarithm of the partition function.
    pub(super) fn forward_backward(
        &self,
        sentence: TagInput<'_>,
        scores: &SentenceScores,
        lattice: &mut Lattice,
    ) -> Result<f64> {
        let mask = scores.mask.as_ref();
        let log_partition = lattice.forward_backward(self.transitions(), scores.scores(), mask);
        lattice.interrupt.check()?;
        if log_partition.is_finite() { Ok(log_partition) } else { Err(overflow(sentence, 0)) }
    }

    /// Copies the node marginals out of the lattice, without its padding. Those of labels outside
    /// of the mask are 0; in the lattice, they are rounded up.
    pub(super) fn marginals_of(
        &self,
        tokens: usize,
        scores: &SentenceScores,
        lattice: &Lattice,
    ) -> Marginals {
        let (k, stride) = (self.transitions().labels(), self.transitions().stride());
        let padded = lattice.node_marginals();
        let cells = (0..tokens).flat_map(|t| (0..k).map(move |b| (t, b)));
        let values = cells.map(|(t, b)| match scores.allows(t, b) {
            true => padded[t * stride + b],
            false => 0.0,
        });
        Marginals::new(values.collect(), k)
    }

    /// The error of a condition that no sequence fulfills, at the first token that none reaches.
    fn no_sequence(
        &self,
        sentence: TagInput<'_>,
        scores: &SentenceScores,
        constraint: Option<&Constraint>,
    ) -> Error {
        let (k, stride) = (self.transitions().labels(), self.transitions().stride());
        let edge = |t: usize, a: usize, b: usize| scores.edges.get((t * k + a) * stride + b);
        let tokens = sentence.len();
        let mut before: Vec<usize> = Vec::new();
        let unreachable = (0..tokens).find(|&t| {
            let may_follow = |a: usize, b: usize| {
                constraint.is_none_or(|c| c.allows(a, b))
                    && edge(t, a, b) != Some(&f64::NEG_INFINITY)
            };
            let follows = |b: usize| match t {
                0 => constraint.is_none_or(|c| c.allows_start(b)),
                _ => before.iter().any(|&a| may_follow(a, b)),
            };
            let ends = |b: usize| t + 1 < tokens || constraint.is_none_or(|c| c.allows_end(b));
            before = (0..k).filter(|&b| scores.allows(t, b) && follows(b) && ends(b)).collect();
            before.is_empty()
        });
        let (legal, or_off) = match constraint {
            Some(_) => ("legal ", ", or `constrain` off"),
            None => ("", ""),
        };
        Error::input(
            sentence.place(unreachable.unwrap_or(0)),
            format!(
                "no {legal}label sequence has the known labels and spans up to here; expected \
                 labels and spans that fit together{or_off}"
            ),
        )
    }
}
