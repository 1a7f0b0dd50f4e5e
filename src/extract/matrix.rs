//! The sparse matrix.

use std::hash::{Hash, Hasher};
use std::ops::Range;

/// A sparse matrix in CSR form (compressed sparse rows): tokens × columns.
///
/// Within a row, columns are distinct and ascending. Most attributes are indicators, so values are
/// stored only if some value differs from 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseRows {
    ends: Vec<u64>, // [rows] end of each row in `columns`: the row pointers without the first, 0
    columns: Vec<u32>, // [nonzeros]
    values: Option<Vec<f64>>,
}

impl SparseRows {
    /// Creates a matrix of the ends of its rows, their columns, distinct and ascending, and values.
    #[cfg(feature = "train")]
    pub fn from_parts(ends: Vec<u64>, columns: Vec<u32>, values: Option<Vec<f64>>) -> Self {
        Self {
            ends,
            columns,
            values,
        }
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the number of stored entries.
    #[must_use]
    pub fn nonzeros(&self) -> usize {
        self.columns.len()
    }

    /// Returns the number of stored entries of some rows; 0 if the matrix has no rows.
    pub fn row_entries(&self, rows: Range<usize>) -> usize {
        let end = |row: usize| match row.checked_sub(1) {
            None => 0,
            Some(last) => self.ends.get(last).map_or(0, |&end| end as usize),
        };
        end(rows.end).saturating_sub(end(rows.start))
    }

    /// Returns whether every value is 1.
    #[must_use]
    pub fn is_binary(&self) -> bool {
        self.values.is_none()
    }

    /// Returns the columns of a row and, unless the matrix is binary, their values.
    #[must_use]
    #[inline]
    pub fn row(&self, row: usize) -> (&[u32], Option<&[f64]>) {
        let start = if row == 0 {
            0
        } else {
            self.ends[row - 1] as usize
        };
        let range = start..self.ends[row] as usize;
        (
            &self.columns[range.clone()],
            self.values.as_ref().map(|values| &values[range]),
        )
    }

    /// Returns the entries of a row, as pairs of column and value.
    pub fn entries(&self, row: usize) -> impl Iterator<Item = (u32, f64)> {
        let (columns, values) = self.row(row);
        columns
            .iter()
            .enumerate()
            .map(move |(i, &column)| (column, values.map_or(1.0, |values| values[i])))
    }

    /// Appends a row, after sorting `entries` by column and summing those of the same column, in
    /// order.
    pub fn push_row(&mut self, entries: &mut Vec<(u32, f64)>) {
        entries.sort_by_key(|&(column, _)| column);
        entries.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                earlier.1 += later.1;
            }
            same
        });
        if self.values.is_none() && entries.iter().any(|&(_, value)| value != 1.0) {
            self.values = Some(vec![1.0; self.columns.len()]);
        }
        self.columns
            .extend(entries.iter().map(|&(column, _)| column));
        if let Some(values) = &mut self.values {
            values.extend(entries.iter().map(|&(_, value)| value));
        }
        self.ends.push(self.columns.len() as u64);
    }

    /// Returns the transpose of the matrix, which has so many columns: rows in the order of
    /// columns, entries in the order of rows.
    #[cfg(feature = "train")]
    pub fn transposed(&self, columns: usize) -> Self {
        let mut ends = vec![0_usize; columns + 1];
        for &j in &self.columns {
            ends[j as usize + 1] += 1;
        }
        for j in 0..columns {
            ends[j + 1] += ends[j];
        }
        let mut next = ends.clone();
        let mut numbers = vec![0_u32; self.nonzeros()];
        let mut values = (!self.is_binary()).then(|| vec![1.0; self.nonzeros()]);
        for n in 0..self.len() {
            for (j, x) in self.entries(n) {
                let position = &mut next[j as usize];
                numbers[*position] = n as u32;
                if let Some(values) = &mut values {
                    values[*position] = x;
                }
                *position += 1;
            }
        }
        Self::from_parts(
            ends[1..].iter().map(|&end| end as u64).collect(),
            numbers,
            values,
        )
    }

    /// Appends a row of another matrix, without the columns that are not `retained` (`None`: all
    /// are).
    pub(super) fn push_row_from(&mut self, other: &Self, row: usize, retained: Option<&[bool]>) {
        let (columns, values) = other.row(row);
        if values.is_some() && self.values.is_none() {
            self.values = Some(vec![1.0; self.columns.len()]);
        }
        for (i, &column) in columns.iter().enumerate() {
            if retained.is_none_or(|retained| retained[column as usize]) {
                self.columns.push(column);
                if let Some(own) = &mut self.values {
                    own.push(values.map_or(1.0, |values| values[i]));
                }
            }
        }
        self.ends.push(self.columns.len() as u64);
    }

    /// Returns the matrix with its columns renumbered by `number`, dropping those for which it
    /// returns `None` and summing those that coincide. The new values are
    /// `value(new column, old value)`.
    pub fn map_columns(
        &self,
        number: impl Fn(u32) -> Option<u32>,
        value: impl Fn(u32, f64) -> f64,
    ) -> Self {
        let mut mapped = Self::default();
        let mut entries = Vec::new();
        for row in 0..self.len() {
            entries.clear();
            entries.extend(self.entries(row).filter_map(|(column, old)| {
                let new = number(column)?;
                Some((new, value(new, old)))
            }));
            mapped.push_row(&mut entries);
        }
        mapped.shrink_to_fit();
        mapped
    }

    /// Frees excess capacity.
    pub(super) fn shrink_to_fit(&mut self) {
        self.ends.shrink_to_fit();
        self.columns.shrink_to_fit();
        if let Some(values) = &mut self.values {
            values.shrink_to_fit();
        }
    }

    /// Returns the memory usage in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        let values = self.values.as_ref().map_or(0, Vec::capacity);
        8 * self.ends.capacity() + 4 * self.columns.capacity() + 8 * values
    }
}

/// Values hash by their bits.
impl Hash for SparseRows {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.ends.hash(state);
        self.columns.hash(state);
        for value in self.values.iter().flatten() {
            state.write_u64(value.to_bits());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_stored_once_one_differs_from_1() {
        let mut m = SparseRows::default();
        m.push_row(&mut vec![(3, 1.0), (1, 1.0)]);
        assert!(m.is_binary());
        m.push_row(&mut vec![]);
        m.push_row(&mut vec![(2, 0.5), (0, 1.0), (2, 0.25)]);
        assert!(!m.is_binary());
        assert_eq!(m.entries(0).collect::<Vec<_>>(), [(1, 1.0), (3, 1.0)]);
        assert_eq!(m.entries(1).count(), 0);
        assert_eq!(m.entries(2).collect::<Vec<_>>(), [(0, 1.0), (2, 0.75)]);
        assert_eq!(m.nonzeros(), 4);
    }
}
