//! The window of candidate clusters, and its merge losses.
//!
//! Let N(a,x) be the number of bigrams with the left word in cluster a and the right word in
//! cluster x, L(a) and R(a) the sums of the row and the column of a, N their total, and
//! φ(n) = n·log n. Then
//!
//! ```text
//! N·I = Σ_{a,x} φ(N(a,x)) − Σ_a φ(L(a)) − Σ_a φ(R(a)) + φ(N).
//! ```
//!
//! Merging a and b adds up their rows and their columns. With ψ(m,n) = φ(m) + φ(n) − φ(m+n), the
//! merge loss is
//!
//! ```text
//! loss(a,b) = Σ_{x ≠ a,b} [ ψ(N(a,x), N(b,x)) + ψ(N(x,a), N(x,b)) ]            rows and columns
//!           + φ(N(a,a)) + φ(N(a,b)) + φ(N(b,a)) + φ(N(b,b)) − φ(their sum)     corner
//!           − ψ(L(a), L(b)) − ψ(R(a), R(b))                                    margins
//! ```
//!
//! ψ is 0 if one of its arguments is. So when bigrams are added to a cluster (the *delta*: those of
//! a new word, or of the other cluster in a merge), the only losses that change are those of pairs
//! with a cluster in the delta (through rows, columns and margins), and of pairs with the cluster
//! itself. That takes O(d·C) for a delta of d clusters.

use super::merge_losses::{ABSENT, MergeLosses};

/// Clusters in slots. Direction 0 is "followed by", 1 is "preceded by".
#[derive(Clone, Debug)]
pub(super) struct ClusterWindow {
    slots: usize,
    live: Vec<bool>,          // [slots]
    counts: [Vec<u32>; 2],    // [direction][slots][slots]: N(a,x) and N(x,a)
    margins: [Vec<u32>; 2],   // [direction][slots]: L and R
    delta: [Vec<u32>; 2],     // [direction][slots]: counts to be added; zero between updates
    support: [Vec<usize>; 2], // [direction] nonzero slots of the delta
    losses: MergeLosses,
    entropy: EntropyTable,
}

impl ClusterWindow {
    /// A window of empty slots.
    pub(super) fn new(slots: usize) -> Self {
        let zeros = |length| [vec![0; length], vec![0; length]];
        Self {
            slots,
            live: vec![false; slots],
            counts: zeros(slots * slots),
            margins: zeros(slots),
            delta: zeros(slots),
            support: [Vec::new(), Vec::new()],
            losses: MergeLosses::new(slots),
            entropy: EntropyTable::new(),
        }
    }

    /// Puts a cluster without bigrams into an empty slot. Its merge losses are 0.
    pub(super) fn open(&mut self, slot: usize) {
        for other in 0..self.slots {
            if self.live[other] {
                self.losses.set(slot, other, 0);
            }
        }
        self.live[slot] = true;
    }

    /// Adds bigrams with the cluster in slot `other` to the delta.
    pub(super) fn add_to_delta(&mut self, direction: usize, other: usize, count: u32) {
        let sum = &mut self.delta[direction][other];
        if *sum == 0 && count > 0 {
            self.support[direction].push(other);
        }
        *sum += count;
    }

    /// Adds the delta to the cluster in slot `k`, and `self_count` bigrams within the cluster.
    pub(super) fn apply_delta(&mut self, k: usize, self_count: u32) {
        for direction in 0..2 {
            self.update_pairs_in_delta(k, direction);
            self.update_pairs_with(k, direction);
        }
        self.update_corners(k, self_count);
        let before = self.margins.clone();
        for direction in 0..2 {
            for i in 0..self.support[direction].len() {
                let x = self.support[direction][i];
                let count = std::mem::take(&mut self.delta[direction][x]);
                self.counts[direction][k * self.slots + x] += count;
                self.counts[1 - direction][x * self.slots + k] += count;
                self.margins[direction][k] += count;
                self.margins[1 - direction][x] += count;
            }
            self.support[direction].clear();
            self.counts[direction][k * self.slots + k] += self_count;
            self.margins[direction][k] += self_count;
        }
        self.update_margins(&before);
    }

    /// Removes the cluster in slot `k` and moves its bigrams into the delta; returns the number of
    /// bigrams within the cluster.
    fn remove(&mut self, k: usize) -> u32 {
        self.live[k] = false;
        let self_count = self.counts[0][k * self.slots + k];
        for other in 0..self.slots {
            if self.live[other] {
                self.losses.set(k, other, ABSENT);
            }
        }
        let before = self.margins.clone();
        for direction in 0..2 {
            for x in 0..self.slots {
                let count = std::mem::take(&mut self.counts[direction][k * self.slots + x]);
                self.margins[direction][k] -= count;
                if count == 0 || x == k {
                    continue;
                }
                self.add_to_delta(direction, x, count);
                self.counts[1 - direction][x * self.slots + k] = 0;
                self.margins[1 - direction][x] -= count;
            }
            let (delta, support) = (&self.delta[direction], &self.support[direction]);
            for (i, &a) in support.iter().enumerate() {
                for &b in &support[i + 1..] {
                    let removed = self.entropy.psi(delta[a], delta[b]);
                    self.losses.add(a, b, -removed);
                }
            }
        }
        self.update_margins(&before);
        self_count
    }

    /// Merges the pair with the smallest loss; returns the slot of the merged cluster and the slot
    /// that has become free.
    ///
    /// The cluster with fewer adjacent clusters is moved, since the cost is proportional to them.
    pub(super) fn merge(&mut self) -> (usize, usize) {
        let (a, b, _) = self.losses.minimum().unwrap_or_default();
        let (kept, dropped) = if self.degree(a) >= self.degree(b) { (a, b) } else { (b, a) };
        let mut self_count = self.remove(dropped);
        for direction in 0..2 {
            self_count += std::mem::take(&mut self.delta[direction][kept]);
            self.support[direction].retain(|&x| x != kept);
        }
        self.apply_delta(kept, self_count);
        (kept, dropped)
    }

    /// Number of nonzero counts in the row and column of `k`.
    fn degree(&self, k: usize) -> usize {
        let row = k * self.slots..(k + 1) * self.slots;
        let nonzero = |counts: &Vec<u32>| counts[row.clone()].iter().filter(|&&n| n > 0).count();
        self.counts.iter().map(nonzero).sum()
    }

    /// Updates pairs of other clusters, one of them in the delta: their terms for x = k.
    fn update_pairs_in_delta(&mut self, k: usize, direction: usize) {
        let row = &self.counts[direction][k * self.slots..(k + 1) * self.slots];
        let (delta, psi) = (&self.delta[direction], |m, n| self.entropy.psi(m, n));
        for &a in &self.support[direction] {
            for b in 0..self.slots {
                // If both are in the delta, the pair is updated when its higher slot is `a`.
                let repeated = delta[b] > 0 && b >= a;
                if b == k || repeated || row[b] + delta[b] == 0 {
                    continue;
                }
                let change = psi(row[a] + delta[a], row[b] + delta[b]) - psi(row[a], row[b]);
                self.losses.add(a, b, change);
            }
        }
    }

    /// Updates pairs of `k` and another cluster: their terms for x in the delta.
    fn update_pairs_with(&mut self, k: usize, direction: usize) {
        for &x in &self.support[direction] {
            let old = self.counts[direction][k * self.slots + x];
            let new = old + self.delta[direction][x];
            let column = &self.counts[1 - direction][x * self.slots..(x + 1) * self.slots];
            for (a, &count) in column.iter().enumerate() {
                if count > 0 && a != k && a != x {
                    let change = self.entropy.psi(new, count) - self.entropy.psi(old, count);
                    self.losses.add(k, a, change);
                }
            }
        }
    }

    /// Updates the corners of pairs of `k` and another cluster.
    fn update_corners(&mut self, k: usize, self_count: u32) {
        for a in 0..self.slots {
            let extra = [self.delta[0][a], self.delta[1][a]];
            if !self.live[a] || a == k || (self_count == 0 && extra == [0, 0]) {
                continue;
            }
            let cell = |i: usize, j: usize| self.counts[0][i * self.slots + j];
            let old = [cell(k, k), cell(k, a), cell(a, k), cell(a, a)];
            let new = [old[0] + self_count, old[1] + extra[0], old[2] + extra[1], old[3]];
            let change = self.corner(new) - self.corner(old);
            self.losses.add(k, a, change);
        }
    }

    /// The loss of merging four cells into one.
    fn corner(&self, cells: [u32; 4]) -> i64 {
        let separate: i64 = cells.iter().map(|&n| self.entropy.phi(n)).sum();
        separate - self.entropy.phi(cells.iter().sum())
    }

    /// Updates the margin terms of pairs with a margin that is not as before.
    fn update_margins(&mut self, before: &[Vec<u32>; 2]) {
        let is_changed =
            |a: usize| self.live[a] && (0..2).any(|i| self.margins[i][a] != before[i][a]);
        let changed: Vec<bool> = (0..self.slots).map(is_changed).collect();
        for a in (0..self.slots).filter(|&a| changed[a]) {
            for (b, is_changed) in changed.iter().enumerate() {
                let is_repeated = *is_changed && b >= a;
                if is_repeated || b == a || !self.live[b] {
                    continue;
                }
                let change =
                    self.margin_terms(before, a, b) - self.margin_terms(&self.margins, a, b);
                self.losses.add(a, b, change);
            }
        }
    }

    /// The margin terms of a pair, negated.
    fn margin_terms(&self, margins: &[Vec<u32>; 2], a: usize, b: usize) -> i64 {
        margins.iter().map(|m| self.entropy.psi(m[a], m[b])).sum()
    }

    /// Average mutual information I in bits.
    pub(super) fn mutual_information(&self) -> f64 {
        let sum = |counts: &[u32]| -> i64 { counts.iter().map(|&n| self.entropy.phi(n)).sum() };
        let total: u32 = self.margins[0].iter().sum();
        let sum_of_terms = sum(&self.counts[0]) - sum(&self.margins[0]) - sum(&self.margins[1])
            + self.entropy.phi(total);
        sum_of_terms as f64 / UNIT / f64::from(total.max(1)) / std::f64::consts::LN_2
    }
}

/// Number of tabulated values; bigrams of clusters are rarely more frequent.
const TABLE: u32 = 1 << 16;

/// Units per nat.
pub(super) const UNIT: f64 = 1.048_576e6;

/// φ(n) = n·ln n, rounded to units of 2⁻²⁰ nats.
///
/// With counts below 2³², a sum of φ over all cells of a count matrix stays below φ(2³²) < 2⁵⁷ and
/// is exact: it does not depend on the order, and subtracting what was added leaves no error.
#[derive(Clone, Debug)]
pub(super) struct EntropyTable {
    table: Vec<i64>,
}

impl EntropyTable {
    pub(super) fn new() -> Self {
        Self { table: (0..TABLE).map(compute).collect() }
    }

    /// φ(n).
    #[inline]
    pub(super) fn phi(&self, n: u32) -> i64 {
        self.table.get(n as usize).copied().unwrap_or_else(|| compute(n))
    }

    /// ψ(m, n) = φ(m) + φ(n) − φ(m + n) ≤ 0; it is 0 if m or n is.
    #[inline]
    pub(super) fn psi(&self, m: u32, n: u32) -> i64 {
        if m == 0 || n == 0 {
            return 0;
        }
        self.phi(m) + self.phi(n) - self.phi(m + n)
    }
}

fn compute(n: u32) -> i64 {
    let n = f64::from(n.max(1));
    (n * n.ln() * UNIT).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A window with a plain matrix of bigram counts, [slots][slots], as a reference.
    struct CheckedWindow {
        window: ClusterWindow,
        table: Vec<Vec<u32>>,
    }

    impl CheckedWindow {
        fn new(slots: usize) -> Self {
            Self { window: ClusterWindow::new(slots), table: vec![vec![0; slots]; slots] }
        }

        /// Puts a cluster into `slot`. Neighbors, including itself, are
        /// `(other, followed by, preceded by)`.
        fn add(&mut self, slot: usize, neighbors: &[(usize, u32, u32)]) {
            self.window.open(slot);
            let mut self_count = 0;
            for &(other, after, before) in neighbors {
                if other == slot {
                    self_count += after;
                    self.table[slot][slot] += after;
                } else if self.window.live[other] {
                    self.window.add_to_delta(0, other, after);
                    self.window.add_to_delta(1, other, before);
                    self.table[slot][other] += after;
                    self.table[other][slot] += before;
                }
            }
            self.window.apply_delta(slot, self_count);
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

        /// The matrix after merging `b` into `a`.
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

        /// Checks every loss against the definition.
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

    /// Rounding error of I, since φ is rounded to units.
    const ROUNDING: f64 = 1e-5;

    #[test]
    fn two_alternating_words_have_one_bit_of_mutual_information() {
        let mut checked = CheckedWindow::new(2);
        checked.add(0, &[]);
        checked.add(1, &[(0, 1, 1)]);
        assert!((checked.window.mutual_information() - 1.0).abs() < ROUNDING);
        // The merge loses N·I = 2 bits = 2·log 2 nats = φ(2).
        assert_eq!(checked.window.losses.get(0, 1), checked.window.entropy.phi(2));
        checked.merge();
        assert_eq!(checked.window.mutual_information(), 0.0);
    }

    #[test]
    fn words_with_the_same_neighbors_merge_first_without_loss() {
        let mut checked = CheckedWindow::new(5);
        checked.add(0, &[]);
        checked.add(1, &[]);
        checked.add(2, &[(0, 2, 2)]);
        checked.add(3, &[(1, 3, 3)]);
        checked.add(4, &[(0, 4, 4)]);
        let before = checked.window.mutual_information();
        let (kept, dropped) = checked.window.merge();
        assert_eq!((kept.min(dropped), kept.max(dropped)), (2, 4));
        assert!((checked.window.mutual_information() - before).abs() < ROUNDING);
    }

    proptest! {
        #[test]
        fn losses_follow_the_definition_after_any_additions_and_merges(
            words in prop::collection::vec(
                prop::collection::vec((0..5_usize, 0..3_u32, 0..4_u32), 0..6), 1..12),
        ) {
            let mut checked = CheckedWindow::new(5);
            for neighbors in &words {
                let slot = checked.window.live.iter().position(|live| !live).unwrap();
                checked.add(slot, neighbors);
                checked.check();
                if checked.window.live.iter().all(|&live| live) {
                    let before = checked.window.mutual_information();
                    checked.merge();
                    checked.check();
                    prop_assert!(checked.window.mutual_information() <= before + ROUNDING);
                }
            }
        }
    }

    #[test]
    fn the_table_and_the_function_agree() {
        let entropy = EntropyTable::new();
        assert_eq!(entropy.phi(0), 0);
        assert_eq!(entropy.phi(1), 0);
        assert_eq!(entropy.phi(2), (2.0 * 2.0_f64.ln() * UNIT).round() as i64);
        for n in [TABLE - 1, TABLE, u32::MAX] {
            assert_eq!(entropy.phi(n), compute(n));
        }
        assert!(entropy.phi(u32::MAX) < 1 << 57);
    }

    #[test]
    fn psi_is_the_loss_of_merging_two_cells() {
        let entropy = EntropyTable::new();
        assert_eq!(entropy.psi(0, 7), 0);
        assert_eq!(entropy.psi(1, 1), -entropy.phi(2));
    }
}
