//! The arguments that say how to read documents with numbers, and what is learned.

use clap::Args;
use dropchain::{Error, Result};
use dropchain_documents::regress::{
    FeatureNoise, Regression, RegressionCorpus, RegressionLoss, RegressionOptions,
    RegressionTrainer,
};
use dropchain_documents::{InstanceFormat, InstanceReadOptions, InstanceReader, TableFeatures};

use crate::arguments::{Choice, FileName, one_of};
use crate::classify::{DocumentInput, FeatureArguments};
use crate::interrupt;
use crate::progress::Progress;

/// How to read documents.
#[derive(Clone, Debug, Args)]
pub struct NumberInput {
    #[command(flatten)]
    pub documents: DocumentInput,
    /// CSV and TSV: the columns of numbers that are features, or `all` but the other columns named
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Input")]
    columns: Vec<String>,
    /// CSV and TSV: the columns whose cells are categories, such as color=red
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Input")]
    categories: Vec<String>,
}

impl NumberInput {
    /// Returns the columns of tables that are features; `None` if documents are texts.
    pub fn table(&self) -> Option<TableFeatures> {
        if self.columns.is_empty() && self.categories.is_empty() {
            return None;
        }
        let is_all = matches!(&self.columns[..], [name] if name == "all");
        Some(TableFeatures {
            numbers: (!is_all).then(|| self.columns.clone()),
            categories: self.categories.clone(),
        })
    }

    /// Returns whether training documents have ready-made features.
    pub fn has_features(&self, files: &[FileName]) -> bool {
        self.table().is_some() || self.documents.has_features(files)
    }

    /// Reads the documents that a trainer will train on, which then knows the names of their files
    /// and ends at a signal.
    pub fn read_training(
        &self,
        trainer: &mut RegressionTrainer<'static>,
        files: &[FileName],
        progress: &Progress,
    ) -> Result<RegressionCorpus> {
        progress.update(&format!("reading {}", files.join(", ")));
        let corpus = trainer.corpus(self.training(files)?)?;
        self.documents.print_notices();
        let counts = format!("{} documents, {} features", corpus.documents(), corpus.features());
        progress.println(&counts);
        trainer.interrupt = Some(interrupt::flag());
        trainer.files = files.iter().map(ToString::to_string).collect();
        Ok(corpus)
    }

    /// Begins to read documents to train on.
    fn training(&self, files: &[FileName]) -> Result<InstanceReader> {
        let table = self.table();
        let format = match table {
            Some(_) => InstanceFormat::Csv,
            None => InstanceFormat::Labeled,
        };
        let options = InstanceReadOptions {
            table,
            labels_are_numbers: true,
            ..self.documents.options(true, format)
        };
        InstanceReader::open(files, &options)
    }

    /// Begins to read documents for a model: in the way that it was trained on, if they are in a
    /// table.
    pub fn for_model(
        &self,
        files: &[FileName],
        regression: &Regression,
        needs_labels: bool,
    ) -> Result<InstanceReader> {
        let formats: Vec<_> = files.iter().map(|f| self.documents.format_of(f)).collect();
        let options = InstanceReadOptions {
            table: self.table(),
            ..self.documents.options(needs_labels, InstanceFormat::Csv)
        };
        let is_named = self.documents.label.is_some();
        InstanceReader::open(files, &regression.read_options(options, &formats, is_named))
    }
}

/// The loss, the noise, and when training ends.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Model")]
pub struct ModelArguments {
    #[command(flatten)]
    features: FeatureArguments,
    /// What is minimized, summed over documents with the number y and the score f
    #[arg(long, value_parser = one_of(&LOSSES), default_value = "squared", help_heading = "Model")]
    loss: RegressionLoss,
    /// insensitive: ε of max(0, |y − f| − ε) [default: 0.1]
    #[arg(long, value_name = "EPS", help_heading = "Model")]
    epsilon: Option<f64>,
    /// Penalize the weights of features divided by their standard deviation
    #[arg(long, help_heading = "Regularization")]
    standardize: bool,
    /// Amount of feature noise: the dropout rate, or the variance of Gaussian noise; 0 for none
    #[arg(long, value_name = "RATE", default_value_t = 0.0, help_heading = "Regularization")]
    dropout: f64,
    /// Kind of the noise
    #[arg(
        long,
        value_parser = one_of(&NOISES),
        default_value = "dropout",
        help_heading = "Regularization"
    )]
    noise: fn(f64) -> FeatureNoise,
    /// Maximum number of iterations [default: none]
    #[arg(long, value_name = "N", help_heading = "Optimization")]
    max_iterations: Option<usize>,
    /// Stop when the objective falls by less than this fraction in ten iterations; coordinate
    /// descent, when it is this close to the minimum, as a fraction of that without features
    #[arg(long, value_name = "FRACTION", default_value_t = 1e-8, help_heading = "Optimization")]
    tolerance: f64,
}

/// ε of support vector regression, unless it is given.
const EPSILON: f64 = 0.1;

const LOSSES: [Choice<RegressionLoss>; 3] = [
    ("squared", "(y − f)²: linear regression", RegressionLoss::Squared),
    (
        "poisson",
        "exp(f) − y·f: Poisson regression, of counts; exp(f) is predicted",
        RegressionLoss::Poisson,
    ),
    (
        "insensitive",
        "max(0, |y − f| − ε): support vector regression",
        RegressionLoss::Insensitive { epsilon: EPSILON },
    ),
];

type NoiseOfAmount = fn(f64) -> FeatureNoise;

/// The noise of an amount.
const NOISES: [Choice<NoiseOfAmount>; 3] = [
    ("dropout", "Features are dropped", FeatureNoise::Dropout),
    ("gaussian", "Features are multiplied by Gaussian numbers with mean 1", FeatureNoise::Gaussian),
    ("additive", "Gaussian numbers with mean 0 are added to features", FeatureNoise::Additive),
];

impl ModelArguments {
    /// Returns the options for training on some files.
    pub fn options(&self, input: &NumberInput, train: &[FileName]) -> Result<RegressionOptions> {
        let loss = match (self.loss, self.epsilon) {
            (RegressionLoss::Insensitive { .. }, Some(epsilon)) => {
                RegressionLoss::Insensitive { epsilon }
            }
            (_, Some(_)) => {
                let message = "--epsilon: requires --loss insensitive";
                return Err(Error::parameter(message));
            }
            (loss, None) => loss,
        };
        let features = match input.has_features(train) {
            true => None,
            false => Some(self.features.options()?),
        };
        Ok(RegressionOptions {
            features,
            table: input.table(),
            label: input.documents.label.clone(),
            loss,
            noise: match self.dropout {
                0.0 => FeatureNoise::None,
                amount => (self.noise)(amount),
            },
            standardize: self.standardize,
            max_iterations: self.max_iterations,
            tolerance: self.tolerance,
            memory: input.documents.limits.memory(),
            ..RegressionOptions::default()
        })
    }
}
