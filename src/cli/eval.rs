//! `dropchain eval`

use std::sync::{Mutex, PoisonError};

use clap::Args;
use dropchain::corpus::{Corpus, Format, ReadOptions, Reader};
use dropchain::eval::Evaluation;
use dropchain::internals::sentence::Sentence;
use dropchain::label::{LabelSet, convert};
use dropchain::tag::{TagDocuments, TagOptions, Tagger, Tagging, Workspace};
use dropchain::{Error, Result};
use rayon::prelude::*;

use super::arguments::{InputArguments, Switch, ThreadArguments};
use super::document_arguments::DocumentArguments;
use super::file_name::FileName;
use super::model_input::ModelColumns;
use super::outputs::CommandFiles;
use super::predictions::{GoldCorpus, labels};
use super::progress::notice;
use super::{CommandError, CommandResult, json_line, print};

/// Maximum number of rows in the confusion table.
const CONFUSIONS: usize = 30;

/// Score predicted labels against gold labels, like conlleval
#[derive(Debug, Args)]
#[command(override_usage = "dropchain eval [OPTIONS] MODEL GOLD\n       \
                            dropchain eval [OPTIONS] --predictions PRED GOLD")]
#[command(after_help = "\
Examples:
  dropchain eval ner.model test.conll
  dropchain tag ner.model test.conll > test.tagged
  dropchain eval --predictions test.tagged test.conll --per-label --confusion
  dropchain eval ner.model test.conll --json | jq .f1

The output matches conlleval's exactly. For labels that encode no spans (parts of speech) it is the
accuracy.")]
pub struct EvalCommand {
    /// Model and gold file; with --predictions, just the gold file
    #[arg(required = true, num_args = 1..=2, value_names = ["MODEL", "GOLD"])]
    files: Vec<FileName>,
    /// Score the predictions in this file instead of tagging with a model
    ///
    /// The labels are the last column of CoNLL files (as written by `tag`), the label column of
    /// CoNLL-U files, or the labels of JSON lines.
    #[arg(long, value_name = "PRED")]
    predictions: Option<FileName>,
    /// Predict only label sequences that are valid in the label scheme
    #[arg(long, value_enum, default_value = "on")]
    constrain: Switch,
    /// Also print precision, recall and F1 of each label
    #[arg(long)]
    per_label: bool,
    /// Also print the most frequent confusions
    #[arg(long)]
    confusion: bool,
    /// Print JSON, with scores as fractions
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    threads: ThreadArguments,
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    document: DocumentArguments,
}

impl EvalCommand {
    pub fn run(&self) -> CommandResult {
        CommandFiles::new(false)
            .read(&self.files)
            .read(&self.predictions)
            .check()?;
        self.threads.start_pool()?;
        let evaluation = match (&self.predictions, self.files.as_slice()) {
            (Some(predictions), [gold]) => self.evaluate_predictions(predictions, gold)?,
            (None, [model, gold]) => self.evaluate_model(model, gold)?,
            (Some(_), _) => {
                return Err(CommandError::Usage(
                    "expected just a gold file with --predictions, found two files",
                ));
            }
            (None, _) => {
                return Err(CommandError::Usage(
                    "expected a model and a gold file, or --predictions PRED and a gold file",
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
        json_line(&report)
    }

    /// Tags the gold file and scores the result.
    fn evaluate_model(&self, model: &FileName, gold: &FileName) -> Result<Evaluation> {
        let tagger = Tagger::open(model)?;
        let tagger = tagger.with_memory_limit(self.input.limits.memory());
        let tagger = self.document.apply_to_tagger(tagger)?;
        let corpus = self.read_gold(&tagger, gold)?;
        let options = TagOptions {
            constrain: self.constrain.is_on(),
            ..TagOptions::default()
        };
        let taggings = tag_parallel(&tagger, corpus.sentences(), options);
        let header = tagger.model().header();
        let needs_conversion = header.corpus_scheme != header.scheme;
        let mut any_known = needs_conversion;
        let mut evaluation = self.evaluation();
        for (sentence, tagging) in corpus.iter().zip(taggings) {
            if sentence.layout.document_start {
                evaluation.add_document_start();
                continue;
            }
            let tags = tagging?.labels;
            let predicted = tagger.label_names(&tags);
            let gold = labels(sentence)?;
            check_complete(sentence, &gold, &header.labels)?;
            any_known = any_known || gold.iter().any(|label| header.labels.id(label).is_some());
            if needs_conversion {
                evaluation.add(&gold, &convert(&predicted, header.corpus_scheme))?;
            } else {
                evaluation.add(&gold, &predicted)?;
            }
        }
        if !any_known {
            notice(&format!(
                "warning: {gold}: the model knows none of the gold labels; check the label column \
                 (--label)"
            ));
        }
        Ok(evaluation)
    }

    fn read_gold(&self, tagger: &Tagger, gold: &FileName) -> Result<Corpus> {
        let header = tagger.model().header();
        let format = match (self.input.format, Format::guess(gold)) {
            (Some(format), _) => format.into(),
            (None, Format::Conll) if header.template.is_none() => Format::Crfsuite,
            (None, format) => format,
        };
        let model = ModelColumns::new(header);
        let input = &self.input;
        let reader = Reader::open_by_content(&[gold], |lines| {
            let fewer = match (format, &input.columns, &input.label) {
                (Format::Conll, None, None) => model.fewer(lines, true)?,
                _ => None,
            };
            let columns = fewer.as_deref().or(input.columns.as_deref());
            let mut options = ReadOptions {
                unlabeled: false,
                comments: input.comments,
                max_sentence: input.limits.max_sentence(),
                memory: input.limits.memory(),
                ..model.read_options(format, columns)
            };
            if input.label.is_some() {
                options.label = input.label.clone();
            }
            Ok(options)
        })?;
        Corpus::collect(reader)
    }

    /// Scores a file of predictions.
    fn evaluate_predictions(&self, predictions: &FileName, gold: &FileName) -> Result<Evaluation> {
        let gold = GoldCorpus::read(&self.input, gold)?;
        let predicted = gold.read_predictions(&self.input, predictions)?;
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

/// Rejects gold labels that the model does not have and that look partial: `_`, or a set of labels
/// that it has.
fn check_complete(sentence: &Sentence, gold: &[&str], known: &LabelSet) -> Result<()> {
    let is_partial = |label: &&str| {
        let is_set = || label.contains('|') && label.split('|').all(|l| known.id(l).is_some());
        known.id(label).is_none() && (*label == "_" || is_set())
    };
    match gold.iter().position(is_partial) {
        None => Ok(()),
        Some(t) => Err(Error::input(
            sentence.place(t),
            format!(
                "found the partial label '{}'; evaluation needs one gold label for every token",
                gold[t]
            ),
        )),
    }
}

/// Tags sentences in parallel, with one workspace per thread. Results are in sentence order.
fn tag_parallel(
    tagger: &Tagger,
    sentences: &[Sentence],
    options: TagOptions,
) -> Vec<Result<Tagging>> {
    let workspaces: Vec<Mutex<Workspace>> = (0..rayon::current_num_threads())
        .map(|_| Mutex::default())
        .collect();
    let documents = TagDocuments::new(tagger, sentences);
    let tag = |i: usize| {
        let thread = rayon::current_thread_index().unwrap_or(0);
        // A workspace is scratch space: contents left behind by a panic are overwritten.
        let workspace = workspaces[thread % workspaces.len()].lock();
        let mut workspace = workspace.unwrap_or_else(PoisonError::into_inner);
        tagger.tag_with(documents.input(i), options, &mut workspace)
    };
    match documents.len() {
        1 => vec![tag(0)],
        len => (0..len).into_par_iter().map(tag).collect(),
    }
}
