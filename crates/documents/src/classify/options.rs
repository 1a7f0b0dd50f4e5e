//! How to train a classifier, and which options fit one another.

use std::sync::Arc;

use dropchain::chain::Order;
use dropchain::error::{Error, Result};
use dropchain::optim::LbfgsOptions;
use dropchain::train::{AnyLearner, Lbfgs, NoiseOptions, TrainOptions, TrainSettings};

use super::header::Multiclass;
use super::losses::{LossLearner, MAX_HIDDEN};
use crate::FeatureOptions;
use crate::irls::Loss;

/// How to train a classifier.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassifierOptions {
    /// The features of texts; `None` if documents come with features.
    pub features: Option<FeatureOptions>,
    /// How several classes are told apart. Two classes are always one model, and more than two
    /// with a [`loss`](field@Self::loss) always one of each class against the rest.
    pub multiclass: Multiclass,
    /// A loss of y·f, which is minimized by iteratively reweighted least squares. Noise is that of
    /// inputs: one mask per feature and document. `None`: −log p(class).
    pub loss: Option<Loss>,
    /// Number of hidden units: with a loss, the classifier is linear in so many learned features
    /// σ(α·x + c) instead of x. The score of a document varies with the noise of its features as
    /// its expansion to first order does. Training starts at random weights
    /// ([`TrainOptions::seed`]). 0: none, at most [`MAX_HIDDEN`](Self::MAX_HIDDEN).
    pub hidden: usize,
    /// Divides the L2 strength of each weight by r + ε, where ε above 0 is this number and r is how
    /// informative the feature is of the class alone: the absolute log-ratio of its probabilities
    /// with and without the class (Wang and Manning, *Fast dropout training*, appendix A.3).
    /// `None`: all strengths are c2. Without a loss, in batch training.
    pub l2_informativeness: Option<f64>,
    /// Whether the bias is penalized like the weights of features. Without a penalty it is that of
    /// the classes, however strong the penalty of the features.
    pub penalizes_bias: bool,
    /// How to train. The order is 0, and noise is on features alone.
    pub train: TrainOptions,
    /// What learns with the penalties and the noise of [`train`](field@Self::train); `None`:
    /// L-BFGS. Without a loss.
    pub learner: Option<AnyLearner>,
}

impl Default for ClassifierOptions {
    fn default() -> Self {
        Self {
            features: Some(FeatureOptions::default()),
            multiclass: Multiclass::default(),
            loss: None,
            hidden: 0,
            l2_informativeness: None,
            penalizes_bias: false,
            train: Self::train_options(),
            learner: None,
        }
    }
}

impl ClassifierOptions {
    /// Default of the memory of L-BFGS: with so many features, iterations are fewer than with that
    /// of taggers.
    pub const LBFGS_MEMORY: usize = 15;

    /// Default of the rate of dropout: the one that folds of training documents chose most often
    /// (decision 78).
    pub const DROPOUT: f64 = 0.7;

    /// The largest number of hidden units.
    pub const MAX_HIDDEN: usize = MAX_HIDDEN;

    /// Returns the default training options: noise from the first iteration on, none on the bias.
    pub fn train_options() -> TrainOptions {
        let method = Lbfgs {
            noise: NoiseOptions { edge_dropout: Some(0.0), ..NoiseOptions::dropout(Self::DROPOUT) },
            warm_up: Some(0),
            optimizer: LbfgsOptions { memory: Self::LBFGS_MEMORY, ..LbfgsOptions::default() },
            ..Lbfgs::default()
        };
        TrainOptions { order: Order::Zero, ..TrainOptions::new(method) }
    }

    /// Returns the options of training, checked.
    pub(super) fn settings(&self) -> Result<TrainSettings> {
        let (train, method) = (self.train.clone(), self.train.method.clone());
        let learner: AnyLearner = match (self.loss, &self.learner) {
            (Some(loss), _) => Arc::new(LossLearner {
                loss,
                hidden: self.hidden,
                seed: train.seed,
                penalizes_bias: self.penalizes_bias,
                method,
            }),
            (None, None) => method.into(),
            (None, Some(learner)) => learner.with_regularization(method.unresolved())?,
        };
        TrainSettings::new(train.with_method(learner))
    }

    /// Checks that the options fit one another.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] naming what does not fit.
    pub(super) fn check(&self) -> Result<()> {
        if self.train.order != Order::Zero {
            return Err(Error::parameter("a classifier has order 0, found order 1"));
        }
        self.features.map_or(Ok(()), |features| features.check())?;
        self.check_informativeness()?;
        if let (Some(loss), Some(learner)) = (self.loss, &self.learner) {
            return Err(Error::parameter(format!(
                "the {} loss with --algorithm {}; expected --algorithm lbfgs, which stands for all \
                 that is not online",
                loss.name(),
                learner.name()
            )));
        }
        if self.loss.is_none() && self.hidden > 0 {
            let units = self.hidden;
            return Err(Error::parameter(format!(
                "{units} hidden units without a loss; expected hinge, logistic or squared"
            )));
        }
        self.settings().map(|_| ())
    }

    /// Checks that strengths by informativeness are positive, and that what trains can have them.
    fn check_informativeness(&self) -> Result<()> {
        let Some(epsilon) = self.l2_informativeness else {
            return Ok(());
        };
        if !(epsilon.is_finite() && epsilon > 0.0) {
            return Err(Error::parameter(format!(
                "L2 informativeness {epsilon}; expected a finite number above 0"
            )));
        }
        let found = if let Some(learner) = &self.learner {
            format!("algorithm {}", learner.name())
        } else if let Some(loss) = self.loss {
            format!("the {} loss", loss.name())
        } else {
            return Ok(());
        };
        Err(Error::parameter(format!(
            "L2 strengths by informativeness with {found}; expected batch training of -log p, or \
             strengths that are all alike"
        )))
    }
}
