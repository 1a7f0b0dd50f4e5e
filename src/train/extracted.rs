//! The attributes of all corpora of a training run, before collapsing.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::base_models::BaseRole;
use super::base_weights::BaseWeights;
use super::development::DevelopmentSet;
use super::hold_out::HeldOut;
use super::labels::TrainingLabels;
use super::model_match::{ModelMatch, Occurrences};
use super::options::CommonOptions;
use crate::error::{Error, Result};
use crate::extract::{Alphabet, Alphabets, Dataset, SparseRows, numbered};
use crate::ids::LabelId;
use crate::model::{CorpusColumns, FileRecord};
use crate::template::Template;

/// Where the attributes are from, for the header of the model.
#[derive(Debug, Default)]
pub(super) struct DataSource {
    pub files: Vec<FileRecord>,
    /// The date of the model ([`Provenance::date`](crate::model::Provenance::date)).
    pub date: Option<u64>,
    pub columns: CorpusColumns,
    pub template: Option<Template>,
    /// What the development data are, if they were held out of the training data.
    pub held_out: Option<HeldOut>,
}

/// The attributes of all corpora of a training run as sparse matrices, one column per attribute; of
/// a [`TrainingSet`](super::TrainingSet) one per class of attributes.
#[derive(Debug)]
pub(super) struct Extracted {
    pub labels: TrainingLabels,
    pub alphabets: Arc<Alphabets>,
    /// Labeled sentences, then unlabeled ones.
    pub data: Dataset,
    pub development: Option<DevelopmentSet>,
    pub source: DataSource,
    /// The weights of the models that training continues from.
    pub base: Vec<BaseWeights>,
    /// Node attributes that have the value 0 at a token with this label, and so may have a weight
    /// for it; ascending.
    pub zeros: Vec<(u32, LabelId)>,
    /// Warnings of what has no effect in the template.
    pub doubts: Vec<String>,
}

impl Extracted {
    /// Returns the numbers of node and of edge attributes.
    pub fn attributes(&self) -> [usize; 2] {
        [self.alphabets.nodes.len(), self.alphabets.edges.len()]
    }

    /// Returns the group of each node and of each edge attribute, if attributes of the same group
    /// that always occur together are to be one: those with the same weights in every model, and
    /// with the value 0 at the same labels. The weights of a class are those of each member.
    pub fn class_groups(&self, options: &CommonOptions) -> Option<[Vec<u32>; 2]> {
        let mut zeros: HashMap<usize, Vec<LabelId>> = HashMap::new();
        for &(attribute, label) in &self.zeros {
            zeros.entry(attribute as usize).or_default().push(label);
        }
        let key = |kind: usize, id: usize| {
            let weights: Vec<_> = self.base.iter().map(|model| model.row(kind, id)).collect();
            let zeros = zeros.get(&id).filter(|_| kind == 0);
            (weights, zeros)
        };
        let attributes = self.attributes();
        let groups = |kind: usize| numbered((0..attributes[kind]).map(|id| key(kind, id)));
        options.attributes.collapse.then(|| [groups(0), groups(1)])
    }

    /// Compares the training data with each model that training continues from, given what occurs
    /// in them.
    pub fn matches(&self, occurrences: &Occurrences) -> Vec<ModelMatch> {
        let labels = self.labels.set.len();
        let compare = |model| ModelMatch::new(model, &self.data, labels, occurrences);
        self.base.iter().map(compare).collect()
    }

    /// Drops the attributes that occur at too few tokens of labeled sentences. Attributes
    /// of models are kept however rare they are.
    pub fn drop_rare(&mut self, options: &CommonOptions) {
        let counted = self.data.labeled();
        let frequent = |matrix: &SparseRows, kind: usize| -> Vec<bool> {
            let columns = self.attributes()[kind];
            let counts = self.data.column_counts(matrix, columns, 0..counted);
            let is_known = |id: usize| self.base.iter().any(|model| model.row(kind, id).is_some());
            let counts = counts.iter().enumerate();
            counts
                .map(|(id, n)| n.is_at_least(options.attributes.min_count) || is_known(id))
                .collect()
        };
        let kept = [frequent(&self.data.nodes, 0), frequent(&self.data.edges, 1)];
        if !kept.iter().flatten().all(|&kept| kept) {
            self.retain(&kept);
        }
    }

    /// Drops the node and the edge attributes that are not kept.
    fn retain(&mut self, kept: &[Vec<bool>; 2]) {
        let retain = |alphabet: &mut Alphabet, rows: &SparseRows, kept: &[bool]| {
            let numbers = alphabet.retain(|id| kept[id.index()]);
            let mapped = rows.map_columns(|column| numbers[column as usize], |_, value| value);
            (numbers, Arc::new(mapped))
        };
        let Alphabets { nodes, edges } = Arc::make_mut(&mut self.alphabets);
        let numbers;
        (numbers, self.data.nodes) = retain(nodes, &self.data.nodes, &kept[0]);
        (_, self.data.edges) = retain(edges, &self.data.edges, &kept[1]);
        for model in &mut self.base {
            model.attributes.iter_mut().zip(kept).for_each(|(rows, kept)| retain_kept(rows, kept));
        }
        let zeros = std::mem::take(&mut self.zeros).into_iter();
        let number = |(attribute, label)| Some((numbers[attribute as usize]?, label));
        self.zeros = zeros.filter_map(number).collect();
    }

    /// Checks that some training sentence counts.
    pub fn check_weights(&self) -> Result<()> {
        if self.data.total_weights()[0] > 0.0 {
            return Ok(());
        }
        Err(Error::parameter("the weights of all training sentences are 0; expected some above 0"))
    }

    /// Says how the training data were read: labels and columns, then warnings.
    pub fn reading(&self) -> Vec<String> {
        let mut reading = self.labels.reading.clone();
        let columns = &self.source.columns;
        let word = columns.names.iter().position(|name| name == "word" || name == "form");
        if let (Some(line), Some(word)) = (reading.first_mut(), word) {
            line.push_str(&format!(", words in column {}", word + 1));
        }
        reading.extend(self.source.held_out.map(|held_out| held_out.to_string()));
        reading.extend_from_slice(&self.doubts);
        reading
    }

    /// Returns a fingerprint of all labels and attributes.
    pub fn fingerprint(&self) -> u64 {
        let models = self.base.iter().map(|model| (model.role, model.fingerprint));
        let models: Vec<(BaseRole, u128)> = models.collect();
        let mut hasher = Xxh3::new();
        (&self.labels, &self.alphabets, &self.data).hash(&mut hasher);
        (&self.development, models).hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the memory usage of the names of attributes in bytes.
    pub fn memory_of_names(&self) -> usize {
        self.alphabets.memory()
    }

    /// Returns the memory usage in bytes.
    pub fn memory(&self) -> usize {
        self.data.memory()
            + self.memory_of_names()
            + self.development.as_ref().map_or(0, DevelopmentSet::memory)
            + self.base.iter().map(BaseWeights::memory).sum::<usize>()
    }
}

/// Keeps those elements, one per attribute, whose attribute is kept.
fn retain_kept<T>(elements: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    elements.retain(|_| kept.next() == Some(&true));
}
