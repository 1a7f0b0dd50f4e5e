//! The training set: matrices, the layout of the parameters, and where training starts.

use std::sync::Arc;

use super::expand::ClassWeights;
use super::extracted::Extracted;
use super::model_match::{ModelMatch, Occurrences};
use super::options::CommonOptions;
use super::origin::{Origin, extra_weights};
use crate::chain::padded;
use crate::extract::{Classes, Dataset};
use crate::memory::zeros;
use crate::objective::{PenalizedLikelihood, Penalty};
use crate::score::{ParameterSpace, SpaceOptions};
use crate::template::Template;

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
        let attributes = extracted.attributes();
        let is_continued = !extracted.base.is_empty();
        let found = is_continued.then(|| Occurrences::new(&extracted.data, attributes));
        let matches = found.as_ref().map_or_else(Vec::new, |found| extracted.matches(found));
        let classes = collapse(&mut extracted, options);
        let pair = classes.each_ref();
        let space = layout(&extracted, pair, options);
        let base = &extracted.base;
        Self {
            origin: found.as_ref().map(|found| Origin::new(base, &space, pair, found)),
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
        self.extracted.fingerprint()
    }

    /// Returns the number of weights of single attributes and of label pairs, before collapsing.
    pub fn weights(&self) -> usize {
        self.space.dimension() + self.count_collapsed(|_| true)
    }

    /// Counts the nonzero weights of single attributes and of label pairs, given the parameters of
    /// classes and how many of these are not 0.
    pub fn nonzero_weights(&self, theta: &[f64], nonzero: usize) -> usize {
        nonzero + self.count_collapsed(|parameter| theta[parameter] != 0.0)
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
            penalty = penalty.with_centers(origin.centers());
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
        let is_fixed = self.origin.iter().flat_map(Origin::is_fixed);
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
        self.origin.as_ref().map(|origin| origin.is_fixed().clone()).unwrap_or_default()
    }

    /// Returns the parameters where training starts: 0, or the weights of a model.
    pub fn start(&self) -> Vec<f64> {
        match &self.origin {
            Some(origin) => origin.start(&self.space),
            None => zeros(self.space.dimension()),
        }
    }

    /// Returns the recall bias that the search for it starts from.
    pub fn recall_bias(&self) -> f64 {
        self.origin.as_ref().map_or(0.0, Origin::recall_bias)
    }

    /// Returns the parameters with the attributes that they are of.
    pub(super) fn class_weights(&self) -> ClassWeights<'_> {
        ClassWeights { space: &self.space, classes: &self.classes, origin: self.origin.as_ref() }
    }
}

/// Collapses attributes that always occur together into classes, if the options say so.
fn collapse(extracted: &mut Extracted, options: &CommonOptions) -> [Classes; 2] {
    let classes = match extracted.class_groups(options) {
        None => extracted.attributes().map(Classes::singletons),
        Some([nodes, edges]) => {
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
            development.only_report();
        }
    }
    classes
}

/// Lays out the parameters of classes.
fn layout(
    extracted: &Extracted,
    classes: [&Classes; 2],
    options: &CommonOptions,
) -> ParameterSpace {
    let k = extracted.labels.set.len();
    let states = options.structure.states_of(k);
    let mut extra = extra_weights(&extracted.base, classes, k, padded(k));
    let occurring = extracted.zeros.iter();
    extra.occurring = occurring
        .map(|&(attribute, label)| (classes[0].class(attribute), label.index() as u32))
        .collect();
    let template = extracted.source.template.as_ref();
    let space_options = SpaceOptions {
        order: options.structure.order,
        boundary: options.structure.boundary,
        states,
        transitions: template.is_none_or(Template::transitions),
        label_pairs: options.structure.transitions.unwrap_or(states),
        min_frequency: options.structure.min_frequency,
    };
    ParameterSpace::including(k, &extracted.data, classes, space_options, extra)
}
