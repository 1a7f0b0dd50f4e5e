//! The header of a classifier: everything but the weights of features, with the output layer of
//! hidden units; and how models of one class against the rest are combined.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::irls::Loss;
use crate::{FeatureOptions, ModelKind};
use dropchain::error::{Error, Result};
use dropchain::math::sigmoid;
use dropchain::model::{Model, Precision, RowFile, TrainingRecord};

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
        Ok(Self { header, precision: file.precision(), rows: rows.collect::<Result<_>>()? })
    }

    /// Encodes the model file.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`](dropchain::Error::Parameter) if a weight is too large for the
    /// precision, or there are too many classes.
    pub fn encode(self) -> Result<Vec<u8>> {
        let shape = (self.header.biases.len(), self.precision);
        RowFile::encode(ModelKind::Classifier.magic(), &self.header, shape, self.rows)
    }
}

/// What makes scores of classes of the inputs of hidden units. Of two classes it has one output:
/// the score of the second minus that of the first. Of more, one for each class. The units of an
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

/// Returns b + Σ_k w_k·σ(u_k); w and u are `[K]`.
pub fn output_score(weights: &[f64], bias: f64, inputs: &[f64]) -> f64 {
    let units = weights.iter().zip(inputs);
    bias + units.map(|(w, &u)| w * sigmoid(u)).sum::<f64>()
}

impl OutputLayer {
    /// Returns whether the layer fits so many classes and hidden units.
    pub fn fits(&self, classes: usize, units: usize) -> bool {
        let outputs = if classes == 2 { 1 } else { classes };
        let own: usize = self.0.iter().map(|output| output.weights.len()).sum();
        classes > 1 && self.0.len() == outputs && own == units && self.is_finite()
    }

    fn is_finite(&self) -> bool {
        self.0.iter().all(|output| {
            let mut numbers = output.weights.iter().chain([&output.bias]);
            numbers.all(|number| number.is_finite())
        })
    }

    /// Checks that all numbers are finite.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if they are not.
    pub fn check(self) -> Result<Self> {
        match self.is_finite() {
            true => Ok(self),
            false => Err(Error::parameter("the weights of hidden units overflow")),
        }
    }

    /// Returns for each unit the class of its output, and its weight there; those of two classes
    /// are of the second.
    pub fn weights<'a>(&'a self, classes: &'a [String]) -> impl Iterator<Item = (&'a str, f64)> {
        let skipped = classes.len().saturating_sub(self.0.len());
        let outputs = classes.iter().skip(skipped).zip(&self.0);
        outputs.flat_map(|(class, output)| output.weights.iter().map(move |&w| (&**class, w)))
    }

    /// Returns the bias of each class.
    pub fn biases(&self) -> Vec<f64> {
        of_classes(self.0.iter().map(|output| output.bias).collect())
    }

    /// Returns the score of each class, given the inputs of all units.
    pub fn scores(&self, mut inputs: &[f64]) -> Vec<f64> {
        let mut scores = Vec::with_capacity(self.0.len());
        for output in &self.0 {
            let (own, rest) = inputs.split_at(output.weights.len());
            scores.push(output_score(&output.weights, output.bias, own));
            inputs = rest;
        }
        of_classes(scores)
    }
}

/// Returns a number for each class, given one for each, or of two classes that of the second minus
/// that of the first.
pub fn of_classes(numbers: Vec<f64>) -> Vec<f64> {
    match numbers[..] {
        [difference] => vec![-0.5 * difference, 0.5 * difference],
        _ => numbers,
    }
}

/// Combines models of each class against the rest, which `train` makes one after another: the
/// score of a class is its score in its own model minus that of the rest. What else the result has
/// is that of the first model.
///
/// # Errors
///
/// Those of `train`.
pub(super) fn one_vs_rest(
    classes: Vec<String>,
    mut train: impl FnMut(&str) -> Result<ClassifierParts>,
) -> Result<ClassifierParts> {
    let mut combined = ClassifierParts::default();
    let mut biases: Vec<f64> = Vec::new(); // of each class, or of its hidden units
    let mut rows: BTreeMap<Vec<u8>, Vec<(u32, f64)>> = BTreeMap::new();
    let mut outputs = Vec::new(); // of each class, if there are hidden units
    for (number, class) in classes.iter().enumerate() {
        let mut model = train(class)?;
        let first = biases.len();
        // The column of a column of the model, and the sign of its weights.
        let place = |column: u32| match &model.header.outputs {
            Some(_) => (first + column as usize, 1.0),
            None if model.header.classes[column as usize] == *class => (first, 1.0),
            None => (first, -1.0),
        };
        for (column, bias) in (0..).zip(&model.header.biases) {
            let (own, sign) = place(column);
            biases.resize(biases.len().max(own + 1), 0.0);
            biases[own] += sign * bias;
        }
        for (name, weights) in std::mem::take(&mut model.rows) {
            let row = rows.entry(name).or_default();
            for (column, weight) in weights {
                let (own, sign) = place(column);
                match row.last_mut().filter(|(last, _)| *last == own as u32) {
                    Some((_, sum)) => *sum += sign * weight,
                    None => row.push((own as u32, sign * weight)),
                }
            }
        }
        // The score of a model with hidden units is that of its second class.
        let is_second = model.header.classes.last() == Some(class);
        let sign = if is_second { 1.0 } else { -1.0 };
        for mut output in model.header.outputs.take().into_iter().flat_map(|layer| layer.0) {
            output.weights.iter_mut().for_each(|weight| *weight *= sign);
            output.bias *= sign;
            outputs.push(output);
        }
        if number == 0 {
            combined = model;
        }
    }
    combined.header.classes = classes;
    combined.header.biases = biases;
    combined.header.outputs = (!outputs.is_empty()).then_some(OutputLayer(outputs));
    combined.rows = rows.into_iter().collect();
    Ok(combined)
}
