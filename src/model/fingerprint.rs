//! The fingerprint of what a model does, whatever its files were called.

use xxhash_rust::xxh3::Xxh3;

use super::file::Model;
use super::format::SECTIONS_AT;
use super::header::Provenance;
use crate::error::Result;
use crate::template::Template;

impl Model {
    /// Returns a hash of everything that determines the predictions: labels, schemes, columns,
    /// template, weights. Two models with the same fingerprint tag alike.
    ///
    /// Provenance and the name of the template file are left out, so training on the same data
    /// gives the same fingerprint whether they came from a file, compressed, or from standard
    /// input. The bytes of the file differ, since provenance has names as the user typed them.
    ///
    /// The hash is XXH3 of 128 bits, which detects differences, but not forgery.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`](crate::Error::Parameter) if the header cannot be encoded.
    pub fn fingerprint(&self) -> Result<u128> {
        let mut header = self.header().clone();
        header.provenance = Provenance::default();
        header.template = header.template.map(Template::without_name);
        let mut hasher = Xxh3::new();
        hasher.update(&self.version().to_le_bytes());
        hasher.update(&header.encode()?);
        hasher.update(tables(self.main_bytes()));
        if let Some(first) = self.first_pass() {
            hasher.update(&first.fingerprint()?.to_le_bytes());
        }
        Ok(hasher.digest128())
    }
}

/// Returns the tables of a model file: all that follows the second section, the checksums.
fn tables(bytes: &[u8]) -> &[u8] {
    let number = |at: usize| {
        let mut eight = [0; 8];
        eight.copy_from_slice(&bytes[at..at + 8]);
        u64::from_le_bytes(eight) as usize
    };
    let sums = SECTIONS_AT + 16;
    &bytes[number(sums) + number(sums + 8)..]
}
