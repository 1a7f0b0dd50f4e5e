//! Sentences that occur more than once.

use std::collections::HashMap;

use super::characters::quoted;
use super::finding::{FindingKind, Findings};
use super::sentences::{Role, Sentences, WordsHash, content, word_hashes};
use dropchain::sentence::Sentence;

/// Minimum number of tokens of a sentence whose repetition is not natural, as that of `( AP )`.
pub(super) const MIN_LENGTH: usize = 5;

/// Counts of sentences of one data set that occur in another.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Overlap {
    /// The data whose sentences are counted.
    pub role: Role,
    /// The other data.
    pub other: Role,
    /// Sentences of `role` that are in `other`.
    pub sentences: u64,
    /// Repeated sentences of at least 5 tokens; shorter ones repeat naturally.
    pub long: u64,
}

/// The first occurrence of a sentence in the data of each role.
#[derive(Default)]
struct Occurrences<'a> {
    first: [Option<&'a Sentence>; 3],
    has_conflict: bool,
}

/// Finds sentences that occur more than once, and how the data of roles overlap.
pub(super) fn find(sentences: &Sentences, findings: &mut Findings) -> Vec<Overlap> {
    let mut seen: HashMap<WordsHash, Occurrences<'_>> = HashMap::new();
    let mut overlaps = Vec::new();
    for (&role, all) in sentences {
        let earlier = || Role::ALL.into_iter().filter(move |&other| other < role);
        let mut counts = [(0, 0); 3];
        for sentence in content(all) {
            let is_long = sentence.len() >= MIN_LENGTH;
            let hash = WordsHash::of(&word_hashes(sentence));
            let occurrences = seen.entry(hash).or_default();
            let mut shared = None;
            for other in earlier() {
                if let Some(found) = occurrences.first[other as usize] {
                    let count = &mut counts[other as usize];
                    count.0 += 1;
                    count.1 += u64::from(is_long);
                    shared.get_or_insert(found);
                }
            }
            let own = occurrences.first[role as usize];
            let shared = shared.map(|found| (FindingKind::SharedSentence, found));
            let repeated = own.map(|found| (FindingKind::RepeatedSentence, found));
            for (kind, found) in shared.into_iter().chain(repeated).filter(|_| is_long) {
                let text = || format!("also {}, {} tokens", found.place(0), sentence.len());
                findings.add(kind, sentence.place(0), text);
            }
            if let Some((first, t)) = conflict(occurrences, sentence) {
                let label = |s: &Sentence| quoted(s.label(t).unwrap_or("_"));
                let text = || format!("{}; {}: {}", label(sentence), first.place(t), label(first));
                findings.add(FindingKind::ConflictingLabels, sentence.place(t), text);
            }
            occurrences.first[role as usize].get_or_insert(sentence);
        }
        if !all.is_empty() {
            for other in earlier().filter(|other| sentences.contains_key(other)) {
                let (sentences, long) = counts[other as usize];
                overlaps.push(Overlap { role, other, sentences, long });
            }
        }
    }
    overlaps
}

/// Returns an earlier sentence with the same words whose labels differ, and the first token where
/// they do.
fn conflict<'a>(
    occurrences: &mut Occurrences<'a>,
    sentence: &Sentence,
) -> Option<(&'a Sentence, usize)> {
    if sentence.len() < MIN_LENGTH || occurrences.has_conflict {
        return None;
    }
    let first = occurrences.first.into_iter().flatten().next()?;
    let is_known = |s: &Sentence, t: usize| s.partial_label(t).is_none();
    let t = (0..sentence.len().min(first.len())).find(|&t| {
        is_known(first, t) && is_known(sentence, t) && first.label(t) != sentence.label(t)
    })?;
    occurrences.has_conflict = true;
    Some((first, t))
}
