//! The document that a workspace is prepared for.

use std::ops::Range;
use std::sync::Arc;

use super::forms::FormIndex;
use super::mention::VisibleOccurrences;
use super::others::for_nearest;
use super::text::push_lower;
use crate::error::{Error, Place, Result};
use crate::sentence::{Document, IndexedText, WordIndex};

/// What an extractor needs to know of documents.
#[derive(Clone, Debug, Default)]
pub(super) struct DocumentPlan {
    /// Number of tokens before a token, and after it, that functions see.
    pub window: u32,
    /// The texts that are indexed: a column, verbatim or in lower case.
    pub indices: Vec<(usize, bool)>,
    /// The indices, of those in lower case, for which forms are counted.
    pub forms: Vec<usize>,
    /// Which other occurrences are looked at.
    pub groups: Vec<OccurrenceGroup>,
    /// Number of functions that gather values of words at other occurrences.
    pub others: usize,
}

/// Which other occurrences of a word are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OccurrenceGroup {
    /// The index.
    pub index: usize,
    /// Maximum number of occurrences.
    pub nearest: u32,
    /// Maximum distance.
    pub window: u32,
}

/// Another occurrence of a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occurrence {
    /// The number of the sentence in the document.
    pub sentence: u32,
    /// The number of the token in the sentence.
    pub t: u32,
}

/// A first cell that is not known.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// The document that a workspace is prepared for: its indices, and where the sentence is in it.
#[derive(Clone, Debug, Default)]
pub(super) struct DocumentState {
    identity: Option<Arc<()>>,
    indices: Vec<Arc<WordIndex>>,  // [indices of the plan]
    forms: Vec<Option<FormIndex>>, // [indices of the plan]
    nearest: Vec<Occurrence>,      // by group and token of the sentence
    nearest_ends: Vec<u32>,        // [groups][T] end of each token in `nearest`
    /// The first cell of each token of the document by column, if it is known: [columns][tokens].
    pub cells: Vec<Vec<u32>>,
    /// Cells that functions gather at other occurrences, by function and token of the sentence.
    pub gathered: Vec<u32>,
    /// End of each function and token in `gathered`: [functions][T].
    pub gathered_ends: Vec<u32>,
    /// The token of the document that the sentence begins with.
    pub start: usize,
}

impl DocumentState {
    /// Forgets the document.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns whether `document` is the one it is prepared for.
    pub(super) fn is_prepared_for(&self, document: &Document<'_>) -> bool {
        let identity = self.identity.as_ref();
        identity.is_some_and(|own| Arc::ptr_eq(own, document.identity()))
    }

    /// Prepares for sentence `number` of `document`, whose sentences have the indexed columns.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if the document has too many tokens.
    pub(super) fn prepare(
        &mut self,
        plan: &DocumentPlan,
        document: &Document<'_>,
        number: usize,
    ) -> Result<()> {
        self.start = document.tokens_of(number).start;
        if self.is_prepared_for(document) {
            return Ok(());
        }
        if document.tokens() > u32::MAX as usize / 2 {
            let place = document
                .sentence(0)
                .map_or(Place::file("document"), |s| s.place(0));
            let message = format!(
                "the document has {} tokens; expected fewer",
                document.tokens()
            );
            return Err(Error::input(place, message));
        }
        self.identity = Some(Arc::clone(document.identity()));
        self.indices.clear();
        self.indices
            .extend(plan.indices.iter().map(|&(column, lower)| {
                document.index(column, lower.then_some(push_lower as IndexedText))
            }));
        self.cells.clear();
        self.forms.clear();
        self.forms.resize_with(plan.indices.len(), || None);
        for &number in &plan.forms {
            let (column, _) = plan.indices[number];
            self.forms[number] = Some(FormIndex::new(document, column, &self.indices[number]));
        }
        Ok(())
    }

    /// Finds the other occurrences of each word of a sentence of `length` tokens that the groups of
    /// the plan look at.
    pub(super) fn find_others(
        &mut self,
        plan: &DocumentPlan,
        document: &Document<'_>,
        length: usize,
    ) {
        self.nearest.clear();
        self.nearest_ends.clear();
        for group in &plan.groups {
            let index = &self.indices[group.index];
            for token in self.start..self.start + length {
                let seen = VisibleOccurrences::new(index, token, group.window);
                let nearest = &mut self.nearest;
                for_nearest(seen.all, seen.own, seen.visible, group.nearest, |other| {
                    let sentence = document.sentence_of(other as usize);
                    let start = document.tokens_of(sentence).start;
                    nearest.push(Occurrence {
                        sentence: sentence as u32,
                        t: other - start as u32,
                    });
                });
                self.nearest_ends.push(nearest.len() as u32);
            }
        }
    }

    /// Returns the other occurrences of token `t` of a sentence of `length` tokens for a group.
    pub(super) fn others(&self, group: usize, length: usize, t: usize) -> Range<usize> {
        range_of(&self.nearest_ends, group * length + t)
    }

    /// Returns one of the other occurrences.
    pub(super) fn occurrence(&self, i: usize) -> Occurrence {
        self.nearest[i]
    }

    /// Returns the cells that a function gathers for token `t` of a sentence of `length` tokens.
    pub(super) fn gathered(&self, number: usize, length: usize, t: usize) -> Range<usize> {
        range_of(&self.gathered_ends, number * length + t)
    }

    /// Writes the forms of the word of token `t` of the sentence elsewhere.
    pub(super) fn write_forms(&self, number: usize, t: usize, window: u32, out: &mut String) {
        let (index, token) = (&self.indices[number], self.start + t);
        let seen = VisibleOccurrences::new(index, token, window);
        let first = index.first_of_word(token);
        let visible = first + seen.visible.start..first + seen.visible.end;
        if let Some(forms) = &self.forms[number] {
            forms.write(visible, token, out);
        }
    }

    /// Returns an index of the plan.
    pub(super) fn index(&self, number: usize) -> &Arc<WordIndex> {
        &self.indices[number]
    }
}

/// Returns the range that ends at `ends[i]`.
fn range_of(ends: &[u32], i: usize) -> Range<usize> {
    let start = if i == 0 { 0 } else { ends[i - 1] };
    start as usize..ends[i] as usize
}
