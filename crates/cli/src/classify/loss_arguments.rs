//! The arguments of the loss.

use clap::Args;
use dropchain::{Error, Result};
use dropchain_documents::classify::{ClassifierOptions, Loss};

use crate::named::{Named, named};

/// The loss and its parameter.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Model")]
pub struct LossArguments {
    /// What is minimized: −log p(class) of all classes at once, or a loss of y·score with y = ±1
    ///
    /// Under noise, the last three are minimized as bounds of their expectations, by iteratively
    /// reweighted least squares. More than two classes are then one model of each class against the
    /// rest. Probabilities of hinge and squared are not calibrated.
    #[arg(long, value_parser = named(&LOSSES), default_value = "softmax")]
    loss: LossChoice,
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

/// A loss of y·score; none of it is −log p.
type LossChoice = Option<Loss>;

const LOSSES: [Named<LossChoice>; 4] = [
    ("softmax", "−log p(class): a log-linear model", None),
    (
        "hinge",
        "max(0, ℓ − y·score): a support vector machine",
        Some(Loss::Hinge { margin: 1.0 }),
    ),
    (
        "logistic",
        "log(1 + exp(−y·score)): the same as softmax without noise",
        Some(Loss::Logistic),
    ),
    (
        "squared",
        "(1 − y·score)²: least squares",
        Some(Loss::Squared),
    ),
];

impl LossArguments {
    /// Returns the options that determine a search.
    pub fn identity(&self) -> Vec<(String, String)> {
        let loss = self.loss.map_or("softmax", Loss::name);
        let options = [
            ("--loss", loss.to_owned()),
            (
                "--margin",
                self.margin.map_or_else(String::new, |m| m.to_string()),
            ),
            ("--hidden", self.hidden.to_string()),
        ];
        options
            .map(|(flag, value)| (flag.to_owned(), value))
            .to_vec()
    }

    /// Sets the loss.
    ///
    /// # Errors
    ///
    /// There is a margin, but the loss has none; other options do not fit the loss.
    pub fn apply(&self, options: &mut ClassifierOptions, has_unlabeled: bool) -> Result<()> {
        options.loss = match (self.loss, self.margin) {
            (Some(Loss::Hinge { .. }), Some(margin)) => Some(Loss::Hinge { margin }),
            (_, Some(_)) => {
                let message = "--margin: requires --loss hinge";
                return Err(Error::parameter(message));
            }
            (loss, None) => loss,
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
