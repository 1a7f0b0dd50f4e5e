//! The arguments that say what is learned.

use crate::{
    Course, DocumentOptions, Loss, ModelOptions, Multiclass, Noise, NoiseKind, Penalties, Task,
};
use clap::Args;
use dropchain::{Error, Result};

use super::arguments::TrainingFiles;
use dropchain_command::arguments::{Choice, one_of};

/// ε of support vector regression, unless it is given.
const EPSILON: f64 = 0.1;

/// What all models have.
#[derive(Clone, Debug, Args)]
struct LearningArguments {
    /// Kind of the noise; the last two are of softmax
    #[arg(long, value_parser = one_of(&NOISES), value_name = "KIND", default_value = "dropout",
          help_heading = "Regularization")]
    noise: NoiseKind,
    /// Penalize the weights of features divided by their standard deviation
    #[arg(long, help_heading = "Regularization")]
    standardize: bool,
    /// Maximum number of iterations [default: none]
    #[arg(long, value_name = "N", help_heading = "Optimization")]
    max_iterations: Option<usize>,
    /// Stop when the objective falls by less than this fraction in ten iterations [default: 1e-5
    /// with --loss softmax or --hidden, 1e-6 with hinge and insensitive, else 1e-10]
    #[arg(long, value_name = "FRACTION", help_heading = "Optimization")]
    tolerance: Option<f64>,
}

const NOISES: [Choice<NoiseKind>; 5] = [
    ("dropout", "Features are dropped", NoiseKind::Dropout),
    ("gaussian", "They are multiplied by Gaussian numbers with mean 1", NoiseKind::Gaussian),
    ("additive", "Gaussian numbers with mean 0 are added to them", NoiseKind::Additive),
    (
        "gaussian-scores",
        "Dropout in expectation over Gaussian scores (fast dropout), of more than two classes by \
         the unscented transform",
        NoiseKind::GaussianScores,
    ),
    ("monte-carlo", "Dropout by random sampling, slower, for comparison", NoiseKind::MonteCarlo),
];

impl LearningArguments {
    fn apply(
        &self,
        files: &TrainingFiles,
        mut options: DocumentOptions,
    ) -> Result<DocumentOptions> {
        options.data = files.data()?;
        options.noise.kind = self.noise;
        options.penalties.standardize = self.standardize;
        options.course.max_iterations = self.max_iterations;
        options.course.tolerance = self.tolerance;
        options.memory = files.input.limits.memory();
        Ok(options)
    }
}

/// What a classifier is.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Model")]
struct ClassArguments {
    /// What is minimized: −log p(class) of all classes at once, or a loss of y·score with y = ±1
    ///
    /// Under noise, the last three are minimized as bounds of their expectations. More than two
    /// classes are then one model of each class against the rest. Probabilities of hinge and
    /// squared are not calibrated.
    #[arg(long, value_parser = one_of(&CLASS_LOSSES), default_value = "softmax")]
    loss: Loss,
    /// hinge: the margin ℓ of max(0, ℓ − y·score) [default: 1]
    #[arg(long, value_name = "ELL")]
    margin: Option<f64>,
    /// Hidden units between features and score: learned features σ(α·x + c); with a loss other than
    /// softmax
    ///
    /// Training starts at random weights (--seed). More than two classes have N units each.
    #[arg(long, value_name = "N", default_value_t = 0)]
    hidden: usize,
    /// More than two classes: one model of all, or one of each class against the rest, which is
    /// always so with a --loss other than softmax
    #[arg(long, value_parser = one_of(&MULTICLASS), default_value = "softmax")]
    multiclass: Multiclass,
    /// Ignore features that occur in fewer than N documents
    #[arg(long, default_value_t = 1, value_name = "N")]
    min_count: usize,
}

const CLASS_LOSSES: [Choice<Loss>; 4] = [
    ("softmax", "−log p(class): a log-linear model", Loss::Softmax),
    ("hinge", "max(0, ℓ − y·score): a support vector machine", Loss::Hinge { margin: 1.0 }),
    ("logistic", "log(1 + exp(−y·score)): the same as softmax without noise", Loss::Logistic),
    ("squared", "(1 − y·score)²: least squares", Loss::Squared),
];

const MULTICLASS: [Choice<Multiclass>; 2] = [
    ("softmax", "One model of all classes", Multiclass::Softmax),
    ("one-vs-rest", "One of each class against the rest", Multiclass::OneVsRest),
];

/// How a classifier is trained, but for what a search tries.
#[derive(Clone, Debug, Args)]
pub struct ClassLearning {
    #[command(flatten)]
    model: ClassArguments,
    #[command(flatten)]
    learning: LearningArguments,
    /// One dropout mask per weight, or one per input shared by all classes
    #[arg(long, value_parser = one_of(&MASKS), default_value = "weights", value_name = "WHAT",
          help_heading = "Regularization")]
    masks: SharedMasks,
    /// Samples per document and iteration of --noise monte-carlo, 1 to 1000
    #[arg(long, value_name = "N", default_value_t = 4, help_heading = "Regularization")]
    samples: usize,
    /// Divide the L2 strength of a feature and class by r + EPS, where r is the absolute log-ratio
    /// of the probabilities of the feature with and without the class
    ///
    /// Features that say little by themselves get small weights (Wang and Manning 2013, appendix
    /// A.3).
    #[arg(long, value_name = "EPS", help_heading = "Regularization")]
    l2_informativeness: Option<f64>,
    /// Penalize the bias of each class like the weights of features
    ///
    /// By default it has no penalty, so that the shares of the classes do not depend on --l2.
    #[arg(long, help_heading = "Regularization")]
    penalize_bias: bool,
    /// Stop after N iterations without a better accuracy on --dev
    #[arg(long, value_name = "N", default_value_t = 40, help_heading = "Optimization")]
    patience: usize,
    /// Random seed of --noise monte-carlo, --hidden and --folds
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Optimization")]
    pub seed: u64,
}

/// Whether all classes share masks.
type SharedMasks = bool;

const MASKS: [Choice<SharedMasks>; 2] =
    [("weights", "A mask per weight", false), ("inputs", "A mask per feature", true)];

impl ClassLearning {
    /// Returns the options, with default strengths and rates.
    ///
    /// # Errors
    ///
    /// There is a margin, but the loss has none; other options do not fit the loss.
    pub fn options(&self, files: &TrainingFiles, has_unlabeled: bool) -> Result<DocumentOptions> {
        let model = &self.model;
        let loss = match (model.loss, model.margin) {
            (Loss::Hinge { .. }, Some(margin)) => Loss::Hinge { margin },
            (_, Some(_)) => return Err(Error::parameter("--margin: requires --loss hinge")),
            (loss, None) => loss,
        };
        if has_unlabeled && loss != Loss::Softmax {
            return Err(Error::parameter(format!(
                "--unlabeled: --loss {} learns from labels alone; expected --loss softmax",
                loss.name()
            )));
        }
        let default = DocumentOptions::classes();
        let options = DocumentOptions {
            model: ModelOptions {
                task: Task::Classes,
                loss,
                multiclass: model.multiclass,
                hidden: model.hidden,
                min_count: model.min_count,
            },
            noise: Noise { shared_masks: self.masks, samples: self.samples, ..default.noise },
            penalties: Penalties {
                l2_informativeness: self.l2_informativeness,
                penalize_bias: self.penalize_bias,
                ..default.penalties
            },
            course: Course { patience: self.patience, seed: self.seed, ..default.course },
            ..default
        };
        let mut options = self.learning.apply(files, options)?;
        // The same documents make the same model, whatever their form.
        (options.data.label, options.data.files) = (None, Vec::new());
        Ok(options)
    }
}

/// How a regression is trained, but for the strengths of the penalties.
#[derive(Clone, Debug, Args)]
pub struct NumberLearning {
    /// What is minimized, summed over documents with the number y and the score f
    #[arg(long, value_parser = one_of(&NUMBER_LOSSES), default_value = "squared",
          help_heading = "Model")]
    loss: Loss,
    /// insensitive: ε of max(0, |y − f| − ε) [default: 0.1]
    #[arg(long, value_name = "EPS", help_heading = "Model")]
    epsilon: Option<f64>,
    /// Amount of feature noise: the dropout rate, or the variance of Gaussian noise; 0 for none
    #[arg(long, value_name = "RATE", default_value_t = 0.0, help_heading = "Regularization")]
    dropout: f64,
    #[command(flatten)]
    learning: LearningArguments,
}

const NUMBER_LOSSES: [Choice<Loss>; 3] = [
    ("squared", "(y − f)²: linear regression", Loss::Squared),
    ("poisson", "exp(f) − y·f: Poisson regression, of counts; exp(f) is predicted", Loss::Poisson),
    (
        "insensitive",
        "max(0, |y − f| − ε): support vector regression",
        Loss::Insensitive { epsilon: EPSILON },
    ),
];

impl NumberLearning {
    /// Returns the options for training on some files.
    ///
    /// # Errors
    ///
    /// There is ε, but the loss has none.
    pub fn options(&self, files: &TrainingFiles) -> Result<DocumentOptions> {
        let loss = match (self.loss, self.epsilon) {
            (Loss::Insensitive { .. }, Some(epsilon)) => Loss::Insensitive { epsilon },
            (_, Some(_)) => {
                return Err(Error::parameter("--epsilon: requires --loss insensitive"));
            }
            (loss, None) => loss,
        };
        let default = DocumentOptions::numbers();
        let options = DocumentOptions {
            model: ModelOptions { loss, ..default.model },
            noise: Noise::dropout(self.dropout),
            ..default
        };
        self.learning.apply(files, options)
    }
}
