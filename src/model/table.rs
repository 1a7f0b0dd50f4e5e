//! A table of attributes: from a hash of the name to its weights. [`super`] has the format.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::bytes::Bytes;
use super::header::Precision;
use crate::error::{Error, Result};

const SLOT: usize = 16;

/// The shape of a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct TableInfo {
    /// Number of attributes.
    attributes: u64,
    /// Seed of the hash.
    seed: u64,
    /// Number of slots.
    slots: u64,
    /// Number of weights stored.
    weights: u64,
    /// Whether every attribute has a weight for every score.
    dense: bool,
}

/// The four sections of a table, as they are written.
#[derive(Debug, Default)]
pub(super) struct Sections {
    pub slots: Vec<u8>,
    pub weights: Vec<u8>,
    pub ends: Vec<u8>,
    pub names: Vec<u8>,
}

/// Attributes and their weights, to be made into a table.
#[derive(Debug)]
pub(crate) struct TableBuilder {
    scores: usize, // K or K²
    narrow: bool,  // places fit 2 bytes
    precision: Precision,
    names: Vec<u8>,
    name_ends: Vec<u64>,
    row_ends: Vec<u64>, // in `entries`
    entries: Vec<(u32, f64)>,
}

impl TableBuilder {
    /// A table of node attributes (`labels` scores each).
    #[must_use]
    pub fn nodes(labels: usize, precision: Precision) -> Self {
        Self::new(labels, true, precision)
    }

    /// A table of edge attributes (`labels`² scores each).
    #[must_use]
    pub fn edges(labels: usize, precision: Precision) -> Self {
        Self::new(labels * labels, false, precision)
    }

    fn new(scores: usize, narrow: bool, precision: Precision) -> Self {
        Self {
            scores,
            narrow,
            precision,
            names: Vec::new(),
            name_ends: Vec::new(),
            row_ends: Vec::new(),
            entries: Vec::new(),
        }
    }

    /// Adds an attribute, other than all before, with its weights by place (label, or a·K + b),
    /// ascending. Zero weights, and attributes that have no others, are left out.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] when a weight is too large for its precision.
    pub fn push(
        &mut self,
        name: &[u8],
        weights: impl IntoIterator<Item = (u32, f64)>,
    ) -> Result<()> {
        let before = self.entries.len();
        for (place, weight) in weights {
            let stored = match self.precision {
                Precision::F32 => f64::from(weight as f32),
                Precision::F64 => weight,
            };
            if !stored.is_finite() {
                return Err(Error::parameter(format!(
                    "attribute '{}' has the weight {weight:e}, too large to be stored; \
                     use a stronger penalty or larger attribute values",
                    String::from_utf8_lossy(name)
                )));
            }
            if stored != 0.0 {
                self.entries.push((place, weight));
            }
        }
        if self.entries.len() > before {
            self.names.extend_from_slice(name);
            self.name_ends.push(self.names.len() as u64);
            self.row_ends.push(self.entries.len() as u64);
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<(TableInfo, Sections)> {
        let n = self.name_ends.len();
        let layout = Layout::new(&self);
        let weights = if layout.dense {
            n * self.scores
        } else {
            self.entries.len()
        };
        if u32::try_from(weights).is_err() {
            return Err(Error::parameter(
                "the model has more than 4294967295 weights; use --states observed, --l1 or --min-count",
            ));
        }
        let info = TableInfo {
            attributes: n as u64,
            seed: 0,
            slots: if n == 0 { 0 } else { (n * 5 / 3 + 1) as u64 },
            weights: weights as u64,
            dense: layout.dense,
        };
        let mut bytes = Vec::with_capacity(weights * layout.entry());
        let mut firsts = Vec::with_capacity(n);
        let mut row = vec![0.0; if layout.dense { self.scores } else { 0 }];
        for i in 0..n {
            let entries = &self.entries[range(&self.row_ends, i)];
            firsts.push((bytes.len() / layout.entry()) as u32);
            if layout.dense {
                row.fill(0.0);
                for &(place, w) in entries {
                    row[place as usize] = w;
                }
                row.iter().for_each(|&w| layout.push(0, w, &mut bytes));
            } else {
                entries
                    .iter()
                    .for_each(|&(place, w)| layout.push(place, w, &mut bytes));
            }
        }
        let (seed, slots) = self.slots(&info, &firsts);
        let sections = Sections {
            slots,
            weights: bytes,
            ends: self
                .name_ends
                .iter()
                .flat_map(|e| e.to_le_bytes())
                .collect(),
            names: self.names,
        };
        Ok((TableInfo { seed, ..info }, sections))
    }

    /// The first seed for which no two hashes are equal, and the slots under it.
    fn slots(&self, info: &TableInfo, firsts: &[u32]) -> (u64, Vec<u8>) {
        let n = firsts.len();
        let mut seed = 0;
        let hashes = loop {
            let hashes: Vec<u64> = (0..n)
                .map(|i| xxh3_64_with_seed(&self.names[range(&self.name_ends, i)], seed))
                .collect();
            let mut sorted = hashes.clone();
            sorted.sort_unstable();
            if sorted.windows(2).all(|w| w[0] != w[1]) {
                break hashes;
            }
            seed += 1;
        };
        let mut slots = vec![0u8; info.slots as usize * SLOT];
        for (i, &hash) in hashes.iter().enumerate() {
            let count = if info.dense {
                self.scores
            } else {
                range(&self.row_ends, i).len()
            };
            let mut at = home(hash, info.slots);
            while slots[at * SLOT + 12..at * SLOT + 16] != [0; 4] {
                at = (at + 1) % info.slots as usize;
            }
            let slot = &mut slots[at * SLOT..(at + 1) * SLOT];
            slot[..8].copy_from_slice(&hash.to_le_bytes());
            slot[8..12].copy_from_slice(&firsts[i].to_le_bytes());
            slot[12..].copy_from_slice(&(count as u32).to_le_bytes());
        }
        (seed, slots)
    }
}

fn range(ends: &[u64], i: usize) -> Range<usize> {
    let start = if i == 0 { 0 } else { ends[i - 1] };
    start as usize..ends[i] as usize
}

/// The slot where the search for a hash begins: its high bits, scaled to the number of slots.
fn home(hash: u64, slots: u64) -> usize {
    ((u128::from(hash) * u128::from(slots)) >> 64) as usize
}

/// How a weight is written.
#[derive(Clone, Copy, Debug)]
struct Layout {
    dense: bool,
    narrow: bool,
    precision: Precision,
}

impl Layout {
    fn new(builder: &TableBuilder) -> Self {
        let mut layout = Self {
            dense: true,
            narrow: builder.narrow,
            precision: builder.precision,
        };
        let dense = builder.name_ends.len() * builder.scores * layout.entry();
        layout.dense = false;
        layout.dense = dense <= builder.entries.len() * layout.entry();
        layout
    }

    fn place(self) -> usize {
        match (self.dense, self.narrow) {
            (true, _) => 0,
            (false, true) => 2,
            (false, false) => 4,
        }
    }

    /// Bytes of an entry.
    fn entry(self) -> usize {
        self.place()
            + match self.precision {
                Precision::F32 => 4,
                Precision::F64 => 8,
            }
    }

    fn push(self, place: u32, weight: f64, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&place.to_le_bytes()[..self.place()]);
        match self.precision {
            Precision::F32 => bytes.extend_from_slice(&(weight as f32).to_le_bytes()),
            Precision::F64 => bytes.extend_from_slice(&weight.to_le_bytes()),
        }
    }

    /// The place that an entry begins with (sparse tables).
    fn read_place(self, entry: &[u8]) -> usize {
        let mut bytes = [0; 4];
        bytes[..self.place()].copy_from_slice(&entry[..self.place()]);
        u32::from_le_bytes(bytes) as usize
    }

    fn read_weight(self, entry: &[u8]) -> f64 {
        let weight = &entry[self.place()..];
        match (self.precision, weight) {
            (Precision::F32, &[a, b, c, d]) => f64::from(f32::from_le_bytes([a, b, c, d])),
            (Precision::F64, &[a, b, c, d, e, f, g, h]) => {
                f64::from_le_bytes([a, b, c, d, e, f, g, h])
            }
            _ => 0.0,
        }
    }
}

/// A table in a model file.
#[derive(Clone, Debug)]
pub(super) struct Table {
    info: TableInfo,
    layout: Layout,
    labels: usize,
    height: usize,               // 1 or K: lines of scores
    sections: [Range<usize>; 4], // slots, weights, ends, names
}

impl Table {
    /// The table whose sections stand at `sections`; checks that they have the lengths that
    /// `info` says.
    pub fn new(
        info: &TableInfo,
        precision: Precision,
        labels: usize,
        edges: bool,
        sections: [Range<usize>; 4],
    ) -> Result<Self, String> {
        let layout = Layout {
            dense: info.dense,
            narrow: !edges,
            precision,
        };
        let height = if edges { labels } else { 1 };
        let bytes = |count: u64, size: usize| usize::try_from(count).ok()?.checked_mul(size);
        let expected = [
            bytes(info.slots, SLOT),
            bytes(info.weights, layout.entry()),
            bytes(info.attributes, 8),
        ];
        let fits = sections
            .iter()
            .zip(expected)
            .all(|(s, e)| Some(s.len()) == e);
        if !fits || info.attributes > info.slots {
            return Err("a table does not have the size that the header says".to_owned());
        }
        Ok(Self {
            info: info.clone(),
            layout,
            labels,
            height,
            sections,
        })
    }

    /// Where the table begins in the file.
    pub fn start(&self) -> usize {
        self.sections[0].start
    }

    /// Number of attributes.
    pub fn len(&self) -> usize {
        self.info.attributes as usize
    }

    /// Number of weights that are stored.
    pub fn weights(&self) -> usize {
        self.info.weights as usize
    }

    /// The hash under which the table knows a name.
    pub fn hash(&self, name: &[u8]) -> u64 {
        xxh3_64_with_seed(name, self.info.seed)
    }

    /// Where the weights of an attribute stand, if it is known.
    fn find(&self, bytes: &Bytes, hash: u64) -> Result<Option<Range<usize>>> {
        let slots = self.info.slots as usize;
        if slots == 0 {
            return Ok(None);
        }
        let mut at = home(hash, self.info.slots);
        for _ in 0..slots {
            let start = self.sections[0].start + at * SLOT;
            let slot = bytes.get(start..start + SLOT)?;
            let &[a, b, c, d, e, f, g, h, ref rest @ ..] = slot else {
                break;
            };
            let &[i, j, k, l, m, n, o, p] = rest else {
                break;
            };
            let count = u32::from_le_bytes([m, n, o, p]);
            if count == 0 {
                return Ok(None);
            }
            if u64::from_le_bytes([a, b, c, d, e, f, g, h]) == hash {
                let first = u64::from(u32::from_le_bytes([i, j, k, l]));
                let end = first + u64::from(count);
                let whole = self.labels * self.height;
                if end > self.info.weights || (self.info.dense && count as usize != whole) {
                    return Err(bytes.damaged("an attribute has weights that do not exist"));
                }
                let place =
                    |index: u64| self.sections[1].start + index as usize * self.layout.entry();
                return Ok(Some(place(first)..place(end)));
            }
            at = if at + 1 == slots { 0 } else { at + 1 };
        }
        Ok(None)
    }

    /// Adds an attribute's weights times `value` to a token's scores, `[1 or K][stride]`. Returns
    /// whether the attribute is known.
    ///
    /// # Panics
    ///
    /// If `stride` is below K or `scores` have another length.
    pub fn add_scores(
        &self,
        bytes: &Bytes,
        hash: u64,
        value: f64,
        stride: usize,
        scores: &mut [f64],
    ) -> Result<bool> {
        assert!(
            stride >= self.labels && scores.len() == self.height * stride,
            "scores are [1 or K][stride]"
        );
        let Some(range) = self.find(bytes, hash)? else {
            return Ok(false);
        };
        let entries = bytes.get(range)?.chunks_exact(self.layout.entry());
        if self.info.dense {
            let mut entries = entries;
            for line in scores.chunks_exact_mut(stride) {
                for (score, entry) in line[..self.labels].iter_mut().zip(&mut entries) {
                    *score += value * self.layout.read_weight(entry);
                }
            }
        } else {
            for entry in entries {
                let place = self.layout.read_place(entry);
                let (a, b) = (place / self.labels, place % self.labels);
                match scores.get_mut(a * stride + b) {
                    Some(score) => *score += value * self.layout.read_weight(entry),
                    None => return Err(bytes.damaged("a weight belongs to no label")),
                }
            }
        }
        Ok(true)
    }

    /// The name of attribute `i`, in the order of training.
    pub fn name<'a>(&self, bytes: &'a Bytes, i: usize) -> Result<&'a [u8]> {
        if i >= self.len() {
            return Err(Error::parameter(format!(
                "attribute {i} does not exist: there are {}",
                self.len()
            )));
        }
        let end = |i: usize| -> Result<usize> {
            let start = self.sections[2].start + 8 * i;
            let end = bytes.get(start..start + 8)?;
            let end = end.try_into().map_or(u64::MAX, u64::from_le_bytes);
            usize::try_from(end)
                .ok()
                .filter(|&end| end <= self.sections[3].len())
                .ok_or_else(|| bytes.damaged("a name lies outside of the names"))
        };
        let start = if i == 0 { 0 } else { end(i - 1)? };
        let end = end(i)?;
        if start > end {
            return Err(bytes.damaged("a name ends before it begins"));
        }
        let offset = self.sections[3].start;
        bytes.get(offset + start..offset + end)
    }
}
