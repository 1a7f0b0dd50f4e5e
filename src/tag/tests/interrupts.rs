//! Work on a sentence that is given up.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::error::{Error, Result};

/// Tags a sentence whose work is to end from the question numbered `last` on; returns the result
/// and the number of questions.
fn tag_until(tagger: &Tagger, sentence: &Sentence, last: usize) -> (Result<Tagging>, usize) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let mut workspace = Workspace::default();
    let is_set = move || count.fetch_add(1, Ordering::Relaxed) >= last;
    workspace.set_interrupt(Interrupt::new(is_set));
    let options = TagOptions { nbest: 40, ..EVERYTHING };
    let tagging = tagger.tag_with(sentence, options, &mut workspace);
    (tagging, asked.load(Ordering::Relaxed))
}

/// Asserts that the work on a sentence asks at least so often whether it is to end, and ends soon
/// after it is.
fn assert_ends(tagger: &Tagger, sentence: &Sentence, at_least: usize) {
    let (tagging, all) = tag_until(tagger, sentence, usize::MAX);
    let options = TagOptions { nbest: 40, ..EVERYTHING };
    let expected = tagger.tag_with(sentence, options, &mut Workspace::default());
    assert_eq!(tagging.unwrap(), expected.unwrap());
    assert!(all >= at_least, "{all}");
    for last in (0..all).step_by(7) {
        let (tagging, asked) = tag_until(tagger, sentence, last);
        assert!(matches!(tagging, Err(Error::Interrupted)), "{last}: {tagging:?}");
        let more = 2 * sentence.len() + 20; // one for each token in log space
        assert!(asked < last + more, "{asked} questions after the one numbered {last}");
    }
}

#[test]
fn work_on_a_sentence_ends_at_the_next_step_after_an_interrupt() {
    let words = ["a", "c", "b"].repeat(10);
    let sentence = Sentence::from_words(&words);
    let without_edges = model(double("word"), &nodes(), &NamedWeights::new());
    let order_zero = Header { order: Order::Zero, ..double("word") };
    // So far apart that inference is in log space.
    let far = nodes().into_iter().map(|(name, weights)| {
        (name, weights.into_iter().map(|(label, weight)| (label, 2000.0 * weight)).collect())
    });
    let far = model(double("word\nedge: word"), &far.collect(), &edges());
    // Attributes and weights, Viterbi decoding, both passes of inference, 40 sequences that differ
    // from one another in a part of their tokens.
    let expected = (2 + 1 + 2 + 10) * words.len();
    assert_ends(&tagger(), &sentence, expected);
    assert_ends(&Tagger::new(without_edges), &sentence, expected);
    assert_ends(&Tagger::new(far), &sentence, expected);
    assert_ends(&Tagger::new(model(order_zero, &nodes(), &edges())), &sentence, 10 * words.len());
}

#[test]
fn attributes_of_a_single_token_are_summed_in_parts() {
    let labels: Vec<String> = (0..512).map(|i| format!("L{i}")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let header = Header { template: None, ..header(&labels, "word", Precision::F64) };
    let row = (0..512).map(|label| (label, 0.5)).collect();
    let tagger = Tagger::new(model(header, &vec![("x", row)], &NamedWeights::new()));
    let sentence = Sentence::from_attributes([vec![("x", 1.0); 40_000]]).unwrap();
    let (few, many) = (Sentence::from_attributes([[("x", 1.0)]]).unwrap(), sentence);
    let [few, many] = [few, many].map(|sentence| tag_until(&tagger, &sentence, usize::MAX).1);
    assert!(many >= few + 9, "{few} {many}");
}
