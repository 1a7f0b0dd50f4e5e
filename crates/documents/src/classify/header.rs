//! The header of a classifier: everything but the weights of features.

use dropchain::error::Result;
use dropchain::model::{Model, Precision, RowFile, TrainingRecord};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::output_layer::OutputLayer;
use crate::irls::Loss;
use crate::{FeatureOptions, ModelKind};

/// How several classes are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Multiclass {
    /// One model: p(y) ∝ exp(score of y).
    #[default]
    Softmax,
    /// A model for each class against the others: p(y) ∝ σ(score of y).
    OneVsRest,
}

/// Everything in a classifier but the weights of its features.
///
/// The rows of weights have a column for each class; of two classes with a loss of y·f just one, f,
/// and the scores of the classes are ∓½·f. With hidden units, they have one for each unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassifierHeader {
    /// The names of the classes.
    pub classes: Vec<String>,
    /// The features of texts; `None` if documents come with features.
    pub features: Option<FeatureOptions>,
    /// How several classes are told apart.
    pub multiclass: Multiclass,
    /// The loss of y·f; `None`: −log p.
    pub loss: Option<Loss>,
    /// The bias of each column.
    pub biases: Vec<f64>,
    /// What makes scores of the columns, if these are hidden units.
    pub outputs: Option<OutputLayer>,
    /// Number of training documents.
    pub documents: u64,
    /// Version of dropchain that trained the classifier.
    pub version: String,
    /// All options of training, as JSON.
    pub options: Value,
    /// How training ended.
    pub result: Option<TrainingRecord>,
}

/// The name of a feature, and its weights by column.
type NamedRow = (Vec<u8>, Vec<(u32, f64)>);

/// A classifier that is being built.
#[derive(Debug, Default)]
pub(super) struct ClassifierParts {
    pub header: ClassifierHeader,
    pub precision: Precision,
    /// The weights of each feature, by column.
    pub rows: Vec<NamedRow>,
}

impl ClassifierParts {
    /// Takes them from a log-linear model of documents.
    ///
    /// # Errors
    ///
    /// [`Error::Model`](dropchain::Error::Model) if the model is damaged.
    pub fn of_model(model: &Model) -> Result<Self> {
        let header = model.header();
        let weights = &header.label_weights;
        let biases = weights.start.iter().zip(&weights.end);
        let rows = model.node_weights().map(|row| {
            let (name, weights) = row?;
            let columns = weights.into_iter();
            let columns = columns.map(|(label, weight)| (u32::from(label.0), weight));
            Ok((name.to_vec(), columns.collect()))
        });
        Ok(Self {
            header: ClassifierHeader {
                classes: header.labels.names().to_vec(),
                biases: biases.map(|(start, end)| start + end).collect(),
                documents: header.provenance.sentences,
                version: header.provenance.version.clone(),
                options: header.provenance.training_options(),
                result: header.provenance.training(),
                ..ClassifierHeader::default()
            },
            precision: header.precision,
            rows: rows.collect::<Result<_>>()?,
        })
    }

    /// Takes them from the file of a classifier.
    ///
    /// # Errors
    ///
    /// [`Error::Model`](dropchain::Error::Model) if the file is damaged.
    pub fn of_file(header: ClassifierHeader, file: &RowFile) -> Result<Self> {
        let rows = file.rows().map(|row| {
            let (name, row) = row?;
            Ok((name.to_vec(), row))
        });
        Ok(Self {
            header,
            precision: file.precision(),
            rows: rows.collect::<Result<_>>()?,
        })
    }

    /// Encodes the model file.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`](dropchain::Error::Parameter) if a weight is too large for the
    /// precision, or there are too many classes.
    pub fn encode(self) -> Result<Vec<u8>> {
        let shape = (self.header.biases.len(), self.precision);
        RowFile::encode(
            ModelKind::Classifier.magic(),
            &self.header,
            shape,
            self.rows,
        )
    }
}
