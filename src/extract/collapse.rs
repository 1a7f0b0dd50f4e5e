//! Corpus-wide co-occurrence collapsing.
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

#[cfg(feature = "train")]
use std::collections::BTreeMap;

use super::matrix::SparseRows;

/// The partition of columns into equivalence classes of identical columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Classes {
    class: Vec<u32>, // [A] class of each column
    sizes: Vec<u32>, // [classes] members m
}

impl Classes {
    /// Returns the finest partition: each of `columns` columns in a class of its own.
    #[must_use]
    pub fn singletons(columns: usize) -> Self {
        Self {
            class: (0..columns as u32).collect(),
            sizes: vec![1; columns],
        }
    }

    /// Finds the classes of equal columns in a matrix with `columns` columns, numbered in order of
    /// their first members.
    #[must_use]
    pub fn equal_columns(matrix: &SparseRows, columns: usize) -> Self {
        Self::equal_columns_in_groups(matrix, vec![0; columns])
    }

    /// Finds the classes of equal columns of the same group, given the group of each column,
    /// `[columns]`. Groups are numbered from 0.
    ///
    /// Columns are exchangeable only if they also have the same penalties and start at the same
    /// weights.
    #[must_use]
    pub fn equal_columns_in_groups(matrix: &SparseRows, groups: Vec<u32>) -> Self {
        let mut class = groups;
        let highest = class.iter().copied().max().unwrap_or(0) as usize;
        let mut sizes = vec![0; highest + 1];
        for &group in &class {
            sizes[group as usize] += 1;
        }
        let mut row_groups = Vec::new(); // (class, value bits, column)
        for row in 0..matrix.len() {
            row_groups.clear();
            row_groups.extend(
                matrix
                    .entries(row)
                    .map(|(column, value)| (class[column as usize], value.to_bits(), column)),
            );
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
    #[must_use]
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Returns whether there are no classes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Returns the class of a column.
    #[must_use]
    pub fn class(&self, column: u32) -> u32 {
        self.class[column as usize]
    }

    /// Returns the class of each column, `[A]`.
    #[must_use]
    pub fn classes(&self) -> &[u32] {
        &self.class
    }

    /// Returns the first member of each class.
    #[must_use]
    pub fn first_members(&self) -> Vec<u32> {
        let mut first = vec![u32::MAX; self.len()];
        for (column, &class) in self.class.iter().enumerate().rev() {
            first[class as usize] = column as u32;
        }
        first
    }

    /// Returns the number of members m of a class.
    #[must_use]
    pub fn size(&self, class: u32) -> u32 {
        self.sizes[class as usize]
    }

    /// Returns √m for each class: the factor of its column in the scores.
    #[must_use]
    pub fn scales(&self) -> Vec<f64> {
        self.sizes.iter().map(|&m| f64::from(m).sqrt()).collect()
    }

    /// Collapses the matrix in which the classes were found to one column per class.
    #[must_use]
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
    #[must_use]
    pub fn project(&self, matrix: &SparseRows) -> SparseRows {
        matrix.map_columns(
            |column| Some(self.class(column)),
            |class, value| value / f64::from(self.size(class)),
        )
    }
}

/// Numbers keys in order of their first appearance.
#[cfg(feature = "train")]
pub fn numbered<K: Ord>(keys: impl Iterator<Item = K>) -> Vec<u32> {
    let mut numbers = BTreeMap::new();
    keys.map(|key| {
        let next = numbers.len() as u32;
        *numbers.entry(key).or_insert(next)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matrix(rows: &[&[(u32, f64)]]) -> SparseRows {
        let mut m = SparseRows::default();
        for row in rows {
            m.push_row(&mut row.to_vec());
        }
        m
    }

    #[test]
    fn equal_columns_share_a_class_and_others_do_not() {
        let m = matrix(&[
            &[(0, 1.0), (1, 1.0), (2, 1.0)],
            &[(0, 1.0), (1, 1.0), (3, 2.0), (4, 3.0)],
            &[],
        ]);
        let classes = Classes::equal_columns(&m, 6);
        assert_eq!(classes.classes(), [0, 0, 1, 2, 3, 4]);
        assert_eq!(classes.size(0), 2);
        let collapsed = classes.collapsed(&m);
        assert_eq!(
            collapsed.entries(1).collect::<Vec<_>>(),
            [(0, 1.0), (2, 2.0), (3, 3.0)]
        );
    }

    #[test]
    fn members_on_other_data_share_the_class_weight() {
        let classes = Classes::equal_columns(&matrix(&[&[(0, 1.0), (1, 1.0)]]), 2);
        let other = classes.project(&matrix(&[&[(1, 3.0)], &[(0, 1.0), (1, 1.0)]]));
        assert_eq!(other.entries(0).collect::<Vec<_>>(), [(0, 1.5)]);
        assert_eq!(other.entries(1).collect::<Vec<_>>(), [(0, 1.0)]);
    }

    proptest! {
        #[test]
        fn classes_are_exactly_the_groups_of_equal_columns(
            cells in proptest::collection::vec(proptest::collection::vec(0u8..3, 7), 0..6),
            groups in proptest::collection::vec(0u32..3, 7),
        ) {
            let mut m = SparseRows::default();
            for row in &cells {
                let mut entries: Vec<_> = row
                    .iter()
                    .enumerate()
                    .filter(|&(_, &v)| v > 0)
                    .map(|(column, &v)| (column as u32, f64::from(v)))
                    .collect();
                m.push_row(&mut entries);
            }
            let classes = Classes::equal_columns(&m, 7);
            let grouped = Classes::equal_columns_in_groups(&m, groups.clone());
            let column = |c: usize| cells.iter().map(|row| row[c]).collect::<Vec<_>>();
            for a in 0..7 {
                for b in 0..7 {
                    prop_assert_eq!(
                        classes.class(a as u32) == classes.class(b as u32),
                        column(a) == column(b)
                    );
                    prop_assert_eq!(
                        grouped.class(a as u32) == grouped.class(b as u32),
                        column(a) == column(b) && groups[a] == groups[b]
                    );
                }
            }
        }
    }
}
