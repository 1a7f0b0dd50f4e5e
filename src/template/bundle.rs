//! Bundles: template lines that read the same few cells.
//!
//! A tagger needs the sum of the weights of a token's attributes, and the same few parts of speech
//! stand next to each other again and again. So lines are bundled whose attributes are determined
//! by the texts of up to three adjacent cells: the sum of their weights can be memoized under the
//! [`BundleKey`] of these cells. Which lines are bundled is determined by the template and the
//! columns.

use std::cmp::Reverse;

use hashbrown::HashMap;

use super::ast::Position;
use super::attribute::{CompiledTemplate, CompiledTerm};
use super::evaluate::EvaluationPlan;
use super::workspace::{BundleKey, MAX_CELLS, Workspace};

/// Maximum number of bundles. It bounds the memory for the sums of a sentence.
const MAX_BUNDLES: usize = 16;

/// Adjacent cells of a column, relative to a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct CellWindow {
    /// Which memoized column.
    column: usize,
    first: i32,
    last: i32,
}

impl CellWindow {
    /// Returns the cells that a line reads; `None` if it cannot be bundled.
    fn of(line: &CompiledTemplate, plan: &EvaluationPlan) -> Option<Self> {
        if !line.node || line.edge || !line.conditions.is_empty() {
            return None;
        }
        let cell = |term: &CompiledTerm| match term.position {
            Position::Relative(offset) if plan.is_memoized(term.function) => {
                let column = plan.cells[term.function].row;
                Some(Self { column, first: offset, last: offset })
            }
            _ => None,
        };
        let window = line.terms.iter().map(cell).reduce(|a, b| a?.joined(b?)).flatten()?;
        (window.last.abs_diff(window.first) < MAX_CELLS as u32).then_some(window)
    }

    fn joined(self, other: Self) -> Option<Self> {
        (self.column == other.column).then(|| Self {
            column: self.column,
            first: self.first.min(other.first),
            last: self.last.max(other.last),
        })
    }

    fn len(self) -> usize {
        self.last.abs_diff(self.first) as usize + 1
    }

    /// Returns the windows inside of this one, itself included.
    fn parts(self) -> impl Iterator<Item = Self> {
        (self.first..=self.last).flat_map(move |first| {
            (first..=self.last).map(move |last| Self { first, last, ..self })
        })
    }
}

/// Lines that read no cells but these.
#[derive(Clone, Debug)]
pub(super) struct Bundle {
    cells: CellWindow,
    /// Indices of the lines.
    pub lines: Vec<usize>,
}

impl Bundle {
    /// Returns the key at token `t`, given the number of the bundle.
    #[inline(always)]
    pub fn key(&self, number: usize, t: usize, ws: &Workspace) -> BundleKey {
        let mut key = [0; 1 + MAX_CELLS];
        key[0] = number as u32;
        let first = t as i64 + i64::from(self.cells.first);
        for (i, cell) in key[1..=self.cells.len()].iter_mut().enumerate() {
            *cell = ws.first_cell(self.cells.column, first + i as i64);
        }
        BundleKey(key)
    }
}

/// The lines of a template, divided into bundles and others.
#[derive(Clone, Debug)]
pub(super) struct BundledLines {
    pub bundles: Vec<Bundle>,
    /// Indices of the lines in no bundle.
    pub others: Vec<usize>,
}

impl BundledLines {
    /// Divides `lines`. `words` is the column of the words: sequences of words recur too rarely, so
    /// only lines that read a single one of them are bundled.
    pub fn new(lines: &[CompiledTemplate], plan: &EvaluationPlan, words: Option<usize>) -> Self {
        let may_recur = |window: &CellWindow| {
            window.len() == 1 || Some(plan.columns[window.column].column) != words
        };
        let mut lines_of: HashMap<CellWindow, Vec<usize>> = HashMap::new();
        for (i, line) in lines.iter().enumerate() {
            if let Some(window) = CellWindow::of(line, plan).filter(may_recur) {
                lines_of.entry(window).or_default().push(i);
            }
        }
        // Long windows first, so that they take in the short ones.
        let mut longest: Vec<CellWindow> = lines_of.keys().copied().collect();
        longest.sort_by_key(|window| (Reverse(window.len()), window.column, window.first));
        let mut is_bundled = vec![false; lines.len()];
        let mut bundles = Vec::new();
        for cells in longest {
            let inside = || cells.parts().filter_map(|part| lines_of.get(&part)).flatten();
            if inside().nth(1).is_none() || bundles.len() == MAX_BUNDLES {
                continue;
            }
            let mut lines: Vec<usize> = inside().copied().collect();
            lines.sort_unstable();
            for &line in &lines {
                is_bundled[line] = true;
            }
            for part in cells.parts() {
                lines_of.remove(&part);
            }
            bundles.push(Bundle { cells, lines });
        }
        let others = (0..lines.len()).filter(|&i| !is_bundled[i]).collect();
        Self { bundles, others }
    }
}
