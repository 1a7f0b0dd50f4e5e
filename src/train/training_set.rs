//! The training set: matrices, the layout of the parameters, and the conversion of weights to a
//! model.

use std::sync::Arc;

use serde_json::Value;

use super::base_weights::AllBaseWeights;
use super::corpora::TrainingCorpora;
use super::corpus_info::CorpusInfo;
use super::data_counts::{DataCounts, entries};
use super::development::{DevScorer, DevelopmentSet};
use super::events::{DevScore, Pruned, Rounded, Start};
use super::expand::ClassWeights;
use super::extracted::{ExtractedCorpora, base_fingerprints, fingerprint};
use super::labels::TrainingLabels;
use super::line_options::{ClassOptions, line_options_key};
use super::noise_options::FeatureNoise;
use super::origin::{Origin, extra_weights};
use super::settings::{L2Rule, TrainSettings};
use crate::chain::{LabelWeights, padded};
use crate::error::{Error, Result};
use crate::extract::{Alphabets, Classes, Dataset};
use crate::ids::AttributeId;
use crate::label::{LabelSet, Scheme};
use crate::model::{
    APPLIED_RECALL_BIAS, Header, Model, Precision, Provenance, TableBuilder, TrainingRecord,
};
use crate::objective::{AttributeNoise, Noise, PenalizedLikelihood, Penalty};
use crate::score::{ExtraWeights, FeatureBlock, ParameterSpace, SpaceOptions};
use crate::template::Template;

/// Training data as sparse matrices, the layout of the parameters θ, and development data if there
/// are any.
///
/// It is immutable: any number of training runs can share it.
#[derive(Debug)]
pub struct TrainingSet {
    pub(super) labels: TrainingLabels,
    pub(super) alphabets: Arc<Alphabets>,
    pub(super) node_classes: Classes,
    pub(super) edge_classes: Classes,
    pub(super) development: Option<DevelopmentSet>,
    data: Dataset, // one column per class
    space: ParameterSpace,
    attributes: usize,
    pub(super) template: Option<Template>,
    source: CorpusInfo,
    pub(super) base: Option<Arc<AllBaseWeights>>,
    origin: Option<Origin>,
    pub(super) groups: Option<Arc<[Vec<u32>; 2]>>,
    line_options: Option<ClassOptions>,
    l2_rule: Option<Arc<dyn L2Rule>>,
    pub(super) counts: DataCounts,
}

impl TrainingSet {
    /// Extracts the attributes of `corpora` as [`Trainer::train`](super::Trainer::train) does.
    ///
    /// # Errors
    ///
    /// Same as [`Trainer::train`](super::Trainer::train).
    pub fn new(
        corpora: impl Into<TrainingCorpora>,
        template: impl Into<Option<Template>>,
        settings: &TrainSettings,
    ) -> Result<Self> {
        let extracted = ExtractedCorpora::new(corpora, template.into(), settings)?;
        extracted.check_line_options(settings)?;
        Ok(extracted.into_training_set(settings))
    }

    /// Collapses the attributes, and lays out the parameters.
    fn from_extracted(mut extracted: ExtractedCorpora, settings: &TrainSettings) -> Self {
        let occurrences = extracted.base.is_some().then(|| extracted.occurrences());
        let attributes = entries(&extracted.data);
        let classes = extracted.class_groups(settings).map(|[nodes, edges]| {
            let data = &mut extracted.data;
            let nodes = Classes::equal_columns_in_groups(&data.nodes, nodes);
            let edges = Classes::equal_columns_in_groups(&data.edges, edges);
            data.nodes = Arc::new(nodes.collapsed(&data.nodes));
            data.edges = Arc::new(edges.collapsed(&data.edges));
            [nodes, edges]
        });
        let counts = DataCounts::new(&extracted.data, attributes, entries(&extracted.data));
        let [node_classes, edge_classes] = classes.unwrap_or_else(|| extracted.single_classes());
        let ExtractedCorpora {
            labels,
            alphabets,
            node_attributes,
            edge_attributes,
            data,
            mut development,
            template,
            source,
            base,
            groups,
            zeros,
            ..
        } = extracted;
        let options = settings.options();
        if let Some(development) = &mut development {
            development.collapse(&node_classes, &edge_classes);
            development.set_use(options.dev_use);
        }
        let classes = [&node_classes, &edge_classes];
        let k = labels.set.len();
        let states = options.states_of(k);
        let mut extra = base.as_ref().map_or_else(ExtraWeights::default, |base| {
            extra_weights(base, classes, k, padded(k))
        });
        let occurring = zeros.iter();
        extra.occurring = occurring
            .map(|&(attribute, label)| (node_classes.class(attribute), label.index() as u32))
            .collect();
        let space_options = SpaceOptions {
            order: options.order,
            boundary: options.boundary,
            states,
            transitions: template.as_ref().is_none_or(Template::transitions),
            label_pairs: options.transitions.unwrap_or(states),
            min_frequency: options.min_frequency,
        };
        let space = ParameterSpace::including(k, &data, classes, space_options, extra);
        let line_options = groups.as_ref().zip(template.as_ref());
        let line_options = line_options
            .map(|(groups, template)| ClassOptions::new(groups, classes, template.groups()));
        let origin = base.as_ref().zip(occurrences.as_ref());
        let origin = origin.map(|(base, found)| Origin::new(base, &space, classes, found));
        Self {
            labels,
            alphabets,
            node_classes,
            edge_classes,
            development,
            data,
            space,
            attributes: node_attributes + edge_attributes,
            template,
            source,
            base,
            origin,
            groups,
            line_options,
            l2_rule: settings.l2_rule().cloned(),
            counts,
        }
    }

    /// Returns the design matrices and labels.
    #[must_use]
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// Returns the layout of the parameters θ.
    #[must_use]
    pub fn space(&self) -> &ParameterSpace {
        &self.space
    }

    /// Returns the labels.
    #[must_use]
    pub fn labels(&self) -> &LabelSet {
        &self.labels.set
    }

    /// Returns the development sentences over the columns of the data, and the gold labels of each,
    /// `[sentences][T]`, if there are any.
    #[must_use]
    pub fn development(&self) -> Option<(&Dataset, &[Vec<String>])> {
        self.development.as_ref().map(DevelopmentSet::sentences)
    }

    /// Returns the classes of node attributes, which are the columns of the data: attributes that
    /// always occur together.
    #[must_use]
    pub fn node_classes(&self) -> &Classes {
        &self.node_classes
    }

    /// Returns the name of a node attribute, given its number before collapsing.
    #[must_use]
    pub fn node_name(&self, attribute: AttributeId) -> &[u8] {
        self.alphabets.nodes.name(attribute)
    }

    /// Returns the number of attributes before collapsing.
    #[must_use]
    pub fn attributes(&self) -> usize {
        self.attributes
    }

    /// Returns the event before the first iteration of training that is estimated to need so many
    /// bytes besides the set.
    #[must_use]
    pub fn start_event<'a>(&self, settings: &'a TrainSettings, memory: usize) -> Start<'a> {
        let counts = &self.counts;
        let [active_per_token, collapsed_active_per_token] = counts.active_per_token();
        Start {
            options: Some(settings.options()),
            sentences: counts.labeled.sentences as usize,
            tokens: counts.labeled.tokens as usize,
            total_weight: counts.total_weight,
            partial_tokens: counts.partial_tokens as usize,
            unlabeled_sentences: counts.unlabeled.sentences as usize,
            dev_sentences: self.development.as_ref().map_or(0, DevelopmentSet::len),
            labels: self.labels.set.len(),
            plain_labels: self.labels.data_scheme == Scheme::Plain,
            attributes: self.attributes(),
            collapsed_attributes: self.node_classes.len() + self.edge_classes.len(),
            parameters: self.space.dimension(),
            weights: self.weights(),
            active_per_token,
            collapsed_active_per_token,
            estimated_memory: self.memory() + memory,
        }
    }

    /// Creates the objective −Σ log p(y|x) and the L2 penalty, without noise.
    #[must_use]
    pub fn likelihood(&self, l2: f64) -> PenalizedLikelihood {
        PenalizedLikelihood::new(&self.data, &self.space, self.penalty(l2))
    }

    /// Returns a fingerprint of all labels and attributes.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let data = (&self.labels, &self.alphabets, &self.data);
        let origin = (
            base_fingerprints(&self.base),
            line_options_key(self.template.as_ref(), self.groups.as_deref()),
        );
        fingerprint(&(data, &self.development, origin))
    }

    /// Creates the objective with a noise term.
    #[must_use]
    pub fn noisy_likelihood(&self, l2: f64, noise: Noise) -> PenalizedLikelihood {
        let amounts = self.attribute_noise(&FeatureNoise::Analytic(noise));
        self.likelihood(l2).with_attribute_noise(noise, amounts)
    }

    /// Counts the attributes with a nonzero weight.
    #[must_use]
    pub fn active_attributes(&self, theta: &[f64]) -> usize {
        let blocks = self.space.blocks().into_iter();
        let blocks = blocks.zip([&self.node_classes, &self.edge_classes]);
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
    #[must_use]
    pub fn weights(&self) -> usize {
        self.space.dimension() + self.count_collapsed(|_| true)
    }

    /// Counts the nonzero weights of single attributes and of label pairs, given the parameters of
    /// classes and how many of these are not 0.
    #[must_use]
    pub fn nonzero_weights(&self, theta: &[f64], nonzero: usize) -> usize {
        nonzero + self.count_collapsed(|parameter| theta[parameter] != 0.0)
    }

    /// Counts by how many the weights of single attributes outnumber the parameters of their
    /// classes, where the parameter is `counted`.
    fn count_collapsed(&self, counted: impl Fn(usize) -> bool) -> usize {
        let mut more = 0;
        let blocks = self.space.blocks().into_iter();
        for (block, classes) in blocks.zip([&self.node_classes, &self.edge_classes]) {
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
    #[must_use]
    pub fn chooses_on_dev(&self) -> bool {
        self.development.is_some() && !self.reports_dev()
    }

    /// Returns whether development data are only reported.
    pub(super) fn reports_dev(&self) -> bool {
        let development = self.development.as_ref();
        development.is_some_and(DevelopmentSet::is_report)
    }

    /// Returns the L2 penalty of strength c2 = `l2`.
    #[must_use]
    pub fn penalty(&self, l2: f64) -> Penalty {
        let mut penalty = Penalty::from(l2);
        let options = self.line_options.as_ref();
        let mut strengths = options.and_then(|options| options.l2_strengths(&self.space, l2));
        if let Some(rule) = &self.l2_rule {
            let divisors = rule.divisors(&self.data, &self.space);
            let strengths = strengths.get_or_insert_with(|| vec![l2; divisors.len()]);
            for (strength, divisor) in strengths.iter_mut().zip(divisors) {
                *strength /= divisor;
            }
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
    #[must_use]
    pub fn has_l1(&self, c1: f64) -> bool {
        let options = self.line_options.as_ref();
        c1 > 0.0 || options.is_some_and(ClassOptions::have_l1)
    }

    /// Returns the strength of the L1 penalty on each parameter, `[dimension]`; `None` if all are
    /// 0. Weights that no training data can change are not penalized.
    #[must_use]
    pub fn l1_strengths(&self, c1: f64) -> Option<Vec<f64>> {
        if !self.has_l1(c1) {
            return None;
        }
        let mut strengths = self.space.l1_strengths(c1);
        if let Some(options) = &self.line_options {
            options.set_l1_strengths(&self.space, c1, &mut strengths);
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
    #[must_use]
    pub fn attribute_noise(&self, noise: &FeatureNoise) -> AttributeNoise {
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
            for (amount, _) in amounts
                .iter_mut()
                .zip(is_fixed)
                .filter(|(_, fixed)| **fixed)
            {
                *amount = 0.0;
            }
            Some(amounts)
        });
        AttributeNoise { nodes, edges }
    }

    /// Returns whether some weights have penalties or noise of their own.
    #[must_use]
    pub fn has_own_strengths(&self) -> bool {
        self.line_options.is_some() || self.l2_rule.is_some()
    }

    /// Returns the parameters where training starts: 0, or the weights of a model.
    #[must_use]
    pub fn start(&self) -> Vec<f64> {
        match &self.origin {
            Some(origin) => origin.start(&self.space),
            None => vec![0.0; self.space.dimension()],
        }
    }

    /// Returns the recall bias that the search for it starts from.
    #[must_use]
    pub fn recall_bias(&self) -> f64 {
        self.origin.as_ref().map_or(0.0, Origin::recall_bias)
    }

    /// Returns the memory of the weights that training starts from in bytes.
    pub(super) fn origin_memory(&self) -> usize {
        self.base.as_ref().map_or(0, |base| base.memory())
            + self.origin.as_ref().map_or(0, Origin::memory)
    }

    /// Returns the memory of the attribute names in bytes.
    pub(super) fn alphabet_memory(&self) -> usize {
        self.alphabets.nodes.memory() + self.alphabets.edges.memory()
    }

    /// Sets attribute weights below the threshold of the settings to 0. Returns `None` if there is
    /// no threshold.
    ///
    /// # Errors
    ///
    /// The development data cannot be scored.
    pub fn prune(
        &self,
        settings: &TrainSettings,
        theta: &mut [f64],
        recall_bias: f64,
    ) -> Result<Option<Pruned>> {
        let threshold = settings.options().prune;
        if threshold <= 0.0 {
            return Ok(None);
        }
        let mut weights = [0; 2];
        let dev = self.score_change(theta, recall_bias, |theta| {
            weights = self.class_weights().prune(theta, threshold);
        })?;
        Ok(Some(Pruned {
            before: weights[0],
            after: weights[1],
            dev,
        }))
    }

    /// Rounds attribute weights as the model will store them. Returns `None` if it stores them with
    /// so many bits that no score changes: in [`Precision::F32`] or [`Precision::F64`].
    ///
    /// # Errors
    ///
    /// The development data cannot be scored.
    pub fn round(
        &self,
        settings: &TrainSettings,
        theta: &mut [f64],
        recall_bias: f64,
    ) -> Result<Option<Rounded>> {
        let precision = settings.options().precision;
        if matches!(precision, Precision::F32 | Precision::F64) {
            return Ok(None);
        }
        let dev = self.score_change(theta, recall_bias, |theta| {
            self.class_weights().round(theta, precision);
        })?;
        Ok(Some(Rounded { precision, dev }))
    }

    /// Changes parameters, and returns the scores on development data before and after, if there
    /// are any.
    fn score_change(
        &self,
        theta: &mut [f64],
        recall_bias: f64,
        change: impl FnOnce(&mut [f64]),
    ) -> Result<Option<[DevScore; 2]>> {
        let mut scorer = self.dev_scorer();
        let mut score = |theta: &[f64]| -> Result<Option<DevScore>> {
            let Some(scorer) = &mut scorer else {
                return Ok(None);
            };
            Ok(scorer.score(theta, &[recall_bias])?.first().copied())
        };
        let before = score(theta)?;
        change(theta);
        Ok(before.zip(score(theta)?).map(|(b, a)| [b, a]))
    }

    /// Returns a scorer on the development data, if there are any.
    pub(super) fn dev_scorer(&self) -> Option<DevScorer<'_>> {
        let development = self.development.as_ref();
        development.map(|development| development.scorer(&self.space))
    }

    fn class_weights(&self) -> ClassWeights<'_> {
        ClassWeights {
            space: &self.space,
            node_classes: &self.node_classes,
            edge_classes: &self.edge_classes,
            origin: self.origin.as_ref(),
        }
    }

    /// Builds a model from the weights θ and a recall bias. The model stores the settings and the
    /// record of training, if there is one.
    ///
    /// # Errors
    ///
    /// A weight is too large for the precision of the model.
    pub fn into_model(
        self,
        settings: &TrainSettings,
        theta: &[f64],
        recall_bias: f64,
        record: Option<&TrainingRecord>,
    ) -> Result<Model> {
        let (header, tables) = self.into_tables(settings, theta, recall_bias, record)?;
        Model::build(header, tables)
    }

    /// Returns the header and the tables of the model. The training set is freed: the model takes
    /// as much memory.
    fn into_tables(
        mut self,
        settings: &TrainSettings,
        theta: &[f64],
        recall_bias: f64,
        record: Option<&TrainingRecord>,
    ) -> Result<(Header, [TableBuilder; 2])> {
        self.data = Dataset::default();
        let options = settings.options();
        let names = Arc::unwrap_or_clone(std::mem::take(&mut self.alphabets));
        let weights = self.class_weights();
        let tables = weights.tables(names, theta, options.precision)?;
        let mut label_weights = LabelWeights::default();
        self.space.label_weights(theta, &mut label_weights);
        let mut options_json = self.options_json(settings, recall_bias)?;
        self.labels.add_recall_bias(recall_bias, &mut label_weights);
        if let Some(record) = record {
            record.add_to(&mut options_json);
        }
        let provenance = Provenance {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            files: self.source.files,
            sentences: self.counts.labeled.sentences,
            tokens: self.counts.labeled.tokens,
            options: options_json.to_string(),
        };
        let header = Header {
            labels: self.labels.set,
            scheme: self.labels.scheme,
            corpus_scheme: self.labels.corpus_scheme,
            columns: self.source.columns,
            label_column: self.source.label_column,
            joined: self.source.joined,
            template: self.template,
            order: options.order,
            label_weights,
            precision: options.precision,
            provenance,
            tables: Default::default(),
        };
        Ok((header, tables))
    }
}

impl TrainingSet {
    /// Returns the options as JSON, with the fingerprints of the models that training continued
    /// from and the recall bias, which a model that continues this one must not apply again.
    fn options_json(&self, settings: &TrainSettings, recall_bias: f64) -> Result<Value> {
        let mut options = serde_json::to_value(settings)
            .map_err(|e| Error::parameter(format!("cannot write the options as JSON: {e}")))?;
        let Some(base) = &self.base else {
            return Ok(options);
        };
        for model in base.iter() {
            let flag = model.role.to_string();
            let fingerprint = format!("{:032x}", model.fingerprint);
            options[flag.trim_start_matches('-')] = fingerprint.into();
        }
        options[APPLIED_RECALL_BIAS] = recall_bias.into();
        Ok(options)
    }
}

impl ExtractedCorpora {
    /// Converts all sentences to a training set. If the settings say so, attributes that always
    /// occur together are collapsed into classes.
    #[must_use]
    pub fn into_training_set(self, settings: &TrainSettings) -> TrainingSet {
        TrainingSet::from_extracted(self, settings)
    }

    /// Creates a training set without the held-out sentences, which become its development data.
    ///
    /// Attributes, minimum counts and classes are those of the remaining sentences, as if the
    /// held-out ones did not exist; labels are those of the whole corpus. No model can be built
    /// from it.
    ///
    /// # Errors
    ///
    /// No sentence is held out, or all are; a number is out of range; the sentences were not
    /// extracted [for cross-validation](ExtractedCorpora::for_cross_validation).
    pub fn hold_out(&self, held_out: &[usize], settings: &TrainSettings) -> Result<TrainingSet> {
        Ok(self
            .without(held_out, settings)?
            .into_training_set(settings))
    }
}
