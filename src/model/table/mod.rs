//! A table of attributes: from a key of the name to its weights. [`super`] has the format.

mod build;
mod layout;
mod rows;
mod slots;

use std::ops::Range;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::bytes::Bytes;
use super::file::Version;
use super::header::Precision;
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprinter, key};
pub(super) use build::Sections;
pub(crate) use build::TableBuilder;
use layout::Layout;
pub(crate) use rows::WeightRows;
use slots::Slots;

/// Bytes that come from memory together; of some processors twice as many.
const CACHE_LINE: usize = 64;

/// The shape of a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct TableInfo {
    /// Number of attributes.
    attributes: u64,
    /// Seed of the keys.
    pub(super) seed: u64,
    /// Number of slots.
    slots: u64,
    /// Number of weights stored.
    weights: u64,
    /// Whether every attribute has a weight for every score.
    dense: bool,
}

/// Where the weights of an attribute stand: the index of the first entry and, in version 1, their
/// number in the high half. Fits what is left of a `u64` when a few values are set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WeightLocation(u64);

impl WeightLocation {
    /// As a number below 2⁶⁴ − 2.
    #[must_use]
    pub fn to_number(self) -> u64 {
        self.0
    }

    /// What [`WeightLocation::to_number`] gave.
    #[must_use]
    pub fn from_number(number: u64) -> Self {
        Self(number)
    }
}

/// The weights of an attribute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weights<'a> {
    entries: &'a [u8],
    layout: Layout,
    labels: usize,
}

/// A table in a model file.
#[derive(Clone, Debug)]
pub(super) struct Table {
    info: TableInfo,
    layout: Layout,
    slots: Slots,
    version: Version,
    base: Fingerprinter,
    labels: usize,
    height: usize,               // 1 or K: lines of scores
    sections: [Range<usize>; 4], // slots, weights, ends, names
    end: usize,                  // bytes of an end
}

impl Table {
    /// The table whose sections stand at `sections`; checks that they have the lengths that
    /// `info` says.
    pub fn new(
        info: &TableInfo,
        version: Version,
        precision: Precision,
        (labels, edges): (usize, bool),
        sections: [Range<usize>; 4],
    ) -> Result<Self, String> {
        let layout = Layout {
            dense: info.dense,
            narrow: !edges,
            precision,
            flagged: version != Version::One && !info.dense,
        };
        let height = if edges { labels } else { 1 };
        let slots = Slots::new(version, info.slots, info.entries());
        let end = match version {
            Version::Two if u32::try_from(sections[3].len()).is_ok() => 4,
            _ => 8,
        };
        let bytes = |count: u64, size: usize| usize::try_from(count).ok()?.checked_mul(size);
        let expected = [
            bytes(info.slots, slots.size()),
            bytes(info.weights, layout.entry()),
            bytes(info.attributes, end),
        ];
        let fits = sections
            .iter()
            .zip(expected)
            .all(|(s, e)| Some(s.len()) == e);
        let whole = info.attributes.checked_mul((labels * height) as u64);
        if !fits || info.attributes > info.slots || (info.dense && whole != Some(info.weights)) {
            return Err("a table does not have the size that the header says".to_owned());
        }
        Ok(Self {
            info: info.clone(),
            layout,
            slots,
            version,
            base: Fingerprinter::from_seed(info.seed),
            labels,
            height,
            sections,
            end,
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

    /// The base of the fingerprints that keys are made of (version 2).
    pub fn fingerprinter(&self) -> Fingerprinter {
        self.base
    }

    /// The key under which the table knows a name.
    pub fn key(&self, name: &[u8]) -> u64 {
        match self.version {
            Version::One => xxh3_64_with_seed(name, self.info.seed),
            Version::Two => key(self.base.fingerprint(name)),
        }
    }

    /// Reads something of the slot where the search for a key begins.
    #[inline(always)]
    pub fn prefetch_slot(&self, bytes: &Bytes, key: u64) -> u8 {
        bytes.touch(self.sections[0].start + self.slots.home(key) * self.slots.size())
    }

    /// Reads something of every part of the weights at a location that memory gives as a whole. Of
    /// weights for single labels it is the first, which the processor takes for the begin of a run.
    #[inline(always)]
    pub fn prefetch_weights(&self, bytes: &Bytes, location: WeightLocation) -> u8 {
        let entry = self.layout.entry();
        let first = (location.0 & u64::from(u32::MAX)) as usize;
        if !self.info.dense || self.version == Version::One {
            return bytes.touch(self.sections[1].start + first * entry);
        }
        let size = self.labels * self.height * entry;
        touch(bytes.all(), self.sections[1].start + first * size, size)
    }

    #[inline]
    fn slot(&self, bytes: &Bytes, at: usize) -> Result<[u64; 2]> {
        let size = self.slots.size();
        let start = self.sections[0].start + at * size;
        Ok(self.slots.read(bytes.get(start..start + size)?))
    }

    /// Where the weights of an attribute stand, if it is known.
    #[inline]
    pub fn find(&self, bytes: &Bytes, key: u64) -> Result<Option<WeightLocation>> {
        let mut at = self.slots.home(key);
        for _ in 0..self.info.slots {
            let slot = self.slot(bytes, at)?;
            if self.slots.is_empty(slot) {
                return Ok(None);
            }
            if let Some(location) = self.slots.matches(slot, key) {
                return Ok(Some(WeightLocation(location)));
            }
            at = self.slots.after(at);
        }
        Ok(None)
    }

    /// The weights as rows of numbers, if that is how they are written.
    pub fn rows<'a>(&self, bytes: &'a Bytes) -> Option<WeightRows<'a>> {
        let plain = self.version == Version::Two
            && self.height == 1
            && self.layout.precision == Precision::F32;
        plain.then(|| WeightRows {
            bytes,
            data: &bytes.all()[..self.sections[1].end],
            start: self.sections[1].start,
            number: self.info.entries(),
            labels: self.labels,
            dense: self.info.dense,
        })
    }

    /// The weights at a location that [`Table::find`] gave.
    #[inline(always)]
    pub fn at<'a>(&self, bytes: &'a Bytes, location: WeightLocation) -> Result<Weights<'a>> {
        let whole = (self.labels * self.height) as u64;
        let first = location.0 & u64::from(u32::MAX);
        let (first, count) = match (self.version, self.info.dense) {
            (Version::One, dense) => {
                let count = location.0 >> 32;
                let fits = !dense || count == whole;
                (first, if fits { count } else { u64::MAX >> 1 })
            }
            (Version::Two, true) => (first * whole, whole),
            (Version::Two, false) => (first, self.run(bytes, first)?),
        };
        if first + count > self.info.weights {
            return Err(bytes.missing_weights());
        }
        let place = |index: u64| self.sections[1].start + index as usize * self.layout.entry();
        Ok(Weights {
            entries: bytes.get(place(first)..place(first + count))?,
            layout: self.layout,
            labels: self.labels,
        })
    }

    /// Number of entries from `first` to one that says that it is the last of its attribute.
    fn run(&self, bytes: &Bytes, first: u64) -> Result<u64> {
        let size = self.layout.entry();
        let most = (self.labels * self.height) as u64;
        for count in 1..=most.min(self.info.weights.saturating_sub(first)) {
            let start = self.sections[1].start + (first + count - 1) as usize * size;
            if self.layout.is_last(bytes.get(start..start + size)?) {
                return Ok(count);
            }
        }
        Err(bytes.missing_weights())
    }

    /// Number of scores that weights are added to, in rows of `stride`.
    pub fn scores(&self, stride: usize) -> usize {
        self.height * stride
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
            let start = self.sections[2].start + self.end * i;
            let mut end = [0; 8];
            end[..self.end].copy_from_slice(bytes.get(start..start + self.end)?);
            usize::try_from(u64::from_le_bytes(end))
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

/// Reads something of every cache line of `size` bytes from `start` on.
#[inline(always)]
fn touch(data: &[u8], start: usize, size: usize) -> u8 {
    let touch = |place: usize| data.get(place).copied().unwrap_or(0);
    let last = start + size - 1;
    let (mut byte, mut line) = (touch(last), start);
    while line < last {
        byte |= touch(line);
        line += CACHE_LINE;
    }
    byte
}

impl TableInfo {
    /// What locations count: attributes where all have equally many weights, else weights.
    fn entries(&self) -> u64 {
        if self.dense {
            self.attributes
        } else {
            self.weights
        }
    }
}

impl Weights<'_> {
    /// Adds the weights times `value` to a token's scores, `[1 or K][stride]`; `false` if a weight
    /// belongs to none of them.
    #[inline(always)]
    pub fn add_to(&self, value: f64, stride: usize, scores: &mut [f64]) -> bool {
        if self.layout.dense {
            let size = self.labels * self.layout.entry();
            let lines = scores.chunks_exact_mut(stride);
            for (line, entries) in lines.zip(self.entries.chunks_exact(size)) {
                self.layout
                    .add_row(entries, value, &mut line[..self.labels]);
            }
            return true;
        }
        for entry in self.entries.chunks_exact(self.layout.entry()) {
            let place = self.layout.read_place(entry);
            let at = if place < self.labels {
                place
            } else {
                place / self.labels * stride + place % self.labels
            };
            match scores.get_mut(at) {
                Some(score) => *score += value * self.layout.read_weight(entry),
                None => return false,
            }
        }
        true
    }
}
