//! Scores and descriptions of regressions.

use std::fmt::Write as _;

use dropchain::error::{Error, Result};
use serde_json::{Value, json};

use super::regression::Regression;
use crate::{Instance, InstanceFormat, InstanceReadOptions, NumberEvaluation};

/// Formats a number for people, with seven significant digits: those that the weights of a model
/// have.
#[must_use]
pub fn digits(number: f64) -> String {
    let rounded = format!("{number:.6e}").parse().unwrap_or(number);
    format!("{rounded}")
}

impl Regression {
    /// Scores the regression on documents whose labels are numbers.
    ///
    /// # Errors
    ///
    /// Those of reading and of [`predict`](Self::predict); [`Error::Input`] if a label is no
    /// number.
    pub fn evaluate(
        &self,
        documents: impl IntoIterator<Item = Result<Instance>>,
    ) -> Result<NumberEvaluation> {
        let mut evaluation = NumberEvaluation::default();
        for document in documents {
            let document = document?;
            let label = document.label.as_deref().unwrap_or_default();
            let gold = label.trim().parse().ok().filter(|y: &f64| y.is_finite());
            let gold = gold.ok_or_else(|| {
                let message = format!("found '{label}'; expected a finite number");
                Error::input(document.place(), message)
            })?;
            evaluation.add(gold, self.predict(&document)?);
        }
        Ok(evaluation)
    }

    /// Returns how to read documents in the way that the regression was trained on, if they are in
    /// a table; `formats` are those that the names of the files tell. What `options` say of the table
    /// stays; a label that `is_named`, too.
    #[must_use]
    pub fn read_options(
        &self,
        options: InstanceReadOptions,
        formats: &[Option<InstanceFormat>],
        is_named: bool,
    ) -> InstanceReadOptions {
        let is_table = |format: &Option<InstanceFormat>| {
            format.is_none_or(|f| matches!(f, InstanceFormat::Csv | InstanceFormat::Tsv))
        };
        let recorded = self.table().filter(|_| formats.iter().all(is_table));
        let label = self.label().filter(|_| !is_named);
        InstanceReadOptions {
            default_format: match (self.features(), self.table(), options.needs_labels) {
                (None, Some(_), _) => InstanceFormat::Csv,
                (None, None, _) => InstanceFormat::Svmlight,
                (Some(_), _, true) => InstanceFormat::Labeled,
                (Some(_), _, false) => InstanceFormat::Text,
            },
            table: options.table.clone().or_else(|| recorded.cloned()),
            label: label.unwrap_or_else(|| options.label.clone()),
            labels_are_numbers: true,
            ..options
        }
    }

    /// Returns what the regression has learned, as JSON: options, the bias, and the `top` features
    /// with the largest absolute weights.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if the file is damaged.
    pub fn inspection(&self, top: usize) -> Result<Value> {
        let mut weights = self.weights()?;
        let features = weights.len();
        weights.sort_by(|(a, v), (b, w)| w.abs().total_cmp(&v.abs()).then_with(|| a.cmp(b)));
        weights.truncate(top);
        let weights = weights.iter();
        let weights = weights.map(|(name, w)| json!({"feature": name, "weight": w}));
        Ok(json!({
            "documents": self.documents(),
            "options": self.options(),
            "bias": self.bias(),
            "features": features,
            "weights": weights.collect::<Value>(),
        }))
    }

    /// Returns an [`inspection`](Self::inspection) as text for people.
    #[must_use]
    pub fn inspection_text(&self, value: &Value) -> String {
        let number = |value: &Value| digits(value.as_f64().unwrap_or_default());
        let options = &value["options"];
        let mut text = format!(
            "trained on {} documents\nloss: {}, L2 {}, L1 {}\n\
             {} features with a weight\n\n",
            value["documents"],
            self.loss(),
            number(&options["l2"]),
            number(&options["l1"]),
            value["features"],
        );
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:>14}  (bias)", number(&value["bias"]));
        for weight in value["weights"].as_array().into_iter().flatten() {
            let name = weight["feature"].as_str().unwrap_or_default();
            let _ = writeln!(text, "{:>14}  {name}", number(&weight["weight"]));
        }
        text
    }
}
