//! Sentences whose case says nothing: their recognition, and their form without case.

use std::borrow::Cow;
use std::sync::Arc;

use super::shape::KnownWords;
use super::text::{lower, push_lower};
use crate::error::Result;
use crate::sentence::Sentence;

/// Prefix of the names of attributes of sentences without case.
pub(super) const PREFIX: &[u8] = b"caseless:";

/// Minimum number of words of two letters or more in a sentence of capitals only: fewer may be
/// abbreviations.
const MIN_UPPER: usize = 2;

/// Minimum number of capitalized words in a sentence that has no others, and the minimum share of
/// those among them that are known in lower case: otherwise it may be a list of names.
const MIN_TITLE: usize = 4;
const MIN_KNOWN_SHARE: f64 = 1.0 / 3.0;

/// Recognizes sentences without case, and folds them.
#[derive(Clone, Debug)]
pub(super) struct CaseFolder {
    /// The column of the words.
    pub column: usize,
    /// The words that occur in lower case in the training data.
    pub known: Arc<KnownWords>,
}

impl CaseFolder {
    /// Returns the sentence in lower case if its own case says nothing.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Input`] if it has gigabytes of text.
    pub(super) fn fold(&self, sentence: &Sentence) -> Result<Option<Sentence>> {
        if sentence.schema().width() <= self.column {
            return Ok(None);
        }
        let words = (0..sentence.len()).map(|t| sentence.cell(t, self.column));
        if !is_caseless(words, |word| self.known.contains(word)) {
            return Ok(None);
        }
        self.lower(sentence, sentence.weight()).map(Some)
    }

    /// Returns a copy in lower case with `weight` times the weight of the sentence, unless the
    /// sentence has no capitals or is folded anyway.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Input`] if it has gigabytes of text, or the weight is too large.
    pub(super) fn copy(&self, sentence: &Sentence, weight: f64) -> Result<Option<Sentence>> {
        let words = (0..sentence.len()).map(|t| sentence.cell(t, self.column));
        let has_capitals = words.flat_map(str::chars).any(char::is_uppercase);
        if !has_capitals || self.fold(sentence)?.is_some() {
            return Ok(None);
        }
        let copy = self.lower(sentence, weight * sentence.weight())?;
        // Only what is recognized as a sentence without case has such attributes.
        Ok(Some(copy).filter(|copy| self.fold(copy).is_ok_and(|folded| folded.is_some())))
    }

    fn lower(&self, sentence: &Sentence, weight: f64) -> Result<Sentence> {
        let cell = |t: usize, column: usize| {
            let cell = sentence.cell(t, column);
            if column == self.column { Cow::Owned(lower(cell)) } else { Cow::Borrowed(cell) }
        };
        let columns = sentence.schema().width();
        let cells = (0..sentence.len()).map(|t| (0..columns).map(move |column| cell(t, column)));
        sentence.with_cells(Arc::clone(sentence.schema()), cells)?.with_weight(weight)
    }
}

/// Returns whether the case of a sentence says nothing: there are no capitals, nothing but
/// capitals, or every word is capitalized, also those that are otherwise in lower case.
fn is_caseless<'a>(words: impl Iterator<Item = &'a str>, is_known: impl Fn(&str) -> bool) -> bool {
    let (mut lower, mut upper, mut long_upper, mut title, mut known) = (0, 0, 0, 0, 0);
    let mut folded = String::new();
    for word in words {
        let mut cased = word.chars().filter(|c| c.is_lowercase() || c.is_uppercase());
        let Some(first) = cased.next() else { continue };
        let small = cased.clone().filter(|c| c.is_lowercase()).count();
        let large = cased.count() - small;
        match (first.is_lowercase(), small, large) {
            (true, _, 0) => lower += 1,
            (false, 0, others) => {
                upper += 1;
                long_upper += usize::from(others > 0);
            }
            (false, _, 0) => {
                title += 1;
                folded.clear();
                push_lower(word, &mut folded);
                known += usize::from(is_known(&folded));
            }
            _ => return false, // such as McDonald
        }
    }
    match (lower, upper, title) {
        (1.., 0, 0) => true,
        (0, 1.., 0) => long_upper >= MIN_UPPER,
        (0, _, 1..) => {
            title >= MIN_TITLE
                && f64::from(known as u32) >= MIN_KNOWN_SHARE * f64::from(title as u32)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_case_of_a_sentence_says_nothing_if_all_words_have_the_same() {
        for (sentence, expected) in [
            ("he lives in york , 10 miles away", true),
            ("he lives in York", false),
            ("POLICE ARREST MAN IN YORK", true),
            ("POLICE arrest MAN", false),
            ("EU .", false),
            ("A B", false),
            ("EU USA", true),
            ("Police Arrest The Man In York", true),
            ("Police Arrest The Man In YORK", true),
            ("Ann Lee Bob Smith", false),
            ("The Man", false),
            ("the McDonald", false),
            ("iPhone and ipad", false),
            ("10 - 12", false),
            ("東京", false),
            ("", false),
        ] {
            let known = ["police", "arrest", "the", "man", "in"];
            let words = sentence.split(' ');
            assert_eq!(is_caseless(words, |word| known.contains(&word)), expected, "{sentence}");
        }
    }
}
