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
use super::syntax::escape_value;
use crate::fingerprint::{Fingerprinter, Fragment};

/// Number of memoized values (about 10 MB) above which all entries are dropped.
const MAX_MEMOIZED: usize = 1 << 17;

/// Maximum number of adjacent cells that a bundle reads.
pub(super) const MAX_CELLS: usize = 3;

/// The number of a bundle in its template, and the cells that it reads at a token; 0 takes the
/// place of those that it does not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BundleKey(pub [u32; 1 + MAX_CELLS]);

/// The memoized values of a text of a column.
#[derive(Clone, Debug)]
struct MemoEntry {
    column: usize,
    text: Range<usize>, // in the arena
    inside: bool,       // of a sentence
    first_cell: u32,
}

/// What is memoized across sentences: the values up to a watermark, and the texts they are of.
#[derive(Clone, Debug, Default)]
pub(super) struct MemoEntries {
    owner: Option<Arc<()>>,
    /// Changes whenever entries are dropped.
    pub generation: u64,
    retained: Watermark,
    entries: Vec<MemoEntry>,
    table: HashTable<u32>, // hash(column, text) → index in `entries`
}

/// The location of a function's cells: those of a position are `offset` after the first of the row.
#[derive(Clone, Copy, Debug)]
pub(super) struct FunctionCells {
    pub row: usize,
    pub offset: usize,
}

/// Buffers of the functions that are being evaluated, and of the attributes of a token.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    pub text: String,
    pub boundaries: Vec<usize>,
    pub seen_ngrams: HashTable<Range<usize>>,
    /// Position of each token in a phrase of a lexicon, `B`, `I`, `E`, `S` or a blank.
    pub phrase_tags: Vec<u8>,
    pub bundle_keys: Vec<BundleKey>, // [T][bundles]
}

/// Reusable buffers of an [`Extractor`](super::Extractor). Allocates nothing once warm.
///
/// It memoizes the values of the extractor's functions, and the memos that an
/// [`AttributeSink`](super::AttributeSink) sets. Use it with one extractor and one sink, or call
/// [`Workspace::clear`] in between.
///
/// The values of a *cell* (a function at a position) are consecutive. Functions have cells beyond
/// either end of the sentence, too, since positions outside have values.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    pub(super) tokens: usize,
    pub(super) values: Values,
    pub(super) memo: MemoEntries,
    padding: usize,
    pub(super) rows: Vec<u32>, // [rows][padding + T + padding] first cell of each position
    functions: Vec<FunctionCells>,
    pub(super) scratch: Scratch,
    pub(super) document: DocumentState,
    caseless: Option<Box<Workspace>>, // that of the extractor of sentences without case
    pub(super) is_caseless: bool,     // whether the sentence is one of these
}

impl Workspace {
    /// Drops all contents but keeps the allocated memory.
    pub fn clear(&mut self) {
        self.memo.owner = None;
        self.caseless = None;
        self.is_caseless = false;
        self.drop_entries();
        self.start_sentence(0, 0);
    }

    fn drop_entries(&mut self) {
        let memo = &mut self.memo;
        memo.generation += 1;
        memo.retained = Watermark::default();
        memo.entries.clear();
        memo.table.clear();
        self.document = DocumentState::default();
    }

    /// Returns the workspace for sentences without case, so that those with case keep their memos.
    pub(super) fn caseless(&mut self) -> &mut Self {
        self.caseless.get_or_insert_with(Box::default)
    }

    /// Prepares for a sentence of the extractor identified by `owner`, whose functions have these
    /// cells. Drops the entries if they belong to another extractor or are too many.
    pub(super) fn set_owner(
        &mut self,
        owner: &Arc<()>,
        fingerprinter: Fingerprinter,
        functions: &[FunctionCells],
    ) {
        let same = self.memo.owner.as_ref().is_some_and(|o| Arc::ptr_eq(o, owner));
        if !same || self.memo.retained.values > MAX_MEMOIZED {
            self.drop_entries();
            self.memo.owner = Some(Arc::clone(owner));
            self.values.fingerprinter = fingerprinter;
            functions.clone_into(&mut self.functions);
        }
    }

    /// Drops all values that are not memoized and starts a sentence of `tokens` tokens.
    pub(super) fn start_sentence(&mut self, tokens: usize, padding: usize) {
        self.tokens = tokens;
        self.values.truncate(self.memo.retained);
        self.padding = padding;
        self.rows.clear();
    }

    /// Returns the first cell of the memo entry of a text in a column, inside of sentences or
    /// outside, if there is one.
    pub(super) fn memo_entry(&self, column: usize, text: &str, inside: bool) -> Option<u32> {
        let entries = &self.memo.entries;
        let matches = |&i: &u32| {
            let entry = &entries[i as usize];
            (entry.column, entry.inside) == (column, inside)
                && self.values.arena[entry.text.clone()] == *text
        };
        let found = self.memo.table.find(hash(column, text), matches)?;
        Some(entries[*found as usize].first_cell)
    }

    /// Memoizes the cells filled from `first_cell` on for the text at a range of the arena.
    pub(super) fn memoize(
        &mut self,
        column: usize,
        text: Range<usize>,
        inside: bool,
        first_cell: u32,
    ) {
        if self.values.overflow {
            return;
        }
        let Self { memo, values, .. } = self;
        let number = memo.entries.len() as u32;
        memo.entries.push(MemoEntry { column, text, inside, first_cell });
        let hash_of = |&i: &u32| {
            let MemoEntry { column, text, .. } = &memo.entries[i as usize];
            hash(*column, &values.arena[text.clone()])
        };
        memo.table.insert_unique(hash_of(&number), number, hash_of);
        memo.retained = values.watermark();
    }

    /// Adds the row of a function with consecutive cells from `first_cell` on: the position before
    /// the sentence, its tokens, and the position after.
    pub(super) fn push_row(&mut self, first_cell: u32) {
        let (padding, tokens) = (self.padding as i64, self.tokens as i64);
        let cell = |position: i64| first_cell + (position.clamp(-1, tokens) + 1) as u32;
        self.rows.extend((-padding..tokens + padding).map(cell));
    }

    /// Returns the values of a function at `position`.
    #[inline(always)]
    pub(super) fn values_at(&self, function: usize, position: i64) -> &[FunctionValue] {
        self.values.of_cell(self.cell_index(function, position))
    }

    /// Returns the cell of a function at `position`, clamped to the padding.
    #[inline(always)]
    pub(super) fn cell_index(&self, function: usize, position: i64) -> usize {
        let FunctionCells { row, offset } = self.functions[function];
        self.first_cell(row, position) as usize + offset
    }

    /// Returns the first cell of a row at `position`, clamped to the padding.
    #[inline(always)]
    pub(super) fn first_cell(&self, row: usize, position: i64) -> u32 {
        let (padding, tokens) = (self.padding as i64, self.tokens as i64);
        let in_row = position.clamp(-padding, tokens + padding - 1) + padding;
        self.rows[row * (self.tokens + 2 * self.padding) + in_row as usize]
    }

    /// Returns the text of the only value of a function at token `t`; empty if it has none.
    pub(super) fn text_at(&self, function: usize, t: usize) -> &str {
        &self.values.arena[self.values.cell_text(self.cell_index(function, t as i64))]
    }
}

fn hash(column: usize, text: &str) -> u64 {
    xxh3_64(text.as_bytes()) ^ (column as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

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
    fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Lengths of the buffers of [`Values`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Watermark {
    arena: usize,
    pub values: usize,
    cells: usize,
    memos: usize,
}

/// The values of cells. All texts are in one arena, and values are ranges of it. The values of a
/// cell are consecutive.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    pub fingerprinter: Fingerprinter,
    pub arena: String,
    values: Vec<FunctionValue>,
    cell_ends: Vec<u32>, // [cells + 1] end of each cell in `values`, after a leading 0
    memos: Vec<Cell<u64>>,
    /// Number of memos of the values that are added.
    pub memos_per_value: u32,
    /// Whether the sentence outgrew the 4 GiB that ranges can address.
    pub overflow: bool,
}

impl Values {
    pub(super) fn watermark(&self) -> Watermark {
        Watermark {
            arena: self.arena.len(),
            values: self.values.len(),
            cells: self.cell_ends.len() - 1,
            memos: self.memos.len(),
        }
    }

    /// Drops all values beyond a watermark.
    pub(super) fn truncate(&mut self, watermark: Watermark) {
        self.arena.truncate(watermark.arena);
        self.values.truncate(watermark.values);
        self.memos.truncate(watermark.memos);
        self.cell_ends.truncate(watermark.cells + 1);
        if self.cell_ends.is_empty() {
            self.cell_ends.push(0);
        }
        self.overflow = false;
    }

    /// Returns the index of the next cell to be filled.
    pub(super) fn next_cell(&self) -> u32 {
        self.cell_ends.len() as u32 - 1
    }

    /// Finishes the current cell.
    pub(super) fn finish_cell(&mut self) {
        self.cell_ends.push(self.values.len() as u32);
    }

    /// Adds a text in the arena to the cell.
    pub(super) fn push_range(&mut self, range: Range<usize>) {
        self.push_weighted(range, 1.0);
    }

    /// Adds a copy of a value, unless the cell has one with the same text.
    pub(super) fn push_distinct(&mut self, value: FunctionValue) {
        self.values.push(value);
        self.overflow |= self.values.len() > u32::MAX as usize;
        self.drop_duplicate();
    }

    /// Drops the last value of the cell if another one has the same text.
    pub(super) fn drop_duplicate(&mut self) {
        let start = self.cell_ends.last().map_or(0, |end| *end as usize);
        if let Some((last, others)) = self.values[start..].split_last()
            && others.iter().any(|other| {
                other.fragment == last.fragment && self.text(*other) == self.text(*last)
            })
        {
            self.values.pop();
        }
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

    /// Adds a flag to the cell, if it is set.
    pub(super) fn push_flag(&mut self, set: bool) {
        if set {
            self.push_range(0..0);
        }
    }

    /// Adds a number to the cell, unless it is zero, which would contribute nothing to any score.
    pub(super) fn push_number(&mut self, number: f64) {
        if number != 0.0 {
            self.push_weighted(0..0, number);
        }
    }

    /// Returns the values of a cell.
    #[inline(always)]
    pub(super) fn of_cell(&self, cell: usize) -> &[FunctionValue] {
        let Range { start, end } = self.cell_range(cell);
        &self.values[start as usize..end as usize]
    }

    /// Returns the indices of the values of a cell.
    #[inline(always)]
    pub(super) fn cell_range(&self, cell: usize) -> Range<u32> {
        self.cell_ends[cell]..self.cell_ends[cell + 1]
    }

    /// Returns a value by index.
    #[inline(always)]
    pub(super) fn get(&self, index: u32) -> &FunctionValue {
        &self.values[index as usize]
    }

    /// Returns the text of the only value of a cell, as a range of the arena; empty if it has none.
    pub(super) fn cell_text(&self, cell: usize) -> Range<usize> {
        self.of_cell(cell).first().map_or(0..0, |value| value.range())
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
