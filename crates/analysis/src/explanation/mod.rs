//! Explanations: why a token has its label and not another.
//!
//! The *margin* of a token is the score of the best label sequence y minus that of the best
//! sequence z that has another label there, both among those that tagging may choose from. It
//! takes max-marginals (`chain::max_marginals`). y and z differ in a few adjacent tokens
//! only, and the margin is the sum of what weights contribute there (its *parts*):
//!
//! ```text
//! score(y) − score(z) =
//!     Σ_t Σ_i x[t][i] · (θ[i][y_t] − θ[i][z_t])                         attributes
//!   + Σ_t Σ_i x[t][i] · (θ[i][y_{t−1} y_t] − θ[i][z_{t−1} z_t])         edge attributes
//!   + Σ_t (trans[y_{t−1}][y_t] − trans[z_{t−1}][z_t])                   transitions
//!   + start[y_0] − start[z_0] + end[y_{T−1}] − end[z_{T−1}]             boundaries
//! ```
//!
//! x are values of attributes and θ weights. The recall bias, which models have in the weights of
//! transitions and of the first label, is a part of its own where the model says how large it is.
//! Label schemes and known labels forbid sequences, but add nothing to scores.

mod attributes;
mod explained;
mod html;
mod parts;
mod record;
mod text;

use std::ops::{Range, RangeInclusive};

use attributes::{Collector, SMALL};
use dropchain::kernel::chain::{Detour, MaxMarginals};
use dropchain::kernel::ids::LabelId;
use dropchain::kernel::tag::SentenceScores;
use dropchain::sentence::Attributes;
use dropchain::tag::{Condition, Interrupt, TagInput, TagOptions, Tagger, Workspace};
use dropchain::{Error, MemoryLimit, Result};
pub use explained::{ExplainedSentence, ExplainedTokens, labels_against, words_to_explain};
pub use html::{EXPLANATION_STYLE, PAGE_END, blocks_html, page_beginning};
pub use parts::{Part, PartKind};
pub use record::{Block, ExplainedToken, Lead, Others, Reason, RunnerUp};

/// The labels of a sentence, each with the sequences that it was preferred to, and the reasons.
///
/// ```no_run
/// use dropchain::{Result, Sentence, Tagger};
/// use dropchain_analysis::Explanation;
///
/// # fn main() -> Result<()> {
/// let tagger = Tagger::open("ner.model")?;
/// let sentence = Sentence::from_words(["Ada", "Lovelace", "left"]);
/// let explanation = Explanation::new(&tagger, &sentence)?;
/// if let Some(runner_up) = explanation.runner_up(0) {
///     println!("not {}, by {:.2}", tagger.label(runner_up.label()), runner_up.margin());
///     for part in runner_up.parts()? {
///         println!("{:8.3} {:?} {}", part.contribution(), part.kind, part.name);
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Explanation<'t> {
    pub(crate) tagger: &'t Tagger,
    scores: SentenceScores,
    /// p(label | sentence) of the label of each token, given what is known: over all label
    /// sequences, legal or not. `[T]`
    pub(crate) probabilities: Vec<f64>,
    best: MaxMarginals,
    attributes: Attributes,
    recall_bias: f64,
    interrupt: Interrupt,
}

/// The best label sequence that has another label at a token.
#[derive(Debug)]
pub struct Alternative<'e> {
    explanation: &'e Explanation<'e>,
    token: usize,
    detour: Detour,
}

impl<'t> Explanation<'t> {
    /// Tags a sentence and explains its labels.
    ///
    /// # Errors
    ///
    /// Same as [`Tagger::tag_with`].
    pub fn new<'s>(tagger: &'t Tagger, sentence: impl Into<TagInput<'s>>) -> Result<Self> {
        tagger.with_workspace(|workspace| {
            Self::given(tagger, sentence, &Condition::new(), TagOptions::default(), workspace)
        })
    }

    /// Tags a sentence of which some labels or spans are known and explains its labels: the
    /// sequences they are compared with keep what is known. Of the options, only
    /// [`TagOptions::constrain`] has an effect. What interrupts the workspace interrupts the
    /// explanation, and the reasons that are asked of it.
    ///
    /// # Errors
    ///
    /// Same as [`Explanation::new`] and [`Tagger::tag_given`].
    pub fn given<'s>(
        tagger: &'t Tagger,
        sentence: impl Into<TagInput<'s>>,
        condition: &Condition,
        options: TagOptions,
        workspace: &mut Workspace,
    ) -> Result<Self> {
        let sentence = sentence.into();
        // Max-marginals take no more memory than the search for the n best sequences.
        let arrays = TagOptions { marginals: true, nbest: 2, ..options };
        let scores = tagger.scores_given(sentence, condition, arrays, workspace)?;
        let options = TagOptions { nbest: 1, ..arrays };
        let tagging = tagger.tag_given(sentence, condition, options, workspace)?;
        let marginals = tagging.marginals.unwrap_or_default();
        let constraint = tagger.constraint().filter(|_| options.constrain);
        let (mask, interrupt) = (scores.mask.as_ref(), workspace.interrupt().clone());
        let (transitions, numbers) = (tagger.transitions(), scores.scores());
        let best = MaxMarginals::new(transitions, numbers, constraint, mask, &interrupt);
        interrupt.check()?;
        let labels = best.path.iter().enumerate();
        let probabilities = labels.map(|(t, label)| marginals[[t, label.index()]]).collect();
        let mut collector = Collector::new(tagger, sentence.place(0));
        tagger.attributes(sentence, workspace, &mut collector)?;
        let attributes = collector.attributes;
        let recall_bias = tagger.model().header().recall_bias().unwrap_or(0.0);
        Ok(Self { tagger, scores, probabilities, best, attributes, recall_bias, interrupt })
    }

    /// Checks that there is memory for so many bytes of `what`.
    fn check_memory(&self, bytes: usize, what: impl FnOnce() -> String) -> Result<()> {
        let memory = self.tagger.memory_limit();
        if bytes as u64 <= SMALL && memory == MemoryLimit::Available {
            return Ok(());
        }
        let checked = memory.check(bytes as u64, 0);
        checked.map_err(|over| Error::parameter(format!("{}: {over}", what())))
    }

    /// Returns the labels, `[T]`: those of [`Tagger::tag`], in the scheme of the model.
    pub fn labels(&self) -> &[LabelId] {
        &self.best.path
    }

    /// Returns the number of tokens T.
    pub(crate) fn len(&self) -> usize {
        self.labels().len()
    }

    /// Returns the margin of token `t`, up to the rounding of the scores of whole sequences; ∞ if
    /// no other label is possible there. It is found without the sequence.
    ///
    /// # Panics
    ///
    /// If there is no such token.
    pub fn margin(&self, t: usize) -> f64 {
        self.best.margin(t)
    }

    /// Returns the best label sequence that has another label at token `t`; `None` if no other
    /// label is possible there.
    ///
    /// # Panics
    ///
    /// If there is no such token.
    pub fn runner_up(&self, t: usize) -> Option<Alternative<'_>> {
        let own = self.labels()[t];
        self.alternative_where(t, |label| label != own)
    }

    /// Returns the best label sequence that has the label `label` at token `t`; `None` if that is
    /// its label, or not possible there.
    ///
    /// # Panics
    ///
    /// If there is no such token.
    pub fn alternative(&self, t: usize, label: LabelId) -> Option<Alternative<'_>> {
        self.alternative_where(t, |other| other == label)
    }

    fn alternative_where(
        &self,
        token: usize,
        is_wanted: impl Fn(LabelId) -> bool,
    ) -> Option<Alternative<'_>> {
        assert!(token < self.len(), "token {token} of {}", self.len());
        let detour = self.best.detour(self.scores.scores().edge, token, is_wanted)?;
        Some(Alternative { explanation: self, token, detour })
    }
}

impl<'e> Alternative<'e> {
    /// Returns the other label of its token.
    pub fn label(&self) -> LabelId {
        self.detour.labels[self.token - self.detour.start]
    }

    /// Returns the tokens that have other labels than the best sequence gives them.
    pub fn range(&self) -> Range<usize> {
        self.detour.start..self.detour.start + self.detour.labels.len()
    }

    /// Returns the labels of [`range`](Self::range).
    pub fn labels(&self) -> &[LabelId] {
        &self.detour.labels
    }

    /// Returns the tokens whose scores differ: the range, and the token after it.
    fn tokens(&self) -> RangeInclusive<usize> {
        let Range { start, end } = self.range();
        start..=end.min(self.explanation.len() - 1)
    }

    /// Returns how much higher the score of the best sequence is, at least 0 up to rounding: it is
    /// exp(margin) times as likely. The sum of the contributions of [`parts`](Self::parts), up to
    /// rounding.
    pub fn margin(&self) -> f64 {
        self.tokens().map(|t| self.difference(t)).sum()
    }

    /// Returns the difference of what token `t` adds to both scores.
    fn difference(&self, t: usize) -> f64 {
        let SentenceScores { nodes, edges, .. } = &self.explanation.scores;
        let transitions = self.explanation.tagger.transitions();
        let (k, stride) = (transitions.labels(), transitions.stride());
        let [own, other] = self.labels_at(t).map(|label| {
            let b = label.index();
            let mut node = nodes[t * stride + b];
            if t == 0 {
                node += transitions.start()[b];
            }
            if t + 1 == self.explanation.len() {
                node += transitions.end()[b];
            }
            (b, node)
        });
        let node = if own.0 == other.0 { 0.0 } else { own.1 - other.1 };
        let Some(before) = t.checked_sub(1) else { return node };
        let [own_before, other_before] = self.labels_at(before).map(LabelId::index);
        let step = |a: usize, b: usize| {
            let edge = edges.get((t * k + a) * stride + b).copied().unwrap_or(0.0);
            transitions.score(a, b) + edge
        };
        node + (step(own_before, own.0) - step(other_before, other.0))
    }

    /// Returns the labels of token `t` in the best sequence and in this one.
    fn labels_at(&self, t: usize) -> [LabelId; 2] {
        let own = self.explanation.labels()[t];
        let in_detour = t.checked_sub(self.detour.start);
        let other = in_detour.and_then(|i| self.detour.labels.get(i));
        [own, other.copied().unwrap_or(own)]
    }
}
