//! How to train on documents. Groups of options are arguments of the commands, too: each option has
//! its name, type, default and help here.

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::{FeatureOptions, Loss, TableFeatures};
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

/// The target: a class or a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// The class of a document.
    #[default]
    Classes,
    /// A number.
    Numbers,
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
    /// [default: of classes 0.7, of numbers 0]
    ///
    /// There is none on the bias.
    #[arg(long, value_name = "RATE")]
    pub dropout: Option<f64>,
    /// Strength c2 of the L2 penalty c2·‖θ‖² [default: of classes 0.1 with noise, 0.3 without, of
    /// numbers 1]
    ///
    /// Two classes have the weights ±½w.
    #[arg(long, value_name = "C2")]
    pub l2: Option<f64>,
    /// Strength c1 of the L1 penalty c1·‖θ‖₁; above 0, many weights become exactly 0
    #[arg(long, default_value_t = 0.0, value_name = "C1")]
    pub l1: f64,
    /// Weight α of a document without a class, relative to one with a class.
    #[arg(skip = Self::default().unlabeled_weight)]
    pub unlabeled_weight: f64,
}

impl Default for Strengths {
    fn default() -> Self {
        Self { dropout: None, l2: None, l1: 0.0, unlabeled_weight: 0.2 }
    }
}

/// How models of classes and of numbers are trained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, Args)]
#[serde(default)]
pub struct LearningOptions {
    /// Kind of the noise; the last two are of softmax
    #[arg(
        long,
        value_enum,
        value_name = "KIND",
        default_value = "dropout",
        help_heading = "Regularization"
    )]
    pub noise: NoiseKind,
    /// Penalize the weights of features divided by their standard deviation
    #[arg(long, help_heading = "Regularization")]
    pub standardize: bool,
    /// Maximum number of iterations [default: none]
    #[arg(long, value_name = "N", help_heading = "Optimization")]
    pub max_iterations: Option<usize>,
    /// Stop when the objective falls by less than this fraction in ten iterations [default: 1e-5
    /// with --loss softmax or --hidden, 1e-6 with hinge and insensitive, else 1e-10]
    ///
    /// Without noise, that is how far losses with kinks are above the minimum.
    #[arg(long, value_name = "FRACTION", help_heading = "Optimization")]
    pub tolerance: Option<f64>,
}

/// The options of classifiers alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Args)]
#[serde(default)]
pub struct ClassOptions {
    /// Hidden units between features and score: learned features σ(α·x + c); with a loss other than
    /// softmax
    ///
    /// Training starts at random weights (--seed). More than two classes have N units each.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Model")]
    pub hidden: usize,
    /// More than two classes: one model of all, or one of each class against the rest, which is
    /// always so with a --loss other than softmax
    #[arg(long, value_enum, default_value = "softmax", help_heading = "Model")]
    pub multiclass: Multiclass,
    /// Ignore features that occur in fewer than N documents
    #[arg(long, default_value_t = 1, value_name = "N", help_heading = "Model")]
    pub min_count: usize,
    /// One dropout mask per weight, or one per input shared by all classes
    #[arg(
        long,
        value_enum,
        default_value = "weights",
        value_name = "WHAT",
        help_heading = "Regularization"
    )]
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
    /// Random seed of --noise monte-carlo, --hidden and --folds
    #[arg(long, value_name = "N", default_value_t = Self::default().seed,
          help_heading = "Optimization")]
    pub seed: u64,
}

impl Default for ClassOptions {
    fn default() -> Self {
        Self {
            hidden: 0,
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

/// The content of documents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DataOptions {
    /// The features of texts; `None` if documents come with features.
    pub features: Option<FeatureOptions>,
    /// The columns of tables that features come from; models record them for those who predict.
    pub table: Option<TableFeatures>,
    /// The column or key of the numbers to predict, if it has a name of its own.
    pub label: Option<String>,
    /// The training files, as named by the user.
    pub files: Vec<String>,
}

/// How to train on documents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DocumentOptions {
    /// The content of documents.
    #[serde(skip)]
    pub data: DataOptions,
    /// Classes, or numbers.
    pub task: Task,
    /// What is minimized.
    pub loss: Loss,
    /// The amount of noise and the strengths of the penalties.
    #[serde(flatten)]
    pub strengths: Strengths,
    /// How models are trained.
    #[serde(flatten)]
    pub learning: LearningOptions,
    /// The options of classifiers alone.
    #[serde(flatten)]
    pub classes: ClassOptions,
    /// Limits the memory of documents and of training.
    #[serde(skip)]
    pub memory: MemoryLimit,
}

/// Maximum number of hidden units.
const MAX_HIDDEN: usize = 256;

impl DocumentOptions {
    /// Classifiers of texts by the softmax loss with dropout.
    pub fn classes() -> Self {
        let features = Some(FeatureOptions::default());
        Self { data: DataOptions { features, ..DataOptions::default() }, ..Self::default() }
    }

    /// Least squares with a ridge, of documents that come with features.
    pub fn numbers() -> Self {
        Self { task: Task::Numbers, loss: Loss::Squared, ..Self::default() }
    }

    /// Returns these options with other strengths.
    pub(crate) fn with(&self, strengths: Strengths) -> Self {
        Self { strengths, ..self.clone() }
    }

    /// Returns the amount of noise: by default of classes the rate that folds of training documents
    /// chose most often.
    pub fn dropout(&self) -> f64 {
        self.strengths.dropout.unwrap_or(match self.task {
            Task::Numbers => 0.0,
            Task::Classes => 0.7,
        })
    }

    /// Returns c2.
    pub fn l2(&self) -> f64 {
        self.strengths.l2.unwrap_or(match self.task {
            Task::Numbers => 1.0,
            Task::Classes if self.noise().is_some() => 0.1,
            Task::Classes => 0.3,
        })
    }

    /// Returns the kind of the noise, if there is any.
    pub fn noise(&self) -> Option<NoiseKind> {
        (self.dropout() > 0.0).then_some(self.learning.noise)
    }

    /// Returns ρ or σ².
    pub(crate) fn noise_rate(&self) -> f64 {
        let amount = self.dropout();
        if self.learning.noise.is_gaussian() { amount } else { amount / (1.0 - amount) }
    }

    /// Returns the tolerance.
    pub(crate) fn tolerance(&self) -> f64 {
        self.learning.tolerance.unwrap_or(match self.loss {
            _ if self.stops_early() => 1e-5,
            loss if loss.has_kinks() => 1e-6,
            _ => 1e-10,
        })
    }

    /// Returns whether training stops before rounding stops it.
    pub(crate) fn stops_early(&self) -> bool {
        self.loss == Loss::Softmax || self.classes.hidden > 0
    }

    /// Checks that all options are in their ranges and fit one another.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] naming what does not fit.
    pub fn check(&self) -> Result<()> {
        let ClassOptions { hidden, samples, l2_informativeness, .. } = self.classes;
        self.loss.check(self.task == Task::Numbers)?;
        self.check_noise()?;
        for (name, number) in [
            ("unlabeled weight", self.strengths.unlabeled_weight),
            ("L2 strength", self.l2()),
            ("L1 strength", self.strengths.l1),
            ("tolerance", self.tolerance()),
        ] {
            if !(number.is_finite() && number >= 0.0) {
                let expected = "expected a finite number that is not negative";
                return Err(Error::parameter(format!("{name} {number}; {expected}")));
            }
        }
        self.data.features.map_or(Ok(()), |features| features.check())?;
        let message = if !(1..=1000).contains(&samples) {
            format!("{samples} samples; expected 1 to 1000")
        } else if hidden > MAX_HIDDEN {
            format!("{hidden} hidden units; expected at most {MAX_HIDDEN}")
        } else if let Some(epsilon) = l2_informativeness.filter(|e| !(e.is_finite() && *e > 0.0)) {
            format!("L2 informativeness {epsilon}; expected a finite number above 0")
        } else {
            return self.check_loss();
        };
        Err(Error::parameter(message))
    }

    fn check_noise(&self) -> Result<()> {
        let amount = self.dropout();
        let (is_in_range, expected) = match self.learning.noise.is_gaussian() {
            true => (amount.is_finite(), "a finite variance"),
            false => (amount < 1.0, "a dropout rate below 1"),
        };
        match amount >= 0.0 && is_in_range {
            true => Ok(()),
            false => Err(Error::parameter(format!(
                "noise of {amount}; expected {expected} that is not negative"
            ))),
        }
    }

    /// Checks that other options fit the loss.
    fn check_loss(&self) -> Result<()> {
        let is_softmax = self.loss == Loss::Softmax;
        let has_hidden = self.classes.hidden > 0;
        let kind = self.noise();
        let is_of_softmax = matches!(kind, Some(NoiseKind::GaussianScores | NoiseKind::MonteCarlo));
        let is_additive = kind == Some(NoiseKind::Additive);
        let (what, expected) = if is_softmax && has_hidden {
            ("with `hidden` units", "`loss` hinge, logistic or squared")
        } else if !is_softmax && is_of_softmax {
            ("with `noise` of this kind", "dropout, gaussian or additive")
        } else if has_hidden && self.strengths.l1 > 0.0 {
            ("with hidden units and an L1 penalty", "`l1` 0")
        } else if has_hidden && is_additive {
            ("with hidden units and additive noise", "`noise` dropout or gaussian")
        } else if !is_softmax && self.classes.l2_informativeness.is_some() {
            ("with L2 strengths by informativeness", "strengths that are all alike")
        } else if is_additive && self.classes.masks == Masks::Inputs {
            ("with additive noise and masks of inputs", "`masks` weights")
        } else {
            return Ok(());
        };
        let message = format!("the {} loss {what}; expected {expected}", self.loss.name());
        Err(Error::parameter(message))
    }
}

impl NoiseKind {
    /// Returns whether its amount is a variance.
    fn is_gaussian(self) -> bool {
        matches!(self, Self::Gaussian | Self::Additive)
    }
}
