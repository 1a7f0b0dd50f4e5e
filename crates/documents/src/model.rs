//! Model files: a header, and named rows of weights.
//!
//! A file is a magic, the checksum of what follows (XXH3), the lengths of the header and of the
//! names, the numbers of rows and of weights, and then: the header as JSON, the end of each name
//! and of each row's weights, their columns, the weights in single precision, the names. Names
//! ascend.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use crate::linear::output_score;
use crate::options::{Multiclass, Task};
use crate::{FeatureOptions, Loss, TableFeatures};
use dropchain::atomic_file;
use dropchain::error::{Error, Result};
use dropchain::extract::SparseRows;
use dropchain::input_file::InputFile;
use dropchain::model::{MAGIC, Magic};

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
    /// How several classes are told apart.
    pub multiclass: Multiclass,
    /// The loss that was minimized.
    pub loss: Loss,
    /// How documents are read.
    pub input: ModelInput,
    /// The bias of each column.
    pub biases: Vec<f64>,
    /// What makes scores of the columns, if these are hidden units.
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

/// How documents are read for a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelInput {
    /// The features of texts; `None` if documents come with features.
    pub features: Option<FeatureOptions>,
    /// The columns of tables that features come from.
    pub table: Option<TableFeatures>,
    /// The column or key of the numbers.
    pub label: Option<String>,
    /// Training files, as named by the user.
    pub files: Vec<String>,
}

/// What makes scores of the inputs of hidden units: an output for each score. The units of an
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

/// What training makes a model of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub biases: Vec<f64>, // of columns
    pub outputs: Option<OutputLayer>,
    pub rows: Vec<Vec<(u32, f64)>>, // of features
}

/// A model file.
#[derive(Clone, Debug)]
pub(crate) struct ModelFile {
    path: PathBuf,
    bytes: Vec<u8>,
    names: usize,   // where they begin
    ends: Vec<u64>, // of names
    rows: SparseRows,
}

/// The length of what the header follows.
const PREAMBLE: usize = 48;

impl ModelFile {
    /// Encodes a model. Rows without weights are left out.
    pub fn encode(
        task: Task,
        header: &ModelHeader,
        mut rows: Vec<(&str, Vec<(u32, f64)>)>,
    ) -> Result<Vec<u8>> {
        rows.iter_mut().for_each(|(_, row)| row.retain(|(_, weight)| *weight as f32 != 0.0));
        rows.retain(|(_, row)| !row.is_empty());
        rows.sort_unstable_by_key(|(name, _)| *name);
        let header = serde_json::to_vec(header)
            .map_err(|error| Error::parameter(format!("cannot write a header: {error}")))?;
        let weights: Vec<(u32, f64)> = rows.iter().flat_map(|(_, row)| row).copied().collect();
        if weights.iter().any(|(_, weight)| !(*weight as f32).is_finite()) {
            return Err(Error::parameter("a weight is too large for single precision"));
        }
        let names: usize = rows.iter().map(|(name, _)| name.len()).sum();
        let mut body = Vec::new();
        for number in [header.len(), names, rows.len(), weights.len()] {
            body.extend_from_slice(&(number as u64).to_le_bytes());
        }
        body.extend_from_slice(&header);
        let mut ends = [0_u64; 2];
        let lengths = |(name, row): &(&str, Vec<_>)| [name.len(), row.len()];
        for (which, _) in [(); 2].iter().enumerate() {
            for row in &rows {
                ends[which] += lengths(row)[which] as u64;
                body.extend_from_slice(&ends[which].to_le_bytes());
            }
        }
        weights.iter().for_each(|(column, _)| body.extend_from_slice(&column.to_le_bytes()));
        for (_, weight) in &weights {
            body.extend_from_slice(&(*weight as f32).to_le_bytes());
        }
        rows.iter().for_each(|(name, _)| body.extend_from_slice(name.as_bytes()));
        let mut file = task.magic().to_vec();
        file.extend_from_slice(&xxh3_64(&body).to_le_bytes());
        file.extend_from_slice(&body);
        Ok(file)
    }

    /// Reads a file.
    pub fn open(path: &Path, task: Task) -> Result<(Self, ModelHeader)> {
        let mut bytes = Vec::new();
        InputFile::open(path, task.name())?.read_up_to(u64::MAX, &mut bytes)?;
        Self::new(path, bytes, task)
    }

    /// Takes the contents of a file.
    pub fn new(path: &Path, bytes: Vec<u8>, task: Task) -> Result<(Self, ModelHeader)> {
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
        let number = |at: usize| {
            let eight = bytes.get(at..at + 8).and_then(|bytes| bytes.first_chunk());
            eight.map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        if bytes.len() < PREAMBLE || xxh3_64(&bytes[16..]) != number(8) {
            return Err(damaged("it does not match its checksum"));
        }
        let [header, names, rows, weights] =
            [16, 24, 32, 40].map(|at| usize::try_from(number(at)).unwrap_or(usize::MAX));
        let lengths = [header, rows, rows, weights, weights, names];
        let ends = lengths.iter().zip([1, 8, 8, 4, 4, 1]).scan(PREAMBLE, |end, (length, size)| {
            *end = end.saturating_add(length.saturating_mul(size));
            Some(*end)
        });
        let ends: Vec<usize> = ends.collect();
        if ends[5] != bytes.len() {
            return Err(damaged("it has another length"));
        }
        let content: ModelHeader = serde_json::from_slice(&bytes[PREAMBLE..ends[0]])
            .map_err(|error| damaged(&format!("the header cannot be read: {error}")))?;
        let numbers =
            |from: usize| -> Vec<u64> { (0..rows).map(|i| number(ends[from] + 8 * i)).collect() };
        let [name_ends, row_ends] = [0, 1].map(numbers);
        let is_ascending = |ends: &[u64], last: usize| {
            ends.is_sorted() && ends.last().copied().unwrap_or(0) == last as u64
        };
        let columns: Vec<u32> =
            bytes[ends[2]..ends[3]].as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect();
        let values = bytes[ends[3]..ends[4]].as_chunks().0.iter();
        let values: Vec<f64> = values.map(|b| f64::from(f32::from_le_bytes(*b))).collect();
        let is_column = |column: &u32| (*column as usize) < content.biases.len();
        if !is_ascending(&name_ends, names)
            || !is_ascending(&row_ends, weights)
            || !columns.iter().all(is_column)
            || !content.fits(task)
        {
            return Err(damaged("its weights do not fit"));
        }
        let rows = SparseRows::from_parts(row_ends, columns, Some(values));
        let (path, names) = (path.to_owned(), ends[4]);
        Ok((Self { path, bytes, names, ends: name_ends, rows }, content))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn save(&self, path: &Path) -> Result<()> {
        atomic_file::write(path, &self.bytes)
    }

    /// Returns the number of features with a weight.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the name of a row.
    pub fn name(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.bytes[self.names..][start as usize..self.ends[row] as usize]
    }

    /// Returns the weights of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (u32, f64)> {
        self.rows.entries(row)
    }

    /// Adds the row of a name, times `value`, to scores of columns.
    pub fn add_row(&self, name: &str, value: f64, scores: &mut [f64]) {
        let mut range = 0..self.len();
        while !range.is_empty() {
            let middle = range.start.midpoint(range.end);
            match self.name(middle).cmp(name.as_bytes()) {
                std::cmp::Ordering::Less => range.start = middle + 1,
                std::cmp::Ordering::Greater => range.end = middle,
                std::cmp::Ordering::Equal => {
                    for (column, weight) in self.row(middle) {
                        scores[column as usize] += value * weight;
                    }
                    return;
                }
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
