//! The design matrix, sentence by sentence and column by column.
//!
//! A learner visits each weight of a sentence once to compute scores and once to change it. So the
//! entries of a sentence are grouped by columns: the derivatives of all tokens with an attribute
//! are summed in registers, and the squared norm of an update counts each weight once, however many
//! tokens share it.

use std::ops::Range;

use super::layout::Place;
use dropchain::extract::{Dataset, SparseRows};
use dropchain::score::{FeatureBlock, sorted_entries};

/// A column with a row of weights, within a sentence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The number of the row.
    pub row: u32,
    /// The column.
    pub column: u32,
    /// Members m of the class of attributes.
    pub members: u32,
    /// End of its entries, counted from the first of the sentence.
    end: u32,
}

/// An entry of a column without a row: one for each token and weight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Single {
    /// The weight, counted from the first single one of the block.
    pub slot: u32,
    /// The column.
    pub column: u32,
    /// The token, counted from the first of the sentence.
    pub token: u32,
    /// The position of the score in the token's row of scores.
    pub position: u32,
    /// Members m of the class of attributes.
    pub members: u32,
}

/// One design matrix.
#[derive(Clone, Debug)]
pub(super) struct SentenceColumns {
    ends: Vec<[u64; 3]>, // [N] end of each sentence in `rows`, `tokens` and `singles`
    rows: Vec<Row>,      // columns in ascending order
    tokens: Vec<u32>,    // [entries of rows] counted from the first token of the sentence
    values: Option<Vec<f64>>, // [entries of rows], unless all values are 1
    singles: Vec<Single>, // ascending slots, then tokens
    single_values: Option<Vec<f64>>, // [singles]
}

/// The entries of one sentence.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentenceEntries<'a> {
    /// Columns with rows of weights.
    pub rows: &'a [Row],
    /// The tokens of their entries.
    pub tokens: &'a [u32],
    /// The values of their entries; `None`: all 1.
    pub values: Option<&'a [f64]>,
    /// The entries of the other columns.
    pub singles: &'a [Single],
    /// Their values; `None`: all 1.
    pub single_values: Option<&'a [f64]>,
}

impl SentenceColumns {
    /// Arranges `matrix`, whose columns have their weights at `places`.
    pub fn new(
        data: &Dataset,
        matrix: &SparseRows,
        block: &FeatureBlock,
        places: &[Place],
    ) -> Self {
        let values = || (!matrix.is_binary()).then(Vec::new);
        let mut columns = Self {
            ends: Vec::with_capacity(data.len()),
            rows: Vec::new(),
            tokens: Vec::new(),
            values: values(),
            singles: Vec::new(),
            single_values: values(),
        };
        for sentence in 0..data.len() {
            let entries = sorted_entries(matrix, data.sentence(sentence));
            let first = columns.tokens.len();
            for entries in entries.chunk_by(|a, b| a.column == b.column) {
                let column = entries[0].column;
                let scale = block.scale[column as usize];
                // Scales are square roots of integers far below 2⁵⁰, so rounding recovers these.
                let members = (scale * scale).round() as u32;
                match places[column as usize] {
                    Place::Row(row) => {
                        columns.tokens.extend(entries.iter().map(|entry| entry.token));
                        if let Some(values) = &mut columns.values {
                            values.extend(entries.iter().map(|entry| entry.value));
                        }
                        let end = (columns.tokens.len() - first) as u32;
                        columns.rows.push(Row { row, column, members, end });
                    }
                    Place::Singles(slot) => {
                        let mut slot = slot;
                        block.targets.for_each(column as usize, |position, _| {
                            columns.singles.extend(entries.iter().map(|entry| Single {
                                slot,
                                column,
                                token: entry.token,
                                position: position as u32,
                                members,
                            }));
                            if let Some(values) = &mut columns.single_values {
                                values.extend(entries.iter().map(|entry| entry.value));
                            }
                            slot += 1;
                        });
                    }
                }
            }
            columns.ends.push([
                columns.rows.len() as u64,
                columns.tokens.len() as u64,
                columns.singles.len() as u64,
            ]);
        }
        columns.rows.shrink_to_fit();
        columns.tokens.shrink_to_fit();
        columns.singles.shrink_to_fit();
        columns
    }

    /// Returns the entries of a sentence.
    pub fn sentence(&self, i: usize) -> SentenceEntries<'_> {
        let starts = if i == 0 { [0; 3] } else { self.ends[i - 1] };
        let [rows, entries, singles] =
            std::array::from_fn(|j| starts[j] as usize..self.ends[i][j] as usize);
        SentenceEntries {
            rows: &self.rows[rows],
            tokens: &self.tokens[entries.clone()],
            values: self.values.as_ref().map(|values| &values[entries]),
            singles: &self.singles[singles.clone()],
            single_values: self.single_values.as_ref().map(|values| &values[singles]),
        }
    }
}

impl<'a> SentenceEntries<'a> {
    /// Iterates over the columns that have a row, each with its tokens and their values.
    ///
    /// An iterator and not a method that takes a closure, which would be compiled for the baseline
    /// instruction set only.
    #[inline(always)]
    pub fn iter_rows(self) -> RowIter<'a> {
        RowIter { entries: self, number: 0, start: 0 }
    }

    /// Iterates over the single weights, each with the range of its entries.
    #[inline(always)]
    pub fn iter_singles(self) -> SingleIter<'a> {
        SingleIter { singles: self.singles, start: 0 }
    }

    /// Returns the value of an entry of a single weight.
    #[inline(always)]
    pub fn single_value(&self, i: usize) -> f64 {
        value(self.single_values, i)
    }
}

/// See [`SentenceEntries::iter_rows`].
pub(super) struct RowIter<'a> {
    entries: SentenceEntries<'a>,
    number: usize,
    start: usize,
}

impl<'a> Iterator for RowIter<'a> {
    type Item = (&'a Row, &'a [u32], Option<&'a [f64]>);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let row = self.entries.rows.get(self.number)?;
        let entries = self.start..row.end as usize;
        self.number += 1;
        self.start = entries.end;
        let values = match self.entries.values {
            Some(values) => values.get(entries.clone()),
            None => None,
        };
        Some((row, &self.entries.tokens[entries], values))
    }
}

/// See [`SentenceEntries::iter_singles`].
pub(super) struct SingleIter<'a> {
    singles: &'a [Single],
    start: usize,
}

impl<'a> Iterator for SingleIter<'a> {
    type Item = (&'a Single, Range<usize>);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let single = self.singles.get(self.start)?;
        let start = self.start;
        let mut end = start + 1;
        while end < self.singles.len() && self.singles[end].slot == single.slot {
            end += 1;
        }
        self.start = end;
        Some((single, start..end))
    }
}

/// Returns a value; 1 if all are.
#[inline(always)]
pub(super) fn value(values: Option<&[f64]>, i: usize) -> f64 {
    match values {
        Some(values) => values[i],
        None => 1.0,
    }
}
