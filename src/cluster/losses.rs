//! What every merger of two classes would lose, and which loses least.

/// Losses of pairs of slots, a triangle; every row knows where its least is.
///
/// A pair is (lower slot, higher slot). Of equal losses the pair that comes first counts.
#[derive(Clone, Debug)]
pub(super) struct Losses {
    slots: usize,
    values: Vec<i64>, // [slots][slots], of which only those right of the diagonal are used
    least: Vec<Least>, // [slots]
}

/// The least of a row. No value of the row is less; where `stale` it may be that none is equal.
#[derive(Clone, Copy, Debug)]
struct Least {
    value: i64,
    at: usize,
    stale: bool,
}

/// The loss of a pair that does not exist.
const NONE: i64 = i64::MAX;

impl Losses {
    /// No pairs yet of so many slots.
    pub(super) fn new(slots: usize) -> Self {
        let nothing = Least {
            value: NONE,
            at: slots,
            stale: false,
        };
        Self {
            slots,
            values: vec![NONE; slots * slots],
            least: vec![nothing; slots],
        }
    }

    /// The loss of a pair.
    #[cfg(test)]
    pub(super) fn get(&self, a: usize, b: usize) -> i64 {
        self.values[a.min(b) * self.slots + a.max(b)]
    }

    /// Adds to the loss of a pair that exists.
    #[inline]
    pub(super) fn add(&mut self, a: usize, b: usize, change: i64) {
        if change == 0 {
            return;
        }
        let (row, at) = (a.min(b), a.max(b));
        let value = &mut self.values[row * self.slots + at];
        *value += change;
        let value = *value;
        self.update(row, at, value);
    }

    /// Gives a new pair the loss 0.
    pub(super) fn begin(&mut self, a: usize, b: usize) {
        let (row, at) = (a.min(b), a.max(b));
        self.values[row * self.slots + at] = 0;
        self.update(row, at, 0);
    }

    /// Removes a pair.
    pub(super) fn end(&mut self, a: usize, b: usize) {
        let (row, at) = (a.min(b), a.max(b));
        self.values[row * self.slots + at] = NONE;
        self.update(row, at, NONE);
    }

    #[inline]
    fn update(&mut self, row: usize, at: usize, value: i64) {
        let least = &mut self.least[row];
        if (value, at) <= (least.value, least.at) {
            *least = Least {
                value,
                at,
                stale: false,
            };
        } else if at == least.at {
            least.stale = true;
        }
    }

    /// The pair that loses least, with its loss.
    pub(super) fn least(&mut self) -> Option<(usize, usize, i64)> {
        let mut best = None;
        for row in 0..self.slots {
            if self.least[row].stale {
                self.rescan(row);
            }
            let Least { value, at, .. } = self.least[row];
            if value < best.map_or(NONE, |(_, _, least)| least) {
                best = Some((row, at, value));
            }
        }
        best
    }

    fn rescan(&mut self, row: usize) {
        let values = &self.values[row * self.slots..(row + 1) * self.slots];
        let (mut value, mut at) = (NONE, self.slots);
        for (i, &other) in values.iter().enumerate().skip(row + 1) {
            if other < value {
                (value, at) = (other, i);
            }
        }
        self.least[row] = Least {
            value,
            at,
            stale: false,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_of_equal_pairs_is_the_least() {
        let mut losses = Losses::new(4);
        assert_eq!(losses.least(), None);
        for (a, b) in [(3, 2), (3, 1), (2, 1)] {
            losses.begin(a, b);
        }
        assert_eq!(losses.least(), Some((1, 2, 0)));
        losses.add(2, 1, 5);
        assert_eq!(losses.least(), Some((1, 3, 0)));
        losses.end(1, 3);
        losses.end(3, 2);
        assert_eq!(losses.least(), Some((1, 2, 5)));
    }

    proptest! {
        #[test]
        fn the_least_is_what_a_look_at_all_pairs_finds(
            changes in prop::collection::vec((0..6_usize, 0..6_usize, -5..6_i64, any::<bool>()), 1..200),
        ) {
            let mut losses = Losses::new(6);
            let mut plain = std::collections::BTreeMap::new();
            for (a, b, change, look) in changes {
                if a == b {
                    continue;
                }
                let pair = (a.min(b), a.max(b));
                match plain.get_mut(&pair) {
                    None => {
                        losses.begin(a, b);
                        plain.insert(pair, 0);
                    }
                    Some(_) if change == 5 => {
                        losses.end(a, b);
                        plain.remove(&pair);
                    }
                    Some(value) => {
                        losses.add(a, b, change);
                        *value += change;
                    }
                }
                if look {
                    let expected = plain.iter().map(|(&(a, b), &value)| (value, a, b)).min();
                    prop_assert_eq!(losses.least(), expected.map(|(value, a, b)| (a, b, value)));
                }
            }
        }
    }
}
