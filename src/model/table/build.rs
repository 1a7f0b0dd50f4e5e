//! Tables in the making.

use std::ops::Range;

use super::super::file::Version;
use super::super::header::Precision;
use super::TableInfo;
use super::layout::Layout;
use super::slots::Slots;
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprinter, key};

/// The four sections of a table, as they are written.
#[derive(Debug, Default)]
pub(in super::super) struct Sections {
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

    /// The table at the first seed from `seed` on under which no two of its attributes are taken for
    /// one another.
    pub(in super::super) fn finish(&self, seed: u64) -> Result<(TableInfo, Sections)> {
        let n = self.name_ends.len();
        let layout = self.layout();
        let weights = if layout.dense {
            n * self.scores
        } else {
            self.entries.len()
        };
        if u32::try_from(weights).is_err() {
            return Err(Error::parameter(
                "the model has more than 4294967295 weights; use --states observed, --l1, --prune or \
                 --min-count",
            ));
        }
        let mut info = TableInfo {
            attributes: n as u64,
            seed,
            slots: if n == 0 { 0 } else { (n * 5 / 3 + 1) as u64 },
            weights: weights as u64,
            dense: layout.dense,
        };
        let (bytes, firsts) = self.weights(layout);
        let slots = loop {
            if let Some(slots) = self.slots(&info, &firsts) {
                break slots;
            }
            info.seed += 1;
        };
        let short = u32::try_from(self.names.len()).is_ok();
        let end = |end: &u64| {
            end.to_le_bytes()
                .into_iter()
                .take(if short { 4 } else { 8 })
        };
        let sections = Sections {
            slots,
            weights: bytes,
            ends: self.name_ends.iter().flat_map(end).collect(),
            names: self.names.clone(),
        };
        Ok((info, sections))
    }

    /// How weights are written: dense, unless sparse takes less.
    fn layout(&self) -> Layout {
        let layout = |dense: bool| Layout {
            dense,
            narrow: self.narrow,
            precision: self.precision,
            flagged: !dense,
        };
        let [dense, sparse] = [true, false].map(layout);
        let weights = self.name_ends.len() * self.scores;
        if weights * dense.entry() <= self.entries.len() * sparse.entry() {
            dense
        } else {
            sparse
        }
    }

    /// The weights as they are written, and where those of each attribute begin.
    fn weights(&self, layout: Layout) -> (Vec<u8>, Vec<u64>) {
        let n = self.name_ends.len();
        let mut bytes = Vec::new();
        let mut firsts = Vec::with_capacity(n);
        let mut row = vec![0.0; if layout.dense { self.scores } else { 0 }];
        for i in 0..n {
            let entries = &self.entries[range(&self.row_ends, i)];
            if layout.dense {
                firsts.push(i as u64);
                row.fill(0.0);
                for &(place, w) in entries {
                    row[place as usize] = w;
                }
                for &w in &row {
                    layout.push(0, false, w, &mut bytes);
                }
            } else {
                firsts.push((bytes.len() / layout.entry()) as u64);
                for (j, &(place, w)) in entries.iter().enumerate() {
                    layout.push(place, j + 1 == entries.len(), w, &mut bytes);
                }
            }
        }
        (bytes, firsts)
    }

    /// The slots, unless an attribute would be found in the place of another.
    fn slots(&self, info: &TableInfo, firsts: &[u64]) -> Option<Vec<u8>> {
        let base = Fingerprinter::from_seed(info.seed);
        let slots = Slots::new(Version::Two, info.slots, info.entries());
        let mut table = vec![0; info.slots as usize];
        for (i, &first) in firsts.iter().enumerate() {
            let key = key(base.fingerprint(&self.names[range(&self.name_ends, i)]));
            let mut at = slots.home(key);
            while table[at] != 0 {
                if slots.matches([table[at], 0], key).is_some() {
                    return None;
                }
                at = slots.after(at);
            }
            table[at] = slots.write(key, first);
        }
        Some(table.iter().flat_map(|slot| slot.to_le_bytes()).collect())
    }
}

fn range(ends: &[u64], i: usize) -> Range<usize> {
    let start = if i == 0 { 0 } else { ends[i - 1] };
    start as usize..ends[i] as usize
}
