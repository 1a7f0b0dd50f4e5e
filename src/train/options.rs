//! The parameters of training, unchecked.

use serde::{Deserialize, Serialize};

use crate::chain::Order;
use crate::label::{PlainLabels, Scheme, SchemeDetector};
use crate::model::{NoiseExposure, Precision};
use crate::objective::{AnyTerm, NoiseOptions};
use crate::optim::LbfgsOptions;
use crate::score::{Boundary, States};

/// The defaults of [`TrainOptions`], for help texts.
pub struct Defaults;

impl Defaults {
    /// Strength of the L2 penalty without noise.
    pub const L2: f64 = 0.3;
    /// Strength of the L2 penalty with noise.
    pub const L2_WITH_NOISE: f64 = 0.1;
    /// Dropout rate.
    pub const DROPOUT: f64 = NoiseOptions::DROPOUT;
    /// With more labels, only observed pairs of attribute and label get a weight.
    pub const MANY_LABELS: usize = 256;
    /// Warm-up iterations.
    pub const WARM_UP: usize = 20;
    /// With noise and without development data, which choose the iteration otherwise: training
    /// stops if the objective fell by less than this fraction of its value in ten iterations.
    pub const IMPROVEMENT_WITH_NOISE: f64 = 3e-3;
    /// Random seed.
    pub const SEED: u64 = 1;
    /// Iterations without a better score before training stops.
    pub const PATIENCE: usize = 40;
}

/// Whether it is the default, which logs and models do not mention.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The parameters of training: what all learners need, and a learner. A model stores them.
///
/// ```
/// use dropchain::train::{Lbfgs, TrainOptions};
///
/// let options = TrainOptions {
///     max_iterations: Some(50),
///     ..TrainOptions::new(Lbfgs::l2(0.1))
/// };
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrainOptions<M = Lbfgs> {
    /// How labels are read and learned.
    #[serde(flatten)]
    pub labels: LabelOptions,
    /// Which weights there are.
    #[serde(flatten)]
    pub structure: StructureOptions,
    /// Which attributes there are.
    #[serde(flatten)]
    pub attributes: AttributeOptions,
    /// Maximum number of iterations. `None`: until convergence, or
    /// [`Learner::schedule`](super::learner::Learner::schedule).
    pub max_iterations: Option<usize>,
    /// With development data: training stops after this many iterations without a better
    /// mean score of the last five. 0: development data choose nothing; labels are predicted
    /// without constraints and scored after each iteration, also by label
    /// ([`DevDetails::label_scores`](super::DevDetails::label_scores)).
    pub patience: usize,
    /// Subtracted from the score of the outside label at every token when tagging spans: above 0,
    /// recall rises and precision falls. `None`: the value with the best F1 on development data,
    /// or 0 without such data.
    pub recall_bias: Option<f64>,
    /// Seed of the random numbers, if the learner or its noise draws any. Nothing else is random.
    pub seed: u64,
    /// How the model is stored.
    #[serde(flatten)]
    pub storage: StorageOptions,
    /// Further terms of the objective.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<AnyTerm>,
    /// The algorithm that learns the weights, with its penalties and its noise.
    #[serde(flatten)]
    pub method: M,
}

/// Options without a learner.
pub(super) type CommonOptions = TrainOptions<()>;

/// Minimizes the penalized likelihood with its noise term by L-BFGS; with an L1 penalty, OWL-QN.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lbfgs {
    /// Strength c2 of the L2 penalty c2·‖θ‖² (c2 = 1/(2C) of CRF++, 1/(2σ²) of Stanford NER).
    /// `None`: [`Defaults::L2_WITH_NOISE`] with noise, [`Defaults::L2`] without.
    pub l2: Option<f64>,
    /// Strength c1 of the L1 penalty c1·‖θ‖₁.
    pub l1: f64,
    /// The noise term.
    #[serde(flatten)]
    pub noise: NoiseOptions,
    /// Number of warm-up iterations, without noise, before those with it. R is not convex: starting
    /// from θ = 0, noise prevents rare attributes from ever gaining weight. `None`:
    /// [`Defaults::WARM_UP`], or half of the maximum number of iterations if that is less. Ignored
    /// without noise.
    pub warm_up: Option<usize>,
    /// Options of the optimizer. Its `max_iterations` must be `None`: that of training counts.
    #[serde(rename = "lbfgs", skip_serializing_if = "is_default", default)]
    pub optimizer: LbfgsOptions,
}

impl Lbfgs {
    /// The name.
    pub const NAME: &'static str = "lbfgs";

    /// Without noise, with this strength of the L2 penalty.
    pub fn l2(strength: f64) -> Self {
        Self { l2: Some(strength), ..Self::without_noise() }
    }

    /// With dropout of this rate.
    pub fn dropout(rate: f64) -> Self {
        Self { noise: NoiseOptions::dropout(rate), ..Self::default() }
    }

    /// Without noise.
    pub fn without_noise() -> Self {
        Self::dropout(0.0)
    }
}

/// The penalties and the noise term of an objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regularization {
    /// Strength c1 of the L1 penalty c1·‖θ‖₁.
    pub l1: f64,
    /// Strength c2 of the L2 penalty c2·‖θ‖²; `None` for the default.
    pub l2: Option<f64>,
    /// The noise.
    pub noise: NoiseOptions,
    /// Number of iterations without noise before those with it; `None` for the default.
    pub warm_up: Option<usize>,
}

impl Regularization {
    /// No penalties and no noise.
    pub fn none() -> Self {
        Self { l1: 0.0, l2: Some(0.0), noise: NoiseOptions::none(), warm_up: None }
    }

    /// Describes what regularizes weights that have seen so much noise, such as `dropout 0.3, edges
    /// 0.6, L2 0.1`.
    pub fn describe(&self, noise: Option<&NoiseExposure>) -> String {
        let mut parts = Vec::new();
        if noise.is_some_and(NoiseExposure::is_any) {
            let [node, edge] = [self.noise.dropout, self.noise.edge_noise()];
            parts.push(format!("{} {node}", self.noise.kind));
            if edge != node {
                parts.push(format!("edges {edge}"));
            }
        }
        let penalties = [("L1", self.l1), ("L2", self.l2.unwrap_or(0.0))];
        let penalties = penalties.iter().filter(|(_, strength)| *strength > 0.0);
        parts.extend(penalties.map(|(name, strength)| format!("{name} {strength}")));
        if parts.is_empty() { "no penalty".to_owned() } else { parts.join(", ") }
    }

    /// Returns the number of iterations without noise, given the default, which is at most half of
    /// the maximum number of iterations.
    pub fn warm_up_or(&self, default: usize, max_iterations: Option<usize>) -> usize {
        let half = max_iterations.map_or(usize::MAX, |n| n / 2);
        self.warm_up.unwrap_or(default.min(half))
    }
}

impl Default for TrainOptions {
    fn default() -> Self {
        Self::new(Lbfgs::default())
    }
}

impl From<Lbfgs> for TrainOptions {
    fn from(method: Lbfgs) -> Self {
        Self::new(method)
    }
}

impl<M> TrainOptions<M> {
    /// Creates default options for a learner.
    pub fn new(method: M) -> Self {
        Self {
            labels: LabelOptions::default(),
            structure: StructureOptions::default(),
            attributes: AttributeOptions::default(),
            max_iterations: None,
            patience: Defaults::PATIENCE,
            recall_bias: None,
            seed: Defaults::SEED,
            storage: StorageOptions::default(),
            terms: Vec::new(),
            method,
        }
    }

    /// Adds a term to the objective, of which each stage of training begins with a copy: a
    /// regularizer of one's own. Schedule and noise stay as they are.
    #[must_use]
    pub fn with_term(mut self, term: impl Into<AnyTerm>) -> Self {
        self.terms.push(term.into());
        self
    }

    /// Returns the options for another learner.
    pub fn with_method<N>(self, method: N) -> TrainOptions<N> {
        self.replace_method(|_| method)
    }

    /// Returns the options for a learner that takes the place of theirs.
    pub(super) fn replace_method<N>(self, new: impl FnOnce(M) -> N) -> TrainOptions<N> {
        TrainOptions {
            labels: self.labels,
            structure: self.structure,
            attributes: self.attributes,
            max_iterations: self.max_iterations,
            patience: self.patience,
            recall_bias: self.recall_bias,
            seed: self.seed,
            storage: self.storage,
            terms: self.terms,
            method: new(self.method),
        }
    }
}

/// How labels are read and learned.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LabelOptions {
    /// Scheme to convert the labels to before training; [`Scheme::Raw`] leaves them as they are.
    pub scheme: Scheme,
    /// What labels without prefixes are.
    pub plain_labels: PlainLabels,
    /// The label outside of all spans. `None`: `O`, or by evidence another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<String>,
}

impl LabelOptions {
    /// Returns a detector that reads labels as training does.
    pub fn detector(&self) -> SchemeDetector {
        SchemeDetector::new()
            .with_plain_labels(self.plain_labels)
            .with_outside(self.outside.clone())
    }

    /// Reads the labels of parts of a corpus, which are fewer and may look different, as all of
    /// them were read.
    pub fn read_like(&mut self, all: Scheme) {
        self.plain_labels = match (all, self.plain_labels) {
            (Scheme::Plain, _) => PlainLabels::Spans,
            (Scheme::Raw, _) => PlainLabels::Tags,
            (_, PlainLabels::Auto) => PlainLabels::Tags,
            (_, chosen) => chosen,
        };
    }
}

/// Which weights a model has.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StructureOptions {
    /// Order of the chain.
    pub order: Order,
    /// Whether there are boundary weights.
    pub boundary: Boundary,
    /// Which pairs of attribute and label have weights. `None`: all, or those observed if there are
    /// more than [`Defaults::MANY_LABELS`] labels.
    pub states: Option<States>,
    /// Which label pairs, first labels and last labels have weights. `None`: as
    /// [`states`](field@StructureOptions::states).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transitions: Option<States>,
    /// Pairs of an attribute and a label, and pairs of labels, have no weight if their frequency in
    /// the training data is below this: the sum of the values of the attribute, or the number of
    /// pairs, each times the weight of the sentence. That is `feature.minfreq` of CRFsuite. `None`:
    /// no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_frequency: Option<f64>,
}

impl StructureOptions {
    /// Returns which pairs of attribute and label have weights, given the number of labels.
    pub fn states_of(&self, labels: usize) -> States {
        let are_many = labels > Defaults::MANY_LABELS;
        self.states.unwrap_or(if are_many { States::Observed } else { States::All })
    }
}

/// Which attributes there are.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttributeOptions {
    /// Attributes that occur at fewer tokens are dropped.
    pub min_count: u32,
    /// Weight of a copy in lower case of every training sentence, relative to the sentence. Above
    /// 0, sentences whose case says nothing (no capitals, nothing but capitals, or every word
    /// capitalized) have attributes of their own, those of their words in lower case, and the
    /// copies teach their weights. 0: no copies.
    #[serde(skip_serializing_if = "is_default")]
    pub caseless: f64,
    /// Whether to train attributes that always occur together as one parameter. The model is the
    /// same up to rounding; training is faster. Without it, the cost of gradients is that of the
    /// paper.
    #[serde(skip)]
    pub collapse: bool,
}

impl Default for AttributeOptions {
    fn default() -> Self {
        Self { min_count: 1, caseless: 0.0, collapse: true }
    }
}

/// How a model is stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StorageOptions {
    /// Precision of the weights.
    pub precision: Precision,
    /// Attribute weights with a smaller absolute value are dropped.
    pub prune: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_labels_have_weights_for_observed_pairs_alone_unless_all_are_asked_for() {
        let options = |states| StructureOptions { states, ..StructureOptions::default() };
        assert_eq!(options(None).states_of(256), States::All);
        assert_eq!(options(None).states_of(257), States::Observed);
        assert_eq!(options(Some(States::All)).states_of(257), States::All);
        assert_eq!(options(Some(States::Observed)).states_of(2), States::Observed);
    }
}
