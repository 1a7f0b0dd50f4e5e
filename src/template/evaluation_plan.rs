//! Decides which bound functions are memoized per word and which are evaluated per sentence.

use hashbrown::HashMap;

use super::ast::Dialect;
use super::function::{BoundFunction, Operation};

/// How each bound function is evaluated, and where its values are.
#[derive(Clone, Debug)]
pub(super) struct EvaluationPlan {
    /// Positions on either side of a sentence with distinct values.
    pub padding: usize,
    /// The dialect of a CRF++ or Wapiti file.
    pub dialect: Option<Dialect>,
    /// The columns whose texts have memo entries.
    pub columns: Vec<MemoizedColumn>,
    pub placements: Vec<Placement>, // [functions]
    /// Number of memos of each value of a function: [functions].
    pub memos_per_value: Vec<u32>,
}

/// A column whose texts have memo entries.
#[derive(Clone, Debug)]
pub(super) struct MemoizedColumn {
    pub column: usize,
    /// The functions whose values an entry holds.
    pub functions: Vec<usize>,
}

/// How a function is evaluated.
#[derive(Clone, Copy, Debug)]
pub(super) enum Placement {
    /// Once per distinct text of a column, given by its index in [`EvaluationPlan::columns`]. The
    /// values are at `offset` in the memo entry.
    PerWord { column: usize, offset: usize },
    /// For every sentence.
    PerSentence,
}

impl EvaluationPlan {
    /// Plans the evaluation of `functions`.
    pub(super) fn new(functions: &[BoundFunction], dialect: Option<Dialect>) -> Self {
        let mut columns: Vec<MemoizedColumn> = Vec::new();
        let mut indices = HashMap::new(); // column → index in `columns`
        let mut placements: Vec<Placement> = Vec::with_capacity(functions.len());
        for (number, function) in functions.iter().enumerate() {
            let column = match (&function.operation, function.source()) {
                (Operation::Text, _) => {
                    let column = function.source;
                    Some(*indices.entry(column).or_insert_with(|| {
                        let functions = Vec::new();
                        columns.push(MemoizedColumn { column, functions });
                        columns.len() - 1
                    }))
                }
                (_, Some(source)) => match placements[source] {
                    Placement::PerWord { column, .. } => Some(column),
                    Placement::PerSentence => None,
                },
                _ => None,
            };
            placements.push(match column {
                None => Placement::PerSentence,
                Some(column) => {
                    let memoized = &mut columns[column].functions;
                    memoized.push(number);
                    let offset = memoized.len() - 1;
                    Placement::PerWord { column, offset }
                }
            });
        }
        let padding = dialect.map_or(1, Dialect::padding);
        Self { padding, dialect, columns, placements, memos_per_value: Vec::new() }
    }

    /// Returns the offset of a function's values in a memo entry.
    pub(super) fn offset(&self, function: usize) -> usize {
        match self.placements[function] {
            Placement::PerWord { offset, .. } => offset,
            Placement::PerSentence => 0,
        }
    }
}
