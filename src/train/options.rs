//! The parameters of training, unchecked.

use serde::{Deserialize, Serialize};

use crate::chain::Order;
use crate::irls::Loss;
use crate::label::{PlainLabels, Scheme};
use crate::model::Precision;
use crate::noise::Engine;
use crate::objective::NoiseSharing;
use crate::online::Algorithm;
use crate::optim::LbfgsOptions;
use crate::score::{Boundary, States};

/// The parameters of training. [`TrainSettings`](super::TrainSettings) checks them and resolves the
/// default of [`l2`](field@TrainOptions::l2); a model stores them in that form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrainOptions {
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
    /// Strength c2 of the L2 penalty c2·‖θ‖² (c2 = 1/(2C) of CRF++, 1/(2σ²) of Stanford NER).
    /// `None`: [`Defaults::L2_WITH_NOISE`] with noise, [`Defaults::L2`] without.
    pub l2: Option<f64>,
    /// Strength c1 of the L1 penalty c1·‖θ‖₁.
    pub l1: f64,
    /// Kind of feature noise.
    pub noise: NoiseKind,
    /// Amount of noise: the dropout rate δ, or the variance σ² of Gaussian noise; 0 is no noise.
    pub dropout: f64,
    /// Amount of noise on transitions, boundary weights and edge attributes. `None`: twice
    /// `dropout`, at most [`Defaults::MAX_EDGE_DROPOUT`]; for a variance, `dropout` itself.
    pub edge_dropout: Option<f64>,
    /// Engine that computes the gradient of the noise term. Monte-Carlo noise has a gradient of its
    /// own and requires the default.
    pub gradient: Engine,
    /// Number of warm-up iterations, without noise, before those with it. R is not convex: starting
    /// from θ = 0, noise prevents rare attributes from ever gaining weight. `None`:
    /// [`Defaults::WARM_UP`], after a warm start [`Defaults::WARM_UP_AFTER_PASSES`], of stochastic
    /// gradient descent [`Defaults::SGD_WARM_UP`], or half of `max_iterations` if that is less.
    /// Ignored without noise.
    pub warm_up: Option<usize>,
    /// Monte-Carlo noise: samples of each sentence per iteration, 1 to 1000.
    pub samples: u32,
    /// Seed of the random numbers: of Monte-Carlo noise, and of the order of sentences in online
    /// training. Nothing else is random.
    pub seed: u64,
    /// Weight α of an unlabeled sentence in the noise term.
    pub unlabeled_weight: f64,
    /// Whether to keep attributes that occur only in unlabeled sentences.
    pub discover: bool,
    /// Whether to train attributes that always occur together as one parameter. The model is the
    /// same up to rounding; training is faster.
    pub collapse: bool,
    /// Attributes that occur at fewer tokens are dropped.
    pub min_count: u32,
    /// Maximum number of iterations; of online algorithms, of epochs. `None`: until convergence, or
    /// [`Algorithm::max_iterations`].
    pub max_iterations: Option<usize>,
    /// With development data: training stops after this many iterations without a better score.
    pub patience: usize,
    /// Subtracted from the score of the label `O` at every token when tagging, for labels that
    /// encode spans: above 0, recall rises and precision falls. `None`: the value with the best F1
    /// on development data, or 0 without such data. See [`crate::train`].
    pub recall_bias: Option<f64>,
    /// Precision of the weights in the model.
    pub precision: Precision,
    /// Attribute weights with a smaller absolute value are dropped from the model.
    #[serde(default)]
    pub prune: f64,
    /// Which label pairs, first labels and last labels have weights. `None`: as
    /// [`states`](field@TrainOptions::states).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transitions: Option<States>,
    /// Options of L-BFGS. Its `max_iterations` must be `None`: that of training counts.
    #[serde(skip_serializing_if = "is_default")]
    pub lbfgs: LbfgsOptions,
    /// The algorithm that trains the weights. Only [`Algorithm::Lbfgs`] has an L1 penalty, and only
    /// it and [`Algorithm::Sgd`] have noise and an L2 penalty.
    #[serde(skip_serializing_if = "is_default")]
    pub algorithm: Algorithm,
    /// Pairs of an attribute and a label, and pairs of labels, have no weight if their frequency in
    /// the training data is below this: the sum of the values of the attribute, or the number of
    /// pairs, each times the weight of the sentence. That is `feature.minfreq` of CRFsuite. `None`:
    /// no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_frequency: Option<f64>,
    /// What development data are for.
    #[serde(skip_serializing_if = "is_default")]
    pub dev_use: DevUse,
    /// Weight of a copy in lower case of every training sentence, relative to the sentence. Above
    /// 0, sentences whose case says nothing (no capitals, nothing but capitals, or every word
    /// capitalized) have attributes of their own, those of their words in lower case, and the
    /// copies teach their weights. 0: no copies.
    #[serde(skip_serializing_if = "is_default")]
    pub caseless: f64,
    /// What L-BFGS starts from. Not to be confused with [`warm_up`](field@TrainOptions::warm_up),
    /// iterations of L-BFGS itself.
    #[serde(skip_serializing_if = "is_default")]
    pub warm_start: WarmStart,
    /// What has a noise mask of its own. [`NoiseSharing::Inputs`] requires L-BFGS,
    /// [`Engine::Adjoint`], and [`NoiseKind::Dropout`] or [`NoiseKind::Gaussian`].
    #[serde(skip_serializing_if = "is_default")]
    pub noise_sharing: NoiseSharing,
    /// Trains a linear classifier with this loss, by iteratively reweighted least squares, instead
    /// of −log p(y|x): for sentences of one token and order 0. Of more than two labels, each is
    /// trained against the rest. Noise is that of inputs: one mask per attribute and sentence.
    /// `None`: −log p(y|x).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<Loss>,
    /// Number of hidden units: with a [`loss`](field@TrainOptions::loss), the classifier is linear
    /// in so many learned features σ(α·x + c) instead of x. The score of a document varies with
    /// the noise of its features as its expansion to first order does. Training starts at random
    /// weights ([`seed`](field@TrainOptions::seed)). 0: none, at most [`Defaults::MAX_HIDDEN`].
    #[serde(skip_serializing_if = "is_default")]
    pub hidden: usize,
    /// Divides the L2 strength of each node weight by r + ε, where ε above 0 is this number and r
    /// is how informative the attribute is of the label alone: the absolute log-ratio of its
    /// probabilities with and without the label (Wang and Manning, *Fast dropout training*,
    /// appendix A.3). `None`: all strengths are c2. In batch training of one process, in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l2_informativeness: Option<f64>,
}

/// What L-BFGS starts from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WarmStart {
    /// Weights of 0, or those of the models that training continues.
    #[default]
    Off,
    /// The weights after [`Defaults::WARM_START_PASSES`] passes of stochastic gradient descent over
    /// the sentences in random order, without noise and without the L1 penalty. The passes count as
    /// iterations. Training cannot continue a model then.
    Online,
}

crate::named!(WarmStart, "start": Off = "off", Online = "online");

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

/// Kind of feature noise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseKind {
    /// Quadratic approximation of dropout:
    /// [`NoiseDistribution::Dropout`](crate::objective::NoiseDistribution::Dropout).
    #[default]
    Dropout,
    /// Quadratic approximation of multiplicative noise:
    /// [`NoiseDistribution::Gaussian`](crate::objective::NoiseDistribution::Gaussian).
    Gaussian,
    /// Quadratic approximation of additive noise:
    /// [`NoiseDistribution::Additive`](crate::objective::NoiseDistribution::Additive).
    Additive,
    /// Sampled dropout: [`MonteCarlo`](crate::objective::MonteCarlo).
    MonteCarlo,
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
    /// The largest number of hidden units.
    pub const MAX_HIDDEN: usize = 256;
    /// Warm-up iterations.
    pub const WARM_UP: usize = 20;
    /// Monte-Carlo samples per sentence.
    pub const SAMPLES: u32 = 4;
    /// Strength of the L2 penalty of stochastic gradient descent without noise.
    pub const SGD_L2: f64 = 1.0;
    /// Warm-up epochs of stochastic gradient descent.
    pub const SGD_WARM_UP: usize = 5;
    /// Warm-up iterations after the passes of a warm start.
    pub const WARM_UP_AFTER_PASSES: usize = 10;
    /// Passes of a warm start.
    pub const WARM_START_PASSES: usize = 2;
    /// Random seed.
    pub const SEED: u64 = 1;
    /// Iterations without a better score before training stops.
    pub const PATIENCE: usize = 40;
}

impl Defaults {
    /// Returns the dropout rate of an algorithm.
    #[must_use]
    pub fn dropout(algorithm: &Algorithm) -> f64 {
        if algorithm.is_probabilistic() {
            Self::DROPOUT
        } else {
            0.0
        }
    }
}

/// Whether it is the default, which logs and models do not mention.
fn is_auto(choice: &PlainLabels) -> bool {
    *choice == PlainLabels::Auto
}

impl Default for TrainOptions {
    fn default() -> Self {
        Self {
            scheme: Scheme::Raw,
            plain_labels: PlainLabels::Auto,
            order: Order::One,
            boundary: Boundary::On,
            states: None,
            l2: None,
            l1: 0.0,
            noise: NoiseKind::Dropout,
            dropout: Defaults::DROPOUT,
            edge_dropout: None,
            gradient: Engine::Adjoint,
            warm_up: None,
            samples: Defaults::SAMPLES,
            seed: Defaults::SEED,
            unlabeled_weight: Defaults::UNLABELED_WEIGHT,
            discover: false,
            collapse: true,
            min_count: 1,
            max_iterations: None,
            patience: Defaults::PATIENCE,
            recall_bias: None,
            precision: Precision::F32,
            prune: 0.0,
            transitions: None,
            lbfgs: LbfgsOptions::default(),
            algorithm: Algorithm::Lbfgs,
            min_frequency: None,
            dev_use: DevUse::default(),
            caseless: 0.0,
            warm_start: WarmStart::default(),
            noise_sharing: NoiseSharing::default(),
            loss: None,
            hidden: 0,
            l2_informativeness: None,
        }
    }
}

impl TrainOptions {
    /// Returns which pairs of attribute and label have weights, given the number of labels.
    #[must_use]
    pub fn states_of(&self, labels: usize) -> States {
        // With a loss, all labels have a problem of their own.
        let is_many = labels > Defaults::MANY_LABELS && self.loss.is_none();
        self.states.unwrap_or(if is_many {
            States::Observed
        } else {
            States::All
        })
    }

    /// Returns the rate or variance for transitions, boundary weights and edge attributes.
    #[must_use]
    pub fn edge_noise(&self) -> f64 {
        self.edge_dropout.unwrap_or(match self.noise {
            NoiseKind::Dropout | NoiseKind::MonteCarlo => {
                (2.0 * self.dropout).min(Defaults::MAX_EDGE_DROPOUT.max(self.dropout))
            }
            NoiseKind::Gaussian | NoiseKind::Additive => self.dropout,
        })
    }

    /// Returns whether there is any noise.
    #[must_use]
    pub fn has_noise(&self) -> bool {
        self.dropout > 0.0 || self.edge_noise() > 0.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::online::SgdOptions;

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

    #[test]
    fn edges_have_twice_the_rate_below_a_limit_and_the_same_variance() {
        let edge = |noise, dropout| {
            let options = TrainOptions {
                noise,
                dropout,
                ..TrainOptions::default()
            };
            options.edge_noise()
        };
        assert_eq!(edge(NoiseKind::Dropout, 0.0), 0.0);
        assert_eq!(edge(NoiseKind::Dropout, 0.25), 0.5);
        assert_eq!(edge(NoiseKind::MonteCarlo, 0.5), 0.9);
        assert_eq!(edge(NoiseKind::Dropout, 0.95), 0.95);
        assert_eq!(edge(NoiseKind::Gaussian, 0.25), 0.25);
        let given = TrainOptions {
            edge_dropout: Some(0.1),
            ..TrainOptions::default()
        };
        assert_eq!(given.edge_noise(), 0.1);
    }

    fn any_options() -> impl Strategy<Value = TrainOptions> {
        let strength = 0.0..f64::MAX;
        let l2 = proptest::option::of(strength.clone());
        let noise = (
            0.0..1.0,
            proptest::option::of(0.0..1.0),
            strength.clone(),
            0..9_usize,
        );
        let switches = (any::<[bool; 6]>(), 0..Scheme::ALL.len());
        let counts = (1..=u32::MAX, any::<Option<usize>>(), 1..=usize::MAX);
        (l2, strength, noise, switches, counts).prop_map(
            |(l2, l1, noise, (on, scheme), (min_count, max_iterations, patience))| TrainOptions {
                scheme: Scheme::ALL[scheme],
                plain_labels: PlainLabels::ALL[scheme % 3],
                order: if on[0] { Order::One } else { Order::Zero },
                boundary: if on[1] { Boundary::On } else { Boundary::Off },
                states: on[2].then_some(States::Observed),
                l2,
                l1,
                noise: [NoiseKind::Gaussian, NoiseKind::MonteCarlo][usize::from(on[0])],
                dropout: noise.0,
                edge_dropout: noise.1,
                gradient: Engine::Window(noise.3),
                samples: min_count,
                seed: patience as u64,
                hidden: scheme,
                unlabeled_weight: noise.2,
                discover: on[5],
                collapse: on[3],
                min_count,
                max_iterations,
                patience,
                warm_up: max_iterations,
                recall_bias: noise.1,
                precision: if on[4] {
                    Precision::F32
                } else {
                    Precision::F64
                },
                prune: noise.2,
                caseless: noise.2,
                transitions: on[1].then_some(States::Observed),
                lbfgs: LbfgsOptions {
                    memory: patience,
                    ..LbfgsOptions::default()
                },
                algorithm: [
                    Algorithm::Lbfgs,
                    Algorithm::Sgd(SgdOptions {
                        eta: noise.2,
                        ..SgdOptions::default()
                    }),
                ][usize::from(on[2])],
                min_frequency: on[0].then_some(noise.2),
                dev_use: [DevUse::Choose, DevUse::Report][usize::from(on[3])],
                warm_start: [WarmStart::Off, WarmStart::Online][usize::from(on[4])],
                noise_sharing: [NoiseSharing::Weights, NoiseSharing::Inputs][usize::from(on[5])],
                loss: on[3].then_some(Loss::Hinge { margin: noise.2 }),
                l2_informativeness: on[4].then_some(noise.2),
            },
        )
    }

    proptest! {
        #[test]
        fn options_come_back_from_json(options in any_options()) {
            let text = serde_json::to_string(&options).unwrap();
            prop_assert_eq!(serde_json::from_str::<TrainOptions>(&text).unwrap(), options);
        }
    }
}
