//! Building, opening and saving models, looking up attributes; their fingerprint and their sizes.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use xxhash_rust::xxh3::Xxh3;

use super::container::{Container, Contents, EXPECTED, assemble, check_memory};
use super::format::{AttributeKind, FIRST_PASS, FORMAT_VERSION, PREAMBLE};
use super::header::Header;
use super::provenance::{CONFIG, Provenance};
use super::table::{AttributeTable, TableBuilder, TableLayout};
#[cfg(feature = "train")]
use crate::atomic_file;
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprinter, key};
use crate::input_file::InputFile;
use crate::label::Labeling;
use crate::template::Template;

/// A trained model: immutable, shared by any number of threads.
#[derive(Debug)]
pub struct Model {
    pub(super) file: Container,
    header: Header,
    tables: [TableLayout; 2], // nodes, edges
    first_pass: Option<Arc<Model>>,
}

/// The sizes of the parts of a model file in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ModelSizes {
    /// Preamble and header: labels, label weights, template with its files, provenance.
    pub header: usize,
    /// Checksums.
    pub checksums: usize,
    /// The table of node attributes.
    pub nodes: TableSizes,
    /// The table of edge attributes.
    pub edges: TableSizes,
    /// The model of the first pass; 0 if there is none.
    pub first_pass: usize,
}

/// The sizes of the parts of a table in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TableSizes {
    /// The hash table, where attributes are looked up.
    pub slots: usize,
    /// Weights.
    pub weights: usize,
    /// The names of attributes.
    pub names: usize,
    /// The lengths of names.
    pub ends: usize,
}

impl Model {
    /// Builds a model from its header and the tables of nodes and edges; sets [`Header::tables`].
    pub fn build(mut header: Header, [nodes, edges]: [TableBuilder; 2]) -> Result<Self> {
        // Both tables use one seed, so that a key can be computed before the table is known.
        let mut seeds =
            (0..).filter_map(|seed| Some((seed, nodes.slots(seed)?, edges.slots(seed)?)));
        let (seed, node_slots, edge_slots) = seeds.next().expect("there is no last seed");
        header.tables = [nodes.info(seed)?, edges.info(seed)?];
        let header = header.encode()?;
        let nodes = nodes.into_sections(node_slots);
        let edges = edges.into_sections(edge_slots);
        let sections = [nodes, edges].into_iter().flatten().chain([Vec::new()]);
        Self::from_bytes(assemble(&header, sections.collect()))
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
        Self::read(InputFile::open(path.as_ref(), EXPECTED)?)
    }

    /// Reads a model from an open file; otherwise like [`Model::open`].
    ///
    /// # Errors
    ///
    /// Same as [`Model::open`].
    pub fn read(file: InputFile) -> Result<Self> {
        Self::of(Container::read(file)?)
    }

    /// Reads a model from the contents of a model file, as returned by [`Model::as_bytes`].
    ///
    /// # Errors
    ///
    /// Same as [`Model::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::of(Container::new(Contents::Vector(bytes), Path::new("model in memory"))?)
    }

    fn of(mut file: Container) -> Result<Self> {
        let header = Header::decode(file.header()).map_err(|what| file.damaged(&what))?;
        let labels = header.labels.len();
        check_label_memory(labels.pow(2), &file.path)?;
        let table = |kind: AttributeKind| {
            let sections = &file.sections[2 + 4 * kind as usize..];
            let of_table = std::array::from_fn(|i| sections[i].clone());
            TableLayout::new(&header, kind, of_table).map_err(|what| file.damaged(&what))
        };
        let tables = [table(AttributeKind::Node)?, table(AttributeKind::Edge)?];
        if header.tables[0].seed != header.tables[1].seed {
            return Err(file.damaged("its tables have different seeds"));
        }
        let mut first_pass = None;
        if !file.sections[FIRST_PASS].is_empty() {
            let first = Self::of(file.nested(FIRST_PASS)?)?;
            if first.first_pass.is_some() {
                return Err(file.damaged("its first pass has two passes"));
            }
            let label_pairs = [&header, &first.header].map(|header| header.labels.len().pow(2));
            check_label_memory(label_pairs.iter().sum(), &file.path)?;
            first_pass = Some(Arc::new(first));
        }
        Ok(Self { file, header, tables, first_pass })
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
        sections[FIRST_PASS - 2] = first.as_bytes();
        Self::from_bytes(assemble(second.file.header(), sections))
    }

    /// Returns a copy with another header. The tables do not depend on it.
    pub(super) fn with_header(&self, header: &Header) -> Result<Self> {
        Self::from_bytes(assemble(&header.encode()?, self.contents()))
    }

    /// Returns a copy whose labels, and those of its training corpus, are read so.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if no label is of the scheme; [`Error::Model`] if labels join columns.
    pub fn with_labeling(&self, labeling: Labeling) -> Result<Self> {
        let mut header = self.header.clone();
        let is_inside = |label: &String| labeling.has(label) && label != labeling.outside();
        if !header.labels.names().iter().any(is_inside) {
            return Err(Error::parameter(format!("no label of the model is one of {labeling}")));
        }
        (header.labeling, header.corpus_labeling) = (labeling.clone(), labeling);
        self.with_header(&header)
    }

    /// Returns the model with a record of the configuration that it was trained with: any JSON
    /// value. It has no effect on predictions or [`Model::fingerprint`].
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the options of the model are not an object, or if its header would
    /// be too long.
    pub fn with_config(&self, config: &Value) -> Result<Self> {
        let mut options = self.header().provenance.parsed_options();
        let Some(fields) = options.as_object_mut() else {
            let message =
                "the options of the model are not an object, so that it cannot record more";
            return Err(Error::parameter(message));
        };
        fields.insert(CONFIG.to_owned(), config.clone());
        let mut header = self.header().clone();
        header.provenance.options = options.to_string();
        self.with_header(&header)
    }

    /// Returns the contents of all sections after the checksums.
    fn contents(&self) -> Vec<&[u8]> {
        self.file.sections[2..].iter().map(|section| &self.as_bytes()[section.clone()]).collect()
    }

    /// Returns the model of the first pass, whose predictions the template of this one reads.
    pub fn first_pass(&self) -> Option<&Arc<Self>> {
        self.first_pass.as_ref()
    }

    /// Returns the contents of the model file.
    pub fn as_bytes(&self) -> &[u8] {
        &self.file.contents
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
        path.clone_into(&mut self.file.path);
        self
    }

    /// Returns the path that the model was opened from.
    pub fn path(&self) -> &Path {
        &self.file.path
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
        self.table(kind).name(i)
    }

    /// Returns the table of a kind of attributes.
    #[inline(always)]
    pub fn table(&self, kind: AttributeKind) -> AttributeTable<'_> {
        AttributeTable { layout: &self.tables[kind as usize], file: &self.file }
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
        let (table, k) = (self.table(kind), self.header.labels.len());
        let lines = if kind == AttributeKind::Node { 1 } else { k };
        assert!(stride >= k && scores.len() == lines * stride, "scores are [1 or K][stride]");
        let Some(location) = table.find(self.key(name))? else { return Ok(false) };
        let rows = table.rows();
        rows.add(&[(rows.locate(location)?, value)], stride, scores)?;
        Ok(true)
    }

    /// Returns the fingerprinter that computes the keys of attributes.
    pub fn fingerprinter(&self) -> Fingerprinter {
        self.tables[0].fingerprinter
    }

    /// Computes the key of an attribute, for `AttributeTable::find`, from its name.
    pub fn key(&self, name: &[u8]) -> u64 {
        key(self.fingerprinter().fingerprint(name))
    }

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
    /// [`Error::Parameter`] if the header cannot be encoded; [`Error::Model`] if the file is
    /// damaged.
    pub fn fingerprint(&self) -> Result<u128> {
        let mut header = self.header().clone();
        header.provenance = Provenance::default();
        header.template = header.template.map(Template::without_name);
        let mut hasher = Xxh3::new();
        hasher.update(&FORMAT_VERSION.to_le_bytes());
        hasher.update(&header.encode()?);
        for kind in [AttributeKind::Node, AttributeKind::Edge] {
            let table = self.table(kind);
            hasher.update(table.slots_and_weights()?);
            // Names are hashed as they are decoded: another version of the compressor may encode
            // them otherwise.
            for i in 0..table.len() {
                let name = table.name(i)?;
                hasher.update(&(name.len() as u64).to_le_bytes());
                hasher.update(name);
            }
        }
        if let Some(first) = self.first_pass() {
            hasher.update(&first.fingerprint()?.to_le_bytes());
        }
        Ok(hasher.digest128())
    }

    /// Returns the sizes of the parts of the file, in whose sum no byte is missing.
    pub fn sizes(&self) -> ModelSizes {
        let length = |section: usize| self.file.sections[section].len();
        let table = |first: usize| TableSizes {
            slots: length(first),
            weights: length(first + 1),
            ends: length(first + 2),
            names: length(first + 3),
        };
        ModelSizes {
            header: PREAMBLE + length(0),
            checksums: length(1),
            nodes: table(2),
            edges: table(6),
            first_pass: length(FIRST_PASS),
        }
    }

    /// Verifies the checksums of the whole file.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if a block does not match its checksum.
    pub fn verify(&self) -> Result<()> {
        self.file.verify()
    }
}

/// Checks that there is memory for the transitions of `label_pairs` pairs of labels, which a small
/// file may declare: here, and in a tagger their scores, two kinds of potentials and a constraint.
fn check_label_memory(label_pairs: usize, path: &Path) -> Result<()> {
    let bytes = 5 * (label_pairs * size_of::<f64>()) as u64;
    let what = || format!("a model of {} labels", label_pairs.isqrt());
    check_memory(path, bytes, what)
}
