//! Predictions on development data, counted by label.

use crate::eval::Counts;
use crate::ids::LabelId;

/// Predictions on development data, counted by label and by sentence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelScores {
    /// Each label of the model with its numbers of tokens, in the order of the model.
    pub labels: Vec<(String, Counts)>,
    /// Number of sentences.
    pub sentences: usize,
    /// Number of sentences of which all labels were predicted correctly.
    pub correct_sentences: usize,
}

impl LabelScores {
    /// Creates counts of 0.
    pub(super) fn new(labels: &[String]) -> Self {
        let label = |name: &String| (name.clone(), Counts::default());
        Self { labels: labels.iter().map(label).collect(), ..Self::default() }
    }

    /// Adds a sentence. A gold label that the model does not have is `None`.
    pub(super) fn add(
        &mut self,
        gold: impl ExactSizeIterator<Item = Option<LabelId>>,
        predicted: &[LabelId],
    ) {
        let (tokens, mut correct) = (gold.len(), 0);
        for (gold, &predicted) in gold.zip(predicted) {
            self.labels[predicted.index()].1.predicted += 1;
            if let Some(gold) = gold {
                self.labels[gold.index()].1.gold += 1;
            }
            if gold == Some(predicted) {
                self.labels[predicted.index()].1.correct += 1;
                correct += 1;
            }
        }
        self.sentences += 1;
        self.correct_sentences += usize::from(correct == tokens);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_counted_by_label_and_sentences_if_all_labels_are_right() {
        let mut scores = LabelScores::new(&["A", "B"].map(str::to_owned));
        let [a, b] = [0, 1].map(LabelId);
        scores.add([Some(a), Some(b)].into_iter(), &[a, b]);
        scores.add([Some(a), None].into_iter(), &[b, b]);
        let counts = |correct, predicted, gold| Counts { correct, predicted, gold };
        assert_eq!(scores.labels[0], ("A".to_owned(), counts(1, 1, 2)));
        assert_eq!(scores.labels[1], ("B".to_owned(), counts(1, 3, 1)));
        assert_eq!((scores.correct_sentences, scores.sentences), (1, 2));
    }
}
