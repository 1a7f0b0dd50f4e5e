//! A condition in terms of the labels of a model.
//!
//! Labels that the model has as they are restrict the labels of their tokens. All else restricts
//! pairs of adjacent labels: by conlleval's rules, two labels alone decide whether a span ends or
//! starts between them. A span is kept if the pair before its first token starts one of its type,
//! no pair inside starts or ends one, and the pair after it ends it. A label of another scheme than
//! the model's is one of a type at a position (first, last, following a span of the same type), so
//! it restricts the pairs before and after its token.

use super::condition::{Condition, KnownSpan};
use super::input::TagInput;
use super::scorer::SentenceScores;
use crate::chain::{LabelMask, Order, padded};
use crate::error::{Error, Result};
use crate::ids::LabelId;
use crate::label::{ChunkLabel, Labeling, SpanPosition};
use crate::model::Header;
use crate::sentence::{TokenLabel, list_names};

/// The label sequences of a sentence that a condition allows.
pub(super) struct Restriction<'a> {
    header: &'a Header,
    sentence: TagInput<'a>,
    chunks: Vec<ChunkLabel<'a>>, // [K]
    /// The labels that each token may have, `[T][K]`.
    allowed: Vec<Vec<bool>>,
    /// Pairs that are forbidden: token t > 0, the label before it, and its label.
    forbidden: Vec<(usize, LabelId, LabelId)>,
}

impl<'a> Restriction<'a> {
    /// Resolves a condition on a sentence; `None` if it says nothing.
    ///
    /// # Errors
    ///
    /// Labels or spans are outside of the sentence, spans overlap, the model has no such labels, or
    /// it has order 0 and the condition restricts pairs of labels.
    pub fn new(
        condition: &Condition,
        sentence: TagInput<'a>,
        header: &'a Header,
    ) -> Result<Option<Self>> {
        condition.check(sentence)?;
        if condition.is_empty() {
            return Ok(None);
        }
        let names = header.labels.names().iter();
        let mut restriction = Self {
            header,
            sentence,
            chunks: names.map(|name| header.labeling.chunk(name)).collect(),
            allowed: vec![vec![true; header.labels.len()]; sentence.len()],
            forbidden: Vec::new(),
        };
        for (t, label) in &condition.labels {
            restriction.label(*t, label)?;
        }
        for span in &condition.spans {
            restriction.span(span)?;
        }
        restriction.drop_unreachable();
        match (header.order, restriction.forbidden.first()) {
            (Order::Zero, Some(&(t, ..))) => Err(Error::input(
                sentence.place(t),
                "a known span needs a model of order 1, since a model of order 0 knows no pairs of \
                 labels; expected known labels only",
            )),
            _ => Ok(Some(restriction)),
        }
    }

    /// Restricts scores: pairs that are forbidden get the score −∞, in edge scores that are created
    /// if there are none.
    pub fn apply(self, scores: &mut SentenceScores) {
        let k = self.chunks.len();
        let stride = padded(k);
        if !self.forbidden.is_empty() {
            scores.edges.resize(self.allowed.len() * k * stride, 0.0);
        }
        for (t, a, b) in self.forbidden {
            scores.edges[(t * k + a.index()) * stride + b.index()] = f64::NEG_INFINITY;
        }
        let mask = scores.mask.insert(LabelMask::default());
        mask.begin(k);
        for row in &self.allowed {
            let ids = (0..).zip(row).filter(|(_, allowed)| **allowed);
            let ids: Vec<LabelId> = ids.map(|(b, _)| LabelId(b)).collect();
            mask.push(&ids);
        }
    }

    /// Restricts the label of token `t`.
    fn label(&mut self, t: usize, label: &TokenLabel) -> Result<()> {
        if *label == TokenLabel::Unknown {
            return Ok(());
        }
        let corpus = &self.header.corpus_labeling;
        if self.header.labeling != *corpus {
            return self.converted_label(t, label.labels(), corpus);
        }
        let mut allowed = vec![false; self.chunks.len()];
        for name in label.labels() {
            let Some(id) = self.header.labels.id(name) else { return Err(self.no_label(t, name)) };
            allowed[id.index()] = true;
        }
        self.allowed[t].iter_mut().zip(allowed).for_each(|(own, allowed)| *own &= allowed);
        Ok(())
    }

    /// Restricts the label of token `t` to those that become one of `labels` in `labeling`.
    fn converted_label(&mut self, t: usize, labels: &[String], labeling: &Labeling) -> Result<()> {
        for name in labels {
            let chunk = labeling.chunk(name);
            let is_known = name == labeling.outside()
                || chunk.is_inside() && self.chunks.iter().any(|b| is_of(*b, chunk.kind));
            if !is_known {
                return Err(self.no_label(t, name));
            }
        }
        for b in 0..self.chunks.len() {
            let chunk = self.chunks[b];
            if !chunk.is_inside() {
                self.allowed[t][b] &= labels.iter().any(|name| name == labeling.outside());
                continue;
            }
            // By the position before (not first, first, following) and after (not last, last).
            let is_allowed = |before: usize, last: bool| {
                let position = SpanPosition { first: before > 0, last, follows: before == 2 };
                labels.contains(&labeling.label(position, chunk.kind))
            };
            let before = [0, 1, 2].map(|x| is_allowed(x, false) || is_allowed(x, true));
            let after = [false, true].map(|last| (0..3).any(|x| is_allowed(x, last)));
            let mut positions = (0..3).flat_map(|x| [(x, false), (x, true)]);
            let is_product = positions
                .all(|(x, last)| is_allowed(x, last) == (before[x] && after[usize::from(last)]));
            if !is_product {
                return Err(Error::input(
                    self.sentence.place(t),
                    format!(
                        "the known labels {} cannot be kept by a model of scheme {}, since they \
                         depend on the labels of both neighbors; expected one of them",
                        list_names(labels),
                        self.header.labeling
                    ),
                ));
            }
            self.restrict_around(t, b, before, after);
        }
        Ok(())
    }

    /// Restricts the labels to those that encode a span.
    fn span(&mut self, span: &KnownSpan) -> Result<()> {
        let kind = span.kind.as_str();
        if !self.chunks.iter().any(|b| is_of(*b, kind)) {
            return Err(Error::input(
                self.sentence.place(span.start),
                format!("the model has no labels for the known span of type '{kind}'"),
            ));
        }
        for t in span.start..span.end {
            let (is_first, is_last) = (t == span.start, t + 1 == span.end);
            for b in 0..self.chunks.len() {
                if is_of(self.chunks[b], kind) {
                    let before = [!is_first, is_first, is_first];
                    self.restrict_around(t, b, before, [!is_last, is_last]);
                } else {
                    self.allowed[t][b] = false;
                }
            }
        }
        Ok(())
    }

    /// Restricts the labels around label `b` of token `t`: whether the token may be one inside of a
    /// span, its first, or the first after another span of its type; and another than the last of
    /// its span, or the last.
    fn restrict_around(&mut self, t: usize, b: usize, before: [bool; 3], after: [bool; 2]) {
        let last = self.allowed.len() - 1;
        let own = self.chunks[b];
        let label = LabelId(b as u16);
        let may_precede = |a: ChunkLabel<'_>| before[starts(a, own)];
        let may_follow = |c: ChunkLabel<'_>| after[usize::from(!continues(own, c))];
        for (other, &chunk) in (0..).zip(&self.chunks) {
            if t > 0 && !may_precede(chunk) {
                self.forbidden.push((t, LabelId(other), label));
            }
            if t < last && !may_follow(chunk) {
                self.forbidden.push((t + 1, label, LabelId(other)));
            }
        }
        let outside = ChunkLabel::OUTSIDE;
        self.allowed[t][b] &= (t > 0 || may_precede(outside)) && (t < last || may_follow(outside));
    }

    /// Drops labels that have no neighbor, and pairs whose labels are forbidden anyway.
    fn drop_unreachable(&mut self) {
        let Self { allowed, forbidden, chunks, .. } = self;
        forbidden.sort_unstable();
        forbidden.dedup();
        for pairs in forbidden.chunk_by(|x, y| x.0 == y.0) {
            let t = pairs[0].0;
            let mut counts = vec![[0; 2]; chunks.len()]; // of allowed neighbors that are forbidden
            for &(_, a, b) in pairs {
                let [a, b] = [a.index(), b.index()];
                counts[a][1] += usize::from(allowed[t][b]);
                counts[b][0] += usize::from(allowed[t - 1][a]);
            }
            let totals = [t - 1, t].map(|t| allowed[t].iter().filter(|allowed| **allowed).count());
            for (x, [before, after]) in counts.into_iter().enumerate() {
                allowed[t - 1][x] &= after < totals[1];
                allowed[t][x] &= before < totals[0];
            }
        }
        forbidden.retain(|&(t, a, b)| allowed[t - 1][a.index()] && allowed[t][b.index()]);
    }

    fn no_label(&self, t: usize, name: &str) -> Error {
        Error::input(
            self.sentence.place(t),
            format!(
                "the model has no label for the known label '{name}'; its labels are {}{}",
                list_names(self.header.labels.names()),
                match self.header.labeling == self.header.corpus_labeling {
                    true => String::new(),
                    false => format!(
                        ", known labels are as in the training corpus, {}",
                        self.header.corpus_labeling
                    ),
                }
            ),
        )
    }
}

/// Whether a label belongs to spans of a type.
fn is_of(label: ChunkLabel<'_>, kind: &str) -> bool {
    label.is_inside() && label.kind == kind
}

/// Whether a span goes on from label `a` to label `b`.
pub(super) fn continues(a: ChunkLabel<'_>, b: ChunkLabel<'_>) -> bool {
    !b.starts_after(a) && !a.ends_before(b)
}

/// Whether a span starts at `b` after `a`: 0 if not, 1 if so, 2 if it follows one of the same type.
fn starts(a: ChunkLabel<'_>, b: ChunkLabel<'_>) -> usize {
    match b.starts_after(a) {
        false => 0,
        true => 1 + usize::from(is_of(a, b.kind)),
    }
}
