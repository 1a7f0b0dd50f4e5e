//! Gold files and prediction files.

use std::sync::Arc;

use dropchain::corpus::{Corpus, Format, ReadLimits, ReadOptions};
use dropchain::kernel::corpus::CONLLU_COLUMNS;
use dropchain::label::{Detected, Labeling, PlainLabels, SchemeDetector};
use dropchain::sentence::{JoinedColumns, LineRules, Schema, Sentence};
use dropchain::{Error, Place, Result};
use serde_json::{Map, Value};

use crate::arguments::{FileName, InputArguments};
use crate::progress::notice;

/// A file with gold labels.
#[derive(Debug)]
pub struct GoldCorpus {
    file: FileName,
    pub sentences: Corpus,
}

/// Predictions for the sentences of a file with gold labels.
#[derive(Debug)]
pub struct Predictions {
    pub sentences: Corpus,
    pub columns: PredictedColumns,
}

impl GoldCorpus {
    pub fn read(input: &InputArguments, file: &FileName, quiet: bool) -> Result<Self> {
        let sentences = Corpus::read([file], &input.read_options())?;
        input.text.print_notices(quiet);
        Ok(Self { file: file.clone(), sentences })
    }

    /// Reads a file of predictions for the same sentences. The predicted labels are the last column
    /// of CoNLL files (as written by `tag`), but for that of probabilities, or the last columns if
    /// the gold labels join several; in other formats, the same columns as the gold labels.
    pub fn read_predictions(&self, input: &InputArguments, file: &FileName) -> Result<Predictions> {
        let guessed = || Format::guess(file).into();
        let format = input.format.unwrap_or_else(guessed);
        let is_conll = format == Format::Conll.into();
        let options = ReadOptions {
            // That of CoNLL is the last column.
            label: input.label.clone().filter(|_| !is_conll),
            columns: None,
            lines: LineRules { header: false, ..input.lines.rules() }, // `tag` writes none
            limits: ReadLimits {
                memory: input.limits.memory().beyond(self.sentences.memory()),
                ..input.limits.read()
            },
            ..input.read_options()
        };
        let mut predicted = Corpus::read([file], &options)?;
        let columns = PredictedColumns::of(&predicted, false);
        if let Some(joined) = joined(&self.sentences).filter(|_| is_conll) {
            predicted = columns.join(&predicted, joined)?;
        }
        for (gold, predicted) in self.sentences.iter().zip(&predicted) {
            check_sentence(gold, predicted, &columns)?;
        }
        if self.sentences.len() != predicted.len() {
            return Err(Error::input(
                Place::file(&**file),
                format!(
                    "found {} sentences; expected {}, as in {}",
                    predicted.len(),
                    self.sentences.len(),
                    self.file
                ),
            ));
        }
        Ok(Predictions { sentences: predicted, columns })
    }

    /// Calls `visit` with each sentence and its gold labels, the predicted one and its labels;
    /// document boundaries have none.
    pub fn visit(
        &self,
        predicted: &Predictions,
        mut visit: impl FnMut(&Sentence, &[&str], &Sentence, &[&str]) -> Result<()>,
    ) -> Result<()> {
        let mut pairs = self.sentences.iter().zip(&predicted.sentences);
        pairs.try_for_each(|(gold, own)| match gold.layout.document_start {
            true => visit(gold, &[], own, &[]),
            false => visit(gold, &labels(gold)?, own, &predicted.columns.labels(own)?),
        })
    }

    /// Returns how the gold labels and predictions encode spans, and says it; `detector` has seen
    /// none of them.
    pub fn labelings<const N: usize>(
        &self,
        detector: &SchemeDetector,
        predictions: [&Predictions; N],
        quiet: bool,
    ) -> (Labeling, [Labeling; N]) {
        let own = observed(&self.sentences, detector, Sentence::labels);
        let gold = match joined(&self.sentences) {
            None => {
                let detected = own.detected();
                if !quiet {
                    say_reading(&self.file, &detected, detector.plain_labels());
                }
                detected.labeling
            }
            Some(_) => Labeling::default(),
        };
        let labelings = predictions.map(|predictions| {
            let labels = |sentence| predictions.columns.labels(sentence).ok();
            let predicted = observed(&predictions.sentences, detector, labels);
            predicted.detected_for(&gold).labeling
        });
        (gold, labelings)
    }
}

/// Returns the columns that the labels of a corpus join, if they join several.
pub fn joined(corpus: &Corpus) -> Option<&JoinedColumns> {
    corpus.iter().next()?.schema().joined()
}

/// Says how the labels of a file were read, which were `chosen` to be spans or tags if at all.
pub fn say_reading(file: &FileName, detected: &Detected, chosen: PlainLabels) {
    let mut lines = detected.account(chosen);
    lines[0].insert_str(0, &format!("{file}: "));
    lines.iter().for_each(|line| notice(line));
}

/// Returns a detector that has seen the labels of a corpus.
pub fn observed<'a>(
    corpus: &'a Corpus,
    detector: &SchemeDetector,
    labels: impl Fn(&'a Sentence) -> Option<Vec<&'a str>>,
) -> SchemeDetector {
    let mut detector = detector.clone();
    for sentence in corpus.iter().filter(|s| !s.layout.document_start) {
        let labels = labels(sentence).unwrap_or_default();
        detector.observe_at(&labels, |t| Some(sentence.place(t)));
    }
    detector
}

/// Returns the labels of a sentence.
pub fn labels(sentence: &Sentence) -> Result<Vec<&str>> {
    sentence.labels().ok_or_else(|| {
        Error::input(
            sentence.place(0),
            "found no label column; evaluation needs labels (select the column with --label)",
        )
    })
}

fn check_sentence(gold: &Sentence, predicted: &Sentence, columns: &PredictedColumns) -> Result<()> {
    let is_boundary = gold.layout.document_start;
    if gold.len() != predicted.len() || is_boundary != predicted.layout.document_start {
        return Err(Error::input(
            predicted.place(0),
            format!(
                "found a sentence of {} tokens; expected {} tokens, as at {}",
                predicted.len(),
                gold.len(),
                gold.place(0)
            ),
        ));
    }
    match is_boundary {
        true => Ok(()),
        false => check_words(gold, predicted, columns),
    }
}

/// Checks that predictions are for the words of the gold sentence, if both files are known to have
/// them in the same column: that is, if the predictions have the columns of the gold file, or these
/// and one more, as written by `tag`. Files written by other programs may have any columns.
fn check_words(gold: &Sentence, predicted: &Sentence, columns: &PredictedColumns) -> Result<()> {
    let [schema, other] = [gold.schema(), predicted.schema()];
    let column = schema
        .position("word")
        .or_else(|| schema.position("form"))
        .filter(|&column| !schema.is_label(column));
    let labels = schema.joined().map_or(1, |joined| joined.names().len());
    let has_label_appended = columns.width(predicted) == schema.input_names().len() + labels;
    let names = schema.input_names();
    let both_conllu = names == CONLLU_COLUMNS && names == other.input_names();
    let Some(column) = column.filter(|_| has_label_appended || both_conllu) else {
        return Ok(());
    };
    for t in 0..gold.len() {
        let [word, found] = [gold, predicted].map(|sentence| sentence.cell(t, column));
        if word != found {
            return Err(Error::input(
                predicted.place(t),
                format!("found the token '{found}'; expected '{word}', as at {}", gold.place(t)),
            ));
        }
    }
    Ok(())
}

/// Length of a probability as `tag --marginals` writes it: 0.123456.
const PROBABILITY: usize = 8;

/// Where a file of predictions has them.
#[derive(Debug)]
pub struct PredictedColumns {
    /// Whether the last column has probabilities, as `tag --marginals` writes them.
    has_probabilities: bool,
}

impl PredictedColumns {
    /// Looks whether all cells of the last column are probabilities, beside other columns for the
    /// labels.
    pub fn of(corpus: &Corpus, has_gold: bool) -> Self {
        let least = 1 + usize::from(has_gold); // columns before the last one
        let is_probable = |sentence: &Sentence| {
            let schema = sentence.schema();
            let Some(last) = schema.label().filter(|&last| last + 1 == schema.width()) else {
                return false;
            };
            last >= least && (0..sentence.len()).all(|t| is_probability(sentence.cell(t, last)))
        };
        let mut sentences = corpus.iter().filter(|s| !s.layout.document_start).peekable();
        Self { has_probabilities: sentences.peek().is_some() && sentences.all(is_probable) }
    }

    /// Returns the number of columns, without that of probabilities.
    pub fn width(&self, sentence: &Sentence) -> usize {
        sentence.schema().input_names().len() - usize::from(self.has_probabilities)
    }

    /// Returns the sentences with labels that join the last columns before that of probabilities,
    /// as many as the gold labels `joined` join.
    pub fn join(&self, corpus: &Corpus, joined: &JoinedColumns) -> Result<Corpus> {
        let Some(first) = corpus.iter().next() else {
            return Ok(Corpus::new());
        };
        let (width, parts) = (self.width(first), joined.names().len());
        let Some(start) = width.checked_sub(parts).filter(|&start| start > 0) else {
            return Err(Error::input(
                first.place(0),
                format!(
                    "found {width} columns; expected one for each of the predicted labels ({}), \
                     after the words",
                    joined.name()
                ),
            ));
        };
        let names = first.schema().input_names().to_vec();
        let schema = Schema::new(names, None)?;
        let schema = Arc::new(schema.with_joined_label((start..width).collect())?);
        let sentences = corpus.iter();
        sentences.map(|sentence| sentence.with_joined_label(&schema)).collect()
    }

    /// Returns the column of the predicted labels.
    fn column(&self, sentence: &Sentence) -> Option<usize> {
        let label = sentence.schema().label()?;
        if sentence.schema().joined().is_some() {
            return Some(label);
        }
        label.checked_sub(usize::from(self.has_probabilities))
    }

    /// Returns the predicted labels of a sentence.
    pub fn labels<'a>(&self, sentence: &'a Sentence) -> Result<Vec<&'a str>> {
        let column = self.column(sentence).ok_or_else(|| {
            let message = "found no label column; expected predicted labels";
            Error::input(sentence.place(0), message)
        })?;
        Ok((0..sentence.len()).map(|t| sentence.cell(t, column)).collect())
    }

    /// Returns the column before the predicted labels, unless it is that of the words.
    pub fn gold(&self, sentence: &Sentence) -> Option<usize> {
        let schema = sentence.schema();
        let is_last = schema.label() == schema.width().checked_sub(1);
        let column = self.column(sentence).filter(|_| is_last)?;
        column.checked_sub(1).filter(|&gold| gold > 0)
    }

    /// Returns the probability of the predicted label of each token, where the file has it.
    pub fn probabilities<'a>(
        &self,
        sentence: &'a Sentence,
    ) -> impl Fn(usize, &str) -> Option<f64> + use<'a> {
        let schema = sentence.schema();
        let last = self.has_probabilities.then(|| schema.input_names().len() - 1);
        let misc = schema.position("misc");
        let misc = misc.filter(|_| schema.input_names() == CONLLU_COLUMNS);
        let record = sentence.layout.record.as_deref();
        let record: Option<Map<String, Value>> = record.and_then(|r| serde_json::from_str(r).ok());
        let marginals = record.and_then(|mut record| record.remove("marginals"));
        move |t, label| {
            if let Some(last) = last {
                return sentence.cell(t, last).parse().ok();
            }
            if let Some(misc) = misc {
                let mut entries = sentence.cell(t, misc).split('|');
                return entries.find_map(|entry| entry.strip_prefix("Prob=")?.parse().ok());
            }
            marginals.as_ref()?.get(t)?.get(label)?.as_f64()
        }
    }
}

/// Returns whether a cell is a probability as `tag --marginals` writes it.
fn is_probability(cell: &str) -> bool {
    let is_number = cell.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value: Option<f64> = cell.parse().ok().filter(|_| is_number);
    cell.len() == PROBABILITY && value.is_some_and(|value| (0.0..=1.0).contains(&value))
}
