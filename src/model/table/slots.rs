//! The slots of a table: an open-addressing hash table with linear probing.

/// Maximum number of slots that a look-up probes. Tables have no longer run of occupied slots.
///
/// With a load factor of 3/5 the longest run among a billion slots has about 200. A table forged to
/// be full would otherwise be searched as a whole for every unknown attribute.
pub(super) const MAX_PROBES: usize = 4096;

/// The location of the weights of an attribute: the index of a dense row, or the number of bytes
/// before a sparse one. In an undamaged model it is below 2⁶⁴ − 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightLocation(
    /// The index or the number.
    pub u64,
);

/// How the slots of a table are encoded and probed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots {
    number: u64,
    bits: u32, // width of the location in a slot
}

impl Slots {
    /// Creates a layout of `number` slots for locations below `locations`.
    pub fn new(number: u64, locations: u64) -> Self {
        Self { number, bits: (64 - locations.leading_zeros()).clamp(1, 63) }
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
        if at as u64 + 1 == self.number { 0 } else { at + 1 }
    }

    /// Returns the location in a nonempty slot, if its key matches `key`.
    #[inline]
    pub fn matches(self, slot: u64, key: u64) -> Option<WeightLocation> {
        let low = (1 << self.bits) - 1;
        let same = (slot ^ (key << self.bits)) & !low == 0;
        same.then(|| WeightLocation((slot & low).wrapping_sub(1)))
    }

    /// Encodes a slot.
    pub fn encode(self, key: u64, location: u64) -> u64 {
        key << self.bits | (location + 1)
    }
}
