//! The training set: matrices, the layout of the parameters, and where training starts.
//!
//! Its attributes are extracted from all corpora of a training run first, one column per attribute,
//! and then collapsed.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::base_models::{BaseRole, BaseWeights};
use super::corpora::HeldOut;
use super::development::DevelopmentSet;
use super::labels::TrainingLabels;
use super::model_match::{ModelMatch, Occurrences};
use super::options::CommonOptions;
use super::origin::{Origin, extra_weights};
use crate::aligned::zeros;
use crate::chain::padded;
use crate::error::{Error, Result};
use crate::extract::{Alphabet, Alphabets, Classes, Dataset, SparseRows, numbered};
use crate::ids::LabelId;
use crate::model::{CorpusColumns, FileRecord};
use crate::objective::{PenalizedLikelihood, Penalty};
use crate::score::{ParameterSpace, SpaceOptions};
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
/// a [`TrainingSet`] one per class of attributes.
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

    /// Returns the group of each node and of each edge attribute; those of the same group that
    /// always occur together are to be one: attributes with the same weights in every model, and
    /// with the value 0 at the same labels. The weights of a class are those of each member.
    fn class_groups(&self) -> [Vec<u32>; 2] {
        let mut zeros: HashMap<usize, Vec<LabelId>> = HashMap::new();
        for &(attribute, label) in &self.zeros {
            zeros.entry(attribute as usize).or_default().push(label);
        }
        let key = |kind: usize, id: usize| {
            let weights: Vec<_> = self.base.iter().map(|model| model.row(kind, id)).collect();
            (weights, zeros.get(&id).filter(|_| kind == 0))
        };
        let attributes = self.attributes();
        [0, 1].map(|kind| numbered((0..attributes[kind]).map(|id| key(kind, id))))
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
        let rows = self.base.iter_mut().flat_map(|model| model.attributes.iter_mut().zip(kept));
        for (rows, kept) in rows {
            let mut kept = kept.iter();
            rows.retain(|_| kept.next() == Some(&true));
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

    /// Returns the memory usage in bytes.
    pub fn memory(&self) -> usize {
        self.data.memory()
            + self.alphabets.memory()
            + self.development.as_ref().map_or(0, DevelopmentSet::memory)
            + self.base.iter().map(BaseWeights::memory).sum::<usize>()
    }
}

/// Training data as sparse matrices, the layout of the parameters θ, and development data if there
/// are any.
///
/// It is immutable: any number of training runs can share it.
#[derive(Debug)]
pub struct TrainingSet {
    pub(super) extracted: Extracted,  // one column per class
    pub(super) classes: [Classes; 2], // of node and of edge attributes
    pub(super) space: ParameterSpace,
    pub(super) origin: Option<Origin>,
    /// What the data have in common with each model that training continues from.
    pub(super) matches: Vec<ModelMatch>,
    /// The attributes of all tokens, before and after collapsing.
    pub(super) entries: [usize; 2],
}

impl TrainingSet {
    /// Collapses the attributes, and lays out the parameters.
    pub(super) fn of(mut extracted: Extracted, options: &CommonOptions) -> Self {
        let entries = |data: &Dataset| data.nodes.nonzeros() + data.edges.nonzeros();
        let before = entries(&extracted.data);
        let is_continued = !extracted.base.is_empty();
        let attributes = extracted.attributes();
        let found = is_continued.then(|| Occurrences::new(&extracted.data, attributes));
        let k = extracted.labels.set.len();
        let base = &extracted.base;
        let matches = found.iter().flat_map(|found| {
            base.iter().map(|model| ModelMatch::new(model, &extracted.data, k, found))
        });
        let matches = matches.collect();
        let classes = collapse(&mut extracted, options);
        let space = layout(&extracted, &classes, options);
        let base = &extracted.base;
        Self {
            origin: found.map(|found| Origin::new(base, &space, &classes, &found)),
            entries: [before, entries(&extracted.data)],
            matches,
            extracted,
            classes,
            space,
        }
    }

    /// Returns the design matrices and labels.
    pub fn data(&self) -> &Dataset {
        &self.extracted.data
    }

    /// Returns the layout of the parameters θ.
    pub fn space(&self) -> &ParameterSpace {
        &self.space
    }

    /// Returns the number of attributes before collapsing.
    pub fn attributes(&self) -> usize {
        self.extracted.attributes().iter().sum()
    }

    /// Creates the objective −Σ log p(y|x) and the L2 penalty, without noise.
    pub fn likelihood(&self, l2: f64) -> PenalizedLikelihood {
        PenalizedLikelihood::new(&self.extracted.data, &self.space, self.penalty(l2))
    }

    /// Returns a fingerprint of all labels and attributes.
    pub fn fingerprint(&self) -> u64 {
        let Extracted { labels, alphabets, data, development, base, .. } = &self.extracted;
        let models = base.iter().map(|model| (model.role, model.fingerprint));
        let models: Vec<(BaseRole, u128)> = models.collect();
        let mut hasher = Xxh3::new();
        (labels, alphabets, data, development, models).hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the number of weights of single attributes and of label pairs, before collapsing.
    pub fn weights(&self) -> usize {
        self.space.dimension() + self.count_collapsed(|_| true)
    }

    /// Counts the nonzero weights of single attributes and of label pairs, given the parameters of
    /// classes and how many of these are not 0.
    pub fn nonzero_weights(&self, theta: &[f64], nonzero: usize) -> usize {
        let is_full = nonzero == theta.len(); // spares a look at all of them
        nonzero + self.count_collapsed(|parameter| is_full || theta[parameter] != 0.0)
    }

    /// Counts by how many the weights of single attributes outnumber the parameters of their
    /// classes, where the parameter is `counted`.
    fn count_collapsed(&self, counted: impl Fn(usize) -> bool) -> usize {
        let mut more = 0;
        for (block, classes) in self.space.blocks().into_iter().zip(&self.classes) {
            for class in (0..classes.len() as u32).filter(|&class| classes.size(class) > 1) {
                let range = block.targets.range(class as usize);
                let count = range.filter(|i| counted(block.range.start + i)).count();
                more += (classes.size(class) as usize - 1) * count;
            }
        }
        more
    }

    /// Returns whether there are development data that choose the weights.
    pub fn chooses_on_dev(&self) -> bool {
        self.extracted.development.as_ref().is_some_and(|dev| !dev.is_report)
    }

    /// Returns the L2 penalty of strength c2 = `l2`.
    pub fn penalty(&self, l2: f64) -> Penalty {
        let mut penalty = Penalty::from(l2);
        if let Some(origin) = &self.origin {
            penalty = penalty.with_centers(Arc::clone(&origin.centers));
        }
        penalty
    }

    /// Returns the strength of the L1 penalty on each parameter, `[dimension]`; `None` if all are
    /// 0. Weights that no training data can change are not penalized.
    pub fn l1_strengths(&self, c1: f64) -> Option<Vec<f64>> {
        if c1 <= 0.0 {
            return None;
        }
        let mut strengths = self.space.scales();
        strengths.iter_mut().for_each(|strength| *strength *= c1);
        let is_fixed = self.origin.iter().flat_map(|origin| &origin.is_fixed);
        for (block, is_fixed) in self.space.blocks().into_iter().zip(is_fixed) {
            let strengths = block.weights_mut(&mut strengths);
            for class in (0..is_fixed.len()).filter(|&class| is_fixed[class]) {
                strengths[block.targets.range(class)].fill(0.0);
            }
        }
        Some(strengths)
    }

    /// Returns the classes of node and of edge attributes that additive noise leaves out. It has
    /// effect without any occurrence of an attribute, so those that are to keep the weights of a
    /// model have none.
    pub fn without_noise(&self) -> [Vec<bool>; 2] {
        self.origin.as_ref().map(|origin| origin.is_fixed.clone()).unwrap_or_default()
    }

    /// Returns the parameters where training starts: 0, or the weights of a model.
    pub fn start(&self) -> Vec<f64> {
        match &self.origin {
            Some(origin) => origin.start(&self.space),
            None => zeros(self.space.dimension()),
        }
    }
}

/// Collapses attributes that always occur together into classes, if the options say so.
fn collapse(extracted: &mut Extracted, options: &CommonOptions) -> [Classes; 2] {
    let classes = match options.attributes.collapse {
        false => extracted.attributes().map(Classes::singletons),
        true => {
            let [nodes, edges] = extracted.class_groups();
            let data = &mut extracted.data;
            let nodes = Classes::equal_columns_in_groups(&data.nodes, nodes);
            let edges = Classes::equal_columns_in_groups(&data.edges, edges);
            data.nodes = Arc::new(nodes.collapsed(&data.nodes));
            data.edges = Arc::new(edges.collapsed(&data.edges));
            [nodes, edges]
        }
    };
    if let Some(development) = &mut extracted.development {
        development.collapse(&classes);
        if options.patience == 0 {
            // Labels are only reported, so they need not be legal.
            development.is_report = true;
            development.constraint = None;
        }
    }
    classes
}

/// Lays out the parameters of classes.
fn layout(
    extracted: &Extracted,
    classes: &[Classes; 2],
    options: &CommonOptions,
) -> ParameterSpace {
    let k = extracted.labels.set.len();
    let structure = &options.structure;
    let states = structure.states_of(k);
    let mut extra = extra_weights(&extracted.base, classes, k, padded(k));
    let occurring = extracted.zeros.iter();
    extra.occurring = occurring
        .map(|&(attribute, label)| (classes[0].class(attribute), label.index() as u32))
        .collect();
    let template = extracted.source.template.as_ref();
    let space_options = SpaceOptions {
        order: structure.order,
        boundary: structure.boundary,
        states,
        transitions: template.is_none_or(Template::transitions),
        label_pairs: structure.transitions.unwrap_or(states),
        min_frequency: structure.min_frequency,
    };
    ParameterSpace::including(k, &extracted.data, classes.each_ref(), space_options, extra)
}
