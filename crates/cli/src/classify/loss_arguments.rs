//! The arguments of the loss.

use clap::{Args, ValueEnum};
use dropchain::{Error, Result};
use dropchain_documents::classify::{ClassifierOptions, Loss};

/// The loss and its parameter.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Model")]
pub struct LossArguments {
    /// What is minimized: −log p(class) of all classes at once, or a loss of y·score with y = ±1
    ///
    /// Under noise, the last three are minimized as bounds of their expectations, by iteratively
    /// reweighted least squares. More than two classes are then one model of each class against the
    /// rest. Probabilities of hinge and squared are not calibrated.
    #[arg(long, value_enum, default_value = "softmax")]
    loss: LossName,
    /// hinge: the margin ℓ of max(0, ℓ − y·score) [default: 1]
    #[arg(long, value_name = "ELL", allow_negative_numbers = true)]
    margin: Option<f64>,
    /// Hidden units between features and score: learned features σ(α·x + c); with a loss other than
    /// softmax
    ///
    /// Training starts at random weights (--seed). More than two classes have N units each.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub hidden: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LossName {
    /// −log p(class): a log-linear model
    Softmax,
    /// max(0, ℓ − y·score): a support vector machine
    Hinge,
    /// log(1 + exp(−y·score)): the same as softmax without noise
    Logistic,
    /// (1 − y·score)²: least squares
    Squared,
}

impl LossArguments {
    /// Returns the options that determine a search.
    pub fn identity(&self) -> Vec<(String, String)> {
        let loss = self.loss.to_possible_value();
        let mut options = Vec::new();
        options.extend(loss.map(|name| ("--loss".to_owned(), name.get_name().to_owned())));
        options.extend(
            self.margin
                .map(|margin| ("--margin".to_owned(), margin.to_string())),
        );
        options.push(("--hidden".to_owned(), self.hidden.to_string()));
        options
    }

    /// Sets the loss.
    ///
    /// # Errors
    ///
    /// There is a margin, but the loss has none; other options do not fit the loss.
    pub fn apply(&self, options: &mut ClassifierOptions, has_unlabeled: bool) -> Result<()> {
        if self.margin.is_some() && self.loss != LossName::Hinge {
            let message = "--margin: requires --loss hinge";
            return Err(Error::parameter(message));
        }
        options.loss = match self.loss {
            LossName::Softmax => None,
            LossName::Hinge => Some(Loss::Hinge {
                margin: self.margin.unwrap_or(1.0),
            }),
            LossName::Logistic => Some(Loss::Logistic),
            LossName::Squared => Some(Loss::Squared),
        };
        options.hidden = self.hidden;
        let Some(loss) = options.loss else {
            if self.hidden > 0 {
                let message = "--hidden: requires --loss hinge, logistic or squared";
                return Err(Error::parameter(message));
            }
            return Ok(());
        };
        if has_unlabeled {
            return Err(Error::parameter(format!(
                "--unlabeled: --loss {} learns from labels alone; expected --loss softmax",
                loss.name()
            )));
        }
        Ok(())
    }
}
