//! Phrases that are labeled differently in different places.
//!
//! The idea is that of variation nuclei (M. Dickinson and W. D. Meurers, *Detecting errors in
//! part-of-speech annotation*, EACL 2003): the same words with different labels are an ambiguity or
//! an error, and the more of the context is the same, the more likely an error.
//!
//! If labels encode spans, a phrase is the text of a span, and its labels are its types, and `O`
//! where none of its tokens is in a span. (As a part of a larger span, it is something else.)
//! Otherwise a phrase is a word, and varies only within the same two words before and after it.

use std::collections::HashMap;

use super::labels::LabelReport;
use super::sentences::{WordsHash, content, word_hashes};
use dropchain::{Place, label::Labeling, sentence::Sentence};

/// Maximum number of tokens of a phrase.
const MAX_PHRASE: usize = 10;

/// Number of places that are listed for a label.
const PLACES: usize = 3;

/// A phrase that is labeled differently in different places.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Variation {
    /// The words.
    pub phrase: String,
    /// Whether some labels differ although the neighboring words are the same.
    pub same_context: bool,
    /// The labels or types, the most frequent first.
    pub labels: Vec<VariationLabel>,
}

/// A label of a phrase.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct VariationLabel {
    /// The label, or the type of the span; `O` for no span.
    pub label: String,
    /// The number of occurrences.
    pub count: u64,
    /// The first of them, as `file:line`; in the same context as other labels if there are any.
    pub places: Vec<String>,
}

/// An occurrence of a phrase.
struct Occurrence<'a> {
    sentence: &'a Sentence,
    start: usize,
    end: usize,
    label: &'a str,
    context: WordsHash,
}

/// Returns at most `limit` phrases of labeled sentences that are labeled differently in different
/// places, the most suspicious first: those that differ in the same context, then those of which
/// one label is rare and another frequent.
pub fn variations(sentences: &[Sentence], labels: &LabelReport, limit: usize) -> Vec<Variation> {
    let (labeling, encodes_spans) = (&labels.labeling, labels.spans);
    let is_labeled = |s: &&Sentence| {
        let is_known = s.attributes.is_none() && s.first_partial_label().is_none();
        is_known && s.schema().label().is_some()
    };
    let labeled = || content(sentences).filter(is_labeled);
    let mut phrases: HashMap<WordsHash, Vec<Occurrence<'_>>> = HashMap::new();
    let mut longest = 1;
    if encodes_spans {
        for sentence in labeled() {
            let words = word_hashes(sentence);
            let labels = sentence.labels().unwrap_or_default();
            for span in labeling.spans(&labels).iter().filter(|s| s.end - s.start <= MAX_PHRASE) {
                longest = longest.max(span.end - span.start);
                phrases.entry(WordsHash::of(&words[span.start..span.end])).or_default();
            }
        }
    }
    for sentence in labeled() {
        let words = word_hashes(sentence);
        let labels = sentence.labels().unwrap_or_default();
        if encodes_spans {
            add_phrases((sentence, &words), &labels, labeling, longest, &mut phrases);
        } else {
            for (t, &label) in labels.iter().enumerate() {
                let context = context(&words, t, t + 1, 2);
                let occurrence = Occurrence { sentence, start: t, end: t + 1, label, context };
                phrases.entry(context.and(words[t])).or_default().push(occurrence);
            }
        }
    }
    let mut found: Vec<(f64, Place, Variation)> =
        phrases.into_values().filter_map(|occurrences| variation(&occurrences)).collect();
    found.sort_by(|(a, place_a, x), (b, place_b, y)| {
        (y.same_context.cmp(&x.same_context))
            .then_with(|| b.total_cmp(a))
            .then_with(|| x.phrase.cmp(&y.phrase))
            .then_with(|| (&place_a.file, place_a.line).cmp(&(&place_b.file, place_b.line)))
    });
    found.into_iter().map(|(_, _, variation)| variation).take(limit).collect()
}

/// Adds the occurrences of phrases in a sentence, given the hashes of its words: where one is a
/// span, or outside of all spans.
fn add_phrases<'a>(
    (sentence, words): (&'a Sentence, &[u128]),
    labels: &[&'a str],
    labeling: &'a Labeling,
    longest: usize,
    phrases: &mut HashMap<WordsHash, Vec<Occurrence<'a>>>,
) {
    let mut ends = vec![None; words.len()]; // of the span that begins at each token
    for span in labeling.spans(labels) {
        ends[span.start] = Some(span.end);
    }
    for start in 0..words.len() {
        let mut hash = WordsHash::EMPTY;
        for end in start + 1..=words.len().min(start + longest) {
            hash = hash.and(words[end - 1]);
            let is_outside = || labels[start..end].iter().all(|&label| label == labeling.outside());
            let label = match ends[start] {
                Some(is_end) if is_end == end => labeling.chunk(labels[start]).kind,
                None if is_outside() => labeling.outside(),
                _ => continue,
            };
            if let Some(occurrences) = phrases.get_mut(&hash) {
                let context = context(words, start, end, 1);
                occurrences.push(Occurrence { sentence, start, end, label, context });
            }
        }
    }
}

/// Returns the hash of `n` words before and after a phrase.
fn context(words: &[u128], start: usize, end: usize, n: usize) -> WordsHash {
    let before = &words[start.saturating_sub(n)..start];
    let after = &words[end..words.len().min(end + n)];
    let hash = WordsHash::of(before).and(before.len() as u128);
    after.iter().fold(hash, |hash, &word| hash.and(word)).and(after.len() as u128)
}

/// Returns the variation of the labels of a phrase, how suspicious it is, and its first place.
fn variation(occurrences: &[Occurrence<'_>]) -> Option<(f64, Place, Variation)> {
    let first = occurrences.first()?;
    if occurrences.iter().all(|occurrence| occurrence.label == first.label) {
        return None;
    }
    let mut contexts: HashMap<WordsHash, (&str, bool)> = HashMap::new();
    for occurrence in occurrences {
        let (label, varies) =
            contexts.entry(occurrence.context).or_insert((occurrence.label, false));
        *varies |= *label != occurrence.label;
    }
    let varies = |occurrence: &Occurrence<'_>| contexts[&occurrence.context].1;
    let same_context = occurrences.iter().any(varies);
    let mut labels: Vec<VariationLabel> = Vec::new();
    let in_order = occurrences.iter().filter(|&o| varies(o));
    let in_order = in_order.chain(occurrences.iter().filter(|&o| !varies(o)));
    for occurrence in in_order {
        let i = labels.iter().position(|label| label.label == occurrence.label);
        let i = i.unwrap_or_else(|| {
            let label = occurrence.label.to_owned();
            labels.push(VariationLabel { label, count: 0, places: Vec::new() });
            labels.len() - 1
        });
        labels[i].count += 1;
        if labels[i].places.len() < PLACES {
            labels[i].places.push(occurrence.sentence.place(occurrence.start).to_string());
        }
    }
    labels.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.label.cmp(&b.label)));
    let most = labels[0].count;
    let rest = occurrences.len() as u64 - most;
    let words: Vec<&str> = first.sentence.words().into_iter().flatten().collect();
    let phrase = words[first.start..first.end].join(" ");
    let suspicion = most as f64 / (rest as f64 + 1.0);
    let variation = Variation { phrase, same_context, labels };
    Some((suspicion, first.sentence.place(first.start), variation))
}
