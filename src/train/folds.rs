//! Folds for cross-validation.
//!
//! Adjacent sentences are similar: they share names and topics. If they were split between folds,
//! models would be scored on text much like their training data, and too weak a regularization
//! would look good. So the sentences of a document stay together if the corpus marks documents
//! (`-DOCSTART-`) and has at least as many as there are folds; otherwise blocks of adjacent
//! sentences do: up to 20 sentences in a large corpus, a single one in a small corpus. Documents or
//! blocks are shuffled, and each is assigned to the fold with the fewest tokens.

use super::corpora::is_content;
use crate::error::{Error, Result};
use crate::random::shuffle;
use crate::sentence::{DocumentRule, Sentence, Separation};

/// Maximum number of sentences in a block.
const MAX_BLOCK: usize = 20;

/// Minimum number of blocks per fold if blocks have more than one sentence.
const MIN_BLOCKS: usize = 10;

/// A partition of the sentences of a corpus, document boundaries excluded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folds {
    /// The held-out sentences of each fold, ascending, numbered without document boundaries.
    pub held_out: Vec<Vec<usize>>,
    /// Whether the folds consist of whole documents.
    pub by_document: bool,
}

impl Folds {
    /// Splits a corpus into `count` folds.
    ///
    /// # Errors
    ///
    /// There are fewer than 2 folds, or more than sentences.
    pub fn new(sentences: &[Sentence], count: usize, seed: u64) -> Result<Self> {
        let tokens: Vec<usize> =
            sentences.iter().filter(|s| is_content(s)).map(Sentence::len).collect();
        if count < 2 || count > tokens.len() {
            return Err(Error::parameter(format!(
                "{count} folds of {} sentences; expected at least 2 folds, and at least one \
                 sentence per fold",
                tokens.len()
            )));
        }
        Ok(Self::of_documents(documents(sentences), &tokens, count, seed))
    }

    /// Splits sentences with these numbers of tokens into `count` folds. `documents` has the
    /// sentences of each document, if there are any.
    pub(super) fn of_documents(
        documents: Vec<Vec<usize>>,
        tokens: &[usize],
        count: usize,
        seed: u64,
    ) -> Self {
        let (units, by_document) = shuffled(documents, tokens.len(), count, seed);
        let mut held_out = vec![Vec::new(); count];
        let mut sizes = vec![0; count];
        for unit in units {
            let smallest = (0..count).min_by_key(|&fold| sizes[fold]).unwrap_or(0);
            sizes[smallest] += unit.iter().map(|&i| tokens[i]).sum::<usize>();
            held_out[smallest].extend(unit);
        }
        held_out.iter_mut().for_each(|fold| fold.sort_unstable());
        Self { held_out, by_document }
    }

    /// Separates documents at the borders of folds, so that no token sees another fold. Returns
    /// whether there was a document, by `rule`, on both sides of a border.
    pub fn separate(&self, sentences: &mut [Sentence], rule: DocumentRule) -> bool {
        let numbered = (0..).zip(&self.held_out);
        let mut folds: Vec<(usize, usize)> = numbered
            .flat_map(|(fold, held_out)| held_out.iter().map(move |&i| (i, fold)))
            .collect();
        folds.sort_unstable();
        let (mut number, mut is_split) = (0, false);
        let mut before = Separation::default(); // of boundaries
        for sentence in sentences {
            let separation = sentence.layout.separation.and(before);
            if !is_content(sentence) {
                before = separation;
                if sentence.layout.document_start {
                    before.add(Separation::MARK);
                }
                continue;
            }
            before = Separation::default();
            let is_border = number > 0 && folds[number].1 != folds[number - 1].1;
            if is_border {
                is_split |= !rule.separates(separation);
                sentence.layout.separation.add(Separation::FOLD);
            }
            number += 1;
        }
        is_split
    }
}

/// Returns documents if there are at least `count` of them, else blocks of as many sentences, in
/// the order of the seed. Also returns whether they are documents.
pub(super) fn shuffled(
    documents: Vec<Vec<usize>>,
    sentences: usize,
    count: usize,
    seed: u64,
) -> (Vec<Vec<usize>>, bool) {
    let mut units = documents;
    let by_document = units.len() >= count;
    if !by_document {
        let size = (sentences / (MIN_BLOCKS * count)).clamp(1, MAX_BLOCK);
        let all: Vec<usize> = (0..sentences).collect();
        units = all.chunks(size).map(<[usize]>::to_vec).collect();
    }
    shuffle(&mut units, seed);
    (units, by_document)
}

/// Returns the sentences of each document; empty if the corpus marks no documents.
pub(super) fn documents(sentences: &[Sentence]) -> Vec<Vec<usize>> {
    if !sentences.iter().any(|s| s.layout.document_start) {
        return Vec::new();
    }
    let mut numbers = 0..;
    let documents = sentences.split(|sentence| sentence.layout.document_start);
    let documents = documents.map(|document| -> Vec<usize> {
        let content = document.iter().filter(|sentence| is_content(sentence));
        content.zip(numbers.by_ref()).map(|(_, number)| number).collect()
    });
    documents.filter(|document| !document.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::sentence::Schema;

    /// Sentences with these numbers of tokens; 0 is a document boundary.
    fn corpus(lengths: &[usize]) -> Vec<Sentence> {
        let schema = Arc::new(Schema::new(vec!["word".to_owned()], None).unwrap());
        let sentence = |&length: &usize| {
            let mut sentence = Sentence::new(Arc::clone(&schema), "x.conll");
            for _ in 0..length.max(1) {
                sentence.push(["w"], 1).unwrap();
            }
            sentence.layout.document_start = length == 0;
            sentence
        };
        lengths.iter().map(sentence).collect()
    }

    fn error(sentences: usize, folds: usize) -> String {
        let result = Folds::new(&corpus(&vec![1; sentences]), folds, 1);
        result.unwrap_err().to_string()
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
            prop_assert_eq!(folds.held_out.len(), count);
            prop_assert!(folds.held_out.iter().all(|part| !part.is_empty()));
            let mut all = folds.held_out.concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..text).collect::<Vec<_>>());
        }
    }

    #[test]
    fn documents_are_kept_together_if_there_are_enough() {
        let sentences = corpus(&[0, 3, 2, 0, 5, 0, 1, 1, 1, 0, 4, 2]);
        let documents = [vec![0, 1], vec![2], vec![3, 4, 5], vec![6, 7]];
        for seed in 0..20 {
            let folds = Folds::new(&sentences, 3, seed).unwrap();
            assert!(folds.by_document);
            for document in &documents {
                let holds = |part: &&Vec<usize>| document.iter().all(|i| part.contains(i));
                assert_eq!(folds.held_out.iter().filter(holds).count(), 1, "{folds:?}");
            }
        }
        assert!(!Folds::new(&sentences, 5, 1).unwrap().by_document);
    }

    #[test]
    fn neighbors_in_a_large_corpus_stay_together_and_folds_have_equal_sizes() {
        let folds = Folds::new(&corpus(&[7; 2000]), 5, 1).unwrap();
        for part in &folds.held_out {
            assert_eq!(part.len(), 400);
            assert!(part.chunks(20).all(|block| block[0] + 19 == block[19]), "{part:?}");
        }
        assert_ne!(folds, Folds::new(&corpus(&[7; 2000]), 5, 2).unwrap());
    }

    #[test]
    fn folds_are_at_least_two_and_at_most_as_many_as_sentences() {
        let expected = "expected at least 2 folds, and at least one sentence per fold";
        assert_eq!(error(5, 1), format!("1 folds of 5 sentences; {expected}"));
        assert_eq!(error(5, 6), format!("6 folds of 5 sentences; {expected}"));
        assert_eq!(error(0, 2), format!("2 folds of 0 sentences; {expected}"));
    }

    #[test]
    fn no_document_lies_on_both_sides_of_a_border() {
        let mut sentences = corpus(&[3; 40]);
        let folds = Folds::new(&sentences, 4, 1).unwrap();
        assert!(folds.separate(&mut sentences, DocumentRule::Auto));
        let fold_of = |i: usize| folds.held_out.iter().position(|fold| fold.contains(&i));
        let mut number = 0;
        for document in DocumentRule::Auto.documents(&sentences) {
            let folds: Vec<_> = (number..number + document.len()).map(fold_of).collect();
            assert!(folds.iter().all(|fold| *fold == folds[0]), "{folds:?}");
            number += document.len();
        }
        assert_eq!(number, 40);
        // Marked documents are in one fold each, so nothing is split.
        let mut sentences = corpus(&[0, 3, 3, 0, 3, 3, 3, 0, 3, 0, 3, 3]);
        let folds = Folds::new(&sentences, 2, 1).unwrap();
        assert!(folds.by_document);
        assert!(!folds.separate(&mut sentences.clone(), DocumentRule::Auto));
        assert!(folds.separate(&mut sentences, DocumentRule::File));
    }
}
