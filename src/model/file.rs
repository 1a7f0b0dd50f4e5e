//! Building, opening and saving models, and looking up attributes.

use std::path::Path;
use std::sync::Arc;

use super::bytes::{Bytes, Contents};
use super::crfsuite::{self, CrfsuiteFile};
use super::file_contents::{self, SMALL};
use super::format::{AttributeKind, MAGIC, Precision, SUM_AT, Version};
use super::header::Header;
use super::parts;
use super::preamble::{Preamble, assemble, preamble_sum};
use super::table::{
    AttributeWeights, Table, TableBuilder, TableFormat, TableKeys, WeightLocation, WeightRows,
};
use crate::atomic_file;
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprinter;
use crate::memory::MemoryLimit;

/// Memory that converting a CRFsuite model takes, as a multiple of its length (decision 42).
const CONVERSION_FACTOR: u64 = 6;

/// A trained model: immutable, shared by any number of threads.
#[derive(Debug)]
pub struct Model {
    bytes: Bytes,
    header: Header,
    version: Version,
    tables: [Table; 2], // nodes, edges
    file: Option<FileOfParts>,
}

/// The file that the models of two passes share.
#[derive(Debug)]
struct FileOfParts {
    contents: Arc<Contents>,
    first_pass: Arc<Model>,
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
    /// A model file of CRFsuite (`lCRF`) becomes a model with the same weights, in double precision
    /// and without constraints on label sequences. [`Model::as_bytes`] and [`Model::save`] then
    /// give a model file of dropchain's own format.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be read; [`Error::Model`] if it is not a model, has a newer
    /// format version, is damaged or changes while it is read, or if memory does not suffice.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_storage(file_contents::read(path.as_ref(), MAGIC)?)
    }

    /// Reads a model from the contents of a model file, as returned by [`Model::as_bytes`] or
    /// written by CRFsuite.
    ///
    /// # Errors
    ///
    /// Same as [`Model::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::from_storage(Bytes::new(bytes, Path::new("model in memory")))
    }

    /// Converts a model of CRFsuite.
    fn from_crfsuite(bytes: &Bytes) -> Result<Self> {
        let path = bytes.path();
        check_conversion_memory(bytes.len(), path)?;
        let file = CrfsuiteFile::read(path, bytes.all())?;
        check_memory(file.labels().pow(2), path)?;
        let (header, nodes) = file.convert()?;
        let edges = TableBuilder::edges(header.labels.len(), Precision::F64);
        let converted = encode(header, [nodes, edges])?;
        Self::from_storage(Bytes::new(converted, path))
    }

    fn from_storage(mut bytes: Bytes) -> Result<Self> {
        if bytes.all().starts_with(crfsuite::MAGIC) {
            return Self::from_crfsuite(&bytes);
        }
        if parts::is_file_of_parts(bytes.all()) {
            return Self::from_file_of_parts(bytes);
        }
        let preamble = Preamble::read(&bytes, MAGIC)?;
        let [header, sums] = [&preamble.sections[0], &preamble.sections[1]];
        let (Some(header_bytes), Some(sum_bytes)) =
            (bytes.raw(header.clone()), bytes.raw(sums.clone()))
        else {
            return Err(bytes.damaged("a section lies outside of the file"));
        };
        let fixed = bytes.raw(0..SUM_AT).unwrap_or_default();
        if preamble_sum(fixed, header_bytes, sum_bytes) != preamble.sum {
            return Err(bytes.damaged("its beginning does not match its checksum"));
        }
        let header =
            Header::decode(header_bytes, preamble.version).map_err(|what| bytes.damaged(&what))?;
        check_memory(header.labels.len().pow(2), bytes.path())?;
        let table = |kind: AttributeKind| {
            let i = kind as usize;
            let format = TableFormat {
                version: preamble.version,
                precision: header.precision,
                kind,
                labels: header.labels.len(),
            };
            let sections = std::array::from_fn(|s| preamble.sections[2 + 4 * i + s].clone());
            Table::new(&header.tables[i], format, sections).map_err(|what| bytes.damaged(&what))
        };
        let tables = [table(AttributeKind::Node)?, table(AttributeKind::Edge)?];
        let has_one_seed = preamble.version.has_fingerprints();
        if has_one_seed && header.tables[0].seed != header.tables[1].seed {
            return Err(bytes.damaged("its tables have different seeds"));
        }
        bytes.set_blocks(sums.clone(), sums.end)?;
        Ok(Self {
            bytes,
            header,
            version: preamble.version,
            tables,
            file: None,
        })
    }

    fn from_file_of_parts(bytes: Bytes) -> Result<Self> {
        let path = bytes.path().to_owned();
        let contents = Arc::new(bytes.into_contents());
        let [main, first_pass] = parts::ranges(&contents, &path)?.map(|range| {
            let contents = Contents::Part(Arc::clone(&contents), range);
            Self::from_storage(Bytes::from_contents(contents, &path))
        });
        let (main, first_pass) = (main?, first_pass?);
        let label_pairs = [&main, &first_pass].map(|model| model.header.labels.len().pow(2));
        check_memory(label_pairs.iter().sum(), &path)?;
        Ok(Self {
            file: Some(FileOfParts {
                contents,
                first_pass: Arc::new(first_pass),
            }),
            ..main
        })
    }

    /// Combines the models of two passes in one file, whose header is that of the second.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if one has two passes already.
    pub fn combine(second: &Self, first: &Self) -> Result<Self> {
        if second.file.is_some() || first.file.is_some() {
            let message = "a model of two passes cannot be one of two passes";
            return Err(Error::parameter(message));
        }
        Self::from_bytes(parts::assemble(second.as_bytes(), first.as_bytes()))
    }

    /// Returns the model of the first pass, whose predictions the template of this one reads.
    #[must_use]
    pub fn first_pass(&self) -> Option<&Arc<Self>> {
        self.file.as_ref().map(|file| &file.first_pass)
    }

    /// Returns the contents of the model file.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.file {
            Some(file) => &file.contents,
            None => self.main_bytes(),
        }
    }

    /// Returns the contents of the file without the other models in it.
    pub(super) fn main_bytes(&self) -> &[u8] {
        self.bytes.raw(0..self.bytes.len()).unwrap_or_default()
    }

    /// Writes the model to a file, atomically: after a crash, the path holds either the old file
    /// or the complete new one.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be written; [`Error::Parameter`] if `path` exists and is
    /// not a regular file, which renaming would destroy.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        atomic_file::write(path, self.as_bytes())
    }

    /// Checks that a model could be saved to `path`, before time is spent on training one.
    ///
    /// # Errors
    ///
    /// Same as [`Model::save`].
    pub fn check_target(path: impl AsRef<Path>) -> Result<()> {
        atomic_file::check_writable(path)
    }

    /// Returns the header: labels, template, label weights, provenance; everything but the weights
    /// of attributes.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the version of the file format.
    #[must_use]
    pub fn version(&self) -> u64 {
        match &self.file {
            Some(_) => Version::PARTS,
            None => self.version.number(),
        }
    }

    /// Returns whether the format version is the one that new models have.
    pub(super) fn is_current(&self) -> bool {
        self.version == Version::CURRENT
    }

    /// Returns the path that the model was opened from.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.bytes.path()
    }

    /// Returns the number of attributes with weights.
    #[must_use]
    pub fn attributes(&self, kind: AttributeKind) -> usize {
        self.table(kind).len()
    }

    /// Returns the number of weights that are stored for attributes.
    #[must_use]
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
    pub(super) fn length_of_names(&self, kind: AttributeKind) -> Result<usize> {
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

    /// Returns the format version of the file without the other models in it.
    pub(super) fn main_version(&self) -> Version {
        self.version
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
        let Some(location) = self.find(kind, table.key(name))? else {
            return Ok(false);
        };
        let weights = self.weights_at(kind, location)?;
        if !weights.add_to(value, stride, scores) {
            return Err(self.weight_without_label());
        }
        Ok(true)
    }

    /// Returns the fingerprinter that computes the keys for [`Model::find`]; `None` if keys are
    /// computed from whole names, by [`Model::key`].
    pub fn fingerprinter(&self) -> Option<Fingerprinter> {
        (self.version.has_fingerprints()).then(|| self.tables[0].fingerprinter())
    }

    /// Computes the key of an attribute from its name.
    pub fn key(&self, kind: AttributeKind, name: &[u8]) -> u64 {
        self.table(kind).key(name)
    }

    /// Returns the functions that compute the keys of attributes, by kind.
    pub fn keys(&self) -> [TableKeys; 2] {
        [AttributeKind::Node, AttributeKind::Edge].map(|kind| self.table(kind).keys())
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

    /// Returns the weights of a table for fast summation, if they are stored in a format that
    /// allows it.
    pub fn rows(&self, kind: AttributeKind) -> Option<WeightRows<'_>> {
        self.table(kind).rows(&self.bytes)
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
        let data = self.tables[0].start();
        self.bytes.get(data..self.bytes.len())?;
        self.first_pass().map_or(Ok(()), |first| first.verify())
    }

    #[inline(always)]
    fn table(&self, kind: AttributeKind) -> &Table {
        &self.tables[kind as usize]
    }
}

/// Encodes the header and tables of a model as the contents of a file.
fn encode(mut header: Header, [nodes, edges]: [TableBuilder; 2]) -> Result<Vec<u8>> {
    header.tables = [nodes.info()?, edges.info()?];
    // Both tables use one seed, so that a key can be computed before the table is known.
    let (node_slots, edge_slots) = loop {
        let [node_info, edge_info] = &mut header.tables;
        let slots = (nodes.slots(node_info), edges.slots(edge_info));
        let seed = node_info.seed.max(edge_info.seed);
        if node_info.seed == edge_info.seed {
            break slots;
        }
        (node_info.seed, edge_info.seed) = (seed, seed);
    };
    let header = header.encode(Version::CURRENT)?;
    let tables = [
        nodes.into_sections(node_slots),
        edges.into_sections(edge_slots),
    ];
    Ok(assemble(MAGIC, &header, tables))
}

/// Checks that there is memory for the transitions of `label_pairs` pairs of labels, which a small
/// file may declare: here, and in a tagger their scores, two kinds of potentials and a constraint.
fn check_memory(label_pairs: usize, path: &Path) -> Result<()> {
    let bytes = 5 * (label_pairs * size_of::<f64>()) as u64;
    if bytes <= SMALL {
        return Ok(());
    }
    let limit = MemoryLimit::default().check(bytes, 0);
    limit.map_err(|over| {
        Error::model(
            path,
            format!("a model of {} labels: {over}", label_pairs.isqrt()),
        )
    })
}

/// Checks that there is memory to convert a CRFsuite model of `length` bytes.
fn check_conversion_memory(length: usize, path: &Path) -> Result<()> {
    let bytes = CONVERSION_FACTOR * length as u64;
    if bytes <= SMALL {
        return Ok(());
    }
    let limit = MemoryLimit::default().check(bytes, 0);
    limit.map_err(|over| Error::model(path, format!("converting the CRFsuite model: {over}")))
}
