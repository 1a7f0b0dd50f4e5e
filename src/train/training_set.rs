//! The training set: matrices, the layout of the parameters, and where training starts.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::development::DevelopmentSet;
use super::expand::ClassWeights;
use super::extracted::ExtractedCorpora;
use super::line_options::ClassOptions;
use super::options::CommonOptions;
use super::origin::{Origin, extra_weights};
use crate::chain::padded;
use crate::extract::{Classes, Dataset};
use crate::ids::AttributeId;
use crate::label::LabelSet;
use crate::objective::{AttributeNoise, Noise, PenalizedLikelihood, Penalty};
use crate::score::{ExtraWeights, FeatureBlock, ParameterSpace, SpaceOptions};
use crate::template::Template;

/// Training data as sparse matrices, the layout of the parameters θ, and development data if there
/// are any.
///
/// It is immutable: any number of training runs can share it.
#[derive(Debug)]
pub struct TrainingSet {
    pub(super) corpora: ExtractedCorpora, // one column per class
    pub(super) classes: [Classes; 2],     // of node and of edge attributes
    pub(super) space: ParameterSpace,
    pub(super) origin: Option<Origin>,
    line_options: Option<ClassOptions>,
    penalty_rule: Option<Arc<dyn PenaltyRule>>,
    /// The attributes of all tokens, before and after collapsing.
    pub(super) entries: [usize; 2],
}

/// Changes the strengths of the penalties on single weights.
pub trait PenaltyRule: fmt::Debug + Send + Sync {
    /// Returns what the L2 strength on each parameter is divided by, `[space.dimension()]`.
    fn divisors(&self, data: &Dataset, space: &ParameterSpace) -> Vec<f64>;

    /// Returns the parameters without penalty, L2 or L1.
    fn unpenalized(&self, space: &ParameterSpace) -> Range<usize>;

    /// Returns the options of the rule as logs, models and checkpoints record them.
    fn record(&self) -> Map<String, Value>;
}

impl TrainingSet {
    /// Collapses the attributes, and lays out the parameters.
    pub(super) fn from_extracted(
        mut corpora: ExtractedCorpora,
        options: &CommonOptions,
        penalty_rule: Option<Arc<dyn PenaltyRule>>,
    ) -> Self {
        let occurrences = corpora.base.is_some().then(|| corpora.occurrences());
        let entries = |data: &Dataset| data.nodes.nonzeros() + data.edges.nonzeros();
        let before = entries(&corpora.data);
        let classes = match corpora.class_groups(options) {
            None => corpora.attributes.map(Classes::singletons),
            Some([nodes, edges]) => {
                let data = &mut corpora.data;
                let nodes = Classes::equal_columns_in_groups(&data.nodes, nodes);
                let edges = Classes::equal_columns_in_groups(&data.edges, edges);
                data.nodes = Arc::new(nodes.collapsed(&data.nodes));
                data.edges = Arc::new(edges.collapsed(&data.edges));
                [nodes, edges]
            }
        };
        if let Some(development) = &mut corpora.development {
            development.collapse(&classes);
            development.set_use(options.dev_use);
        }
        let pair = classes.each_ref();
        let (base, template) = (corpora.base.as_deref(), corpora.template.as_ref());
        let k = corpora.labels.set.len();
        let states = options.states_of(k);
        let mut extra =
            base.map_or_else(ExtraWeights::default, |base| extra_weights(base, pair, k, padded(k)));
        let occurring = corpora.zeros.iter();
        extra.occurring = occurring
            .map(|&(attribute, label)| (classes[0].class(attribute), label.index() as u32))
            .collect();
        let space_options = SpaceOptions {
            order: options.order,
            boundary: options.boundary,
            states,
            transitions: template.is_none_or(Template::transitions),
            label_pairs: options.transitions.unwrap_or(states),
            min_frequency: options.min_frequency,
        };
        let space = ParameterSpace::including(k, &corpora.data, pair, space_options, extra);
        let lines = corpora.groups.as_ref().zip(template);
        let origin = base.zip(occurrences.as_ref());
        Self {
            line_options: lines
                .map(|(groups, template)| ClassOptions::new(groups, pair, template.groups())),
            origin: origin.map(|(base, found)| Origin::new(base, &space, pair, found)),
            entries: [before, entries(&corpora.data)],
            corpora,
            classes,
            space,
            penalty_rule,
        }
    }

    /// Returns the design matrices and labels.
    pub fn data(&self) -> &Dataset {
        &self.corpora.data
    }

    /// Returns the layout of the parameters θ.
    pub fn space(&self) -> &ParameterSpace {
        &self.space
    }

    /// Returns the labels.
    pub fn labels(&self) -> &LabelSet {
        &self.corpora.labels.set
    }

    /// Returns the development sentences over the columns of the data, and the gold labels of each,
    /// `[sentences][T]`, if there are any.
    pub fn development(&self) -> Option<(&Dataset, &[Vec<String>])> {
        self.corpora.development.as_ref().map(DevelopmentSet::sentences)
    }

    /// Returns the classes of node attributes, which are the columns of the data: attributes that
    /// always occur together.
    pub fn node_classes(&self) -> &Classes {
        &self.classes[0]
    }

    /// Returns the name of a node attribute, given its number before collapsing.
    pub fn node_name(&self, attribute: AttributeId) -> &[u8] {
        self.corpora.alphabets.nodes.name(attribute)
    }

    /// Returns the number of attributes before collapsing.
    pub fn attributes(&self) -> usize {
        self.corpora.attributes.iter().sum()
    }

    /// Creates the objective −Σ log p(y|x) and the L2 penalty, without noise.
    pub fn likelihood(&self, l2: f64) -> PenalizedLikelihood {
        PenalizedLikelihood::new(&self.corpora.data, &self.space, self.penalty(l2))
    }

    /// Returns a fingerprint of all labels and attributes.
    pub fn fingerprint(&self) -> u64 {
        self.corpora.fingerprint()
    }

    /// Creates the objective with a noise term.
    pub fn noisy_likelihood(&self, l2: f64, noise: Noise) -> PenalizedLikelihood {
        let amounts = self.attribute_noise(&noise);
        self.likelihood(l2).with_attribute_noise(noise, amounts)
    }

    /// Counts the attributes with a nonzero weight.
    pub fn active_attributes(&self, theta: &[f64]) -> usize {
        let blocks = self.space.blocks().into_iter();
        let blocks = blocks.zip(&self.classes);
        let count = |(block, classes): (&FeatureBlock, &Classes)| -> usize {
            let weights = block.weights(theta);
            let is_active = |class: &u32| {
                let weights = &weights[block.targets.range(*class as usize)];
                weights.iter().any(|&w| w != 0.0)
            };
            let active = (0..classes.len() as u32).filter(is_active);
            active.map(|class| classes.size(class) as usize).sum()
        };
        blocks.map(count).sum()
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
        let blocks = self.space.blocks().into_iter();
        for (block, classes) in blocks.zip(&self.classes) {
            let collapsed = (0..classes.len() as u32).filter(|&class| classes.size(class) > 1);
            for class in collapsed {
                let range = block.targets.range(class as usize);
                let count = range.filter(|i| counted(block.range.start + i)).count();
                more += (classes.size(class) as usize - 1) * count;
            }
        }
        more
    }

    /// Returns whether there are development data that choose the weights.
    pub fn chooses_on_dev(&self) -> bool {
        self.corpora.development.is_some() && !self.reports_dev()
    }

    /// Returns whether development data are only reported.
    pub(super) fn reports_dev(&self) -> bool {
        let development = self.corpora.development.as_ref();
        development.is_some_and(|development| development.is_report)
    }

    /// Returns the L2 penalty of strength c2 = `l2`.
    pub fn penalty(&self, l2: f64) -> Penalty {
        let mut penalty = Penalty::from(l2);
        let options = self.line_options.as_ref();
        let mut strengths = options.and_then(|options| options.l2_strengths(&self.space, l2));
        if let Some(rule) = &self.penalty_rule {
            let divisors = rule.divisors(&self.corpora.data, &self.space);
            let strengths = strengths.get_or_insert_with(|| vec![l2; divisors.len()]);
            for (strength, divisor) in strengths.iter_mut().zip(divisors) {
                *strength /= divisor;
            }
            strengths[rule.unpenalized(&self.space)].fill(0.0);
        }
        if let Some(strengths) = strengths {
            penalty = penalty.with_strengths(strengths);
        }
        if let Some(origin) = &self.origin {
            penalty = penalty.with_centers(origin.centers());
        }
        penalty
    }

    /// Returns whether some parameter has an L1 penalty.
    pub fn has_l1(&self, c1: f64) -> bool {
        let options = self.line_options.as_ref();
        c1 > 0.0 || options.is_some_and(ClassOptions::have_l1)
    }

    /// Returns the strength of the L1 penalty on each parameter, `[dimension]`; `None` if all are
    /// 0. Weights that no training data can change are not penalized.
    pub fn l1_strengths(&self, c1: f64) -> Option<Vec<f64>> {
        if !self.has_l1(c1) {
            return None;
        }
        let mut strengths = self.space.l1_strengths(c1);
        if let Some(options) = &self.line_options {
            options.set_l1_strengths(&self.space, c1, &mut strengths);
        }
        if let Some(rule) = &self.penalty_rule {
            strengths[rule.unpenalized(&self.space)].fill(0.0);
        }
        let is_fixed = self.origin.iter().flat_map(Origin::is_fixed);
        for (block, is_fixed) in self.space.blocks().into_iter().zip(is_fixed) {
            let strengths = block.weights_mut(&mut strengths);
            for class in (0..is_fixed.len()).filter(|&class| is_fixed[class]) {
                strengths[block.targets.range(class)].fill(0.0);
            }
        }
        Some(strengths)
    }

    /// Returns the amounts of noise on single attributes, where they differ. Additive noise has
    /// effect without any occurrence of an attribute, so those that are to keep the weights of a
    /// model have none.
    pub fn attribute_noise(&self, noise: &Noise) -> AttributeNoise {
        let options = self.line_options.as_ref().filter(|o| o.have_dropout());
        let origin = self.origin.as_ref().filter(|_| noise.is_additive());
        if options.is_none() && origin.is_none() {
            return AttributeNoise::default();
        }
        let [nodes, edges] = [0, 1].map(|kind| {
            let uniform = noise.amounts()[kind];
            let mut amounts = vec![uniform; self.space.blocks()[kind].columns()];
            if let Some(options) = options {
                options.set_noise(kind, uniform, &mut amounts);
            }
            let is_fixed = origin.iter().flat_map(|origin| &origin.is_fixed()[kind]);
            for (amount, _) in amounts.iter_mut().zip(is_fixed).filter(|(_, fixed)| **fixed) {
                *amount = 0.0;
            }
            Some(amounts)
        });
        AttributeNoise { nodes, edges }
    }

    /// Returns the parameters where training starts: 0, or the weights of a model.
    pub fn start(&self) -> Vec<f64> {
        match &self.origin {
            Some(origin) => origin.start(&self.space),
            None => vec![0.0; self.space.dimension()],
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
