//! Development data from the training data: a share of the sentences that is held out.
//!
//! What is held out are the units of [folds](super::folds::Folds): whole documents, or blocks of
//! adjacent sentences, in the order of the seed, until their tokens are nearest to the share. It
//! is done before anything else, so that training does not know where its development data are
//! from.
//!
//! A fraction of the training data, for a learning curve, is chosen in the same way. Smaller ones
//! are parts of larger ones.

use super::corpora::{HeldOut, HoldOut, TrainingCorpora, is_content};
use super::folds::{documents, shuffled};
use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::sentence::{Sentence, Separation};

/// Number of parts of the training data that fractions are made of.
const FRACTIONS: usize = 100;

/// Chooses sentences with this fraction of the tokens, numbered without document boundaries, as
/// units for this many parts. Also returns whether they are whole documents.
fn choose(fraction: f64, parts: usize, sentences: &[Sentence], seed: u64) -> (Vec<usize>, bool) {
    let content = sentences.iter().filter(|s| is_content(s));
    let tokens: Vec<usize> = content.map(Sentence::len).collect();
    let target = fraction * tokens.iter().sum::<usize>() as f64;
    let (units, by_document) = shuffled(documents(sentences), tokens.len(), parts, seed);
    let (mut chosen, mut size) = (Vec::new(), 0);
    for unit in units.iter().take(units.len() - 1) {
        let own = unit.iter().map(|&i| tokens[i]).sum::<usize>();
        if size > 0 && size as f64 + own as f64 / 2.0 > target {
            break;
        }
        size += own;
        chosen.extend(unit);
    }
    chosen.sort_unstable();
    (chosen, by_document)
}

impl TrainingCorpora {
    /// Holds out a share of the labeled sentences as development data: whole documents if the
    /// corpus marks enough of them, else blocks of adjacent sentences. Sentences with partial
    /// labels, which cannot be scored, remain.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`]: there are fewer than 2 sentences, or no sentence that can be scored is
    /// among those chosen.
    pub fn hold_out(self, share: HoldOut, seed: u64) -> Result<Self> {
        let sentences = self.labeled.into_sentences();
        let content: Vec<&Sentence> = sentences.iter().filter(|s| is_content(s)).collect();
        let of = content.len();
        if of < 2 {
            return Err(Error::parameter(format!(
                "development data: {share} of {of} sentences; expected at least 2 sentences, or a \
                 file of development data"
            )));
        }
        let smaller = share.percent.min(100.0 - share.percent);
        let parts = ((100.0 / smaller).ceil() as usize).max(2);
        let (mut chosen, by_document) = choose(share.percent / 100.0, parts, &sentences, seed);
        chosen.retain(|&i| content[i].first_partial_label().is_none());
        if chosen.is_empty() {
            return Err(Error::parameter(
                "development data: all sentences that would be held out have partial labels; \
                 expected a file of development data",
            ));
        }
        let held_out = HeldOut { sentences: chosen.len(), of, by_document, share, seed };
        let [labeled, dev] = divide(sentences, &chosen);
        Ok(Self { labeled, dev: Some(dev), held_out: Some(held_out), ..self })
    }

    /// Keeps a fraction of the labeled sentences, above 0 and at most 1, measured in tokens: whole
    /// documents if the corpus marks at least 100, else blocks of adjacent sentences. With the same
    /// seed, a smaller fraction is part of a larger one.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the fraction is out of range.
    pub fn keep(self, fraction: f64, seed: u64) -> Result<Self> {
        if !(fraction > 0.0 && fraction <= 1.0) {
            return Err(Error::parameter(format!(
                "{fraction} of the training data; expected a fraction above 0 and at most 1"
            )));
        }
        let sentences = self.labeled.into_sentences();
        let count = sentences.iter().filter(|s| is_content(s)).count();
        if fraction == 1.0 || count < 2 {
            return Ok(Self { labeled: sentences.into(), ..self });
        }
        let (chosen, _) = choose(fraction, FRACTIONS, &sentences, seed);
        let [_, labeled] = divide(sentences, &chosen);
        Ok(Self { labeled, ..self })
    }
}

/// Divides sentences into those that remain and those with these numbers, in ascending order.
/// Document boundaries are with the sentence that follows; no token sees the other part.
fn divide(sentences: Vec<Sentence>, chosen: &[usize]) -> [Corpus; 2] {
    let mut parts = [Corpus::new(), Corpus::new()];
    let (mut number, mut last) = (0, None);
    let mut boundaries = Vec::new();
    for mut sentence in sentences {
        if !is_content(&sentence) {
            boundaries.push(sentence);
            continue;
        }
        let part = usize::from(chosen.binary_search(&number).is_ok());
        if last.is_some_and(|last| last != part) {
            sentence.layout.separation.add(Separation::FOLD);
        }
        parts[part].extend(boundaries.drain(..));
        parts[part].push(sentence);
        (number, last) = (number + 1, Some(part));
    }
    parts
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::sentence::Schema;

    /// Sentences of this many tokens, each with its number as its words; 0 is a document boundary.
    fn corpora(lengths: &[usize]) -> TrainingCorpora {
        let schema = Arc::new(Schema::new(vec!["word".to_owned()], None).unwrap());
        let mut numbers = 0..;
        let sentence = |&length: &usize| {
            let mut sentence = Sentence::new(Arc::clone(&schema), "x.conll");
            let word = match length {
                0 => "-DOCSTART-".to_owned(),
                _ => numbers.next().unwrap().to_string(),
            };
            for _ in 0..length.max(1) {
                sentence.push([&*word], 1).unwrap();
            }
            sentence.layout.document_start = length == 0;
            sentence
        };
        let sentences: Vec<Sentence> = lengths.iter().map(sentence).collect();
        TrainingCorpora::new(sentences)
    }

    fn numbers(corpus: &Corpus) -> Vec<usize> {
        corpus.iter().filter(|s| is_content(s)).map(|s| s.cell(0, 0).parse().unwrap()).collect()
    }

    fn share(text: &str) -> HoldOut {
        HoldOut::parse(text).unwrap().unwrap()
    }

    fn held_out(lengths: &[usize], text: &str, seed: u64) -> [Vec<usize>; 2] {
        let divided = corpora(lengths).hold_out(share(text), seed).unwrap();
        let dev = divided.dev.unwrap();
        assert_eq!(divided.held_out.unwrap().sentences, numbers(&dev).len());
        [numbers(&divided.labeled), numbers(&dev)]
    }

    #[test]
    fn every_sentence_is_in_one_part_and_the_seed_chooses() {
        let lengths = [7; 2000];
        let [rest, dev] = held_out(&lengths, "10%", 1);
        assert_eq!(dev.len(), 200);
        let mut all = [rest, dev.clone()].concat();
        all.sort_unstable();
        assert_eq!(all, (0..2000).collect::<Vec<_>>());
        assert_eq!(held_out(&lengths, "10%", 1)[1], dev);
        assert_ne!(held_out(&lengths, "10%", 2)[1], dev);
        // Blocks of adjacent sentences.
        assert!(dev.chunks(20).all(|block| block[0] + 19 == block[19]));
    }

    #[test]
    fn shares_are_those_of_tokens_and_neither_part_is_empty() {
        for (text, expected) in [("0.1%", 1), ("12%", 12), ("50%", 50), ("99.9%", 99)] {
            let [rest, dev] = held_out(&[3; 100], text, 1);
            assert_eq!(dev.len(), expected, "{text}");
            assert_eq!(rest.len(), 100 - expected);
        }
        assert_eq!(held_out(&[5, 1], "10%", 1).map(|part| part.len()), [1, 1]);
    }

    #[test]
    fn documents_stay_whole_if_there_are_enough() {
        let lengths = [0, 3, 3, 3].repeat(12);
        let [_, dev] = held_out(&lengths, "25%", 1);
        assert_eq!(dev.len(), 9);
        assert!(dev.chunks(3).all(|d| d[0] % 3 == 0 && d[2] == d[0] + 2));
        let divided = corpora(&lengths).hold_out(share("25%"), 1);
        assert_eq!(
            divided.unwrap().held_out.unwrap().to_string(),
            "development data: 9 of 36 sentences, 25 % of the documents, seed 1"
        );
        assert!(!corpora(&lengths).hold_out(share("5%"), 1).unwrap().held_out.unwrap().by_document);
    }

    #[test]
    fn parts_are_separated_where_they_met() {
        let divided = corpora(&[2; 40]).hold_out(share("20%"), 1);
        let divided = divided.unwrap();
        for corpus in [&divided.labeled, divided.dev.as_ref().unwrap()] {
            let found = numbers(corpus);
            for (i, sentence) in corpus.iter().enumerate().skip(1) {
                let is_separate = sentence.layout.separation.contains(Separation::FOLD);
                assert_eq!(is_separate, found[i] != found[i - 1] + 1);
            }
        }
    }

    #[test]
    fn a_smaller_fraction_is_part_of_a_larger_one() {
        let keep = |fraction| {
            let kept = corpora(&[3; 500]).keep(fraction, 1).unwrap();
            numbers(&kept.labeled)
        };
        let all = [0.1, 0.25, 0.5, 1.0].map(keep);
        assert_eq!(all.each_ref().map(Vec::len), [50, 125, 250, 500]);
        for pair in all.windows(2) {
            assert!(pair[0].iter().all(|i| pair[1].contains(i)));
        }
        for fraction in [0.0, -0.5, 1.5, f64::NAN] {
            assert!(corpora(&[3; 9]).keep(fraction, 1).is_err());
        }
        assert_eq!(corpora(&[5]).keep(0.1, 1).unwrap().labeled.len(), 1);
    }

    #[test]
    fn a_share_is_a_number_of_percent_between_0_and_100() {
        assert_eq!(HoldOut::parse("7%").unwrap(), HoldOut::new(0.07).ok());
        assert_eq!(share("7%").to_string(), "7 %");
        for name in ["dev.conll", "./10%", "10", "%", "a%"] {
            assert_eq!(HoldOut::parse(name).unwrap(), None, "{name}");
        }
        for text in ["0%", "100%", "-5%", "1e3%", "NaN%"] {
            let error = HoldOut::parse(text).unwrap_err().to_string();
            assert!(error.contains("expected more than 0%"), "{error}");
        }
        for share in [0.0, 1.0, -0.1, f64::NAN] {
            assert!(HoldOut::new(share).is_err(), "{share}");
        }
        let error = corpora(&[0, 4]).hold_out(share("10%"), 1);
        assert_eq!(
            error.unwrap_err().to_string(),
            "development data: 10 % of 1 sentences; expected at least 2 sentences, or a file of \
             development data"
        );
    }
}
