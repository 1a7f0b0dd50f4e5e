//! How to train on documents.

use serde::{Deserialize, Serialize};

use crate::{FeatureOptions, Loss, TableFeatures};
use dropchain::error::{Error, Result};
use dropchain::memory::MemoryLimit;

/// How several classes are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Multiclass {
    /// One model: p(y) ∝ exp(score of y).
    #[default]
    Softmax,
    /// A model for each class against the others: p(y) ∝ σ(score of y).
    OneVsRest,
}

/// What is predicted.
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseKind {
    /// Features are dropped with a rate; those that remain grow by 1/(1 − rate).
    #[default]
    Dropout,
    /// Features are multiplied by Gaussian numbers with mean 1 and this variance.
    Gaussian,
    /// Gaussian numbers with mean 0 and this variance are added to all features.
    Additive,
    /// Dropout with scores that are Gaussian: fast dropout, of the softmax loss.
    GaussianScores,
    /// Dropout by sampling, of the softmax loss.
    MonteCarlo,
}

/// Noise on features.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Noise {
    /// Kind of the noise.
    #[serde(rename = "noise")]
    pub kind: NoiseKind,
    /// The rate of dropout, or the variance of Gaussian numbers; 0 is no noise.
    #[serde(rename = "dropout")]
    pub amount: f64,
    /// Whether all classes share a mask of a feature, or each weight has one of its own. Losses of
    /// y·f always share them.
    pub shared_masks: bool,
    /// Samples of a document per iteration of [`NoiseKind::MonteCarlo`], 1 to 1000.
    pub samples: usize,
    /// Weight α of a document without a class, relative to one with a class.
    pub unlabeled_weight: f64,
}

impl Default for Noise {
    fn default() -> Self {
        Self {
            kind: NoiseKind::default(),
            amount: 0.0,
            shared_masks: false,
            samples: 4,
            unlabeled_weight: 0.2,
        }
    }
}

impl Noise {
    /// Dropout of this rate.
    pub fn dropout(rate: f64) -> Self {
        Self { amount: rate, ..Self::default() }
    }

    /// Returns whether there is any.
    pub fn is_on(&self) -> bool {
        self.amount > 0.0
    }

    /// Returns ρ or σ².
    pub(crate) fn rate(&self) -> f64 {
        match self.kind {
            NoiseKind::Gaussian | NoiseKind::Additive => self.amount,
            _ => self.amount / (1.0 - self.amount),
        }
    }

    fn check(&self) -> Result<()> {
        let amount = self.amount;
        let (is_in_range, expected) = match self.kind {
            NoiseKind::Gaussian | NoiseKind::Additive => (amount.is_finite(), "a finite variance"),
            _ => (amount < 1.0, "a dropout rate below 1"),
        };
        let message = if !(amount >= 0.0 && is_in_range) {
            format!("noise of {amount}; expected {expected} that is not negative")
        } else if !(1..=1000).contains(&self.samples) {
            format!("{} samples; expected 1 to 1000", self.samples)
        } else {
            return check_not_negative("unlabeled weight", self.unlabeled_weight);
        };
        Err(Error::parameter(message))
    }
}

/// The penalties on weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Penalties {
    /// Strength c2 of the penalty c2·‖θ‖²; of classes, two have the weights ±½w, and `None` is 0.1
    /// with noise, 0.3 without. `None` of numbers is 1.
    pub l2: Option<f64>,
    /// Strength c1 of the penalty c1·‖θ‖₁.
    pub l1: f64,
    /// Divides the L2 strength of each weight by r + ε, where ε above 0 is this number and r is how
    /// informative the feature is of the class alone: the absolute log-ratio of its probabilities
    /// with and without the class (Wang and Manning, *Fast dropout training*, appendix A.3). Of the
    /// softmax loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l2_informativeness: Option<f64>,
    /// Whether penalties are those of the weights of features divided by their standard deviation.
    pub standardize: bool,
    /// Whether the bias is penalized like the weights of features. That of numbers never is.
    pub penalize_bias: bool,
}

/// How long training lasts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Course {
    /// The maximum number of iterations.
    pub max_iterations: Option<usize>,
    /// Training ends when the objective falls by less than this fraction in ten iterations. `None`:
    /// 1e-5 for the softmax loss and hidden units, 1e-6 for losses with kinks, else 1e-10, at the
    /// minimum. Without noise, that is how far losses with kinks are above the minimum.
    pub tolerance: Option<f64>,
    /// Iterations without a better accuracy on development documents before training ends.
    pub patience: usize,
    /// Seed of sampled noise and of the start of hidden units.
    pub seed: u64,
}

impl Default for Course {
    fn default() -> Self {
        Self { max_iterations: None, tolerance: None, patience: 40, seed: 1 }
    }
}

/// What is learned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelOptions {
    /// Classes, or numbers.
    pub task: Task,
    /// What is minimized.
    pub loss: Loss,
    /// How several classes are told apart. Two classes are always one model, and more than two with
    /// another loss than softmax always one of each class against the rest.
    pub multiclass: Multiclass,
    /// Number of hidden units of each score: with a loss of y·f, it is linear in so many learned
    /// features σ(α·x + c) instead of x. 0: none, at most 256.
    pub hidden: usize,
    /// Features that occur in fewer documents are ignored.
    pub min_count: usize,
}

/// What documents consist of.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DataOptions {
    /// The features of texts; `None` if documents come with features.
    pub features: Option<FeatureOptions>,
    /// The columns of tables that features come from; recorded for those who predict.
    pub table: Option<TableFeatures>,
    /// The column or key of the numbers to predict, if it has a name of its own; recorded.
    pub label: Option<String>,
    /// The files that documents come from; recorded.
    pub files: Vec<String>,
}

/// How to train on documents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DocumentOptions {
    /// What documents consist of.
    #[serde(skip)]
    pub data: DataOptions,
    /// What is learned.
    #[serde(flatten)]
    pub model: ModelOptions,
    /// Noise on features.
    #[serde(flatten)]
    pub noise: Noise,
    /// The penalties.
    #[serde(flatten)]
    pub penalties: Penalties,
    /// How long training lasts.
    #[serde(flatten)]
    pub course: Course,
    /// Limits the memory of documents and of training.
    #[serde(skip)]
    pub memory: MemoryLimit,
}

/// Maximum number of hidden units.
const MAX_HIDDEN: usize = 256;

impl DocumentOptions {
    /// Default of the rate of dropout of classifiers: the one that folds of training documents
    /// chose most often.
    pub const DROPOUT: f64 = 0.7;

    /// Classifiers of texts by the softmax loss with dropout.
    pub fn classes() -> Self {
        Self {
            data: DataOptions {
                features: Some(FeatureOptions::default()),
                ..DataOptions::default()
            },
            noise: Noise::dropout(Self::DROPOUT),
            ..Self::default()
        }
    }

    /// Least squares with a ridge, of documents that come with features.
    pub fn numbers() -> Self {
        let model =
            ModelOptions { task: Task::Numbers, loss: Loss::Squared, ..ModelOptions::default() };
        Self { model, ..Self::default() }
    }

    /// Returns c2.
    pub fn l2(&self) -> f64 {
        self.penalties.l2.unwrap_or(match self.model.task {
            Task::Numbers => 1.0,
            Task::Classes if self.noise.is_on() => 0.1,
            Task::Classes => 0.3,
        })
    }

    /// Returns the tolerance.
    pub(crate) fn tolerance(&self) -> f64 {
        let is_early = self.model.loss == Loss::Softmax || self.model.hidden > 0;
        self.course.tolerance.unwrap_or(match self.model.loss.has_kinks() {
            _ if is_early => 1e-5,
            true => 1e-6,
            false => 1e-10,
        })
    }

    /// Checks that all options are in their ranges and fit one another.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] naming what does not fit.
    pub fn check(&self) -> Result<()> {
        let hidden = self.model.hidden;
        self.model.loss.check(self.model.task == Task::Numbers)?;
        self.noise.check()?;
        check_not_negative("L2 strength", self.l2())?;
        check_not_negative("L1 strength", self.penalties.l1)?;
        check_not_negative("tolerance", self.tolerance())?;
        self.data.features.map_or(Ok(()), |features| features.check())?;
        match self.penalties.l2_informativeness {
            Some(epsilon) if !(epsilon.is_finite() && epsilon > 0.0) => Err(Error::parameter(
                format!("L2 informativeness {epsilon}; expected a finite number above 0"),
            )),
            _ if hidden > MAX_HIDDEN => Err(Error::parameter(format!(
                "{hidden} hidden units; expected at most {MAX_HIDDEN}"
            ))),
            _ => self.check_loss(),
        }
    }

    /// Checks that other options fit the loss.
    fn check_loss(&self) -> Result<()> {
        let (loss, penalties, noise) = (self.model.loss, &self.penalties, &self.noise);
        let kind = noise.is_on().then_some(noise.kind);
        let is_softmax = loss == Loss::Softmax;
        let is_of_softmax = matches!(kind, Some(NoiseKind::GaussianScores | NoiseKind::MonteCarlo));
        let is_additive = kind == Some(NoiseKind::Additive);
        let (what, expected) = if is_softmax && self.model.hidden > 0 {
            ("with `hidden` units", "`loss` hinge, logistic or squared")
        } else if !is_softmax && is_of_softmax {
            ("with `noise` of this kind", "dropout, gaussian or additive")
        } else if self.model.hidden > 0 && penalties.l1 > 0.0 {
            ("with hidden units and an L1 penalty", "`l1` 0")
        } else if !is_softmax && penalties.l2_informativeness.is_some() {
            ("with L2 strengths by informativeness", "strengths that are all alike")
        } else if is_additive && noise.shared_masks {
            ("with additive noise and masks of inputs", "`masks` weights")
        } else {
            return Ok(());
        };
        let message = format!("the {} loss {what}; expected {expected}", loss.name());
        Err(Error::parameter(message))
    }
}

fn check_not_negative(name: &str, number: f64) -> Result<()> {
    match number.is_finite() && number >= 0.0 {
        true => Ok(()),
        false => Err(Error::parameter(format!(
            "{name} {number}; expected a finite number that is not negative"
        ))),
    }
}
