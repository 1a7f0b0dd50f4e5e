//! Reading a table.

use std::ops::Range;

use super::encoding::WeightEncoding;
use super::keys::TableKeys;
use super::rows::WeightRows;
use super::slots::{MAX_PROBES, Slots, WeightLocation};
use super::weights::AttributeWeights;
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprinter;
use crate::model::bytes::{Bytes, prefetch_range};
use crate::model::format::{AttributeKind, Precision, TableInfo, Version};

/// The properties that, with its [`TableInfo`], determine the encoding of a table.
#[derive(Clone, Copy, Debug)]
pub(in crate::model) struct TableFormat {
    pub version: Version,
    pub precision: Precision,
    pub kind: AttributeKind,
    /// Number of labels K.
    pub labels: usize,
}

/// A table in a model file.
///
/// The bytes of the file are passed to each method, since the model owns them.
#[derive(Clone, Debug)]
pub(in crate::model) struct Table {
    info: TableInfo,
    version: Version,
    slots: Slots,
    encoding: WeightEncoding,
    fingerprinter: Fingerprinter,
    labels: usize,
    lines: usize,                // lines of K scores: 1 for nodes, K for edges
    sections: [Range<usize>; 4], // slots, weights, ends, names
    end_size: usize,             // bytes of a name's end
}

impl Table {
    /// Creates a table from the byte ranges of its four sections.
    ///
    /// # Errors
    ///
    /// A message if the lengths of the sections do not match `info`.
    pub fn new(
        info: &TableInfo,
        format: TableFormat,
        sections: [Range<usize>; 4],
    ) -> Result<Self, String> {
        let TableFormat {
            version,
            precision,
            kind,
            labels,
        } = format;
        let encoding = WeightEncoding {
            dense: info.dense,
            narrow: kind == AttributeKind::Node,
            precision,
            flagged: version != Version::One && !info.dense,
        };
        let lines = match kind {
            AttributeKind::Node => 1,
            AttributeKind::Edge => labels,
        };
        let slots = Slots::new(version, info.slots, info.locations());
        let end_size = match version {
            Version::Two if u32::try_from(sections[3].len()).is_ok() => 4,
            _ => 8,
        };
        let bytes = |count: u64, size: usize| usize::try_from(count).ok()?.checked_mul(size);
        let expected = [
            bytes(info.slots, slots.size()),
            bytes(info.weights, encoding.entry_size()),
            bytes(info.attributes, end_size),
        ];
        let fits = sections
            .iter()
            .zip(expected)
            .all(|(s, e)| Some(s.len()) == e);
        let dense_weights = info.attributes.checked_mul((labels * lines) as u64);
        if !fits
            || info.attributes > info.slots
            || (info.dense && dense_weights != Some(info.weights))
        {
            return Err("the size of a table does not match the header".to_owned());
        }
        Ok(Self {
            info: info.clone(),
            version,
            slots,
            encoding,
            fingerprinter: Fingerprinter::from_seed(info.seed),
            labels,
            lines,
            sections,
            end_size,
        })
    }

    /// Returns the offset of the table in the file.
    pub fn start(&self) -> usize {
        self.sections[0].start
    }

    /// Returns the number of attributes.
    pub fn len(&self) -> usize {
        self.info.attributes as usize
    }

    /// Returns the number of stored weights.
    pub fn weights(&self) -> usize {
        self.info.weights as usize
    }

    /// Returns the fingerprinter that keys are made with (version 2).
    pub fn fingerprinter(&self) -> Fingerprinter {
        self.fingerprinter
    }

    /// Returns the function that computes the key of a name.
    pub fn keys(&self) -> TableKeys {
        match self.version {
            Version::One => TableKeys::Hash(self.info.seed),
            Version::Two | Version::Four => TableKeys::Fingerprint(self.fingerprinter),
        }
    }

    /// Computes the key of a name.
    pub fn key(&self, name: &[u8]) -> u64 {
        self.keys().key(name)
    }

    /// Prefetches the slot where probing for `key` starts.
    #[inline(always)]
    pub fn prefetch_slot(&self, bytes: &Bytes, key: u64) -> u8 {
        bytes.prefetch(self.sections[0].start + self.slots.home(key) * self.slots.size())
    }

    /// Prefetches the cache lines of the weights at a location. For a sparse row, whose length is
    /// unknown, it prefetches the first line and leaves the others to the hardware prefetcher.
    #[inline(always)]
    pub fn prefetch_weights(&self, bytes: &Bytes, location: WeightLocation) -> u8 {
        let entry = self.encoding.entry_size();
        let first = location.first() as usize;
        if !self.info.dense || self.version == Version::One {
            return bytes.prefetch(self.sections[1].start + first * entry);
        }
        let size = self.labels * self.lines * entry;
        prefetch_range(bytes.all(), self.sections[1].start + first * size, size)
    }

    #[inline]
    fn slot(&self, bytes: &Bytes, at: usize) -> Result<[u64; 2]> {
        let size = self.slots.size();
        let start = self.sections[0].start + at * size;
        Ok(self.slots.read(bytes.get(start..start + size)?))
    }

    /// Looks up a key by linear probing; `None` if no attribute has it.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if no empty slot ends the search.
    #[inline]
    pub fn find(&self, bytes: &Bytes, key: u64) -> Result<Option<WeightLocation>> {
        let mut at = self.slots.home(key);
        for _ in 0..(self.info.slots as usize).min(MAX_PROBES) {
            let slot = self.slot(bytes, at)?;
            if self.slots.is_empty(slot) {
                return Ok(None);
            }
            if let Some(location) = self.slots.matches(slot, key) {
                return Ok(Some(location));
            }
            at = self.slots.next(at);
        }
        match self.info.slots {
            0 => Ok(None),
            _ => Err(bytes.damaged("a hash table has too few empty slots")),
        }
    }

    /// Returns the weights for fast summation, if this is a node table of version 2.
    pub fn rows<'a>(&self, bytes: &'a Bytes) -> Option<WeightRows<'a>> {
        let supported = self.version == Version::Two && self.encoding.narrow;
        supported.then(|| WeightRows {
            bytes,
            data: &bytes.all()[..self.sections[1].end],
            start: self.sections[1].start,
            locations: self.info.locations(),
            labels: self.labels,
            encoding: self.encoding,
        })
    }

    /// Returns the weights at a location that [`Table::find`] returned.
    #[inline(always)]
    pub fn weights_at<'a>(
        &self,
        bytes: &'a Bytes,
        location: WeightLocation,
    ) -> Result<AttributeWeights<'a>> {
        let full = (self.labels * self.lines) as u64;
        let first = location.first();
        let (first, count) = match (self.version, self.info.dense) {
            (Version::One, dense) => {
                let count = location.count();
                let fits = !dense || count == full;
                (first, if fits { count } else { u64::MAX >> 1 })
            }
            (_, true) => (first * full, full),
            (_, false) => (first, self.sparse_length(bytes, first)?),
        };
        if first + count > self.info.weights {
            return Err(bytes.missing_weights());
        }
        let offset =
            |index: u64| self.sections[1].start + index as usize * self.encoding.entry_size();
        Ok(AttributeWeights {
            entries: bytes.get(offset(first)..offset(first + count))?,
            encoding: self.encoding,
            labels: self.labels,
        })
    }

    /// Returns the number of entries from `first` up to and including the one flagged as the last
    /// of its attribute.
    fn sparse_length(&self, bytes: &Bytes, first: u64) -> Result<u64> {
        let size = self.encoding.entry_size();
        let most = (self.labels * self.lines) as u64;
        for count in 1..=most.min(self.info.weights.saturating_sub(first)) {
            let start = self.sections[1].start + (first + count - 1) as usize * size;
            if self.encoding.is_last(bytes.get(start..start + size)?) {
                return Ok(count);
            }
        }
        Err(bytes.missing_weights())
    }

    /// Returns the number of scores of a token, in lines of `stride`.
    pub fn scores(&self, stride: usize) -> usize {
        self.lines * stride
    }

    /// Returns the name of attribute `i`, numbered in training order.
    pub fn name<'a>(&self, bytes: &'a Bytes, i: usize) -> Result<&'a [u8]> {
        if i >= self.len() {
            return Err(Error::parameter(format!(
                "attribute {i} does not exist: there are {}",
                self.len()
            )));
        }
        let end = |i: usize| -> Result<usize> {
            let start = self.sections[2].start + self.end_size * i;
            let mut end = [0; 8];
            end[..self.end_size].copy_from_slice(bytes.get(start..start + self.end_size)?);
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
