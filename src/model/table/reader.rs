//! Reading a table.

use std::ops::Range;

use super::encoding::WeightEncoding;
use super::names::Names;
use super::rows::WeightRows;
use super::slots::{MAX_PROBES, Slots, WeightLocation};
use super::weights::AttributeWeights;
use crate::error::Result;
use crate::fingerprint::Fingerprinter;
use crate::model::bytes::{Bytes, prefetch_range};
use crate::model::format::{AttributeKind, Precision, TableInfo};

/// Size of a slot in bytes.
const SLOT: usize = 8;

/// The properties that, with its [`TableInfo`], determine the encoding of a table.
#[derive(Clone, Copy, Debug)]
pub(in crate::model) struct TableFormat {
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
    slots: Slots,
    encoding: WeightEncoding,
    locations: u64, // exclusive upper bound of locations
    fingerprinter: Fingerprinter,
    labels: usize,
    lines: usize,                // lines of K scores: 1 for nodes, K for edges
    sections: [Range<usize>; 2], // slots, weights
    names: Names,
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
        let TableFormat { precision, kind, labels } = format;
        let lines = match kind {
            AttributeKind::Node => 1,
            AttributeKind::Edge => labels,
        };
        let encoding = match info.dense {
            true => WeightEncoding::dense(precision),
            false => WeightEncoding::sparse(kind, labels, precision),
        };
        let locations = encoding.locations(info);
        let [slot_bytes, weight_bytes, lengths, name_bytes] = sections;
        let dense_weights = info.attributes.checked_mul((labels * lines) as u64);
        let fits = info.slots.checked_mul(SLOT as u64) == Some(slot_bytes.len() as u64)
            && encoding.table_size(info) == Some(weight_bytes.len() as u64)
            && info.attributes <= info.slots
            && (!info.dense || dense_weights == Some(info.weights));
        if !fits {
            return Err("the size of a table does not match the header".to_owned());
        }
        Ok(Self {
            info: info.clone(),
            slots: Slots::new(info.slots, locations),
            encoding,
            locations,
            fingerprinter: Fingerprinter::from_seed(info.seed),
            labels,
            lines,
            sections: [slot_bytes, weight_bytes],
            names: Names::new(info.attributes as usize, lengths, name_bytes),
        })
    }

    /// Returns the range of slots and weights in the file.
    pub fn slots_and_weights(&self) -> Range<usize> {
        self.sections[0].start..self.sections[1].end
    }

    /// Returns the number of attributes.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns the number of stored weights.
    pub fn weights(&self) -> usize {
        self.info.weights as usize
    }

    /// Returns the fingerprinter that keys are made with.
    pub fn fingerprinter(&self) -> Fingerprinter {
        self.fingerprinter
    }

    /// Prefetches the slot where probing for `key` starts.
    #[inline(always)]
    pub fn prefetch_slot(&self, bytes: &Bytes, key: u64) -> u8 {
        bytes.prefetch(self.sections[0].start + self.slots.home(key) * SLOT)
    }

    /// Prefetches the cache lines of the weights at a location. For a sparse row, whose length is
    /// unknown, it prefetches the first line and leaves the others to the hardware prefetcher.
    #[inline(always)]
    pub fn prefetch_weights(&self, bytes: &Bytes, location: WeightLocation) -> u8 {
        let entries = self.labels * self.lines;
        let start = self.sections[1].start + self.encoding.offset(location.0, entries);
        match self.info.dense {
            true => prefetch_range(bytes.all(), start, self.encoding.row_size(entries)),
            false => bytes.prefetch(start),
        }
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
            let start = self.sections[0].start + at * SLOT;
            let slot = bytes.get(start..start + SLOT)?;
            let slot = u64::from_le_bytes(slot.as_chunks().0[0]);
            if slot == 0 {
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

    /// Returns the weights of a table of nodes for fast summation.
    pub fn rows<'a>(&self, bytes: &'a Bytes) -> WeightRows<'a> {
        WeightRows {
            bytes,
            data: &bytes.all()[..self.sections[1].end],
            start: self.sections[1].start,
            locations: self.locations,
            labels: self.labels,
            encoding: self.encoding,
        }
    }

    /// Returns the weights at a location that [`Table::find`] returned.
    #[inline(always)]
    pub fn weights_at<'a>(
        &self,
        bytes: &'a Bytes,
        location: WeightLocation,
    ) -> Result<AttributeWeights<'a>> {
        let row = bytes.get(self.row(bytes, location)?)?;
        let (scale, entries) =
            (self.encoding.split_scale(row)).ok_or_else(|| bytes.missing_weights())?;
        Ok(AttributeWeights { entries, scale, encoding: self.encoding, labels: self.labels })
    }

    /// Returns the range of the row at a location.
    #[inline(always)]
    fn row(&self, bytes: &Bytes, location: WeightLocation) -> Result<Range<usize>> {
        let number = location.0;
        if number >= self.locations {
            return Err(bytes.missing_weights());
        }
        let entries = self.labels * self.lines;
        let start = self.encoding.offset(number, entries);
        let length = match self.info.dense {
            true => self.encoding.row_size(entries),
            false => self.sparse_length(bytes, start)?,
        };
        let start = self.sections[1].start + start;
        Ok(start..start + length)
    }

    /// Returns the length of the row that begins `start` bytes after the first, up to the entry
    /// flagged as its last.
    fn sparse_length(&self, bytes: &Bytes, start: usize) -> Result<usize> {
        let weights = &self.sections[1];
        let size = self.encoding.entry_size();
        let mut length = self.encoding.row_size(0);
        for _ in 0..self.labels * self.lines {
            let entry = weights.start + start + length;
            length += size;
            if entry + size > weights.end {
                break;
            }
            if self.encoding.is_last(bytes.get(entry..entry + size)?) {
                return Ok(length);
            }
        }
        Err(bytes.missing_weights())
    }

    /// Returns the number of scores of a token, in lines of `stride`.
    pub fn scores(&self, stride: usize) -> usize {
        self.lines * stride
    }

    /// Returns the names of the attributes.
    pub fn names(&self) -> &Names {
        &self.names
    }
}
