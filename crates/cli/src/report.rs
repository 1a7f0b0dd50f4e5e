//! `dropchain report`

use std::path::{Path, PathBuf};

use clap::Args;
use dropchain::corpus::{Corpus, Format, ReadOptions, Reader};
use dropchain::sentence::LineRules;
use dropchain::tag::TagOptions;
use dropchain::{Error, Place, Result};
use dropchain_analysis::PredictedColumns;
use dropchain_report::{Evaluated, Report, count_words, training_sample};

use crate::gold_file::{GoldArguments, distinct_names};
use crate::{
    CommandError, CommandFiles, CommandResult, FileName, OutputKind, Progress, ResultFile,
    check_stdin_once, interrupt, notice_unless, print_exact,
};

/// Show training and errors in one HTML page
#[derive(Debug, Args)]
#[command(override_usage = "dropchain report [OPTIONS] [LOG]...")]
#[command(after_long_help = "\
Examples:
  # The course of two runs, and how their settings differ
  dropchain report l2.log dropout.log --output report.html

  # Also the errors of a model, its calibration, and scores by word frequency
  dropchain report run.log --model ner.model --gold dev.conll --train t.conll

  # The errors of two taggers side by side
  dropchain report --gold dev.conll --predictions a.conll --predictions b.conll

  # A file whose last two columns are gold and predicted labels
  dropchain report --predictions tagged.conll

The page is one file that needs no network. It has a section for whatever is given.")]
pub struct ReportCommand {
    /// Logs of `train --log` and `tune --log`
    #[arg(value_name = "LOG")]
    logs: Vec<FileName>,
    /// Gold labels, for --model and --predictions
    #[arg(long, value_name = "FILE")]
    gold: Option<FileName>,
    /// Evaluate this model on the gold labels; may be repeated
    #[arg(long, value_name = "MODEL")]
    model: Vec<FileName>,
    /// Evaluate the predictions in this file; may be repeated
    ///
    /// The predicted labels are the last column of CoNLL files, as written by `tag`, or the labels
    /// of other formats. Without --gold, the column before them has the gold labels. Probabilities
    /// that `tag --marginals` wrote are used for the calibration.
    #[arg(long, value_name = "PRED")]
    predictions: Vec<FileName>,
    /// Training data, for scores by frequency of the words; may be repeated
    ///
    /// With --model, its score on them, too: on their first 5000 sentences.
    #[arg(long, value_name = "TRAIN")]
    train: Vec<FileName>,
    /// File to write, or `-` for standard output
    #[arg(long, short, value_name = "HTML", default_value = "report.html")]
    output: PathBuf,
    /// Title of the page [default: the corpora]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Maximum number of errors to list, over all systems
    #[arg(long, value_name = "N", default_value_t = 500,
          value_parser = clap::value_parser!(u32).range(0..=10_000))]
    max_errors: u32,
    /// Do not print progress
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    reading: GoldArguments,
}

/// What is evaluated, and the columns of the training data of the first model, if it names them.
type Evaluation = (Evaluated, Option<ReadOptions>);

impl ReportCommand {
    pub fn run(&self) -> CommandResult {
        self.check_arguments()?;
        self.check_files()?;
        interrupt::watch();
        let file = self.file().map(ResultFile::new).transpose()?;
        self.reading.threads.start_pool()?;
        let progress = Progress::new(self.quiet);
        let mut report = Report::default();
        for log in &self.logs {
            report.add_file(log.as_ref())?;
        }
        for file in self.model.iter().chain(&self.predictions) {
            report.add_date(file.as_ref());
        }
        if let Some((evaluated, read)) = self.evaluated()? {
            let words = match self.train.is_empty() {
                true => None,
                false => Some(count_words(self.training_data(read, true)?)?),
            };
            report.evaluate(&evaluated, words.as_ref(), self.max_errors as usize)?;
        }
        let page = report.html(self.title.as_deref())?;
        let Some(file) = file else { return print_exact(&page) };
        file.save(page.as_bytes())?;
        progress.println(&format!("wrote {}", self.output.display()));
        Ok(())
    }

    /// Returns the file to write; `None` for standard output.
    fn file(&self) -> Option<&Path> {
        (self.output != Path::new("-")).then_some(&*self.output)
    }

    fn check_arguments(&self) -> CommandResult {
        let systems = self.model.len() + self.predictions.len();
        let fault = match &self.gold {
            None if !self.model.is_empty() => "--model: expected a file with gold labels (--gold)",
            Some(_) if systems == 0 => {
                "--gold: expected what to evaluate: --model MODEL or --predictions PRED"
            }
            None if self.logs.is_empty() && systems == 0 => {
                "found nothing to report; expected logs, or --gold GOLD with --model MODEL or \
                 --predictions PRED"
            }
            _ if !self.train.is_empty() && systems == 0 => {
                "--train: expected what to evaluate: --gold GOLD and --model MODEL"
            }
            _ => return Ok(()),
        };
        Err(CommandError::Usage(fault))
    }

    /// Checks the files. Gold labels are read for each system.
    fn check_files(&self) -> CommandResult {
        let systems = self.model.len() + self.predictions.len();
        let gold = self.gold.iter().cycle().take(systems * usize::from(self.gold.is_some()));
        let corpora = || gold.clone().chain(&self.predictions).chain(&self.train);
        check_stdin_once(corpora())?;
        CommandFiles::default()
            .read(&self.logs)
            .read(corpora())
            .read(&self.model)
            .write("--output", OutputKind::Page, self.file())
            .check()?;
        Ok(())
    }

    /// Reads and tags the files to evaluate; `None` without any.
    fn evaluated(&self) -> Result<Option<Evaluation>> {
        let files = || self.model.iter().chain(&self.predictions);
        let names = distinct_names(files());
        let mut columns = None; // of the first system
        let systems = files().zip(&names).enumerate().map(|(i, (file, name))| {
            let (one, read) = match &self.gold {
                Some(gold) if i < self.model.len() => self.tag(name, file, gold)?,
                Some(gold) => {
                    let gold = self.reading.read(gold, self.quiet)?;
                    let (evaluated, labelings) = gold.evaluate(name, file)?;
                    gold.say_reading();
                    (evaluated.with_corpus(gold.corpus, labelings), None)
                }
                None => (self.read_both(name, file)?, None),
            };
            columns.get_or_insert(read);
            Ok(one)
        });
        let all = Evaluated::joined(systems)?;
        Ok(all.map(|all| (all, columns.flatten())))
    }

    /// Tags a gold file with a model, and a part of the training data.
    fn tag(&self, name: &str, model: &FileName, gold: &FileName) -> Result<Evaluation> {
        let mut tagger = self.reading.open(model, gold, self.quiet)?;
        let header = tagger.tagger.model().header();
        let read = header.read_options(Format::Conll, self.reading.input.read_options());
        let options = TagOptions { marginals: true, ..TagOptions::default() };
        let (evaluated, labelings) = tagger.evaluate(name, options)?;
        // Words are counted of any training data: what cannot be scored has no score.
        let sample = match self.train.is_empty() || self.train.iter().any(|file| &**file == "-") {
            true => None,
            false => self.training_data(Some(read.clone()), false).and_then(training_sample).ok(),
        };
        let (sample, is_more) = sample.flatten().unwrap_or_default();
        let corpus = std::mem::replace(&mut tagger.corpus, sample);
        let evaluated = evaluated.with_corpus(corpus, labelings);
        if tagger.corpus.is_empty() {
            return Ok((evaluated, Some(read)));
        }
        // Of training data, probabilities are not needed, and nothing is said.
        tagger.quiet = true;
        let Ok((training, labelings)) = tagger.evaluate(name, TagOptions::default()) else {
            return Ok((evaluated, Some(read)));
        };
        let training = training.with_corpus(tagger.corpus, labelings);
        Ok((evaluated.with_training(&training, is_more)?, Some(read)))
    }

    /// Reads predictions and gold labels from the last columns of one file, as conlleval does.
    fn read_both(&self, name: &str, file: &FileName) -> Result<Evaluated> {
        if let Some(label) = self.reading.input.label.as_deref().filter(|l| l.contains('+')) {
            return Err(Error::parameter(format!(
                "--label {label}: labels that join columns are in several columns of {file}; \
                 expected a file with gold labels (--gold)"
            )));
        }
        let options = ReadOptions {
            label: None,
            columns: None,
            // `tag` writes no header.
            lines: LineRules { header: false, ..self.reading.input.lines.rules() },
            ..self.reading.input.read_options()
        };
        let corpus = Corpus::read([file], &options)?;
        let columns = PredictedColumns::of(&corpus, true);
        let mut evaluated = Evaluated::new(name);
        let mut sentences = corpus.iter().filter(|s| !s.layout.document_start).peekable();
        let Some(first) = sentences.peek().copied() else {
            return Err(Error::input(Place::file(&**file), "found no sentences"));
        };
        if let Some(column) = columns.gold(first) {
            let read =
                format!("{file}: read gold labels in column {}, then predictions", column + 1);
            notice_unless(self.quiet, &read);
        }
        for sentence in sentences {
            let column = columns.gold(sentence).ok_or_else(|| {
                Error::input(
                    sentence.place(0),
                    "found no column for gold labels; expected columns of which the last two are \
                     the gold and the predicted label, or a file with gold labels (--gold)",
                )
            })?;
            let gold: Vec<_> = (0..sentence.len()).map(|t| sentence.cell(t, column)).collect();
            let probabilities = columns.probabilities(sentence);
            evaluated.add(&gold, &columns.labels(sentence)?, probabilities);
        }
        let labelings = evaluated.detect(&corpus, &self.reading.labels.detector());
        Ok(evaluated.with_corpus(corpus, labelings))
    }

    /// Opens the training data, read like those of the model if there is one.
    fn training_data(&self, read: Option<ReadOptions>, unlabeled: bool) -> Result<Reader> {
        let read = read.unwrap_or_else(|| self.reading.input.read_options());
        Reader::open(&self.train, &ReadOptions { unlabeled, ..read })
    }
}
