//! Text with missing columns, and attributes that are left out at random, to see how a tagger takes
//! it.
//!
//! Source: Chen, Zhu, Chen and Zhang, "Dropout training for support vector machines", AAAI 2014,
//! section 6.4.

use std::sync::Arc;

use dropchain::kernel::random::{nth, uniform};
use dropchain::kernel::tag::AttributeFilter;
use dropchain::sentence::Sentence;
use dropchain::template::Attribute;
use dropchain::{Error, Result};

/// The cell of a value that is missing, as in CoNLL files.
const MISSING: &str = "_";

/// Columns whose cells are missing at random: `_` takes their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingColumns(pub Vec<String>);

impl MissingColumns {
    /// Returns a sentence in which the cells of these columns are missing from each token with
    /// probability `rate`, which is between 0 and 1. Which are missing depends on `seed`, on the
    /// file and on the line of the sentence alone; a higher rate includes those of a lower one.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the rate is not in this range; [`Error::Input`] if the sentence has
    /// ready-made attributes instead of words, does not have a column, or it is that of the labels.
    pub fn apply(&self, sentence: &Sentence, rate: f64, seed: u64) -> Result<Sentence> {
        if !(0.0..=1.0).contains(&rate) {
            let message = format!("columns missing at rate {rate}; expected 0 to 1");
            return Err(Error::parameter(message));
        }
        let (schema, columns) = (sentence.schema(), self.columns(sentence)?);
        let seed = sentence_seed(seed, sentence);
        let cell = |t: usize, column: usize| {
            let is_missing = columns.contains(&column) && uniform(nth(seed, t as u64), 0) <= rate;
            if is_missing { MISSING } else { sentence.cell(t, column) }
        };
        let cells = (0..sentence.len()).map(|t| (0..schema.width()).map(move |c| (t, c)));
        let cells = cells.map(|row| row.map(|(t, column)| cell(t, column)));
        sentence.with_cells(Arc::clone(schema), cells)
    }

    /// Returns the columns that change.
    fn columns(&self, sentence: &Sentence) -> Result<Vec<usize>> {
        let fault = |message: String| Error::input(sentence.place(0), message);
        if sentence.attributes.is_some() {
            let message = "found ready-made attributes; expected words with columns";
            return Err(fault(message.to_owned()));
        }
        let schema = sentence.schema();
        let position = |name: &String| match schema.position(name) {
            None => Err(fault(format!(
                "there is no column '{name}' that could be missing; expected one of {}",
                schema.list()
            ))),
            Some(column) if schema.is_label(column) => Err(fault(format!(
                "the column '{name}' has the labels; expected another one to be missing"
            ))),
            Some(column) => Ok(column),
        };
        self.0.iter().map(position).collect()
    }
}

/// Leaves out each attribute of each token with the same probability; of two passes, in both
/// ([`Tagger::with_attribute_filter`](dropchain::Tagger::with_attribute_filter)).
///
/// The choice of what is left out depends on the seed, on the file and on the line of the sentence
/// alone; a higher rate includes what a lower one leaves out.
#[derive(Clone, Copy, Debug)]
pub struct Deletion {
    rate: f64,
    seed: u64,
}

impl Deletion {
    /// Leaves out attributes with probability `rate`, from 0 to 1.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the rate is not in this range.
    pub fn new(rate: f64, seed: u64) -> Result<Self> {
        if !(0.0..=1.0).contains(&rate) {
            let message = format!("attributes left out at rate {rate}; expected 0 to 1");
            return Err(Error::parameter(message));
        }
        Ok(Self { rate, seed })
    }
}

impl AttributeFilter for Deletion {
    fn of(&self, sentence: &Sentence) -> Box<dyn FnMut(&Attribute<'_>) -> bool> {
        let (rate, seed) = (self.rate, sentence_seed(self.seed, sentence));
        let mut count = 0;
        Box::new(move |_| {
            count += 1;
            uniform(seed, count) > rate
        })
    }
}

/// Returns the seed of a sentence, by its file and its line.
fn sentence_seed(seed: u64, sentence: &Sentence) -> u64 {
    let file = sentence.file().bytes();
    let seed = file.fold(seed, |seed, byte| nth(seed, u64::from(byte)));
    nth(seed, sentence.first_line().unwrap_or(0))
}
