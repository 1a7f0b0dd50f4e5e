//! The inputs of training: corpora, models, checkpoints.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use dropchain::corpus::{Corpus, Format, ReadLimits, ReadOptions, Supervision};
use dropchain::kernel::train::AnyOptions;
use dropchain::template::Template;
use dropchain::train::{
    BaseModels, BaseRole, CheckpointInterval, Checkpoints, HoldOut, MatchCounts, ModelMatch,
    NoiseKind, TrainingCorpora,
};
use dropchain::{Error, Model, Result};
use dropchain_formats::{InputFormat, SpanOptions};
use dropchain_layout::format_table;
use dropchain_options::{FixedOptions, SearchedOptions, TrainingOptions};

use crate::arguments::{InputArguments, PartialLabelArguments};
use crate::template_arguments::KnowledgeArguments;
use crate::{FileName, Progress};

/// The arguments that `train` and `tune` share, which are all but strengths and rates.
#[derive(Clone, Debug, Args)]
pub struct TrainingArguments {
    #[command(flatten)]
    options: FixedOptions,
    /// Unlabeled text for the noise term; --clusters of the same files usually gains more
    ///
    /// Parts of speech from 300 sentences: accuracy 89.90 without, 89.06 with --unlabeled (at the
    /// weight 0.2, in 15 times the time), 90.93 with --clusters. Labels in the files are ignored.
    ///
    /// Names such as more.jsonl tell their formats; other files are as in --format, or without it
    /// .txt and - are raw text, the rest CoNLL.
    ///
    /// Takes all arguments up to the next option, so put TRAIN first.
    ///
    /// Passing the test file is transductive learning: the model has then seen the test sentences,
    /// so its score does not estimate performance on new text and is comparable only with other
    /// transductive scores.
    #[arg(long, num_args = 1.., value_name = "FILE", hide_short_help = true,
          help_heading = "Unlabeled text")]
    unlabeled: Vec<FileName>,
    #[command(flatten)]
    partial: PartialLabelArguments,
    #[command(flatten)]
    pub knowledge: KnowledgeArguments,
}

impl TrainingArguments {
    /// Returns the options for training with the strengths and rates of `searched`, which continues
    /// from `models`, if there are any.
    pub fn options(
        &self,
        models: &BaseModels<'_>,
        searched: SearchedOptions,
    ) -> Result<AnyOptions> {
        let base = models.default_options();
        TrainingOptions { fixed: self.options.clone(), searched }.over(base)
    }

    /// Rejects options that have no effect: those of noise if there is none, such as a `gradient`,
    /// and unlabeled text for an algorithm that cannot learn from it.
    pub fn check(&self, has_noise: bool, gradient: Option<&str>) -> Result<()> {
        let algorithm = self.options.method();
        let name = algorithm.name();
        let is_sampled = self.is_sampled();
        let fault = if !algorithm.is_probabilistic() {
            Some("learns from labels alone")
        } else if algorithm.is_online() && is_sampled {
            Some("drops attributes at random, which teaches nothing without labels")
        } else {
            None
        };
        if let Some(reason) = fault.filter(|_| self.has_unlabeled()) {
            let noise = if is_sampled { " --noise monte-carlo" } else { "" };
            return Err(Error::parameter(format!(
                "--unlabeled: --algorithm {name}{noise} {reason}; expected --algorithm lbfgs, or \
                 sgd with --noise dropout"
            )));
        }
        if has_noise {
            return Ok(());
        }
        let option = match (gradient, self.options.noise) {
            (Some(name), _) => format!("--gradient {name}"),
            (None, Some(_)) => "--noise".to_owned(),
            (None, None) if self.has_unlabeled() => "--unlabeled".to_owned(),
            (None, None) => return Ok(()),
        };
        let expected = match algorithm.is_probabilistic() {
            true => "expected --dropout above 0".to_owned(),
            false => format!("--algorithm {name} has none"),
        };
        Err(Error::parameter(format!("{option}: requires noise; {expected}")))
    }

    fn is_sampled(&self) -> bool {
        self.options.noise.is_some_and(NoiseKind::is_sampled)
    }

    /// Says that a seed has no effect, if that is so; `None` of a seed that is used otherwise.
    pub fn notice_of_seed(&self, seed: Option<u64>) -> Option<String> {
        let is_random = self.is_sampled() || self.options.method().is_online();
        let seed = seed.filter(|_| !is_random)?;
        Some(format!(
            "note: --seed {seed} has no effect: training draws nothing at random, except with \
             --noise monte-carlo, an online algorithm or warm start, --dev 10% or --fraction"
        ))
    }

    /// Returns all files that [`read_corpora`](Self::read_corpora) reads.
    pub fn corpus_files<'a>(
        &'a self,
        train: &'a [FileName],
        dev: &'a [FileName],
    ) -> impl Iterator<Item = &'a FileName> + Clone {
        let dev = dev.iter().filter(|file| !is_share_of_dev(file));
        train.iter().chain(dev).chain(&self.unlabeled)
    }

    /// Returns the share of the training data that `--dev` holds out; `None` if it names files.
    ///
    /// # Errors
    ///
    /// It is no share between 0 and 100 percent, or there are other development data.
    pub fn share_of_dev(&self, dev: &[FileName]) -> Result<Option<HoldOut>> {
        let shares = dev.iter().filter(|file| is_share_of_dev(file));
        match (shares.count(), dev) {
            (0, _) => Ok(None),
            (_, [share]) => HoldOut::parse(share),
            _ => Err(Error::parameter(format!(
                "--dev {}: expected files of development data, or one share of the training data",
                dev.join(" --dev ")
            ))),
        }
    }

    /// Returns whether there are files of unlabeled text.
    pub fn has_unlabeled(&self) -> bool {
        !self.unlabeled.is_empty()
    }

    /// Reads the training files, the development data (`None` without any), with the seed that
    /// chooses a share of the training data, and the unlabeled text.
    pub fn read_corpora(
        &self,
        train: &[FileName],
        (dev, seed): (&[FileName], u64),
        input: &InputArguments,
        progress: &Progress,
    ) -> Result<TrainingCorpora> {
        progress.update(&format!("reading {}", train.join(", ")));
        let options = self.partial.apply(input.read_options());
        let limits = options.limits;
        let labeled = Corpus::read(train, &options)?;
        if let Some(hint) = self.partial.hint(&labeled) {
            progress.println(&hint);
        }
        let beside = |held| {
            let memory = limits.memory.beyond(held);
            ReadOptions { limits: ReadLimits { memory, ..limits }, ..options.clone() }
        };
        let mut held = labeled.memory();
        let share = self.share_of_dev(dev)?;
        let dev = match share.is_some() || dev.is_empty() {
            true => None,
            false => Some(Corpus::read(dev, &beside(held))?),
        };
        held += dev.as_ref().map_or(0, Corpus::memory);
        let mut unlabeled = Corpus::new();
        for file in &self.unlabeled {
            let options = ReadOptions {
                unlabeled: true,
                supervision: Supervision::default(),
                ..beside(held + unlabeled.memory())
            };
            let options = match Format::of_name(file) {
                None if input.format.is_some() => options,
                _ => InputFormat::from(Format::guess_unlabeled(file))
                    .apply(SpanOptions::default(), options),
            };
            unlabeled.extend(Corpus::read([file], &options)?);
        }
        input.text.print_notices_to(progress);
        let corpora = TrainingCorpora { labeled, dev, unlabeled, held_out: None };
        match share {
            Some(share) => corpora.hold_out(share, seed),
            None => Ok(corpora),
        }
    }
}

/// The models that training continues from.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Continued training")]
pub struct InitArguments {
    /// Start at the weights of this model, and keep its labels and attributes
    ///
    /// Order, boundary weights, label scheme and, without --template, the template are those of the
    /// model. Attributes that the training data do not have keep their weights. It may be the file
    /// of --model, which is replaced when training is done.
    #[arg(long, value_name = "MODEL")]
    pub init: Option<PathBuf>,
    /// Pull weights towards those of this model instead of 0, as strongly as --l2 says
    ///
    /// The model is a prior from other data. Training starts there, too, unless --init is given;
    /// otherwise like --init.
    #[arg(long, value_name = "MODEL", hide_short_help = true)]
    pub towards: Option<PathBuf>,
}

impl InitArguments {
    /// Opens the models, of `init` and `towards`.
    ///
    /// # Errors
    ///
    /// A file cannot be read or is not a model.
    pub fn open(&self) -> Result<[Option<Model>; 2]> {
        let open = |path: &Option<PathBuf>| path.as_ref().map(dropchain_crfsuite::open).transpose();
        Ok([open(&self.init)?, open(&self.towards)?])
    }

    /// Returns the files of the models.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.init.iter().chain(&self.towards).map(PathBuf::as_path)
    }
}

/// Returns whether a value of `--dev` is a share of the training data, not a file.
pub fn is_share_of_dev(dev: &str) -> bool {
    !matches!(HoldOut::parse(dev), Ok(None))
}

/// Returns the opened models with their roles.
pub fn base_models([init, towards]: &[Option<Model>; 2]) -> BaseModels<'_> {
    BaseModels { init: init.as_ref(), towards: towards.as_ref() }
}

/// Says what becomes of the template of the models if training uses none.
pub fn notice_of_template(models: &BaseModels<'_>, new: Option<&Template>) -> Option<String> {
    let model = models.first().filter(|_| new.is_none() && models.template().is_some())?;
    Some(format!(
        "the training files come with attributes of their own: unlike {}, the new model will have \
         no template",
        model.path().display()
    ))
}

/// Formats what a model has in common with the training data as a table.
pub fn format_match(found: &ModelMatch) -> String {
    let row = |name: &str, counts: &MatchCounts| {
        let MatchCounts { matched, new, only_in_model } = counts;
        let numbers = [matched, new, only_in_model].map(ToString::to_string);
        [name.to_owned()].into_iter().chain(numbers).collect()
    };
    let title = match found.role {
        BaseRole::Init => "training starts at",
        BaseRole::Towards => "pulled towards",
    };
    let heading = [&format!("{title} {}", found.model), "matched", "new", "only in the model"];
    let mut rows = vec![
        heading.map(str::to_owned).to_vec(),
        row("labels", &found.labels),
        row("node attributes", &found.node_attributes),
        row("edge attributes", &found.edge_attributes),
        row("transitions", &found.transitions),
    ];
    rows.retain(|row: &Vec<String>| row[0] != "edge attributes" || row[1..] != ["0", "0", "0"]);
    format_table(rows.into_iter()).trim_end().to_owned()
}

/// Checkpoints.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Checkpoints")]
pub struct CheckpointArguments {
    /// Write the state of training to this file, to continue with --resume after a crash
    ///
    /// Also when training is interrupted. The file is deleted once the model is written.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub checkpoint: Option<PathBuf>,
    /// Continue from the checkpoint, if there is one, to the same result as without interruption
    ///
    /// Give the same files and options as before; --max-iterations, --patience, --prune,
    /// --precision and --threads may differ (in two passes, --threads alone). Without a checkpoint
    /// training starts from the beginning, so that the same command can always be used.
    #[arg(long, requires = "checkpoint", hide_short_help = true)]
    pub resume: bool,
    /// How often: after N iterations, or after a time such as 30s, 10m or 2h [default: 10m]
    #[arg(long, value_name = "N|TIME", requires = "checkpoint", hide_long_help = true,
          value_parser = interval)]
    checkpoint_every: Option<CheckpointInterval>,
}

impl CheckpointArguments {
    /// Returns the checkpoints of training.
    pub fn checkpoints(&self) -> Option<Checkpoints> {
        let checkpoints = Checkpoints::new(self.checkpoint.as_ref()?);
        let checkpoints = self.checkpoint_every.into_iter().fold(checkpoints, Checkpoints::every);
        Some(if self.resume { checkpoints.resume() } else { checkpoints })
    }
}

/// Parses the value of `--checkpoint-every`.
fn interval(text: &str) -> Result<CheckpointInterval, &'static str> {
    let expected = "expected a number of iterations, or a time such as 30s, 10m or 2h";
    let digits = text.trim_end_matches(char::is_alphabetic);
    let number: u64 = digits.parse().map_err(|_| expected)?;
    let seconds = match &text[digits.len()..] {
        "" if number > 0 => {
            let iterations = usize::try_from(number).unwrap_or(usize::MAX);
            return Ok(CheckpointInterval::Iterations(iterations));
        }
        "s" => number,
        "m" => number.saturating_mul(60),
        "h" => number.saturating_mul(3600),
        _ => return Err(expected),
    };
    Ok(CheckpointInterval::Time(Duration::from_secs(seconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_a_number_of_iterations_or_a_time() {
        assert_eq!(interval("25"), Ok(CheckpointInterval::Iterations(25)));
        let time = |seconds| Ok(CheckpointInterval::Time(Duration::from_secs(seconds)));
        assert_eq!(interval("30s"), time(30));
        assert_eq!(interval("10m"), time(600));
        assert_eq!(interval("2h"), time(7200));
        for text in ["0", "", "m", "-1", "1.5", "10 m", "1d", "99999999999999999999"] {
            let error = interval(text).unwrap_err();
            assert!(error.starts_with("expected a number of iterations"), "{text}");
        }
    }
}
