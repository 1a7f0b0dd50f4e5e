//! The training data of a report: their words, and the first sentences to score.

use dropchain::{Corpus, Result, Sentence};
use dropchain_analysis::WordCounts;

use crate::errors::words_of;

/// Maximum number of sentences of the training data that a model is scored on.
const SAMPLE: usize = 5000;

/// Counts the words of the training data.
///
/// # Errors
///
/// Errors of reading the sentences.
pub fn count_words(sentences: impl Iterator<Item = Result<Sentence>>) -> Result<WordCounts> {
    let mut words = WordCounts::default();
    for sentence in sentences {
        let sentence = sentence?;
        if !sentence.layout.document_start {
            let own = words_of(&sentence).into_iter().flatten();
            own.for_each(|word| words.add(word));
        }
    }
    Ok(words)
}

/// Returns the first sentences of the training data that have a label for every token, at most
/// 5000, and whether there are more; `None` without any.
///
/// # Errors
///
/// Errors of reading the sentences.
pub fn training_sample(
    sentences: impl Iterator<Item = Result<Sentence>>,
) -> Result<Option<(Corpus, bool)>> {
    let (mut sample, mut count) = (Corpus::new(), 0);
    for sentence in sentences {
        let sentence = sentence?;
        if sentence.layout.document_start {
            sample.push(sentence);
            continue;
        }
        if sentence.labels().is_none() || sentence.first_partial_label().is_some() {
            continue;
        }
        if count == SAMPLE {
            return Ok(Some((sample, true)));
        }
        sample.push(sentence);
        count += 1;
    }
    Ok(Some((sample, false)).filter(|_| count > 0))
}
