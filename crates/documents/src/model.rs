//! Model files: a magic, the checksum of what follows (XXH3), and as JSON `[header, rows]`, where
//! rows are the names of features, ascending, with their weights in single precision:
//! `["w=great", [[0, 0.5]]]`.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use crate::options::Multiclass;
use crate::{FeatureOptions, Loss};
use dropchain::kernel::atomic_file;
use dropchain::kernel::input_file::InputFile;
use dropchain::kernel::model::{MAGIC, Magic};
use dropchain::{Error, MemoryLimit, Result};

/// The first bytes of a model file.
const CLASSIFIER: &Magic = b"DROPCLS\n";

/// Everything in a model but the weights of its features.
///
/// The rows of weights have a column for f of two classes, whose scores are ∓½·f; or one for each
/// class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelHeader {
    /// The names of the classes.
    pub classes: Vec<String>,
    /// One classifier of all classes, or one for each class.
    pub multiclass: Multiclass,
    /// The loss that was minimized.
    pub loss: Loss,
    /// The content of documents.
    pub input: ModelInput,
    /// The bias of each column.
    pub biases: Vec<f64>,
    /// Number of training documents.
    pub documents: u64,
    /// Version of dropchain that trained the model.
    pub version: String,
    /// All options of training, as JSON.
    pub options: Value,
    /// How training ended.
    pub result: Value,
}

/// The content of the documents of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelInput {
    /// The features of texts; `None` if documents come with features.
    pub features: Option<FeatureOptions>,
}

/// The name of a feature, and its weights by column.
pub(crate) type Row = (String, Vec<(u32, f32)>);

/// A model of documents, which predicts their classes.
///
/// It is `Send` and `Sync`: threads share one by reference.
#[derive(Clone, Debug)]
pub struct DocumentModel {
    bytes: Vec<u8>, // of the file
    header: ModelHeader,
    pub(crate) rows: Vec<Row>, // of the features with a weight
}

/// The length of magic and checksum.
const PREAMBLE: usize = 16;

impl DocumentModel {
    /// Encodes a model. Rows without weights are left out.
    pub(crate) fn encode<'n>(
        header: &ModelHeader,
        rows: impl IntoIterator<Item = (&'n str, Vec<f64>)>,
    ) -> Result<Vec<u8>> {
        let rows = rows.into_iter().map(|(name, row)| {
            let row = (0..).zip(row).map(|(column, weight)| (column, weight as f32));
            (name, row.filter(|(_, weight)| *weight != 0.0).collect::<Vec<(u32, f32)>>())
        });
        let mut rows: Vec<_> = rows.filter(|(_, row)| !row.is_empty()).collect();
        rows.sort_unstable_by_key(|(name, _)| *name);
        if rows.iter().flat_map(|(_, row)| row).any(|(_, weight)| !weight.is_finite()) {
            return Err(Error::parameter("a weight is too large for single precision"));
        }
        let body = serde_json::to_vec(&(header, rows))
            .map_err(|error| Error::parameter(format!("cannot write a model: {error}")))?;
        Ok([CLASSIFIER.as_slice(), &xxh3_64(&body).to_le_bytes(), &body].concat())
    }

    /// Returns whether a file that can be read twice is a model of documents, by its first bytes.
    pub fn is_at(path: impl AsRef<Path>) -> bool {
        let path = path.as_ref();
        let is_model = |mut file: InputFile| file.peek(8).is_ok_and(|own| own == CLASSIFIER);
        path.is_file() && InputFile::open(path, "a model").is_ok_and(is_model)
    }

    /// Opens a model file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be read; [`Error::Model`] if it is of another kind, is
    /// damaged, or needs more memory than is available.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let (path, mut bytes) = (path.as_ref(), Vec::new());
        let mut file = InputFile::open(path, "a classifier")?;
        // Rows take four times as much memory as the file, those without weights up to 16 times.
        let limit = MemoryLimit::default().bytes(0) / 16;
        let is_model = file.peek(CLASSIFIER.len())? == CLASSIFIER;
        file.read_up_to(if is_model { limit } else { PREAMBLE as u64 }, &mut bytes)?;
        if is_model && bytes.len() as u64 == limit {
            return Err(Error::model(path, "there is too little memory for so large a classifier"));
        }
        Self::new(path, bytes)
    }

    /// Reads the contents of a model file.
    ///
    /// # Errors
    ///
    /// Same as [`open`](Self::open), but for memory.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::new(Path::new("model in memory"), bytes)
    }

    fn new(path: &Path, bytes: Vec<u8>) -> Result<Self> {
        if !bytes.starts_with(CLASSIFIER) {
            let found = if bytes.starts_with(MAGIC) { "a tagger" } else { "not one of dropchain" };
            return Err(Error::model(path, format!("the model is {found}; expected a classifier")));
        }
        let damaged = |what: &str| Error::model(path, format!("the model is damaged: {what}"));
        let body = bytes.get(PREAMBLE..).unwrap_or_default();
        if bytes.get(8..PREAMBLE) != Some(&xxh3_64(body).to_le_bytes()) {
            return Err(damaged("it does not match its checksum"));
        }
        let (header, rows): (ModelHeader, Vec<Row>) = serde_json::from_slice(body)
            .map_err(|error| damaged(&format!("it cannot be read: {error}")))?;
        let columns = if header.classes.len() == 2 { 1 } else { header.classes.len() };
        let is_weight = |(k, weight): &(u32, f32)| (*k as usize) < columns && weight.is_finite();
        let fits = header.classes.len() > 1
            && header.biases.len() == columns
            && header.biases.iter().all(|bias| bias.is_finite())
            && header.input.features.is_none_or(|features| features.fits())
            && rows.is_sorted_by(|(a, _), (b, _)| a < b)
            && rows.iter().flat_map(|(_, row)| row).all(is_weight);
        if !fits {
            return Err(damaged("its weights do not fit"));
        }
        Ok(Self { bytes, header, rows })
    }

    /// Returns the contents of the model file.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Writes the model file, atomically.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        atomic_file::write(path.as_ref(), self.as_bytes())
    }

    /// Returns everything but the weights of features.
    pub fn header(&self) -> &ModelHeader {
        &self.header
    }

    /// Returns the names of the classes.
    pub fn classes(&self) -> &[String] {
        &self.header.classes
    }

    /// Returns the bias of each class.
    pub fn biases(&self) -> Vec<f64> {
        of_classes(self.header.biases.clone())
    }

    /// Returns the names of features with their weights by column, those of 0 left out; the columns
    /// are those of [`ModelHeader`].
    pub fn weights(&self) -> impl Iterator<Item = (String, Vec<(u32, f64)>)> {
        self.rows.iter().map(|(name, row)| {
            (name.clone(), row.iter().map(|&(k, weight)| (k, f64::from(weight))).collect())
        })
    }
}

/// Returns a number for each class, given one for each, or of two classes that of the second minus
/// that of the first.
pub(crate) fn of_classes(numbers: Vec<f64>) -> Vec<f64> {
    match numbers[..] {
        [difference] => vec![-0.5 * difference, 0.5 * difference],
        _ => numbers,
    }
}
