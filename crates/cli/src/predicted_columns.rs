//! The columns of a file of predictions: labels, and probabilities if `tag --marginals` wrote them.

use std::sync::Arc;

use dropchain::corpus::{CONLLU_COLUMNS, Corpus, JoinedColumns};
use dropchain::sentence::{Schema, Sentence};
use dropchain::{Error, Result};
use serde_json::{Map, Value};

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
        let mut sentences = corpus
            .iter()
            .filter(|s| !s.layout.document_start)
            .peekable();
        Self {
            has_probabilities: sentences.peek().is_some() && sentences.all(is_probable),
        }
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
        sentences
            .map(|sentence| sentence.with_joined_label(&schema))
            .collect()
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
        Ok((0..sentence.len())
            .map(|t| sentence.cell(t, column))
            .collect())
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
        let last = self
            .has_probabilities
            .then(|| schema.input_names().len() - 1);
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
    let is_number = cell
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value: Option<f64> = cell.parse().ok().filter(|_| is_number);
    cell.len() == PROBABILITY && value.is_some_and(|value| (0.0..=1.0).contains(&value))
}
