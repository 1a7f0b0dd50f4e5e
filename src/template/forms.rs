//! In which forms a word is seen elsewhere in the document: in lower case, capitalized inside a
//! sentence or as its first word, or in capitals.

use std::ops::Range;

use super::shape::capitalization;
use crate::sentence::{Document, WordIndex};

/// The forms, by the names that values are made of.
const FORMS: [&str; 4] = ["lower", "inside", "first", "upper"];

/// A word without letters that have case.
const CASELESS: u8 = FORMS.len() as u8;

/// The number of words of each form among the first words of an index.
#[derive(Clone, Debug)]
pub(super) struct FormIndex {
    forms: Vec<u8>,                  // [T] the form of each token
    counts: Vec<[u32; FORMS.len()]>, // [T + 1] of the tokens by word
}

impl FormIndex {
    /// Counts the forms of the cells of a column, of which `index` is one in lower case.
    pub(super) fn new(document: &Document<'_>, column: usize, index: &WordIndex) -> Self {
        let mut forms = Vec::with_capacity(document.tokens());
        for sentence in document.sentences() {
            forms.extend((0..sentence.len()).map(|t| form(sentence.cell(t, column), t)));
        }
        let mut counts = Vec::with_capacity(forms.len() + 1);
        let mut sums = [0; FORMS.len()];
        counts.push(sums);
        for &token in index.by_word() {
            if let Some(sum) = sums.get_mut(usize::from(forms[token as usize])) {
                *sum += 1;
            }
            counts.push(sums);
        }
        Self { forms, counts }
    }

    /// Writes the forms among the tokens with numbers `visible` by word, without token `own`.
    pub(super) fn write(&self, visible: Range<usize>, own: usize, out: &mut String) {
        let [first, last] = [self.counts[visible.start], self.counts[visible.end]];
        for (form, name) in FORMS.iter().enumerate() {
            let itself = u32::from(usize::from(self.forms[own]) == form);
            if last[form] - first[form] > itself {
                if !out.is_empty() {
                    out.push('+');
                }
                out.push_str(name);
            }
        }
        if out.is_empty() {
            out.push_str("none");
        }
    }
}

/// Returns the form of token `t` of a sentence.
fn form(word: &str, t: usize) -> u8 {
    match (capitalization(word), t) {
        ("lower", _) => 0,
        ("upper", _) => 3,
        ("initial" | "mixed", 0) => 2,
        ("initial" | "mixed", _) => 1,
        _ => CASELESS,
    }
}
