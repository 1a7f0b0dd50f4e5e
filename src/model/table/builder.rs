//! Building a table.

use xxhash_rust::xxh3::xxh3_64;

use super::encoding::{MAX_PROBES, Slots, WeightEncoding};
use super::names;
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprinter, key};
use crate::model::format::{AttributeKind, Precision, TableInfo};
use crate::name_list::NameList;

/// Collects attributes and their weights, and encodes them as a table.
///
/// Weights are kept as a sparse table stores them, a few bytes each: models have many.
#[derive(Debug)]
pub struct TableBuilder {
    scores: usize,          // per attribute: K or K²
    sparse: WeightEncoding, // of `rows`
    names: NameList,
    rows: NameList,
    row: Vec<(u32, f64)>, // of the attribute that is added
}

impl TableBuilder {
    /// Creates a builder for a table of attributes of a kind in a model of K `labels`.
    pub fn new(kind: AttributeKind, labels: usize, precision: Precision) -> Self {
        Self {
            scores: kind.weights(labels),
            sparse: WeightEncoding::sparse(kind, labels, precision),
            names: NameList::default(),
            rows: NameList::default(),
            row: Vec::new(),
        }
    }

    /// Adds an attribute with its weights by position (label b, or a·K + b), in ascending order.
    /// Names must be distinct. Weights that are stored as 0 are omitted, and so are attributes that
    /// have no others.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if a weight is too large for the precision.
    pub fn push(
        &mut self,
        name: &[u8],
        weights: impl IntoIterator<Item = (u32, f64)>,
    ) -> Result<()> {
        self.row.clear();
        self.row.extend(weights);
        if self.push_row(name)? {
            self.names.push(name);
        }
        Ok(())
    }

    /// Adds attributes to an empty table like [`push`](Self::push). `weights` appends those of an
    /// attribute, given its index. The table takes over the memory of the names.
    ///
    /// # Errors
    ///
    /// Same as [`push`](Self::push).
    pub fn with_names(
        mut self,
        mut names: NameList,
        mut weights: impl FnMut(usize, &mut Vec<(u32, f64)>),
    ) -> Result<Self> {
        names.try_retain(|i, name| {
            self.row.clear();
            weights(i, &mut self.row);
            self.push_row(name)
        })?;
        self.names = names;
        Ok(self)
    }

    /// Encodes the row of an attribute; returns whether it has weights.
    fn push_row(&mut self, name: &[u8]) -> Result<bool> {
        for (_, weight) in &mut self.row {
            let stored = self.sparse.precision.round(*weight);
            if !stored.is_finite() {
                return Err(Error::parameter(format!(
                    "attribute '{}' has the weight {weight:e}, too large to be stored; \
                     use a stronger penalty or larger attribute values",
                    String::from_utf8_lossy(name)
                )));
            }
            *weight = stored;
        }
        self.row.retain(|&(_, weight)| weight != 0.0);
        if self.row.is_empty() {
            return Ok(false);
        }
        self.rows.push_with(|bytes| self.sparse.push_row(&self.row, bytes));
        Ok(true)
    }

    /// Returns a name that occurs more than once, if there is one.
    pub fn duplicate(&self) -> Option<&[u8]> {
        let name = |i: u32| self.names.get(i as usize);
        // Comparing hashes is much faster than comparing names.
        let hashed = |i: u32| (xxh3_64(name(i)), i);
        let mut order: Vec<(u64, u32)> = (0..self.names.len() as u32).map(hashed).collect();
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| name(a.1).cmp(name(b.1))));
        let is_same = |a: &(u64, u32), b: &(u64, u32)| a.0 == b.0 && name(a.1) == name(b.1);
        let twice = order.windows(2).find(|pair| is_same(&pair[0], &pair[1]))?;
        Some(name(twice[0].1))
    }

    /// Returns the shape of the table.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`]: it has too many weights.
    pub(in crate::model) fn info(&self, seed: u64) -> Result<TableInfo> {
        let info = self.shape(seed);
        if u32::try_from(info.weights).is_err() {
            return Err(Error::parameter(
                "the model has more than 4294967295 weights; use `states` observed, `l1`, `prune` \
                 or `min_count`",
            ));
        }
        Ok(info)
    }

    fn shape(&self, seed: u64) -> TableInfo {
        let n = self.names.len();
        let dense = self.encoding().is_dense();
        let weights = if dense { n * self.scores } else { self.entries() };
        TableInfo {
            attributes: n as u64,
            seed,
            slots: if n == 0 { 0 } else { (n * 5 / 3 + 1) as u64 },
            weights: weights as u64,
            dense,
        }
    }

    /// Returns the number of weights.
    fn entries(&self) -> usize {
        self.rows.bytes.len() / self.sparse.entry_size()
    }

    /// Chooses the dense encoding unless the sparse one is smaller.
    fn encoding(&self) -> WeightEncoding {
        let dense = WeightEncoding::dense(self.sparse.precision);
        let weights = self.names.len() * self.scores;
        if weights * dense.entry_size() <= self.entries() * self.sparse.entry_size() {
            dense
        } else {
            self.sparse
        }
    }

    /// Encodes the slots; `None` if under this seed two attributes collide or a run of occupied
    /// slots is too long.
    pub(in crate::model) fn slots(&self, seed: u64) -> Option<Vec<u8>> {
        let encoding = self.encoding();
        let info = self.shape(seed);
        let fingerprinter = Fingerprinter::from_seed(seed);
        let slots = Slots::new(info.slots, encoding.locations(&info));
        let mut table = vec![[0; 8]; info.slots as usize];
        for i in 0..self.names.len() {
            let location = match encoding.is_dense() {
                true => i as u64,
                false => self.rows.start(i),
            };
            let key = key(fingerprinter.fingerprint(self.names.get(i)));
            let mut at = slots.home(key);
            while table[at] != [0; 8] {
                if slots.matches(u64::from_le_bytes(table[at]), key).is_some() {
                    return None;
                }
                at = slots.next(at);
            }
            table[at] = slots.encode(key, location).to_le_bytes();
        }
        if longest_run(&table) >= MAX_PROBES {
            return None;
        }
        Some(table.into_flattened())
    }

    /// Encodes the table with these slots: returns slots, weights, lengths of names and names.
    pub(in crate::model) fn into_sections(self, slots: Vec<u8>) -> [Vec<u8>; 4] {
        let encoding = self.encoding();
        let weights = match encoding.is_dense() {
            true => self.dense_rows(encoding),
            false => self.rows.bytes,
        };
        let [lengths, names] = names::encode(&self.names);
        [slots, weights, lengths, names]
    }

    /// Encodes the weights as a dense table.
    fn dense_rows(&self, encoding: WeightEncoding) -> Vec<u8> {
        let n = self.rows.len();
        let mut bytes = Vec::with_capacity(n * encoding.row_size(self.scores));
        let zeros = (0..self.scores as u32).map(|position| (position, 0.0));
        let mut row: Vec<(u32, f64)> = zeros.collect();
        for i in 0..n {
            row.iter_mut().for_each(|(_, weight)| *weight = 0.0);
            for entry in self.rows.get(i).chunks_exact(self.sparse.entry_size()) {
                row[self.sparse.read_position(entry).0].1 = self.sparse.read_weight(entry);
            }
            encoding.push_row(&row, &mut bytes);
        }
        bytes
    }
}

/// Returns the length of the longest run of occupied slots, of which the last slot precedes the
/// first.
fn longest_run(table: &[[u8; 8]]) -> usize {
    let (mut longest, mut run) = (0, 0);
    for slot in table.iter().chain(table) {
        run = if *slot == [0; 8] { 0 } else { run + 1 };
        longest = longest.max(run);
    }
    longest.min(table.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_occupied_slots_continue_at_the_first_slot() {
        for (table, expected) in
            [(&[][..], 0), (&[0, 0], 0), (&[1, 1], 2), (&[1, 0, 1, 1], 3), (&[0, 1, 1, 1, 0, 1], 3)]
        {
            let slots: Vec<[u8; 8]> = table.iter().map(|slot: &u64| slot.to_le_bytes()).collect();
            assert_eq!(longest_run(&slots), expected, "{table:?}");
        }
    }
}
