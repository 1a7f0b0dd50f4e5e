//! The values of functions: ranges of one text, with their fingerprints and memos.

use std::cell::Cell;
use std::ops::Range;

use super::syntax::escape_value;
use crate::fingerprint::{Fingerprinter, Fragment};

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

    /// Returns the values of the current cell.
    pub(super) fn current(&self) -> &[FunctionValue] {
        let start = self.cell_ends.last().map_or(0, |end| *end as usize);
        &self.values[start..]
    }

    /// Adds a text in the arena to the cell.
    pub(super) fn push_range(&mut self, range: Range<usize>) {
        self.push_weighted(range, 1.0);
    }

    /// Adds a copy of a value, unless the cell has one with the same text.
    pub(super) fn push_distinct(&mut self, value: FunctionValue) {
        if !self.current().iter().any(|other| self.is_same(*other, value)) {
            self.values.push(value);
            self.overflow |= self.values.len() > u32::MAX as usize;
        }
    }

    /// Drops the last value of the cell if another one has the same text.
    pub(super) fn drop_duplicate(&mut self) {
        if let Some((last, others)) = self.current().split_last()
            && others.iter().any(|other| self.is_same(*other, *last))
        {
            self.values.pop();
        }
    }

    fn is_same(&self, one: FunctionValue, other: FunctionValue) -> bool {
        one.fragment == other.fragment && self.text(one) == self.text(other)
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
