//! Names in the training data: the phrases that are labeled there, with their types.
//!
//! In training, a name would give itself away if the lexicon had it from its own sentence. So the
//! training data are divided into parts of adjacent sentences, and in a sentence only those names
//! count that are labeled in another part (jackknifing): training then sees names as unknown as
//! tagging will. Parts are long because names recur in neighboring sentences.

use std::collections::BTreeMap;

use super::lexicon::{MAX_PHRASE, PhraseTag, Phrases};
use super::resources::Selection;
use super::text::nonblank_lines;
use crate::error::{Error, Place, Result};
use crate::label::{Labeling, PlainLabels, SchemeDetector};
use crate::sentence::Sentence;

/// Number of parts of the training data.
const PARTS: usize = 10;

/// Number of bits for parts; of more folds, several share a bit.
const BITS: u32 = 63;

/// The bit of names that count everywhere.
const EVERYWHERE: u64 = 1 << BITS;

/// Maximum number of types of a name.
pub(super) const MAX_TYPES: usize = 16;

/// A name.
#[derive(Clone, Debug, Default)]
struct Name {
    words: String,                // separated by tabs
    types: BTreeMap<String, u64>, // the parts that have the name with a type, as bits
}

/// Names with their types.
#[derive(Clone, Debug, Default)]
pub(super) struct MinedNames {
    names: Phrases<Name>,
    parts: Vec<u32>, // [training sentences] for training only
}

impl MinedNames {
    /// Collects the names of labeled sentences. `column` returns the column that holds their words;
    /// labels without prefixes are `plain`; `parts` are the parts of the sentences, by default
    /// blocks of adjacent ones.
    pub(super) fn learn(
        sentences: &[&Sentence],
        lower: bool,
        column: impl Fn(&Sentence) -> Option<usize>,
        parts: Option<&[u32]>,
        plain: PlainLabels,
    ) -> Self {
        let mut detector = SchemeDetector::new().with_plain_labels(plain);
        for sentence in sentences {
            detector.observe(&sentence.labels().unwrap_or_default());
        }
        let labeling = detector.detected().labeling;
        let are_joined = |sentence: &&Sentence| sentence.schema().joined().is_some();
        let has_spans = labeling.scheme.has_spans() && !sentences.first().is_some_and(are_joined);
        let labeling = has_spans.then_some(&labeling);
        let mut names = Self::default();
        let count = sentences.len().max(1);
        names.parts = match parts {
            Some(parts) if parts.len() == sentences.len() => parts.to_vec(),
            _ => (0..count).map(|i| (i * PARTS / count) as u32).collect(),
        };
        for (number, sentence) in sentences.iter().enumerate() {
            let Some(column) = column(sentence).filter(|_| sentence.weight() > 0.0) else {
                continue;
            };
            let part = 1 << (names.parts[number] % BITS);
            for (start, end, kind) in known_spans(sentence, labeling) {
                let cells = (start..end).map(|t| sentence.cell(t, column));
                // Words are stored between tabs.
                if cells.clone().any(|cell| cell.is_empty() || cell.contains(char::is_control)) {
                    continue;
                }
                let words = cells.collect::<Vec<_>>().join("\t");
                let words = Selection { lower, first: None }.fold(&words);
                if let Some(counted) = names.entry(&words, kind) {
                    *counted |= part;
                }
            }
        }
        names
    }

    /// Adds the names of earlier training data. Of a name that the new data have, they decide.
    pub(super) fn extend(&mut self, earlier: &Self) {
        for name in earlier.names.values() {
            for kind in name.types.keys() {
                if let Some(counted) = self.entry(&name.words, kind).filter(|parts| **parts == 0) {
                    *counted = EVERYWHERE;
                }
            }
        }
    }

    /// Parses names as stored in a model: lines with a type, a tab and a phrase, its words
    /// separated by tabs.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] at a line without both.
    pub(super) fn parse(text: &str, file: &str) -> Result<Self> {
        let mut names = Self::default();
        for (i, line) in nonblank_lines(text) {
            let Some((kind, words)) = line.split_once('\t') else {
                let message = format!("expected a type, a tab and a name, found '{line}'");
                return Err(Error::input(Place::line(file, i), message));
            };
            if let Some(counted) = names.entry(words, kind) {
                *counted = EVERYWHERE;
            }
        }
        Ok(names)
    }

    /// Returns the names as [`parse`](Self::parse) reads them, sorted.
    pub(super) fn to_text(&self) -> String {
        let mut lines = Vec::new();
        for name in self.names.values() {
            lines.extend(name.types.keys().map(|kind| format!("{kind}\t{}", name.words)));
        }
        lines.sort_unstable();
        lines.into_iter().map(|line| line + "\n").collect()
    }

    /// Returns the parts that have a name with a type, 0 if it is new; `None` if the name has too
    /// many types.
    fn entry(&mut self, words: &str, kind: &str) -> Option<&mut u64> {
        let name = self.names.entry(words.split('\t'));
        if name.words.is_empty() {
            words.clone_into(&mut name.words);
        }
        let has_room = name.types.len() < MAX_TYPES || name.types.contains_key(kind);
        has_room.then(|| name.types.entry(kind.to_owned()).or_default())
    }

    /// Returns the bits of the parts that count for a training sentence, or for any other.
    fn counted(&self, training_sentence: Option<u32>) -> u64 {
        let part = training_sentence.and_then(|number| self.parts.get(number as usize));
        part.map_or(u64::MAX, |part| !(1 << (part % BITS)))
    }

    /// Tags each token with its position in a name that counts, like [`Phrases::tag`].
    pub(super) fn tag<'a>(
        &self,
        length: usize,
        word: impl Fn(usize) -> &'a str,
        training_sentence: Option<u32>,
        tags: &mut Vec<PhraseTag>,
    ) {
        let counted = self.counted(training_sentence);
        let counts = |name: &Name| name.types.values().any(|parts| parts & counted != 0);
        self.names.tag(length, word, counts, tags);
    }

    /// Returns the types of a name that count, by the number of its phrase.
    pub(super) fn types(
        &self,
        name: u32,
        training_sentence: Option<u32>,
    ) -> impl Iterator<Item = &str> {
        let counted = self.counted(training_sentence);
        let types = self.names.get(name).into_iter().flat_map(|name| &name.types);
        types.filter(move |(_, parts)| *parts & counted != 0).map(|(kind, _)| kind.as_str())
    }
}

/// Returns the spans of a sentence, or its tokens if labels are of no scheme. What touches a token
/// whose label is not fully known may be part of a longer span and is left out.
fn known_spans<'s>(
    sentence: &'s Sentence,
    labeling: Option<&'s Labeling>,
) -> Vec<(usize, usize, &'s str)> {
    let mut labels = sentence.labels().unwrap_or_default();
    let is_partial = |t: usize| sentence.partial_label(t).is_some();
    for (t, label) in labels.iter_mut().enumerate() {
        if is_partial(t) {
            *label = labeling.map_or("O", Labeling::outside);
        }
    }
    let Some(labeling) = labeling else {
        let tokens = labels.iter().enumerate();
        let tokens = tokens.filter(|(t, _)| !is_partial(*t));
        return tokens.map(|(t, label)| (t, t + 1, *label)).collect();
    };
    let mut spans = labeling.spans_of(labels.into_iter());
    spans.retain(|span| {
        let touches = span.start > 0 && is_partial(span.start - 1) || is_partial(span.end);
        span.end - span.start <= MAX_PHRASE && !touches
    });
    let spans = spans.into_iter();
    spans.map(|span| (span.start, span.end, span.kind)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sentence::TokenLabel;

    fn sentence(text: &str, labels: &str) -> Sentence {
        let sentence = Sentence::from_words(text.split(' '));
        sentence.with_labels(labels.split(' ')).unwrap()
    }

    fn corpus() -> Vec<Sentence> {
        let mut corpus: Vec<Sentence> = (0..20).map(|_| sentence("no one", "O O")).collect();
        corpus[0] = sentence("in New York City", "O B-LOC I-LOC I-LOC");
        corpus[1] = sentence("New York and Ford", "B-LOC I-LOC O B-PER");
        corpus[9] = sentence("Ford wins", "B-ORG O");
        corpus[19] = sentence("New York wins", "B-ORG I-ORG O");
        corpus
    }

    fn mined(parts: Option<&[u32]>, lower: bool) -> MinedNames {
        let corpus = corpus();
        let sentences: Vec<&Sentence> = corpus.iter().collect();
        MinedNames::learn(&sentences, lower, |_| Some(0), parts, PlainLabels::Auto)
    }

    fn tags(names: &MinedNames, text: &str, training: Option<u32>) -> String {
        let words: Vec<&str> = text.split(' ').collect();
        let mut tags = Vec::new();
        names.tag(words.len(), |t| words[t], training, &mut tags);
        let all = tags.iter().map(|&(tag, node)| {
            let types: Vec<&str> = names.types(node, training).collect();
            format!("{}{}", char::from(tag), types.join("+"))
        });
        all.collect::<Vec<_>>().join(",")
    }

    #[test]
    fn names_are_found_with_all_their_types() {
        let names = mined(None, false);
        assert_eq!(
            tags(&names, "New York City or New York", None),
            "BLOC,ILOC,ELOC, ,BLOC+ORG,ELOC+ORG"
        );
        assert_eq!(tags(&names, "Ford new york", None), "SORG+PER, , ");
        let lower = "SORG+PER,BLOC+ORG,ELOC+ORG";
        assert_eq!(tags(&mined(None, true), "ford new york", None), lower);
    }

    #[test]
    fn in_training_only_names_of_other_parts_count() {
        let names = mined(None, false);
        // Sentences 0 and 1 are one part; 9 and 19 are others.
        assert_eq!(tags(&names, "in New York City", Some(0)), " ,BORG,EORG, ");
        assert_eq!(tags(&names, "New York and Ford", Some(1)), "BORG,EORG, ,SORG");
        assert_eq!(tags(&names, "Ford wins", Some(9)), "SPER, ");
        assert_eq!(tags(&names, "New York wins", Some(19)), "BLOC,ELOC, ");
        assert_eq!(tags(&names, "Ford", Some(12)), "SORG+PER");
        // Given parts, such as folds.
        let parts: Vec<u32> = (0..20).map(|i| u32::from(i != 1)).collect();
        let names = mined(Some(&parts), false);
        assert_eq!(tags(&names, "Ford wins", Some(9)), "SPER, ");
        assert_eq!(tags(&names, "New York City", Some(0)), "BLOC,ELOC, ");
    }

    #[test]
    fn names_are_stored_and_read_again() {
        let names = mined(None, false);
        let text = names.to_text();
        assert_eq!(
            text,
            "LOC\tNew\tYork\nLOC\tNew\tYork\tCity\nORG\tFord\nORG\tNew\tYork\nPER\tFord\n"
        );
        let stored = MinedNames::parse(&text, "m").unwrap();
        assert_eq!(stored.to_text(), text);
        let all = "in New York City Ford";
        assert_eq!(tags(&stored, all, None), tags(&names, all, None));
        assert!(MinedNames::parse("LOC", "m").is_err());
    }

    #[test]
    fn names_of_earlier_data_count_everywhere_unless_the_new_data_have_them() {
        let mut names = mined(None, false);
        names.extend(&MinedNames::parse("PER\tFord\nPER\tLee\n", "m").unwrap());
        assert_eq!(tags(&names, "Ford and Lee", Some(0)), "SORG, ,SPER");
    }

    #[test]
    fn what_touches_an_unknown_label_is_no_name() {
        let words = Sentence::from_words(["Ann", "Lee", "of", "York"]);
        let labels = ["B-PER", "_", "O", "B-LOC"].map(str::parse::<TokenLabel>);
        let labels = labels.map(|label| label.unwrap());
        let partial = words.with_partial_labels(labels).unwrap();
        let names = MinedNames::learn(&[&partial], false, |_| Some(0), None, PlainLabels::Auto);
        assert_eq!(names.to_text(), "LOC\tYork\n");
    }

    #[test]
    fn types_without_prefixes_are_spans() {
        let tagged = sentence("in New York", "O LOC LOC");
        let names = MinedNames::learn(&[&tagged], false, |_| Some(0), None, PlainLabels::Auto);
        assert_eq!(names.to_text(), "LOC\tNew\tYork\n");
    }

    #[test]
    fn tokens_are_names_if_labels_encode_no_spans() {
        let tagged = sentence("the dog", "DET NOUN");
        let names = MinedNames::learn(&[&tagged], false, |_| Some(0), None, PlainLabels::Auto);
        assert_eq!(tags(&names, "a dog", None), " ,SNOUN");
    }
}
