//! Reading a table.

use std::ops::Range;

use super::encoding::{MAX_PROBES, Slots, WeightEncoding, WeightLocation};
use super::names::Names;
use super::rows::{RowLayout, WeightRows};
use crate::error::Result;
use crate::fingerprint::Fingerprinter;
use crate::model::container::{Container, prefetch_range};
use crate::model::format::{AttributeKind, TableInfo};
use crate::model::header::Header;

/// Size of a slot in bytes.
const SLOT: usize = 8;

/// How a table is stored in a model file.
#[derive(Clone, Debug)]
pub(in crate::model) struct TableLayout {
    info: TableInfo,
    slots: Slots,
    slot_bytes: Range<usize>,
    pub fingerprinter: Fingerprinter,
    rows: RowLayout,
    names: Names,
}

/// The table of one kind of attributes in a model ([`Model::table`](crate::Model::table)).
#[derive(Clone, Copy, Debug)]
pub struct AttributeTable<'m> {
    pub(in crate::model) layout: &'m TableLayout,
    pub(in crate::model) file: &'m Container,
}

impl TableLayout {
    /// Returns the layout of a table from the byte ranges of its four sections.
    ///
    /// # Errors
    ///
    /// A message if the lengths of the sections do not match `info`.
    pub fn new(
        header: &Header,
        kind: AttributeKind,
        sections: [Range<usize>; 4],
    ) -> Result<Self, String> {
        let (info, labels) = (&header.tables[kind as usize], header.labels.len());
        let scores = kind.weights(labels);
        let encoding = match info.dense {
            true => WeightEncoding::dense(header.precision),
            false => WeightEncoding::sparse(kind, labels, header.precision),
        };
        let locations = encoding.locations(info);
        let [slot_bytes, weight_bytes, lengths, name_bytes] = sections;
        let dense_weights = info.attributes.checked_mul(scores as u64);
        let fits = info.slots.checked_mul(SLOT as u64) == Some(slot_bytes.len() as u64)
            && encoding.table_size(info) == Some(weight_bytes.len() as u64)
            && info.attributes <= info.slots
            && (!info.dense || dense_weights == Some(info.weights));
        if !fits {
            return Err("the size of a table does not match the header".to_owned());
        }
        let Range { start, end } = weight_bytes;
        Ok(Self {
            info: info.clone(),
            slots: Slots::new(info.slots, locations),
            slot_bytes,
            fingerprinter: Fingerprinter::from_seed(info.seed),
            rows: RowLayout { start, end, locations, labels, scores, encoding },
            names: Names::new(info.attributes as usize, lengths, name_bytes),
        })
    }
}

impl<'m> AttributeTable<'m> {
    /// Returns the number of attributes.
    pub fn len(self) -> usize {
        self.layout.info.attributes as usize
    }

    /// Returns whether there are no attributes.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the number of stored weights.
    pub fn weights(self) -> usize {
        self.layout.info.weights as usize
    }

    /// Returns the name of attribute `i`, numbered in training order.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless `i` < [`len`](Self::len); [`Error::Model`] if the file is
    /// damaged there.
    pub fn name(self, i: usize) -> Result<&'m [u8]> {
        self.layout.names.get(self.file, i)
    }

    /// Returns the number of bytes of the names of all attributes.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if the file is damaged there.
    pub fn length_of_names(self) -> Result<usize> {
        Ok(self.layout.names.decoded(self.file)?.bytes.len())
    }

    /// Returns the slots and weights, as stored.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if the file is damaged there.
    pub(in crate::model) fn slots_and_weights(self) -> Result<&'m [u8]> {
        self.file.get(self.layout.slot_bytes.start..self.layout.rows.end)
    }

    /// Prefetches the slot where [`find`](Self::find) starts. Call it for many keys before looking
    /// them up, so that their cache misses overlap.
    #[inline(always)]
    pub fn prefetch_slot(self, key: u64) -> u8 {
        let layout = self.layout;
        let at = layout.slot_bytes.start + layout.slots.home(key) * SLOT;
        prefetch_range(&self.file.contents, at, 1)
    }

    /// Looks up a key by linear probing; `None` if no attribute has it.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if no empty slot ends the search.
    #[inline]
    pub fn find(self, key: u64) -> Result<Option<WeightLocation>> {
        let layout = self.layout;
        let mut at = layout.slots.home(key);
        for _ in 0..(layout.info.slots as usize).min(MAX_PROBES) {
            let start = layout.slot_bytes.start + at * SLOT;
            let slot = self.file.get(start..start + SLOT)?;
            let slot = u64::from_le_bytes(slot.as_chunks().0[0]);
            if slot == 0 {
                return Ok(None);
            }
            if let Some(location) = layout.slots.matches(slot, key) {
                return Ok(Some(location));
            }
            at = layout.slots.next(at);
        }
        match layout.info.slots {
            0 => Ok(None),
            _ => Err(self.file.damaged("a hash table has too few empty slots")),
        }
    }

    /// Returns the weights for summation.
    pub fn rows(self) -> WeightRows<'m> {
        WeightRows::new(self.file, self.layout.rows)
    }

    /// Returns the stored weights of the attribute with a key, each with its position: the label b,
    /// or the pair of labels a·K + b; `None` if there is no such attribute.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if the file is damaged there.
    pub fn weights_of(self, key: u64) -> Result<Option<Vec<(usize, f64)>>> {
        let Some(location) = self.find(key)? else { return Ok(None) };
        self.rows().read(location).map(Some)
    }

    /// Returns the weights of the attribute with a key at these positions, 0 where it has none;
    /// `None` if there is no such attribute.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if the file is damaged there.
    pub fn weights_at<const N: usize>(
        self,
        key: u64,
        positions: [usize; N],
    ) -> Result<Option<[f64; N]>> {
        let Some(weights) = self.weights_of(key)? else { return Ok(None) };
        let at = |wanted| weights.iter().rfind(|(position, _)| *position == wanted);
        Ok(Some(positions.map(|wanted| at(wanted).map_or(0.0, |(_, weight)| *weight))))
    }
}
