//! The fingerprint of what a model does, whatever its files were called.

use xxhash_rust::xxh3::Xxh3;

use super::file::Model;
use super::format::{AttributeKind, FORMAT_VERSION};
use super::provenance::Provenance;
use crate::error::Result;
use crate::template::Template;

impl Model {
    /// Returns a hash of everything that determines the predictions: labels, schemes, columns,
    /// template, weights. Two models with the same fingerprint tag alike.
    ///
    /// Provenance (names, date, note) and the name of the template file are left out, so training
    /// on the same data gives the same fingerprint whether they came from a file, compressed, or
    /// from standard input. The bytes of the file differ, since provenance has names as typed.
    ///
    /// The hash is XXH3 of 128 bits, which detects differences, but not forgery.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`](crate::Error::Parameter) if the header cannot be encoded;
    /// [`Error::Model`](crate::Error::Model) if the file is damaged.
    pub fn fingerprint(&self) -> Result<u128> {
        let mut header = self.header().clone();
        header.provenance = Provenance::default();
        header.template = header.template.map(Template::without_name);
        let mut hasher = Xxh3::new();
        hasher.update(&FORMAT_VERSION.to_le_bytes());
        hasher.update(&header.encode()?);
        self.add_tables(&mut hasher)?;
        if let Some(first) = self.first_pass() {
            hasher.update(&first.fingerprint()?.to_le_bytes());
        }
        Ok(hasher.digest128())
    }

    /// Hashes the tables, with names as they are decoded: another version of the compressor may
    /// encode them otherwise.
    fn add_tables(&self, hasher: &mut Xxh3) -> Result<()> {
        for kind in [AttributeKind::Node, AttributeKind::Edge] {
            let table = self.table(kind);
            hasher.update(table.slots_and_weights()?);
            for i in 0..table.len() {
                let name = table.name(i)?;
                hasher.update(&(name.len() as u64).to_le_bytes());
                hasher.update(name);
            }
        }
        Ok(())
    }
}
