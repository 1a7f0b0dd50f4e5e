//! The configuration that a model was trained with: what the user asked for, to ask for it again.
//! What a classifier of documents and a regression need to make features of a text.
//!
//! Both are stored with the training options, as fields of these, so that programs that do not know
//! them read the model all the same.

use serde_json::Value;

use super::file::Model;
use super::header::Provenance;
use super::output_layer::OutputLayer;
use super::training_record::TrainingRecord;
use crate::error::{Error, Result};

/// The field of the options that holds the configuration.
const CONFIG: &str = "config";

/// The field of the options that only classifiers of documents have.
const CLASSIFIER: &str = "classifier";

/// The field of the options that only regressions have.
const REGRESSION: &str = "regression";

impl Provenance {
    /// Returns the configuration that was recorded by [`Model::with_config`], if there is one.
    #[must_use]
    pub fn config(&self) -> Option<Value> {
        self.parsed_options().get_mut(CONFIG).map(Value::take)
    }

    /// Returns what a classifier of documents records of its features and classes; `None` if the
    /// model is a tagger.
    #[must_use]
    pub fn classifier(&self) -> Option<Value> {
        self.parsed_options().get_mut(CLASSIFIER).map(Value::take)
    }

    /// Returns whether the model is a classifier of documents.
    #[must_use]
    pub fn is_classifier(&self) -> bool {
        self.classifier().is_some()
    }

    /// Returns what a regression records of its training; `None` for other models.
    #[must_use]
    pub fn regression(&self) -> Option<Value> {
        self.parsed_options().get_mut(REGRESSION).map(Value::take)
    }

    /// Returns whether the model predicts numbers.
    #[must_use]
    pub fn is_regression(&self) -> bool {
        self.regression().is_some()
    }

    /// Returns the training options alone, without the configuration and the result of training;
    /// null if there are none.
    #[must_use]
    pub fn training_options(&self) -> Value {
        let mut options = self.parsed_options();
        if let Some(options) = options.as_object_mut() {
            options.shift_remove(CONFIG);
            options.shift_remove(OutputLayer::KEY);
            options.shift_remove(TrainingRecord::KEY);
        }
        options
    }
}

impl Model {
    /// Returns the model with a record of the configuration that it was trained with: any JSON
    /// value. It has no effect on predictions or [`Model::fingerprint`].
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the options of the model are not an object, or if its header would be
    /// too long.
    pub fn with_config(&self, config: &Value) -> Result<Self> {
        self.with_field(CONFIG, config)
    }

    /// Returns the model with a record that it is a classifier of documents: of their features and
    /// classes.
    ///
    /// # Errors
    ///
    /// Same as [`with_config`](Self::with_config).
    #[cfg(feature = "train")]
    pub fn with_classifier(&self, record: &Value) -> Result<Self> {
        self.with_field(CLASSIFIER, record)
    }

    /// Returns the model with a record that it is a regression, and of its training.
    ///
    /// # Errors
    ///
    /// Same as [`with_config`](Self::with_config).
    #[cfg(feature = "train")]
    pub fn with_regression(&self, record: &Value) -> Result<Self> {
        self.with_field(REGRESSION, record)
    }

    /// Returns the model with another field of its options.
    fn with_field(&self, name: &str, value: &Value) -> Result<Self> {
        let mut options = self.header().provenance.parsed_options();
        let Some(fields) = options.as_object_mut() else {
            let message =
                "the options of the model are not an object, so that it cannot record more";
            return Err(Error::parameter(message));
        };
        fields.insert(name.to_owned(), value.clone());
        let mut header = self.header().clone();
        header.provenance.options = options.to_string();
        self.with_header(&header)
    }
}
