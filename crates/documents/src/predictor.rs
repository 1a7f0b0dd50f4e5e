//! Prediction with a model: the class of a document with probabilities, or a number.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::corpus::features;
use crate::model::{ModelFile, ModelHeader};
use crate::options::{Multiclass, Task};
use crate::{
    ClassEvaluation, Instance, InstanceFormat, InstanceReadOptions, NumberEvaluation,
    TableFeatures, Tokens,
};
use dropchain::kernel::atomic_file;
use dropchain::kernel::math::{log_sum_exp, sigmoid};
use dropchain::{Error, Result};
use dropchain_analysis::PairedBootstrap;

/// Predicts with a model of documents.
///
/// It is `Send` and `Sync`: threads share one by reference.
#[derive(Clone, Debug)]
pub struct DocumentModel(Arc<ModelFile>);

/// The probabilities of the classes of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The probability of each class, in the order of [`DocumentModel::classes`]; their sum is 1.
    pub probabilities: Vec<f64>,
    /// The score of each class.
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

/// Returns a number for each class, given one for each, or of two classes that of the second minus
/// that of the first.
fn of_classes(numbers: Vec<f64>) -> Vec<f64> {
    match numbers[..] {
        [difference] => vec![-0.5 * difference, 0.5 * difference],
        _ => numbers,
    }
}

impl DocumentModel {
    /// Opens the model file of a task.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be read; [`Error::Model`] if it is of another kind, or is
    /// damaged.
    pub fn open(path: impl AsRef<Path>, task: Task) -> Result<Self> {
        Ok(Self(Arc::new(ModelFile::open(path.as_ref(), task)?)))
    }

    /// Reads the contents of a model file.
    ///
    /// # Errors
    ///
    /// Same as [`open`](Self::open).
    pub fn from_bytes(bytes: Vec<u8>, task: Task) -> Result<Self> {
        Ok(Self(Arc::new(ModelFile::new(Path::new("model in memory"), bytes, task)?)))
    }

    /// Returns the contents of the model file.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0.bytes
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
        &self.0.header
    }

    /// Returns the names of the classes.
    pub fn classes(&self) -> &[String] {
        &self.0.header.classes
    }

    /// Returns the bias of each class, or of the number.
    pub fn biases(&self) -> Vec<f64> {
        let biases = match &self.header().outputs {
            Some(layer) => layer.0.iter().map(|output| output.bias).collect(),
            None => self.header().biases.clone(),
        };
        if self.0.task == Task::Classes { of_classes(biases) } else { biases }
    }

    /// Returns the names of features with their weights by column, those of 0 left out; the columns
    /// are those of [`ModelHeader`].
    pub fn weights(&self) -> impl Iterator<Item = (String, Vec<(u32, f64)>)> {
        self.0.rows.iter().map(|(name, row)| {
            (name.clone(), row.iter().map(|&(k, weight)| (k, f64::from(weight))).collect())
        })
    }

    /// Returns the scores of a document; features that the model does not have are ignored.
    fn scores(&self, document: &Instance) -> Result<Vec<f64>> {
        let header = self.header();
        let mut sums = header.biases.clone();
        for (name, value) in features(document, header.input.features.as_ref())?.iter() {
            self.0.add_row(name, *value, &mut sums);
        }
        let scores = header.outputs.as_ref().map(|layer| layer.scores(&sums)).unwrap_or(sums);
        if scores.iter().all(|score| score.is_finite()) {
            Ok(scores)
        } else {
            let message = "scores overflow; expected smaller values of features";
            Err(Error::input(document.place(), message))
        }
    }

    /// Classifies a document.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if the document is a text and the model has ready-made features, or the
    /// other way round, or scores overflow; [`Error::Model`] if the model predicts numbers.
    pub fn classify(&self, document: &Instance) -> Result<Prediction> {
        self.check(Task::Classes)?;
        let scores = of_classes(self.scores(document)?);
        let mut probabilities = match (self.header().multiclass, scores.len()) {
            (Multiclass::OneVsRest, 3..) => scores.iter().map(|&s| sigmoid(s)).collect(),
            _ => {
                let partition = log_sum_exp(&scores);
                scores.iter().map(|s| (s - partition).exp()).collect::<Vec<f64>>()
            }
        };
        let sum: f64 = probabilities.iter().sum();
        let equal = 1.0 / scores.len() as f64;
        for p in &mut probabilities {
            *p = if sum > 0.0 { *p / sum } else { equal };
        }
        Ok(Prediction { probabilities, scores })
    }

    /// Returns the number for a document.
    ///
    /// # Errors
    ///
    /// The errors of [`classify`](Self::classify); [`Error::Model`] if the model predicts classes.
    pub fn predict(&self, document: &Instance) -> Result<f64> {
        self.check(Task::Numbers)?;
        let number = self.header().loss.prediction(self.scores(document)?[0]);
        match number.is_finite() {
            true => Ok(number),
            false => Err(Error::input(
                document.place(),
                "the number to predict is too large; expected smaller values of features",
            )),
        }
    }

    fn check(&self, task: Task) -> Result<()> {
        match self.0.task == task {
            true => Ok(()),
            false => Err(Error::model(&self.0.path, format!("the model {}", self.0.task.what()))),
        }
    }

    /// Scores the model on documents with classes; with another model, also collects the
    /// predictions of both to compare them.
    ///
    /// # Errors
    ///
    /// The errors of reading and of [`classify`](Self::classify).
    pub fn evaluate(
        &self,
        documents: impl IntoIterator<Item = Result<Instance>>,
        other: Option<&Self>,
    ) -> Result<(ClassEvaluation, PairedBootstrap)> {
        let mut evaluation = ClassEvaluation::new(self.classes());
        let mut bootstrap = PairedBootstrap::new();
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

    /// Scores the model on documents with classes of which words, or features, are left out at each
    /// of several rates.
    ///
    /// # Errors
    ///
    /// The errors of reading and of [`classify`](Self::classify).
    pub fn evaluate_damaged(
        &self,
        documents: impl IntoIterator<Item = Result<Instance>>,
        rates: &[f64],
        seed: u64,
    ) -> Result<Vec<ClassEvaluation>> {
        let tokens = self.header().input.features.map_or(Tokens::default(), |f| f.tokens);
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

    /// Scores the model on documents whose labels are numbers.
    ///
    /// # Errors
    ///
    /// The errors of reading and of [`predict`](Self::predict); [`Error::Input`] if a label is no
    /// number.
    pub fn evaluate_numbers(
        &self,
        documents: impl IntoIterator<Item = Result<Instance>>,
    ) -> Result<NumberEvaluation> {
        let mut evaluation = NumberEvaluation::default();
        for document in documents {
            let document = document?;
            let label = document.label.as_deref().unwrap_or_default();
            let gold =
                label.trim().parse().ok().filter(|y: &f64| y.is_finite()).ok_or_else(|| {
                    let message = format!("found '{label}'; expected a finite number");
                    Error::input(document.place(), message)
                })?;
            evaluation.add(gold, self.predict(&document)?);
        }
        Ok(evaluation)
    }

    /// Returns how to read documents in the way that a model was trained on, but for the columns
    /// that `options` name. Of all columns of a table, those with a weight are read.
    pub fn read_options(&self, options: InstanceReadOptions) -> InstanceReadOptions {
        let input = &self.header().input;
        InstanceReadOptions {
            default_format: match (&input.features, &input.table, options.needs_labels) {
                (None, Some(_), _) => InstanceFormat::Csv,
                (None, None, _) => InstanceFormat::Svmlight,
                (Some(_), _, true) => InstanceFormat::Labeled,
                (Some(_), _, false) => InstanceFormat::Text,
            },
            table: options.table.or_else(|| input.table.clone().map(|own| self.columns(own))),
            label: options.label.or_else(|| input.label.clone()),
            ..options
        }
    }

    /// Names the columns of numbers that the model has weights for, if all were features.
    fn columns(&self, table: TableFeatures) -> TableFeatures {
        let is_category = |name: &str| {
            let mut categories = table.categories.iter();
            categories.any(|own| name.strip_prefix(own).is_some_and(|rest| rest.starts_with('=')))
        };
        let numbers = self.0.rows.iter().map(|(name, _)| name.as_str());
        let numbers = numbers.filter(|name| !is_category(name)).map(str::to_owned);
        let numbers = table.numbers.clone().unwrap_or_else(|| numbers.collect());
        TableFeatures { numbers: Some(numbers), ..table }
    }
}

impl DocumentModel {
    /// Returns what the model has learned, as JSON: options, and of each class, hidden unit or the
    /// number, its bias and its `top` features with the largest absolute weights.
    pub fn inspection(&self, top: usize) -> Value {
        let header = self.header();
        let columns = self.strongest(top);
        let mut value = json!({
            "documents": header.documents,
            "options": header.options,
            "result": header.result,
        });
        if self.0.task == Task::Numbers {
            value["loss"] = header.loss.name().into();
            value["bias"] = header.biases[0].into();
            value["features"] = self.0.rows.len().into();
            value["weights"] = columns.into_iter().next().unwrap_or_default().into();
            return value;
        }
        let units = header.outputs.iter().flat_map(|layer| &layer.0);
        let classes = self.classes().iter().zip(self.biases()).enumerate();
        let classes = classes.map(|(number, (class, bias))| {
            let features = match &header.outputs {
                None => columns[number].clone(),
                Some(_) => Vec::new(), // those of its units
            };
            (class.clone(), json!({"bias": bias, "features": features}))
        });
        value["features"] = json!(header.input.features);
        value["multiclass"] = json!(header.multiclass);
        value["loss"] = json!(header.loss);
        value["classes"] = Value::Object(classes.collect::<Map<_, _>>());
        if header.outputs.is_some() {
            // Of two classes, units are those of the second.
            let skipped = usize::from(self.classes().len() == 2);
            let units = units.zip(self.classes().iter().skip(skipped));
            let units = units.flat_map(|(o, class)| o.weights.iter().map(move |w| (class, w)));
            let units = units.zip(&header.biases).zip(&columns).map(|(((class, w), b), features)| {
                json!({"class": class, "weight": w, "bias": b, "features": features})
            });
            value["hidden_units"] = units.collect();
        }
        value
    }

    /// Returns the strongest features of each class, hidden unit or the number: by weight, those of
    /// a number by its absolute value.
    fn strongest(&self, top: usize) -> Vec<Vec<Value>> {
        let is_binary = self.classes().len() == 2 && self.header().outputs.is_none();
        let columns = if is_binary { 2 } else { self.header().biases.len() };
        let mut lists: Vec<Vec<(f64, String)>> = vec![Vec::new(); columns];
        for (name, row) in self.weights() {
            for (column, weight) in row {
                if is_binary {
                    // The scores of the classes are ∓½·f.
                    lists[0].push((-0.5 * weight, name.clone()));
                    lists[1].push((0.5 * weight, name.clone()));
                } else {
                    lists[column as usize].push((weight, name.clone()));
                }
            }
        }
        let strongest = lists.into_iter().map(|mut list| {
            list.sort_by(|(x, _), (y, _)| y.abs().total_cmp(&x.abs()));
            list.truncate(top);
            if self.0.task == Task::Classes {
                list.sort_by(|(x, _), (y, _)| y.total_cmp(x));
            }
            let features = list.into_iter();
            features.map(|(weight, name)| json!({"feature": name, "weight": weight})).collect()
        });
        strongest.collect()
    }

    /// Returns an [`inspection`](Self::inspection) as text for people.
    pub fn inspection_text(&self, value: &Value) -> String {
        let mut text = format!("trained on {} documents\n", value["documents"]);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "features: {}", self.describe_features());
        let _ = writeln!(text, "loss: {}", self.header().loss.name());
        if self.0.task == Task::Numbers {
            let number = |name: &str| digits(value["options"][name].as_f64().unwrap_or_default());
            let (l2, l1, count) = (number("l2"), number("l1"), &value["features"]);
            let _ = writeln!(text, "L2 {l2}, L1 {l1}\n{count} features with a weight\n");
            write_weights(&mut text, &value["bias"], &value["weights"]);
        }
        for (class, content) in value["classes"].as_object().into_iter().flatten() {
            let _ = writeln!(text, "\n{class}");
            write_weights(&mut text, &content["bias"], &content["features"]);
        }
        for (number, unit) in value["hidden_units"].as_array().into_iter().flatten().enumerate() {
            let class = unit["class"].as_str().unwrap_or_default();
            let weight = unit["weight"].as_f64().unwrap_or_default();
            let _ = writeln!(text, "\nhidden unit {}: {weight:.4} for {class}", number + 1);
            write_weights(&mut text, &unit["bias"], &unit["features"]);
        }
        text
    }

    fn describe_features(&self) -> String {
        let Some(features) = &self.header().input.features else {
            return "ready-made".to_owned();
        };
        let fields = json!(features);
        let fields = fields.as_object().into_iter().flatten();
        let fields =
            fields.filter(|(_, value)| !value.is_null()).map(|(name, value)| match value {
                Value::String(text) => format!("{name} {text}"),
                Value::Object(range) => {
                    format!("{name} {}..{}", range["shortest"], range["longest"])
                }
                other => format!("{name} {other}"),
            });
        fields.collect::<Vec<String>>().join(", ")
    }
}

/// Writes a bias and the strongest features.
fn write_weights(text: &mut String, bias: &Value, features: &Value) {
    let number = |value: &Value| digits(value.as_f64().unwrap_or_default());
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{:>14}  (bias)", number(bias));
    for feature in features.as_array().into_iter().flatten() {
        let name = feature["feature"].as_str().unwrap_or_default();
        let _ = writeln!(text, "{:>14}  {name}", number(&feature["weight"]));
    }
}

/// Formats a number for people, with seven significant digits: those that the weights of a model
/// have.
pub fn digits(number: f64) -> String {
    let rounded = format!("{number:.6e}").parse().unwrap_or(number);
    format!("{rounded}")
}
