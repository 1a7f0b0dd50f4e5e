//! The slots of a table: an open-addressing hash table with linear probing.

use crate::model::format::Version;

/// Maximum number of slots that a look-up probes. Tables have no longer run of occupied slots.
///
/// With a load factor of 3/5 the longest run among a billion slots has about 200. A table forged to
/// be full would otherwise be searched as a whole for every unknown attribute.
pub(super) const MAX_PROBES: usize = 4096;

/// The location of the weights of an attribute: the index of a dense row, or the number of bytes
/// before a sparse one; in versions 2 and 4, of entries before it. In version 1, the index of the
/// first entry, with the number of entries in the high half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightLocation(u64);

impl WeightLocation {
    /// Returns the location as an integer. In an undamaged model it is below 2⁶⁴ − 2.
    #[must_use]
    pub fn to_number(self) -> u64 {
        self.0
    }

    /// Returns the inverse of [`WeightLocation::to_number`].
    #[must_use]
    pub fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// Returns the index of the first entry (version 1).
    #[inline(always)]
    pub(super) fn first(self) -> u64 {
        self.0 & u64::from(u32::MAX)
    }

    /// Returns the number of entries (version 1).
    #[inline(always)]
    pub(super) fn count(self) -> u64 {
        self.0 >> 32
    }
}

/// How the slots of a table are encoded and probed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots {
    version: Version,
    number: u64,
    bits: u32, // width of the location in a slot (version 2)
}

impl Slots {
    /// Creates a layout of `number` slots for locations below `locations`.
    pub fn new(version: Version, number: u64, locations: u64) -> Self {
        Self {
            version,
            number,
            bits: (64 - locations.leading_zeros()).clamp(1, 63),
        }
    }

    /// Returns the size of a slot in bytes.
    pub fn size(self) -> usize {
        match self.version {
            Version::One => 16,
            Version::Two | Version::Four | Version::Five => 8,
        }
    }

    /// Returns the slot where probing for a key starts: the high bits of the key, scaled to the
    /// number of slots.
    #[inline]
    pub fn home(self, key: u64) -> usize {
        ((u128::from(key) * u128::from(self.number)) >> 64) as usize
    }

    /// Returns the slot to probe after slot `at`.
    #[inline]
    pub fn next(self, at: usize) -> usize {
        if at as u64 + 1 == self.number {
            0
        } else {
            at + 1
        }
    }

    /// Decodes the two integers of a slot; the second is 0 in version 2.
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

    /// Returns whether a slot is empty.
    #[inline]
    pub fn is_empty(self, slot: [u64; 2]) -> bool {
        match self.version {
            Version::One => slot[1] >> 32 == 0,
            Version::Two | Version::Four | Version::Five => slot[0] == 0,
        }
    }

    /// Returns the location in a nonempty slot, if its key matches `key`.
    #[inline]
    pub fn matches(self, slot: [u64; 2], key: u64) -> Option<WeightLocation> {
        match self.version {
            Version::One => (slot[0] == key).then_some(WeightLocation(slot[1])),
            Version::Two | Version::Four | Version::Five => {
                let low = (1 << self.bits) - 1;
                let same = (slot[0] ^ (key << self.bits)) & !low == 0;
                same.then(|| WeightLocation((slot[0] & low).wrapping_sub(1)))
            }
        }
    }

    /// Encodes a slot of version 2.
    pub fn encode(self, key: u64, location: u64) -> u64 {
        key << self.bits | (location + 1)
    }
}
