//! Integers and arrays of integers.

/// An integer as stored.
pub(super) type Stored = [u8; 4];

/// Returns the integer at an offset.
pub(super) fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let stored: Stored = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
    Some(u32::from_le_bytes(stored))
}

/// Returns `count` items of N bytes from an offset on.
pub(super) fn array<const N: usize>(bytes: &[u8], at: usize, count: u32) -> Option<&[[u8; N]]> {
    let length = (count as usize).checked_mul(N)?;
    let (items, _) = bytes.get(at..at.checked_add(length)?)?.as_chunks();
    Some(items)
}
