//! All learners, by name.

use std::str::FromStr;
use std::sync::Arc;

use dropchain::kernel::train::{AnyLearner, Defaults};
use dropchain::train::Lbfgs;
use dropchain::{Error, Result};

use crate::{Arow, MistakeRule, PassiveAggressive, Perceptron, Sgd, WarmStarted};

/// A learner with its options.
#[derive(Clone, Debug, PartialEq)]
pub enum Method {
    /// L-BFGS on all sentences; with an L1 penalty, OWL-QN.
    Lbfgs(Lbfgs),
    /// L-BFGS after passes of stochastic updates.
    WarmStarted(WarmStarted),
    /// Stochastic gradient descent.
    Sgd(Sgd),
    /// Changes of weights when the most likely labels are wrong.
    Mistakes(MistakeRule),
}

impl Method {
    /// The names of algorithms on the command line. A warm start is an option of the first.
    pub const NAMES: [&'static str; 5] =
        [Lbfgs::NAME, Sgd::NAME, Perceptron::NAME, PassiveAggressive::NAME, Arow::NAME];

    /// Returns the learner of this name with its default options, if there is one.
    pub fn of_name(name: &str) -> Option<Self> {
        let rules = [
            MistakeRule::Perceptron(Perceptron::default()),
            MistakeRule::PassiveAggressive(PassiveAggressive::default()),
            MistakeRule::Arow(Arow::default()),
        ];
        let others = [Self::Lbfgs(Lbfgs::default()), Self::Sgd(Sgd::default())];
        let mut all = others.into_iter().chain(rules.map(Self::Mistakes));
        all.find(|method| method.name() == name)
    }

    /// Returns the name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Lbfgs(_) | Self::WarmStarted(_) => Lbfgs::NAME,
            Self::Sgd(_) => Sgd::NAME,
            Self::Mistakes(rule) => rule.name(),
        }
    }

    /// Returns the learner with the penalties and the noise of an L-BFGS, and its optimizer if it
    /// is one.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`](dropchain::Error::Parameter) naming what it does not have.
    pub fn regularized(self, like: Lbfgs) -> Result<AnyLearner> {
        match self {
            Self::Lbfgs(_) => Ok(like.into()),
            Self::WarmStarted(_) => Ok(WarmStarted { lbfgs: like }.into()),
            other => AnyLearner::from(other).with_regularization(like.unresolved()),
        }
    }

    /// Returns the default amount of noise.
    pub fn default_dropout(&self) -> f64 {
        if self.is_probabilistic() { Defaults::DROPOUT } else { 0.0 }
    }

    /// Returns whether weights change after each sentence.
    pub fn is_online(&self) -> bool {
        !matches!(self, Self::Lbfgs(_) | Self::WarmStarted(_))
    }

    /// Returns whether a penalized likelihood is minimized, to which noise can be added. The others
    /// learn from the most likely labels alone.
    pub fn is_probabilistic(&self) -> bool {
        matches!(self, Self::Lbfgs(_) | Self::WarmStarted(_) | Self::Sgd(_))
    }
}

impl FromStr for Method {
    type Err = Error;

    /// Parses a name, which a parameter may follow: `sgd=ETA`, `pa=C` or `arow=GAMMA`.
    fn from_str(text: &str) -> Result<Self> {
        let fault = || {
            Error::parameter(format!(
                "algorithm '{text}'; expected lbfgs, sgd[=ETA], ap, pa[=C] or arow[=GAMMA], where \
                 ETA, C and GAMMA are numbers"
            ))
        };
        let (name, value) = text.split_once('=').map_or((text, None), |(n, v)| (n, Some(v)));
        let mut method = Self::of_name(name).ok_or_else(fault)?;
        if let Some(value) = value {
            let parameter = match &mut method {
                Self::Sgd(sgd) => &mut sgd.eta,
                Self::Mistakes(MistakeRule::PassiveAggressive(options)) => &mut options.c,
                Self::Mistakes(MistakeRule::Arow(options)) => &mut options.gamma,
                _ => return Err(fault()),
            };
            *parameter = value.parse().map_err(|_| fault())?;
        }
        Ok(method)
    }
}

impl From<Method> for AnyLearner {
    fn from(method: Method) -> Self {
        match method {
            Method::Lbfgs(learner) => learner.into(),
            Method::WarmStarted(learner) => learner.into(),
            Method::Sgd(learner) => learner.into(),
            Method::Mistakes(rule) => Arc::new(rule),
        }
    }
}
