//! Text that is worse than that of training, to see how a tagger takes it.

use std::borrow::Cow;
use std::sync::Arc;

use dropchain::kernel::random::{nth, uniform};
use dropchain::sentence::{Schema, Sentence};
use dropchain::{Error, Result};

use super::deletion::sentence_seed;

/// The cell of a value that is missing, as in CoNLL files.
const MISSING: &str = "_";

/// Random damage to the tokens of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// A word of two letters or more gets one typing error: a letter is left out, doubled, swapped
    /// with the next one, or replaced by another letter of the sentence.
    Misspelling,
    /// A word is in lower case.
    Lowercase,
    /// The cells of these columns are missing: `_` takes their place.
    Missing(Vec<String>),
}

impl Damage {
    /// Returns a sentence in which this happens to each token with probability `rate`, which is
    /// between 0 and 1. Labels stay. What happens depends on `seed`, on the file and on the line of
    /// the sentence alone; a higher rate includes the damages of a lower one.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the rate is not in this range; [`Error::Input`] if the sentence has
    /// ready-made attributes instead of words, does not have a column, or it is that of the labels.
    pub fn apply(&self, sentence: &Sentence, rate: f64, seed: u64) -> Result<Sentence> {
        if !(0.0..=1.0).contains(&rate) {
            let message = format!("damage at rate {rate}; expected 0 to 1");
            return Err(Error::parameter(message));
        }
        let schema = sentence.schema();
        let columns = self.columns(sentence)?;
        let seed = sentence_seed(seed, sentence);
        let letters = self.letters(sentence);
        let cell = |t: usize, column: usize| {
            let cell = sentence.cell(t, column);
            if !columns.contains(&column) || uniform(nth(seed, t as u64), 0) > rate {
                return Cow::Borrowed(cell);
            }
            match self {
                Self::Misspelling => Cow::Owned(misspelled(cell, &letters, nth(seed, t as u64))),
                Self::Lowercase => Cow::Owned(cell.to_lowercase()),
                Self::Missing(_) => Cow::Borrowed(MISSING),
            }
        };
        let cells = (0..sentence.len()).map(|t| (0..schema.width()).map(move |c| (t, c)));
        let cells = cells.map(|row| row.map(|(t, column)| cell(t, column)));
        sentence.with_cells(Arc::clone(schema), cells)
    }

    /// Returns the columns that change.
    fn columns(&self, sentence: &Sentence) -> Result<Vec<usize>> {
        let fault = |message: String| Error::input(sentence.place(0), message);
        if sentence.attributes.is_some() {
            let message = "found ready-made attributes; expected words, which can be damaged";
            return Err(fault(message.to_owned()));
        }
        let schema = sentence.schema();
        let Self::Missing(names) = self else {
            return Ok(vec![word_column(schema)]);
        };
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
        names.iter().map(position).collect()
    }

    /// Returns the letters of the words, if they are needed.
    fn letters(&self, sentence: &Sentence) -> Vec<char> {
        match self {
            Self::Misspelling => {
                let words = sentence.words().into_iter().flatten();
                let letters = words.flat_map(str::chars);
                letters.filter(|letter| letter.is_alphabetic()).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Returns the column of the words, that of [`Sentence::words`].
fn word_column(schema: &Schema) -> usize {
    schema.position("word").unwrap_or(0)
}

/// Returns a word with a typing error; unchanged if it has fewer than two letters. `letters` are
/// those that replace others, at least those of the word.
fn misspelled(word: &str, letters: &[char], seed: u64) -> String {
    let mut characters: Vec<char> = word.chars().collect();
    let is_letter = |&i: &usize| characters[i].is_alphabetic();
    let places: Vec<usize> = (0..characters.len()).filter(is_letter).collect();
    if places.len() < 2 {
        return word.to_owned();
    }
    let draw = |n: u64, count: usize| (nth(seed, n) % count as u64) as usize;
    let which = draw(2, places.len());
    let place = places[which];
    match draw(1, 4) {
        0 => {
            characters.remove(place);
        }
        1 => characters.insert(place, characters[place]),
        2 => {
            let next = places[(which + 1) % places.len()];
            characters.swap(place, next);
        }
        _ => characters[place] = letters[draw(3, letters.len())],
    }
    let changed: String = characters.iter().collect();
    if changed == word {
        characters.insert(place, characters[place]); // equal letters were swapped or replaced
        return characters.iter().collect();
    }
    changed
}
