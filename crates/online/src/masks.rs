//! Dropout masks of a sentence: real dropout of attributes.
//!
//! With every update of a sentence, each of its attributes at each token is dropped at rate δ, for
//! all labels at once, and otherwise scaled by 1/(1 − δ). So are the transition into a token, with
//! the rate of edges, and the two boundaries. A mask is a function of seed, epoch, sentence, kind,
//! token and column: SplitMix64 with counters ([`random`]).

use super::columns::{SentenceEntries, value};
use dropchain::random;
use dropchain::score::NoiseRates;

/// The masks of one update of a sentence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Masks {
    key: u64,
    edge_rate: f64, // of transitions and boundaries
}

/// What is masked. Each kind has random numbers of its own.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Attributes with rows of weights, of nodes or edges.
    Rows(usize),
    /// The other attributes, of nodes or edges.
    Singles(usize),
    Transitions,
    Boundary,
}

/// The values of a sentence's entries after dropout.
#[derive(Clone, Debug, Default)]
pub(super) struct MaskedValues {
    rows: Vec<f64>,
    singles: Vec<f64>,
}

impl Masks {
    /// Creates the masks of a sentence in an epoch, given the rate of transitions and boundaries.
    pub fn new(edge_rate: f64, seed: u64, epoch: u64, sentence: usize) -> Self {
        let key = random::nth(random::nth(seed, epoch), sentence as u64);
        Self { key, edge_rate }
    }

    /// Returns the factor of the transition into each token, or 1 for all tokens if none is
    /// dropped.
    pub fn transition(&self, token: usize) -> f64 {
        self.factor(Kind::Transitions, self.edge_rate, [token as u64, 0], 1)
    }

    /// Returns the factors of start and end.
    pub fn boundaries(&self) -> [f64; 2] {
        [0, 1].map(|end| self.factor(Kind::Boundary, self.edge_rate, [end, 0], 1))
    }

    /// Replaces the values of the entries of a block.
    pub fn apply<'a>(
        &self,
        block: usize,
        entries: SentenceEntries<'a>,
        rates: &NoiseRates,
        values: &'a mut MaskedValues,
    ) -> SentenceEntries<'a> {
        values.rows.clear();
        for (row, tokens, old) in entries.iter_rows() {
            for (i, &token) in tokens.iter().enumerate() {
                let x = value(old, i);
                let place = [u64::from(token), u64::from(row.row)];
                let rate = rates.column(row.column as usize);
                let factor = self.factor(Kind::Rows(block), rate, place, row.members);
                values.rows.push(x * factor);
            }
        }
        values.singles.clear();
        for (i, single) in entries.singles.iter().enumerate() {
            let place = [u64::from(single.token), u64::from(single.column)];
            let rate = rates.column(single.column as usize);
            let factor = self.factor(Kind::Singles(block), rate, place, single.members);
            values.singles.push(entries.single_value(i) * factor);
        }
        values.entries(entries)
    }

    /// Returns the factor of an occurrence: k/(m(1 − δ)) if k of its m members survive, which are
    /// dropped independently.
    fn factor(&self, kind: Kind, rate: f64, [token, column]: [u64; 2], members: u32) -> f64 {
        let kind = match kind {
            Kind::Rows(block) => block as u64,
            Kind::Singles(block) => 2 + block as u64,
            Kind::Transitions => 4,
            Kind::Boundary => 5,
        };
        if rate == 0.0 {
            return 1.0;
        }
        let key = random::nth(random::nth(self.key, kind), (token << 32) | column);
        // A uniform number in (0, 1] is above the rate with probability 1 − δ.
        let survivors = (0..u64::from(members)).filter(|&n| random::uniform(key, n) > rate);
        survivors.count() as f64 / (f64::from(members) * (1.0 - rate))
    }
}

impl MaskedValues {
    /// Returns the entries of the sentence that was masked last, with these values.
    pub fn entries<'a>(&'a self, entries: SentenceEntries<'a>) -> SentenceEntries<'a> {
        SentenceEntries { values: Some(&self.rows), single_values: Some(&self.singles), ..entries }
    }
}
