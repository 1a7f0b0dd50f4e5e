//! Reading the model files that CRFsuite writes.
//!
//! Such a file becomes a model with the same weights: in double precision, without template and
//! boundary weights, and with a scheme whose rules are not enforced, since CRFsuite decodes without
//! constraints.
//! [`Model::as_bytes`] and [`Model::save`] then give a model file of dropchain's own format.
//!
//! # File format
//!
//! The first-order Markov CRF (`FOMC`) of CRFsuite 0.12 and later, as its `crf1d_model.c` and
//! `cqdb.c` write it. Integers have 4 bytes and are little-endian, offsets count from the beginning
//! of the file unless stated otherwise, and there are no checksums.
//!
//! ```text
//! ┌────────┬──────────┬────────┬────────────┬──────────────────┬──────────────────────┐
//! │ header │ features │ labels │ attributes │ label references │ attribute references │
//! └────────┴──────────┴────────┴────────────┴──────────────────┴──────────────────────┘
//! ```
//!
//! - Header: magic `lCRF`, length of the file, type `FOMC`, version 100, number of features (never
//!   set), number of labels K, number of attributes A, offsets of features, labels, attributes,
//!   label references and attribute references.
//! - Features: magic `FEAT`, length, number; for each feature: kind (0 state, 1 transition), source
//!   (attribute or label), label, weight (`f64`).
//! - Labels, attributes: a database of names, see below.
//! - References: magic `LFRF` or `AFRF`, length, number (K + 2 or A), for each label or attribute
//!   the offset of a list (0: none). A list: length, indexes of features.
//!
//! Features with the weight 0 are not written, nor are attributes without other features. The last
//! two lists of label references do not exist; before version 0.12 they were those of the beginning
//! and the end of a sequence.
//!
//! A database of names is a hash table from names to ids with an array for the inverse. Only the
//! latter is read here. Its offsets count from the beginning of the database:
//!
//! - 0–23: magic `CQDB`, length, flags, byte order 0x62445371, number of names, offset of the
//!   array;
//! - 24–2071: 256 hash tables: offset, size;
//! - from 2072 on the names: id, length with the final zero byte, bytes; then the hash tables; then
//!   the array of the offsets of names, by id.
//!
//! # Integrity
//!
//! Every offset and number is checked, and so is that every feature belongs to the one list that
//! refers to it. Damage that leaves all of this intact, as of a weight, goes unnoticed.

mod file;
#[cfg(test)]
mod tests;

use std::path::Path;

use dropchain::kernel::ids::LabelId;
use dropchain::kernel::input_file::InputFile;
use dropchain::kernel::model::MAX_LABELS;
use dropchain::label::{LabelSet, Labeling, SchemeDetector};
use dropchain::model::{EdgeWeights, Header, Precision};
use dropchain::{Error, MemoryLimit, Model, Result};
pub use file::MAGIC;
use file::{CrfsuiteFile, FeatureKind};

/// Memory that converting a model takes, as a multiple of its length (decision 42).
const CONVERSION_FACTOR: u64 = 6;

/// Memory in bytes that converting a model takes for each pair of labels.
const LABEL_PAIR: usize = 5 * size_of::<f64>();

/// Size in bytes up to which memory is allocated without looking at what is available.
const SMALL: u64 = 64 << 20;

/// Opens a model of CRFsuite or of dropchain.
///
/// # Errors
///
/// The errors of [`Model::open`]; [`Error::Model`] if the model of CRFsuite is damaged, was written
/// by a version before 0.12, or has labels that are not UTF-8.
pub fn open(path: impl AsRef<Path>) -> Result<Model> {
    let path = path.as_ref();
    let mut file = InputFile::open(path, "a dropchain model")?;
    let beginning = file.peek(file::HEADER)?;
    if !beginning.starts_with(MAGIC) {
        return Model::read(file);
    }
    let declared = file::declared_length(path, beginning)?;
    let mut bytes = Vec::new();
    file.read_up_to(declared + 1, &mut bytes)?;
    convert(path, &bytes)
}

/// Reads a model from the contents of a file of CRFsuite or of dropchain.
///
/// # Errors
///
/// Same as [`open`].
pub fn from_bytes(bytes: Vec<u8>) -> Result<Model> {
    match bytes.starts_with(MAGIC) {
        true => convert("model in memory".as_ref(), &bytes),
        false => Model::from_bytes(bytes),
    }
}

/// Converts a file of CRFsuite.
fn convert(path: &Path, bytes: &[u8]) -> Result<Model> {
    let file = CrfsuiteFile::read(path, bytes)?;
    let label_pairs = file.labels().min(MAX_LABELS).pow(2);
    let needed = CONVERSION_FACTOR * bytes.len() as u64 + (LABEL_PAIR * label_pairs) as u64;
    if needed > SMALL {
        let limit = MemoryLimit::default().check(needed, 0);
        let failed = |over| format!("converting the CRFsuite model: {over}");
        limit.map_err(|over| Error::model(path, failed(over)))?;
    }
    Ok(file.convert()?.with_path(path))
}

/// Returns the error for a damaged file.
fn damaged(path: &Path, what: &str) -> Error {
    Error::model(path, format!("the model is damaged: {what}; retrain it or restore a copy"))
}

/// The name of an attribute, its weights and the number of its features.
type Attribute<'a> = (&'a [u8], Vec<(LabelId, f64)>, usize);

/// Returns how labels are read by their names alone. Their order is not known, so the rules of the
/// scheme are not enforced, and CRFsuite's predictions stay as they are.
fn labeling(labels: &LabelSet) -> Labeling {
    let mut detector = SchemeDetector::new();
    detector.observe_partial(&[labels.names().to_vec()], |_| None);
    let detected = detector.detected();
    match detected.labeling.scheme.has_spans() && detected.strays.is_empty() {
        true => Labeling { strict: false, ..detected.labeling },
        false => Labeling::default(),
    }
}

impl<'a> CrfsuiteFile<'a> {
    /// Converts the file to a model.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if it is damaged, a label is not UTF-8, or a weight is not finite.
    fn convert(&self) -> Result<Model> {
        let labels = self.read_labels()?;
        self.check_boundaries()?;
        let mut header = Header::new(labels);
        header.precision = Precision::F64;
        header.labeling = labeling(&header.labels);
        header.corpus_labeling = header.labeling.clone();
        header.provenance.options = r#"{"converted_from":"CRFsuite"}"#.to_owned();
        let fault = |what: String| damaged(self.path, &what);
        let of_labels = self.read_transitions(&mut header.label_weights.transitions);
        let mut features = of_labels.map_err(fault)?;
        let mut failure = None;
        let mut size = 0;
        let attributes = (0..self.attribute_names.offsets.len()).map_while(|attribute| {
            let read = self.read_attribute(attribute, &mut size);
            let (name, weights, count) = read.map_err(|what| failure = Some(what)).ok()?;
            features += count;
            Some((name, weights))
        });
        let model = Model::from_weights(header, attributes, [] as [EdgeWeights<&[u8]>; 0]);
        if let Some(what) = failure {
            return Err(fault(what));
        }
        let count = self.features.len();
        if features != count {
            return Err(fault(format!(
                "it has {count} features; its labels and attributes have {features}"
            )));
        }
        model.map_err(|error| fault(error.to_string()))
    }

    fn read_labels(&self) -> Result<LabelSet> {
        let k = self.labels();
        if k == 0 || k > MAX_LABELS {
            let message = format!(
                "a CRFsuite model of {k} labels; expected at least one and at most {MAX_LABELS}"
            );
            return Err(Error::model(self.path, message));
        }
        let names: Result<Vec<String>> = (0..k).map(|id| self.read_label(id)).collect();
        LabelSet::try_from(names?).map_err(|error| damaged(self.path, &error.to_string()))
    }

    fn read_label(&self, id: usize) -> Result<String> {
        let absent = || format!("the name of label {id} is not where it should be");
        let name = self.label_names.get(id).ok_or_else(|| damaged(self.path, &absent()))?;
        String::from_utf8(name.to_vec()).map_err(|_| {
            let message = format!(
                "the name of label {id}, '{}', is not UTF-8; expected labels in UTF-8, so convert \
                 the training corpus and retrain the model",
                name.escape_ascii()
            );
            Error::model(self.path, message)
        })
    }

    /// Rejects lists of features beyond those of the labels: CRFsuite before 0.12 had features for
    /// the first and the last label of a sequence there.
    fn check_boundaries(&self) -> Result<()> {
        let lists = self.labels()..self.of_labels.len();
        let lists = lists.map(|i| self.list(self.of_labels, i));
        let message = "the model has features for the first or last label of a sequence, as those \
                       of CRFsuite before 0.12; expected one without, so retrain it";
        let is_empty = lists.flatten().all(<[_]>::is_empty);
        if is_empty { Ok(()) } else { Err(Error::model(self.path, message)) }
    }

    /// Reads the weights of label pairs, `[K][K]`; returns the number of their features. The error
    /// is a message.
    fn read_transitions(&self, transitions: &mut [f64]) -> Result<usize, String> {
        let k = self.labels();
        let (mut row, mut features) = (Vec::new(), 0);
        for (label, weights) in transitions.chunks_exact_mut(k).enumerate() {
            let list = self
                .list(self.of_labels, label)
                .ok_or_else(|| format!("the features of label {label} lie outside of the file"))?;
            self.collect(list, FeatureKind::Transition, label, &mut row)?;
            features += list.len();
            for &(next, weight) in &row {
                weights[next.index()] = weight;
            }
        }
        Ok(features)
    }

    /// Reads an attribute; returns its name, its weights and the number of its features. `size` is
    /// that of all names so far. The error is a message.
    fn read_attribute(&self, attribute: usize, size: &mut usize) -> Result<Attribute<'a>, String> {
        let name = self.attribute_names.get(attribute).ok_or_else(|| {
            format!("the name of attribute {attribute} is not where it should be")
        })?;
        // Crafted names could overlap and together take much more memory than the file.
        *size += name.len();
        if *size > self.attribute_names.database.len() {
            return Err("the names of attributes overlap".to_owned());
        }
        let list = self.list(self.of_attributes, attribute).ok_or_else(|| {
            format!("the features of attribute {attribute} lie outside of the file")
        })?;
        let mut row = Vec::new();
        self.collect(list, FeatureKind::State, attribute, &mut row)?;
        Ok((name, row, list.len()))
    }
}
