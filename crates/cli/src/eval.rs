//! `dropchain eval`

use clap::Args;
use dropchain::Result;
use dropchain::corpus::JoinedColumns;
use dropchain::eval::{Evaluation, Report};
use dropchain::tag::TagOptions;
use serde::Serialize;

use super::arguments::{InputArguments, PlainLabelArguments, Switch, ThreadArguments};
use super::damage_arguments::DamageArguments;
use super::document_arguments::DocumentArguments;
use super::error_list::{ErrorArguments, ErrorList};
use super::file_name::FileName;
use super::gold_tagger::GoldTagger;
use super::outputs::CommandFiles;
use super::predictions::{GoldCorpus, joined, labels};
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
  dropchain eval --predictions test.tagged test.conll")]
#[command(after_long_help = "\
Examples:
  dropchain eval ner.model test.conll
  dropchain tag ner.model test.conll > test.tagged
  dropchain eval --predictions test.tagged test.conll --per-label --confusion
  dropchain eval ner.model dev.conll --errors --error-type PER --max-errors 50
  dropchain eval ner.model test.conll --json | jq .f1
  # How much does it suffer when attributes, capitals or columns are missing?
  dropchain eval ner.model test.conll --delete 0..0.9
  dropchain eval ner.model test.conll --missing pos=0..1

The output matches conlleval's exactly. For labels that encode no spans (parts of speech) it is the
accuracy; of labels that join columns (--label upos+feats) also that of each column.")]
pub struct EvalCommand {
    /// Model and gold file; with --predictions, just the gold file
    #[arg(required = true, num_args = 1..=2, value_names = ["MODEL", "GOLD"])]
    files: Vec<FileName>,
    /// Score the predictions in this file instead of tagging with a model
    ///
    /// The labels are the last column of CoNLL files (as written by `tag`), the label column of
    /// CoNLL-U files, or the labels of JSON lines.
    #[arg(long, conflicts_with = "damage", value_name = "PRED")]
    predictions: Option<FileName>,
    /// Predict only label sequences that are valid in the label scheme
    #[arg(long, value_enum, default_value = "on", hide_short_help = true)]
    constrain: Switch,
    /// Also print precision, recall and F1 of each label
    #[arg(long, conflicts_with = "damage")]
    per_label: bool,
    /// Also print the most frequent confusions
    #[arg(long, conflicts_with = "damage")]
    confusion: bool,
    #[command(flatten)]
    errors: ErrorArguments,
    /// Print JSON, with scores as fractions
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    threads: ThreadArguments,
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    plain: PlainLabelArguments,
    #[command(flatten)]
    document: DocumentArguments,
    #[command(flatten)]
    damage: DamageArguments,
    /// Random seed of the damage
    #[arg(
        long,
        default_value_t = 1,
        value_name = "N",
        requires = "damage",
        help_heading = "Damaged text",
        hide_short_help = true
    )]
    seed: u64,
}

/// Scores, and the errors if they are to be listed.
type Scored = (Evaluation, Option<ErrorList>);

/// The report as JSON.
#[derive(Serialize)]
struct ReportWithErrors<'a> {
    #[serde(flatten)]
    report: Report<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<ErrorList>,
}

impl EvalCommand {
    pub fn run(&self) -> CommandResult {
        CommandFiles::default()
            .read(&self.files)
            .read(&self.predictions)
            .check()?;
        self.threads.start_pool()?;
        if let (true, [model, gold]) = (self.damage.is_given(), self.files.as_slice()) {
            return self.evaluate_damaged(model, gold);
        }
        let scored = match (&self.predictions, self.files.as_slice()) {
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
        let (evaluation, errors) = scored;
        let text = if self.json {
            self.json(&evaluation, errors)?
        } else {
            self.text(&evaluation, errors.as_ref())
        };
        print(&text)
    }

    fn text(&self, evaluation: &Evaluation, errors: Option<&ErrorList>) -> String {
        let mut text = evaluation.to_string();
        if self.per_label {
            text.push('\n');
            text.push_str(&evaluation.label_table());
        }
        if self.confusion {
            text.push('\n');
            text.push_str(&evaluation.confusion_table(CONFUSIONS));
        }
        if let Some(errors) = errors {
            text.push('\n');
            text.push_str(&errors.format(evaluation.has_spans()));
        }
        text
    }

    fn json(&self, evaluation: &Evaluation, errors: Option<ErrorList>) -> Result<String> {
        let detailed = evaluation.detailed_report(CONFUSIONS);
        let mut report = evaluation.report();
        if self.per_label {
            report.labels = detailed.labels;
        }
        if self.confusion {
            report.confusions = detailed.confusions;
        }
        json_line(&ReportWithErrors { report, errors })
    }

    /// Tags the gold file and scores the result.
    fn evaluate_model(&self, model: &FileName, gold: &FileName) -> Result<Scored> {
        let gold = GoldTagger::open(model, gold, &self.input, self.document)?;
        self.evaluate_tagger(&gold)
    }

    /// Tags the gold file, damaged at several rates, and prints the scores.
    fn evaluate_damaged(&self, model: &FileName, gold: &FileName) -> CommandResult {
        let gold = GoldTagger::open(model, gold, &self.input, self.document)?;
        let evaluate = |gold: &GoldTagger| Ok(self.evaluate_tagger(gold)?.0);
        let report = self.damage.evaluate(gold, self.seed, evaluate)?;
        let Some(report) = report else { return Ok(()) };
        print(&match self.json {
            true => json_line(&report.json())?,
            false => report.text(),
        })
    }

    fn evaluate_tagger(&self, gold: &GoldTagger) -> Result<Scored> {
        let options = TagOptions {
            constrain: self.constrain.is_on(),
            ..TagOptions::default()
        };
        let [gold_scheme, scheme] = gold.schemes(self.plain.plain_labels());
        let evaluation = self.evaluation(gold.joined());
        let mut evaluation = evaluation.with_schemes(gold_scheme, scheme);
        let mut errors = self.errors.collector([gold_scheme, scheme]);
        gold.tag(options, &mut |gold, tagged| {
            if tagged.sentence.layout.document_start {
                evaluation.add_document_start();
                return Ok(());
            }
            if let Some(errors) = &mut errors {
                errors.add(tagged.sentence, gold, &tagged.labels);
            }
            evaluation.add(gold, &tagged.labels)
        })?;
        let errors = errors.map(|errors| errors.finish(evaluation.has_spans()));
        Ok((evaluation, errors))
    }

    /// Scores a file of predictions.
    fn evaluate_predictions(&self, predictions: &FileName, gold: &FileName) -> Result<Scored> {
        let gold = GoldCorpus::read(&self.input, gold)?;
        let predicted = gold.read_predictions(&self.input, predictions)?;
        let plain = self.plain.plain_labels();
        let (gold_scheme, [scheme]) = gold.schemes(plain, [&predicted]);
        let evaluation = self.evaluation(joined(&gold.sentences));
        let mut evaluation = evaluation.with_schemes(gold_scheme, scheme);
        let mut errors = self.errors.collector([gold_scheme, scheme]);
        for (gold, sentence) in gold.sentences.iter().zip(&predicted.sentences) {
            if gold.layout.document_start {
                evaluation.add_document_start();
            } else {
                let (names, predicted) = (labels(gold)?, predicted.labels(sentence)?);
                evaluation.add(&names, &predicted)?;
                if let Some(errors) = &mut errors {
                    errors.add(gold, &names, &predicted);
                }
            }
        }
        let errors = errors.map(|errors| errors.finish(evaluation.has_spans()));
        Ok((evaluation, errors))
    }

    /// Returns an evaluation of labels that may join columns.
    fn evaluation(&self, joined: Option<&JoinedColumns>) -> Evaluation {
        let evaluation = match self.per_label || self.confusion {
            true => Evaluation::with_confusions(),
            false => Evaluation::new(),
        };
        match joined {
            Some(joined) => evaluation.with_joined_columns(joined.names()),
            None => evaluation,
        }
    }
}
