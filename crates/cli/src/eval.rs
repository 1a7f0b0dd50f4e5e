//! `dropchain eval`

use std::collections::BTreeMap;
use std::sync::Arc;

use clap::Args;
use dropchain::eval::{Counts, Evaluation};
use dropchain::kernel::sentence::list_names;
use dropchain::label::Labeling;
use dropchain::sentence::JoinedColumns;
use dropchain::tag::TagOptions;
use dropchain::{Result, Sentence};
use dropchain_analysis::{Deletion, MissingColumns, SentenceCounts, joined_columns, tag_gold};
use serde_json::{Value, json};

use crate::error_list::{ErrorArguments, ErrorList};
use crate::eval_thresholds::ThresholdArguments;
use crate::gold_file::{GoldArguments, GoldTagger, Scoring};
use crate::score_table::{main_score, percent, score_table};
use crate::terminal::{self, Rates, damage_table};
use crate::{
    CommandError, CommandFiles, CommandResult, FileName, OutputKind, Switch, json_line, notice,
    print, print_json, print_painted, print_report,
};

/// Maximum number of rows in the confusion table.
const CONFUSIONS: usize = 30;

/// Score predicted labels against gold labels, like conlleval
#[derive(Debug, Args)]
#[command(override_usage = "dropchain eval [OPTIONS] MODEL GOLD\n       \
                            dropchain eval [OPTIONS] PRED GOLD")]
#[command(after_long_help = "\
Examples:
  dropchain eval ner.model test.conll
  dropchain tag ner.model test.conll > test.tagged
  dropchain eval test.tagged test.conll --per-label --confusion
  dropchain eval annotator-a.conll annotator-b.conll           # agreement, Cohen's kappa
  dropchain eval ner.model dev.conll --errors --error-type PER --max-errors 50
  dropchain eval ner.model test.conll --json | jq .f1
  dropchain eval ner.model test.conll --fail-under 0.68        # a quality gate: exit code 4
  # Which --threshold of `tag` is right?
  dropchain eval ner.model dev.conll --thresholds --figure thresholds.svg
  # How much does it suffer when attributes or columns are missing?
  dropchain eval ner.model test.conll --delete 0..0.9
  dropchain eval ner.model test.conll --missing pos=0..1

On a terminal, scores are a table with 95 % intervals, by bootstrap over sentences; elsewhere the
output matches conlleval's exactly. For labels that encode no spans (parts of speech) it is the
accuracy; of labels that join columns (--label upos+feats) also that of each column. Two annotators
of the same text, in files with equally many columns, have Cohen's kappa, too.")]
pub struct EvalCommand {
    /// Model or predictions, and gold file; with --predictions, just the gold file
    ///
    /// Predictions that have the columns of the gold file and more, as `tag` writes them, need no
    /// --predictions. The order does not matter where the contents tell which file is which.
    #[arg(required = true, num_args = 1..=2, value_names = ["MODEL|PRED", "GOLD"])]
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
    /// Print scores as conlleval does, on a terminal, too
    #[arg(long, conflicts_with_all = ["damage", "json"], hide_short_help = true)]
    conlleval: bool,
    /// Also print precision, recall and F1 of each label
    #[arg(long, conflicts_with = "damage")]
    per_label: bool,
    /// Also print the most frequent confusions
    #[arg(long, conflicts_with = "damage")]
    confusion: bool,
    #[command(flatten)]
    errors: ErrorArguments,
    /// Exit with code 4 if the score, F1 or else accuracy, is below this, such as 0.68
    #[arg(long, value_name = "SCORE", value_parser = score_limit,
          conflicts_with_all = ["damage", "thresholds"])]
    fail_under: Option<f64>,
    /// Print JSON, with scores as fractions
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: GoldArguments,
    /// Print no notices
    #[arg(long, help_heading = None::<&str>)]
    quiet: bool,
    #[command(flatten)]
    by_threshold: ThresholdArguments,
    #[command(flatten)]
    damage: DamageArguments,
    /// Random seed of the damage
    #[arg(long, default_value_t = 1, value_name = "N", help_heading = "Damaged text")]
    #[arg(requires = "damage", hide_short_help = true)]
    seed: u64,
}

/// Seed of the samples behind intervals.
const SEED: u64 = 1;

/// Scores, the errors if they are to be listed, and the counts behind intervals if these are shown.
struct Scored {
    evaluation: Evaluation,
    errors: Option<ErrorList>,
    sentences: Option<SentenceCounts>,
}

impl EvalCommand {
    pub fn run(&self) -> CommandResult {
        CommandFiles::default()
            .read(&self.files)
            .read(&self.predictions)
            .write("--figure", OutputKind::Figure, self.by_threshold.figure.as_deref())
            .check()?;
        self.reading.threads.start_pool()?;
        let scoring = Scoring::of(self.predictions.as_ref(), &self.files, self.quiet)?;
        let of_annotators = matches!(scoring, Scoring::Annotations(..));
        let damage = self.damage.delete.as_ref().or(self.damage.missing.as_ref());
        let thresholds = self.by_threshold.thresholds.as_ref();
        let scored = match (scoring, damage, thresholds) {
            (Scoring::Model(model, gold), None, None) => {
                self.evaluate_tagger(&self.reading.open(model, gold, self.quiet)?)?
            }
            (Scoring::Model(model, gold), damage, _) => {
                let gold = self.reading.open(model, gold, self.quiet)?;
                let report = match damage {
                    Some(damage) => self.evaluate_damaged(damage, gold)?,
                    None => {
                        let evaluations = self.by_threshold.evaluate(&gold, self.tag_options())?;
                        DamageReport { key: "threshold", name: "threshold", evaluations }
                    }
                };
                return print_report(self.json, &report.json(), || report.text());
            }
            (Scoring::Predictions(a, gold) | Scoring::Annotations(a, gold), None, None) => {
                self.evaluate_predictions(a, gold)?
            }
            (_, Some(_), _) => {
                return Err(CommandError::Usage(
                    "expected a model and a gold file, whose text is to be damaged",
                ));
            }
            (_, None, Some(_)) => {
                return Err(CommandError::Usage(
                    "expected a model and a gold file: predictions have no probabilities of spans",
                ));
            }
        };
        if !self.quiet {
            warn_of_types(&scored.evaluation);
            let errors = scored.errors.as_ref();
            errors.and_then(|e| e.unknown_type(&scored.evaluation)).iter().for_each(|w| notice(w));
        }
        match self.json {
            true => print_json(&self.json(&scored)?),
            false => self.print(&scored, of_annotators),
        }?;
        self.fail_under.map_or(Ok(()), |limit| check_score(&scored.evaluation, limit))
    }

    /// Returns whether the scores are shown as a table.
    fn has_table(&self) -> bool {
        !self.conlleval && !self.json && terminal::of_output().is_some()
    }

    fn print(&self, scored: &Scored, of_annotators: bool) -> CommandResult {
        let Scored { evaluation, errors, sentences } = scored;
        let intervals = sentences.as_ref().and_then(|counts| counts.intervals(SEED));
        match self.has_table() {
            true => print_painted(&score_table(evaluation, intervals.as_ref())),
            false => print(&evaluation.to_string()),
        }?;
        let mut text = String::new();
        if let Some(kappa) = evaluation.kappa().filter(|_| of_annotators) {
            text += &format!("Cohen's kappa: {kappa:.4}\n");
        }
        if self.per_label {
            text += &format!("\n{}", evaluation.label_table());
        }
        if self.confusion {
            text += &format!("\n{}", evaluation.confusion_table(CONFUSIONS));
        }
        print(&text)?;
        match errors {
            None => Ok(()),
            Some(errors) => print_painted(&format!("\n{}", errors.format())),
        }
    }

    fn json(&self, scored: &Scored) -> Result<String> {
        let Scored { evaluation, errors, .. } = scored;
        let mut report = json!(evaluation);
        if self.per_label {
            let labels: BTreeMap<&str, Counts> = evaluation.labels().into_iter().collect();
            report["labels"] = json!(labels);
        }
        if self.confusion {
            report["confusions"] = json!(evaluation.confusions(CONFUSIONS));
        }
        if let Some(errors) = errors {
            report["errors"] = json!(errors);
        }
        json_line(&report)
    }

    /// Tags the gold file, damaged at several rates.
    fn evaluate_damaged(&self, damage: &Damage, mut gold: GoldTagger) -> Result<DamageReport> {
        let mut evaluations = Vec::new();
        let sentences = gold.corpus.sentences().to_vec();
        for &rate in &damage.rates.0 {
            match &damage.missing {
                None => {
                    let filter = Arc::new(Deletion::new(rate, self.seed)?);
                    gold.tagger = gold.tagger.with_attribute_filter(filter);
                }
                Some(columns) => {
                    let damaged = sentences.iter();
                    let damaged = damaged.map(|sentence| columns.apply(sentence, rate, self.seed));
                    gold.corpus = damaged.collect::<Result<_>>()?;
                }
            }
            evaluations.push((rate, self.evaluate_tagger(&gold)?.evaluation));
        }
        let name = if damage.missing.is_some() { "missing" } else { "left out" };
        Ok(DamageReport { key: "rate", name, evaluations })
    }

    fn tag_options(&self) -> TagOptions {
        TagOptions { constrain: self.constrain.is_on(), ..TagOptions::default() }
    }

    fn evaluate_tagger(&self, gold: &GoldTagger) -> Result<Scored> {
        self.score(gold.labelings(), gold.joined(), |add| {
            let options = self.tag_options();
            tag_gold(&gold.tagger, &gold.corpus, options, None, &mut |labels, tagged| {
                let predicted: Vec<&str> = tagged.labels.iter().map(AsRef::as_ref).collect();
                add(tagged.sentence, labels, &predicted)
            })
        })
    }

    /// Scores a file of predictions.
    fn evaluate_predictions(&self, predictions: &FileName, gold: &FileName) -> Result<Scored> {
        let gold = self.reading.read(gold, self.quiet)?;
        let (predicted, labeling) = gold.predictions(predictions)?;
        gold.say_reading();
        let joined = joined_columns(&gold.corpus);
        self.score([gold.labeling.clone(), labeling], joined, |add| {
            predicted.visit(&gold.corpus, |gold, labels, _, predicted| add(gold, labels, predicted))
        })
    }

    /// Scores the sentences that `visit` has, with gold and predicted labels that encode
    /// spans so, or join columns.
    fn score(
        &self,
        labelings: [Labeling; 2],
        joined: Option<&JoinedColumns>,
        visit: impl FnOnce(&mut dyn FnMut(&Sentence, &[&str], &[&str]) -> Result<()>) -> Result<()>,
    ) -> Result<Scored> {
        let mut evaluation = Evaluation::with_confusions();
        if let Some(joined) = joined {
            evaluation = evaluation.with_joined_columns(joined.names());
        }
        evaluation = evaluation.with_labelings(&labelings[0], &labelings[1]);
        let [gold_labeling, labeling] = labelings.clone();
        let mut errors = self.errors.list(labelings);
        let mut sentences = self.has_table().then(SentenceCounts::default);
        visit(&mut |sentence, gold, predicted| {
            if sentence.layout.document_start {
                evaluation.add_document_start();
                sentences.iter_mut().for_each(SentenceCounts::add_document_start);
                return Ok(());
            }
            if let Some(sentences) = &mut sentences {
                let mut alone = Evaluation::new().with_labelings(&gold_labeling, &labeling);
                alone.add(gold, predicted)?;
                sentences.add(&alone);
            }
            if let Some(errors) = &mut errors {
                errors.add(sentence, gold, predicted);
            }
            evaluation.add(gold, predicted)
        })?;
        Ok(Scored { evaluation, errors, sentences })
    }
}

/// Fails if a score is below the lowest one that is good enough.
fn check_score(evaluation: &Evaluation, limit: f64) -> CommandResult {
    let (name, score) = main_score(evaluation);
    if score < limit {
        // A score that is lower looks lower.
        let shown = (1e4 * score).floor() / 1e4;
        return Err(CommandError::Missed(format!(
            "the {name} is {shown:.4}; expected {limit} or more (--fail-under)"
        )));
    }
    Ok(())
}

/// Parses the lowest score that is good enough.
fn score_limit(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(limit) if (0.0..=1.0).contains(&limit) => Ok(limit),
        Ok(percent) if percent > 1.0 && percent <= 100.0 => {
            Err(format!("expected a fraction: {} for {percent} %", percent / 100.0))
        }
        _ => Err("expected a fraction from 0 to 1, such as 0.68".to_owned()),
    }
}

/// Warns if gold labels and predictions have spans, but not of one common type.
fn warn_of_types(evaluation: &Evaluation) {
    let types = |count: fn(&Counts) -> u64| -> Vec<String> {
        let types = evaluation.types().filter(|(_, counts)| count(counts) > 0);
        types.map(|(name, _)| name.to_owned()).collect()
    };
    let [gold, predicted] = [types(|counts| counts.gold), types(|counts| counts.predicted)];
    let is_common = gold.iter().any(|name| predicted.contains(name));
    if evaluation.has_spans() && !is_common && !gold.is_empty() && !predicted.is_empty() {
        notice(&format!(
            "warning: no type of the predictions ({}) is one of the gold labels ({}); check the \
             label columns (--label)",
            list_names(&predicted),
            list_names(&gold)
        ));
    }
}

/// What is damaged, and at which rates.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Damaged text")]
#[group(id = "damage", multiple = false)]
struct DamageArguments {
    /// Leave out attributes at random, at these rates: 0..0.9 in steps of 0.1, or 0,0.25,0.5
    #[arg(long, value_name = "RATES", hide_short_help = true, value_parser = deletion)]
    delete: Option<Damage>,
    /// Replace the cells of columns by `_` at random, such as pos=0..1 or pos,chunk=0..1
    #[arg(long, value_name = "COLUMNS=RATES", hide_short_help = true, value_parser = missing_cells)]
    missing: Option<Damage>,
}

/// The rates of damage, and the columns that are missing; `None` if attributes are left out.
#[derive(Clone, Debug)]
struct Damage {
    rates: Rates,
    missing: Option<MissingColumns>,
}

/// Parses the value of `--delete`.
fn deletion(rates: &str) -> Result<Damage, String> {
    Ok(Damage { rates: rates.parse()?, missing: None })
}

/// Parses the value of `--missing`.
fn missing_cells(text: &str) -> Result<Damage, String> {
    let Some((columns, rates)) = text.split_once('=') else {
        return Err(format!("'{text}' has no rates; expected columns and rates, such as pos=0..1"));
    };
    let columns: Vec<String> = columns.split(',').map(|c| c.trim().to_owned()).collect();
    if columns.iter().any(String::is_empty) {
        return Err(format!("'{text}' has a column without a name"));
    }
    Ok(Damage { rates: rates.parse()?, missing: Some(MissingColumns(columns)) })
}

/// Scores by the rate of damage, or by threshold.
struct DamageReport {
    key: &'static str, // of the rate in JSON
    name: &'static str,
    evaluations: Vec<(f64, Evaluation)>,
}

impl DamageReport {
    /// Returns a table and a plot: of F1 if there are spans, else of accuracy.
    fn text(&self) -> String {
        let has_spans = self.evaluations.iter().any(|(_, evaluation)| evaluation.has_spans());
        let heading = match has_spans {
            true => &[self.name, "F1", "precision", "recall", "accuracy"][..],
            false => &[self.name, "accuracy"],
        };
        let rows = self.evaluations.iter().map(|(rate, e)| match has_spans {
            true => {
                let others = [e.precision(), e.recall(), e.accuracy()].map(percent);
                (*rate, e.f1(), others.to_vec())
            }
            false => (*rate, e.accuracy(), Vec::new()),
        });
        damage_table(heading, &rows.collect::<Vec<_>>())
    }

    /// Returns the reports by rate.
    fn json(&self) -> Value {
        let reports = self.evaluations.iter().map(|(rate, evaluation)| {
            let mut report = json!(evaluation);
            report[self.key] = json!(rate);
            report
        });
        reports.collect()
    }
}
