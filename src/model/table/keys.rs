//! Keys of names.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::fingerprint::{Fingerprinter, key};

/// The function that computes the keys of a table from names.
#[derive(Clone, Copy, Debug)]
pub enum TableKeys {
    /// XXH3-64 with this seed (format version 1).
    Hash(u64),
    /// The fingerprint, spread over 64 bits.
    Fingerprint(Fingerprinter),
}

impl TableKeys {
    /// Computes the key of a name.
    #[inline]
    pub fn key(&self, name: &[u8]) -> u64 {
        match self {
            Self::Hash(seed) => xxh3_64_with_seed(name, *seed),
            Self::Fingerprint(fingerprinter) => key(fingerprinter.fingerprint(name)),
        }
    }
}
