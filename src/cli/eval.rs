//! `dropchain eval`

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use clap::Args;
use dropchain::corpus::{Format, read_all};
use dropchain::eval::Evaluation;
use dropchain::label::convert;
use dropchain::sentence::Sentence;
use dropchain::tag::{TagOptions, Tagger, Tagging, Workspace};
use dropchain::{Error, Result};
use rayon::prelude::*;

use super::arguments::{Input, Switch, Threads};
use super::predictions::{Gold, labels};
use super::progress::notice;
use super::tag::read_options;
use super::{Failure, Outcome, print};

/// Confusions that are shown.
const CONFUSIONS: usize = 30;

/// Compare predicted labels with gold labels, as conlleval does
#[derive(Debug, Args)]
#[command(override_usage = "dropchain eval [OPTIONS] MODEL GOLD\n       \
                            dropchain eval [OPTIONS] --predictions PRED GOLD")]
#[command(after_help = "\
Examples:
  dropchain eval ner.model test.conll
  dropchain tag ner.model test.conll > test.tagged
  dropchain eval --predictions test.tagged test.conll --per-label --confusion
  dropchain eval ner.model test.conll --json | jq .f1

The text is that of conlleval, letter for letter; for labels that write no spans (parts of
speech) it is the accuracy.")]
pub struct Arguments {
    /// The model, then the gold file; with --predictions only the gold file
    #[arg(required = true, num_args = 1..=2, value_names = ["MODEL", "GOLD"])]
    files: Vec<String>,
    /// A file with predicted labels: the last column of CoNLL (as `tag` writes it), the label column of
    /// CoNLL-U, the labels of JSON lines
    #[arg(long, value_name = "PRED")]
    predictions: Option<String>,
    #[command(flatten)]
    input: Input,
    /// Predict only label sequences that the scheme allows
    #[arg(long, value_enum, default_value = "on")]
    constrain: Switch,
    /// Show the scores of each label as well
    #[arg(long)]
    per_label: bool,
    /// Show the most frequent confusions as well
    #[arg(long)]
    confusion: bool,
    /// Print JSON: scores as fractions
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    threads: Threads,
}

impl Arguments {
    /// Runs the command.
    pub fn run(&self) -> Outcome {
        self.threads.start()?;
        let evaluation = match (&self.predictions, self.files.as_slice()) {
            (Some(predictions), [gold]) => self.compare(predictions, gold)?,
            (None, [model, gold]) => self.tag(model, gold)?,
            (Some(_), _) => {
                return Err(Failure::Usage(
                    "expected one gold file beside --predictions, found two files",
                ));
            }
            (None, _) => {
                return Err(Failure::Usage(
                    "expected a model and a gold file (or --predictions PRED and a gold file)",
                ));
            }
        };
        let text = if self.json {
            self.json(&evaluation)?
        } else {
            self.text(&evaluation)
        };
        print(&text)
    }

    fn text(&self, evaluation: &Evaluation) -> String {
        let mut text = evaluation.to_string();
        if self.per_label {
            text.push('\n');
            text.push_str(&evaluation.label_table());
        }
        if self.confusion {
            text.push('\n');
            text.push_str(&evaluation.confusion_table(CONFUSIONS));
        }
        text
    }

    fn json(&self, evaluation: &Evaluation) -> Result<String> {
        let detailed = evaluation.detailed_report(CONFUSIONS);
        let mut report = evaluation.report();
        if self.per_label {
            report.labels = detailed.labels;
        }
        if self.confusion {
            report.confusions = detailed.confusions;
        }
        serde_json::to_string(&report)
            .map(|json| json + "\n")
            .map_err(|e| Error::parameter(format!("cannot write the report as JSON: {e}")))
    }

    /// Tags the gold file and compares.
    fn tag(&self, model: &str, gold: &str) -> Result<Evaluation> {
        let tagger = Tagger::open(PathBuf::from(model))?;
        let format = self
            .input
            .format
            .map_or_else(|| Format::guess(gold), Into::into);
        let columns = self.input.columns.as_deref();
        let mut options = read_options(&tagger, format, columns, self.input.comments);
        options.unlabeled = false;
        if self.input.label.is_some() {
            options.label = self.input.label.clone();
        }
        let sentences = read_all(&[gold], &options)?;
        let tag_options = TagOptions {
            constrain: self.constrain == Switch::On,
            ..TagOptions::default()
        };
        let taggings = Workspaces::default().tag(&tagger, &sentences, tag_options);
        let header = tagger.model().header();
        let (scheme, is_own) = (header.corpus_scheme, header.corpus_scheme == header.scheme);
        let mut any_known = !is_own;
        let mut evaluation = self.evaluation();
        for (sentence, tagging) in sentences.iter().zip(taggings) {
            if sentence.layout.document_start {
                evaluation.add_document_start();
                continue;
            }
            let tags = tagging?.labels;
            let predicted = tagger.label_names(&tags);
            let gold = labels(sentence)?;
            any_known = any_known || gold.iter().any(|label| header.labels.id(label).is_some());
            if is_own {
                evaluation.add(&gold, &predicted)?;
            } else {
                evaluation.add(&gold, &convert(&predicted, scheme))?;
            }
        }
        if !any_known {
            notice(&format!(
                "warning: {gold}: the model has none of the gold labels; are they in the right column \
                 (--label)?"
            ));
        }
        Ok(evaluation)
    }

    /// Compares two files.
    fn compare(&self, predictions: &str, gold: &str) -> Result<Evaluation> {
        let gold = Gold::read(&self.input, gold)?;
        let predicted = gold.predictions(&self.input, predictions)?;
        let mut evaluation = self.evaluation();
        for (gold, predicted) in gold.sentences.iter().zip(&predicted) {
            if gold.layout.document_start {
                evaluation.add_document_start();
            } else {
                evaluation.add(&labels(gold)?, &labels(predicted)?)?;
            }
        }
        Ok(evaluation)
    }

    fn evaluation(&self) -> Evaluation {
        if self.per_label || self.confusion {
            Evaluation::with_confusions()
        } else {
            Evaluation::new()
        }
    }
}

/// One workspace for each thread.
struct Workspaces(Vec<Mutex<Workspace>>);

impl Default for Workspaces {
    fn default() -> Self {
        let threads = rayon::current_num_threads();
        Self((0..threads).map(|_| Mutex::default()).collect())
    }
}

impl Workspaces {
    /// Tags sentences in parallel; results in their order.
    fn tag(
        &self,
        tagger: &Tagger,
        sentences: &[Sentence],
        options: TagOptions,
    ) -> Vec<Result<Tagging>> {
        let tag = |sentence: &Sentence| {
            let thread = rayon::current_thread_index().unwrap_or(0);
            // A workspace is scratch space: whatever a panic left in it is overwritten.
            let workspace = self.0[thread % self.0.len()].lock();
            let mut workspace = workspace.unwrap_or_else(PoisonError::into_inner);
            tagger.tag_with(sentence, options, &mut workspace)
        };
        match sentences {
            [sentence] => vec![tag(sentence)],
            sentences => sentences.par_iter().map(tag).collect(),
        }
    }
}
