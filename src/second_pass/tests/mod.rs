//! The columns of predictions, against a plain count over the whole document.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::chain::Marginals;
use crate::ids::LabelId;
use crate::label::{LabelSet, Labeling, Scheme, spans};
use crate::sentence::Sentence;
use crate::sentence::{PREDICTIONS as COLUMNS, Schema};

const LABELS: [&str; 5] = ["O", "B-X", "I-X", "B-Y", "I-Y"];

fn types() -> LabelTypes {
    let labels = LabelSet::try_from(LABELS.map(str::to_owned).to_vec()).unwrap();
    LabelTypes::new(&labels, &Scheme::Iob2.into())
}

/// A sentence like `a/B-X b/I-X c`, each label with the probability 0.8, the rest being O's or, of
/// O itself, that of `B-X`.
fn predicted(text: &str) -> (Sentence, Prediction) {
    predicted_with(text, 0.8)
}

fn predicted_with(text: &str, probability: f64) -> (Sentence, Prediction) {
    let tokens = text.split(' ').map(|t| t.split_once('/').unwrap_or((t, "O")));
    let sentence = Sentence::from_words(tokens.clone().map(|(word, _)| word));
    let index = |label: &str| LABELS.iter().position(|l| *l == label).unwrap();
    let labels: Vec<LabelId> = tokens.map(|(_, label)| LabelId(index(label) as u16)).collect();
    let mut marginals = vec![0.0; labels.len() * LABELS.len()];
    for (t, label) in labels.iter().enumerate() {
        marginals[t * LABELS.len() + label.index()] = probability;
        let other = usize::from(label.index() == 0);
        marginals[t * LABELS.len() + other] += 1.0 - probability;
    }
    let marginals = Marginals::new(marginals, LABELS.len());
    let prediction = Prediction::new(&labels, &marginals, &types());
    (sentence, prediction)
}

/// The cells of a column of predictions, sentence by sentence.
fn column(document: &[(Sentence, Prediction)], name: &str, window: usize) -> Vec<String> {
    let types = types();
    let counted = PredictedDocument::new(document.iter().map(|(s, p)| (s, p)), &types, window);
    let cells = counted.extended().unwrap().into_iter().map(|sentence| {
        let at = sentence.schema().position(name).unwrap();
        (0..sentence.len()).map(|t| sentence.cell(t, at).to_owned()).collect::<Vec<_>>().join(" ")
    });
    cells.collect()
}

fn columns(texts: &[&str], name: &str, window: usize) -> Vec<String> {
    let document: Vec<_> = texts.iter().map(|text| predicted(text)).collect();
    column(&document, name, window)
}

#[test]
fn the_label_is_that_of_the_first_pass() {
    let cells = columns(&["a/B-X b/I-X c", "d/B-Y"], "predicted", 9);
    assert_eq!(cells, ["B-X I-X O", "B-Y"]);
}

#[test]
fn other_occurrences_of_a_word_vote_with_their_probabilities() {
    // At the first `a`, the others have X 0.8, O 0.2 and X 0.2, O 0.8: the first type wins.
    let cells = columns(&["a b", "a/B-X a", "c"], "predicted_word", 9);
    assert_eq!(cells, ["O:5 ", "O:7 O:5", ""]);
    let cells = columns(&["a", "a/B-X", "a/I-X"], "predicted_word", 9);
    assert_eq!(cells, ["X:7", "O:5", "O:5"]);
    let document: Vec<_> = ["a/B-X", "a/I-X"].map(|t| predicted_with(t, 0.95)).into();
    assert_eq!(column(&document, "predicted_word", 9), ["X:9", "X:9"]);
}

#[test]
fn votes_come_from_the_window_alone() {
    let texts = ["a/B-X", "b", "b", "a"];
    assert_eq!(columns(&texts, "predicted_word", 3), ["O:7", "O:7", "O:7", "X:7"]);
    assert_eq!(columns(&texts, "predicted_word", 2), ["", "O:7", "O:7", ""]);
    assert_eq!(columns(&texts, "predicted_phrase", 3)[3], "B-X");
    assert_eq!(columns(&texts, "predicted_phrase", 2)[3], "");
}

#[test]
fn the_longest_phrases_that_are_spans_elsewhere_are_found() {
    let texts = ["a b c a", "a/B-X b/I-X c/I-X", "a/B-Y b/I-Y", "a/B-Y b/I-Y"];
    let cells = columns(&texts, "predicted_phrase", 99);
    assert_eq!(cells[0], "B-X I-X I-X ");
    // Its own span does not count.
    assert_eq!(cells[1], "B-Y I-Y ");
    assert_eq!(cells[2], "B-Y I-Y");
}

#[test]
fn words_know_which_part_of_longer_spans_they_are() {
    let texts = ["a b c d", "a/B-X b/I-X c/I-X", "d/B-Y"];
    let cells = columns(&texts, "predicted_part", 99);
    assert_eq!(cells, ["B-X I-X E-X ", "  ", ""]);
}

#[test]
fn labels_without_spans_are_their_own_types() {
    let labels = LabelSet::try_from(vec!["B".to_owned(), "I".to_owned()]).unwrap();
    let types = LabelTypes::new(&labels, Labeling::RAW);
    assert_eq!(types.types.len(), 2);
    let sentence = Sentence::from_words(["a", "a"]);
    let labels = vec![LabelId(0), LabelId(1)];
    let marginals = Marginals::new(vec![1.0, 0.0, 0.0, 1.0], 2);
    let prediction = Prediction::new(&labels, &marginals, &types);
    let document = PredictedDocument::new([(&sentence, &prediction)], &types, 9);
    let extended = document.extended().unwrap();
    assert_eq!(extended[0].cells(0).collect::<Vec<_>>(), ["a", "B", "I:9", "", ""]);
}

#[test]
fn a_column_of_the_input_with_the_name_is_an_error() {
    let columns = ["word", "predicted"].map(str::to_owned);
    let schema = Arc::new(Schema::new(columns.into(), None).unwrap());
    let mut sentence = Sentence::new(schema, "x.conll");
    sentence.push(["a", "b"], 7).unwrap();
    let (_, prediction) = predicted("a");
    let types = types();
    let document = PredictedDocument::new([(&sentence, &prediction)], &types, 9);
    assert_eq!(
        document.extended().unwrap_err().to_string(),
        "x.conll:7: two columns have the name 'predicted', of which one is a prediction"
    );
}

/// What `predicted_phrase` and `predicted_part` are, counted over all spans for every token.
fn plain_columns(document: &[(Vec<&str>, Vec<&str>)], window: usize) -> [Vec<String>; 2] {
    let mut all = Vec::new(); // position, words, type
    let mut start = 0;
    for (words, labels) in document {
        for span in spans(labels) {
            let phrase = words[span.start..span.end].to_vec();
            all.push((start + span.start, phrase, span.kind));
        }
        start += words.len();
    }
    let near = |a: usize, b: usize| a.abs_diff(b) <= window;
    let winner = |votes: BTreeMap<String, usize>| {
        // Types and positions are in alphabetical order, like their numbers.
        let most = *votes.values().max()?;
        votes.into_iter().find(|(_, n)| *n == most).map(|(name, _)| name)
    };
    let [mut phrases, mut parts] = [Vec::new(), Vec::new()];
    start = 0;
    for (words, labels) in document {
        let mut cells = vec![String::new(); words.len()];
        let mut t = 0;
        while t < words.len() {
            let found = (1..=words.len() - t).rev().find_map(|length| {
                let mut votes = BTreeMap::new();
                for (position, phrase, kind) in &all {
                    let same = **phrase == words[t..t + length];
                    if same && *position != start + t && near(*position, start + t) {
                        *votes.entry((*kind).to_owned()).or_default() += 1;
                    }
                }
                Some((length, winner(votes)?))
            });
            let (length, kind) = found.unwrap_or((1, String::new()));
            if !kind.is_empty() {
                for (i, cell) in cells[t..t + length].iter_mut().enumerate() {
                    *cell = format!("{}-{kind}", if i == 0 { 'B' } else { 'I' });
                }
            }
            t += length;
        }
        phrases.push(cells.join(" "));
        let cells = (0..words.len()).map(|t| {
            let own = spans(labels).into_iter().find(|span| span.start <= t && t < span.end);
            let own = own.map(|span| start + span.start);
            let mut votes = BTreeMap::new();
            for (position, phrase, kind) in &all {
                if phrase.len() < 2 || !near(*position, start + t) || own == Some(*position) {
                    continue;
                }
                let mut letters: Vec<char> = (0..phrase.len())
                    .filter(|&i| phrase[i] == words[t])
                    .map(|i| match i {
                        i if i + 1 == phrase.len() => 'E',
                        0 => 'B',
                        _ => 'I',
                    })
                    .collect();
                letters.dedup();
                for letter in letters {
                    // In the order of the numbers: B, I, E.
                    let order = "BIE".find(letter).unwrap();
                    *votes.entry(format!("{order}{letter}-{kind}")).or_default() += 1;
                }
            }
            winner(votes).map_or(String::new(), |name| name[1..].to_owned())
        });
        parts.push(cells.collect::<Vec<_>>().join(" "));
        start += words.len();
    }
    [phrases, parts]
}

proptest! {
    #[test]
    fn phrases_and_parts_are_those_of_a_plain_count(
        document in proptest::collection::vec(
            proptest::collection::vec((0_usize..3, 0_usize..5), 1..9), 1..5),
        window in 0_usize..12,
    ) {
        let names = ["a", "b", "c"];
        let split = |sentence: &Vec<(usize, usize)>| {
            let words: Vec<&str> = sentence.iter().map(|&(w, _)| names[w]).collect();
            let labels: Vec<&str> = sentence.iter().map(|&(_, l)| LABELS[l]).collect();
            (words, labels)
        };
        let plain: Vec<_> = document.iter().map(split).collect();
        let texts = plain.iter().map(|(words, labels)| {
            words.iter().zip(labels).map(|(w, l)| format!("{w}/{l}")).collect::<Vec<_>>().join(" ")
        });
        let document: Vec<_> = texts.map(|text| predicted(&text)).collect();
        let [phrases, parts] = plain_columns(&plain, window);
        prop_assert_eq!(column(&document, "predicted_phrase", window), phrases);
        prop_assert_eq!(column(&document, "predicted_part", window), parts);
    }

    /// A document may be read in parts, with the window on both sides of each.
    #[test]
    fn a_part_with_its_window_has_the_cells_of_the_whole(
        document in proptest::collection::vec(
            proptest::collection::vec((0_usize..3, 0_usize..5), 1..4), 3..12),
        window in 0_usize..8,
        cut in 0_usize..12,
    ) {
        let names = ["a", "b", "c"];
        let text = |sentence: &Vec<(usize, usize)>| {
            let tokens = sentence.iter().map(|&(w, l)| format!("{}/{}", names[w], LABELS[l]));
            tokens.collect::<Vec<_>>().join(" ")
        };
        let document: Vec<_> = document.iter().map(|s| predicted(&text(s))).collect();
        let i = cut % document.len();
        let mut range = i..i + 1;
        let tokens = |part: &[(Sentence, Prediction)]| part.iter().map(|(s, _)| s.len()).sum();
        let enough = |part: &[(Sentence, Prediction)]| -> bool {
            let tokens: usize = tokens(part);
            tokens >= window
        };
        while range.start > 0 && !enough(&document[range.start..i]) {
            range.start -= 1;
        }
        while range.end < document.len() && !enough(&document[i + 1..range.end]) {
            range.end += 1;
        }
        // Spans that begin within the window may end one token behind it, in the same sentence.
        let part = &document[range.clone()];
        for name in COLUMNS {
            let whole = column(&document, name, window);
            prop_assert_eq!(&column(part, name, window)[i - range.start], &whole[i], "{}", name);
        }
    }
}
