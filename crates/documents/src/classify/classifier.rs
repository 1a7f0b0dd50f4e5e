//! The classifier: from documents to classes with probabilities. Its scores on documents, and what
//! it has learned, for people and programs.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::header::{ClassifierHeader, Multiclass, of_classes};
use crate::features::features;
use crate::{ClassEvaluation, Instance, ModelKind, Tokens};
use dropchain::chain::{LabelWeights, Lattice, Order, Scores, Transitions};
use dropchain::error::{Error, Result};
use dropchain::math::sigmoid;
use dropchain::model::RowFile;
use dropchain_analysis::PairedBootstrap;

/// Classifies documents with a model.
///
/// A classifier is `Send` and `Sync`: threads share one by reference.
#[derive(Clone, Debug)]
pub struct Classifier {
    file: Arc<RowFile>,
    header: Arc<ClassifierHeader>,
    halves: Arc<Transitions>, // of the bias of each class
}

/// A hidden unit of a classifier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HiddenUnit<'a> {
    /// The class whose score it adds to; with two classes, their second one.
    pub class: &'a str,
    /// The weight with which it does.
    pub weight: f64,
    /// Its bias: the score of a document without features.
    pub bias: f64,
}

/// The probabilities of the classes of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The probability of each class, in the order of [`Classifier::classes`]; their sum is 1.
    pub probabilities: Vec<f64>,
    /// The score of each class: the sum of its weights.
    pub scores: Vec<f64>,
}

impl Prediction {
    /// Returns the number of the best class, the first of several.
    pub fn best(&self) -> usize {
        self.ranking().first().copied().unwrap_or(0)
    }

    /// Returns the numbers of the classes, the best first.
    pub fn ranking(&self) -> Vec<usize> {
        let mut ranking: Vec<usize> = (0..self.scores.len()).collect();
        ranking.sort_by(|&a, &b| self.scores[b].total_cmp(&self.scores[a]));
        ranking
    }
}

impl Classifier {
    /// Opens a model file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be read; [`Error::Model`] if it is no classifier, or is
    /// damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let kind = ModelKind::Classifier;
        kind.check(path.as_ref())?;
        let (file, header) = RowFile::open(path, kind.magic())?;
        Self::new(file, header)
    }

    /// Reads the contents of a model file.
    ///
    /// # Errors
    ///
    /// Same as [`open`](Self::open).
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        let (file, header) = RowFile::from_bytes(bytes, ModelKind::Classifier.magic())?;
        Self::new(file, header)
    }

    fn new(file: RowFile, header: ClassifierHeader) -> Result<Self> {
        let (classes, columns) = (header.classes.len(), file.columns());
        let fits = match &header.outputs {
            Some(layer) => layer.fits(classes, columns),
            None => columns == classes || (columns, classes) == (1, 2),
        };
        if !fits || header.biases.len() != columns || classes == 0 {
            let message = "the weights of the classifier do not fit its classes";
            return Err(Error::model(file.path(), message));
        }
        let halves: Vec<f64> = match &header.outputs {
            Some(_) => vec![0.0; classes],
            None => of_classes(header.biases.clone()),
        };
        let halves: Vec<f64> = halves.into_iter().map(|bias| 0.5 * bias).collect();
        let weights = LabelWeights {
            transitions: Vec::new(), // none at order 0
            start: halves.clone(),
            end: halves,
        };
        Ok(Self {
            file: Arc::new(file),
            header: Arc::new(header),
            halves: Arc::new(Transitions::from_weights(&weights, Order::Zero)),
        })
    }

    /// Returns the model file: its contents, and the weights of features.
    pub fn file(&self) -> &RowFile {
        &self.file
    }

    /// Returns everything but the weights of features.
    pub fn header(&self) -> &ClassifierHeader {
        &self.header
    }

    /// Returns the names of the classes.
    pub fn classes(&self) -> &[String] {
        &self.header.classes
    }

    /// Returns the hidden units, which are the columns of the weights; none if these are classes.
    pub fn hidden_units(&self) -> Vec<HiddenUnit<'_>> {
        let outputs = self.header.outputs.iter();
        let outputs = outputs.flat_map(|layer| layer.weights(self.classes()));
        let units = outputs.zip(&self.header.biases);
        units.map(|((class, weight), &bias)| HiddenUnit { class, weight, bias }).collect()
    }

    /// Returns the biases of the classes, in their order.
    pub fn biases(&self) -> Vec<f64> {
        match &self.header.outputs {
            Some(layer) => layer.biases(),
            None => of_classes(self.header.biases.clone()),
        }
    }

    /// Classifies a document; features that the model does not have are ignored.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if the document is a text and the model has ready-made features, or the
    /// other way round, or scores overflow; [`Error::Model`] if the model file is damaged.
    pub fn classify(&self, document: &Instance) -> Result<Prediction> {
        let header = &self.header;
        let mut sums = match &header.outputs {
            Some(_) => header.biases.clone(),
            None => vec![0.0; self.file.columns()],
        };
        for (name, value) in features(document, header.features.as_ref())?.iter() {
            self.file.add_row(name.as_bytes(), *value, &mut sums)?;
        }
        // Without hidden units, biases are added in halves, as in training.
        let (scores, sums) = match &header.outputs {
            Some(layer) => (layer.scores(&sums), None),
            None => {
                let sums = of_classes(sums);
                let halves = self.halves.start().iter().zip(self.halves.end());
                let scores = sums.iter().zip(halves);
                let scores = scores.map(|(sum, (a, b))| (sum + a) + b);
                (scores.collect(), Some(sums))
            }
        };
        if !scores.iter().all(|score| score.is_finite()) {
            let message = "scores overflow; expected smaller values of features";
            return Err(Error::input(document.place(), message));
        }
        let probabilities = match (header.multiclass, sums) {
            (Multiclass::OneVsRest, _) => one_vs_rest(&scores),
            (Multiclass::Softmax, Some(sums)) => self.marginals(sums),
            // Of two classes, whose scores are ½f and −½f.
            (Multiclass::Softmax, None) => scores.iter().map(|s| sigmoid(2.0 * s)).collect(),
        };
        Ok(Prediction { probabilities, scores })
    }

    /// Returns the probabilities of a log-linear model, given the scores of the classes without
    /// their biases.
    fn marginals(&self, mut node: Vec<f64>) -> Vec<f64> {
        let classes = node.len();
        node.resize(self.halves.stride(), 0.0);
        let scores = Scores { node: &node, edge: None };
        let mut lattice = Lattice::default();
        lattice.forward_backward(&self.halves, scores);
        lattice.node_marginals()[..classes].to_vec()
    }
}

/// Returns probabilities that are in proportion to σ(score); if all of those are 0, equal ones.
fn one_vs_rest(scores: &[f64]) -> Vec<f64> {
    let mut numbers: Vec<f64> = scores.iter().map(|&score| sigmoid(score)).collect();
    let sum: f64 = numbers.iter().sum();
    let equal = 1.0 / numbers.len() as f64;
    for number in &mut numbers {
        *number = if sum > 0.0 { *number / sum } else { equal };
    }
    numbers
}

impl Classifier {
    /// Scores the classifier on documents with classes; with another classifier, also collects the
    /// predictions of both to compare them.
    ///
    /// # Errors
    ///
    /// Those of reading and of [`classify`](Self::classify).
    pub fn evaluate(
        &self,
        documents: impl IntoIterator<Item = Result<Instance>>,
        other: Option<&Self>,
    ) -> Result<(ClassEvaluation, PairedBootstrap)> {
        let mut evaluation = ClassEvaluation::new(self.classes());
        let mut bootstrap = PairedBootstrap::new().without_spans();
        for document in documents {
            let document = document?;
            let best = self.add(&document, &mut evaluation)?;
            if let Some(other) = other {
                let label = document.label.as_deref().unwrap_or_default();
                let against = other.classify(&document)?.best();
                let names = [&self.classes()[best], &other.classes()[against]];
                bootstrap.add(&[label], [&[names[0].as_str()], &[names[1].as_str()]])?;
            }
        }
        Ok((evaluation, bootstrap))
    }

    /// Scores the classifier on documents of which words, or features, are left out at each of
    /// several rates.
    ///
    /// # Errors
    ///
    /// Those of reading and of [`classify`](Self::classify).
    pub fn evaluate_damaged(
        &self,
        documents: impl IntoIterator<Item = Result<Instance>>,
        rates: &[f64],
        seed: u64,
    ) -> Result<Vec<ClassEvaluation>> {
        let features = self.header.features;
        let tokens = features.map_or(Tokens::default(), |f| f.tokens);
        let new = |_: &f64| ClassEvaluation::new(self.classes());
        let mut evaluations: Vec<ClassEvaluation> = rates.iter().map(new).collect();
        for (number, document) in (0..).zip(documents) {
            let document = document?;
            for (rate, evaluation) in rates.iter().zip(&mut evaluations) {
                let damaged = document.clone().damaged(*rate, tokens, seed, number);
                self.add(&damaged, evaluation)?;
            }
        }
        Ok(evaluations)
    }

    /// Classifies a document, adds the result, and returns the predicted class.
    fn add(&self, document: &Instance, evaluation: &mut ClassEvaluation) -> Result<usize> {
        let prediction = self.classify(document)?;
        let label = document.label.as_deref().unwrap_or_default();
        evaluation.add(label, prediction.best(), &prediction.probabilities);
        Ok(prediction.best())
    }
}

/// Returns what a classifier has learned, as JSON: options, and for each class, or hidden unit, its
/// bias and its `top` features with the largest absolute weights, by weight.
///
/// # Errors
///
/// [`Error::Model`](dropchain::Error::Model) if the file is damaged.
pub fn inspection(classifier: &Classifier, top: usize) -> Result<Value> {
    let header = classifier.header();
    let units = classifier.hidden_units();
    let columns = strongest(classifier, top)?;
    let classes = classifier.classes().iter().zip(classifier.biases());
    let classes = classes.enumerate().map(|(number, (class, bias))| {
        let features = match &units[..] {
            [] => columns[number].clone(),
            _ => Vec::new(), // those of its units
        };
        (class.clone(), json!({"bias": bias, "features": features}))
    });
    let classes: Map<String, Value> = classes.collect();
    let mut value = json!({
        "documents": header.documents,
        "features": header.features,
        "multiclass": header.multiclass,
        "loss": header.loss,
        "classes": classes,
        "options": header.options,
        "result": header.result,
    });
    if !units.is_empty() {
        let units = units.iter().zip(&columns).map(|(unit, features)| {
            json!({"class": unit.class, "weight": unit.weight, "bias": unit.bias,
                   "features": features})
        });
        value["hidden_units"] = units.collect();
    }
    Ok(value)
}

/// Returns the strongest features of each class, or of each hidden unit.
fn strongest(classifier: &Classifier, top: usize) -> Result<Vec<Vec<Value>>> {
    let columns = classifier.file().columns();
    let is_binary = columns == 1 && classifier.hidden_units().is_empty();
    let lists = if is_binary { 2 } else { columns };
    let mut lists: Vec<Vec<(f64, String)>> = vec![Vec::new(); lists];
    for row in classifier.file().rows() {
        let (name, row) = row?;
        let name = || String::from_utf8_lossy(name).into_owned();
        for (column, weight) in row {
            if is_binary {
                // The scores of the classes are ∓½·f.
                lists[0].push((-0.5 * weight, name()));
                lists[1].push((0.5 * weight, name()));
            } else {
                lists[column as usize].push((weight, name()));
            }
        }
    }
    let strongest = lists.into_iter().map(|mut list| {
        list.sort_by(|(x, _), (y, _)| y.abs().total_cmp(&x.abs()));
        list.truncate(top);
        list.sort_by(|(x, _), (y, _)| y.total_cmp(x));
        let features = list.into_iter();
        let features = features.map(|(weight, name)| json!({"feature": name, "weight": weight}));
        features.collect()
    });
    Ok(strongest.collect())
}

/// Returns an [`inspection`] as text for people.
pub fn inspection_text(value: &Value) -> String {
    let mut text = format!("trained on {} documents\n", value["documents"]);
    let features = match &value["features"] {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(_, value)| !value.is_null());
            let fields: Vec<String> = fields
                .map(|(name, value)| match value {
                    Value::String(text) => format!("{name} {text}"),
                    Value::Object(range) => {
                        format!("{name} {}..{}", range["shortest"], range["longest"])
                    }
                    other => format!("{name} {other}"),
                })
                .collect();
            fields.join(", ")
        }
        _ => "ready-made".to_owned(),
    };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "features: {features}");
    let loss = &value["loss"];
    let keyed = loss.as_object().and_then(|fields| fields.keys().next());
    if let Some(name) = loss.as_str().or(keyed.map(String::as_str)) {
        let _ = writeln!(text, "loss: {name}");
    }
    for (class, content) in value["classes"].as_object().into_iter().flatten() {
        let _ = writeln!(text, "\n{class}");
        write_weights(&mut text, content);
    }
    let units = value["hidden_units"].as_array();
    for (number, unit) in units.into_iter().flatten().enumerate() {
        let class = unit["class"].as_str().unwrap_or_default();
        let weight = unit["weight"].as_f64().unwrap_or_default();
        let _ = writeln!(text, "\nhidden unit {}: {weight:.4} for {class}", number + 1);
        write_weights(&mut text, unit);
    }
    text
}

/// Writes the bias and the strongest features of a class or a hidden unit.
fn write_weights(text: &mut String, content: &Value) {
    let bias = content["bias"].as_f64().unwrap_or_default();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{bias:10.4}  (bias)");
    for feature in content["features"].as_array().into_iter().flatten() {
        let weight = feature["weight"].as_f64().unwrap_or_default();
        let name = feature["feature"].as_str().unwrap_or_default();
        let _ = writeln!(text, "{weight:10.4}  {name}");
    }
}
