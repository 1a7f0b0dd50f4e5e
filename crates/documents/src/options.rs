//! How to train on documents. Groups of options are arguments of the commands, too: each option has
//! its name, type, default and help here.

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::{FeatureOptions, Loss};
use dropchain::kernel::train::check_not_negative;
use dropchain::{Error, MemoryLimit, Result};

/// One classifier of all classes, or one for each class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Multiclass {
    /// One model of all classes: p(y) ∝ exp(score of y)
    #[default]
    Softmax,
    /// A model of each class against the rest: p(y) ∝ σ(score of y)
    OneVsRest,
}

/// Kind of feature noise. The bias has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseKind {
    /// Features are dropped; those that remain grow by 1/(1 − rate)
    #[default]
    Dropout,
    /// Features are multiplied by Gaussian numbers with mean 1
    Gaussian,
    /// Gaussian numbers with mean 0 are added to all features
    Additive,
    /// Dropout in expectation over Gaussian scores (fast dropout), of more than two classes by the
    /// unscented transform
    GaussianScores,
    /// Dropout by random sampling, slower, for comparison
    MonteCarlo,
}

/// Which scores share a dropout mask. Those of losses of y·f always do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Masks {
    /// Nothing: a mask per weight
    #[default]
    Weights,
    /// All classes: a mask per feature
    Inputs,
}

/// The amount of noise and the strengths of the penalties: what a search tries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Args)]
#[command(next_help_heading = "Regularization")]
#[serde(default)]
pub struct Strengths {
    /// Amount of feature noise: the dropout rate, or the variance of Gaussian noise; 0 for none
    ///
    /// There is none on the bias.
    #[arg(long, value_name = "RATE", default_value_t = Self::default().dropout)]
    pub dropout: f64,
    /// Strength c2 of the L2 penalty c2·‖θ‖² [default: 0.1 with noise, 0.3 without]
    ///
    /// Two classes have the weights ±½w.
    #[arg(long, value_name = "C2")]
    pub l2: Option<f64>,
    /// Strength c1 of the L1 penalty c1·‖θ‖₁; above 0, many weights become exactly 0
    #[arg(long, default_value_t = 0.0, value_name = "C1")]
    pub l1: f64,
    /// Weight of an unlabeled document, relative to a labeled one
    #[arg(long, value_name = "ALPHA", default_value_t = Self::default().unlabeled_weight,
          requires = "unlabeled", help_heading = "Unlabeled documents")]
    pub unlabeled_weight: f64,
}

impl Default for Strengths {
    /// The rate is the one that folds of training documents chose most often.
    fn default() -> Self {
        Self { dropout: 0.7, l2: None, l1: 0.0, unlabeled_weight: 0.2 }
    }
}

/// How a classifier is trained, but for what a search tries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Args)]
#[serde(default)]
pub struct LearningOptions {
    /// What is minimized: −log p(class) of all classes at once, or a loss of y·score with y = ±1
    ///
    /// Under noise, the last three are minimized as bounds of their expectations. More than two
    /// classes are then one model of each class against the rest. Probabilities of hinge and
    /// squared are not calibrated.
    #[arg(long, value_enum, default_value = "softmax", help_heading = "Model")]
    pub loss: Loss,
    /// Kind of the noise; the last two are of softmax
    #[arg(long, value_enum, value_name = "KIND", default_value_t, help_heading = "Regularization")]
    pub noise: NoiseKind,
    /// Maximum number of iterations [default: none]
    #[arg(long, value_name = "N", help_heading = "Optimization")]
    pub max_iterations: Option<usize>,
    /// Stop when the objective falls by less than this fraction in ten iterations [default: 1e-5
    /// with --loss softmax, 1e-6 with hinge, else 1e-10]
    ///
    /// Without noise, that is how far hinge is above the minimum.
    #[arg(long, value_name = "FRACTION", help_heading = "Optimization")]
    pub tolerance: Option<f64>,
    /// More than two classes: one model of all, or one of each class against the rest, which is
    /// always so with a --loss other than softmax
    #[arg(long, value_enum, default_value = "softmax", help_heading = "Model")]
    pub multiclass: Multiclass,
    /// Ignore features that occur in fewer than N documents
    #[arg(long, default_value_t = 1, value_name = "N", help_heading = "Model")]
    pub min_count: usize,
    /// One dropout mask per weight, or one per input shared by all classes
    #[arg(long, value_enum, value_name = "WHAT", default_value_t, help_heading = "Regularization")]
    pub masks: Masks,
    /// Samples per document and iteration of --noise monte-carlo, 1 to 1000
    #[arg(long, value_name = "N", default_value_t = Self::default().samples,
          help_heading = "Regularization")]
    pub samples: usize,
    /// Divide the L2 strength of a feature and class by r + EPS, where r is the absolute log-ratio
    /// of the probabilities of the feature with and without the class
    ///
    /// Features that say little by themselves get small weights (Wang and Manning, Fast dropout
    /// training, 2013, appendix A.3).
    #[arg(long, value_name = "EPS", help_heading = "Regularization")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l2_informativeness: Option<f64>,
    /// Penalize the bias of each class like the weights of features
    ///
    /// By default it has no penalty, so that the shares of the classes do not depend on --l2.
    #[arg(long, help_heading = "Regularization")]
    pub penalize_bias: bool,
    /// Stop after N iterations without a better accuracy on --dev
    #[arg(long, value_name = "N", default_value_t = Self::default().patience,
          help_heading = "Optimization")]
    pub patience: usize,
    /// Random seed of --noise monte-carlo and --folds
    #[arg(long, value_name = "N", default_value_t = Self::default().seed,
          help_heading = "Optimization")]
    pub seed: u64,
}

impl Default for LearningOptions {
    fn default() -> Self {
        Self {
            loss: Loss::default(),
            noise: NoiseKind::default(),
            max_iterations: None,
            tolerance: None,
            multiclass: Multiclass::default(),
            min_count: 1,
            masks: Masks::default(),
            samples: 4,
            l2_informativeness: None,
            penalize_bias: false,
            patience: 40,
            seed: 1,
        }
    }
}

/// How to train on documents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DocumentOptions {
    /// The features of texts; `None` if documents come with features.
    #[serde(skip)]
    pub features: Option<FeatureOptions>,
    /// The amount of noise and the strengths of the penalties.
    #[serde(flatten)]
    pub strengths: Strengths,
    /// How the classifier is trained.
    #[serde(flatten)]
    pub learning: LearningOptions,
    /// Limits the memory of documents and of training.
    #[serde(skip)]
    pub memory: MemoryLimit,
}

impl DocumentOptions {
    /// Classifiers of texts by the softmax loss with dropout.
    pub fn texts() -> Self {
        Self { features: Some(FeatureOptions::default()), ..Self::default() }
    }

    /// Returns c2.
    pub fn l2(&self) -> f64 {
        self.strengths.l2.unwrap_or(if self.noise().is_some() { 0.1 } else { 0.3 })
    }

    /// Returns the kind of the noise, if there is any.
    pub fn noise(&self) -> Option<NoiseKind> {
        (self.strengths.dropout > 0.0).then_some(self.learning.noise)
    }

    /// Returns the tolerance.
    pub(crate) fn tolerance(&self) -> f64 {
        self.learning.tolerance.unwrap_or(match self.learning.loss {
            Loss::Softmax => 1e-5,
            Loss::Hinge => 1e-6,
            _ => 1e-10,
        })
    }

    /// Checks that all options are in their ranges and fit one another.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] naming what does not fit.
    pub fn check(&self) -> Result<()> {
        let LearningOptions { loss, masks, samples, l2_informativeness, .. } = self.learning;
        let amount = self.strengths.dropout;
        let (is_in_range, expected) = match self.learning.noise.is_gaussian() {
            true => (amount.is_finite(), "a finite variance"),
            false => (amount < 1.0, "a dropout rate below 1"),
        };
        if !(amount >= 0.0 && is_in_range) {
            let message = format!("noise of {amount}; expected {expected} that is not negative");
            return Err(Error::parameter(message));
        }
        for (name, number) in [
            ("unlabeled weight", self.strengths.unlabeled_weight),
            ("L2 strength", self.l2()),
            ("L1 strength", self.strengths.l1),
            ("tolerance", self.tolerance()),
        ] {
            check_not_negative(name, number)?;
        }
        let is_empty = |f: FeatureOptions| f.words.is_none() && f.chars.is_none();
        let of_loss = |what: &str| format!("the {} loss with {what}", loss.name());
        let (is_softmax, kind) = (loss == Loss::Softmax, self.noise());
        let is_of_softmax = matches!(kind, Some(NoiseKind::GaussianScores | NoiseKind::MonteCarlo));
        Err(Error::parameter(if self.features.is_some_and(is_empty) {
            "there are no features; expected n-grams of words or of characters".to_owned()
        } else if !(1..=1000).contains(&samples) {
            format!("{samples} samples; expected 1 to 1000")
        } else if let Some(epsilon) = l2_informativeness.filter(|e| !(e.is_finite() && *e > 0.0)) {
            format!("L2 informativeness {epsilon}; expected a finite number above 0")
        } else if !is_softmax && is_of_softmax {
            of_loss("`noise` of this kind; expected dropout, gaussian or additive")
        } else if !is_softmax && l2_informativeness.is_some() {
            of_loss("L2 strengths by informativeness; expected strengths that are all alike")
        } else if kind == Some(NoiseKind::Additive) && masks == Masks::Inputs {
            of_loss("additive noise and masks of inputs; expected `masks` weights")
        } else {
            return Ok(());
        }))
    }
}

impl NoiseKind {
    /// Returns whether its amount is a variance.
    pub(crate) fn is_gaussian(self) -> bool {
        matches!(self, Self::Gaussian | Self::Additive)
    }
}
