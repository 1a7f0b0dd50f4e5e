//! The classes that are there at the moment, and what merging two of them would lose.
//!
//! With N(a,x) the number of neighbors whose left word is of class a and right word of class x, L(a) and
//! R(a) the sums of the row and of the column of a, N their total and φ(n) = n·log n,
//!
//! ```text
//! N·I = Σ_{a,x} φ(N(a,x)) − Σ_a φ(L(a)) − Σ_a φ(R(a)) + φ(N).
//! ```
//!
//! Merging a and b adds up their rows and their columns, so with ψ(m,n) = φ(m) + φ(n) − φ(m+n) it loses
//!
//! ```text
//! loss(a,b) = Σ_{x ≠ a,b} [ ψ(N(a,x), N(b,x)) + ψ(N(x,a), N(x,b)) ]            rows and columns
//!           + φ(N(a,a)) + φ(N(a,b)) + φ(N(b,a)) + φ(N(b,b)) − φ(their sum)     corner
//!           − ψ(L(a), L(b)) − ψ(R(a), R(b))                                    margins
//! ```
//!
//! ψ is 0 where one of its arguments is. So when a class gets more neighbors (the *bundle*: a new
//! word's into an empty class, or those of another class in a merger), only these losses change:
//! of pairs of which one is in the bundle (through rows, columns and margins), and of pairs with the
//! class itself. That makes O(d·C) for d classes in the bundle.

use super::entropy::{Entropy, UNIT};
use super::losses::Losses;

/// Classes in slots. Directions: 0 is "followed by", 1 "preceded by".
#[derive(Clone, Debug)]
pub(super) struct Window {
    slots: usize,
    live: Vec<bool>,          // [slots]
    counts: [Vec<u32>; 2],    // [direction][slots][slots]: N(a,x) and N(x,a)
    margins: [Vec<u32>; 2],   // [direction][slots]: L and R
    bundle: [Vec<u32>; 2],    // [direction][slots]: neighbors to be added; zero otherwise
    support: [Vec<usize>; 2], // [direction] where the bundle is not zero
    before: [Vec<u32>; 2],    // margins before a change
    touched: Vec<bool>,       // [slots] margins that a change concerns; false otherwise
    losses: Losses,
    entropy: Entropy,
}

impl Window {
    /// So many slots, all empty.
    pub(super) fn new(slots: usize) -> Self {
        let rows = || [vec![0; slots], vec![0; slots]];
        Self {
            slots,
            live: vec![false; slots],
            counts: [vec![0; slots * slots], vec![0; slots * slots]],
            margins: rows(),
            bundle: rows(),
            support: [Vec::new(), Vec::new()],
            before: rows(),
            touched: vec![false; slots],
            losses: Losses::new(slots),
            entropy: Entropy::new(),
        }
    }

    /// Puts an empty class into an empty slot. Merging it with any other would lose nothing.
    pub(super) fn open(&mut self, slot: usize) {
        for other in 0..self.slots {
            if self.live[other] {
                self.losses.begin(slot, other);
            }
        }
        self.live[slot] = true;
    }

    /// Adds neighbors in the class `other` to the bundle.
    pub(super) fn collect(&mut self, direction: usize, other: usize, count: u32) {
        let sum = &mut self.bundle[direction][other];
        if *sum == 0 && count > 0 {
            self.support[direction].push(other);
        }
        *sum += count;
    }

    /// Gives the class in slot `k` the bundle, and `own` neighbors within the class.
    pub(super) fn augment(&mut self, k: usize, own: u32) {
        for direction in 0..2 {
            self.change_of_others(k, direction);
            self.change_of_own(k, direction);
        }
        self.change_of_corners(k, own);
        self.remember_margins();
        self.touched[k] = true;
        for direction in 0..2 {
            for i in 0..self.support[direction].len() {
                let x = self.support[direction][i];
                let count = std::mem::take(&mut self.bundle[direction][x]);
                self.counts[direction][k * self.slots + x] += count;
                self.counts[1 - direction][x * self.slots + k] += count;
                self.margins[direction][k] += count;
                self.margins[1 - direction][x] += count;
                self.touched[x] = true;
            }
            self.support[direction].clear();
            self.counts[direction][k * self.slots + k] += own;
            self.margins[direction][k] += own;
        }
        self.change_of_margins();
    }

    /// Takes the class out of slot `k` and its neighbors into the bundle; returns how many it has
    /// within itself.
    fn take(&mut self, k: usize) -> u32 {
        self.live[k] = false;
        let own = self.counts[0][k * self.slots + k];
        for other in 0..self.slots {
            if self.live[other] {
                self.losses.end(k, other);
            }
        }
        self.remember_margins();
        for direction in 0..2 {
            for x in 0..self.slots {
                let count = std::mem::take(&mut self.counts[direction][k * self.slots + x]);
                self.margins[direction][k] -= count;
                if count == 0 || x == k {
                    continue;
                }
                self.collect(direction, x, count);
                self.counts[1 - direction][x * self.slots + k] = 0;
                self.margins[1 - direction][x] -= count;
                self.touched[x] = true;
            }
            let (bundle, support) = (&self.bundle[direction], &self.support[direction]);
            for (i, &a) in support.iter().enumerate() {
                for &b in &support[i + 1..] {
                    let gone = self.entropy.psi(bundle[a], bundle[b]);
                    self.losses.add(a, b, -gone);
                }
            }
        }
        self.change_of_margins();
        own
    }

    /// Merges the two classes that lose least; returns the slot that has both now, and the other.
    ///
    /// The class with fewer neighboring classes moves, since the work grows with their number.
    pub(super) fn merge(&mut self) -> (usize, usize) {
        let (a, b, _) = self.losses.least().unwrap_or_default();
        let (kept, dropped) = match self.degree(a) >= self.degree(b) {
            true => (a, b),
            false => (b, a),
        };
        let mut own = self.take(dropped);
        for direction in 0..2 {
            own += std::mem::take(&mut self.bundle[direction][kept]);
            self.support[direction].retain(|&x| x != kept);
        }
        self.augment(kept, own);
        (kept, dropped)
    }

    fn degree(&self, k: usize) -> usize {
        let row = k * self.slots..(k + 1) * self.slots;
        let nonzero = |counts: &Vec<u32>| counts[row.clone()].iter().filter(|&&n| n > 0).count();
        self.counts.iter().map(nonzero).sum()
    }

    /// Pairs of other classes: what they have in common in `k`.
    fn change_of_others(&mut self, k: usize, direction: usize) {
        let row = &self.counts[direction][k * self.slots..(k + 1) * self.slots];
        let (bundle, psi) = (&self.bundle[direction], |m, n| self.entropy.psi(m, n));
        for &a in &self.support[direction] {
            for b in 0..self.slots {
                // A pair with both in the bundle comes once, when its higher slot is `a`.
                let again = bundle[b] > 0 && b >= a;
                if b == k || again || row[b] + bundle[b] == 0 {
                    continue;
                }
                let change = psi(row[a] + bundle[a], row[b] + bundle[b]) - psi(row[a], row[b]);
                self.losses.add(a, b, change);
            }
        }
    }

    /// Pairs of `k` and another class: what they have in common in the classes of the bundle.
    fn change_of_own(&mut self, k: usize, direction: usize) {
        for &x in &self.support[direction] {
            let old = self.counts[direction][k * self.slots + x];
            let new = old + self.bundle[direction][x];
            let column = &self.counts[1 - direction][x * self.slots..(x + 1) * self.slots];
            for (a, &count) in column.iter().enumerate() {
                if count > 0 && a != k && a != x {
                    let change = self.entropy.psi(new, count) - self.entropy.psi(old, count);
                    self.losses.add(k, a, change);
                }
            }
        }
    }

    /// Pairs of `k` and another class: the four cells that become one.
    fn change_of_corners(&mut self, k: usize, own: u32) {
        for a in 0..self.slots {
            let extra = [self.bundle[0][a], self.bundle[1][a]];
            if !self.live[a] || a == k || (own == 0 && extra == [0, 0]) {
                continue;
            }
            let cell = |i: usize, j: usize| self.counts[0][i * self.slots + j];
            let old = [cell(k, k), cell(k, a), cell(a, k), cell(a, a)];
            let new = [old[0] + own, old[1] + extra[0], old[2] + extra[1], old[3]];
            let change = self.corner(new) - self.corner(old);
            self.losses.add(k, a, change);
        }
    }

    fn corner(&self, cells: [u32; 4]) -> i64 {
        let apart: i64 = cells.iter().map(|&n| self.entropy.phi(n)).sum();
        apart - self.entropy.phi(cells.iter().sum())
    }

    fn remember_margins(&mut self) {
        for (before, margins) in self.before.iter_mut().zip(&self.margins) {
            before.clone_from(margins);
        }
    }

    /// Pairs of which one is touched: their margins.
    fn change_of_margins(&mut self) {
        for a in 0..self.slots {
            if !self.touched[a] {
                continue;
            }
            for b in 0..self.slots {
                let again = self.touched[b] && b >= a;
                if again || b == a || !self.live[a] || !self.live[b] {
                    continue;
                }
                let change = self.margin(&self.before, a, b) - self.margin(&self.margins, a, b);
                self.losses.add(a, b, change);
            }
        }
        self.touched.fill(false);
    }

    fn margin(&self, margins: &[Vec<u32>; 2], a: usize, b: usize) -> i64 {
        margins.iter().map(|m| self.entropy.psi(m[a], m[b])).sum()
    }

    /// I in bits.
    pub(super) fn information(&self) -> f64 {
        let sum = |counts: &[u32]| -> i64 { counts.iter().map(|&n| self.entropy.phi(n)).sum() };
        let total: u32 = self.margins[0].iter().sum();
        let all = sum(&self.counts[0]) - sum(&self.margins[0]) - sum(&self.margins[1])
            + self.entropy.phi(total);
        all as f64 / UNIT / f64::from(total.max(1)) / std::f64::consts::LN_2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A window beside a plain table of class bigrams, [slots][slots].
    struct Both {
        window: Window,
        table: Vec<Vec<u32>>,
    }

    impl Both {
        fn new(slots: usize) -> Self {
            Self {
                window: Window::new(slots),
                table: vec![vec![0; slots]; slots],
            }
        }

        /// Puts a class into `slot`: `(other, followed by, preceded by)`, itself included.
        fn add(&mut self, slot: usize, neighbors: &[(usize, u32, u32)]) {
            self.window.open(slot);
            let mut own = 0;
            for &(other, after, before) in neighbors {
                if other == slot {
                    own += after;
                    self.table[slot][slot] += after;
                } else if self.window.live[other] {
                    self.window.collect(0, other, after);
                    self.window.collect(1, other, before);
                    self.table[slot][other] += after;
                    self.table[other][slot] += before;
                }
            }
            self.window.augment(slot, own);
        }

        /// N·I in units, without φ(N).
        fn information(&self, table: &[Vec<u32>]) -> i64 {
            let phi = |n: u32| self.window.entropy.phi(n);
            let row = |a: usize| table[a].iter().sum();
            let column = |a: usize| table.iter().map(|row| row[a]).sum();
            let cells: i64 = table.iter().flatten().map(|&n| phi(n)).sum();
            let margins = (0..table.len()).map(|a| phi(row(a)) + phi(column(a)));
            cells - margins.sum::<i64>()
        }

        /// The table after a merger of `b` into `a`.
        fn merged(&self, a: usize, b: usize) -> Vec<Vec<u32>> {
            let mut table = self.table.clone();
            let empty = vec![0; table.len()];
            let row = std::mem::replace(&mut table[b], empty);
            for (sum, count) in table[a].iter_mut().zip(row) {
                *sum += count;
            }
            for row in &mut table {
                row[a] += std::mem::take(&mut row[b]);
            }
            table
        }

        /// Every loss must be what the definition says.
        fn check(&self) {
            let live = |a: &usize| self.window.live[*a];
            for a in (0..self.table.len()).filter(live) {
                for b in (0..a).filter(live) {
                    let left = self.information(&self.merged(a, b));
                    let expected = self.information(&self.table) - left;
                    assert_eq!(self.window.losses.get(a, b), expected, "{a} {b}");
                }
            }
        }

        fn merge(&mut self) {
            let (kept, dropped) = self.window.merge();
            self.table = self.merged(kept, dropped);
        }
    }

    /// How far I may be off because φ is rounded to units.
    const ROUNDING: f64 = 1e-5;

    #[test]
    fn two_words_in_turn_tell_one_bit_of_each_other() {
        let mut both = Both::new(2);
        both.add(0, &[]);
        both.add(1, &[(0, 1, 1)]);
        assert!((both.window.information() - 1.0).abs() < ROUNDING);
        // The merger loses N·I = 2 bits = 2·log 2 nats = φ(2).
        assert_eq!(both.window.losses.get(0, 1), both.window.entropy.phi(2));
        both.merge();
        assert_eq!(both.window.information(), 0.0);
    }

    #[test]
    fn words_with_the_same_neighbors_merge_first_and_lose_nothing() {
        let mut both = Both::new(5);
        both.add(0, &[]);
        both.add(1, &[]);
        both.add(2, &[(0, 2, 2)]);
        both.add(3, &[(1, 3, 3)]);
        both.add(4, &[(0, 4, 4)]);
        let before = both.window.information();
        let (kept, dropped) = both.window.merge();
        assert_eq!((kept.min(dropped), kept.max(dropped)), (2, 4));
        assert!((both.window.information() - before).abs() < ROUNDING);
    }

    proptest! {
        #[test]
        fn every_loss_is_that_of_the_definition_whatever_was_added_and_merged(
            words in prop::collection::vec(
                prop::collection::vec((0..5_usize, 0..3_u32, 0..4_u32), 0..6), 1..12),
        ) {
            let mut both = Both::new(5);
            for neighbors in &words {
                let slot = both.window.live.iter().position(|live| !live).unwrap();
                both.add(slot, neighbors);
                both.check();
                if both.window.live.iter().all(|&live| live) {
                    let before = both.window.information();
                    both.merge();
                    both.check();
                    prop_assert!(both.window.information() <= before + ROUNDING);
                }
            }
        }
    }
}
