//! The training arguments that `train`, `tune` and `bench gradients` share.

use std::str::FromStr;

use clap::{Args, ValueEnum};
use dropchain::chain::Order;
use dropchain::corpus::{Corpus, Format, ReadOptions};
use dropchain::model::Precision;
use dropchain::score::{Boundary, States};
use dropchain::train::{
    BaseModels, Defaults, Engine, NoiseKind, NoiseSharing, TrainOptions, TrainingCorpora,
};
use dropchain::{Error, Result};
use dropchain_formats::{InputFormat, SpanOptions};

use super::algorithm_arguments::AlgorithmArguments;
use super::arguments::{
    FormatName, InputArguments, PlainLabelArguments, PrecisionName, SchemeName, Switch,
};
use super::file_name::FileName;
use super::partial_label_arguments::PartialLabelArguments;
use super::progress::Progress;

/// The arguments that `train` and `tune` share, which are all but strengths and rates.
#[derive(Clone, Debug, Args)]
pub struct TrainingArguments {
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    storage: StorageArguments,
    #[command(flatten)]
    noise: NoiseArguments,
    /// Train attributes that always occur together as one: the same model, faster
    #[arg(
        long,
        value_enum,
        default_value = "on",
        help_heading = "Training",
        hide_short_help = true,
        hide_long_help = true
    )]
    collapse: Switch,
    #[command(flatten)]
    optimizer: OptimizerArguments,
    #[command(flatten)]
    algorithm: AlgorithmArguments,
    #[command(flatten)]
    unlabeled: UnlabeledArguments,
    #[command(flatten)]
    partial: PartialLabelArguments,
    /// Also learn to tag text without case, from copies of the sentences in lower case
    ///
    /// Sentences without capitals, of capitals only, or in which Every Word Is Capitalized then
    /// have weights of their own; other sentences are tagged as before. WEIGHT is that of a copy
    /// relative to its sentence. Training takes twice as long.
    #[arg(long, value_name = "WEIGHT", num_args = 0..=1, require_equals = true,
          default_value_t = 0.0, default_missing_value = "1", help_heading = "Training", hide_short_help = true)]
    caseless: f64,
}

impl TrainingArguments {
    /// Returns the options for training that continues from `models`, if there are any, with
    /// default strengths and rates.
    pub fn options(&self, models: &BaseModels<'_>) -> Result<TrainOptions> {
        let model = models.first();
        let defaults = model.map_or_else(TrainOptions::default, TrainOptions::continuing);
        let precision = self.storage.precision.map(Precision::from);
        let mut options = TrainOptions {
            discover: self.unlabeled.discover,
            collapse: self.collapse.is_on(),
            precision: precision.unwrap_or(defaults.precision),
            prune: self.storage.prune,
            recall_bias: self.storage.recall_bias.0,
            caseless: self.caseless,
            ..defaults
        };
        self.noise.apply(&mut options);
        self.model.apply(&mut options);
        self.optimizer.apply(&mut options);
        self.algorithm.apply(&mut options);
        Ok(options)
    }

    /// Rejects unlabeled text for an algorithm that cannot learn from it.
    pub fn check_unlabeled(&self) -> Result<()> {
        let algorithm = self.algorithm.algorithm();
        let is_sampled = self.noise.is_sampled();
        let reason = if !algorithm.is_probabilistic() {
            "learns from labels alone"
        } else if algorithm.is_online() && is_sampled {
            "drops attributes at random, which teaches nothing without labels"
        } else {
            return Ok(());
        };
        if !self.has_unlabeled() {
            return Ok(());
        }
        Err(Error::parameter(format!(
            "--unlabeled: --algorithm {}{} {reason}; expected --algorithm lbfgs, or sgd with \
             --noise dropout",
            algorithm.name(),
            if is_sampled {
                " --noise monte-carlo"
            } else {
                ""
            },
        )))
    }

    /// Rejects options that require noise if there is none.
    pub fn check_noise_options(&self, has_noise: bool, gradient: Option<&str>) -> Result<()> {
        if has_noise {
            return Ok(());
        }
        self.check_unlabeled()?;
        let algorithm = self.algorithm.algorithm();
        let expected = if algorithm.is_probabilistic() {
            "expected --dropout above 0".to_owned()
        } else {
            format!("--algorithm {} has none", algorithm.name())
        };
        let option = match (gradient, self.noise.noise) {
            (Some(name), _) => format!("--gradient {name}"),
            (None, Some(_)) => "--noise".to_owned(),
            (None, None) if self.noise.masks.is_given() => "--masks".to_owned(),
            (None, None) if self.has_unlabeled() => "--unlabeled".to_owned(),
            (None, None) => return Ok(()),
        };
        Err(Error::parameter(format!(
            "{option}: requires noise; {expected}"
        )))
    }

    /// Rejects options that require Monte-Carlo noise or an online algorithm if there is none.
    /// `seed` is the value of `--seed` if the command uses it for nothing else.
    pub fn check_sampling_options(&self, seed: Option<u64>) -> Result<()> {
        let is_online = self.algorithm.algorithm().is_online();
        let is_sampled = self.noise.is_sampled();
        let (option, expected) = match (self.noise.samples, seed) {
            (Some(n), _) if is_online => (
                format!("--samples {n}"),
                "--algorithm lbfgs; others drop once per update",
            ),
            (Some(n), _) if !is_sampled => (format!("--samples {n}"), "--noise monte-carlo"),
            (None, Some(n)) if !is_sampled && !is_online => {
                let expected = "--noise monte-carlo, or an online algorithm or warm start";
                (format!("--seed {n}"), expected)
            }
            _ => return Ok(()),
        };
        Err(Error::parameter(format!(
            "{option}: requires sampling; expected {expected}"
        )))
    }

    /// Returns all files that [`read_corpora`](Self::read_corpora) reads.
    pub fn corpus_files<'a>(
        &'a self,
        train: &'a [FileName],
        dev: &'a [FileName],
    ) -> impl Iterator<Item = &'a FileName> {
        train.iter().chain(dev).chain(&self.unlabeled.unlabeled)
    }

    /// Returns whether there are files of unlabeled text.
    pub fn has_unlabeled(&self) -> bool {
        !self.unlabeled.unlabeled.is_empty()
    }

    /// Reads the training files, the development files (`None` without any) and the unlabeled text.
    pub fn read_corpora(
        &self,
        train: &[FileName],
        dev: &[FileName],
        input: &InputArguments,
        progress: &Progress,
    ) -> Result<TrainingCorpora> {
        let labeled = self.read_labeled(train, input)?;
        let mut corpora = self.with_dev(labeled, dev, input, progress)?;
        corpora.unlabeled = self.read_unlabeled(&corpora, input)?;
        Ok(corpora)
    }

    /// Reads the training files.
    pub fn read_labeled(&self, train: &[FileName], input: &InputArguments) -> Result<Corpus> {
        Corpus::read(train, &self.read_options(input))
    }

    /// Adds the development files to the training sentences; `None` without any.
    pub fn with_dev(
        &self,
        labeled: Corpus,
        dev: &[FileName],
        input: &InputArguments,
        progress: &Progress,
    ) -> Result<TrainingCorpora> {
        let mut options = self.read_options(input);
        if let Some(hint) = self.partial.hint(&labeled) {
            progress.println(&hint);
        }
        options.memory = options.memory.beyond(labeled.memory());
        let dev = match dev {
            [] => None,
            files => Some(Corpus::read(files, &options)?),
        };
        Ok(TrainingCorpora {
            labeled,
            dev,
            unlabeled: Corpus::new(),
        })
    }

    /// Reads the unlabeled text, with what these corpora leave of the memory.
    pub fn read_unlabeled(
        &self,
        corpora: &TrainingCorpora,
        input: &InputArguments,
    ) -> Result<Corpus> {
        self.unlabeled.read(&self.unlabeled_options(corpora, input))
    }

    fn read_options(&self, input: &InputArguments) -> ReadOptions {
        ReadOptions {
            partial_labels: self.partial.partial_labels,
            weights: true,
            ..input.read_options()
        }
    }

    fn unlabeled_options(&self, corpora: &TrainingCorpora, input: &InputArguments) -> ReadOptions {
        let options = self.read_options(input);
        let held = corpora.labeled.memory() + corpora.dev.as_ref().map_or(0, Corpus::memory);
        ReadOptions {
            unlabeled: true,
            partial_labels: false,
            memory: options.memory.beyond(held),
            ..options
        }
    }
}

/// The structure of the model.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Model")]
pub struct ModelArguments {
    /// Label scheme to train with; predictions are converted back to that of the corpus
    #[arg(long, value_enum, default_value = "raw", hide_short_help = true)]
    scheme: SchemeName,
    #[command(flatten)]
    plain: PlainLabelArguments,
    /// Markov order: 1 scores pairs of adjacent labels (CRF), 0 scores each label on its own
    /// [default: 1]
    #[arg(long, value_enum, hide_short_help = true)]
    order: Option<OrderName>,
    /// Weights for the first and the last label of a sentence [default: on]
    #[arg(long, value_enum, hide_short_help = true)]
    boundary: Option<Switch>,
    /// Attribute-label pairs that get a weight: all, or those observed in the training data
    /// [default: all, of more than 256 labels observed]
    #[arg(long, value_enum, hide_short_help = true)]
    states: Option<StatesName>,
    /// Label pairs that get a weight: all, or those observed [default: as --states]
    ///
    /// The same applies to the first and the last label of a sentence.
    #[arg(long, value_enum, hide_short_help = true, hide_long_help = true)]
    transitions: Option<StatesName>,
    /// Ignore attributes that occur at fewer than N tokens
    #[arg(long, default_value_t = 1, value_name = "N", hide_short_help = true)]
    min_count: u32,
}

impl ModelArguments {
    /// Sets the corresponding training options.
    pub fn apply(&self, options: &mut TrainOptions) {
        options.scheme = self.scheme.into();
        options.plain_labels = self.plain.plain_labels();
        match self.order {
            None => {}
            Some(OrderName::Zero) => options.order = Order::Zero,
            Some(OrderName::One) => options.order = Order::One,
        }
        match self.boundary {
            None => {}
            Some(Switch::On) => options.boundary = Boundary::On,
            Some(Switch::Off) => options.boundary = Boundary::Off,
        }
        options.states = self.states.map(States::from);
        options.transitions = self.transitions.map(States::from);
        options.min_count = self.min_count;
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OrderName {
    #[value(name = "0")]
    Zero,
    #[value(name = "1")]
    One,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum StatesName {
    All,
    Observed,
}

impl From<StatesName> for States {
    fn from(name: StatesName) -> Self {
        match name {
            StatesName::All => Self::All,
            StatesName::Observed => Self::Observed,
        }
    }
}

/// How the trained model is stored.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Model")]
struct StorageArguments {
    /// Drop attribute weights with an absolute value below EPS
    ///
    /// 0.001 typically shrinks a model to a third. With --dev, the score is reported before and
    /// after pruning. `dropchain convert` tries other values on the finished model.
    #[arg(
        long,
        default_value_t = 0.0,
        value_name = "EPS",
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    prune: f64,
    /// Precision of the stored weights [default: f32]
    ///
    /// With f16 or i8 and --dev, the score is reported before and after rounding.
    #[arg(long, value_enum, hide_short_help = true)]
    precision: Option<PrecisionName>,
    /// Amount subtracted from the score of `O` when tagging spans; positive values favor recall
    ///
    /// `auto` selects the value with the best F1 on --dev, together with the best iteration.
    /// Without --dev it is 0.
    #[arg(
        long,
        default_value = "auto",
        value_name = "BIAS",
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    recall_bias: RecallBias,
}

/// A recall bias, or `None` for `auto`.
#[derive(Clone, Copy, Debug)]
struct RecallBias(Option<f64>);

impl FromStr for RecallBias {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        if text == "auto" {
            return Ok(Self(None));
        }
        text.parse()
            .map(|bias| Self(Some(bias)))
            .map_err(|_| "expected `auto` or a number".to_owned())
    }
}

/// How much noise to train with, for one configuration.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Regularization")]
pub struct NoiseLevelArguments {
    /// Amount of feature noise: the dropout rate, or the variance of Gaussian noise; 0 for none
    ///
    /// The default is 0.3; of --algorithm ap, pa and arow, which have no noise, 0.
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    dropout: Option<f64>,
    /// Noise on transitions, boundary weights and edge attributes [default: twice --dropout]
    ///
    /// The default is at most 0.9; with Gaussian noise it is the value of --dropout.
    #[arg(
        long,
        value_name = "RATE",
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    edge_dropout: Option<f64>,
}

impl NoiseLevelArguments {
    /// Sets the corresponding training options.
    pub fn apply(&self, options: &mut TrainOptions) {
        options.dropout = self
            .dropout
            .unwrap_or(Defaults::dropout(&options.algorithm));
        options.edge_dropout = self.edge_dropout;
    }
}

/// The course of training with noise, for one configuration.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Regularization")]
pub struct CourseArguments {
    /// How to compute the gradient of the noise term: exact, message, window=R, local
    /// [default: exact]
    ///
    /// `exact` and `message` are exact, `window=R` and `local` approximations; all but `exact` are
    /// for comparison. Noise gaussian-scores, reweighted and monte-carlo has a gradient of its own.
    #[arg(long, value_name = "ENGINE", hide_short_help = true)]
    pub gradient: Option<String>,
    /// Warm-up iterations without noise [default: 20, or half of --max-iterations if less]
    ///
    /// After the passes of --warm-start online the default is 10.
    #[arg(long, value_name = "N", hide_short_help = true)]
    warm_up: Option<usize>,
}

impl CourseArguments {
    /// Sets the corresponding training options.
    pub fn apply(&self, options: &mut TrainOptions) -> Result<()> {
        if let Some(name) = &self.gradient {
            set_gradient(parse_gradient(name)?, options)?;
        }
        options.warm_up = self.warm_up.or(options.warm_up);
        Ok(())
    }
}

/// Parses the value of `--gradient`.
///
/// # Errors
///
/// It is none.
pub fn parse_gradient(name: &str) -> Result<Engine> {
    let engine: Engine = name.parse()?;
    match engine.round().is_none() && engine.expectation().is_none() {
        true => Ok(engine),
        false => Err(Error::parameter(format!(
            "gradient '{name}'; expected exact, message, window=R or local"
        ))),
    }
}

/// Sets the engine for the gradient of the noise term.
///
/// # Errors
///
/// The noise term has a gradient of its own.
pub fn set_gradient(engine: Engine, options: &mut TrainOptions) -> Result<()> {
    if options.gradient.round().is_some() || options.gradient.expectation().is_some() {
        return Err(Error::parameter(format!(
            "gradient '{engine}' with {} noise, which has a gradient of its own; expected the \
             default (--gradient exact)",
            NoiseChoice::name(options.gradient)
        )));
    }
    options.gradient = engine;
    Ok(())
}

/// The kind of noise and how to compute its penalty.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Regularization")]
pub struct NoiseArguments {
    /// Kind of feature noise: dropout, gaussian, additive, gaussian-scores, reweighted, monte-carlo
    /// [default: dropout]
    ///
    /// dropout: by its deterministic second-order approximation. gaussian and additive:
    /// multiplicative and additive Gaussian noise, by the same approximation. gaussian-scores: with
    /// --order 0, the expectation of dropout over Gaussian scores instead (fast dropout), of two
    /// labels exactly, of more, or always as gaussian-scores=unscented, by the unscented transform.
    /// reweighted=N: dropout as a weighted L2 penalty that is renewed every N iterations (20 if
    /// there is no N): faster, and slightly different. monte-carlo: dropout by random sampling:
    /// slower, for comparison.
    #[arg(long, value_name = "KIND", hide_short_help = true)]
    noise: Option<NoiseChoice>,
    #[command(flatten)]
    masks: MasksArgument,
    /// Samples per sentence and iteration of --noise monte-carlo, 1 to 1000 [default: 4]
    ///
    /// Time grows linearly with the number of samples; the sampling error falls with its square
    /// root.
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        hide_short_help = true,
        hide_long_help = true
    )]
    samples: Option<u32>,
}

impl NoiseArguments {
    /// Sets the corresponding training options.
    pub fn apply(&self, options: &mut TrainOptions) {
        let noise = self.noise.unwrap_or_default();
        options.noise = noise.kind;
        options.gradient = noise.engine;
        options.noise_sharing = self.masks.sharing();
        options.samples = self.samples.unwrap_or(Defaults::SAMPLES);
    }

    /// Returns whether the noise is sampled.
    pub fn is_sampled(&self) -> bool {
        self.noise.unwrap_or_default().kind == NoiseKind::MonteCarlo
    }
}

/// The value of `--noise`: the kind, and the term that stands for it.
#[derive(Clone, Copy, Debug, Default)]
struct NoiseChoice {
    kind: NoiseKind,
    engine: Engine,
}

impl NoiseChoice {
    /// Returns the name of a term that has a gradient of its own.
    fn name(engine: Engine) -> &'static str {
        match engine.round() {
            Some(_) => "reweighted",
            None => "gaussian-scores",
        }
    }
}

impl FromStr for NoiseChoice {
    type Err = String;

    fn from_str(name: &str) -> std::result::Result<Self, String> {
        let engine = |name: &str| {
            let engine = name.parse().map_err(|error: Error| error.to_string())?;
            Ok(Self {
                engine,
                ..Self::default()
            })
        };
        let kind = match name {
            "dropout" => NoiseKind::Dropout,
            "gaussian" => NoiseKind::Gaussian,
            "additive" => NoiseKind::Additive,
            "monte-carlo" => NoiseKind::MonteCarlo,
            "gaussian-scores" => return engine("gaussian"),
            "gaussian-scores=unscented" => return engine("unscented"),
            name if name.starts_with("reweighted") => return engine(name),
            _ => {
                return Err(
                    "expected dropout, gaussian, additive, gaussian-scores, reweighted or \
                     monte-carlo"
                        .to_owned(),
                );
            }
        };
        Ok(Self {
            kind,
            engine: Engine::default(),
        })
    }
}

/// What has a noise mask of its own.
#[derive(Clone, Debug, Args)]
pub struct MasksArgument {
    /// What has noise of its own: each weight, or each input, for all labels at once
    /// [default: weights]
    ///
    /// `inputs` is dropout of attributes as Wager et al. 2013 define it: with two labels and
    /// --order 0 up to twice as strong at the same rate. Not with --noise additive, reweighted or
    /// monte-carlo, of more than two labels gaussian-scores, other gradients than exact, or online
    /// algorithms.
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        hide_short_help = true,
        hide_long_help = true
    )]
    masks: Option<MasksName>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MasksName {
    Weights,
    Inputs,
}

impl MasksArgument {
    /// Returns the training option.
    pub fn sharing(&self) -> NoiseSharing {
        match self.masks {
            None | Some(MasksName::Weights) => NoiseSharing::Weights,
            Some(MasksName::Inputs) => NoiseSharing::Inputs,
        }
    }

    fn is_given(&self) -> bool {
        self.masks.is_some()
    }
}

/// When the optimizer stops.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Training")]
pub struct OptimizerArguments {
    /// Stop after N iterations [default: train to convergence]
    #[arg(long, value_name = "N")]
    max_iterations: Option<usize>,
    /// Stop after N iterations without a better score on --dev
    #[arg(long, default_value_t = Defaults::PATIENCE, value_name = "N", hide_short_help = true)]
    patience: usize,
}

impl OptimizerArguments {
    /// Sets the corresponding training options.
    pub fn apply(&self, options: &mut TrainOptions) {
        options.max_iterations = self.max_iterations;
        options.patience = self.patience;
    }
}

/// Unlabeled text for semi-supervised training.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Unlabeled text")]
struct UnlabeledArguments {
    /// Files of unlabeled text for the noise term; labels in them are ignored
    ///
    /// Takes all arguments up to the next option, so put TRAIN first.
    ///
    /// Passing the test file is transductive learning: the model has then seen the test sentences,
    /// so its score does not estimate performance on new text and is comparable only with other
    /// transductive scores.
    #[arg(long, num_args = 1.., value_name = "FILE")]
    unlabeled: Vec<FileName>,
    /// Format of the unlabeled text [default: by file name; .txt and - are raw text]
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        requires = "unlabeled",
        hide_short_help = true,
        hide_long_help = true
    )]
    unlabeled_format: Option<FormatName>,
    /// Keep attributes that occur in unlabeled text only
    #[arg(
        long,
        requires = "unlabeled",
        hide_short_help = true,
        hide_long_help = true
    )]
    discover: bool,
}

impl UnlabeledArguments {
    /// Returns the files with their formats.
    fn files(&self) -> impl Iterator<Item = (&FileName, InputFormat)> {
        let format = self.unlabeled_format.map(InputFormat::from);
        let files = self.unlabeled.iter();
        files.map(move |file| {
            let guessed = || Format::guess_unlabeled(file).into();
            (file, format.unwrap_or_else(guessed))
        })
    }

    fn read(&self, options: &ReadOptions) -> Result<Corpus> {
        let mut corpus = Corpus::new();
        for (file, format) in self.files() {
            let options = ReadOptions {
                memory: options.memory.beyond(corpus.memory()),
                ..options.clone()
            };
            let options = format.apply(SpanOptions::default(), options);
            corpus.extend(Corpus::read([file], &options)?);
        }
        Ok(corpus)
    }
}
