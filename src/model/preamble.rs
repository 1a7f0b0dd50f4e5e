//! The preamble of a model file, and the assembly of a file from its sections.

use std::ops::Range;
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use super::bytes::{block_sums, damaged, sums_length, wrong_length};
use super::format::{FORMAT_VERSION, LENGTHS_AT, Magic, PREAMBLE, SECTIONS, SUM_AT, VERSION_AT};
use crate::error::{Error, Result};

/// The byte ranges of the sections of a file. They are contiguous and fill it.
pub(super) type Sections = [Range<usize>; SECTIONS];

/// Returns the sections of a file with this magic, given at least its preamble.
///
/// # Errors
///
/// [`Error::Model`] if the file is of another kind, has another version or is damaged.
pub(super) fn sections(path: &Path, bytes: &[u8], magic: &Magic) -> Result<Sections> {
    if !bytes.starts_with(magic) {
        return Err(Error::model(path, another_kind(bytes, magic)));
    }
    let Some(preamble) = bytes.get(..PREAMBLE) else {
        let what = format!("it ends within its first {PREAMBLE} bytes");
        return Err(damaged(path, &what));
    };
    let numbers = preamble.as_chunks().0;
    let version = u64::from_le_bytes(numbers[VERSION_AT / 8]);
    if version != FORMAT_VERSION {
        return Err(Error::model(
            path,
            format!(
                "the model has format version {version}; this dropchain reads version {FORMAT_VERSION}, \
                 so another dropchain is needed, or the model is damaged"
            ),
        ));
    }
    let mut sections = Sections::default();
    let mut start = PREAMBLE;
    for (section, length) in sections.iter_mut().zip(&numbers[LENGTHS_AT / 8..]) {
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        *section = start..start.saturating_add(length);
        start = section.end;
    }
    Ok(sections)
}

/// Says that a file does not begin with this magic.
fn another_kind(bytes: &[u8], magic: &Magic) -> String {
    let name = |magic: &[u8]| String::from_utf8_lossy(magic).trim_end().to_owned();
    let expected = name(magic);
    let found = bytes.get(..magic.len());
    match found.filter(|found| found[..4] == magic[..4] && found[7] == b'\n') {
        Some(found) => {
            let found = name(found);
            format!("this is a file of another kind (it begins with {found}, not {expected})")
        }
        None => format!("this is not a dropchain model (it does not begin with {expected})"),
    }
}

/// Checks that sections fill a file of this length, and their checksum: of the bytes before it, the
/// header and the block checksums.
///
/// # Errors
///
/// [`Error::Model`] if the file is damaged.
pub(super) fn check(path: &Path, bytes: &[u8], sections: &Sections) -> Result<()> {
    let declared = sections[SECTIONS - 1].end;
    if declared != bytes.len() {
        return Err(wrong_length(path, bytes.len() as u64, declared as u64));
    }
    let [header, sums] = [0, 1].map(|i| &bytes[sections[i].clone()]);
    let sum = preamble_sum(&bytes[..SUM_AT], header, sums);
    if sum.to_le_bytes() != bytes[SUM_AT..PREAMBLE] {
        return Err(damaged(path, "its beginning does not match its checksum"));
    }
    Ok(())
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

/// Assembles a file with this magic from an encoded header and the sections after the checksums, each of which is
/// freed once it is in the file.
pub(super) fn assemble<S: AsRef<[u8]>>(magic: &Magic, header: &[u8], sections: Vec<S>) -> Vec<u8> {
    let lengths: Vec<usize> = sections.iter().map(|s| s.as_ref().len()).collect();
    let length = lengths.iter().sum::<usize>();
    let sums_at = PREAMBLE + header.len();
    let data_at = sums_at + sums_length(length);
    let mut file = Vec::with_capacity(data_at + length);
    file.extend_from_slice(magic);
    let lengths = [&[header.len(), sums_length(length)], &lengths[..]].concat();
    for number in [FORMAT_VERSION]
        .into_iter()
        .chain(lengths.into_iter().map(|n| n as u64))
    {
        file.extend_from_slice(&number.to_le_bytes());
    }
    file.resize(PREAMBLE, 0);
    file.extend_from_slice(header);
    file.resize(data_at, 0);
    for section in sections {
        file.extend_from_slice(section.as_ref());
    }
    let sums = block_sums(&file[data_at..]);
    file[sums_at..data_at].copy_from_slice(&sums);
    let sum = preamble_sum(&file[..SUM_AT], header, &sums);
    file[SUM_AT..PREAMBLE].copy_from_slice(&sum.to_le_bytes());
    file
}
