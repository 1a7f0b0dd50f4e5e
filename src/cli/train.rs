//! `dropchain train`

use std::path::{Path, PathBuf};

use clap::Args;
use dropchain::corpus::{Format, read_all};
use dropchain::model::Model;
use dropchain::report::Log;
use dropchain::template::Template;
use dropchain::train::{Defaults, TrainOptions, Trainer};
use dropchain::{Error, Result, atomic_file};

use super::Outcome;
use super::arguments::{Chain, Course, Input, Threads};
use super::progress::Progress;
use super::training::{Manner, Shared, Storage, Unlabeled, check_log, interrupt_flag};
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
  dropchain train train.crfsuite --states observed --boundary off --dropout 0 --l2 1 --model m.model

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
    #[command(flatten)]
    storage: Storage,
    #[command(flatten)]
    training: Training,
    #[command(flatten)]
    manner: Manner,
    #[command(flatten)]
    course: Course,
    #[command(flatten)]
    unlabeled: Unlabeled,
    /// Weight of an unlabeled sentence beside a labeled one
    #[arg(
        long,
        default_value_t = Defaults::UNLABELED_WEIGHT,
        value_name = "ALPHA",
        allow_negative_numbers = true,
        requires = "unlabeled",
        help_heading = "Unlabeled text"
    )]
    unlabeled_weight: f64,
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
    /// Strength of the L2 penalty, c2·‖θ‖² [default: 0.1; without noise 0.3]
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
    /// With --noise monte-carlo: where its random numbers start from [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    seed: Option<u64>,
}

impl Training {
    fn has_noise(&self) -> bool {
        let rates = [Some(self.dropout), self.edge_dropout];
        rates.iter().flatten().any(|&rate| rate != 0.0)
    }
}

impl Arguments {
    fn shared(&self) -> Shared<'_> {
        Shared {
            chain: &self.chain,
            storage: &self.storage,
            manner: &self.manner,
            course: &self.course,
            unlabeled: &self.unlabeled,
        }
    }

    fn options(&self) -> Result<TrainOptions> {
        Ok(TrainOptions {
            dropout: self.training.dropout,
            edge_dropout: self.training.edge_dropout,
            seed: self.training.seed.unwrap_or(Defaults::SEED),
            unlabeled_weight: self.unlabeled_weight,
            l2: self.training.l2.unwrap_or(if self.training.has_noise() {
                Defaults::L2_WITH_NOISE
            } else {
                Defaults::L2
            }),
            l1: self.training.l1,
            ..self.shared().options()?
        })
    }

    /// Refuses options that speak of noise, or of samples, where there is none.
    fn check_noise(&self) -> Result<()> {
        self.manner.check_samples(self.training.seed)?;
        self.shared().check_noise(self.training.has_noise())
    }

    /// Runs the command.
    pub fn run(&self) -> Outcome {
        let trainer = Trainer::new(self.options()?)?;
        self.check_noise()?;
        let template = choose_template(self.template.as_deref(), &self.train, &self.input)?;
        Model::check_target(&self.model)?;
        if let Some(log) = &self.log {
            check_log(log, &self.model)?;
            // Lines may also go to a pipe or a terminal.
            if log.is_file() || !log.exists() {
                atomic_file::check_writable(log)?;
            }
        }
        self.threads.start()?;
        let progress = Progress::new(self.quiet);
        progress.step(format!("reading {}", self.train.join(", ")));
        let options = self.input.labeled();
        let sentences = read_all(&self.train, &options)?;
        let dev = match self.dev.as_slice() {
            [] => None,
            files => Some(read_all(files, &options)?),
        };
        let unlabeled = self.unlabeled.read(&self.input)?;
        let log = self.log.as_ref().map(Log::new);
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
    let path = Path::new(name);
    match Template::shipped(name) {
        // A folder may well have the name of one that comes along.
        Some(template) if !path.exists() || path.is_dir() => template,
        None if !path.exists() => {
            let names: Vec<&str> = Template::shipped_names().collect();
            Err(Error::parameter(format!(
                "--template {name}: there is no such file, and no template of that name comes \
                 with dropchain (there are {})",
                names.join(", ")
            )))
        }
        _ => Template::read(path),
    }
}
