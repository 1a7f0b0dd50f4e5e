//! Building, opening and saving models, and looking up attributes.

use std::path::Path;
use std::sync::Arc;

use super::bytes::Bytes;
use super::file_contents::{self, Sections, assemble, check, check_memory, sections};
use super::format::{AttributeKind, FIRST_PASS, MAGIC};
use super::header::Header;
use super::table::{
    AttributeWeights, Table, TableBuilder, TableFormat, WeightLocation, WeightRows,
};
#[cfg(feature = "train")]
use crate::atomic_file;
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprinter, key};
use crate::input_file::InputFile;

/// A trained model: immutable, shared by any number of threads.
#[derive(Debug)]
pub struct Model {
    bytes: Bytes,
    sections: Sections,
    header: Header,
    tables: [Table; 2], // nodes, edges
    first_pass: Option<Arc<Model>>,
}

impl Model {
    /// Builds a model from its header and the tables of nodes and edges; sets [`Header::tables`].
    pub fn build(header: Header, tables: [TableBuilder; 2]) -> Result<Self> {
        Self::from_bytes(encode(header, tables)?)
    }

    /// Reads a model file into memory. What happens to the file afterwards has no effect on the
    /// model.
    ///
    /// Checksums are verified when a block is first used, or all at once by [`Model::verify`].
    /// Replace a model file by renaming a new one (`mv`), as [`Model::save`] does: one that is
    /// overwritten in place (`cp`) cannot be opened until it is complete.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be read; [`Error::Model`] if it is not a model, has another
    /// format version, is damaged or changes while it is read, or if memory does not suffice.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::read(InputFile::open(path.as_ref(), file_contents::EXPECTED)?)
    }

    /// Reads a model from an open file; otherwise like [`Model::open`].
    ///
    /// # Errors
    ///
    /// Same as [`Model::open`].
    pub fn read(file: InputFile) -> Result<Self> {
        Self::from_storage(file_contents::read(file, MAGIC)?)
    }

    /// Reads a model from the contents of a model file, as returned by [`Model::as_bytes`].
    ///
    /// # Errors
    ///
    /// Same as [`Model::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::from_storage(Bytes::new(bytes, Path::new("model in memory")))
    }

    fn from_storage(mut bytes: Bytes) -> Result<Self> {
        let sections = sections(bytes.path(), bytes.all(), MAGIC)?;
        check(bytes.path(), bytes.all(), &sections)?;
        let header = &bytes.all()[sections[0].clone()];
        let header = Header::decode(header).map_err(|what| bytes.damaged(&what))?;
        check_label_memory(header.labels.len().pow(2), bytes.path())?;
        let table = |kind: AttributeKind| {
            let format =
                TableFormat { precision: header.precision, kind, labels: header.labels.len() };
            let of_table = std::array::from_fn(|i| sections[2 + 4 * kind as usize + i].clone());
            let table = Table::new(&header.tables[kind as usize], format, of_table);
            table.map_err(|what| bytes.damaged(&what))
        };
        let tables = [table(AttributeKind::Node)?, table(AttributeKind::Edge)?];
        if header.tables[0].seed != header.tables[1].seed {
            return Err(bytes.damaged("its tables have different seeds"));
        }
        bytes.set_blocks(sections[1].clone())?;
        let mut first_pass = None;
        if !sections[FIRST_PASS].is_empty() {
            let first = Self::from_storage(bytes.part(sections[FIRST_PASS].clone()))?;
            if first.first_pass.is_some() {
                return Err(bytes.damaged("its first pass has two passes"));
            }
            let label_pairs = [&header, &first.header].map(|header| header.labels.len().pow(2));
            check_label_memory(label_pairs.iter().sum(), bytes.path())?;
            first_pass = Some(Arc::new(first));
        }
        Ok(Self { bytes, sections, header, tables, first_pass })
    }

    /// Combines the models of two passes in one file, whose header is that of the second.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if one has two passes already.
    pub fn combine(second: &Self, first: &Self) -> Result<Self> {
        if second.first_pass.is_some() || first.first_pass.is_some() {
            let message = "a model of two passes cannot be one of two passes";
            return Err(Error::parameter(message));
        }
        let mut sections = second.contents();
        let header = sections.remove(0);
        sections[FIRST_PASS - 2] = first.as_bytes();
        Self::from_bytes(assemble(MAGIC, header, sections))
    }

    /// Returns a copy with another header. The tables do not depend on it.
    pub(super) fn with_header(&self, header: &Header) -> Result<Self> {
        let sections = self.contents().split_off(1);
        Self::from_bytes(assemble(MAGIC, &header.encode()?, sections))
    }

    /// Returns the contents of all sections but the checksums.
    fn contents(&self) -> Vec<&[u8]> {
        let sections = self.sections.iter().enumerate();
        let sections = sections.filter(|(i, _)| *i != 1);
        let bytes = self.bytes.all();
        sections.map(|(_, section)| &bytes[section.clone()]).collect()
    }

    /// Returns the model of the first pass, whose predictions the template of this one reads.
    pub fn first_pass(&self) -> Option<&Arc<Self>> {
        self.first_pass.as_ref()
    }

    /// Returns the contents of the model file.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.all()
    }

    /// Returns the byte ranges of the sections of the file.
    pub(super) fn sections(&self) -> &Sections {
        &self.sections
    }

    /// Writes the model to a file, atomically: after a crash, the path holds either the old file
    /// or the complete new one.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be written; [`Error::Parameter`] if `path` exists and is
    /// not a regular file, which renaming would destroy.
    #[cfg(feature = "train")]
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        atomic_file::write(path, self.as_bytes())
    }

    /// Returns the header: labels, template, label weights, provenance; everything but the weights
    /// of attributes.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Sets the path that errors name.
    #[must_use]
    pub fn with_path(mut self, path: &Path) -> Self {
        self.bytes.set_path(path);
        self
    }

    /// Returns the path that the model was opened from.
    pub fn path(&self) -> &Path {
        self.bytes.path()
    }

    /// Returns the number of attributes with weights.
    pub fn attributes(&self, kind: AttributeKind) -> usize {
        self.table(kind).len()
    }

    /// Returns the number of weights that are stored for attributes.
    pub fn weights(&self, kind: AttributeKind) -> usize {
        self.table(kind).weights()
    }

    /// Returns the name of attribute `i`, numbered in training order.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless `i` < [`Model::attributes`]; [`Error::Model`] if the file is
    /// damaged there.
    pub fn attribute_name(&self, kind: AttributeKind, i: usize) -> Result<&[u8]> {
        self.table(kind).names().get(&self.bytes, i)
    }

    /// Returns the number of bytes of the names of all attributes.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if the file is damaged there.
    pub fn length_of_names(&self, kind: AttributeKind) -> Result<usize> {
        self.table(kind).names().total(&self.bytes)
    }

    /// Returns the slots and weights of a table, as stored.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if the file is damaged there.
    pub(super) fn slots_and_weights(&self, kind: AttributeKind) -> Result<&[u8]> {
        self.bytes.get(self.table(kind).slots_and_weights())
    }

    /// Adds the weights of the attribute `name`, times `value`, to scores: `[stride]` for a node,
    /// `[K][stride]` for an edge. Returns whether the model has the attribute.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if the file is damaged there.
    ///
    /// # Panics
    ///
    /// If `stride` < K, or if `scores` has another length.
    pub fn add_scores(
        &self,
        kind: AttributeKind,
        name: &[u8],
        value: f64,
        stride: usize,
        scores: &mut [f64],
    ) -> Result<bool> {
        let table = self.table(kind);
        assert!(
            stride >= self.header.labels.len() && scores.len() == table.scores(stride),
            "scores are [1 or K][stride]"
        );
        let Some(location) = self.find(kind, self.key(name))? else {
            return Ok(false);
        };
        let weights = self.weights_at(kind, location)?;
        if !weights.add_to(value, stride, scores) {
            return Err(self.weight_without_label());
        }
        Ok(true)
    }

    /// Returns the fingerprinter that computes the keys of attributes.
    pub fn fingerprinter(&self) -> Fingerprinter {
        self.tables[0].fingerprinter()
    }

    /// Computes the key of an attribute, for [`Model::find`], from its name.
    pub fn key(&self, name: &[u8]) -> u64 {
        key(self.fingerprinter().fingerprint(name))
    }

    /// Prefetches the slot where [`Model::find`] starts. Call it for many keys before looking them
    /// up, so that their cache misses overlap.
    #[inline(always)]
    pub fn prefetch_slot(&self, kind: AttributeKind, key: u64) -> u8 {
        self.table(kind).prefetch_slot(&self.bytes, key)
    }

    /// Prefetches the bytes that [`Model::weights_at`] reads. Call it for many locations before
    /// reading them, likewise.
    #[inline(always)]
    pub fn prefetch_weights(&self, kind: AttributeKind, location: WeightLocation) -> u8 {
        self.table(kind).prefetch_weights(&self.bytes, location)
    }

    /// Looks up an attribute by its key.
    #[inline]
    pub fn find(&self, kind: AttributeKind, key: u64) -> Result<Option<WeightLocation>> {
        self.table(kind).find(&self.bytes, key)
    }

    /// Returns the weights of node attributes for fast summation.
    pub fn node_rows(&self) -> WeightRows<'_> {
        self.table(AttributeKind::Node).rows(&self.bytes)
    }

    /// Returns the weights at a location.
    #[inline(always)]
    pub fn weights_at(
        &self,
        kind: AttributeKind,
        location: WeightLocation,
    ) -> Result<AttributeWeights<'_>> {
        self.table(kind).weights_at(&self.bytes, location)
    }

    /// Returns the error for a weight whose label does not exist, which
    /// [`AttributeWeights::add_to`] detects.
    #[cold]
    pub fn weight_without_label(&self) -> Error {
        self.bytes.weight_without_label()
    }

    /// Returns the error for a name that its table does not find.
    #[cold]
    pub(super) fn name_without_weights(&self) -> Error {
        self.bytes.damaged("a name has no weights")
    }

    /// Verifies the checksums of the whole file.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if a block does not match its checksum.
    pub fn verify(&self) -> Result<()> {
        let data = self.sections[1].end;
        self.bytes.get(data..self.bytes.len()).map(|_| ())
    }

    #[inline(always)]
    fn table(&self, kind: AttributeKind) -> &Table {
        &self.tables[kind as usize]
    }
}

/// Encodes the header and tables of a model as the contents of a file.
fn encode(mut header: Header, [nodes, edges]: [TableBuilder; 2]) -> Result<Vec<u8>> {
    // Both tables use one seed, so that a key can be computed before the table is known.
    let mut seeds = (0..).filter_map(|seed| Some((seed, nodes.slots(seed)?, edges.slots(seed)?)));
    let (seed, node_slots, edge_slots) = seeds.next().expect("there is no last seed");
    header.tables = [nodes.info(seed)?, edges.info(seed)?];
    let header = header.encode()?;
    let nodes = nodes.into_sections(node_slots);
    let edges = edges.into_sections(edge_slots);
    let sections = [nodes, edges].into_iter().flatten().chain([Vec::new()]);
    Ok(assemble(MAGIC, &header, sections.collect()))
}

/// Checks that there is memory for the transitions of `label_pairs` pairs of labels, which a small
/// file may declare: here, and in a tagger their scores, two kinds of potentials and a constraint.
fn check_label_memory(label_pairs: usize, path: &Path) -> Result<()> {
    let bytes = 5 * (label_pairs * size_of::<f64>()) as u64;
    let what = || format!("a model of {} labels", label_pairs.isqrt());
    check_memory(path, bytes, what)
}
