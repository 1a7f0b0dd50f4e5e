//! n·log n in fixed-point arithmetic.

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
        Self {
            table: (0..TABLE).map(compute).collect(),
        }
    }

    /// φ(n).
    #[inline]
    pub(super) fn phi(&self, n: u32) -> i64 {
        match self.table.get(n as usize) {
            Some(&value) => value,
            None => compute(n),
        }
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
