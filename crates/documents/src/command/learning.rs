//! The arguments that say how a classifier is trained.

use crate::{ClassOptions, DataOptions, DocumentOptions, LearningOptions, Loss, Strengths, Task};
use clap::Args;
use dropchain::{Error, Result};

use super::arguments::TrainingFiles;
use dropchain_command::arguments::{Choice, one_of};

/// How a classifier is trained, but for what a search tries.
#[derive(Clone, Debug, Args)]
pub struct ClassLearning {
    /// What is minimized: −log p(class) of all classes at once, or a loss of y·score with y = ±1
    ///
    /// Under noise, the last three are minimized as bounds of their expectations. More than two
    /// classes are then one model of each class against the rest. Probabilities of hinge and
    /// squared are not calibrated.
    #[arg(long, value_parser = one_of(&CLASS_LOSSES), default_value = "softmax",
          help_heading = "Model")]
    loss: Loss,
    #[command(flatten)]
    learning: LearningOptions,
    #[command(flatten)]
    pub classes: ClassOptions,
}

const CLASS_LOSSES: [Choice<Loss>; 4] = [
    ("softmax", "−log p(class): a log-linear model", Loss::Softmax),
    ("hinge", "max(0, 1 − y·score): a support vector machine", Loss::Hinge),
    ("logistic", "log(1 + exp(−y·score)): the same as softmax without noise", Loss::Logistic),
    ("squared", "(1 − y·score)²: least squares", Loss::Squared),
];

impl ClassLearning {
    /// Returns the options for training on some files.
    ///
    /// # Errors
    ///
    /// There are unlabeled documents, but the loss does not learn from them.
    pub fn options(
        &self,
        files: &TrainingFiles,
        strengths: Strengths,
        has_unlabeled: bool,
    ) -> Result<DocumentOptions> {
        if has_unlabeled && self.loss != Loss::Softmax {
            return Err(Error::parameter(format!(
                "--unlabeled: --loss {} learns from labels alone; expected --loss softmax",
                self.loss.name()
            )));
        }
        Ok(DocumentOptions {
            // The same documents make the same model, whatever their form.
            data: DataOptions { label: None, files: Vec::new(), ..files.data() },
            task: Task::Classes,
            loss: self.loss,
            strengths,
            learning: self.learning,
            classes: self.classes,
            memory: files.input.limits.memory(),
        })
    }
}
