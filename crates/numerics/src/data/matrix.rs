//! The sparse matrix.
//!
//! # Corpus-wide co-occurrence collapsing
//!
//! Attributes with identical columns in the design matrix are exchangeable: the objective does not
//! change when their weights are swapped, so from a symmetric start gradient training keeps their
//! weights equal. Such columns form an equivalence class, and a class of m of them is trained as
//! one parameter φ = √m·θ:
//!
//! - score: m·θ = √m·φ, so the column enters with scale √m;
//! - L2: m·c2·θ² = c2·φ²;   L1: m·c1·|θ| = c1·√m·|φ|;
//! - dropout variance: m·ρ·θ² = ρ·φ².
//!
//! The map φ ↦ (φ/√m, …, φ/√m) is an isometry: it preserves lengths and inner products, so an
//! optimizer that depends only on those visits the same points in the smaller space. In new text
//! the members no longer co-occur, so the model stores θ = φ/√m for each.
//!
//! The classes are found by partition refinement. All columns start in one class; row by row, the
//! members of a class that have the same value in the row are split off from those that do not
//! occur in it. After the last row, columns share a class if and only if they are equal. Refinement
//! takes O(nnz · log r) time for rows of r entries and is exact and deterministic: no hashing.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

/// A sparse matrix in CSR form (compressed sparse rows): tokens × columns.
///
/// Within a row, columns are distinct and ascending. Most attributes are indicators, so values are
/// stored only if some value differs from 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseRows {
    ends: Vec<u64>, // [rows] end of each row in `columns`: the row pointers without the first, 0
    columns: Vec<u32>, // [nonzeros]
    /// Values, `[nonzeros]`; `None`: all 1.
    pub values: Option<Vec<f64>>,
}

impl SparseRows {
    /// Creates a matrix without entries.
    pub fn empty(rows: usize) -> Self {
        Self { ends: vec![0; rows], ..Self::default() }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the number of stored entries.
    pub fn nonzeros(&self) -> usize {
        self.columns.len()
    }

    /// Returns the columns of a row and, unless the matrix is binary, their values.
    #[inline]
    pub fn row(&self, row: usize) -> (&[u32], Option<&[f64]>) {
        let start = if row == 0 { 0 } else { self.ends[row - 1] as usize };
        let range = start..self.ends[row] as usize;
        (&self.columns[range.clone()], self.values.as_ref().map(|values| &values[range]))
    }

    /// Returns the entries of a row, as pairs of column and value.
    pub fn entries(&self, row: usize) -> impl Iterator<Item = (u32, f64)> {
        let (columns, values) = self.row(row);
        let value = move |i: usize| values.map_or(1.0, |values| values[i]);
        columns.iter().enumerate().map(move |(i, &column)| (column, value(i)))
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
        self.columns.extend(entries.iter().map(|&(column, _)| column));
        if let Some(values) = &mut self.values {
            values.extend(entries.iter().map(|&(_, value)| value));
        }
        self.ends.push(self.columns.len() as u64);
    }

    /// Returns the transpose of the matrix, which has so many columns: rows in the order of
    /// columns, entries in the order of rows.
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
        let mut values = self.values.as_ref().map(|values| vec![1.0; values.len()]);
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
        let ends = ends[1..].iter().map(|&end| end as u64).collect();
        Self { ends, columns: numbers, values }
    }

    /// Appends a row of another matrix.
    pub(super) fn push_row_from(&mut self, other: &Self, row: usize) {
        let (columns, values) = other.row(row);
        if values.is_some() && self.values.is_none() {
            self.values = Some(vec![1.0; self.columns.len()]);
        }
        self.columns.extend_from_slice(columns);
        if let Some(own) = &mut self.values {
            own.extend_from_slice(values.unwrap_or_default());
            own.resize(self.columns.len(), 1.0);
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

/// The partition of columns into equivalence classes of identical columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Classes {
    /// The class of each column, `[A]`.
    pub class: Vec<u32>,
    sizes: Vec<u32>, // [classes] members m
}

impl Classes {
    /// Returns the finest partition: each of `columns` columns in a class of its own.
    pub fn singletons(columns: usize) -> Self {
        Self { class: (0..columns as u32).collect(), sizes: vec![1; columns] }
    }

    /// Finds the classes of equal columns in a matrix with `columns` columns, numbered in order of
    /// their first members.
    pub fn equal_columns(matrix: &SparseRows, columns: usize) -> Self {
        Self::equal_columns_in_groups(matrix, vec![0; columns])
    }

    /// Finds the classes of equal columns of the same group, given the group of each column,
    /// `[columns]`. Groups are numbered from 0.
    ///
    /// Columns are exchangeable only if they also have the same penalties and start at the same
    /// weights.
    pub fn equal_columns_in_groups(matrix: &SparseRows, groups: Vec<u32>) -> Self {
        let mut class = groups;
        let highest = class.iter().copied().max().unwrap_or(0) as usize;
        let mut sizes = vec![0; highest + 1];
        for &group in &class {
            sizes[group as usize] += 1;
        }
        let mut row_groups = Vec::new(); // (class, value bits, column)
        for row in 0..matrix.len() {
            let keyed =
                |(column, value): (u32, f64)| (class[column as usize], value.to_bits(), column);
            row_groups.clear();
            row_groups.extend(matrix.entries(row).map(keyed));
            row_groups.sort_unstable();
            for group in row_groups.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1)) {
                let old = group[0].0 as usize;
                if (group.len() as u32) < sizes[old] {
                    sizes[old] -= group.len() as u32;
                    let new = sizes.len() as u32;
                    sizes.push(group.len() as u32);
                    for &(_, _, column) in group {
                        class[column as usize] = new;
                    }
                }
            }
        }
        Self::from_labels(class)
    }

    /// Renumbers classes in order of their first members and counts them.
    fn from_labels(mut class: Vec<u32>) -> Self {
        let highest = class.iter().copied().max().unwrap_or(0) as usize;
        let mut number = vec![u32::MAX; highest + 1];
        let mut sizes: Vec<u32> = Vec::new();
        for c in &mut class {
            let n = &mut number[*c as usize];
            if *n == u32::MAX {
                *n = sizes.len() as u32;
                sizes.push(0);
            }
            *c = *n;
            sizes[*n as usize] += 1;
        }
        Self { class, sizes }
    }

    /// Returns the number of classes.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Returns whether there are no classes.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Returns the class of a column.
    pub fn class(&self, column: u32) -> u32 {
        self.class[column as usize]
    }

    /// Returns the first member of each class.
    pub fn first_members(&self) -> Vec<u32> {
        let mut first = vec![u32::MAX; self.len()];
        for (column, &class) in self.class.iter().enumerate().rev() {
            first[class as usize] = column as u32;
        }
        first
    }

    /// Returns the number of members m of a class.
    pub fn size(&self, class: u32) -> u32 {
        self.sizes[class as usize]
    }

    /// Returns √m for each class: the factor of its column in the scores.
    pub fn scales(&self) -> Vec<f64> {
        self.sizes.iter().map(|&m| f64::from(m).sqrt()).collect()
    }

    /// Collapses the matrix in which the classes were found to one column per class.
    pub fn collapsed(&self, matrix: &SparseRows) -> SparseRows {
        let first = self.first_members();
        matrix.map_columns(
            |column| {
                let class = self.class(column);
                (first[class as usize] == column).then_some(class)
            },
            |_, value| value,
        )
    }

    /// Maps another matrix over the same columns to class columns, for scoring with parameters φ
    /// whose factor is √m: a member with value v contributes v·θ = (v/m)·√m·φ.
    pub fn project(&self, matrix: &SparseRows) -> SparseRows {
        matrix.map_columns(
            |column| Some(self.class(column)),
            |class, value| value / f64::from(self.size(class)),
        )
    }
}

/// Numbers keys in order of their first appearance.
pub fn numbered<K: Ord>(keys: impl Iterator<Item = K>) -> Vec<u32> {
    let mut numbers = BTreeMap::new();
    keys.map(|key| {
        let next = numbers.len() as u32;
        *numbers.entry(key).or_insert(next)
    })
    .collect()
}
