//! The values of every bound function at every position of one sentence.
//!
//! Most functions depend on a single input cell and not on its context, and most words recur. So
//! the values of such functions are memoized per word across sentences: one *entry* per distinct
//! text of a column. When there are too many entries, all are dropped. Functions that depend on the
//! context are evaluated for each sentence.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use super::document::DocumentState;
use super::lexicon::PhraseTag;
use super::shape::ShapeScratch;
use super::syntax::escape_value;
use crate::fingerprint::{Fingerprinter, Fragment};

/// Number of memoized values (about 10 MB) above which all entries are dropped.
const MAX_MEMOIZED: usize = 1 << 17;

/// A value of a function: a range of the arena, and a weight, usually 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct FunctionValue {
    start: u32,
    end: u32,
    memo: u32, // the first of its memos, one for each template that consists of this function alone
    pub needs_escape: bool,
    pub fragment: Fragment,
    pub weight: f64,
}

impl FunctionValue {
    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Maximum number of adjacent cells that a bundle reads.
pub(super) const MAX_CELLS: usize = 3;

/// The number of a bundle in its template, and the cells that it reads at a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BundleKey([u32; 1 + MAX_CELLS]);

impl BundleKey {
    /// Creates the key of a bundle; 0 takes the place of cells that it does not read.
    #[inline(always)]
    pub fn new(bundle: u32, [a, b, c]: [u32; MAX_CELLS]) -> Self {
        Self([bundle, a, b, c])
    }

    /// Returns the numbers that make up the key.
    #[inline(always)]
    pub fn numbers(self) -> [u32; 1 + MAX_CELLS] {
        self.0
    }
}

/// Lengths of the buffers of a workspace.
#[derive(Clone, Copy, Debug, Default)]
struct Watermark {
    arena: usize,
    values: usize,
    cells: usize,
    memos: usize,
}

/// The memoized values of a text of a column.
#[derive(Clone, Debug)]
struct MemoEntry {
    column: u32,
    text: Range<u32>, // in the arena
    first_cell: u32,
}

/// Reusable buffers of an [`Extractor`](super::Extractor). Allocates nothing once warm.
///
/// It memoizes the values of the extractor's functions, and the memos that an
/// [`AttributeSink`](super::AttributeSink) sets. Use it with one extractor and one sink, or call
/// [`Workspace::clear`] in between.
///
/// All texts are in one arena, and values are ranges of it. The values of a *cell* (a function at a
/// position) are consecutive. Functions have cells beyond either end of the sentence, too, since
/// positions outside have values.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    owner: Option<Arc<()>>,
    generation: u64,
    fingerprinter: Fingerprinter,
    pub(super) tokens: usize,
    pub(super) training_sentence: Option<u32>,
    caseless: Option<Box<Workspace>>, // that of the extractor of sentences without case
    padding: usize,
    pub(super) arena: String,
    pub(super) values: Vec<FunctionValue>,
    cell_ends: Vec<u32>, // [cells + 1] end of each cell in `values`, after a leading 0
    memos: Vec<Cell<u64>>,
    pub(super) memos_per_value: u32,
    memoized: Watermark,
    entries: Vec<MemoEntry>,
    entry_table: HashTable<u32>, // hash(column, text) → index in `entries`
    outside: Vec<u32>,           // [columns][2·padding] first cell before and after the sentence
    pub(super) rows: Vec<u32>,   // [rows][padding + T + padding] first cell of each position
    pub(super) functions: Vec<FunctionCells>,
    pub(super) overflow: bool, // whether the sentence outgrew the 4 GiB that ranges can address
    derived: String,
    pub(super) written: String,
    shape_scratch: ShapeScratch,
    pub(super) boundaries: Vec<usize>,
    pub(super) seen_ngrams: HashTable<(u32, u32)>,
    pub(super) phrase_tags: Vec<PhraseTag>,
    pub(super) combination: Vec<u32>,
    pub(super) bundle_keys: Vec<BundleKey>, // [T][bundles]
    pub(super) document: DocumentState,
}

/// The location of a function's cells: `rows[row + padding + position] + offset`.
#[derive(Clone, Copy, Debug)]
pub(super) struct FunctionCells {
    pub row: usize,
    pub offset: usize,
}

impl Workspace {
    /// Drops all contents but keeps the allocated memory.
    pub fn clear(&mut self) {
        self.owner = None;
        self.caseless = None;
        self.drop_entries();
        self.start_sentence(0, 0);
    }

    fn drop_entries(&mut self) {
        self.generation += 1;
        self.memoized = Watermark::default();
        self.entries.clear();
        self.entry_table.clear();
        self.outside.clear();
        self.document.clear();
    }

    /// Sets the number of the next sentences among the labeled sentences that the template has
    /// learned from, counted from 0; `None` (the default) if it is not one of them. What a function
    /// has learned from the sentence itself, or from later ones, can then be left out.
    pub fn set_training_sentence(&mut self, number: Option<u32>) {
        self.training_sentence = number;
    }

    /// Returns the workspace for sentences without case, so that those with case keep their memos.
    pub fn caseless(&mut self) -> &mut Self {
        let number = self.training_sentence;
        let caseless = self.caseless.get_or_insert_with(Box::default);
        caseless.training_sentence = number;
        caseless
    }

    /// Prepares for a sentence of the extractor identified by `owner`. Drops the entries if they
    /// belong to another extractor or are too many. Returns whether the positions outside the
    /// sentence are still memoized.
    pub(super) fn set_owner(&mut self, owner: &Arc<()>, fingerprinter: Fingerprinter) -> bool {
        let same = self.owner.as_ref().is_some_and(|o| Arc::ptr_eq(o, owner));
        if !same || self.memoized.values > MAX_MEMOIZED {
            self.drop_entries();
            self.owner = Some(Arc::clone(owner));
            self.fingerprinter = fingerprinter;
        }
        !self.outside.is_empty()
    }

    /// Drops all values that are not memoized and starts a sentence of `tokens` tokens.
    pub(super) fn start_sentence(&mut self, tokens: usize, padding: usize) {
        self.tokens = tokens;
        self.padding = padding;
        self.arena.truncate(self.memoized.arena);
        self.values.truncate(self.memoized.values);
        self.memos.truncate(self.memoized.memos);
        self.cell_ends.truncate(self.memoized.cells + 1);
        if self.cell_ends.is_empty() {
            self.cell_ends.push(0);
        }
        self.rows.clear();
        self.functions.clear();
        self.overflow = false;
    }

    /// Returns the index of the next cell to be filled.
    pub(super) fn next_cell(&self) -> usize {
        self.cell_ends.len() - 1
    }

    /// Finishes the current cell.
    pub(super) fn finish_cell(&mut self) {
        self.cell_ends.push(self.values.len() as u32);
    }

    /// Returns the first cell of the memo entry of `text` in a column, if there is one.
    pub(super) fn memo_entry(&self, column: usize, text: &str) -> Option<u32> {
        let matches = |&i: &u32| {
            let entry = &self.entries[i as usize];
            entry.column == column as u32
                && self.arena[entry.text.start as usize..entry.text.end as usize] == *text
        };
        let found = self.entry_table.find(hash(column, text), matches)?;
        Some(self.entries[*found as usize].first_cell)
    }

    /// Memoizes the cells filled from `first_cell` on for the text at `range` in the arena.
    pub(super) fn memoize(&mut self, column: usize, range: Range<usize>, first_cell: usize) {
        if self.overflow {
            return;
        }
        let entry = MemoEntry {
            column: column as u32,
            text: range.start as u32..range.end as u32,
            first_cell: first_cell as u32,
        };
        let number = self.entries.len() as u32;
        self.entries.push(entry);
        let Self { entries, arena, entry_table, .. } = self;
        let hash_of = |&i: &u32| {
            let entry = &entries[i as usize];
            let text = entry.text.start as usize..entry.text.end as usize;
            hash(entry.column as usize, &arena[text])
        };
        entry_table.insert_unique(hash_of(&number), number, hash_of);
        self.retain_all();
    }

    /// Retains all current contents across sentences.
    fn retain_all(&mut self) {
        self.memoized = Watermark {
            arena: self.arena.len(),
            values: self.values.len(),
            cells: self.cell_ends.len() - 1,
            memos: self.memos.len(),
        };
    }

    /// Memoizes the cells from `first_cell` on for the next position of a column outside the
    /// sentence.
    pub(super) fn memoize_outside(&mut self, first_cell: usize) {
        self.outside.push(first_cell as u32);
        self.retain_all();
    }

    /// Returns the first cell of the position before or after the sentence in a column.
    pub(super) fn outside_cell(&self, column: usize, before: bool) -> u32 {
        match before {
            true => self.outside[(2 * column + 1) * self.padding - 1],
            false => self.outside[(2 * column + 1) * self.padding],
        }
    }

    /// Adds the positions before or after the sentence to the row of a memoized column.
    pub(super) fn push_outside(&mut self, column: usize, before: bool) {
        let first = (2 * column + usize::from(!before)) * self.padding;
        let cells = &self.outside[first..first + self.padding];
        self.rows.extend_from_slice(cells);
    }

    /// Adds a row for the consecutive cells from `first_cell` on: the position before the sentence,
    /// its tokens, and the position after. Returns its start in `rows`.
    pub(super) fn push_row(&mut self, first_cell: usize) -> usize {
        let row = self.rows.len();
        let (padding, tokens) = (self.padding as i64, self.tokens as i64);
        let cell = |position: i64| first_cell as u32 + (position.clamp(-1, tokens) + 1) as u32;
        self.rows.extend((-padding..tokens + padding).map(cell));
        row
    }

    /// Adds a text in the arena to the cell.
    pub(super) fn push_range(&mut self, range: Range<usize>) {
        self.push_weighted(range, 1.0);
    }

    /// Adds a copy of a value of another function to the cell.
    pub(super) fn push_copy(&mut self, value: FunctionValue) {
        self.values.push(value);
        self.overflow |= self.values.len() > u32::MAX as usize;
    }

    /// Adds a text in the arena with a number to the cell.
    pub(super) fn push_weighted(&mut self, range: Range<usize>, weight: f64) {
        let text = &self.arena.as_bytes()[range.clone()];
        let value = FunctionValue {
            start: range.start as u32,
            end: range.end as u32,
            memo: self.memos.len() as u32,
            needs_escape: text.iter().any(|byte| matches!(byte, b'|' | b'\\')),
            fragment: self.fingerprinter.fragment(text),
            weight,
        };
        let memos = self.memos.len() + self.memos_per_value as usize;
        self.memos.resize(memos, Cell::new(0));
        let largest = range.end.max(self.values.len()).max(memos);
        self.overflow |= largest >= u32::MAX as usize;
        self.values.push(value);
    }

    /// Appends a text to the arena.
    pub(super) fn push_arena(&mut self, text: &str) -> Range<usize> {
        let start = self.arena.len();
        self.arena.push_str(text);
        start..self.arena.len()
    }

    /// Adds a text to the cell.
    pub(super) fn push_text(&mut self, text: &str) {
        let range = self.push_arena(text);
        self.push_range(range);
    }

    /// Adds the text that `write` derives from a text in the arena to the cell.
    pub(super) fn push_derived(
        &mut self,
        source: Range<usize>,
        write: impl FnOnce(&str, &mut ShapeScratch, &mut String),
    ) {
        self.derived.clear();
        write(&self.arena[source], &mut self.shape_scratch, &mut self.derived);
        let start = self.arena.len();
        self.arena.push_str(&self.derived);
        self.push_range(start..self.arena.len());
    }

    /// Returns the values of a function at `position`.
    #[inline(always)]
    pub(super) fn values_at(&self, function: usize, position: i64) -> &[FunctionValue] {
        self.cell_values(self.cell_index(function, position))
    }

    /// Returns the cell of a function at `position`, clamped to the padding.
    #[inline(always)]
    pub(super) fn cell_index(&self, function: usize, position: i64) -> usize {
        let padding = self.padding as i64;
        let position = position.clamp(-padding, self.tokens as i64 + padding - 1);
        let in_row = (position + padding) as usize;
        let FunctionCells { row, offset } = self.functions[function];
        self.rows[row + in_row] as usize + offset
    }

    /// Returns the first cell of the memo entry at `position` of a memoized column.
    #[inline(always)]
    pub(super) fn entry_cell(&self, column: usize, position: i64) -> u32 {
        let (padding, tokens) = (self.padding as i64, self.tokens as i64);
        let in_row = position.clamp(-padding, tokens + padding - 1) + padding;
        self.rows[column * (self.tokens + 2 * self.padding) + in_row as usize]
    }

    /// Returns a number that changes whenever memo entries are dropped.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the values of a cell.
    #[inline(always)]
    pub(super) fn cell_values(&self, cell: usize) -> &[FunctionValue] {
        let Range { start, end } = self.cell_value_range(cell);
        &self.values[start as usize..end as usize]
    }

    /// Returns the indices of the values of a cell.
    #[inline(always)]
    pub(super) fn cell_value_range(&self, cell: usize) -> Range<u32> {
        self.cell_ends[cell]..self.cell_ends[cell + 1]
    }

    /// Returns a value by index.
    #[inline(always)]
    pub(super) fn value(&self, index: u32) -> &FunctionValue {
        &self.values[index as usize]
    }

    /// Returns the text of the only value of a cell, as a range of the arena; empty if it has none.
    pub(super) fn cell_text(&self, cell: usize) -> Range<usize> {
        let first = self.cell_values(cell).first();
        first.map_or(0..0, |value| value.range())
    }

    /// Returns the text of the only value of a function at `position`, like
    /// [`Workspace::cell_text`].
    pub(super) fn text_at(&self, function: usize, position: i64) -> Range<usize> {
        self.cell_text(self.cell_index(function, position))
    }

    /// Returns the text of a value.
    pub(super) fn text(&self, value: FunctionValue) -> &str {
        &self.arena[value.range()]
    }

    /// Returns the fragment of a value with escapes.
    #[cold]
    pub(super) fn escaped_fragment(&self, value: FunctionValue) -> Fragment {
        let mut text = Vec::new();
        escape_value(self.text(value).as_bytes(), &mut |piece| {
            text.extend_from_slice(piece);
            true
        });
        self.fingerprinter.fragment(&text)
    }

    /// Returns memo number `index` of a value.
    #[inline]
    pub(super) fn memo(&self, value: FunctionValue, index: u32) -> &Cell<u64> {
        &self.memos[(value.memo + index) as usize]
    }
}

fn hash(column: usize, text: &str) -> u64 {
    xxh3_64(text.as_bytes()) ^ (column as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
