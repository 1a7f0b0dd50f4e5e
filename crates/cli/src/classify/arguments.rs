//! The arguments that say how to read documents, what their features are, and what is learned.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use dropchain::corpus::ReadOptions;
use dropchain::model::Precision;
use dropchain::score::States;
use dropchain::train::TrainOptions;
use dropchain::{Error, Result};
use dropchain_documents::classify::{
    ClassifierOptions, ClassifierTrainer, InstanceCorpus, Loss, Multiclass,
};
use dropchain_documents::{
    FeatureOptions, Instance, InstanceFormat, InstanceReadOptions, InstanceReader, NgramRange,
    TermFrequency, Tokens,
};
use dropchain_options::{AlgorithmOptions, GradientOption, LengthOptions, NoiseOptions};
use serde_json::{Value, json};

use crate::arguments::{
    Choice, FileName, LimitArguments, Switch, TextArguments, ThreadArguments, one_of,
};
use crate::outputs::CommandFiles;
use crate::progress::Progress;
use crate::{CommandResult, stdout_error};

/// The default column or key of the class.
const LABEL: &str = "label";

/// How to read documents.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct DocumentInput {
    /// Input format [default: by file name: folder, .csv, .jsonl, .svm; otherwise labeled lines]
    #[arg(long, value_parser = one_of(&FORMATS))]
    format: Option<InstanceFormat>,
    /// Column or key of the text
    #[arg(long, value_name = "NAME", default_value = "text")]
    text: String,
    /// Column or key of the class, or of the number to predict [default: label]
    #[arg(long, value_name = "NAME")]
    pub label: Option<String>,
    #[command(flatten)]
    encoding: TextArguments,
    #[command(flatten)]
    pub limits: LimitArguments,
}

/// Formats of documents.
const FORMATS: [Choice<InstanceFormat>; 7] = [
    ("labeled", "A class, a tab, and a text on each line", InstanceFormat::Labeled),
    ("text", "A text on each line, without classes", InstanceFormat::Text),
    ("csv", "Comma-separated values with a row of column names", InstanceFormat::Csv),
    ("tsv", "Tab-separated values with a row of column names", InstanceFormat::Tsv),
    ("jsonl", "JSON lines: {\"text\": …, \"label\": …}", InstanceFormat::Jsonl),
    (
        "svmlight",
        "Ready-made features: a class, then index:value, indices from 1",
        InstanceFormat::Svmlight,
    ),
    ("folder", "A folder of files for each class", InstanceFormat::Folder),
];

/// The values of features.
const FREQUENCIES: [Choice<TermFrequency>; 3] = [
    ("binary", "1", TermFrequency::Binary),
    ("count", "n", TermFrequency::Count),
    ("log", "1 + ln n", TermFrequency::Log),
];

/// What words are.
const TOKENS: [Choice<Tokens>; 2] = [
    ("words", "Tokens of the tokenizer", Tokens::Words),
    ("blanks", "What stands between blanks", Tokens::Blanks),
];

impl DocumentInput {
    /// Begins to read documents with classes.
    pub fn labeled(&self, files: &[FileName]) -> Result<InstanceReader> {
        InstanceReader::open(files, &self.options(true, InstanceFormat::Labeled))
    }

    /// Begins to read documents whose classes do not matter; files whose names say nothing have a
    /// text on each line.
    pub fn unlabeled(&self, files: &[FileName]) -> Result<InstanceReader> {
        InstanceReader::open(files, &self.options(false, InstanceFormat::Text))
    }

    /// Prints a line for each document, as soon as it is known: the input may be a pipe that stays
    /// open.
    pub fn print_lines(
        &self,
        documents: InstanceReader,
        line: impl Fn(&Instance) -> Result<String>,
    ) -> CommandResult {
        let mut out = BufWriter::new(io::stdout().lock());
        for document in documents {
            let line = line(&document?)?;
            let written = writeln!(out, "{line}").and_then(|()| out.flush());
            written.map_err(stdout_error)?;
        }
        self.print_notices();
        Ok(())
    }

    /// Says what was changed in the inputs.
    pub fn print_notices(&self) {
        self.encoding.print_notices(false);
    }

    /// Returns how to read documents with classes; files whose names say nothing have the default
    /// format.
    pub fn options(
        &self,
        needs_labels: bool,
        default_format: InstanceFormat,
    ) -> InstanceReadOptions {
        InstanceReadOptions {
            format: self.format,
            default_format,
            text: self.text.clone(),
            label: self.label.clone().unwrap_or_else(|| LABEL.to_owned()),
            needs_labels,
            read: self
                .encoding
                .apply(ReadOptions { limits: self.limits.read(), ..ReadOptions::default() }),
            ..InstanceReadOptions::default()
        }
    }

    /// Returns the format that the arguments or the name of a file tell.
    pub fn format_of(&self, file: &FileName) -> Option<InstanceFormat> {
        (self.format).or_else(|| InstanceFormat::of_name(file.as_ref()))
    }

    /// Returns whether the files have ready-made features: all of them are in SVMlight's format.
    pub fn has_features(&self, files: &[FileName]) -> bool {
        let is_svmlight = |file| self.format_of(file) == Some(InstanceFormat::Svmlight);
        files.iter().all(is_svmlight)
    }
}

/// Returns where a document is, as JSON.
pub fn place_of(document: &Instance) -> Value {
    let line = (document.line > 0).then_some(document.line);
    json!({"file": &*document.file, "line": line})
}

/// The features of texts.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Features")]
pub struct FeatureArguments {
    /// N-grams of words of these lengths; 0 for none
    #[arg(long, value_name = "RANGE", default_value = "1..2")]
    ngrams: String,
    /// N-grams of characters of these lengths, such as 3..5
    #[arg(long, value_name = "RANGE")]
    chars: Option<NgramRange>,
    /// Value of a feature that occurs n times: 1, n, or 1 + ln n
    #[arg(long, value_parser = one_of(&FREQUENCIES), value_name = "VALUE",
          default_value = "binary")]
    tf: TermFrequency,
    /// What words are: tokens of the tokenizer, or what stands between blanks
    #[arg(long, value_parser = one_of(&TOKENS), default_value = "words")]
    tokens: Tokens,
    /// Turn letters into lower case
    #[arg(long, value_enum, default_value = "on")]
    lowercase: Switch,
}

impl FeatureArguments {
    /// Returns the features of texts.
    pub fn options(&self) -> Result<FeatureOptions> {
        let words = match self.ngrams.as_str() {
            "0" => None,
            range => Some(range.parse()?),
        };
        Ok(FeatureOptions {
            words,
            chars: self.chars,
            frequency: self.tf,
            tokens: self.tokens,
            lowercase: self.lowercase.is_on(),
        })
    }
}

/// Files, and how to go about them.
#[derive(Debug, Args)]
pub struct TrainingFiles {
    /// Training documents: files, folders, or `-` for standard input
    #[arg(required = true, value_name = "TRAIN")]
    pub train: Vec<FileName>,
    /// Write the model to this file
    #[arg(long, value_name = "FILE")]
    pub model: PathBuf,
    /// Write a log in JSON lines to this file
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Do not print progress
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub threads: ThreadArguments,
    #[command(flatten)]
    pub input: DocumentInput,
    /// Documents without classes for the noise term; classes in them are ignored
    ///
    /// Takes all arguments up to the next option, so put TRAIN first.
    #[arg(long, num_args = 1.., value_name = "FILE", help_heading = "Unlabeled documents")]
    pub unlabeled: Vec<FileName>,
}

impl TrainingFiles {
    /// Returns what is read and written, to check that they are not the same files.
    pub fn declared(&self, dev: &[FileName]) -> CommandFiles {
        CommandFiles::default()
            .read(&self.train)
            .read(dev)
            .read(&self.unlabeled)
            .write_model(&self.model, self.log.as_deref())
    }

    /// Returns whether the training documents have ready-made features.
    pub fn has_features(&self) -> bool {
        self.input.has_features(&self.train)
    }

    /// Begins to read the unlabeled documents, without what classes they have.
    pub fn unlabeled(&self) -> Result<impl Iterator<Item = Result<Instance>>> {
        let files = &self.unlabeled[..];
        let reader = (!files.is_empty()).then(|| self.input.unlabeled(files));
        let documents = reader.transpose()?.into_iter().flatten();
        Ok(documents.map(|document| document.map(Instance::without_label)))
    }
}

/// The model, the data, and the algorithm.
#[derive(Clone, Debug, Args)]
pub struct LearningArguments {
    #[command(flatten)]
    features: FeatureArguments,
    #[command(flatten)]
    loss: LossArguments,
    /// More than two classes: one model of all, or one of each class against the rest, which is
    /// always so with a --loss other than softmax
    #[arg(long, value_parser = one_of(&MULTICLASS), default_value = "softmax",
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
    #[arg(long, default_value_t = 0.0, value_name = "EPS", help_heading = "Model")]
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
    #[command(flatten)]
    gradient: GradientOption,
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
    #[command(flatten)]
    optimizer: LengthOptions,
    #[command(flatten)]
    algorithm: AlgorithmOptions,
}

const MULTICLASS: [Choice<Multiclass>; 2] = [
    ("softmax", "One model of all classes", Multiclass::Softmax),
    ("one-vs-rest", "One of each class against the rest", Multiclass::OneVsRest),
];

impl LearningArguments {
    /// Returns the number of hidden units.
    pub fn hidden(&self) -> usize {
        self.loss.hidden
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
        self.gradient.apply(&mut train)?;
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
            penalizes_bias: self.penalize_bias,
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

/// The loss and its parameter.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Model")]
pub struct LossArguments {
    /// What is minimized: −log p(class) of all classes at once, or a loss of y·score with y = ±1
    ///
    /// Under noise, the last three are minimized as bounds of their expectations, by iteratively
    /// reweighted least squares. More than two classes are then one model of each class against the
    /// rest. Probabilities of hinge and squared are not calibrated.
    #[arg(long, value_parser = one_of(&LOSSES), default_value = "softmax")]
    loss: LossChoice,
    /// hinge: the margin ℓ of max(0, ℓ − y·score) [default: 1]
    #[arg(long, value_name = "ELL")]
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

const LOSSES: [Choice<LossChoice>; 4] = [
    ("softmax", "−log p(class): a log-linear model", None),
    ("hinge", "max(0, ℓ − y·score): a support vector machine", Some(Loss::Hinge { margin: 1.0 })),
    ("logistic", "log(1 + exp(−y·score)): the same as softmax without noise", Some(Loss::Logistic)),
    ("squared", "(1 − y·score)²: least squares", Some(Loss::Squared)),
];

impl LossArguments {
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
