//! The parameters of training, unchecked.

use serde::{Deserialize, Serialize};

use super::lbfgs::Lbfgs;
use super::learner::AnyLearner;
use crate::chain::Order;
use crate::label::{PlainLabels, Scheme};
use crate::model::Precision;
use crate::score::{Boundary, States};

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
    /// Scheme to convert the labels to before training; [`Scheme::Raw`] leaves them as they are.
    pub scheme: Scheme,
    /// What labels without prefixes are.
    #[serde(skip_serializing_if = "is_auto")]
    pub plain_labels: PlainLabels,
    /// Order of the chain.
    pub order: Order,
    /// Whether there are boundary weights.
    pub boundary: Boundary,
    /// Which pairs of attribute and label have weights. `None`: all, or those observed if there are
    /// more than [`Defaults::MANY_LABELS`] labels.
    pub states: Option<States>,
    /// Which label pairs, first labels and last labels have weights. `None`: as
    /// [`states`](field@TrainOptions::states).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transitions: Option<States>,
    /// Attributes that occur at fewer tokens are dropped.
    pub min_count: u32,
    /// Pairs of an attribute and a label, and pairs of labels, have no weight if their frequency in
    /// the training data is below this: the sum of the values of the attribute, or the number of
    /// pairs, each times the weight of the sentence. That is `feature.minfreq` of CRFsuite. `None`:
    /// no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_frequency: Option<f64>,
    /// Whether to keep attributes that occur only in unlabeled sentences.
    pub discover: bool,
    /// Whether to train attributes that always occur together as one parameter. The model is the
    /// same up to rounding; training is faster.
    pub collapse: bool,
    /// Weight of a copy in lower case of every training sentence, relative to the sentence. Above
    /// 0, sentences whose case says nothing (no capitals, nothing but capitals, or every word
    /// capitalized) have attributes of their own, those of their words in lower case, and the
    /// copies teach their weights. 0: no copies.
    #[serde(skip_serializing_if = "is_default")]
    pub caseless: f64,
    /// Maximum number of iterations. `None`: until convergence, or
    /// [`Learner::max_iterations`](super::Learner::max_iterations).
    pub max_iterations: Option<usize>,
    /// With development data: training stops after this many iterations without a better score.
    pub patience: usize,
    /// Subtracted from the score of the label `O` at every token when tagging, for labels that
    /// encode spans: above 0, recall rises and precision falls. `None`: the value with the best F1
    /// on development data, or 0 without such data. See [`crate::train`].
    pub recall_bias: Option<f64>,
    /// What development data are for.
    #[serde(skip_serializing_if = "is_default")]
    pub dev_use: DevUse,
    /// Seed of the random numbers, if the learner or its noise draws any. Nothing else is random.
    pub seed: u64,
    /// Precision of the weights in the model.
    pub precision: Precision,
    /// Attribute weights with a smaller absolute value are dropped from the model.
    pub prune: f64,
    /// What learns the weights, with its penalties and its noise.
    #[serde(flatten)]
    pub method: M,
}

/// Options with a learner of any kind.
pub type AnyOptions = TrainOptions<AnyLearner>;

/// What development data are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DevUse {
    /// They choose the iteration whose weights the model has and the recall bias, and end training
    /// ([`TrainOptions::patience`]).
    #[default]
    Choose,
    /// They are scored after each iteration, also by label
    /// ([`Iteration::label_scores`](super::Iteration::label_scores)), and change nothing: labels
    /// are predicted without constraints.
    Report,
}

crate::named!(DevUse, "use": Choose = "choose", Report = "report");

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The defaults of [`TrainOptions`], for help texts.
pub struct Defaults;

impl Defaults {
    /// Strength of the L2 penalty without noise.
    pub const L2: f64 = 0.3;
    /// Strength of the L2 penalty with noise.
    pub const L2_WITH_NOISE: f64 = 0.1;
    /// Dropout rate.
    pub const DROPOUT: f64 = 0.3;
    /// Upper limit of the default dropout rate of edges.
    pub const MAX_EDGE_DROPOUT: f64 = 0.9;
    /// Weight of an unlabeled sentence.
    pub const UNLABELED_WEIGHT: f64 = 0.2;
    /// With more labels, only observed pairs of attribute and label get a weight.
    pub const MANY_LABELS: usize = 256;
    /// Warm-up iterations.
    pub const WARM_UP: usize = 20;
    /// Monte-Carlo samples per sentence.
    pub const SAMPLES: u32 = 4;
    /// Random seed.
    pub const SEED: u64 = 1;
    /// Iterations without a better score before training stops.
    pub const PATIENCE: usize = 40;
}

/// Whether it is the default, which logs and models do not mention.
fn is_auto(choice: &PlainLabels) -> bool {
    *choice == PlainLabels::Auto
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
    #[must_use]
    pub fn new(method: M) -> Self {
        Self {
            scheme: Scheme::Raw,
            plain_labels: PlainLabels::Auto,
            order: Order::One,
            boundary: Boundary::On,
            states: None,
            transitions: None,
            min_count: 1,
            min_frequency: None,
            discover: false,
            collapse: true,
            caseless: 0.0,
            max_iterations: None,
            patience: Defaults::PATIENCE,
            recall_bias: None,
            dev_use: DevUse::default(),
            seed: Defaults::SEED,
            precision: Precision::F32,
            prune: 0.0,
            method,
        }
    }

    /// Returns the options for another learner.
    #[must_use]
    pub fn with_method<N>(self, method: N) -> TrainOptions<N> {
        self.replace_method(method).1
    }

    /// Takes the learner out of the options.
    pub(super) fn take_method(self) -> (M, TrainOptions<()>) {
        self.replace_method(())
    }

    fn replace_method<N>(self, new: N) -> (M, TrainOptions<N>) {
        let Self {
            scheme,
            plain_labels,
            order,
            boundary,
            states,
            transitions,
            min_count,
            min_frequency,
            discover,
            collapse,
            caseless,
            max_iterations,
            patience,
            recall_bias,
            dev_use,
            seed,
            precision,
            prune,
            method,
        } = self;
        let options = TrainOptions {
            scheme,
            plain_labels,
            order,
            boundary,
            states,
            transitions,
            min_count,
            min_frequency,
            discover,
            collapse,
            caseless,
            max_iterations,
            patience,
            recall_bias,
            dev_use,
            seed,
            precision,
            prune,
            method: new,
        };
        (method, options)
    }

    /// Returns which pairs of attribute and label have weights, given the number of labels.
    #[must_use]
    pub fn states_of(&self, labels: usize) -> States {
        self.states.unwrap_or(if labels > Defaults::MANY_LABELS {
            States::Observed
        } else {
            States::All
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_labels_have_weights_for_observed_pairs_alone_unless_all_are_asked_for() {
        let options = |states| TrainOptions {
            states,
            ..TrainOptions::default()
        };
        assert_eq!(options(None).states_of(256), States::All);
        assert_eq!(options(None).states_of(257), States::Observed);
        assert_eq!(options(Some(States::All)).states_of(257), States::All);
        assert_eq!(
            options(Some(States::Observed)).states_of(2),
            States::Observed
        );
    }
}
