//! Prediction with a model: the class of a document with probabilities.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::corpus::features;
use crate::model::of_classes;
use crate::options::Multiclass;
use crate::{ClassEvaluation, DocumentModel, Instance, InstanceFormat, Tokens};
use dropchain::kernel::math::{log_sum_exp, sigmoid};
use dropchain::{Error, Result};
use dropchain_analysis::PairedBootstrap;

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

impl DocumentModel {
    /// Classifies a document. Features that the model does not have are ignored.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if the document is a text and the model has ready-made features, or the
    /// other way round, or scores overflow.
    pub fn classify(&self, document: &Instance) -> Result<Prediction> {
        let header = self.header();
        let mut scores = header.biases.clone(); // of the columns
        for (name, value) in features(document, header.input.features.as_ref())?.iter() {
            if let Ok(row) = self.rows.binary_search_by(|(own, _)| own.as_str().cmp(name)) {
                for &(column, weight) in &self.rows[row].1 {
                    scores[column as usize] += value * f64::from(weight);
                }
            }
        }
        if !scores.iter().all(|score| score.is_finite()) {
            let message = "scores overflow; expected smaller values of features";
            return Err(Error::input(document.place(), message));
        }
        let scores = of_classes(scores);
        let mut probabilities = match (header.multiclass, scores.len()) {
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
        let mut bootstrap = PairedBootstrap::default();
        for document in documents {
            let document = document?;
            let best = self.add(&document, &mut evaluation)?;
            if let Some(other) = other {
                let label = document.label.as_deref().unwrap_or_default();
                let against = &other.classes()[other.classify(&document)?.best()];
                bootstrap.add(&[label], [&[self.classes()[best].as_str()], &[against.as_str()]])?;
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

    /// Returns the format of documents, with or without labels, of files whose name does not tell.
    pub fn default_format(&self, has_labels: bool) -> InstanceFormat {
        match (self.header().input.features, has_labels) {
            (None, _) => InstanceFormat::Svmlight,
            (Some(_), true) => InstanceFormat::Labeled,
            (Some(_), false) => InstanceFormat::Text,
        }
    }

    /// Returns what the model has learned, as JSON: options, and of each class its bias and its
    /// `top` features with the largest absolute weights.
    pub fn inspection(&self, top: usize) -> Value {
        let header = self.header();
        let classes = self.classes().iter().zip(self.biases()).zip(self.strongest(top));
        let classes = classes.map(|((class, bias), features)| {
            (class.clone(), json!({"bias": bias, "features": features}))
        });
        json!({
            "documents": header.documents,
            "options": header.options,
            "result": header.result,
            "features": header.input.features,
            "multiclass": header.multiclass,
            "loss": header.loss,
            "classes": classes.collect::<Map<_, _>>(),
        })
    }

    /// Returns the strongest features of each class, by weight.
    fn strongest(&self, top: usize) -> Vec<Vec<Value>> {
        let mut lists: Vec<Vec<(f64, &String)>> = vec![Vec::new(); self.classes().len()];
        for (name, row) in &self.rows {
            for &(column, weight) in row {
                let weight = f64::from(weight);
                match &mut lists[..] {
                    // The scores of two classes are ∓½·f.
                    [a, b] => {
                        a.push((-0.5 * weight, name));
                        b.push((0.5 * weight, name));
                    }
                    lists => lists[column as usize].push((weight, name)),
                }
            }
        }
        let strongest = lists.into_iter().map(|mut list| {
            list.sort_by(|(x, _), (y, _)| y.abs().total_cmp(&x.abs()));
            list.truncate(top);
            list.sort_by(|(x, _), (y, _)| y.total_cmp(x));
            let features = list.into_iter();
            features.map(|(weight, name)| json!({"feature": name, "weight": weight})).collect()
        });
        strongest.collect()
    }

    /// Returns an [`inspection`](Self::inspection) as text for people.
    pub fn inspection_text(&self, value: &Value) -> String {
        let number = |value: &Value| digits(value.as_f64().unwrap_or_default());
        let mut text = format!("trained on {} documents\n", value["documents"]);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "features: {}", self.describe_features());
        let _ = writeln!(text, "loss: {}", self.header().loss.name());
        for (class, content) in value["classes"].as_object().into_iter().flatten() {
            let _ = writeln!(text, "\n{class}\n{:>14}  (bias)", number(&content["bias"]));
            for feature in content["features"].as_array().into_iter().flatten() {
                let name = feature["feature"].as_str().unwrap_or_default();
                let _ = writeln!(text, "{:>14}  {name}", number(&feature["weight"]));
            }
        }
        text
    }

    fn describe_features(&self) -> String {
        let Some(features) = &self.header().input.features else { return "ready-made".to_owned() };
        let fields = json!(features);
        let fields = fields.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
        let fields = fields.map(|(name, value)| match value {
            Value::String(text) => format!("{name} {text}"),
            Value::Object(range) => format!("{name} {}..{}", range["shortest"], range["longest"]),
            other => format!("{name} {other}"),
        });
        fields.collect::<Vec<String>>().join(", ")
    }
}

/// Formats a number for people, with seven significant digits: those that the weights of a model
/// have.
pub(crate) fn digits(number: f64) -> String {
    let rounded = format!("{number:.6e}").parse().unwrap_or(number);
    format!("{rounded}")
}
