//! What the tests of this package and of those above it share.

mod data;
pub mod internal;
mod oracle;
mod ranks;

use std::sync::Mutex;

use crate::chain::Constraint;
use crate::simd::InstructionSet;

pub use data::{
    FIRST_ORDER, RandomData, copied, one_sentence, space, with_partial_labels, with_weights,
};
pub use oracle::{Chain, Oracle};
pub use ranks::run_ranks;

/// A sequential generator for tests: Knuth's MMIX linear congruential generator. The field is
/// its state, which starts as the seed.
pub struct Lcg(pub u64);

#[allow(clippy::should_implement_trait)] // the sequence has no end
impl Lcg {
    /// Returns the next number, in [−1, 1).
    pub fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// Returns the next integer in 0..`n`.
    pub fn below(&mut self, n: usize) -> usize {
        ((self.next() + 1.0) / 2.0 * n as f64) as usize
    }

    /// Returns the next `n` numbers.
    pub fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.next()).collect()
    }

    /// Returns a number that is mostly moderate, sometimes around ±50, sometimes around ±10,000.
    pub fn extreme(&mut self) -> f64 {
        let magnitude = match (self.next() * 5.0) as i32 {
            -4 | 4 => 1e4,
            -3 | 3 | 2 => 50.0,
            _ => 2.0,
        };
        magnitude * self.next()
    }

    /// Returns an integer from −2 to 2, so that sums are exact and ties frequent.
    pub fn integer(&mut self) -> f64 {
        (self.next() * 3.0).trunc()
    }

    /// Returns whether the next number is below 0.3.
    pub fn flag(&mut self) -> bool {
        self.next() < 0.3
    }

    /// Returns a random constraint on paths.
    pub fn constraint(&mut self, labels: usize) -> Constraint {
        let mut flags = |n: usize| (0..n).map(|_| self.flag()).collect::<Vec<_>>();
        Constraint::new(&flags(labels * labels), &flags(labels), &flags(labels))
    }
}

/// Returns the rows `TEXT → MESSAGE` of a table; a line without an arrow goes on with the message.
/// Lines that begin with `//` are comments.
pub fn rows(table: &str) -> Vec<(&str, String)> {
    let mut rows: Vec<(&str, String)> = Vec::new();
    let lines = table.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with("//")) {
        match line.split_once(" →").or(line.strip_prefix('→').map(|message| ("", message))) {
            Some((text, message)) => rows.push((text, message.trim_start().to_owned())),
            None => {
                let message = &mut rows.last_mut().unwrap().1;
                *message = format!("{message} {line}").trim_start().to_owned();
            }
        }
    }
    rows
}

/// Returns the rows of a table where escapes such as `\n` stand for characters.
pub fn escaped_rows(table: &str) -> Vec<(String, String)> {
    let escapes = [
        [r"\n", "\n"],
        [r"\t", "\t"],
        [r"\r", "\r"],
        [r"\u{7}", "\u{7}"],
        [r"\u{a0}", "\u{a0}"],
        [r"\u{feff}", "\u{feff}"],
    ];
    let unescaped = |text: &str| {
        escapes.iter().fold(text.to_owned(), |text, [escape, it]| text.replace(escape, it))
    };
    rows(table).iter().map(|(text, message)| (unescaped(text), unescaped(message))).collect()
}

/// Asserts that kernels that `run` calls give the same bits with every instruction set of the
/// processor.
pub fn assert_same_bits(run: impl Fn() -> Vec<f64>) {
    static SELECTION: Mutex<()> = Mutex::new(());
    let _selection = SELECTION.lock().unwrap();
    let bits = InstructionSet::ALL.map(|set| {
        set.select();
        run().into_iter().map(f64::to_bits).collect::<Vec<_>>()
    });
    InstructionSet::of_processor().select();
    assert!(!bits[0].is_empty());
    for (set, other) in InstructionSet::ALL.iter().zip(&bits).skip(1) {
        assert_eq!(&bits[0], other, "{set:?}");
    }
}
