//! Model files: a magic, the checksum of what follows (XXH3), and as JSON `[header, rows]`, where
//! rows are the names of features, ascending, with their weights in single precision:
//! `["w=great", [[0, 0.5]]]`.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use crate::Loss;
use crate::linear::output_score;
use crate::options::{DataOptions, Multiclass, Task};
use dropchain::kernel::input_file::InputFile;
use dropchain::kernel::model::{MAGIC, Magic};
use dropchain::{Error, Result};

impl Task {
    const ALL: [Self; 2] = [Self::Classes, Self::Numbers];

    /// The first bytes of a model file.
    const fn magic(self) -> &'static Magic {
        match self {
            Self::Classes => b"DROPCLS\n",
            Self::Numbers => b"DROPREG\n",
        }
    }

    /// Returns what a model does, as in "the model predicts numbers".
    pub fn what(self) -> &'static str {
        match self {
            Self::Classes => "classifies documents",
            Self::Numbers => "predicts numbers",
        }
    }

    /// Returns what a model is, with its article.
    fn name(self) -> &'static str {
        match self {
            Self::Classes => "a classifier",
            Self::Numbers => "a regression",
        }
    }

    /// Returns the task of a model file that can be read twice, by its first bytes; `None` if it is
    /// no model of documents.
    pub fn of_file(path: impl AsRef<Path>) -> Option<Self> {
        let path = path.as_ref();
        let mut file = path.is_file().then(|| InputFile::open(path, "a model").ok())??;
        Self::of_bytes(file.peek(8).ok()?)
    }

    fn of_bytes(bytes: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|task| bytes.starts_with(task.magic()))
    }
}

/// Everything in a model but the weights of its features.
///
/// The rows of weights have a column for a number, or f of two classes, whose scores are ∓½·f; or
/// one for each class; with hidden units, one for each unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelHeader {
    /// The names of the classes; none of numbers.
    pub classes: Vec<String>,
    /// One classifier of all classes, or one for each class.
    pub multiclass: Multiclass,
    /// The loss that was minimized.
    pub loss: Loss,
    /// The content of documents.
    pub input: DataOptions,
    /// The bias of each column.
    pub biases: Vec<f64>,
    /// The output layer, if the columns are hidden units.
    pub outputs: Option<OutputLayer>,
    /// Number of training documents.
    pub documents: u64,
    /// Version of dropchain that trained the model.
    pub version: String,
    /// All options of training, as JSON.
    pub options: Value,
    /// How training ended.
    pub result: Value,
}

/// The output layer of hidden units: an output for each score. The units of an
/// output follow those of the one before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OutputLayer(pub Vec<Output>);

/// A sum over hidden units: f = b + Σ_k w_k·σ(u_k).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// w, `[K]`.
    pub weights: Vec<f64>,
    /// b.
    pub bias: f64,
}

impl OutputLayer {
    /// Returns the scores, given the inputs of all units.
    pub(crate) fn scores(&self, mut inputs: &[f64]) -> Vec<f64> {
        let score = |output: &Output| {
            let (own, rest) = inputs.split_at(output.weights.len());
            inputs = rest;
            output_score(&output.weights, output.bias, own)
        };
        self.0.iter().map(score).collect()
    }
}

/// The parts of a model that training makes.
#[derive(Debug)]
pub(crate) struct Parts {
    pub biases: Vec<f64>, // of columns
    pub outputs: Option<OutputLayer>,
    pub rows: Vec<Vec<(u32, f64)>>, // of features
}

/// The name of a feature, and its weights by column.
pub(crate) type Row = (String, Vec<(u32, f32)>);

/// A model file and what is in it.
#[derive(Clone, Debug)]
pub(crate) struct ModelFile {
    pub task: Task,
    pub path: PathBuf,
    pub bytes: Vec<u8>,
    pub header: ModelHeader,
    pub rows: Vec<Row>, // of the features with a weight
}

/// The length of magic and checksum.
const PREAMBLE: usize = 16;

impl ModelFile {
    /// Encodes a model. Rows without weights are left out.
    pub fn encode(
        task: Task,
        header: &ModelHeader,
        rows: Vec<(&str, Vec<(u32, f64)>)>,
    ) -> Result<Vec<u8>> {
        let rows = rows.into_iter().map(|(name, row)| {
            let row = row.into_iter().map(|(column, weight)| (column, weight as f32));
            (name, row.filter(|(_, weight)| *weight != 0.0).collect::<Vec<(u32, f32)>>())
        });
        let mut rows: Vec<_> = rows.filter(|(_, row)| !row.is_empty()).collect();
        rows.sort_unstable_by_key(|(name, _)| *name);
        if rows.iter().flat_map(|(_, row)| row).any(|(_, weight)| !weight.is_finite()) {
            return Err(Error::parameter("a weight is too large for single precision"));
        }
        let body = serde_json::to_vec(&(header, rows))
            .map_err(|error| Error::parameter(format!("cannot write a model: {error}")))?;
        Ok([task.magic().as_slice(), &xxh3_64(&body).to_le_bytes(), &body].concat())
    }

    /// Reads a file.
    pub fn open(path: &Path, task: Task) -> Result<Self> {
        let mut bytes = Vec::new();
        InputFile::open(path, task.name())?.read_up_to(u64::MAX, &mut bytes)?;
        Self::new(path, bytes, task)
    }

    /// Takes the contents of a file.
    pub fn new(path: &Path, bytes: Vec<u8>, task: Task) -> Result<Self> {
        if !bytes.starts_with(task.magic()) {
            let found = match Task::of_bytes(&bytes) {
                Some(other) => other.what(),
                None if bytes.starts_with(MAGIC) => "is a tagger",
                None => "is not one of dropchain",
            };
            let message = format!("the model {found}; expected {}", task.name());
            return Err(Error::model(path, message));
        }
        let damaged = |what: &str| Error::model(path, format!("the model is damaged: {what}"));
        let body = bytes.get(PREAMBLE..).unwrap_or_default();
        if bytes.get(8..PREAMBLE) != Some(&xxh3_64(body).to_le_bytes()) {
            return Err(damaged("it does not match its checksum"));
        }
        let (header, rows): (ModelHeader, Vec<Row>) = serde_json::from_slice(body)
            .map_err(|error| damaged(&format!("it cannot be read: {error}")))?;
        let is_weight = |(column, weight): &(u32, f32)| {
            (*column as usize) < header.biases.len() && weight.is_finite()
        };
        if !rows.is_sorted_by(|(a, _), (b, _)| a < b)
            || !rows.iter().flat_map(|(_, row)| row).all(is_weight)
            || !header.fits(task)
        {
            return Err(damaged("its weights do not fit"));
        }
        Ok(Self { task, path: path.to_owned(), bytes, header, rows })
    }

    /// Adds the row of a name, times `value`, to scores of columns.
    pub fn add_row(&self, name: &str, value: f64, scores: &mut [f64]) {
        if let Ok(row) = self.rows.binary_search_by(|(own, _)| own.as_str().cmp(name)) {
            for &(column, weight) in &self.rows[row].1 {
                scores[column as usize] += value * f64::from(weight);
            }
        }
    }
}

impl ModelHeader {
    /// Returns whether biases and outputs are those of the classes or a number, and finite.
    fn fits(&self, task: Task) -> bool {
        let scores = match (task, self.classes.len()) {
            (Task::Numbers, 0) | (Task::Classes, 2) => 1,
            (Task::Classes, classes) if classes > 2 => classes,
            _ => return false,
        };
        let own = self.outputs.iter().flat_map(|layer| &layer.0);
        let numbers = own.clone().flat_map(|output| output.weights.iter().chain([&output.bias]));
        let has_columns = match &self.outputs {
            None => self.biases.len() == scores,
            Some(layer) => {
                let units: usize = own.map(|output| output.weights.len()).sum();
                layer.0.len() == scores && self.biases.len() == units
            }
        };
        has_columns && self.biases.iter().chain(numbers).all(|number| number.is_finite())
    }
}
