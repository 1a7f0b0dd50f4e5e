//! The weights of a model that training continues from, by the ids of a training run.

use super::base_models::{BaseModels, BaseRole};
use crate::chain::LabelWeights;
use crate::error::{Error, Result};
use crate::extract::{Alphabet, Alphabets};
use crate::fingerprint::Fingerprinter;
use crate::ids::{AttributeId, LabelId};
use crate::label::LabelSet;
use crate::model::{AttributeKind, Model, add_recall_bias};
use crate::template::Attribute;

/// The weights of the models that training continues from.
#[derive(Debug)]
pub(super) struct AllBaseWeights {
    /// Where training starts.
    pub init: Option<BaseWeights>,
    /// What the penalty pulls towards.
    pub towards: Option<BaseWeights>,
}

/// The weights of a model.
#[derive(Debug)]
pub(super) struct BaseWeights {
    pub role: BaseRole,
    /// The path that the model was opened from.
    pub path: String,
    pub fingerprint: u128,
    /// Of node and of edge attributes.
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

/// The nonzero weights of attributes, by attribute id.
#[derive(Debug, Default)]
pub(super) struct AttributeRows {
    numbers: Vec<u32>, // [ids] row of the attribute, from 1; 0: none
    ends: Vec<u64>,    // [rows] end of each row in `entries`
    entries: Vec<Entry>,
}

impl AttributeRows {
    /// Returns the weights of an attribute; `None` if the model does not have it.
    pub fn get(&self, id: usize) -> Option<&[Entry]> {
        let row = (*self.numbers.get(id)? as usize).checked_sub(1)?;
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        Some(&self.entries[start as usize..self.ends[row] as usize])
    }

    /// Adds the row of an attribute. Models have each attribute once.
    fn push(&mut self, id: AttributeId, entries: impl IntoIterator<Item = Entry>) {
        let first = self.entries.len();
        self.entries.extend(entries);
        self.entries[first..].sort_unstable();
        self.ends.push(self.entries.len() as u64);
        let missing = (id.index() + 1).saturating_sub(self.numbers.len());
        self.numbers.resize(self.numbers.len() + missing, 0);
        self.numbers[id.index()] = self.ends.len() as u32;
    }

    fn memory(&self) -> usize {
        4 * self.numbers.capacity() + 8 * self.ends.capacity() + 16 * self.entries.capacity()
    }
}

/// Returns the position of a weight in a token's row of scores.
pub(super) fn position(cell: u32, stride: usize) -> usize {
    (cell >> 16) as usize * stride + (cell & 0xffff) as usize
}

impl AllBaseWeights {
    /// Reads the weights of all models. `labels` has their labels; their attributes are interned.
    /// `None` if there are no models.
    ///
    /// # Errors
    ///
    /// [`Error::Model`](crate::Error::Model) if a model is damaged.
    pub fn read(
        models: &BaseModels<'_>,
        labels: &LabelSet,
        alphabets: &mut Alphabets,
    ) -> Result<Option<Self>> {
        let mut read = |role, model: Option<&Model>| {
            model.map(|model| BaseWeights::read(role, model, labels, alphabets)).transpose()
        };
        let init = read(BaseRole::Init, models.init)?;
        let towards = read(BaseRole::Towards, models.towards)?;
        Ok((!models.is_empty()).then_some(Self { init, towards }))
    }

    /// Returns the weights of an attribute in each model; `None` where it has none.
    pub fn rows(&self, kind: usize, id: usize) -> [Option<&[Entry]>; 2] {
        [&self.init, &self.towards].map(|model| model.as_ref()?.attributes[kind].get(id))
    }

    /// Returns all models.
    pub fn iter(&self) -> impl Iterator<Item = &BaseWeights> {
        self.init.iter().chain(&self.towards)
    }

    /// Returns whether some label pair has a weight.
    pub fn has_transitions(&self) -> bool {
        self.iter().any(|weights| weights.labels.transitions.iter().any(|&w| w != 0.0))
    }

    /// Returns the memory usage in bytes.
    pub fn memory(&self) -> usize {
        let rows = self.iter().flat_map(|weights| &weights.attributes);
        rows.map(AttributeRows::memory).sum()
    }
}

impl BaseWeights {
    fn read(
        role: BaseRole,
        model: &Model,
        labels: &LabelSet,
        alphabets: &mut Alphabets,
    ) -> Result<Self> {
        let own = &model.header().labels;
        let mut ids = Vec::with_capacity(own.len());
        for name in own.names() {
            ids.push(labels.id(name).ok_or_else(|| {
                Error::parameter(format!("the label '{name}' of a model is missing"))
            })?);
        }
        let cell = |label: LabelId| u32::from(ids[label.index()].0);
        let [mut nodes, mut edges] = [(); 2].map(|()| AttributeRows::default());
        for attribute in model.node_weights() {
            let (name, weights) = attribute?;
            let entries = weights.into_iter().map(|(b, w)| (cell(b), w.to_bits()));
            nodes.push(intern(&mut alphabets.nodes, name)?, entries);
        }
        for attribute in model.edge_weights() {
            let (name, weights) = attribute?;
            let entries =
                weights.into_iter().map(|([a, b], w)| (cell(a) << 16 | cell(b), w.to_bits()));
            edges.push(intern(&mut alphabets.edges, name)?, entries);
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
}

/// Returns, for each node and edge attribute, whether some model has it.
pub(super) fn attributes_of_models(
    models: &BaseModels<'_>,
    alphabets: &Alphabets,
) -> Result<[Vec<bool>; 2]> {
    let mut known = [&alphabets.nodes, &alphabets.edges].map(|names| vec![false; names.len()]);
    for (_, model) in models.iter() {
        for (kind, names) in [&alphabets.nodes, &alphabets.edges].into_iter().enumerate() {
            let table = [AttributeKind::Node, AttributeKind::Edge][kind];
            for i in 0..model.attributes(table) {
                if let Some(id) = names.get(model.attribute_name(table, i)?) {
                    known[kind][id.index()] = true;
                }
            }
        }
    }
    Ok(known)
}

fn intern(alphabet: &mut Alphabet, name: &[u8]) -> Result<AttributeId> {
    alphabet.intern(&Attribute::named(name, Fingerprinter::default()))
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
