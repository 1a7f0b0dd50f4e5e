//! Files of two models, those of the two passes over a document.
//!
//! Format version 3. All integers are little-endian and have 8 bytes.
//!
//! | bytes | content |
//! |---|---|
//! | 0–7 | magic `DROPCHN\n` |
//! | 8–15 | format version, 3 |
//! | 16–23 | length of the file |
//! | 24–31 | number of parts, 2 |
//! | 32–79 | for each part: its role (0 main model, 1 first pass), its offset, its length |
//! | 80–87 | XXH3-64 of bytes 0–79 |
//! | … | the parts: whole model files of an earlier version, each with its own checksums |

use std::ops::Range;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::bytes::{damaged, wrong_length};
use super::format::{LENGTH_AT, MAGIC, PREAMBLE, VERSION_AT, Version};
use crate::error::Result;

/// Offset of the number of parts.
const COUNT_AT: usize = 24;

/// Offset of the list of parts: 24 bytes each, its role, its offset and its length.
const LIST_AT: usize = 32;

/// Offset of the checksum of everything before it.
const SUM_AT: usize = LIST_AT + 24 * ROLES.len();

/// Offset of the first part.
const PARTS_AT: usize = SUM_AT + 8;

/// The roles of the parts: the model that predicts the labels of the text, whose header is that of
/// the file, and the one whose predictions are columns that the template of the other reads.
const ROLES: [u64; 2] = [0, 1];

/// Returns whether a file holds several models, given at least its first 192 bytes.
pub(super) fn is_file_of_parts(bytes: &[u8]) -> bool {
    let is_long = bytes.len() >= PREAMBLE;
    is_long && bytes.starts_with(MAGIC) && read_number(bytes, VERSION_AT) == Some(Version::PARTS)
}

/// Assembles the file of two passes.
pub(super) fn assemble(second: &[u8], first: &[u8]) -> Vec<u8> {
    let length = PARTS_AT + second.len() + first.len();
    let mut file = Vec::with_capacity(length);
    file.extend_from_slice(MAGIC);
    let mut push = |number: u64| file.extend_from_slice(&number.to_le_bytes());
    push(Version::PARTS);
    push(length as u64);
    push(ROLES.len() as u64);
    let mut offset = PARTS_AT;
    for (role, part) in ROLES.into_iter().zip([second, first]) {
        push(role);
        push(offset as u64);
        push(part.len() as u64);
        offset += part.len();
    }
    let sum = xxh3_64(&file);
    file.extend_from_slice(&sum.to_le_bytes());
    file.extend_from_slice(second);
    file.extend_from_slice(first);
    file
}

/// Returns the byte ranges of the models of the second and the first pass. They are contiguous and
/// fill the file.
///
/// # Errors
///
/// [`Error::Model`](crate::Error::Model) if the file is damaged.
pub(super) fn ranges(bytes: &[u8], path: &Path) -> Result<[Range<usize>; 2]> {
    let number = |at: usize| read_number(bytes, at).unwrap_or(u64::MAX);
    if number(LENGTH_AT) != bytes.len() as u64 {
        return Err(wrong_length(path, bytes.len() as u64, number(LENGTH_AT)));
    }
    if number(COUNT_AT) != ROLES.len() as u64 {
        return Err(damaged(path, "it does not have two parts"));
    }
    if bytes.len() < PARTS_AT || number(SUM_AT) != xxh3_64(&bytes[..SUM_AT]) {
        let what = "its beginning does not match its checksum";
        return Err(damaged(path, what));
    }
    let entry = |i: usize| [0, 8, 16].map(|field| number(LIST_AT + 24 * i + field));
    let [[main, start, length], [first, split, first_length]] = [entry(0), entry(1)];
    if [main, first] != ROLES {
        let what = "its parts are not a main model and a first pass";
        return Err(damaged(path, what));
    }
    if start != PARTS_AT as u64
        || start.checked_add(length) != Some(split)
        || split.checked_add(first_length) != Some(bytes.len() as u64)
    {
        return Err(damaged(path, "its parts do not fill it"));
    }
    let split = split as usize;
    for part in [&bytes[PARTS_AT..split], &bytes[split..]] {
        if part.len() < PREAMBLE || is_file_of_parts(part) || !part.starts_with(MAGIC) {
            return Err(damaged(path, "one of its parts is not a model"));
        }
    }
    Ok([PARTS_AT..split, split..bytes.len()])
}

/// Decodes the integer at an offset, if the bytes are that long.
fn read_number(bytes: &[u8], at: usize) -> Option<u64> {
    let number = bytes.get(at..at + 8)?;
    number.try_into().ok().map(u64::from_le_bytes)
}
