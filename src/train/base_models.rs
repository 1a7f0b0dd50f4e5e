//! The models that training continues from, and their weights by the ids of a training run.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::options::TrainOptions;
use crate::chain::LabelWeights;
use crate::error::{Error, Result};
use crate::extract::{Alphabet, Alphabets};
use crate::fingerprint::Fingerprinter;
use crate::ids::LabelId;
use crate::label::LabelSet;
use crate::model::{FileRecord, FileRole, Model, add_recall_bias};
use crate::score::Boundary;
use crate::sentence::JoinedColumns;
use crate::template::{Attribute, Template};

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

    /// Returns the default options, of the first model if there is one.
    pub fn default_options(&self) -> TrainOptions {
        self.first().map_or_else(TrainOptions::default, TrainOptions::continuing)
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

/// The weights of a model.
#[derive(Debug)]
pub(super) struct BaseWeights {
    pub role: BaseRole,
    /// The path that the model was opened from.
    pub path: String,
    pub fingerprint: u128,
    /// Weights of node and of edge attributes.
    pub attributes: [AttributeRows; 2],
    /// Over all labels of the training run, without the recall bias that the model is known to
    /// apply.
    pub labels: LabelWeights,
    /// Whether the model has the label, `[K]`.
    pub known_labels: Vec<bool>,
    /// The recall bias that the model applies, as far as it says so.
    pub recall_bias: f64,
}

/// A weight of an attribute: the label, or the pair of labels as `previous · 2¹⁶ + current`, and
/// the bits of the weight.
pub(super) type Entry = (u32, u64);

/// The nonzero weights of attributes, ascending, by attribute id; `None` where the model does not
/// have the attribute.
pub(super) type AttributeRows = Vec<Option<Box<[Entry]>>>;

/// Interns an attribute of a model, and adds its row. Models have each attribute once.
fn push(
    rows: &mut AttributeRows,
    alphabet: &mut Alphabet,
    name: &[u8],
    entries: impl Iterator<Item = Entry>,
) -> Result<()> {
    let id = alphabet.intern(&Attribute::named(name, Fingerprinter::default()))?;
    let mut entries: Box<[Entry]> = entries.collect();
    entries.sort_unstable();
    if rows.len() <= id.index() {
        rows.resize(id.index() + 1, None);
    }
    rows[id.index()] = Some(entries);
    Ok(())
}

/// Returns the position of a weight in a token's row of scores.
pub(super) fn position(cell: u32, stride: usize) -> usize {
    (cell >> 16) as usize * stride + (cell & 0xffff) as usize
}

impl BaseWeights {
    /// Reads the weights of all models. `labels` has their labels; their attributes are interned.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if a model is damaged.
    pub fn read_all(
        models: &BaseModels<'_>,
        labels: &LabelSet,
        alphabets: &mut Alphabets,
    ) -> Result<Vec<Self>> {
        models.iter().map(|(role, model)| Self::read(role, model, labels, alphabets)).collect()
    }

    /// Returns the weights of an attribute; `None` if the model does not have it.
    pub fn row(&self, kind: usize, id: usize) -> Option<&[Entry]> {
        self.attributes[kind].get(id)?.as_deref()
    }

    /// Returns whether some label pair has a weight.
    pub fn has_transitions(&self) -> bool {
        self.labels.transitions.iter().any(|&weight| weight != 0.0)
    }

    /// Returns the memory usage in bytes.
    pub fn memory(&self) -> usize {
        let rows = |rows: &AttributeRows| {
            let entries = rows.iter().flatten().map(|row| size_of_val(&**row));
            rows.capacity() * size_of::<Option<Box<[Entry]>>>() + entries.sum::<usize>()
        };
        self.attributes.iter().map(rows).sum()
    }

    fn read(
        role: BaseRole,
        model: &Model,
        labels: &LabelSet,
        alphabets: &mut Alphabets,
    ) -> Result<Self> {
        let own = &model.header().labels;
        let id = |name: &String| {
            let missing = || Error::parameter(format!("the label '{name}' of a model is missing"));
            labels.id(name).ok_or_else(missing)
        };
        let ids: Vec<LabelId> = own.names().iter().map(id).collect::<Result<_>>()?;
        let cell = |label: LabelId| u32::from(ids[label.index()].0);
        let [mut nodes, mut edges] = [(); 2].map(|()| AttributeRows::new());
        for attribute in model.node_weights() {
            let (name, weights) = attribute?;
            let entries = weights.into_iter().map(|(b, w)| (cell(b), w.to_bits()));
            push(&mut nodes, &mut alphabets.nodes, name, entries)?;
        }
        for attribute in model.edge_weights() {
            let (name, weights) = attribute?;
            let entries =
                weights.into_iter().map(|([a, b], w)| (cell(a) << 16 | cell(b), w.to_bits()));
            push(&mut edges, &mut alphabets.edges, name, entries)?;
        }
        let mut known_labels = vec![false; labels.len()];
        ids.iter().for_each(|id| known_labels[id.index()] = true);
        let recall_bias = model.header().recall_bias().unwrap_or(0.0);
        Ok(Self {
            role,
            path: model.path().display().to_string(),
            fingerprint: model.fingerprint()?,
            attributes: [nodes, edges],
            labels: label_weights(model, &ids, labels.len(), recall_bias),
            known_labels,
            recall_bias,
        })
    }

    /// Returns the record of the model.
    pub fn record(&self) -> FileRecord {
        let role = match self.role {
            BaseRole::Init => FileRole::Init,
            BaseRole::Towards => FileRole::Towards,
        };
        let (name, xxh3) = (self.path.clone(), format!("{:032x}", self.fingerprint));
        FileRecord { role, name, bytes: None, sentences: None, xxh3 }
    }
}

/// Returns the label weights of a model for K `labels`, without its recall bias. `ids` are those of
/// its labels.
fn label_weights(model: &Model, ids: &[LabelId], labels: usize, recall_bias: f64) -> LabelWeights {
    let header = model.header();
    let mut own = header.label_weights.clone();
    add_recall_bias(-recall_bias, &header.labels, &header.labeling, &mut own);
    let mut weights = LabelWeights {
        transitions: vec![0.0; labels * labels],
        start: vec![0.0; labels],
        end: vec![0.0; labels],
    };
    let rows = own.transitions.chunks_exact(ids.len());
    for ((a, row), (start, end)) in ids.iter().zip(rows).zip(own.start.iter().zip(&own.end)) {
        weights.start[a.index()] = *start;
        weights.end[a.index()] = *end;
        for (b, weight) in ids.iter().zip(row) {
            weights.transitions[a.index() * labels + b.index()] = *weight;
        }
    }
    weights
}
