//! The design matrix by columns, entry by entry: every entry has masks of its own, so that sums of whole
//! rows, which the gradient is otherwise made of, are of no use here.

use std::ops::Range;

use rayon::prelude::*;

use crate::extract::SparseRows;
use crate::score::Targets;

/// Entries in a unit of work.
const TASK_ENTRIES: usize = 4096;

/// An entry of the matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry {
    pub column: usize,
    /// Counted from the first token of the block.
    pub token: usize,
    pub value: f64,
}

/// The entries of one block of tokens, column by column, tokens in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    columns: Vec<u32>,
    ends: Vec<u32>,   // [columns] end of each column in `tokens`
    tokens: Vec<u32>, // counted from the first of the block
    values: Option<Vec<f64>>,
    tasks: Vec<Range<usize>>, // of `columns`, about TASK_ENTRIES entries each
}

/// A task, the index of the first weight of its columns, and the gradient of all of them.
type Piece<'a> = (Range<usize>, usize, &'a mut [f64]);

impl Columns {
    /// The columns of `tokens`.
    pub fn new(rows: &SparseRows, tokens: Range<usize>) -> Self {
        let first = tokens.start;
        let mut entries: Vec<(u32, u32, f64)> = Vec::new();
        for token in tokens {
            let t = (token - first) as u32;
            let row = rows.entries(token);
            entries.extend(row.map(|(column, value)| (column, t, value)));
        }
        entries.sort_unstable_by_key(|&(column, t, _)| (column, t));
        let mut block = Self {
            tokens: entries.iter().map(|e| e.1).collect(),
            values: (!rows.is_binary()).then(|| entries.iter().map(|e| e.2).collect()),
            ..Self::default()
        };
        let mut end = 0;
        for column in entries.chunk_by(|x, y| x.0 == y.0) {
            end += column.len();
            block.columns.push(column[0].0);
            block.ends.push(end as u32);
        }
        let (mut task, mut start) = (0, 0);
        for i in 0..block.columns.len() {
            let end = block.ends[i] as usize;
            if end - start >= TASK_ENTRIES || i + 1 == block.columns.len() {
                block.tasks.push(task..i + 1);
                (task, start) = (i + 1, end);
            }
        }
        block
    }

    /// Calls `visit(room, entry, gradient of the weights of its column)` for every entry, column by
    /// column, tokens in order. Columns are worked on in parallel; each has one owner.
    pub fn for_each<R: Default>(
        &self,
        targets: &Targets,
        gradient: &mut [f64],
        visit: impl Fn(&mut R, Entry, &mut [f64]) + Sync,
    ) {
        let pieces = self.pieces(targets, gradient);
        pieces.into_par_iter().for_each(|(task, first, piece)| {
            let mut room = R::default();
            for i in task {
                let column = self.columns[i] as usize;
                let range = targets.range(column);
                let gradient = &mut piece[range.start - first..range.end - first];
                let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
                for entry in start..self.ends[i] as usize {
                    let entry = Entry {
                        column,
                        token: self.tokens[entry] as usize,
                        value: self.values.as_ref().map_or(1.0, |values| values[entry]),
                    };
                    visit(&mut room, entry, gradient);
                }
            }
        });
    }

    /// Cuts the gradient into a piece for each task. Columns ascend and weights stand in column
    /// order, so each task owns one piece.
    fn pieces<'a>(&self, targets: &Targets, gradient: &'a mut [f64]) -> Vec<Piece<'a>> {
        let mut pieces = Vec::with_capacity(self.tasks.len());
        let (mut rest, mut cut) = (gradient, 0);
        for task in &self.tasks {
            let first = targets.range(self.columns[task.start] as usize).start;
            let end = targets.range(self.columns[task.end - 1] as usize).end;
            let (piece, after) = rest.split_at_mut(end - cut);
            pieces.push((task.clone(), first, &mut piece[first - cut..]));
            (rest, cut) = (after, end);
        }
        pieces
    }

    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        4 * (self.columns.capacity() + self.ends.capacity() + self.tokens.capacity())
            + 8 * self.values.as_ref().map_or(0, Vec::capacity)
    }
}
