//! Writing, opening and reading a model file.

use std::ops::Range;
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use super::bytes::{Bytes, block_sums};
use super::header::Header;
use super::table::{Sections, Table, TableBuilder, WeightLocation, WeightRows, Weights};
use crate::atomic_file;
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprinter;

const MAGIC: &[u8; 8] = b"DROPCHN\n";
const SECTIONS: usize = 10;
const LENGTH_AT: usize = 16;
pub(super) const SECTIONS_AT: usize = 24;
pub(super) const SUM_AT: usize = SECTIONS_AT + 16 * SECTIONS;
pub(super) const PREAMBLE: usize = SUM_AT + 8;

/// Versions of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// Keys are XXH3-64 of names.
    One,
    /// Keys are fingerprints of names; slots of 8 bytes.
    Two,
}

impl Version {
    /// The version that models are written in.
    const WRITTEN: Self = Self::Two;

    fn number(self) -> u64 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

/// A trained model: immutable, shared by any number of threads.
#[derive(Debug)]
pub struct Model {
    bytes: Bytes,
    header: Header,
    version: Version,
    tables: [Table; 2], // nodes, edges
}

/// Which of the two tables of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeKind {
    /// Attributes of tokens.
    Node,
    /// Attributes of pairs of neighboring tokens.
    Edge,
}

impl Model {
    /// Puts a model together.
    pub(crate) fn build(
        mut header: Header,
        nodes: &TableBuilder,
        edges: &TableBuilder,
    ) -> Result<Self> {
        // Both tables have one seed, so that an attribute has one key.
        let mut seed = 0;
        let (nodes, edges) = loop {
            let (nodes, edges) = (nodes.finish(seed)?, edges.finish(seed)?);
            seed = nodes.0.seed.max(edges.0.seed);
            if nodes.0.seed == edges.0.seed {
                break (nodes, edges);
            }
        };
        header.tables = [nodes.0, edges.0];
        let encoded = encode(&header.encode()?, [nodes.1, edges.1]);
        Self::from_bytes(encoded)
    }

    /// Opens a model file by mapping it into memory.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the file cannot be opened, [`Error::Model`] when it is no model, of a later
    /// version or damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_storage(Bytes::map(path.as_ref())?)
    }

    /// A model from bytes in memory, as [`Model::as_bytes`] gives them.
    ///
    /// # Errors
    ///
    /// As [`Model::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::from_storage(Bytes::owned(bytes, Path::new("model in memory")))
    }

    fn from_storage(mut bytes: Bytes) -> Result<Self> {
        let preamble = Preamble::read(&bytes)?;
        let [header, sums] = [&preamble.sections[0], &preamble.sections[1]];
        let (Some(header_bytes), Some(sum_bytes)) =
            (bytes.raw(header.clone()), bytes.raw(sums.clone()))
        else {
            return Err(bytes.damaged("a section lies outside of the file"));
        };
        let fixed = bytes.raw(0..SUM_AT).unwrap_or_default();
        if checksum(fixed, header_bytes, sum_bytes) != preamble.sum {
            return Err(bytes.damaged("its beginning does not match its checksum"));
        }
        let header = Header::decode(header_bytes).map_err(|what| bytes.damaged(&what))?;
        let table = |i: usize| {
            let sections = std::array::from_fn(|s| preamble.sections[2 + 4 * i + s].clone());
            let k = header.labels.len();
            let info = &header.tables[i];
            Table::new(
                info,
                preamble.version,
                header.precision,
                (k, i == 1),
                sections,
            )
            .map_err(|what| bytes.damaged(&what))
        };
        let tables = [table(0)?, table(1)?];
        if preamble.version == Version::Two && header.tables[0].seed != header.tables[1].seed {
            return Err(bytes.damaged("its tables have different seeds"));
        }
        bytes.set_blocks(sums.clone(), sums.end)?;
        Ok(Self {
            bytes,
            header,
            version: preamble.version,
            tables,
        })
    }

    /// The whole file.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.raw(0..self.bytes.len()).unwrap_or_default()
    }

    /// Writes the model to a file: under another name, synced and renamed, so that there is the old
    /// file or the new one, never half of it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when a file cannot be written; [`Error::Parameter`] when `path` is something
    /// other than a regular file, which renaming would destroy.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        atomic_file::write(path, self.as_bytes())
    }

    /// Checks that a model could be written to `path`, before work is put into one.
    ///
    /// # Errors
    ///
    /// As [`Model::save`].
    pub fn check_target(path: impl AsRef<Path>) -> Result<()> {
        atomic_file::check_writable(path)
    }

    /// What the model says before its tables.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The version of the file format.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version.number()
    }

    /// The file that the model was opened from.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.bytes.path()
    }

    /// Number of attributes with weights.
    #[must_use]
    pub fn attributes(&self, kind: AttributeKind) -> usize {
        self.table(kind).len()
    }

    /// Number of weights that are stored for attributes.
    #[must_use]
    pub fn weights(&self, kind: AttributeKind) -> usize {
        self.table(kind).weights()
    }

    /// The name of attribute `i`, in the order of training.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] when `i` is not below [`Model::attributes`], [`Error::Model`] when the
    /// file is damaged there.
    pub fn attribute_name(&self, kind: AttributeKind, i: usize) -> Result<&[u8]> {
        self.table(kind).name(&self.bytes, i)
    }

    /// Adds the weights of the attribute `name`, times `value`, to scores: `[stride]` for a node,
    /// `[K][stride]` for an edge. Returns whether the attribute is known.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] when the file is damaged there.
    ///
    /// # Panics
    ///
    /// If `stride` is below K or `scores` have another length.
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
        let key = table.key(name);
        let Some(location) = self.find(kind, key)? else {
            return Ok(false);
        };
        if !self
            .weights_at(kind, location)?
            .add_to(value, stride, scores)
        {
            return Err(self.weight_without_label());
        }
        Ok(true)
    }

    /// The base of fingerprints whose keys [`Model::find`] takes; none where keys are those of
    /// [`Model::key`], made of whole names.
    pub(crate) fn fingerprinter(&self) -> Option<Fingerprinter> {
        (self.version == Version::Two).then(|| self.tables[0].fingerprinter())
    }

    /// The key of a name.
    pub(crate) fn key(&self, kind: AttributeKind, name: &[u8]) -> u64 {
        self.table(kind).key(name)
    }

    /// Reads where [`Model::find`] will. Where many follow each other, memory is waited for once.
    #[inline(always)]
    pub(crate) fn prefetch_slot(&self, kind: AttributeKind, key: u64) -> u8 {
        self.table(kind).prefetch_slot(&self.bytes, key)
    }

    /// Reads where [`Model::weights_at`] will, likewise.
    #[inline(always)]
    pub(crate) fn prefetch_weights(&self, kind: AttributeKind, location: WeightLocation) -> u8 {
        self.table(kind).prefetch_weights(&self.bytes, location)
    }

    /// Where the weights of an attribute stand, if it is known.
    #[inline]
    pub(crate) fn find(&self, kind: AttributeKind, key: u64) -> Result<Option<WeightLocation>> {
        self.table(kind).find(&self.bytes, key)
    }

    /// The weights of a kind as rows of numbers, if that is how they are written.
    pub(crate) fn rows(&self, kind: AttributeKind) -> Option<WeightRows<'_>> {
        self.table(kind).rows(&self.bytes)
    }

    /// The weights at a location.
    #[inline(always)]
    pub(crate) fn weights_at(
        &self,
        kind: AttributeKind,
        location: WeightLocation,
    ) -> Result<Weights<'_>> {
        self.table(kind).at(&self.bytes, location)
    }

    /// The error for weights that [`Weights::add_to`] finds no scores for.
    #[cold]
    pub(crate) fn weight_without_label(&self) -> Error {
        self.bytes.weight_without_label()
    }

    /// Checks every byte of the file.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] when a block does not match its checksum.
    pub fn verify(&self) -> Result<()> {
        let data = self.tables[0].start();
        self.bytes.get(data..self.bytes.len()).map(|_| ())
    }

    #[inline(always)]
    fn table(&self, kind: AttributeKind) -> &Table {
        &self.tables[kind as usize]
    }
}

/// The fixed beginning of a file.
struct Preamble {
    version: Version,
    sections: [Range<usize>; SECTIONS],
    sum: u64,
}

impl Preamble {
    fn read(bytes: &Bytes) -> Result<Self> {
        let magic = bytes.raw(0..MAGIC.len());
        if magic != Some(MAGIC) {
            return Err(Error::model(
                bytes.path(),
                "this is not a dropchain model (it does not begin with DROPCHN)",
            ));
        }
        let Some(preamble) = bytes.raw(0..PREAMBLE) else {
            return Err(bytes.damaged("it ends within its first 192 bytes"));
        };
        let number = |at: usize| {
            let mut eight = [0; 8];
            eight.copy_from_slice(&preamble[at..at + 8]);
            u64::from_le_bytes(eight)
        };
        let version = number(8);
        let Some(version) = [Version::One, Version::Two]
            .into_iter()
            .find(|known| known.number() == version)
        else {
            return Err(Error::model(
                bytes.path(),
                format!(
                    "the model has format version {version}; this dropchain reads versions 1 and 2, \
                     so a newer dropchain is needed, or the model is damaged"
                ),
            ));
        };
        if number(LENGTH_AT) != bytes.len() as u64 {
            return Err(bytes.damaged(&format!(
                "it has {} bytes and says that it has {}",
                bytes.len(),
                number(LENGTH_AT)
            )));
        }
        let mut sections: [Range<usize>; SECTIONS] = std::array::from_fn(|_| 0..0);
        let mut end = PREAMBLE;
        for (i, section) in sections.iter_mut().enumerate() {
            let (start, length) = (
                number(SECTIONS_AT + 16 * i),
                number(SECTIONS_AT + 16 * i + 8),
            );
            let stop = start
                .checked_add(length)
                .filter(|&stop| stop <= bytes.len() as u64);
            match stop {
                Some(stop) if start == end as u64 => *section = end..stop as usize,
                _ => return Err(bytes.damaged("a section lies outside of the file")),
            }
            end = section.end;
        }
        if end != bytes.len() {
            return Err(bytes.damaged("there is more behind its last section"));
        }
        Ok(Self {
            version,
            sections,
            sum: number(SUM_AT),
        })
    }
}

pub(super) fn checksum(fixed: &[u8], header: &[u8], sums: &[u8]) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(fixed);
    hasher.update(header);
    hasher.update(sums);
    hasher.digest()
}

fn encode(header: &[u8], tables: [Sections; 2]) -> Vec<u8> {
    let tables: Vec<Vec<u8>> = tables
        .into_iter()
        .flat_map(|t| [t.slots, t.weights, t.ends, t.names])
        .collect();
    let lengths = tables.iter().map(Vec::len);
    let data = tables.concat();
    let sums = block_sums(&data);
    let total = PREAMBLE + header.len() + sums.len() + data.len();

    let mut file = Vec::with_capacity(total);
    file.extend_from_slice(MAGIC);
    file.extend_from_slice(&Version::WRITTEN.number().to_le_bytes());
    file.extend_from_slice(&(total as u64).to_le_bytes());
    let mut start = PREAMBLE;
    for length in [header.len(), sums.len()].into_iter().chain(lengths) {
        file.extend_from_slice(&(start as u64).to_le_bytes());
        file.extend_from_slice(&(length as u64).to_le_bytes());
        start += length;
    }
    let sum = checksum(&file, header, &sums);
    file.extend_from_slice(&sum.to_le_bytes());
    file.extend_from_slice(header);
    file.extend_from_slice(&sums);
    file.extend_from_slice(&data);
    file
}
