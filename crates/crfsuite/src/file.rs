//! The sections of a file, and what lies in them.

use std::path::Path;

use dropchain::kernel::ids::LabelId;
use dropchain::{Error, Result};

use crate::damaged;

/// The first bytes of a model file of CRFsuite.
pub const MAGIC: &[u8] = b"lCRF";

/// The type of model: a first-order Markov CRF.
const KIND: &[u8] = b"FOMC";

/// The version of the format.
const VERSION: u32 = 100;

/// Length of the header.
pub(super) const HEADER: usize = 48;

/// Length of magic, length and number of items of a section.
const SECTION_HEADER: u32 = 12;

/// The kinds of features, by their numbers in the file.
#[derive(Clone, Copy)]
pub(super) enum FeatureKind {
    /// The weight of an attribute for a label.
    State = 0,
    /// The weight of a label after another.
    Transition = 1,
}

/// An integer as stored.
type Stored = [u8; 4];

/// A file that CRFsuite wrote. Its sections lie within it; their contents are checked when they are
/// read.
#[derive(Debug)]
pub(super) struct CrfsuiteFile<'a> {
    pub(super) path: &'a Path,
    bytes: &'a [u8],
    pub(super) features: &'a [[u8; 20]],
    pub(super) label_names: Names<'a>,
    pub(super) attribute_names: Names<'a>,
    /// Offsets of the lists of features of all labels, and of all attributes.
    pub(super) of_labels: &'a [Stored],
    pub(super) of_attributes: &'a [Stored],
}

impl<'a> CrfsuiteFile<'a> {
    /// Finds the sections of a file.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if it is of another version or damaged.
    pub fn read(path: &'a Path, bytes: &'a [u8]) -> Result<Self> {
        let declared = declared_length(path, bytes)?;
        if declared != bytes.len() as u64 {
            return Err(wrong_length(path, bytes.len() as u64, declared));
        }
        let field = |i: usize| number(bytes, 4 * i).unwrap_or(0);
        if &bytes[8..12] != KIND || field(3) != VERSION {
            let message = format!(
                "a CRFsuite model of type '{}', version {}; expected type FOMC, version 100, as \
                 CRFsuite 0.12 and later write it",
                bytes[8..12].escape_ascii(),
                field(3)
            );
            return Err(Error::model(path, message));
        }
        let sections = || -> Result<Self, String> {
            let label_names = Names::read(bytes, field(8), field(5), "labels")?;
            let attribute_names = Names::read(bytes, field(9), field(6), "attributes")?;
            let lists = |at, magic, names: &Names<'_>| {
                section(bytes, at, magic, names.offsets.len(), "lists of features")
            };
            Ok(Self {
                path,
                bytes,
                features: section(bytes, field(7), b"FEAT", 0, "features")?,
                of_labels: lists(field(10), b"LFRF", &label_names)?,
                of_attributes: lists(field(11), b"AFRF", &attribute_names)?,
                label_names,
                attribute_names,
            })
        };
        sections().map_err(|what| damaged(path, &what))
    }

    /// Returns the number of labels.
    pub fn labels(&self) -> usize {
        self.label_names.offsets.len()
    }

    /// Returns list `i` of some lists, of indexes of features; `None` if it is damaged.
    pub fn list(&self, lists: &[Stored], i: usize) -> Option<&'a [Stored]> {
        match u32::from_le_bytes(*lists.get(i)?) as usize {
            0 => Some(&[]),
            at => array(self.bytes, at + 4, number(self.bytes, at)?),
        }
    }

    /// Collects the labels and weights of the features in `list`, all of which must be of this kind
    /// and source, in the order of the labels; the error is a message.
    pub fn collect(
        &self,
        list: &[Stored],
        kind: FeatureKind,
        source: usize,
        row: &mut Vec<(LabelId, f64)>,
    ) -> Result<(), String> {
        row.clear();
        if list.len() > self.labels() {
            return Err("an attribute or label has more features than there are labels".to_owned());
        }
        for index in list {
            let index = u32::from_le_bytes(*index);
            let feature = self.features.get(index as usize);
            let feature = feature.ok_or_else(|| format!("feature {index} does not exist"))?;
            let field = |at: usize| number(feature, at).unwrap_or(u32::MAX);
            if (field(0), field(4) as usize) != (kind as u32, source) {
                return Err(format!("feature {index} is that of another attribute or label"));
            }
            let label = field(8);
            if label as usize >= self.labels() {
                return Err(format!("feature {index} is for a label that does not exist"));
            }
            let mut weight = [0; 8];
            weight.copy_from_slice(&feature[12..]);
            let weight = f64::from_le_bytes(weight);
            if !weight.is_finite() {
                return Err(format!("feature {index} has the weight {weight}"));
            }
            row.push((LabelId(label as u16), weight));
        }
        row.sort_unstable_by_key(|&(label, _)| label);
        if row.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err("there are two features for the same label".to_owned());
        }
        Ok(())
    }
}

/// A database of names (`CQDB`): those of labels or attributes, by id.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names<'a> {
    /// All names together are smaller.
    pub(super) database: &'a [u8],
    pub(super) offsets: &'a [Stored], // of the names in the database, by id
}

impl<'a> Names<'a> {
    /// Finds the names in the database of `expected` names that begins at an offset in a file; the
    /// error is a message. `what` is what they name.
    fn read(file: &'a [u8], at: u32, expected: u32, what: &str) -> Result<Self, String> {
        const MAGIC: &[u8] = b"CQDB";
        /// The number that shows the byte order.
        const BYTE_ORDER: u32 = 0x6244_5371;
        /// Length of the header and of the references to 256 hash tables.
        const DATA_AT: usize = 24 + 256 * 8;
        let database = file.get(at as usize..).unwrap_or_default();
        let length = number(database, 4).unwrap_or(0) as usize;
        let outside = || format!("the names of {what} lie outside of the file");
        let database = match database.get(..length) {
            Some(bytes) if length >= DATA_AT && bytes.starts_with(MAGIC) => bytes,
            _ => return Err(outside()),
        };
        let field = |at: usize| number(database, at).unwrap_or(0);
        if field(12) != BYTE_ORDER {
            return Err(format!("the names of {what} have another byte order"));
        }
        if field(16) != expected {
            return Err(format!("there are {} names of {expected} {what}", field(16)));
        }
        let offsets = array(database, field(20) as usize, expected).ok_or_else(outside)?;
        Ok(Self { database, offsets })
    }

    /// Returns the name with an id; `None` if it is damaged or missing, which the offset 0 says.
    pub fn get(&self, id: usize) -> Option<&'a [u8]> {
        let at = u32::from_le_bytes(*self.offsets.get(id)?) as usize;
        let has_id = number(self.database, at)? as usize == id;
        let length = number(self.database, at + 4)? as usize;
        let start = at + 8;
        match self.database.get(start..start.checked_add(length)?)? {
            [name @ .., 0] if has_id && !name.contains(&0) => Some(name),
            _ => None,
        }
    }
}

/// Returns the items of the section of at least `expected` items at an offset in a file; the error
/// is a message.
fn section<'a, const N: usize>(
    file: &'a [u8],
    at: u32,
    magic: &[u8; 4],
    expected: usize,
    what: &str,
) -> Result<&'a [[u8; N]], String> {
    let outside = || format!("its {what} lie outside of the file");
    let bytes = file.get(at as usize..).filter(|bytes| bytes.starts_with(magic));
    let bytes = bytes.ok_or_else(outside)?;
    let fits = |length: &u32| *length >= SECTION_HEADER && *length as usize <= bytes.len();
    let length = number(bytes, 4).filter(fits);
    let count = length.and_then(|_| number(bytes, 8)).ok_or_else(outside)?;
    if (count as usize) < expected {
        return Err(format!("there are {count} {what}; expected {expected}"));
    }
    array(bytes, SECTION_HEADER as usize, count).ok_or_else(outside)
}

/// Returns the integer at an offset.
pub(super) fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let stored: Stored = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
    Some(u32::from_le_bytes(stored))
}

/// Returns `count` items of N bytes from an offset on.
fn array<const N: usize>(bytes: &[u8], at: usize, count: u32) -> Option<&[[u8; N]]> {
    let length = (count as usize).checked_mul(N)?;
    Some(bytes.get(at..at.checked_add(length)?)?.as_chunks().0)
}

/// Returns the error for a file of another length than its header says.
fn wrong_length(path: &Path, found: u64, declared: u64) -> Error {
    damaged(path, &format!("it has {found} bytes; according to its preamble, {declared}"))
}

/// Returns the length that a file should have, given at least its header.
///
/// # Errors
///
/// [`Error::Model`] if it ends within its header or declares to.
pub(super) fn declared_length(path: &Path, bytes: &[u8]) -> Result<u64> {
    match number(bytes, 4) {
        Some(length) if bytes.len() >= HEADER && length as usize >= HEADER => Ok(length.into()),
        Some(length) if bytes.len() >= HEADER => {
            Err(wrong_length(path, bytes.len() as u64, length.into()))
        }
        _ => Err(damaged(path, "it ends within its first 48 bytes")),
    }
}
