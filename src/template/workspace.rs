//! What is known of one sentence: the values of every view at every position.
//!
//! Most views depend on one cell of the input and nothing around it, and most words come again.
//! So what such views make of a cell is kept from sentence to sentence, one *entry* for each
//! different text of a column; when there are too many entries, all are forgotten. Views that look
//! around are computed for each sentence.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use super::attribute::escaped;
use super::shape::ShapeScratch;
use crate::fingerprint::{Fingerprinter, Fragment};

/// Values that are kept from sentence to sentence, some 10 MB, before all are forgotten.
const MAX_KEPT: usize = 1 << 17;

/// A value: a piece of the arena, and a number for templates that have one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    start: u32,
    end: u32,
    memo: u32, // its first memo; there is one for each line that consists of this view alone
    pub special: bool, // whether there is something to escape in the text
    pub piece: Fragment,
    pub weight: f64,
}

impl Item {
    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// How far something has been filled.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    arena: usize,
    items: usize,
    ends: usize,
    memos: usize,
}

/// What is kept of the text of a cell.
#[derive(Clone, Debug)]
struct Entry {
    column: u32,
    text: Range<u32>, // in the arena
    first: u32,       // its first cell
}

/// Reusable memory of an [`Extractor`](super::Extractor); allocates nothing once it is warm.
///
/// It remembers what the extractor made of words, and what its [`AttributeSink`](super::AttributeSink) found for
/// attributes: use one for one extractor and one sink, or [clear](Workspace::clear) in between.
///
/// Texts lie in one arena, values are ranges of it, and the values of a cell (a view at a
/// position) are consecutive. A view has cells beyond either end of the sentence too, since what
/// lies outside has a value.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    owner: Option<Arc<()>>,
    base: Fingerprinter,
    pub(super) tokens: usize,
    padding: usize,
    pub(super) arena: String,
    items: Vec<Item>,
    ends: Vec<u32>, // [cell + 1] end of each cell in `items`, after a leading 0
    memos: Vec<Cell<u64>>,
    memos_each: u32, // memos of the items that are pushed
    kept: Mark,
    entries: Vec<Entry>,
    table: HashTable<u32>,
    outside: Vec<u32>, // [columns][2·padding] first cell of what lies before and after
    rows: Vec<u32>,    // [rows][padding + T + padding] first cell of each position
    views: Vec<View>,
    overflow: bool,
    scratch: String,
    pub(super) boundary: String,
    shapes: ShapeScratch,
    pub(super) cuts: Vec<usize>,
    pub(super) seen: HashTable<(u32, u32)>,
    pub(super) tags: Vec<u8>,
    pub(super) chosen: Vec<u32>,
}

/// Where the cells of a view lie: `row` is the place of the first position in `rows`, `offset` what is
/// added to the number of the cell that stands there.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub row: usize,
    pub offset: usize,
}

impl Workspace {
    /// Forgets everything but the memory that it has.
    pub fn clear(&mut self) {
        self.owner = None;
        self.forget_entries();
        self.reset(0, 0);
    }

    fn forget_entries(&mut self) {
        self.kept = Mark::default();
        self.entries.clear();
        self.table.clear();
        self.outside.clear();
    }

    /// Makes room for a sentence; whether the workspace still knows what lies outside of one for
    /// `owner`.
    pub(super) fn enter(&mut self, owner: &Arc<()>, base: Fingerprinter) -> bool {
        let same = self.owner.as_ref().is_some_and(|o| Arc::ptr_eq(o, owner));
        if !same || self.kept.items > MAX_KEPT {
            self.forget_entries();
            self.owner = Some(Arc::clone(owner));
            self.base = base;
        }
        !self.outside.is_empty()
    }

    /// Forgets the last sentence; the next has `tokens` tokens.
    pub(super) fn reset(&mut self, tokens: usize, padding: usize) {
        self.tokens = tokens;
        self.padding = padding;
        self.arena.truncate(self.kept.arena);
        self.items.truncate(self.kept.items);
        self.memos.truncate(self.kept.memos);
        self.ends.truncate(self.kept.ends + 1);
        if self.ends.is_empty() {
            self.ends.push(0);
        }
        self.rows.clear();
        self.views.clear();
        self.overflow = false;
    }

    /// The next cell to be filled.
    pub(super) fn next_cell(&self) -> usize {
        self.ends.len() - 1
    }

    /// Begins a view.
    pub(super) fn begin_view(&mut self, view: View) {
        self.views.push(view);
    }

    /// Says that the items to come have `each` memos.
    pub(super) fn set_memos(&mut self, each: u32) {
        self.memos_each = each;
    }

    /// Ends a cell.
    pub(super) fn end_cell(&mut self) {
        self.ends.push(self.items.len() as u32);
    }

    /// Whether the sentence outgrew the 4 GiB of text that ranges can address.
    pub(super) fn overflowed(&self) -> bool {
        self.overflow
    }

    /// The first cell of what is kept of `text` in a column, if it is known.
    pub(super) fn entry(&self, column: usize, text: &str) -> Option<u32> {
        let is_it = |&i: &u32| {
            let entry = &self.entries[i as usize];
            entry.column == column as u32
                && self.arena[entry.text.start as usize..entry.text.end as usize] == *text
        };
        let found = self.table.find(hash(column, text), is_it)?;
        Some(self.entries[*found as usize].first)
    }

    /// Keeps what has been filled since cell `first` for the text in `range` of the arena.
    pub(super) fn keep(&mut self, column: usize, range: Range<usize>, first: usize) {
        if self.overflow {
            return;
        }
        let entry = Entry {
            column: column as u32,
            text: range.start as u32..range.end as u32,
            first: first as u32,
        };
        let number = self.entries.len() as u32;
        self.entries.push(entry);
        let Self {
            entries,
            arena,
            table,
            ..
        } = self;
        let hash_of = |&i: &u32| {
            let entry = &entries[i as usize];
            let text = entry.text.start as usize..entry.text.end as usize;
            hash(entry.column as usize, &arena[text])
        };
        table.insert_unique(hash_of(&number), number, hash_of);
        self.keep_all();
    }

    /// Keeps all that has been filled.
    pub(super) fn keep_all(&mut self) {
        self.kept = Mark {
            arena: self.arena.len(),
            items: self.items.len(),
            ends: self.ends.len() - 1,
            memos: self.memos.len(),
        };
    }

    /// Keeps cell `first` for a position outside of every sentence; positions of a column come in
    /// order.
    pub(super) fn keep_outside(&mut self, first: usize) {
        self.outside.push(first as u32);
        self.keep_all();
    }

    /// Begins the row of the positions of a column with what lies before the sentence.
    pub(super) fn begin_row(&mut self, column: usize) {
        let before = 2 * column * self.padding;
        self.rows
            .extend_from_slice(&self.outside[before..before + self.padding]);
    }

    /// Adds the next token to the row: the first cell of its entry.
    pub(super) fn push_row(&mut self, first: u32) {
        self.rows.push(first);
    }

    /// Ends the row with what lies after the sentence.
    pub(super) fn end_row(&mut self, column: usize) {
        let after = (2 * column + 1) * self.padding;
        self.rows
            .extend_from_slice(&self.outside[after..after + self.padding]);
    }

    /// Adds a row of cells that were filled from `first` on: for the position before the sentence, its
    /// tokens, and the one after. Returns its place.
    pub(super) fn push_cells(&mut self, first: usize) -> usize {
        let row = self.rows.len();
        let (padding, tokens) = (self.padding as i64, self.tokens as i64);
        let cell = |position: i64| first as u32 + (position.clamp(-1, tokens) + 1) as u32;
        self.rows.extend((-padding..tokens + padding).map(cell));
        row
    }

    /// Adds a text of the arena to the cell.
    pub(super) fn push_range(&mut self, range: Range<usize>) {
        self.push_item(range, 1.0);
    }

    /// Adds a range of the arena with a number to the cell.
    pub(super) fn push_weighted(&mut self, range: Range<usize>, weight: f64) {
        self.push_item(range, weight);
    }

    /// Adds a number without text to the cell.
    pub(super) fn push_number(&mut self, weight: f64) {
        self.push_item(0..0, weight);
    }

    /// Adds a value of another view to the cell.
    pub(super) fn push_copy(&mut self, item: Item) {
        self.items.push(item);
        self.overflow |= self.items.len() > u32::MAX as usize;
    }

    fn push_item(&mut self, range: Range<usize>, weight: f64) {
        let text = &self.arena.as_bytes()[range.clone()];
        let item = Item {
            start: range.start as u32,
            end: range.end as u32,
            memo: self.memos.len() as u32,
            special: text.iter().any(|byte| matches!(byte, b'|' | b'\\')),
            piece: self.base.fragment(text),
            weight,
        };
        let memos = self.memos.len() + self.memos_each as usize;
        self.memos.resize(memos, Cell::new(0));
        let most = range.end.max(self.items.len()).max(memos);
        self.overflow |= most >= u32::MAX as usize;
        self.items.push(item);
    }

    /// Adds a text to the cell.
    pub(super) fn push_text(&mut self, text: &str) {
        let start = self.arena.len();
        self.arena.push_str(text);
        self.push_range(start..self.arena.len());
    }

    /// Adds what `write` makes of a range of the arena to the cell.
    pub(super) fn push_made(
        &mut self,
        source: Range<usize>,
        write: impl FnOnce(&str, &mut ShapeScratch, &mut String),
    ) {
        self.scratch.clear();
        write(&self.arena[source], &mut self.shapes, &mut self.scratch);
        let start = self.arena.len();
        self.arena.push_str(&self.scratch);
        self.push_range(start..self.arena.len());
    }

    /// The values of `view` at `position`.
    #[inline(always)]
    pub(super) fn cell(&self, view: usize, position: i64) -> &[Item] {
        self.items_of(self.cell_number(view, position))
    }

    /// The cell of `view` at `position`; beyond the padding the farthest one.
    #[inline(always)]
    pub(super) fn cell_number(&self, view: usize, position: i64) -> usize {
        let padding = self.padding as i64;
        let position = position.clamp(-padding, self.tokens as i64 + padding - 1);
        let place = (position + padding) as usize;
        let View { row, offset } = self.views[view];
        self.rows[row + place] as usize + offset
    }

    /// The next value to be pushed.
    pub(super) fn next_item(&self) -> usize {
        self.items.len()
    }

    /// The values pushed since [`Workspace::next_item`] was `first`.
    pub(super) fn items_from(&self, first: usize) -> &[Item] {
        &self.items[first..]
    }

    /// The values of a cell.
    #[inline(always)]
    pub(super) fn items_of(&self, cell: usize) -> &[Item] {
        let Range { start, end } = self.values_of(cell);
        &self.items[start as usize..end as usize]
    }

    /// The numbers of the values of a cell.
    #[inline(always)]
    pub(super) fn values_of(&self, cell: usize) -> Range<u32> {
        self.ends[cell]..self.ends[cell + 1]
    }

    /// A value by its number.
    #[inline(always)]
    pub(super) fn item(&self, value: u32) -> &Item {
        &self.items[value as usize]
    }

    /// The text of the only value of a cell; nothing if there is none.
    pub(super) fn source_of(&self, cell: usize) -> Range<usize> {
        let first = self.items_of(cell).first();
        first.map_or(0..0, |item| item.range())
    }

    /// The text of the only value of `view` at `position`; nothing if there is none.
    pub(super) fn source(&self, view: usize, position: i64) -> Range<usize> {
        let first = self.cell(view, position).first();
        first.map_or(0..0, |item| item.range())
    }

    /// The text of a value.
    pub(super) fn text(&self, item: Item) -> &str {
        &self.arena[item.range()]
    }

    /// A value with its escapes, as a piece of a name.
    #[cold]
    pub(super) fn escaped(&self, item: Item) -> Fragment {
        let mut text = Vec::new();
        escaped(self.text(item).as_bytes(), &mut |piece| {
            text.extend_from_slice(piece);
            true
        });
        self.base.fragment(&text)
    }

    /// Memo number `line` of a value.
    #[inline]
    pub(super) fn memo(&self, item: Item, line: u32) -> &Cell<u64> {
        &self.memos[(item.memo + line) as usize]
    }
}

fn hash(column: usize, text: &str) -> u64 {
    xxh3_64(text.as_bytes()) ^ (column as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
