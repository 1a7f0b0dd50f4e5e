//! The benchmark corpus: five copies of the sample corpus, each with different words.
//!
//! With plain copies every attribute would have a high count, unlike in real corpora. So every word
//! is resampled from those with the same labels, and some of the rarer ones get two letters
//! appended. The first 24,029 tokens of CoNLL-2000 have 4,952 different words and, with words and
//! parts of speech in windows of one to three, 71,615 different attributes; this corpus has 4,879
//! and 65,168.

use std::collections::HashMap;

use dropchain::corpus::{Format, ReadOptions, Reader};
use dropchain::sentence::Sentence;

const SAMPLE: &str = include_str!("../corpora/sample/train.conll");

/// Sentences are added until the corpus has at least this many tokens.
const AT_LEAST: usize = 24_000;

/// Tokens of the corpus.
pub const TOKENS: usize = 24_006;

/// Words more frequent than this in the sample are never changed.
const COMMON: usize = 8;

/// Percentage of the other words that are changed.
const NEW: u64 = 25;

/// Knuth's MMIX linear congruential generator: the same numbers in every run.
pub struct Numbers(pub u64);

impl Numbers {
    /// The next number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    /// The next number in [−1, 1).
    pub fn score(&mut self) -> f64 {
        self.below(1 << 30) as f64 / f64::from(1 << 29) - 1.0
    }

    fn letter(&mut self) -> char {
        char::from(b'a' + self.below(26) as u8)
    }
}

/// The corpus as a file in three columns: word, part of speech, entity.
pub fn conll() -> String {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut words: HashMap<&str, Vec<&str>> = HashMap::new();
    for (word, labels) in SAMPLE.lines().filter_map(|line| line.split_once('\t')) {
        *counts.entry(word).or_default() += 1;
        words.entry(labels).or_default().push(word);
    }
    let mut numbers = Numbers(1);
    let (mut text, mut tokens) = (String::new(), 0);
    for line in SAMPLE.lines().chain([""]).cycle() {
        let Some((_, labels)) = line.split_once('\t') else {
            text.push('\n');
            if tokens >= AT_LEAST {
                break;
            }
            continue;
        };
        let choice = &words[labels];
        let word = choice[numbers.below(choice.len() as u64) as usize];
        text.push_str(word);
        let is_rare = word.ends_with(char::is_alphabetic) && counts[word] <= COMMON;
        if is_rare && numbers.below(100) < NEW {
            text.extend([numbers.letter(), numbers.letter()]);
        }
        text.push('\t');
        text.push_str(labels);
        text.push('\n');
        tokens += 1;
    }
    text
}

/// Options for reading the corpus, with the labels in column `label`: `upos` or `ner`.
pub fn options(label: &str) -> ReadOptions {
    ReadOptions {
        format: Some(Format::Conll),
        columns: Some(["word", "upos", "ner"].map(str::to_owned).to_vec()),
        label: Some(label.to_owned()),
        ..ReadOptions::default()
    }
}

/// The sentences of the corpus, with the labels in column `label`.
pub fn sentences(label: &str) -> Vec<Sentence> {
    let input = Box::new(std::io::Cursor::new(conll()));
    let reader = Reader::from_read(input, "bench corpus", &options(label));
    let sentences: Vec<Sentence> = reader.collect::<Result<_, _>>().unwrap();
    let tokens: usize = sentences.iter().map(Sentence::len).sum();
    assert_eq!(tokens, TOKENS, "tokens of the bench corpus");
    sentences
}
