//! The slots of a table: where an attribute is looked for, and how one is told from another.

use super::super::file::Version;

/// How the slots of a table are written and searched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots {
    version: Version,
    number: u64,
    bits: u32, // of a location in a slot (version 2)
}

impl Slots {
    /// `number` slots, for locations below `entries`.
    pub fn new(version: Version, number: u64, entries: u64) -> Self {
        Self {
            version,
            number,
            bits: (64 - entries.leading_zeros()).clamp(1, 63),
        }
    }

    /// Bytes of a slot.
    pub fn size(self) -> usize {
        match self.version {
            Version::One => 16,
            Version::Two => 8,
        }
    }

    /// The slot where the search for a key begins: its high bits, scaled to the number of slots.
    #[inline]
    pub fn home(self, key: u64) -> usize {
        ((u128::from(key) * u128::from(self.number)) >> 64) as usize
    }

    /// The slot after slot `at`.
    #[inline]
    pub fn after(self, at: usize) -> usize {
        if at as u64 + 1 == self.number {
            0
        } else {
            at + 1
        }
    }

    /// The two numbers of a slot; the second is 0 in version 2.
    #[inline]
    pub fn read(self, slot: &[u8]) -> [u64; 2] {
        let (numbers, _) = slot.as_chunks::<8>();
        let number = |i: usize| {
            numbers
                .get(i)
                .map_or(0, |n: &[u8; 8]| u64::from_le_bytes(*n))
        };
        [number(0), number(1)]
    }

    /// Whether there is nothing in a slot.
    #[inline]
    pub fn is_empty(self, slot: [u64; 2]) -> bool {
        match self.version {
            Version::One => slot[1] >> 32 == 0,
            Version::Two => slot[0] == 0,
        }
    }

    /// The location in a slot, if the slot is that of `key`.
    #[inline]
    pub fn matches(self, slot: [u64; 2], key: u64) -> Option<u64> {
        match self.version {
            Version::One => (slot[0] == key).then_some(slot[1]),
            Version::Two => {
                let low = (1 << self.bits) - 1;
                let same = (slot[0] ^ (key << self.bits)) & !low == 0;
                same.then(|| (slot[0] & low).wrapping_sub(1))
            }
        }
    }

    /// A slot of version 2 for a key at a location.
    pub fn write(self, key: u64, location: u64) -> u64 {
        key << self.bits | (location + 1)
    }
}
