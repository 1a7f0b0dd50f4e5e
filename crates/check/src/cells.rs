//! Problems of words and of other cells.

use std::collections::HashMap;

use unicode_normalization::{UnicodeNormalization, is_nfc, is_nfd};

use super::characters::quoted;
use super::finding::{FindingKind, Findings};
use super::sentences::{Sentences, content};
use dropchain::kernel::corpus::CONLLU_COLUMNS;
use dropchain::sentence::Sentence;

/// Sentences with more tokens are reported.
const LONG: usize = 200;

/// So many sentences, all of one token, are doubted.
const ONE_TOKEN: usize = 5;

/// Looks at the cells of all sentences.
pub(super) fn check(sentences: &Sentences, findings: &mut Findings) {
    for sentence in sentences.values().flat_map(|all| content(all)) {
        if sentence.len() > LONG {
            let text = || format!("{} tokens", sentence.len());
            findings.add(FindingKind::LongSentence, sentence.place(0), text);
        }
        check_cells(sentence, findings);
    }
    for all in sentences.values() {
        check_columns(all, findings);
        check_digits(all, findings);
        check_lengths(all, findings);
    }
    check_normalization(sentences, findings);
}

/// Doubts sentences that all have one token.
fn check_lengths(sentences: &[Sentence], findings: &mut Findings) {
    let all = || content(sentences);
    let count = all().count();
    if let Some(first) = all().next().filter(|first| first.attributes.is_none())
        && count >= ONE_TOKEN
        && all().all(|sentence| sentence.len() == 1)
    {
        findings.add(FindingKind::DoubtfulReading, first.place(0), || {
            format!("all {count} sentences have one token: does a blank line follow each?")
        });
    }
}

/// Looks for empty cells, and for words and labels with blanks.
fn check_cells(sentence: &Sentence, findings: &mut Findings) {
    let names = sentence.schema().names();
    if sentence.attributes.is_some() {
        return;
    }
    let word = sentence.schema().position("word").unwrap_or(0);
    // An empty cell there is as the one above.
    let sentences = sentence.schema().position("sentence").unwrap_or(usize::MAX);
    for t in 0..sentence.len() {
        let is_empty = |(column, cell): (usize, &str)| cell.is_empty() && column != sentences;
        if let Some(column) = sentence.cells(t).enumerate().position(is_empty) {
            let text = || format!("column {} ({})", column + 1, names[column]);
            findings.add(FindingKind::EmptyCell, sentence.place(t), text);
        }
        let cell = sentence.cells(t).nth(word).unwrap_or_default();
        if cell.contains([' ', '\t', '\n', '\r']) {
            findings.add(FindingKind::BlankInWord, sentence.place(t), || quoted(cell));
        }
        let label = sentence.label(t).unwrap_or_default();
        if label.contains(char::is_whitespace) {
            findings.add(FindingKind::BlankInLabel, sentence.place(t), || quoted(label));
        }
    }
}

/// Looks for columns that say nothing, except those that CoNLL-U prescribes.
fn check_columns(sentences: &[Sentence], findings: &mut Findings) {
    let Some(first) = content(sentences).next() else { return };
    let schema = first.schema();
    let is_conllu = schema.names().iter().map(String::as_str).eq(CONLLU_COLUMNS);
    if is_conllu || first.attributes.is_some() {
        return;
    }
    for column in 0..schema.width() {
        let cell = first.cell(0, column);
        let mut same = content(sentences).filter(|s| s.schema() == schema);
        let is_same = |s: &Sentence| (0..s.len()).all(|t| s.cell(t, column) == cell);
        let tokens: usize = content(sentences).take(2).map(Sentence::len).sum();
        if tokens > 1 && same.all(is_same) {
            let text = || format!("{}: {}", schema.names()[column], quoted(cell));
            findings.add(FindingKind::ConstantColumn, first.place(0), text);
        }
    }
}

/// Looks for a digit at the end of all words, as `米0 拉1` has it: the place of a character in its
/// word, which other text does not have.
fn check_digits(sentences: &[Sentence], findings: &mut Findings) {
    let all = content(sentences).filter(|sentence| sentence.attributes.is_none());
    let words = all.filter_map(|sentence| Some((sentence, sentence.words()?)));
    let mut words = words.flat_map(|(s, words)| words.map(move |word| (s, word)));
    let is_numbered = |(_, word): (&Sentence, &str)| {
        let rest = word.strip_suffix(|c: char| c.is_ascii_digit());
        rest.is_some_and(|rest| rest.ends_with(|c: char| !c.is_numeric()))
    };
    let (first, second) = (words.next(), words.next());
    if let Some((sentence, word)) = first.filter(|first| is_numbered(*first))
        && second.is_some_and(is_numbered)
        && words.all(is_numbered)
    {
        let text = || format!("all words end in a digit, such as {}", quoted(word));
        findings.add(FindingKind::DoubtfulReading, sentence.place(0), text);
    }
}

/// Looks for characters that are composed in some words (`é` is one character) and decomposed in
/// others (`e` and an accent): to a model these are different words.
fn check_normalization(sentences: &Sentences, findings: &mut Findings) {
    let mut words: HashMap<&str, bool> = HashMap::new(); // whether they are decomposed
    let (mut has_composed, mut has_decomposed) = (false, false);
    let all = || sentences.values().flat_map(|all| content(all));
    let all = || all().filter(|sentence| sentence.attributes.is_none());
    for word in all().filter_map(Sentence::words).flatten() {
        if word.is_ascii() {
            continue;
        }
        words.entry(word).or_insert_with(|| {
            let is_decomposed = !is_nfc(word);
            has_decomposed |= is_decomposed;
            has_composed |= !is_decomposed && !is_nfd(word);
            is_decomposed
        });
    }
    if !has_decomposed {
        return;
    }
    let kind = if has_composed { FindingKind::MixedNormalization } else { FindingKind::Decomposed };
    for sentence in all() {
        for (t, word) in sentence.words().into_iter().flatten().enumerate() {
            if words.get(word) == Some(&true) {
                findings.add(kind, sentence.place(t), || {
                    let both = words.contains_key(&*word.nfc().collect::<String>());
                    format!("{}{}", quoted(word), if both { ", also composed" } else { "" })
                });
            }
        }
    }
}
