//! Parts of a corpus that are held out in turn.
//!
//! Neighboring sentences resemble each other: the same names, the same topic. Were they torn apart, a
//! model would be scored on what it has seen, and too weak a regularization would look good. So
//! sentences of a document stay together where the corpus marks documents (`-DOCSTART-`) and has as many as
//! there are folds; elsewhere blocks of neighboring sentences do, of up to 20 in a large corpus and of 1 in a
//! small one. Documents or blocks are shuffled, and each goes to the fold with the fewest tokens.

use crate::error::{Error, Result};
use crate::random::uniform;
use crate::sentence::Sentence;
use crate::train::is_text;

/// Sentences of a block, at most.
const LARGEST_BLOCK: usize = 20;

/// Blocks of a fold, at least, before blocks have more than one sentence.
const BLOCKS_OF_A_FOLD: usize = 10;

/// A partition of the sentences of a corpus, document boundaries apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folds {
    parts: Vec<Vec<usize>>, // [folds] ascending numbers of sentences
    documents: bool,
}

impl Folds {
    /// `count` folds.
    ///
    /// # Errors
    ///
    /// Fewer than 2 folds, or more than sentences.
    pub fn new(sentences: &[Sentence], count: usize, seed: u64) -> Result<Self> {
        let tokens: Vec<usize> = sentences
            .iter()
            .filter(|s| is_text(s))
            .map(Sentence::len)
            .collect();
        if count < 2 || count > tokens.len() {
            return Err(Error::parameter(format!(
                "{count} folds of {} sentences; expected at least 2 folds, and a sentence for each",
                tokens.len()
            )));
        }
        let mut units = documents(sentences);
        let documents = units.len() >= count;
        if !documents {
            let size = (tokens.len() / (BLOCKS_OF_A_FOLD * count)).clamp(1, LARGEST_BLOCK);
            let all: Vec<usize> = (0..tokens.len()).collect();
            units = all.chunks(size).map(<[usize]>::to_vec).collect();
        }
        // Fisher and Yates.
        for last in (1..units.len()).rev() {
            let other = (1.0 - uniform(seed, last as u64)) * (last + 1) as f64;
            units.swap(last, (other as usize).min(last));
        }
        let mut parts = vec![Vec::new(); count];
        let mut sizes = vec![0; count];
        for unit in units {
            let least = (0..count).min_by_key(|&fold| sizes[fold]).unwrap_or(0);
            sizes[least] += unit.iter().map(|&i| tokens[i]).sum::<usize>();
            parts[least].extend(unit);
        }
        parts.iter_mut().for_each(|part| part.sort_unstable());
        Ok(Self { parts, documents })
    }

    /// The sentences of each fold, by their number among the sentences that are no document boundaries.
    #[must_use]
    pub fn parts(&self) -> &[Vec<usize>] {
        &self.parts
    }

    /// Whether documents were kept together.
    #[must_use]
    pub fn of_documents(&self) -> bool {
        self.documents
    }
}

/// The sentences of each document; none where no document begins.
fn documents(sentences: &[Sentence]) -> Vec<Vec<usize>> {
    if !sentences.iter().any(|s| s.layout.document_start) {
        return Vec::new();
    }
    let mut documents = vec![Vec::new()];
    let mut number = 0;
    for sentence in sentences {
        if sentence.layout.document_start {
            documents.push(Vec::new());
        } else if is_text(sentence) {
            documents
                .last_mut()
                .into_iter()
                .for_each(|d| d.push(number));
            number += 1;
        }
    }
    documents.retain(|document| !document.is_empty());
    documents
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::sentence::Schema;

    /// Sentences of so many tokens; 0 is a document boundary.
    fn corpus(lengths: &[usize]) -> Vec<Sentence> {
        let schema = Arc::new(Schema::new(vec!["word".to_owned()], None).unwrap());
        let sentence = |&length: &usize| {
            let mut sentence = Sentence::new(Arc::clone(&schema), Arc::from("x.conll"));
            for _ in 0..length.max(1) {
                sentence.push(["w"], 1).unwrap();
            }
            sentence.layout.document_start = length == 0;
            sentence
        };
        lengths.iter().map(sentence).collect()
    }

    fn fault(sentences: usize, folds: usize) -> String {
        let error = Folds::new(&corpus(&vec![1; sentences]), folds, 1).unwrap_err();
        error.to_string()
    }

    proptest! {
        #[test]
        fn every_sentence_is_in_one_fold_and_no_fold_is_empty(
            lengths in proptest::collection::vec(0_usize..9, 2..80),
            count in 2_usize..6,
            seed in any::<u64>(),
        ) {
            let text = lengths.iter().filter(|&&length| length > 0).count();
            prop_assume!(count <= text);
            let folds = Folds::new(&corpus(&lengths), count, seed).unwrap();
            prop_assert_eq!(folds.parts().len(), count);
            prop_assert!(folds.parts().iter().all(|part| !part.is_empty()));
            let mut all = folds.parts().concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..text).collect::<Vec<_>>());
        }
    }

    #[test]
    fn documents_are_kept_together_where_there_are_enough() {
        let sentences = corpus(&[0, 3, 2, 0, 5, 0, 1, 1, 1, 0, 4, 2]);
        let documents = [vec![0, 1], vec![2], vec![3, 4, 5], vec![6, 7]];
        for seed in 0..20 {
            let folds = Folds::new(&sentences, 3, seed).unwrap();
            assert!(folds.of_documents());
            for document in &documents {
                let holds = |part: &&Vec<usize>| document.iter().all(|i| part.contains(i));
                assert_eq!(folds.parts().iter().filter(holds).count(), 1, "{folds:?}");
            }
        }
        assert!(!Folds::new(&sentences, 5, 1).unwrap().of_documents());
    }

    #[test]
    fn neighbors_of_a_large_corpus_stay_together_and_folds_are_of_a_size() {
        let folds = Folds::new(&corpus(&[7; 2000]), 5, 1).unwrap();
        for part in folds.parts() {
            assert_eq!(part.len(), 400);
            assert!(
                part.chunks(20).all(|block| block[0] + 19 == block[19]),
                "{part:?}"
            );
        }
        assert_ne!(folds, Folds::new(&corpus(&[7; 2000]), 5, 2).unwrap());
    }

    #[test]
    fn folds_are_at_least_two_and_at_most_as_many_as_sentences() {
        let expected = "expected at least 2 folds, and a sentence for each";
        assert_eq!(fault(5, 1), format!("1 folds of 5 sentences; {expected}"));
        assert_eq!(fault(5, 6), format!("6 folds of 5 sentences; {expected}"));
        assert_eq!(fault(0, 2), format!("2 folds of 0 sentences; {expected}"));
    }
}
