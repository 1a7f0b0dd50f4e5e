//! The parameters of training.

use serde::{Deserialize, Serialize};

use crate::chain::Order;
use crate::error::{Error, Result};
use crate::label::Scheme;
use crate::model::Precision;
use crate::noise::Engine;
use crate::objective::{MonteCarlo, Noise, NoiseDistribution};
use crate::score::{Boundary, States};

/// Most samples of a sentence. Errors fall with their root and time does not: more is a typing error.
const MAX_SAMPLES: u32 = 1000;

/// The parameters of training, checked by [`Trainer::new`](super::Trainer::new) and stored in the
/// model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrainOptions {
    /// Scheme that the labels are brought to before training; [`Scheme::Raw`] leaves them as they
    /// are.
    pub scheme: Scheme,
    /// Order of the chain.
    pub order: Order,
    /// Boundary weights.
    pub boundary: Boundary,
    /// Pairs of attribute and label that have weights.
    pub states: States,
    /// Strength c2 of the L2 penalty c2·‖θ‖² (c2 = 1/(2C) of CRF++, 1/(2σ²) of Stanford NER). The default
    /// is for training with noise; without it [`Defaults::L2`] is the better choice.
    pub l2: f64,
    /// Strength c1 of the L1 penalty c1·‖θ‖₁.
    pub l1: f64,
    /// How features are noised.
    pub noise: NoiseKind,
    /// How much: the rate δ of dropout, or the variance σ² of Gaussian noise; 0 is no noise.
    pub dropout: f64,
    /// The same for transitions, boundary weights and edge attributes. None: twice `dropout`, at most
    /// [`Defaults::MAX_EDGE_DROPOUT`], or what `dropout` is where that is a variance.
    pub edge_dropout: Option<f64>,
    /// How the gradient of the noise term is computed. Monte-Carlo noise has only one way, and wants
    /// the default here.
    pub gradient: Engine,
    /// Iterations without noise before those with it. R is not convex: from weights that are all 0 it keeps
    /// rare attributes from ever getting any. None: [`Defaults::WARM_UP`], or half of `max_iterations`
    /// where that is less. Without noise it means nothing.
    pub warm_up: Option<usize>,
    /// Samples of every sentence in every iteration, under Monte-Carlo noise; 1 to 1000.
    pub samples: u32,
    /// Where the random numbers of Monte-Carlo noise start from. Nothing else is random.
    pub seed: u64,
    /// Weight α of an unlabeled sentence in the noise term.
    pub unlabeled_weight: f64,
    /// Whether attributes that only unlabeled sentences have are kept.
    pub discover: bool,
    /// Whether attributes that always occur together are trained as one parameter. The model is the
    /// same up to rounding; training is faster.
    pub collapse: bool,
    /// Attributes that occur at fewer tokens are left out.
    pub min_count: u32,
    /// Largest number of iterations; none: until convergence.
    pub max_iterations: Option<usize>,
    /// With development data: iterations without a better score before training stops.
    pub patience: usize,
    /// What the score of the label `O` is lowered by at every token of a tagged text, for labels that
    /// write spans: above 0, more spans are found, and more wrong ones. None: what gives the best F1 on
    /// development data, 0 without such data. See [`crate::train`].
    pub recall_bias: Option<f64>,
    /// How weights are stored in the model.
    pub precision: Precision,
    /// Weights of attributes that are nearer to 0 than this are left out of the model.
    #[serde(default)]
    pub prune: f64,
}

/// How features are noised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseKind {
    /// Simulated dropout: [`NoiseDistribution::Dropout`].
    #[default]
    Dropout,
    /// Simulated multiplicative noise: [`NoiseDistribution::Gaussian`].
    Gaussian,
    /// Simulated additive noise: [`NoiseDistribution::Additive`].
    Additive,
    /// Features really dropped, at random: [`MonteCarlo`].
    MonteCarlo,
}

/// The noise term of an objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NoiseTerm {
    /// The quadratic regularizer.
    Quadratic(Noise),
    /// Real samples.
    Sampled(MonteCarlo),
}

/// The defaults of [`TrainOptions`], for all who show them.
pub struct Defaults;

impl Defaults {
    /// Strength of the L2 penalty without noise.
    pub const L2: f64 = 0.3;
    /// Strength of the L2 penalty beside noise.
    pub const L2_WITH_NOISE: f64 = 0.1;
    /// Rate of dropout.
    pub const DROPOUT: f64 = 0.3;
    /// The most that the rate for edges is if it is not given.
    pub const MAX_EDGE_DROPOUT: f64 = 0.9;
    /// Weight of an unlabeled sentence.
    pub const UNLABELED_WEIGHT: f64 = 0.2;
    /// Iterations without noise before those with it.
    pub const WARM_UP: usize = 20;
    /// Samples of a sentence.
    pub const SAMPLES: u32 = 4;
    /// Where random numbers start from.
    pub const SEED: u64 = 1;
    /// Iterations without a better score.
    pub const PATIENCE: usize = 40;
}

impl Default for TrainOptions {
    fn default() -> Self {
        Self {
            scheme: Scheme::Raw,
            order: Order::One,
            boundary: Boundary::On,
            states: States::All,
            l2: Defaults::L2_WITH_NOISE,
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
        }
    }
}

impl TrainOptions {
    pub(crate) fn check(&self) -> Result<()> {
        for (name, strength) in [("L2", self.l2), ("L1", self.l1)] {
            if !strength.is_finite() || strength < 0.0 {
                return Err(Error::parameter(format!(
                    "{name} strength {strength}; expected a finite number that is not negative"
                )));
            }
        }
        let rates = [
            ("dropout", Some(self.dropout)),
            ("edge dropout", self.edge_dropout),
        ];
        for (name, rate) in rates {
            self.check_rate(name, rate.unwrap_or(0.0))?;
        }
        self.check_monte_carlo()?;
        if !self.prune.is_finite() || self.prune < 0.0 {
            return Err(Error::parameter(format!(
                "pruning below {}; expected a finite number that is not negative",
                self.prune
            )));
        }
        if !self.unlabeled_weight.is_finite() || self.unlabeled_weight < 0.0 {
            return Err(Error::parameter(format!(
                "unlabeled weight {}; expected a finite number that is not negative",
                self.unlabeled_weight
            )));
        }
        if let Some(bias) = self.recall_bias
            && !bias.is_finite()
        {
            return Err(Error::parameter(format!(
                "recall bias {bias}; expected a finite number"
            )));
        }
        if self.min_count == 0 || self.patience == 0 {
            let name = if self.min_count == 0 {
                "minimum count"
            } else {
                "patience"
            };
            return Err(Error::parameter(format!("{name} 0; expected 1 or more")));
        }
        Ok(())
    }
}

impl TrainOptions {
    fn check_rate(&self, name: &str, rate: f64) -> Result<()> {
        let (range, is_valid) = match self.noise {
            NoiseKind::Dropout | NoiseKind::MonteCarlo => {
                ("a rate from 0 up to, not including, 1", rate < 1.0)
            }
            NoiseKind::Gaussian | NoiseKind::Additive => (
                "a variance: a finite number that is not negative",
                rate.is_finite(),
            ),
        };
        if is_valid && rate >= 0.0 {
            return Ok(());
        }
        Err(Error::parameter(format!("{name} {rate}; expected {range}")))
    }

    fn check_monte_carlo(&self) -> Result<()> {
        if !(1..=MAX_SAMPLES).contains(&self.samples) {
            return Err(Error::parameter(format!(
                "{} samples; expected 1 to {MAX_SAMPLES}",
                self.samples
            )));
        }
        if self.noise == NoiseKind::MonteCarlo && self.gradient != Engine::Adjoint {
            return Err(Error::parameter(format!(
                "gradient '{}' with monte-carlo noise; expected no choice of gradient: that of \
                 dropped features is exact, and there is only one",
                self.gradient
            )));
        }
        Ok(())
    }

    /// Iterations without noise before those with it; 0 without noise.
    pub(super) fn warm_up(&self) -> usize {
        if self.noise().is_none() {
            return 0;
        }
        let half = self.max_iterations.map_or(usize::MAX, |n| n / 2);
        self.warm_up.unwrap_or(Defaults::WARM_UP.min(half))
    }

    /// The rate or variance for transitions, boundary weights and edge attributes.
    #[must_use]
    pub fn edge_noise(&self) -> f64 {
        self.edge_dropout.unwrap_or(match self.noise {
            NoiseKind::Dropout | NoiseKind::MonteCarlo => {
                (2.0 * self.dropout).min(Defaults::MAX_EDGE_DROPOUT.max(self.dropout))
            }
            NoiseKind::Gaussian | NoiseKind::Additive => self.dropout,
        })
    }

    /// The noise term; none where there is no noise.
    pub(super) fn noise(&self) -> Option<NoiseTerm> {
        let edge = self.edge_noise();
        if self.dropout <= 0.0 && edge <= 0.0 {
            return None;
        }
        let quadratic = |distribution| {
            NoiseTerm::Quadratic(Noise {
                distribution,
                node: self.dropout,
                edge,
                engine: self.gradient,
                unlabeled_weight: self.unlabeled_weight,
            })
        };
        Some(match self.noise {
            NoiseKind::Dropout => quadratic(NoiseDistribution::Dropout),
            NoiseKind::Gaussian => quadratic(NoiseDistribution::Gaussian),
            NoiseKind::Additive => quadratic(NoiseDistribution::Additive),
            NoiseKind::MonteCarlo => NoiseTerm::Sampled(MonteCarlo {
                node: self.dropout,
                edge,
                samples: self.samples,
                seed: self.seed,
                unlabeled_weight: self.unlabeled_weight,
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fault(change: impl FnOnce(&mut TrainOptions)) -> String {
        let mut options = TrainOptions::default();
        change(&mut options);
        options.check().unwrap_err().to_string()
    }

    #[test]
    fn parameters_without_meaning_are_named() {
        assert!(TrainOptions::default().check().is_ok());
        assert_eq!(
            fault(|o| o.l2 = -1.0),
            "L2 strength -1; expected a finite number that is not negative"
        );
        assert_eq!(
            fault(|o| o.l1 = f64::NAN),
            "L1 strength NaN; expected a finite number that is not negative"
        );
        assert_eq!(
            fault(|o| o.recall_bias = Some(f64::INFINITY)),
            "recall bias inf; expected a finite number"
        );
        assert_eq!(
            fault(|o| o.prune = f64::INFINITY),
            "pruning below inf; expected a finite number that is not negative"
        );
        assert_eq!(fault(|o| o.patience = 0), "patience 0; expected 1 or more");
        assert_eq!(
            fault(|o| o.min_count = 0),
            "minimum count 0; expected 1 or more"
        );
    }

    #[test]
    fn a_rate_of_dropout_is_below_1_and_a_variance_is_finite() {
        let expected = "expected a rate from 0 up to, not including, 1";
        assert_eq!(fault(|o| o.dropout = 1.0), format!("dropout 1; {expected}"));
        assert_eq!(
            fault(|o| o.edge_dropout = Some(-0.5)),
            format!("edge dropout -0.5; {expected}")
        );
        assert_eq!(
            fault(|o| (o.noise, o.dropout) = (NoiseKind::Additive, f64::INFINITY)),
            "dropout inf; expected a variance: a finite number that is not negative"
        );
        assert_eq!(
            fault(|o| o.unlabeled_weight = -0.1),
            "unlabeled weight -0.1; expected a finite number that is not negative"
        );
    }

    #[test]
    fn monte_carlo_noise_wants_some_samples_and_no_engine() {
        assert_eq!(fault(|o| o.samples = 0), "0 samples; expected 1 to 1000");
        assert_eq!(
            fault(|o| o.samples = 1001),
            "1001 samples; expected 1 to 1000"
        );
        assert_eq!(
            fault(|o| (o.noise, o.gradient) = (NoiseKind::MonteCarlo, Engine::Local)),
            "gradient 'local' with monte-carlo noise; expected no choice of gradient: that of \
             dropped features is exact, and there is only one"
        );
        assert_eq!(
            fault(|o| (o.noise, o.dropout) = (NoiseKind::MonteCarlo, 1.0)),
            "dropout 1; expected a rate from 0 up to, not including, 1"
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
        let noise = (
            0.0..1.0,
            proptest::option::of(0.0..1.0),
            strength.clone(),
            0..9_usize,
        );
        let switches = (any::<[bool; 6]>(), 0..Scheme::ALL.len());
        let counts = (1..=u32::MAX, any::<Option<usize>>(), 1..=usize::MAX);
        (strength.clone(), strength, noise, switches, counts).prop_map(
            |(l2, l1, noise, (on, scheme), (min_count, max_iterations, patience))| TrainOptions {
                scheme: Scheme::ALL[scheme],
                order: if on[0] { Order::One } else { Order::Zero },
                boundary: if on[1] { Boundary::On } else { Boundary::Off },
                states: if on[2] { States::All } else { States::Observed },
                l2,
                l1,
                noise: [NoiseKind::Gaussian, NoiseKind::MonteCarlo][usize::from(on[0])],
                dropout: noise.0,
                edge_dropout: noise.1,
                gradient: Engine::Window(noise.3),
                samples: min_count,
                seed: patience as u64,
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
