//! The training arguments that `train`, `tune` and `bench gradients` share.

use clap::Args;
use dropchain::corpus::{Corpus, Format, ReadOptions};
use dropchain::train::{AnyOptions, BaseModels, TrainOptions, TrainingCorpora};
use dropchain::{Error, Result};
use dropchain_formats::{InputFormat, SpanOptions};
use dropchain_online::Method;
use dropchain_options::FixedOptions;

use super::arguments::{InputArguments, input_format};
use super::file_name::FileName;
use super::partial_label_arguments::PartialLabelArguments;
use super::progress::Progress;

/// The arguments that `train` and `tune` share, which are all but strengths and rates.
#[derive(Clone, Debug, Args)]
pub struct TrainingArguments {
    #[command(flatten)]
    options: FixedOptions,
    #[command(flatten)]
    unlabeled: UnlabeledArguments,
    #[command(flatten)]
    partial: PartialLabelArguments,
}

impl TrainingArguments {
    /// Returns the options for training that continues from `models`, if there are any, with
    /// default strengths and rates.
    pub fn options(&self, models: &BaseModels<'_>) -> TrainOptions {
        let model = models.first();
        let mut options = model.map_or_else(TrainOptions::default, TrainOptions::continuing);
        self.options.apply(&mut options);
        options
    }

    /// Returns the algorithm.
    pub fn method(&self) -> Method {
        self.options.algorithm.method()
    }

    /// Returns the options with the learner, which takes the place of L-BFGS.
    pub fn with_learner(&self, options: TrainOptions, is_warm: bool) -> Result<AnyOptions> {
        self.options.with_learner(options, is_warm)
    }

    /// Rejects unlabeled text for an algorithm that cannot learn from it.
    pub fn check_unlabeled(&self) -> Result<()> {
        let algorithm = self.method();
        let is_sampled = self.options.noise.is_sampled();
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
        let algorithm = self.method();
        let expected = if algorithm.is_probabilistic() {
            "expected --dropout above 0".to_owned()
        } else {
            format!("--algorithm {} has none", algorithm.name())
        };
        let given = self.options.noise.given();
        let option = match (gradient, given) {
            (Some(name), _) => format!("--gradient {name}"),
            (None, Some(option)) => option.to_owned(),
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
        let is_online = self.method().is_online();
        let is_sampled = self.options.noise.is_sampled();
        let (option, expected) = match (self.options.noise.samples(), seed) {
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
    #[arg(long, num_args = 1.., value_name = "FILE", hide_short_help = true)]
    unlabeled: Vec<FileName>,
    /// Format of the unlabeled text [default: by file name; .txt and - are raw text]
    #[arg(
        long,
        value_parser = input_format(),
        value_name = "FORMAT",
        requires = "unlabeled",
        hide_short_help = true,
        hide_long_help = true
    )]
    unlabeled_format: Option<InputFormat>,
}

impl UnlabeledArguments {
    /// Returns the files with their formats.
    fn files(&self) -> impl Iterator<Item = (&FileName, InputFormat)> {
        let format = self.unlabeled_format;
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
