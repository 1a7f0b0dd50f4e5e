//! Models with hostile contents and valid checksums.

use xxhash_rust::xxh3::xxh3_64;

use crate::mutate::Mutator;

/// Offsets in the fixed-size part of a model file, and its length; see `src/model/mod.rs`.
const LENGTHS_AT: usize = 16;
const SUM_AT: usize = LENGTHS_AT + 8 * SECTIONS;
const PREAMBLE: usize = SUM_AT + 8;

/// Number of sections: header, sums, four of each table, and the first pass.
const SECTIONS: usize = 11;

/// Number of bytes covered by each checksum of the tables.
const BLOCK: usize = 16 << 10;

/// Numbers of the header's encoding: of 16, 32 and 64 bits, and floats that are not finite.
pub const NUMBERS: &str = "\u{0} \u{1} \u{2} \u{7f} \u{10}\u{27}";

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let eight = bytes.get(at..at + 8)?.try_into().ok()?;
    usize::try_from(u64::from_le_bytes(eight)).ok()
}

/// The sections of a model; `None` if they are not within the file.
fn sections(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut start = PREAMBLE;
    (0..SECTIONS)
        .map(|i| {
            let end = start.checked_add(number(bytes, LENGTHS_AT + 8 * i)?)?;
            let section = bytes.get(start..end)?.to_vec();
            start = end;
            Some(section)
        })
        .collect()
}

/// Assembles a model from its sections, with valid lengths and checksums.
fn assemble(version: &[u8], sections: &mut [Vec<u8>]) -> Vec<u8> {
    let data = sections[2..].concat();
    sections[1] = data.chunks(BLOCK).flat_map(|block| xxh3_64(block).to_le_bytes()).collect();
    let mut bytes = version.to_vec();
    for section in sections.iter() {
        bytes.extend_from_slice(&(section.len() as u64).to_le_bytes());
    }
    let covered = [&bytes[..SUM_AT], &sections[0], &sections[1]].concat();
    bytes.extend_from_slice(&xxh3_64(&covered).to_le_bytes());
    for section in sections.iter() {
        bytes.extend_from_slice(section);
    }
    bytes
}

/// Recomputes checksums, as an attacker would.
pub fn reseal(bytes: &[u8]) -> Option<Vec<u8>> {
    Some(assemble(&bytes[..LENGTHS_AT], &mut sections(bytes)?))
}

/// Changes one or two sections of a model and seals it again.
pub fn mutate(mutator: &mut Mutator, input: &mut Vec<u8>, other: &[u8]) {
    let (Some(mut parts), Some(others)) = (sections(input), sections(other)) else { return };
    for _ in 0..1 + mutator.random.below(2) {
        // Half of the time the header, whose decoder does most; never the sums.
        let i = match mutator.random.below(2) {
            0 => 0,
            _ => 2 + mutator.random.below(SECTIONS - 2),
        };
        match mutator.random.below(6) {
            0 => parts[i].clone_from(&others[i]),
            1 => mutator.change_number(&mut parts[i]),
            _ => mutator.mutate(&mut parts[i], &others[i]),
        }
    }
    *input = assemble(&input[..LENGTHS_AT], &mut parts);
}
