//! Arguments of training that `train` and `tune` share.

use std::path::Path;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, ValueEnum};
use dropchain::corpus::{Format, ReadOptions, read_all};
use dropchain::model::Precision;
use dropchain::noise::Engine;
use dropchain::sentence::Sentence;
use dropchain::train::{Defaults, NoiseKind, TrainOptions};
use dropchain::{Error, Result, atomic_file};

use super::arguments::{Chain, Course, FormatName, Input, Switch};
use super::progress::notice;

/// How weights are stored.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Model")]
pub struct Storage {
    /// Leave weights of attributes that are nearer to 0 than EPS out of the model; 0.001 makes many a
    /// model a third as large. With --dev, the score before and after is told
    #[arg(
        long,
        default_value_t = 0.0,
        value_name = "EPS",
        allow_negative_numbers = true
    )]
    prune: f64,
    /// How weights are stored in the model
    #[arg(long, value_enum, default_value = "f32")]
    precision: PrecisionName,
}

/// How a model is trained, apart from strengths and rates.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Training")]
pub struct Manner {
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
    /// With noise: iterations without it before those with it [default: 20, or half of
    /// --max-iterations if that is less]
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
pub struct Unlabeled {
    /// Files whose sentences the noise term learns from as well; labels in them are not looked at. All
    /// files up to the next option are meant: write TRAIN before it.
    /// Giving the test file here is transductive learning: the model has then seen the test sentences,
    /// so its score says nothing about new text, and is comparable only to other transductive scores
    #[arg(long, num_args = 1.., value_name = "FILE")]
    pub unlabeled: Vec<String>,
    /// Format of these files; without it, what their names say (.txt: raw text)
    #[arg(long, value_enum, value_name = "FORMAT", requires = "unlabeled")]
    unlabeled_format: Option<FormatName>,
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

/// The arguments that options of training are made of, apart from strengths and rates.
#[derive(Clone, Copy, Debug)]
pub struct Shared<'a> {
    /// What kind of model.
    pub chain: &'a Chain,
    /// How it is stored.
    pub storage: &'a Storage,
    /// How it is trained.
    pub manner: &'a Manner,
    /// How long.
    pub course: &'a Course,
    /// On what beside labeled sentences.
    pub unlabeled: &'a Unlabeled,
}

impl Shared<'_> {
    /// The options of training, with default strengths and rates.
    pub fn options(&self) -> Result<TrainOptions> {
        let manner = self.manner;
        Ok(TrainOptions {
            noise: match manner.noise {
                None | Some(NoiseName::Dropout) => NoiseKind::Dropout,
                Some(NoiseName::Gaussian) => NoiseKind::Gaussian,
                Some(NoiseName::Additive) => NoiseKind::Additive,
                Some(NoiseName::MonteCarlo) => NoiseKind::MonteCarlo,
            },
            gradient: match &manner.gradient {
                Some(name) => name.parse()?,
                None => Engine::Adjoint,
            },
            samples: manner.samples.unwrap_or(Defaults::SAMPLES),
            discover: self.unlabeled.discover,
            scheme: self.chain.scheme.into(),
            order: self.chain.order(),
            boundary: self.chain.boundary(),
            states: self.chain.states(),
            precision: match self.storage.precision {
                PrecisionName::F32 => Precision::F32,
                PrecisionName::F64 => Precision::F64,
            },
            prune: self.storage.prune,
            collapse: manner.collapse == Switch::On,
            min_count: self.course.min_count,
            max_iterations: self.course.max_iterations,
            patience: self.course.patience,
            warm_up: manner.warm_up,
            recall_bias: manner.recall_bias.0,
            ..TrainOptions::default()
        })
    }

    /// Refuses options that speak of noise where there is none.
    pub fn check_noise(&self, has_noise: bool) -> Result<()> {
        if has_noise {
            return Ok(());
        }
        let option = match (&self.manner.gradient, self.manner.noise) {
            (Some(name), _) => format!("--gradient {name}: there is no noise"),
            (None, Some(_)) => "--noise: there is none".to_owned(),
            (None, None) if self.unlabeled.unlabeled.is_empty() => return Ok(()),
            (None, None) => "--unlabeled: only noise learns from unlabeled text".to_owned(),
        };
        Err(Error::parameter(format!(
            "{option}; expected --dropout above 0 with it"
        )))
    }
}

impl Manner {
    /// Refuses options that speak of samples where nothing is sampled. A seed may be for nothing else.
    pub fn check_samples(&self, seed: Option<u64>) -> Result<()> {
        if matches!(self.noise, Some(NoiseName::MonteCarlo)) {
            return Ok(());
        }
        let option = match (self.samples, seed) {
            (Some(n), _) => format!("--samples {n}: nothing is sampled"),
            (None, Some(n)) => format!("--seed {n}: nothing is random"),
            (None, None) => return Ok(()),
        };
        Err(Error::parameter(format!(
            "{option}; expected --noise monte-carlo with it"
        )))
    }
}

impl Unlabeled {
    /// The sentences.
    pub fn read(&self, input: &Input) -> Result<Vec<Sentence>> {
        let format = self.unlabeled_format.map(Format::from);
        let mut sentences = Vec::new();
        for file in &self.unlabeled {
            let options = ReadOptions {
                format: Some(format.unwrap_or_else(|| guess_unlabeled(file))),
                unlabeled: true,
                ..input.labeled()
            };
            sentences.extend(read_all(std::slice::from_ref(file), &options)?);
        }
        Ok(sentences)
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

/// Refuses a log that would take the place of the model.
pub fn check_log(log: &Path, model: &Path) -> Result<()> {
    if atomic_file::is_same_file(log, model) {
        return Err(Error::parameter(format!(
            "--log {}: that is where the model goes; expected another file",
            log.display()
        )));
    }
    Ok(())
}

/// The flag that Ctrl-C sets. A second Ctrl-C ends the program at once.
pub fn interrupt_flag() -> &'static AtomicBool {
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
