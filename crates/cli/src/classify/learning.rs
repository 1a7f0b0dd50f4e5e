//! What `classify train` and `classify tune` learn: the model, the data, the algorithm.

use clap::Args;
use dropchain::Result;
use dropchain::model::Precision;
use dropchain::score::States;
use dropchain::train::TrainOptions;
use dropchain_documents::classify::{
    ClassifierOptions, ClassifierTrainer, InstanceCorpus, Multiclass,
};
use dropchain_options::{AlgorithmOptions, LengthOptions, NoiseOptions};

use super::files::TrainingFiles;
use super::input::FeatureArguments;
use super::loss_arguments::LossArguments;
use crate::file_name::FileName;
use crate::named::{Named, named};
use crate::progress::Progress;

/// The model, the data, and the algorithm.
#[derive(Clone, Debug, Args)]
pub struct LearningArguments {
    #[command(flatten)]
    features: FeatureArguments,
    #[command(flatten)]
    loss: LossArguments,
    /// More than two classes: one model of all, or one of each class against the rest, which is
    /// always so with a --loss other than softmax
    #[arg(long, value_parser = named(&MULTICLASS), default_value = "softmax",
          help_heading = "Model")]
    multiclass: Multiclass,
    /// Feature-class pairs that get a weight: all, or those observed in the training data
    /// [default: all; with --loss softmax and more than 256 classes, observed]
    #[arg(long, value_parser = dropchain_options::named::<States>(), help_heading = "Model")]
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
    #[arg(
        long,
        value_parser = dropchain_options::named::<Precision>(),
        default_value = "f32",
        help_heading = "Model"
    )]
    precision: Precision,
    #[command(flatten)]
    noise: NoiseOptions,
    /// How to compute the gradient of the noise term [default: exact]
    ///
    /// For those that approximate it, see `dropchain train`.
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

const MULTICLASS: [Named<Multiclass>; 2] = [
    ("softmax", "One model of all classes", Multiclass::Softmax),
    (
        "one-vs-rest",
        "One of each class against the rest",
        Multiclass::OneVsRest,
    ),
];

impl LearningArguments {
    /// Returns the number of hidden units.
    pub fn hidden(&self) -> usize {
        self.loss.hidden
    }

    /// Returns the options that determine a search besides those of training.
    pub fn identity(&self) -> Vec<(String, String)> {
        let mut options = self.loss.identity();
        if let Some(epsilon) = self.l2_informativeness {
            options.push(("--l2-informativeness".to_owned(), epsilon.to_string()));
        }
        options
    }

    /// Returns the options, with default strengths and rates.
    pub fn options(&self, files: &TrainingFiles) -> Result<ClassifierOptions> {
        let mut train = TrainOptions {
            states: self.states,
            min_count: self.min_count,
            prune: self.prune,
            precision: self.precision,
            ..ClassifierOptions::train_options()
        };
        self.noise.apply(&mut train);
        if let Some(name) = &self.gradient {
            train.method.noise.gradient = name.parse()?;
        }
        self.optimizer.apply(&mut train);
        self.algorithm.apply(&mut train);
        let memory = self.algorithm.lbfgs_memory();
        train.method.optimizer.memory = memory.unwrap_or(ClassifierOptions::LBFGS_MEMORY);
        let method = self.algorithm.method();
        let mut options = ClassifierOptions {
            features: match files.has_features() {
                true => None,
                false => Some(self.features.options()?),
            },
            multiclass: self.multiclass,
            l2_informativeness: self.l2_informativeness,
            train,
            learner: method.is_online().then(|| method.into()),
            ..ClassifierOptions::default()
        };
        self.loss.apply(&mut options, !files.unlabeled.is_empty())?;
        Ok(options)
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
    progress.println_all(corpus.notice_of_empty());
    if trainer.settings().has_noise() {
        trainer.add(files.unlabeled()?, &mut corpus)?;
    }
    let dev = match dev {
        [] => None,
        files => {
            let mut dev = InstanceCorpus::default();
            trainer.add(input.labeled(files)?, &mut dev)?;
            progress.println_all(corpus.notices_of_unseen(&dev));
            Some(dev)
        }
    };
    input.print_notices();
    Ok((corpus, dev))
}
