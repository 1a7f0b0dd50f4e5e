//! What `classify train` and `classify tune` learn: the model, the data, the algorithm.

use clap::{Args, ValueEnum};
use dropchain::Result;
use dropchain::classify::{ClassifierOptions, ClassifierTrainer, InstanceCorpus, Multiclass};
use dropchain::optim::LbfgsOptions;
use dropchain::train::TrainOptions;

use dropchain::model::Precision;
use dropchain::score::States;
use dropchain_options::{
    AlgorithmOptions, LengthOptions, NoiseOptions, named, parse_gradient, set_gradient,
};

use super::files::TrainingFiles;
use super::input::FeatureArguments;
use super::loss_arguments::LossArguments;
use crate::file_name::FileName;
use crate::progress::Progress;

/// Number of places that a notice lists.
const LISTED: usize = 3;

/// The model, the data, and the algorithm.
#[derive(Clone, Debug, Args)]
pub struct LearningArguments {
    #[command(flatten)]
    features: FeatureArguments,
    #[command(flatten)]
    loss: LossArguments,
    /// More than two classes: one model of all, or one of each class against the rest, which is
    /// always so with a --loss other than softmax
    #[arg(long, value_enum, default_value = "softmax", help_heading = "Model")]
    multiclass: MulticlassName,
    /// Feature-class pairs that get a weight: all, or those observed in the training data
    /// [default: all; with --loss softmax and more than 256 classes, observed]
    #[arg(long, value_parser = named::<States>(), help_heading = "Model")]
    states: Option<States>,
    /// Ignore features that occur in fewer than N documents
    #[arg(long, default_value_t = 1, value_name = "N", help_heading = "Model")]
    min_count: u32,
    /// Drop weights with an absolute value below EPS
    #[arg(
        long,
        default_value_t = 0.0,
        value_name = "EPS",
        help_heading = "Model",
        allow_negative_numbers = true
    )]
    prune: f64,
    /// Precision of the stored weights
    #[arg(long, value_parser = named::<Precision>(), default_value = "f32", help_heading = "Model")]
    precision: Precision,
    #[command(flatten)]
    noise: NoiseOptions,
    /// How to compute the gradient of the noise term; see `dropchain train` [default: exact]
    #[arg(long, value_name = "ENGINE", help_heading = "Regularization")]
    gradient: Option<String>,
    /// Divide the L2 strength of a feature and class by r + EPS, where r is the absolute log-ratio
    /// of the probabilities of the feature with and without the class
    ///
    /// Features that say little by themselves get small weights (Wang and Manning 2013, appendix
    /// A.3).
    #[arg(
        long,
        value_name = "EPS",
        help_heading = "Regularization",
        allow_negative_numbers = true
    )]
    l2_informativeness: Option<f64>,
    #[command(flatten)]
    optimizer: LengthOptions,
    #[command(flatten)]
    algorithm: AlgorithmOptions,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MulticlassName {
    Softmax,
    OneVsRest,
}

impl LearningArguments {
    /// Returns the options, with default strengths and rates.
    pub fn options(&self, files: &TrainingFiles) -> Result<ClassifierOptions> {
        let mut train = TrainOptions {
            states: self.states,
            min_count: self.min_count,
            prune: self.prune,
            precision: self.precision,
            l2_informativeness: self.l2_informativeness,
            ..ClassifierOptions::train_options()
        };
        self.noise.apply(&mut train);
        if let Some(name) = &self.gradient {
            set_gradient(parse_gradient(name)?, &mut train)?;
        }
        self.optimizer.apply(&mut train);
        self.algorithm.apply(&mut train);
        let memory = self.algorithm.lbfgs_memory();
        train.lbfgs.memory = memory.unwrap_or(match train.algorithm.is_online() {
            true => LbfgsOptions::default().memory,
            false => ClassifierOptions::LBFGS_MEMORY,
        });
        self.loss.apply(&mut train, !files.unlabeled.is_empty())?;
        Ok(ClassifierOptions {
            features: match files.has_features() {
                true => None,
                false => Some(self.features.options()?),
            },
            multiclass: match self.multiclass {
                MulticlassName::Softmax => Multiclass::Softmax,
                MulticlassName::OneVsRest => Multiclass::OneVsRest,
            },
            train,
        })
    }
}

/// Reads training documents, unlabeled ones if there is noise, and development documents.
pub fn read(
    trainer: &ClassifierTrainer<'_>,
    files: &TrainingFiles,
    dev: &[FileName],
    progress: &Progress,
) -> Result<(InstanceCorpus, Option<InstanceCorpus>)> {
    let input = &files.input;
    let mut corpus = InstanceCorpus::default();
    trainer.add(input.labeled(&files.train)?, &mut corpus)?;
    print_empty(&corpus, progress);
    if trainer.settings().options().has_noise() {
        trainer.add(files.unlabeled()?, &mut corpus)?;
    }
    let dev = match dev {
        [] => None,
        files => {
            let mut dev = InstanceCorpus::default();
            trainer.add(input.labeled(files)?, &mut dev)?;
            print_unseen(&corpus, &dev, progress);
            Some(dev)
        }
    };
    input.print_notices();
    Ok((corpus, dev))
}

/// Says which documents have no features.
fn print_empty(corpus: &InstanceCorpus, progress: &Progress) {
    let empty = corpus.without_features();
    if empty.is_empty() {
        return;
    }
    let listed: Vec<String> = empty.iter().take(LISTED).map(ToString::to_string).collect();
    let more = if empty.len() > LISTED { ", …" } else { "" };
    let (count, documents) = match empty.len() {
        1 => (1, "document has"),
        n => (n, "documents have"),
    };
    progress.println(&format!(
        "{count} {documents} no features: {}{more}",
        listed.join(", ")
    ));
}

/// Says which classes occur in development documents alone.
fn print_unseen(corpus: &InstanceCorpus, dev: &InstanceCorpus, progress: &Progress) {
    for (class, documents, first) in dev.classes() {
        if !corpus.classes().any(|(known, ..)| known == class) {
            progress.println(&format!(
                "{first}: the class '{class}' does not occur in the training data; its {documents} \
                 development {} count as errors",
                if documents == 1 {
                    "document"
                } else {
                    "documents"
                }
            ));
        }
    }
}
