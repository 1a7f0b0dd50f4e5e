//! `dropchain report`

mod analysis;
mod calibration;
mod evaluated;
mod frequency;
mod gradients;
mod matrix;
mod page;
mod plot;
mod scores;
mod search;
mod sentences;
mod training;
mod views;

use std::path::{Path, PathBuf};

use clap::Args;
use dropchain::corpus::{ReadOptions, Reader};
use dropchain::{Result, Sentence};
use dropchain_analysis::WordCounts;
use dropchain_report::{Recorded, read_recorded};

use super::arguments::{
    InputArguments, OutputArguments, PlainLabelArguments, Switch, ThreadArguments,
};
use super::document_arguments::DocumentArguments;
use super::file_name::FileName;
use super::interrupt;
use super::outputs::{CommandFiles, Kind, ResultFile};
use super::progress::Progress;
use super::{CommandError, CommandResult, check_stdin_once, print};
use analysis::Analysis;
use calibration::CalibrationView;
use evaluated::{Evaluated, EvaluatedFiles};
use frequency::Frequency;
use gradients::Gradients;
use page::Page;
use scores::Scores;
use search::Search;
use training::{NamedRun, Training};

/// Show training and errors in one HTML page
#[derive(Debug, Args)]
#[command(override_usage = "dropchain report [OPTIONS] [LOG]...")]
#[command(after_help = "\
Examples:
  # The course of two runs, and how their settings differ
  dropchain report l2.log dropout.log --output report.html

  # Also the errors of a model, its calibration, and scores by word frequency
  dropchain report run.log --model ner.model --gold dev.conll --train t.conll

  # The errors of two taggers side by side
  dropchain report --gold dev.conll --predictions a.conll --predictions b.conll

  # A file whose last two columns are gold and predicted labels
  dropchain report --predictions tagged.conll

  # A search, and the measurements of the gradient engines
  dropchain report tune.log gradients.json

The page is one file that needs no network. It has a section for whatever is given, and names what
is missing for the others.")]
pub struct ReportCommand {
    /// Logs of `train --log` and `tune --log`, results of `bench gradients --json`
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
    #[arg(long, value_name = "TRAIN")]
    train: Vec<FileName>,
    /// File to write, or `-` for standard output
    #[arg(long, short, value_name = "HTML", default_value = "report.html")]
    output: PathBuf,
    /// Title of the page
    #[arg(long, value_name = "TEXT", default_value = "dropchain report")]
    title: String,
    /// Maximum number of errors to list, over all systems
    #[arg(long, value_name = "N", default_value_t = 500,
          value_parser = clap::value_parser!(u32).range(0..=100_000))]
    max_errors: u32,
    /// Predict only label sequences that are valid in the label scheme
    #[arg(long, value_enum, default_value = "on")]
    constrain: Switch,
    #[command(flatten)]
    replace: OutputArguments,
    /// Do not print progress
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    threads: ThreadArguments,
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    plain: PlainLabelArguments,
    #[command(flatten)]
    document: DocumentArguments,
}

/// What the files record.
#[derive(Default)]
struct Records {
    runs: Vec<NamedRun>,
    searches: Vec<Search>,
    gradients: Vec<Gradients>,
}

impl ReportCommand {
    pub fn run(&self) -> CommandResult {
        self.check_arguments()?;
        self.check_files()?;
        interrupt::watch();
        let file = self.file().map(ResultFile::reserve).transpose()?;
        self.threads.start_pool()?;
        let progress = Progress::new(self.quiet);
        let mut page = Page::new(&self.title);
        let records = self.read_logs()?;
        if !records.runs.is_empty() {
            page.training = Some(Training::new(&records.runs)?);
        }
        page.searches = records.searches;
        page.gradients = records.gradients;
        if let Some(evaluated) = Evaluated::read(&self.evaluated_files())? {
            self.evaluate(&evaluated, &mut page)?;
        }
        let page = page.render()?;
        let Some(file) = file else {
            return print(&page);
        };
        file.save(page.as_bytes())?;
        progress.println(&format!("wrote {}", self.output.display()));
        Ok(())
    }

    /// Returns the file to write; `None` for standard output.
    pub fn file(&self) -> Option<&Path> {
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
        let gold = self
            .gold
            .iter()
            .cycle()
            .take(systems * usize::from(self.gold.is_some()));
        let corpora = || gold.clone().chain(&self.predictions).chain(&self.train);
        check_stdin_once(corpora())?;
        CommandFiles::new(self.replace.force)
            .read(&self.logs)
            .read(corpora())
            .read(&self.model)
            .write("--output", Kind::Page, self.file())
            .check()?;
        Ok(())
    }

    fn evaluated_files(&self) -> EvaluatedFiles<'_> {
        EvaluatedFiles {
            gold: self.gold.as_ref(),
            models: &self.model,
            predictions: &self.predictions,
            input: &self.input,
            plain: self.plain.plain_labels(),
            documents: self.document,
            constrain: self.constrain.is_on(),
        }
    }

    fn read_logs(&self) -> Result<Records> {
        let mut records = Records::default();
        for log in &self.logs {
            for recorded in read_recorded(Path::new(AsRef::<std::ffi::OsStr>::as_ref(log)))? {
                match recorded {
                    Recorded::Run(run) => {
                        let name = match &run.pass {
                            Some(pass) => format!("{log}, {pass}"),
                            None => log.to_string(),
                        };
                        records.runs.push(NamedRun { name, run });
                    }
                    Recorded::Search(search) => {
                        records.searches.push(Search::new(log, &search)?);
                    }
                    Recorded::Gradients(gradients) => {
                        records.gradients.push(Gradients::new(log, &gradients)?);
                    }
                }
            }
        }
        Ok(records)
    }

    fn evaluate(&self, evaluated: &Evaluated, page: &mut Page) -> Result<()> {
        let words = match self.train.is_empty() {
            true => None,
            false => Some(self.count_words(evaluated)?),
        };
        let max_errors = self.max_errors as usize;
        let analysis = Analysis::new(evaluated, words.as_ref(), max_errors)?;
        page.scores = Some(Scores::new(evaluated, &analysis)?);
        page.calibration = CalibrationView::new(evaluated, analysis.has_spans)?;
        let has_words = evaluated.corpus.iter().any(|s| words_of(s).is_some());
        if let Some(words) = words.filter(|_| has_words) {
            page.frequency = Some(Frequency::new(evaluated, &analysis, &words)?);
        }
        page.set_errors(evaluated, analysis);
        Ok(())
    }

    /// Counts the words of the training data, in the columns of the model if it has names for them.
    fn count_words(&self, evaluated: &Evaluated) -> Result<WordCounts> {
        let input = &self.input;
        let columns = input.columns.clone().or_else(|| evaluated.columns.clone());
        let options = ReadOptions {
            columns,
            unlabeled: true,
            ..input.read_options()
        };
        let mut words = WordCounts::default();
        for sentence in Reader::open(&self.train, &options)? {
            let sentence = sentence?;
            if !sentence.layout.document_start {
                let own = words_of(&sentence).into_iter().flatten();
                own.for_each(|word| words.add(word));
            }
        }
        Ok(words)
    }
}

/// Returns the words of a sentence; ready-made attributes have none.
fn words_of(sentence: &Sentence) -> Option<impl Iterator<Item = &str>> {
    let only_labels = sentence.schema().width() == 1 && sentence.schema().label() == Some(0);
    sentence.words().filter(|_| !only_labels)
}
