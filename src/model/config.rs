//! The configuration that a model was trained with: what the user asked for, to ask for it again.
//!
//! It is stored with the training options, as a field of these.

use serde_json::Value;

use super::file::Model;
use super::header::Provenance;
use super::training_record::TrainingRecord;
use crate::error::{Error, Result};

/// The field of the options that holds the configuration.
const CONFIG: &str = "config";

impl Provenance {
    /// Returns the configuration that was recorded by [`Model::with_config`], if there is one.
    #[must_use]
    pub fn config(&self) -> Option<Value> {
        self.parsed_options().get_mut(CONFIG).map(Value::take)
    }

    /// Returns the training options alone, without the configuration and the result of training;
    /// null if there are none.
    #[must_use]
    pub fn training_options(&self) -> Value {
        let mut options = self.parsed_options();
        if let Some(options) = options.as_object_mut() {
            options.shift_remove(CONFIG);
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
    /// [`Error::Parameter`] if the options of the model are not an object, or if its header would
    /// be too long.
    pub fn with_config(&self, config: &Value) -> Result<Self> {
        let mut options = self.header().provenance.parsed_options();
        let Some(fields) = options.as_object_mut() else {
            let message =
                "the options of the model are not an object, so that it cannot record more";
            return Err(Error::parameter(message));
        };
        fields.insert(CONFIG.to_owned(), config.clone());
        let mut header = self.header().clone();
        header.provenance.options = options.to_string();
        self.with_header(&header)
    }
}
