//! Scores by how often words occur in the training data.

use std::collections::HashMap;

use dropchain::eval::Counts;
use dropchain::label::{Labeling, Span};
use dropchain::{Error, Result};

/// The lowest counts of the bands: 0, 1, 2–4, 5–9, 10–99 and at least 100.
const BANDS: [u64; 6] = [0, 1, 2, 5, 10, 100];

/// How often each word occurs in training data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordCounts {
    counts: HashMap<String, u64>,
    /// Number of tokens.
    pub tokens: u64,
}

impl WordCounts {
    /// Counts a token.
    pub fn add(&mut self, word: &str) {
        self.tokens += 1;
        match self.counts.get_mut(word) {
            Some(count) => *count += 1,
            None => _ = self.counts.insert(word.to_owned(), 1),
        }
    }

    /// How often a word occurs.
    pub fn count(&self, word: &str) -> u64 {
        self.counts.get(word).copied().unwrap_or(0)
    }

    /// Number of distinct words.
    pub fn words(&self) -> usize {
        self.counts.len()
    }
}

/// Scores by the frequency of words in the training data: of tokens, and of spans by the rarest
/// word in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrequencyEvaluation {
    /// The bands, from words that training has not seen to the most frequent ones.
    pub bands: [FrequencyBand; BANDS.len()],
    labelings: [Labeling; 2], // of gold and predicted labels
}

/// The tokens and spans of a range of frequencies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrequencyBand {
    /// The lowest frequency; 0 is that of words that training has not seen.
    pub low: u64,
    /// The highest frequency; `None` of the last band.
    pub high: Option<u64>,
    /// Number of tokens.
    pub tokens: u64,
    /// Number of tokens with the correct label.
    pub correct_tokens: u64,
    /// Spans whose rarest word has such a frequency.
    pub spans: Counts,
}

impl Default for FrequencyEvaluation {
    /// Without counts.
    fn default() -> Self {
        let mut bands = BANDS.map(|low| FrequencyBand { low, ..FrequencyBand::default() });
        for (band, next) in bands.iter_mut().zip(&BANDS[1..]) {
            band.high = Some(next - 1);
        }
        Self { bands, labelings: Default::default() }
    }
}

impl FrequencyEvaluation {
    /// Sets how the gold and the predicted labels encode spans, like
    /// [`Evaluation::with_labelings`](dropchain::eval::Evaluation::with_labelings).
    #[must_use]
    pub fn with_labelings(self, gold: &Labeling, predicted: &Labeling) -> Self {
        let labelings = [gold.clone(), predicted.clone()];
        Self { labelings, ..self }
    }

    /// Counts a sentence: the frequency of each of its words, its gold and its predicted labels.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if their numbers differ.
    pub fn add<G: AsRef<str>, P: AsRef<str>>(
        &mut self,
        frequencies: &[u64],
        gold: &[G],
        predicted: &[P],
    ) -> Result<()> {
        let [words, own, others] = [frequencies.len(), gold.len(), predicted.len()];
        if words != own || own != others {
            return Err(Error::parameter(format!(
                "a sentence of {words} words has {own} gold labels and {others} predicted ones"
            )));
        }
        for ((&frequency, gold), predicted) in frequencies.iter().zip(gold).zip(predicted) {
            let band = self.band(frequency);
            band.tokens += 1;
            band.correct_tokens += u64::from(gold.as_ref() == predicted.as_ref());
        }
        let (gold, predicted) = (self.labelings[0].spans(gold), self.labelings[1].spans(predicted));
        let rarest = |span: &Span<'_>| {
            let frequencies = frequencies[span.start..span.end].iter();
            frequencies.min().copied().unwrap_or(0)
        };
        for span in &gold {
            self.band(rarest(span)).spans.gold += 1;
        }
        for span in &predicted {
            let counts = &mut self.band(rarest(span)).spans;
            counts.predicted += 1;
            counts.correct += u64::from(gold.binary_search(span).is_ok());
        }
        Ok(())
    }

    fn band(&mut self, frequency: u64) -> &mut FrequencyBand {
        let above = BANDS.partition_point(|&low| low <= frequency);
        &mut self.bands[above - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted() {
        let mut words = WordCounts::default();
        ["a", "b", "a"].iter().for_each(|word| words.add(word));
        assert_eq!([words.count("a"), words.count("b"), words.count("c")], [2, 1, 0]);
        assert_eq!((words.words(), words.tokens), (2, 3));
    }

    #[test]
    fn tokens_are_counted_by_their_frequency_and_spans_by_that_of_their_rarest_word() {
        let mut scores = FrequencyEvaluation::default();
        let gold = ["B-X", "I-X", "O", "B-Y"];
        let predicted = ["B-X", "I-X", "B-X", "B-Z"];
        scores.add(&[7, 0, 100, 1], &gold, &predicted).unwrap();
        let bands = scores.bands;
        let tokens: Vec<_> = bands.iter().map(|b| (b.tokens, b.correct_tokens)).collect();
        assert_eq!(tokens, [(1, 1), (1, 0), (0, 0), (1, 1), (0, 0), (1, 0)]);
        let spans = |band: &FrequencyBand| {
            let Counts { correct, gold, predicted } = band.spans;
            (correct, gold, predicted)
        };
        let spans: Vec<_> = bands.iter().map(spans).collect();
        // X 0–2 is correct and has an unseen word; Y was labeled Z; the wrong X is frequent.
        let none = (0, 0, 0);
        assert_eq!(spans, [(1, 1, 1), (0, 1, 1), none, none, none, (0, 0, 1)]);
    }

    #[test]
    fn bands_cover_every_frequency_once() {
        let scores = FrequencyEvaluation::default();
        let ranges: Vec<_> = scores.bands.iter().map(|b| (b.low, b.high)).collect();
        let expected =
            [(0, Some(0)), (1, Some(1)), (2, Some(4)), (5, Some(9)), (10, Some(99)), (100, None)];
        assert_eq!(ranges, expected);
    }

    #[test]
    fn different_lengths_are_an_error() {
        let mut scores = FrequencyEvaluation::default();
        assert!(scores.add(&[1], &["O", "O"], &["O", "O"]).is_err());
        assert_eq!(scores, FrequencyEvaluation::default());
    }
}
