//! Building a table.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::encoding::{PositionWidth, WeightEncoding};
use super::names;
use super::slots::{MAX_PROBES, Slots};
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprinter, key};
use crate::model::format::{Precision, TableInfo, Version};

/// The four sections of a table, encoded.
#[derive(Debug, Default)]
pub(in crate::model) struct TableSections {
    pub slots: Vec<u8>,
    pub weights: Vec<u8>,
    pub ends: Vec<u8>,
    pub names: Vec<u8>,
}

/// Collects attributes and their weights, and encodes them as a table.
#[derive(Debug)]
pub(crate) struct TableBuilder {
    scores: usize, // per attribute: K or K²
    position: PositionWidth,
    precision: Precision,
    names: Vec<u8>,
    name_ends: Vec<u64>,
    row_ends: Vec<u64>,       // in `entries`
    entries: Vec<(u32, f64)>, // position and weight, rounded
}

impl TableBuilder {
    /// Creates a builder for a table of node attributes, with `labels` scores each.
    #[must_use]
    pub fn nodes(labels: usize, precision: Precision) -> Self {
        Self::new(labels, true, precision)
    }

    /// Creates a builder for a table of edge attributes, with `labels`² scores each.
    #[must_use]
    pub fn edges(labels: usize, precision: Precision) -> Self {
        Self::new(labels * labels, false, precision)
    }

    fn new(scores: usize, are_nodes: bool, precision: Precision) -> Self {
        Self {
            scores,
            position: PositionWidth::new(Version::CURRENT, are_nodes, scores),
            precision,
            names: Vec::new(),
            name_ends: Vec::new(),
            row_ends: Vec::new(),
            entries: Vec::new(),
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
        let before = self.entries.len();
        self.entries.extend(weights);
        let scale = self.scale(&self.entries[before..]);
        let mut kept = before;
        for i in before..self.entries.len() {
            let (position, weight) = self.entries[i];
            let stored = self.precision.round(weight, scale);
            if !stored.is_finite() {
                return Err(Error::parameter(format!(
                    "attribute '{}' has the weight {weight:e}, too large to be stored; \
                     use a stronger penalty or larger attribute values",
                    String::from_utf8_lossy(name)
                )));
            }
            if stored != 0.0 {
                self.entries[kept] = (position, stored);
                kept += 1;
            }
        }
        self.entries.truncate(kept);
        if self.entries.len() > before {
            self.names.extend_from_slice(name);
            self.name_ends.push(self.names.len() as u64);
            self.row_ends.push(self.entries.len() as u64);
        }
        Ok(())
    }

    /// Returns the scale of a row.
    fn scale(&self, row: &[(u32, f64)]) -> f64 {
        self.precision.scale(row.iter().map(|&(_, weight)| weight))
    }

    /// Returns a name that occurs more than once, if there is one.
    pub fn duplicate(&self) -> Option<&[u8]> {
        let name = |i: u32| &self.names[range(&self.name_ends, i as usize)];
        // Comparing hashes is much faster than comparing names.
        let hashed = |i: u32| (xxh3_64(name(i)), i);
        let mut order: Vec<(u64, u32)> = (0..self.name_ends.len() as u32).map(hashed).collect();
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| name(a.1).cmp(name(b.1))));
        let is_same = |a: &(u64, u32), b: &(u64, u32)| a.0 == b.0 && name(a.1) == name(b.1);
        let twice = order.windows(2).find(|pair| is_same(&pair[0], &pair[1]))?;
        Some(name(twice[0].1))
    }

    /// Encodes the table with the first seed, from `seed` on, under which no two attributes
    /// collide and no run of occupied slots is too long.
    pub(in crate::model) fn finish(&self, seed: u64) -> Result<(TableInfo, TableSections)> {
        let n = self.name_ends.len();
        let encoding = self.encoding();
        let weights = if encoding.dense {
            n * self.scores
        } else {
            self.entries.len()
        };
        if u32::try_from(weights).is_err() {
            return Err(Error::parameter(
                "the model has more than 4294967295 weights; use --states observed, --l1, --prune \
                 or --min-count",
            ));
        }
        let mut info = TableInfo {
            attributes: n as u64,
            seed,
            slots: if n == 0 { 0 } else { (n * 5 / 3 + 1) as u64 },
            weights: weights as u64,
            dense: encoding.dense,
        };
        let (bytes, locations) = self.encode_weights(encoding);
        let slots = loop {
            if let Some(slots) = self.encode_slots(&info, encoding, &locations) {
                break slots;
            }
            info.seed += 1;
        };
        let [ends, names] = names::encode(&self.names, &self.name_ends);
        let sections = TableSections {
            slots,
            weights: bytes,
            ends,
            names,
        };
        Ok((info, sections))
    }

    /// Chooses the dense encoding unless the sparse one is smaller.
    fn encoding(&self) -> WeightEncoding {
        let encoding = |dense: bool| {
            WeightEncoding::new(Version::CURRENT, dense, self.position, self.precision)
        };
        let [dense, sparse] = [true, false].map(encoding);
        let weights = self.name_ends.len() * self.scores;
        if weights * dense.entry_size() <= self.entries.len() * sparse.entry_size() {
            dense
        } else {
            sparse
        }
    }

    /// Encodes the weights. Returns them with the location of each attribute.
    fn encode_weights(&self, encoding: WeightEncoding) -> (Vec<u8>, Vec<u64>) {
        let n = self.name_ends.len();
        let mut bytes = Vec::new();
        let mut locations = Vec::with_capacity(n);
        let width = if encoding.dense { self.scores } else { 0 };
        let mut row: Vec<(u32, f64)> = (0..width as u32).map(|position| (position, 0.0)).collect();
        for i in 0..n {
            let entries = &self.entries[range(&self.row_ends, i)];
            let scale = self.scale(entries);
            if encoding.dense {
                locations.push(i as u64);
                row.iter_mut().for_each(|(_, weight)| *weight = 0.0);
                for &(position, weight) in entries {
                    row[position as usize].1 = weight;
                }
                encoding.push_row(&row, scale, &mut bytes);
            } else {
                locations.push(encoding.sparse_location(bytes.len()));
                encoding.push_row(entries, scale, &mut bytes);
            }
        }
        (bytes, locations)
    }

    /// Encodes the slots; `None` if two attributes collide or a run of occupied slots is too long.
    fn encode_slots(
        &self,
        info: &TableInfo,
        encoding: WeightEncoding,
        locations: &[u64],
    ) -> Option<Vec<u8>> {
        let fingerprinter = Fingerprinter::from_seed(info.seed);
        let slots = Slots::new(Version::CURRENT, info.slots, encoding.locations(info));
        let mut table = vec![0; info.slots as usize];
        for (i, &location) in locations.iter().enumerate() {
            let name = &self.names[range(&self.name_ends, i)];
            let key = key(fingerprinter.fingerprint(name));
            let mut at = slots.home(key);
            while table[at] != 0 {
                if slots.matches([table[at], 0], key).is_some() {
                    return None;
                }
                at = slots.next(at);
            }
            table[at] = slots.encode(key, location);
        }
        if longest_run(&table) >= MAX_PROBES {
            return None;
        }
        Some(table.iter().flat_map(|slot| slot.to_le_bytes()).collect())
    }
}

/// Returns the length of the longest run of occupied slots, of which the last slot precedes the
/// first.
fn longest_run(table: &[u64]) -> usize {
    let runs = table.split(|&slot| slot == 0).map(<[u64]>::len);
    let wrapped = match table.iter().position(|&slot| slot == 0) {
        Some(first) => first + table.iter().rev().take_while(|&&slot| slot != 0).count(),
        None => table.len(),
    };
    runs.max().unwrap_or(0).max(wrapped)
}

/// Returns the range of item `i`, given the ends of all items.
fn range(ends: &[u64], i: usize) -> Range<usize> {
    let start = if i == 0 { 0 } else { ends[i - 1] };
    start as usize..ends[i] as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_occupied_slots_continue_at_the_first_slot() {
        for (table, expected) in [
            (&[][..], 0),
            (&[0, 0], 0),
            (&[1, 1], 2),
            (&[1, 0, 1, 1], 3),
            (&[0, 1, 1, 1, 0, 1], 3),
        ] {
            assert_eq!(longest_run(table), expected, "{table:?}");
        }
    }
}
