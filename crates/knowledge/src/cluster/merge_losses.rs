//! The merge losses of all pairs of clusters, and their minimum.

/// Upper triangular matrix of merge losses with a cached minimum per row.
///
/// A pair is (lower slot, higher slot). Ties are broken by the order of pairs.
#[derive(Clone, Debug)]
pub(super) struct MergeLosses {
    slots: usize,
    values: Vec<i64>,        // [slots][slots], used above the diagonal
    minima: Vec<RowMinimum>, // [slots]
}

/// The minimum of a row: a lower bound if `stale`, else exact.
#[derive(Clone, Copy, Debug)]
struct RowMinimum {
    value: i64,
    column: usize,
    stale: bool,
}

/// The loss of an absent pair.
pub(super) const ABSENT: i64 = i64::MAX;

impl MergeLosses {
    /// A matrix without pairs.
    pub(super) fn new(slots: usize) -> Self {
        let empty = RowMinimum { value: ABSENT, column: slots, stale: false };
        Self { slots, values: vec![ABSENT; slots * slots], minima: vec![empty; slots] }
    }

    /// The loss of a pair.
    #[inline]
    pub(super) fn get(&self, a: usize, b: usize) -> i64 {
        self.values[a.min(b) * self.slots + a.max(b)]
    }

    /// Adds to the loss of a pair.
    #[inline]
    pub(super) fn add(&mut self, a: usize, b: usize, change: i64) {
        if change != 0 {
            self.set(a, b, self.get(a, b) + change);
        }
    }

    /// Sets the loss of a pair, which [`ABSENT`] removes.
    #[inline]
    pub(super) fn set(&mut self, a: usize, b: usize, value: i64) {
        let (row, column) = (a.min(b), a.max(b));
        self.values[row * self.slots + column] = value;
        let minimum = &mut self.minima[row];
        if (value, column) <= (minimum.value, minimum.column) {
            *minimum = RowMinimum { value, column, stale: false };
        } else if column == minimum.column {
            minimum.stale = true;
        }
    }

    /// The pair with the smallest loss, and its loss.
    pub(super) fn minimum(&mut self) -> Option<(usize, usize, i64)> {
        for row in 0..self.slots {
            if self.minima[row].stale {
                self.rescan(row);
            }
        }
        let rows = self.minima.iter().enumerate();
        let (row, least) = rows.min_by_key(|(_, minimum)| minimum.value)?;
        (least.value < ABSENT).then_some((row, least.column, least.value))
    }

    fn rescan(&mut self, row: usize) {
        let values = &self.values[row * self.slots..(row + 1) * self.slots];
        let others = values.iter().enumerate().skip(row + 1);
        let (column, &value) =
            others.min_by_key(|(_, value)| **value).unwrap_or((self.slots, &ABSENT));
        self.minima[row] = RowMinimum { value, column, stale: false };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ties_go_to_the_first_pair() {
        let mut losses = MergeLosses::new(4);
        assert_eq!(losses.minimum(), None);
        for (a, b) in [(3, 2), (3, 1), (2, 1)] {
            losses.set(a, b, 0);
        }
        assert_eq!(losses.minimum(), Some((1, 2, 0)));
        losses.add(2, 1, 5);
        assert_eq!(losses.minimum(), Some((1, 3, 0)));
        losses.set(1, 3, ABSENT);
        losses.set(3, 2, ABSENT);
        assert_eq!(losses.minimum(), Some((1, 2, 5)));
    }

    proptest! {
        #[test]
        fn the_minimum_equals_that_of_a_full_scan(
            changes in prop::collection::vec(
                (0..6_usize, 0..6_usize, -5..6_i64, any::<bool>()), 1..200),
        ) {
            let mut losses = MergeLosses::new(6);
            let mut plain = std::collections::BTreeMap::new();
            for (a, b, change, check) in changes {
                if a == b {
                    continue;
                }
                let pair = (a.min(b), a.max(b));
                match plain.get_mut(&pair) {
                    None => {
                        losses.set(a, b, 0);
                        plain.insert(pair, 0);
                    }
                    Some(_) if change == 5 => {
                        losses.set(a, b, ABSENT);
                        plain.remove(&pair);
                    }
                    Some(value) => {
                        losses.add(a, b, change);
                        *value += change;
                    }
                }
                if check {
                    let expected = plain.iter().map(|(&(a, b), &value)| (value, a, b)).min();
                    prop_assert_eq!(losses.minimum(), expected.map(|(value, a, b)| (a, b, value)));
                }
            }
        }
    }
}
