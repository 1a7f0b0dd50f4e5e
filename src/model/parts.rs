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
const PARTS_AT: usize = 32;

/// Maximum number of parts.
const MAX_PARTS: usize = 2;

/// What a model in a file of several is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It predicts the labels of the text. Its header is that of the file.
    Main,
    /// Its predictions are columns that the template of the main model reads.
    FirstPass,
}

impl Role {
    fn number(self) -> u64 {
        match self {
            Self::Main => 0,
            Self::FirstPass => 1,
        }
    }

    fn from_number(number: u64) -> Option<Self> {
        match number {
            0 => Some(Self::Main),
            1 => Some(Self::FirstPass),
            _ => None,
        }
    }
}

/// Returns whether a file holds several models, given at least its first 192 bytes.
pub(super) fn is_file_of_parts(bytes: &[u8]) -> bool {
    let is_long = bytes.len() >= PREAMBLE;
    is_long && bytes.starts_with(MAGIC) && read_number(bytes, VERSION_AT) == Some(Version::PARTS)
}

/// Assembles the file of two passes.
pub(super) fn assemble(second: &[u8], first: &[u8]) -> Vec<u8> {
    let parts = [(Role::Main, second), (Role::FirstPass, first)];
    let start = PARTS_AT + 24 * parts.len() + 8;
    let length = start + second.len() + first.len();
    let mut file = Vec::with_capacity(length);
    file.extend_from_slice(MAGIC);
    let mut push = |number: usize| file.extend_from_slice(&(number as u64).to_le_bytes());
    push(Version::PARTS as usize);
    push(length);
    push(parts.len());
    let mut offset = start;
    for (role, part) in parts {
        push(role.number() as usize);
        push(offset);
        push(part.len());
        offset += part.len();
    }
    let sum = xxh3_64(&file);
    file.extend_from_slice(&sum.to_le_bytes());
    file.extend_from_slice(second);
    file.extend_from_slice(first);
    file
}

/// Returns the byte ranges of the models of the second and the first pass.
///
/// # Errors
///
/// [`Error::Model`](crate::Error::Model) if the file is damaged.
pub(super) fn ranges(bytes: &[u8], path: &Path) -> Result<[Range<usize>; 2]> {
    let parts = read_preamble(bytes, path)?;
    let [(Role::Main, main), (Role::FirstPass, first)] = &parts[..] else {
        let what = "its parts are not a main model and a first pass";
        return Err(damaged(path, what));
    };
    for range in [main, first] {
        let part = &bytes[range.clone()];
        if is_file_of_parts(part) || !part.starts_with(MAGIC) {
            return Err(damaged(path, "one of its parts is not a model"));
        }
    }
    Ok([main.clone(), first.clone()])
}

/// Reads the roles and the byte ranges of the parts. They are contiguous and fill the file.
fn read_preamble(bytes: &[u8], path: &Path) -> Result<Vec<(Role, Range<usize>)>> {
    let number = |at: usize| read_number(bytes, at);
    let declared = number(LENGTH_AT).unwrap_or(0);
    if declared != bytes.len() as u64 {
        return Err(wrong_length(path, bytes.len() as u64, declared));
    }
    let outside = || damaged(path, "one of its parts lies outside of the file");
    let count = number(COUNT_AT).unwrap_or(0);
    let count = usize::try_from(count).ok().filter(|&n| n <= MAX_PARTS);
    let count = count.ok_or_else(|| damaged(path, "it has too many parts"))?;
    let sum_at = PARTS_AT + 24 * count;
    if number(sum_at).ok_or_else(outside)? != xxh3_64(&bytes[..sum_at]) {
        return Err(damaged(path, "its beginning does not match its checksum"));
    }
    let mut end = sum_at + 8;
    let mut ranges = Vec::with_capacity(count);
    for i in 0..count {
        let at = PARTS_AT + 24 * i;
        let [role, start, length] = [0, 8, 16].map(|field| number(at + field).unwrap_or(u64::MAX));
        let role = Role::from_number(role);
        let role = role.ok_or_else(|| damaged(path, "one of its parts has an unknown role"))?;
        let stop = start.checked_add(length);
        let stop = stop.filter(|&stop| start == end as u64 && stop <= bytes.len() as u64);
        let stop = stop.ok_or_else(outside)? as usize;
        if stop - end < PREAMBLE {
            return Err(outside());
        }
        ranges.push((role, end..stop));
        end = stop;
    }
    if end != bytes.len() {
        return Err(damaged(path, "there are bytes after its last part"));
    }
    Ok(ranges)
}

/// Decodes the integer at an offset, if the bytes are that long.
fn read_number(bytes: &[u8], at: usize) -> Option<u64> {
    let number = bytes.get(at..at + 8)?;
    number.try_into().ok().map(u64::from_le_bytes)
}
