//! Explanations against the enumeration of all label sequences.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dropchain::kernel::model::add_recall_bias;
use dropchain::kernel::random::uniform;
use dropchain::label::Span;
use dropchain::model::TrainingRecord;
use dropchain::sentence::{Attributes, TokenLabel};
use dropchain::tag::Interrupt;
use dropchain::{Error, Result};

use super::*;

/// Asserts that for every token and every other label the margin is that of the enumeration, that
/// the parts sum to it, and that each of them is what its labels say. Returns the number of tokens
/// that differ, over all.
fn assert_explains(explanation: &Explanation<'_>, oracle: &Oracle) -> usize {
    let labels = explanation.labels();
    let best = &oracle.nbest(1)[0];
    assert_eq!(labels, best.0);
    let mut differing = 0;
    for t in 0..labels.len() {
        let expected = |is_wanted: &dyn Fn(LabelId) -> bool| {
            let others = oracle.paths.iter().filter(|(path, _)| is_wanted(path[t]));
            let score = others.map(|(_, score)| *score).max_by(f64::total_cmp);
            score.map(|score| best.1 - score)
        };
        let mut check = |found: Option<Alternative<'_>>, expected: Option<f64>| {
            let Some(found) = found else {
                assert_eq!(expected, None, "token {t}");
                return;
            };
            assert_close(found.margin(), expected.unwrap());
            let parts = found.parts().unwrap();
            let sum: f64 = parts.iter().map(Part::contribution).sum();
            assert_close(sum, found.margin());
            assert!(parts.iter().all(|part| part.contribution() != 0.0));
            assert!(found.range().contains(&t) && found.range().len() == found.labels().len());
            for part in &parts {
                let at = |t: usize| match found.range().contains(&t) {
                    true => [labels[t], found.labels()[t - found.range().start]],
                    false => [labels[t]; 2],
                };
                assert_eq!(part.labels, at(part.token));
                let has_pair = match part.kind {
                    PartKind::EdgeAttribute | PartKind::Transition => true,
                    PartKind::RecallBias => part.token > 0,
                    _ => false,
                };
                let previous = has_pair.then(|| at(part.token - 1));
                assert_eq!(part.previous, previous);
            }
            differing += found.range().len();
        };
        let runner_up = explanation.runner_up(t);
        check(runner_up, expected(&|label| label != labels[t]));
        for wanted in (0..LABELS.len() as u16).map(LabelId) {
            let found = explanation.alternative(t, wanted);
            if wanted == labels[t] {
                assert!(found.is_none());
            } else {
                check(found, expected(&|label| label == wanted));
            }
        }
        let sum = oracle.log_partition();
        let same = oracle.paths.iter().filter(|(path, _)| path[t] == labels[t]);
        let probability: f64 = same.map(|(_, score)| (score - sum).exp()).sum();
        if oracle.paths.len() == LABELS.len().pow(labels.len() as u32) {
            assert!((explanation.probabilities[t] - probability).abs() < 1e-9);
        }
    }
    differing
}

/// Explains a sentence of which some labels are known.
fn given<'t>(
    tagger: &'t Tagger,
    sentence: &Sentence,
    condition: &Condition,
    options: TagOptions,
) -> Explanation<'t> {
    let workspace = &mut Workspace::default();
    Explanation::given(tagger, sentence, condition, options, workspace).unwrap()
}

#[test]
fn margins_are_those_of_the_enumeration_and_parts_sum_to_them() {
    let mut differing = 0;
    for order in [Order::One, Order::Zero] {
        let tagger = tagger_of(Header { order, ..header() });
        for constrain in [true, false] {
            for words in SENTENCES {
                let sentence = Sentence::from_words(words);
                let options = TagOptions { constrain, ..TagOptions::default() };
                let explanation = given(&tagger, &sentence, &Condition::new(), options);
                let tagging = tag(&tagger, words, options);
                assert_eq!(explanation.labels(), tagging.labels);
                differing +=
                    assert_explains(&explanation, &enumerated(&tagger, &sentence, constrain));
            }
        }
    }
    // Some alternatives differ in several tokens.
    assert!(differing > 250, "{differing}");
}

#[test]
fn alternatives_keep_what_is_known() {
    let tagger = tagger();
    let words = ["c", "a", "a", "b"];
    let condition = Condition::new()
        .label(1, "B-X")
        .label(3, TokenLabel::OneOf(vec!["O".into(), "I-X".into()]));
    let sentence = Sentence::from_words(words);
    let options = TagOptions::default();
    let explanation = given(&tagger, &sentence, &condition, options);
    let known = enumerated(&tagger, &sentence, true)
        .given(|path| path[1] == LabelId(1) && path[3] != LabelId(1));
    assert_explains(&explanation, &known);
    assert!(explanation.runner_up(1).is_none());

    let span = Span { start: 1, end: 3, kind: "X" };
    let condition = Condition::new().span(&span);
    let explanation = given(&tagger, &sentence, &condition, options);
    let known = enumerated(&tagger, &sentence, true)
        .given(|path| path[1] == LabelId(1) && path[2] == LabelId(2) && path[3] != LabelId(2));
    assert_explains(&explanation, &known);
}

#[test]
fn values_and_repeated_attributes_count() {
    let mut count = 0;
    let mut number = || {
        count += 1;
        2.0 * uniform(5, count) - 1.0
    };
    let mut header = Header::new(header().labels);
    header.precision = Precision::F64;
    header.label_weights.transitions = (0..9).map(|_| number()).collect();
    header.label_weights.start = (0..3).map(|_| number()).collect();
    header.label_weights.end = (0..3).map(|_| number()).collect();
    let names = ["x", "y", "zero"];
    let nodes = names.map(|name| -> NodeWeights<&str> {
        (name, (0..3).map(|b| (LabelId(b), number())).collect())
    });
    let mut attributes = Attributes::default();
    let tokens = [vec![(0, 2.5), (1, -1.0)], vec![(0, 0.5), (0, 3.0), (2, 0.0)], vec![]];
    for token in tokens {
        for (name, value) in token {
            attributes.push(names[name], value);
        }
        attributes.push("unknown", 7.0);
        attributes.end_token();
    }
    let none: [EdgeWeights<&str>; 0] = [];
    let tagger = Tagger::new(Model::from_weights(header, nodes, none).unwrap());
    let mut sentence = Sentence::from_words(["", "", ""]);
    sentence.attributes = Some(Box::new(attributes));
    let explanation = Explanation::new(&tagger, &sentence).unwrap();
    assert_explains(&explanation, &enumerated(&tagger, &sentence, true));
    let runner_up = explanation.runner_up(1).unwrap();
    let parts = runner_up.parts().unwrap();
    let names: Vec<_> = parts.iter().map(|part| (part.token, part.name)).collect();
    assert_eq!(names.iter().filter(|name| **name == (1, "x")).count(), 2);
    assert!(!names.iter().any(|(_, name)| ["zero", "unknown"].contains(name)));
}

#[test]
fn the_recall_bias_is_a_part_of_its_own() {
    let bias = 0.75;
    let words = ["c", "a", "b"];
    let mut header = header();
    add_recall_bias(bias, &header.labels, &header.labeling, &mut header.label_weights);
    let record = TrainingRecord { recall_bias: bias, ..TrainingRecord::default() };
    let mut options = serde_json::json!({});
    record.add_to(&mut options);
    let without = tagger_of(header.clone());
    header.provenance.options = options.to_string();
    assert_eq!(header.recall_bias(), Some(bias));
    let with = tagger_of(header.clone());
    let sentence = Sentence::from_words(words);
    let explanations = [&with, &without].map(|tagger| Explanation::new(tagger, &sentence).unwrap());
    let mut seen = 0;
    for explanation in &explanations {
        assert_explains(explanation, &enumerated(explanation.tagger, &sentence, true));
        for t in 0..words.len() {
            let runner_up = explanation.runner_up(t).unwrap();
            let parts = runner_up.parts().unwrap();
            for part in parts.iter().filter(|part| part.kind == PartKind::RecallBias) {
                let is_outside = |label| header.labels.name(label) == "O";
                let [y, z] = part.labels.map(is_outside).map(f64::from);
                assert_close(part.contribution(), bias * (z - y));
                seen += 1;
            }
        }
        assert!(seen > 0, "only the second model has none");
    }
    let runner_up = explanations[1].runner_up(0).unwrap();
    let parts = runner_up.parts().unwrap();
    assert!(parts.iter().all(|part| part.kind != PartKind::RecallBias));
}

#[test]
fn explanations_and_their_reasons_end_with_an_interrupt() {
    let tagger = tagger();
    let sentence = Sentence::from_words(["c", "a", "b"].repeat(10));
    // The reasons of the margin of each token, until the question numbered `last`.
    let explain = |last: usize| {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let mut workspace = Workspace::default();
        let is_set = move || count.fetch_add(1, Ordering::Relaxed) >= last;
        workspace.set_interrupt(Interrupt::new(is_set));
        let (condition, options) = (Condition::new(), TagOptions::default());
        let reasons = Explanation::given(&tagger, &sentence, &condition, options, &mut workspace)
            .and_then(|explanation| {
                let runner_ups = (0..sentence.len()).filter_map(|t| explanation.runner_up(t));
                runner_ups.map(|runner_up| Ok(runner_up.parts()?.len())).collect()
            });
        (reasons, asked.load(Ordering::Relaxed))
    };
    let (reasons, all): (Result<Vec<usize>>, _) = explain(usize::MAX);
    // Scores, labels, probabilities, max-marginals, and the attributes of all reasons.
    assert!(all > 7 * sentence.len() + reasons.unwrap().len(), "{all}");
    for last in 0..all {
        let (reasons, asked) = explain(last);
        assert!(matches!(reasons, Err(Error::Interrupted)), "{last}");
        assert!(asked < last + 20, "{asked} questions after the one numbered {last}");
    }
}

#[test]
fn a_long_alternative_is_described_around_its_token() {
    // Two label sequences, each far better than all others.
    let mut header = header();
    header.label_weights.transitions = vec![0.0, -50.0, -50.0, -50.0, -50.0, 0.0, -50.0, 0.0, 0.0];
    let (nodes, none) =
        ([("word[0]=a", vec![(LabelId(0), 0.001)])], Vec::<EdgeWeights<&str>>::new());
    let tagger = Tagger::new(Model::from_weights(header, nodes, none).unwrap());
    let sentence = Sentence::from_words(["a"].repeat(100));
    let named = ExplainedTokens::Named(vec!["51".to_owned()]);
    let explanation = Explanation::new(&tagger, &sentence).unwrap();
    let explained = explained(&explanation, &named, words_to_explain(&sentence));
    let alternative = explained.alternative(50).unwrap();
    assert_eq!(alternative.range(), 0..100);
    let margins = explanation.margin(50) - alternative.margin();
    assert!(margins.abs() < 1e-9, "{margins}");
    let text = explained.text(10_000).unwrap();
    let expected = ["a/B-X a/I-X"; 10].join(" ") + " … (100 tokens) (margin";
    assert!(text.contains(&expected), "{text}");
}

fn explained<'a>(
    explanation: &'a Explanation<'a>,
    tokens: &'a ExplainedTokens,
    words: Vec<String>,
) -> ExplainedSentence<'a> {
    ExplainedSentence { words, explanation, against: None, tokens, top: 3 }
}

#[test]
fn spans_have_one_block_of_their_least_clear_token() {
    let tagger = tagger();
    let condition = Condition::new().span(&Span { start: 1, end: 3, kind: "X" });
    let sentence = Sentence::from_words(["<c>", "a", "b\u{202e}", "c"]);
    let explanation = given(&tagger, &sentence, &condition, TagOptions::default());
    let all = explained(&explanation, &ExplainedTokens::All, words_to_explain(&sentence));
    let mut json = Vec::new();
    all.write_json(true, &mut json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let blocks = json["blocks"].as_array().unwrap();
    let span = blocks.iter().find(|block| block["label"] == "X").unwrap();
    assert_eq!((&span["start"], &span["end"]), (&1.into(), &3.into()));
    assert_eq!(json["explanations"].as_array().unwrap().len(), 4);
    let ends: Vec<u64> = blocks.iter().map(|block| block["end"].as_u64().unwrap()).collect();
    assert_eq!(ends.last(), Some(&4));
    // Data that was read has the same page, in which all text is escaped.
    let words = words_to_explain(&sentence);
    let [blocks, tokens] = ["blocks", "explanations"].map(|key| json[key].clone());
    let blocks: Vec<Block<'_>> = serde_json::from_value(blocks).unwrap();
    let tokens: Vec<ExplainedToken<'_>> = serde_json::from_value(tokens).unwrap();
    let html = blocks_html(&words, &blocks, &tokens);
    for block in json["blocks"].as_array().unwrap() {
        assert!(html.contains(block["html"].as_str().unwrap()), "{html}");
    }
    assert!(html.contains("&lt;c&gt;") && !html.contains("<c>") && !html.contains('\u{202e}'));
}

#[test]
fn empty_sentences_have_no_explanation() {
    let tagger = tagger();
    let empty = Sentence::from_words::<&str>([]);
    assert!(Explanation::new(&tagger, &empty).unwrap().labels().is_empty());
}
