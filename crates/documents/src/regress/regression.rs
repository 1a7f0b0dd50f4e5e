//! The regression: from documents to numbers.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::record::{RegressionHeader, RegressionLoss};
use crate::features::features;
use crate::{FeatureOptions, Instance, ModelKind, TableFeatures};
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
        Ok(Self {
            file: Arc::new(file),
            header: Arc::new(header),
        })
    }

    /// Returns the model file, for example to save it.
    #[must_use]
    pub fn file(&self) -> &RowFile {
        &self.file
    }

    /// Returns the number of documents that it was trained on.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.header.documents
    }

    /// Returns the features of texts; `None` if documents come with features.
    #[must_use]
    pub fn features(&self) -> Option<&FeatureOptions> {
        self.header.features.as_ref()
    }

    /// Returns the columns of tables that features came from, if they did.
    #[must_use]
    pub fn table(&self) -> Option<&TableFeatures> {
        self.header.table.as_ref()
    }

    /// Returns the column or key of the numbers to predict, if it was named.
    #[must_use]
    pub fn label(&self) -> Option<String> {
        self.header.label.clone()
    }

    /// Returns the loss that was minimized.
    #[must_use]
    pub fn loss(&self) -> RegressionLoss {
        self.header.loss
    }

    /// Returns the bias b.
    #[must_use]
    pub fn bias(&self) -> f64 {
        self.header.bias
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

    /// Returns the options of training, as JSON.
    #[must_use]
    pub fn options(&self) -> &Value {
        &self.header.options
    }

    /// Returns the number for a document; features that the model does not have are ignored.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if the document is a text and the model has ready-made
    /// features, or the other way round, or the number is too large for floating point;
    /// [`Error::Model`] if the model file is damaged.
    pub fn predict(&self, document: &Instance) -> Result<f64> {
        let mut score = [self.bias()];
        for (name, value) in features(document, self.features())?.iter() {
            self.file.add_row(name.as_bytes(), *value, &mut score)?;
        }
        let number = self.loss().prediction(score[0]);
        match number.is_finite() {
            true => Ok(number),
            false => Err(Error::input(
                document.place(),
                "the number to predict is too large; expected smaller values of features",
            )),
        }
    }
}
