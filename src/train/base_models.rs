//! The models that training continues from.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::options::TrainOptions;
use super::settings::TrainSettings;
use crate::chain::Order;
use crate::error::{Error, Result};
use crate::label::Scheme;
use crate::model::Model;
use crate::score::Boundary;
use crate::sentence::JoinedColumns;
use crate::template::Template;

/// The models that training continues from.
///
/// Their labels and attributes are kept, even those that the training data do not have.
#[derive(Clone, Copy, Debug, Default)]
pub struct BaseModels<'a> {
    /// Training starts at its weights.
    pub init: Option<&'a Model>,
    /// The L2 penalty pulls the weights towards its weights instead of 0, and training starts there
    /// unless `init` has other weights.
    pub towards: Option<&'a Model>,
}

/// What training uses a model for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BaseRole {
    /// Its weights are where training starts.
    Init,
    /// The penalty pulls towards its weights.
    Towards,
}

impl fmt::Display for BaseRole {
    /// Writes the flag.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Init => "--init",
            Self::Towards => "--towards",
        })
    }
}

/// What a model and those that continue it have in common.
struct Structure {
    scheme: Scheme,
    order: Order,
    boundary: Boundary,
}

impl Structure {
    fn of(model: &Model) -> Self {
        Self {
            scheme: model.header().scheme,
            order: model.header().order,
            boundary: stored_boundary(model),
        }
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
    #[must_use]
    pub fn continuing(model: &Model) -> Self {
        let structure = Structure::of(model);
        Self {
            order: structure.order,
            boundary: structure.boundary,
            precision: model.header().precision,
            ..Self::default()
        }
    }
}

impl<'a> BaseModels<'a> {
    /// Returns the models with their roles.
    pub fn iter(&self) -> impl Iterator<Item = (BaseRole, &'a Model)> + use<'a> {
        let models = [
            (BaseRole::Init, self.init),
            (BaseRole::Towards, self.towards),
        ];
        let models = models.into_iter();
        models.filter_map(|(role, model)| Some((role, model?)))
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.init.is_none() && self.towards.is_none()
    }

    /// Returns the model that the structure, the labels and the template are taken from.
    #[must_use]
    pub fn first(&self) -> Option<&'a Model> {
        self.init.or(self.towards)
    }

    /// Returns the template of the first model.
    #[must_use]
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
            let own = model.header().joined.as_ref();
            if own.map(JoinedColumns::names) != joined.map(JoinedColumns::names) {
                return Err(Error::parameter(format!(
                    "{role} {}: its labels {}, those of the training data {}; expected the same \
                     columns (--label)",
                    model.path().display(),
                    describe(own),
                    describe(joined)
                )));
            }
        }
        Ok(())
    }

    /// Checks that the models are not damaged, have the structure that the options ask for, and are
    /// the only start of training.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if a model is damaged; [`Error::Parameter`] naming both values that differ.
    pub fn check(&self, settings: &TrainSettings) -> Result<()> {
        let options = settings.options();
        for (role, model) in self.iter() {
            model.verify()?;
            let structure = Structure::of(model);
            let path = model.path().display();
            settings.learner().check_start(&format!("{role} {path}"))?;
            let conflict = |option: &str, expected: &str, own: &str| {
                Error::parameter(format!(
                    "{option}, but {role} {path} has {own}; expected {expected}, since a model is \
                     continued with its own structure"
                ))
            };
            let [order, own] = [options.order, structure.order].map(order_name);
            if order != own {
                let expected = format!("--order {own}");
                return Err(conflict(
                    &format!("--order {order}"),
                    &expected,
                    &format!("order {own}"),
                ));
            }
            let [boundary, own] = [options.boundary, structure.boundary].map(boundary_name);
            if boundary != own {
                let own = format!("--boundary {own}");
                return Err(conflict(&format!("--boundary {boundary}"), &own, &own));
            }
            if options.scheme != Scheme::Raw && options.scheme != structure.scheme {
                return Err(conflict(
                    &format!("--scheme {}", options.scheme),
                    "no --scheme",
                    &format!("labels in the scheme {}", structure.scheme),
                ));
            }
        }
        let schemes = [self.init, self.towards].map(|model| Some(model?.header().scheme));
        if let [Some(init), Some(towards)] = schemes
            && init != towards
        {
            return Err(Error::parameter(format!(
                "the labels of the model of --init are in the scheme {init}, those of --towards in \
                 {towards}; expected models with labels in the same scheme"
            )));
        }
        Ok(())
    }
}

fn order_name(order: Order) -> &'static str {
    match order {
        Order::Zero => "0",
        Order::One => "1",
    }
}

fn boundary_name(boundary: Boundary) -> &'static str {
    match boundary {
        Boundary::On => "on",
        Boundary::Off => "off",
    }
}
