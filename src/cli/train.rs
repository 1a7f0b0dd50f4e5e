//! `dropchain train`

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, ValueEnum};
use dropchain::corpus::{Format, ReadOptions, read_all};
use dropchain::model::{Model, Precision};
use dropchain::noise::Method;
use dropchain::report::Log;
use dropchain::sentence::Sentence;
use dropchain::template::Template;
use dropchain::train::{Defaults, NoiseKind, TrainOptions, Trainer};
use dropchain::{Error, Result};

use super::Outcome;
use super::arguments::{Chain, Course, FormatName, Input, Switch, Threads};
use super::progress::{Progress, notice};
use super::watcher::Watcher;

/// Train a model on labeled sentences
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # Names: columns `word … label`, keeping the model that is best on dev.conll
  dropchain train train.conll --dev dev.conll --template ner --model ner.model

  # Parts of speech from CoNLL-U
  dropchain train en-train.conllu --label upos --template pos --model pos.model

  # Your own template, named columns, sparse weights
  dropchain train train.txt --columns word,pos,chunk --template my.tpl --l1 0.5 --model m.model

  # Attributes made elsewhere, in CRFsuite's format; the same model as CRFsuite
  dropchain train train.crfsuite --states observed --boundary off --l2 1 --model m.model

A template is a file, or one of those that come with dropchain: minimal, chunk, pos, ner,
ner-finkel, ner-finkel-edges, pos-sancl. Ctrl-C ends training and saves the best model so far.")]
pub struct Arguments {
    /// Training files; `-` is standard input, .gz files are decompressed
    #[arg(required = true, value_name = "TRAIN")]
    train: Vec<String>,
    /// Template: which attributes a token has (a file, or the name of one that comes with dropchain)
    #[arg(long, value_name = "TEMPLATE")]
    template: Option<String>,
    /// Where to write the model
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Development file: training stops when its score no longer rises, and the best model is kept. May be
    /// given more than once
    #[arg(long, value_name = "FILE")]
    dev: Vec<String>,
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    chain: Chain,
    /// Leave weights of attributes that are nearer to 0 than EPS out of the model; 0.001 makes many a
    /// model a third as large. With --dev, the score before and after is told
    #[arg(
        long,
        default_value_t = 0.0,
        value_name = "EPS",
        allow_negative_numbers = true,
        help_heading = "Model"
    )]
    prune: f64,
    /// How weights are stored in the model
    #[arg(long, value_enum, default_value = "f32", help_heading = "Model")]
    precision: PrecisionName,
    #[command(flatten)]
    training: Training,
    #[command(flatten)]
    course: Course,
    #[command(flatten)]
    unlabeled: Unlabeled,
    #[command(flatten)]
    threads: Threads,
    /// Write what happens to a file, as JSON lines
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Print no progress
    #[arg(long)]
    quiet: bool,
}

/// How to train it.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Training")]
struct Training {
    /// Strength of the L2 penalty, c2·‖θ‖² [default: 0.1; 0.3 with --dropout 0]
    #[arg(long, value_name = "C2", allow_negative_numbers = true)]
    l2: Option<f64>,
    /// Strength of the L1 penalty, c1·‖θ‖₁; above 0, many weights become exactly 0
    #[arg(
        long,
        default_value_t = 0.0,
        value_name = "C1",
        allow_negative_numbers = true
    )]
    l1: f64,
    /// How much feature noise is simulated: the rate of dropout, or the variance of Gaussian noise; 0 is
    /// none
    #[arg(long, default_value_t = Defaults::DROPOUT, value_name = "RATE", allow_negative_numbers = true)]
    dropout: f64,
    /// The same for transitions, boundary weights and edge attributes [default: twice --dropout, at most
    /// 0.9; with Gaussian noise, that of --dropout]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    edge_dropout: Option<f64>,
    /// Kind of feature noise [default: dropout]
    #[arg(long, value_enum)]
    noise: Option<NoiseName>,
    /// How the gradient of the noise term is computed: adjoint, message (both exact), window=R or local
    /// (approximate) [default: adjoint]
    #[arg(long, value_name = "ENGINE")]
    gradient: Option<String>,
    /// With --noise monte-carlo: how often every sentence is sampled in an iteration, 1 to 1000; time
    /// grows with it, noise falls with its root [default: 4]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    samples: Option<u32>,
    /// With --noise monte-carlo: where its random numbers start from [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    seed: Option<u64>,
    /// With noise: iterations without it before those with it [default: 20, or half of --max-iterations]
    #[arg(long, value_name = "N")]
    warm_up: Option<usize>,
    /// Train attributes that always occur together as one (the same model, faster)
    #[arg(long, value_enum, default_value = "on")]
    collapse: Switch,
    /// For labels that write spans: what the score of `O` is lowered by when tagging. Above 0, more spans are
    /// found, and more wrong ones. `auto`: what gives the best F1 on --dev, together with the iteration;
    /// without --dev, 0
    #[arg(
        long,
        default_value = "auto",
        value_name = "BIAS",
        allow_negative_numbers = true
    )]
    recall_bias: RecallBias,
}

/// Text that nobody has labeled.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Unlabeled text")]
struct Unlabeled {
    /// Files whose sentences the noise term learns from as well; labels in them are not looked at. All
    /// files up to the next option are meant: write TRAIN before it.
    /// Giving the test file here is transductive learning: the model has then seen the test sentences,
    /// so its score says nothing about new text, and is comparable only to other transductive scores
    #[arg(long, num_args = 1.., value_name = "FILE")]
    unlabeled: Vec<String>,
    /// Format of these files; without it, what their names say (.txt: raw text)
    #[arg(long, value_enum, value_name = "FORMAT", requires = "unlabeled")]
    unlabeled_format: Option<FormatName>,
    /// Weight of an unlabeled sentence beside a labeled one
    #[arg(
        long,
        default_value_t = Defaults::UNLABELED_WEIGHT,
        value_name = "ALPHA",
        allow_negative_numbers = true,
        requires = "unlabeled"
    )]
    unlabeled_weight: f64,
    /// Keep attributes that only unlabeled sentences have
    #[arg(long, requires = "unlabeled")]
    discover: bool,
}

/// A number, or none for `auto`.
#[derive(Clone, Copy, Debug)]
struct RecallBias(Option<f64>);

impl FromStr for RecallBias {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        if text == "auto" {
            return Ok(Self(None));
        }
        let number = text.parse();
        number
            .map(|bias| Self(Some(bias)))
            .map_err(|_| "expected `auto` or a number".to_owned())
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum NoiseName {
    /// Features are left out: to second order, and without randomness
    Dropout,
    /// Features are multiplied by Gaussian noise
    Gaussian,
    /// Gaussian noise is added to all features, active or not
    Additive,
    /// Features are really left out, at random: slower, to compare with
    MonteCarlo,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PrecisionName {
    /// 4 bytes each
    F32,
    /// 8 bytes each, exactly as trained
    F64,
}

impl Training {
    fn has_noise(&self) -> bool {
        let rates = [Some(self.dropout), self.edge_dropout];
        rates.iter().flatten().any(|&rate| rate != 0.0)
    }
}

impl Arguments {
    fn options(&self) -> Result<TrainOptions> {
        Ok(TrainOptions {
            noise: match self.training.noise {
                None | Some(NoiseName::Dropout) => NoiseKind::Dropout,
                Some(NoiseName::Gaussian) => NoiseKind::Gaussian,
                Some(NoiseName::Additive) => NoiseKind::Additive,
                Some(NoiseName::MonteCarlo) => NoiseKind::MonteCarlo,
            },
            dropout: self.training.dropout,
            edge_dropout: self.training.edge_dropout,
            gradient: match &self.training.gradient {
                Some(name) => name.parse()?,
                None => Method::Adjoint,
            },
            samples: self.training.samples.unwrap_or(Defaults::SAMPLES),
            seed: self.training.seed.unwrap_or(Defaults::SEED),
            unlabeled_weight: self.unlabeled.unlabeled_weight,
            discover: self.unlabeled.discover,
            scheme: self.chain.scheme.into(),
            order: self.chain.order(),
            boundary: self.chain.boundary(),
            states: self.chain.states(),
            precision: match self.precision {
                PrecisionName::F32 => Precision::F32,
                PrecisionName::F64 => Precision::F64,
            },
            prune: self.prune,
            l2: self.training.l2.unwrap_or(if self.training.has_noise() {
                Defaults::L2_WITH_NOISE
            } else {
                Defaults::L2
            }),
            l1: self.training.l1,
            collapse: self.training.collapse == Switch::On,
            min_count: self.course.min_count,
            max_iterations: self.course.max_iterations,
            patience: self.course.patience,
            warm_up: self.training.warm_up,
            recall_bias: self.training.recall_bias.0,
        })
    }

    /// Refuses options that speak of noise, or of samples, where there is none.
    fn check_noise(&self) -> Result<()> {
        self.check_samples()?;
        if self.training.has_noise() {
            return Ok(());
        }
        let option = match (&self.training.gradient, self.training.noise) {
            (Some(name), _) => format!("--gradient {name}: there is no noise"),
            (None, Some(_)) => "--noise: there is none".to_owned(),
            (None, None) if self.unlabeled.unlabeled.is_empty() => return Ok(()),
            (None, None) => "--unlabeled: only noise learns from unlabeled text".to_owned(),
        };
        Err(Error::parameter(format!(
            "{option}; expected --dropout above 0 with it"
        )))
    }

    fn check_samples(&self) -> Result<()> {
        if matches!(self.training.noise, Some(NoiseName::MonteCarlo)) {
            return Ok(());
        }
        let option = match (self.training.samples, self.training.seed) {
            (Some(n), _) => format!("--samples {n}: nothing is sampled"),
            (None, Some(n)) => format!("--seed {n}: nothing is random"),
            (None, None) => return Ok(()),
        };
        Err(Error::parameter(format!(
            "{option}; expected --noise monte-carlo with it"
        )))
    }

    /// Unlabeled sentences.
    fn read_unlabeled(&self) -> Result<Vec<Sentence>> {
        let format = self.unlabeled.unlabeled_format.map(Format::from);
        let mut sentences = Vec::new();
        for file in &self.unlabeled.unlabeled {
            let options = ReadOptions {
                format: Some(format.unwrap_or_else(|| guess_unlabeled(file))),
                unlabeled: true,
                ..self.input.labeled()
            };
            sentences.extend(read_all(std::slice::from_ref(file), &options)?);
        }
        Ok(sentences)
    }

    /// Runs the command.
    pub fn run(&self) -> Outcome {
        let trainer = Trainer::new(self.options()?)?;
        self.check_noise()?;
        let template = choose_template(self.template.as_deref(), &self.train, &self.input)?;
        Model::check_target(&self.model)?;
        self.threads.start()?;
        let progress = Progress::new(self.quiet);
        progress.step(format!("reading {}", self.train.join(", ")));
        let options = self.input.labeled();
        let sentences = read_all(&self.train, &options)?;
        let dev = match self.dev.as_slice() {
            [] => None,
            files => Some(read_all(files, &options)?),
        };
        let unlabeled = self.read_unlabeled()?;
        let log = self.log.as_ref().map(Log::create).transpose()?;
        let mut watcher = Watcher::new(&progress, &self.train, log);
        let interrupt = interrupt_flag();
        let trained = trainer.interrupt(interrupt).unlabeled(&unlabeled).train(
            sentences,
            dev,
            template,
            &mut watcher,
        )?;
        trained.model.save(&self.model)?;
        progress.done();
        progress.say(&format!("wrote {}", self.model.display()));
        watcher.finish().map_err(Into::into)
    }
}

/// The format of a file of unlabeled text: `.txt` is raw text here.
pub fn guess_unlabeled(file: &str) -> Format {
    let name = file.to_ascii_lowercase();
    match name.strip_suffix(".gz").unwrap_or(&name) {
        name if name.ends_with(".txt") || name == "-" => Format::Text,
        name => Format::guess(name),
    }
}

/// The template to train with on `files`; none for attributes made elsewhere.
pub fn choose_template(
    name: Option<&str>,
    files: &[String],
    input: &Input,
) -> Result<Option<Template>> {
    let format = input.format.map(Format::from);
    let is_given =
        |file: &String| format.unwrap_or_else(|| Format::guess(file)) == Format::Crfsuite;
    match (name, files.iter().all(is_given)) {
        (Some(name), false) => find_template(name).map(Some),
        (None, true) => Ok(None),
        (Some(_), true) => Err(Error::parameter(
            "--template: CRFsuite's format brings its own attributes; leave the option out",
        )),
        (None, false) => Err(Error::parameter(
            "--template is missing: name a file, or one of those that come with dropchain \
             (ner, pos, chunk, minimal)",
        )),
    }
}

/// A template from a file, or else one that comes with dropchain.
pub fn find_template(name: &str) -> Result<Template> {
    let path = std::path::Path::new(name);
    if path.exists() {
        return Template::read(path);
    }
    Template::shipped(name).unwrap_or_else(|| {
        let names: Vec<&str> = Template::shipped_names().collect();
        Err(Error::parameter(format!(
            "--template {name}: there is no such file, and no template of that name comes with \
             dropchain (there are {})",
            names.join(", ")
        )))
    })
}

/// The flag that Ctrl-C sets. A second Ctrl-C ends the program at once.
fn interrupt_flag() -> &'static AtomicBool {
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);
    let result = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        notice("interrupted: saving the best model so far (once more to quit without)");
    });
    if let Err(error) = result {
        notice(&format!(
            "Ctrl-C will end the program without saving: {error}"
        ));
    }
    &INTERRUPTED
}
