//! The mutable state of tagging.

use std::sync::Arc;

use super::scorer::{ScoringBuffers, SentenceScores};
use crate::chain::{Lattice, Viterbi};
use crate::extract::AttributeSource;
use crate::interrupt::Interrupt;
use crate::sentence::Schema;
use crate::template;

/// Reusable memory for tagging, owned by one thread at a time.
///
/// A workspace may be used for sentences with any columns and with several taggers in turn. It
/// memoizes template values and model look-ups of the tagger that used it last, so alternating
/// between taggers works but is slow.
#[derive(Debug, Default)]
pub struct Workspace {
    tagger: Option<Arc<()>>, // identity of the tagger whose look-ups are memoized
    pub(super) bound: Option<BoundTemplate>,
    pub(super) template: template::Workspace,
    pub(super) buffers: ScoringBuffers,
    pub(super) scores: SentenceScores,
    pub(super) viterbi: Viterbi,
    pub(super) lattice: Lattice,
    pub(super) interrupt: Interrupt,
}

impl Workspace {
    /// Sets what ends the work on a sentence. A tagger's own workspaces forget it
    /// ([`Tagger::with_workspace`](super::Tagger::with_workspace)).
    pub fn set_interrupt(&mut self, interrupt: Interrupt) {
        self.viterbi.interrupt = interrupt.clone();
        self.lattice.interrupt = interrupt.clone();
        self.interrupt = interrupt;
    }

    /// Returns what ends the work on a sentence.
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Forgets what belongs to another tagger than the one with this identity.
    pub(super) fn switch_to(&mut self, tagger: &Arc<()>) {
        let is_same = (self.tagger.as_ref()).is_some_and(|previous| Arc::ptr_eq(previous, tagger));
        if !is_same {
            self.tagger = Some(Arc::clone(tagger));
            self.bound = None;
            self.buffers.reset();
        }
    }

    /// Frees the arrays whose sizes grow with the sentence.
    pub(super) fn free_arrays(&mut self) {
        self.scores = SentenceScores::default();
        self.viterbi = Viterbi::default();
        self.lattice = Lattice::default();
        self.set_interrupt(self.interrupt.clone());
    }
}

/// A tagger's template, bound to the columns of the last sentence.
#[derive(Debug)]
pub(super) struct BoundTemplate {
    pub schema: Arc<Schema>,
    pub source: AttributeSource,
}
