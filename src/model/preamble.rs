//! The preamble of a model file, and the assembly of a file from its sections.

use std::ops::Range;
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use super::bytes::{Bytes, block_sums, damaged, sums_length, wrong_length};
use super::crfsuite;
use super::format::{
    LENGTH_AT, MAGIC, Magic, PREAMBLE, SECTIONS, SECTIONS_AT, SUM_AT, VERSION_AT, Version,
};
use super::parts::is_file_of_parts;
use super::table::TableSections;
use crate::error::{Error, Result};

/// The fixed-size beginning of a file.
pub(super) struct Preamble {
    pub version: Version,
    pub sections: [Range<usize>; SECTIONS],
    /// Checksum over the preamble up to here, the header and the block checksums.
    pub sum: u64,
}

impl Preamble {
    /// Decodes the preamble of a file with this magic and checks everything but the checksum: sections must be contiguous and
    /// fill the file.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if the file is not a model, has an unknown version or is damaged.
    pub fn read(bytes: &Bytes, magic: &Magic) -> Result<Self> {
        let version = format_version(bytes.path(), bytes.all(), magic)?;
        let declared = declared_length(bytes.path(), bytes.all(), magic)?;
        if declared != bytes.len() as u64 {
            return Err(wrong_length(bytes.path(), bytes.len() as u64, declared));
        }
        let number = |at: usize| number(bytes.all(), at);
        let mut sections: [Range<usize>; SECTIONS] = std::array::from_fn(|_| 0..0);
        let mut end = PREAMBLE;
        for (i, section) in sections.iter_mut().enumerate() {
            let at = SECTIONS_AT + 16 * i;
            let (start, length) = (number(at), number(at + 8));
            let stop = start
                .checked_add(length)
                .filter(|&stop| stop <= bytes.len() as u64);
            match stop {
                Some(stop) if start == end as u64 => *section = end..stop as usize,
                _ => return Err(bytes.damaged("a section lies outside of the file")),
            }
            end = section.end;
        }
        if end != bytes.len() {
            return Err(bytes.damaged("there are bytes after its last section"));
        }
        Ok(Self {
            version,
            sections,
            sum: number(SUM_AT),
        })
    }
}

/// Returns the format version, given at least the preamble of a file.
///
/// # Errors
///
/// [`Error::Model`] if the file is not a model, ends within its preamble or has an unknown version.
fn format_version(path: &Path, bytes: &[u8], magic: &Magic) -> Result<Version> {
    if !bytes.starts_with(magic) {
        let name = |magic: &[u8]| String::from_utf8_lossy(magic).trim_end().to_owned();
        let expected = name(magic);
        let found = bytes.get(..magic.len());
        let message = match found.filter(|found| found[..4] == magic[..4] && found[7] == b'\n') {
            Some(found) => {
                let found = name(found);
                format!("this is a file of another kind (it begins with {found}, not {expected})")
            }
            None => format!("this is not a dropchain model (it does not begin with {expected})"),
        };
        return Err(Error::model(path, message));
    }
    if bytes.len() < PREAMBLE {
        return Err(damaged(path, "it ends within its first 192 bytes"));
    }
    let version = number(bytes, VERSION_AT);
    Version::from_number(version).ok_or_else(|| {
        Error::model(
            path,
            format!(
                "the model has format version {version}; this dropchain reads versions 1 to \
                 {}, so a newer dropchain is needed, or the model is damaged",
                Version::LAST
            ),
        )
    })
}

/// Returns the length that a file should have, given at least its preamble; that of a CRFsuite
/// model, too.
///
/// # Errors
///
/// [`Error::Model`] if the file is not a model, has an unknown version or is damaged.
pub(super) fn declared_length(path: &Path, bytes: &[u8], magic: &Magic) -> Result<u64> {
    if magic == MAGIC && bytes.starts_with(crfsuite::MAGIC) {
        return crfsuite::declared_length(path, bytes);
    }
    if magic != MAGIC || !is_file_of_parts(bytes) {
        format_version(path, bytes, magic)?;
    }
    let length = number(bytes, LENGTH_AT);
    if length < PREAMBLE as u64 {
        return Err(wrong_length(path, bytes.len() as u64, length));
    }
    Ok(length)
}

/// Decodes the integer at an offset in the preamble.
fn number(bytes: &[u8], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(eight)
}

/// Computes the checksum of the preamble: of its bytes before the checksum, the header and the
/// block checksums.
pub(super) fn preamble_sum(preamble: &[u8], header: &[u8], sums: &[u8]) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(preamble);
    hasher.update(header);
    hasher.update(sums);
    hasher.digest()
}

/// Assembles a file of the current version from an encoded header and the two tables, each section
/// of which is freed once it is in the file.
pub(super) fn assemble(magic: &Magic, header: &[u8], tables: [TableSections; 2]) -> Vec<u8> {
    let tables = tables.map(|t| [t.slots, t.weights, t.ends, t.names]);
    let lengths = tables.as_flattened().iter().map(Vec::len);
    let lengths: Vec<usize> = lengths.collect();
    let length = lengths.iter().sum::<usize>();
    let sums_at = PREAMBLE + header.len();
    let data_at = sums_at + sums_length(length);
    let mut file = Vec::with_capacity(data_at + length);
    file.resize(PREAMBLE, 0);
    file.extend_from_slice(header);
    file.resize(data_at, 0);
    for section in tables.into_iter().flatten() {
        file.extend_from_slice(&section);
    }
    let sums = block_sums(&file[data_at..]);
    file[sums_at..data_at].copy_from_slice(&sums);
    let preamble = encode_preamble(magic, Version::CURRENT, header, &sums, &lengths);
    file[..PREAMBLE].copy_from_slice(&preamble);
    file
}

/// Returns a file of this version with another header. The tables do not depend on it.
pub(super) fn replace_header(version: Version, file: &[u8], header: &[u8]) -> Vec<u8> {
    let lengths: Vec<usize> = (0..SECTIONS)
        .map(|i| number(file, SECTIONS_AT + 16 * i + 8) as usize)
        .collect();
    let sums_at = PREAMBLE + lengths[0];
    let (sums, data) = file[sums_at..].split_at(lengths[1]);
    let preamble = encode_preamble(MAGIC, version, header, sums, &lengths[2..]);
    [&preamble, header, sums, data].concat()
}

/// Encodes the preamble of a file with tables of these lengths.
fn encode_preamble(
    magic: &Magic,
    version: Version,
    header: &[u8],
    sums: &[u8],
    tables: &[usize],
) -> Vec<u8> {
    let lengths = [&[header.len(), sums.len()], tables].concat();
    let total = PREAMBLE + lengths.iter().sum::<usize>();
    let mut preamble = Vec::with_capacity(PREAMBLE);
    preamble.extend_from_slice(magic);
    preamble.extend_from_slice(&version.number().to_le_bytes());
    preamble.extend_from_slice(&(total as u64).to_le_bytes());
    let mut start = PREAMBLE;
    for length in lengths {
        preamble.extend_from_slice(&(start as u64).to_le_bytes());
        preamble.extend_from_slice(&(length as u64).to_le_bytes());
        start += length;
    }
    let sum = preamble_sum(&preamble, header, sums);
    preamble.extend_from_slice(&sum.to_le_bytes());
    preamble
}
