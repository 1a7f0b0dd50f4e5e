//! The regression: from documents to numbers.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::record::{RegressionLoss, RegressionRecord};
use crate::classify::{FeatureOptions, Instance, TableFeatures, features};
use crate::error::{Error, Result};
use crate::model::{AttributeKind, Model};

/// Predicts numbers with a model.
///
/// A regression is `Send` and `Sync`: threads share one by reference.
#[derive(Clone, Debug)]
pub struct Regression {
    model: Arc<Model>,
    record: RegressionRecord,
    bias: f64,
}

impl Regression {
    /// Creates a regression for a model.
    ///
    /// # Errors
    ///
    /// [`Error::Model`](crate::Error::Model) if the model is of another kind.
    pub fn new(model: impl Into<Arc<Model>>) -> Result<Self> {
        let model = model.into();
        let record = RegressionRecord::of(&model)?;
        let bias = model.header().label_weights.start[0];
        Ok(Self {
            model,
            record,
            bias,
        })
    }

    /// Opens a model file.
    ///
    /// # Errors
    ///
    /// Those of [`Model::open`]; [`Error::Model`](crate::Error::Model) if the model is of another
    /// kind.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::new(Model::open(path)?)
    }

    /// Returns the model, for example to save it.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Returns the features of texts; `None` if documents come with features.
    #[must_use]
    pub fn features(&self) -> Option<&FeatureOptions> {
        self.record.features.as_ref()
    }

    /// Returns the columns of tables that features came from, if they did.
    #[must_use]
    pub fn table(&self) -> Option<&TableFeatures> {
        self.record.table.as_ref()
    }

    /// Returns the column or key of the numbers to predict, if it was named.
    #[must_use]
    pub fn label(&self) -> Option<String> {
        self.record.label.clone()
    }

    /// Returns the loss that was minimized.
    #[must_use]
    pub fn loss(&self) -> RegressionLoss {
        self.record.loss
    }

    /// Returns the bias b.
    #[must_use]
    pub fn bias(&self) -> f64 {
        self.bias
    }

    /// Returns the names and weights of features whose weight is not 0, in the order of the model.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if the model file is damaged.
    pub fn weights(&self) -> Result<Vec<(String, f64)>> {
        let rows = self.model.node_weights().map(|row| {
            let (name, weights) = row?;
            let weight = weights.iter().map(|(_, weight)| weight).sum();
            Ok((String::from_utf8_lossy(name).into_owned(), weight))
        });
        rows.collect()
    }

    /// Returns the options of training, as JSON.
    #[must_use]
    pub fn options(&self) -> Value {
        let record = self.model.header().provenance.regression();
        record.unwrap_or_default()
    }

    /// Returns the number for a document; features that the model does not have are ignored.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if the document is a text and the model has ready-made
    /// features, or the other way round, or the number is too large for floating point;
    /// [`Error::Model`] if the model file is damaged.
    pub fn predict(&self, document: &Instance) -> Result<f64> {
        let mut score = [self.bias];
        for (name, value) in features(document, self.features())?.iter() {
            let name = name.as_bytes();
            self.model
                .add_scores(AttributeKind::Node, name, *value, 1, &mut score)?;
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
