//! Text with missing columns, to see how a tagger takes it.

use std::sync::Arc;

use dropchain::kernel::random::{nth, uniform};
use dropchain::sentence::Sentence;
use dropchain::{Error, Result};

use super::deletion::sentence_seed;

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
        let schema = sentence.schema();
        let columns = self.columns(sentence)?;
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
