//! The models that training continues from.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::options::TrainOptions;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::score::Boundary;
use crate::sentence::JoinedColumns;
use crate::template::Template;

/// The models that training continues from.
///
/// Labels and attributes of these models are kept, even those that the training data do not have.
#[derive(Clone, Copy, Debug, Default)]
pub struct BaseModels<'a> {
    /// Training starts at its weights.
    pub init: Option<&'a Model>,
    /// The L2 penalty pulls the weights towards its weights instead of 0, and training starts there
    /// unless `init` has other weights.
    pub towards: Option<&'a Model>,
}

/// The use that training makes of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BaseRole {
    /// Training starts at the weights of the model.
    Init,
    /// The penalty pulls towards its weights.
    Towards,
}

impl BaseRole {
    /// Returns the name of the option.
    pub fn name(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Towards => "towards",
        }
    }
}

impl fmt::Display for BaseRole {
    /// Writes the name of the option, as messages do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.name())
    }
}

/// Returns whether a model was trained with boundary weights; the default if it does not say.
pub(super) fn stored_boundary(model: &Model) -> Boundary {
    let boundary = model.header().provenance.training_options();
    let boundary = boundary["boundary"].clone();
    serde_json::from_value(boundary).unwrap_or(Boundary::On)
}

impl TrainOptions {
    /// Returns default options for continuing the training of a model: its order, boundary weights
    /// and precision.
    pub fn continuing(model: &Model) -> Self {
        let mut options = Self::default();
        options.structure.order = model.header().order;
        options.structure.boundary = stored_boundary(model);
        options.storage.precision = model.header().precision;
        options
    }
}

impl<'a> BaseModels<'a> {
    /// Returns the models with their roles.
    pub fn iter(&self) -> impl Iterator<Item = (BaseRole, &'a Model)> + use<'a> {
        let models = [(BaseRole::Init, self.init), (BaseRole::Towards, self.towards)].into_iter();
        models.filter_map(|(role, model)| Some((role, model?)))
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.first().is_none()
    }

    /// Returns the model that the structure, the labels and the template are taken from.
    pub fn first(&self) -> Option<&'a Model> {
        self.init.or(self.towards)
    }

    /// Returns the template of the first model.
    pub fn template(&self) -> Option<&'a Template> {
        self.first()?.header().template.as_ref()
    }

    /// Checks that the labels of the models join the same columns as those of the training data.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] naming both.
    pub(super) fn check_joined(&self, joined: Option<&JoinedColumns>) -> Result<()> {
        let describe = |joined: Option<&JoinedColumns>| match joined {
            Some(joined) => format!("join the columns {}", joined.name()),
            None => "are of a single column".to_owned(),
        };
        for (role, model) in self.iter() {
            let own = model.header().columns.joined();
            if own.map(JoinedColumns::names) != joined.map(JoinedColumns::names) {
                return Err(Error::parameter(format!(
                    "{role} {}: its labels {}, those of the training data {}; expected the same \
                     columns (`label`)",
                    model.path().display(),
                    describe(own),
                    describe(joined)
                )));
            }
        }
        Ok(())
    }
}
