//! The regression: from documents to numbers.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::options::RegressionHeader;
use crate::features::features;
use crate::{Instance, InstanceFormat, InstanceReadOptions, ModelKind, NumberEvaluation};
use dropchain::error::{Error, Result};
use dropchain::model::RowFile;

/// Predicts numbers with a model.
///
/// A regression is `Send` and `Sync`: threads share one by reference.
#[derive(Clone, Debug)]
pub struct Regression {
    file: Arc<RowFile>,
    header: Arc<RegressionHeader>,
}

impl Regression {
    /// Opens a model file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be read; [`Error::Model`] if it is no regression, or is
    /// damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let kind = ModelKind::Regression;
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
        let (file, header) = RowFile::from_bytes(bytes, ModelKind::Regression.magic())?;
        Self::new(file, header)
    }

    fn new(file: RowFile, header: RegressionHeader) -> Result<Self> {
        if file.columns() != 1 {
            let message = "the weights of the regression are not those of one number";
            return Err(Error::model(file.path(), message));
        }
        Ok(Self { file: Arc::new(file), header: Arc::new(header) })
    }

    /// Returns the model file, for example to save it.
    pub fn file(&self) -> &RowFile {
        &self.file
    }

    /// Returns everything but the weights of features.
    pub fn header(&self) -> &RegressionHeader {
        &self.header
    }

    /// Returns the names and weights of features whose weight is not 0, in the order of the model.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if the model file is damaged.
    pub fn weights(&self) -> Result<Vec<(String, f64)>> {
        let rows = self.file.rows().map(|row| {
            let (name, weights) = row?;
            let weight = weights.iter().map(|(_, weight)| weight).sum();
            Ok((String::from_utf8_lossy(name).into_owned(), weight))
        });
        rows.collect()
    }

    /// Returns the number for a document; features that the model does not have are ignored.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if the document is a text and the model has ready-made
    /// features, or the other way round, or the number is too large for floating point;
    /// [`Error::Model`] if the model file is damaged.
    pub fn predict(&self, document: &Instance) -> Result<f64> {
        let mut score = [self.header.bias];
        for (name, value) in features(document, self.header.features.as_ref())?.iter() {
            self.file.add_row(name.as_bytes(), *value, &mut score)?;
        }
        let number = self.header.loss.prediction(score[0]);
        match number.is_finite() {
            true => Ok(number),
            false => Err(Error::input(
                document.place(),
                "the number to predict is too large; expected smaller values of features",
            )),
        }
    }
}

/// Formats a number for people, with seven significant digits: those that the weights of a model
/// have.
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
    /// a table; `formats` are those that the names of the files tell. What `options` say of the
    /// table
    /// stays; a label that `is_named`, too.
    pub fn read_options(
        &self,
        options: InstanceReadOptions,
        formats: &[Option<InstanceFormat>],
        is_named: bool,
    ) -> InstanceReadOptions {
        let is_table = |format: &Option<InstanceFormat>| {
            format.is_none_or(|f| matches!(f, InstanceFormat::Csv | InstanceFormat::Tsv))
        };
        let header = &self.header;
        let recorded = (header.table.clone()).filter(|_| formats.iter().all(is_table));
        let label = header.label.clone().filter(|_| !is_named);
        InstanceReadOptions {
            default_format: match (&header.features, &header.table, options.needs_labels) {
                (None, Some(_), _) => InstanceFormat::Csv,
                (None, None, _) => InstanceFormat::Svmlight,
                (Some(_), _, true) => InstanceFormat::Labeled,
                (Some(_), _, false) => InstanceFormat::Text,
            },
            table: options.table.clone().or(recorded),
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
            "documents": self.header.documents,
            "options": self.header.options,
            "bias": self.header.bias,
            "features": features,
            "weights": weights.collect::<Value>(),
        }))
    }

    /// Returns an [`inspection`](Self::inspection) as text for people.
    pub fn inspection_text(&self, value: &Value) -> String {
        let number = |value: &Value| digits(value.as_f64().unwrap_or_default());
        let options = &value["options"];
        let mut text = format!(
            "trained on {} documents\nloss: {}, L2 {}, L1 {}\n\
             {} features with a weight\n\n",
            value["documents"],
            self.header.loss,
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
