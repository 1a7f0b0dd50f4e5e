//! Attributes that are left out, and columns that are missing.

use std::sync::Arc;

use dropchain::Error;
use dropchain::kernel::tag::AttributeFilter;
use dropchain::sentence::Schema;
use dropchain::template::Attribute;

use super::*;

/// Numbers of the attributes that remain.
fn kept(rate: f64, seed: u64, sentence: &Sentence) -> Vec<usize> {
    let mut keeps = Deletion::new(rate, seed).unwrap().of(sentence);
    let attribute = Attribute::named(b"a", Default::default());
    (0..1000).filter(|_| keeps(&attribute)).collect()
}

#[test]
fn attributes_are_left_out_at_the_rate_and_higher_rates_leave_out_more() {
    let sentence = Sentence::from_words(["a"]);
    let mut before: Vec<usize> = (0..1000).collect();
    for rate in [0.0, 0.1, 0.5, 0.9, 1.0] {
        let now = kept(rate, 7, &sentence);
        // Five standard deviations of a binomial distribution.
        let bound = 5.0 * (1000.0 * rate * (1.0 - rate)).sqrt();
        assert!((now.len() as f64 - 1000.0 * (1.0 - rate)).abs() <= bound);
        assert!(now.iter().all(|number| before.contains(number)));
        before = now;
    }
    assert_ne!(kept(0.5, 7, &sentence), kept(0.5, 8, &sentence));
    let mut elsewhere = Sentence::new(Arc::clone(sentence.schema()), "-");
    elsewhere.push(["a"], 5).unwrap();
    assert_ne!(kept(0.5, 7, &sentence), kept(0.5, 7, &elsewhere));
    let message = Deletion::new(1.5, 1).unwrap_err().to_string();
    assert!(message.contains("rate 1.5; expected 0 to 1"), "{message}");
}

#[test]
fn without_attributes_the_scores_are_those_of_unknown_words() {
    for words in SENTENCES {
        let unknown = vec!["unknown"; words.len()];
        let expected = tag(&tagger(), &unknown, EVERYTHING);
        let deleting = tagger().with_attribute_filter(Arc::new(Deletion::new(1.0, 3).unwrap()));
        assert_eq!(tag(&deleting, words, EVERYTHING), expected);
        let keeping = deleting.with_attribute_filter(Arc::new(Deletion::new(0.0, 3).unwrap()));
        let all = tag(&tagger(), words, EVERYTHING);
        assert_eq!(tag(&keeping, words, EVERYTHING), all);
    }
}

fn sentence(words: &[&str]) -> Sentence {
    let names = ["word", "pos", "ner"].map(str::to_owned).to_vec();
    let schema = Arc::new(Schema::new(names, Some(2)).unwrap());
    let mut sentence = Sentence::new(schema, "x.conll");
    for (line, word) in (1..).zip(words) {
        sentence.push([*word, "NN", "O"], line).unwrap();
    }
    sentence
}

#[test]
fn cells_are_missing_at_the_rate_and_higher_rates_include_lower_ones() {
    let words: Vec<String> = (0..300).map(|i| format!("Word{i}")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let original = sentence(&words);
    let pos = MissingColumns(vec!["pos".to_owned()]);
    let missing = |rate| {
        let now = pos.apply(&original, rate, 4).unwrap();
        assert!((0..300).all(|t| [0, 2].iter().all(|&c| now.cell(t, c) == original.cell(t, c))));
        assert_eq!(now.place(3), original.place(3));
        (0..300).filter(move |&t| now.cell(t, 1) == "_").collect::<Vec<_>>()
    };
    let mut before = Vec::new();
    for rate in [0.0, 0.2, 0.6, 1.0] {
        let now = missing(rate);
        let bound = 5.0 * (300.0 * rate * (1.0 - rate)).sqrt();
        assert!((now.len() as f64 - 300.0 * rate).abs() <= bound, "{rate}");
        assert!(before.iter().all(|t| now.contains(t)));
        before = now;
    }
}

#[test]
fn what_cannot_be_missing_is_an_error_with_its_place() {
    let original = sentence(&["a"]);
    let fault = |name: &str, sentence: &Sentence, rate: f64| {
        MissingColumns(vec![name.to_owned()]).apply(sentence, rate, 1).unwrap_err()
    };
    for (name, expected) in [
        ("chunk", "x.conll:1: there is no column 'chunk'"),
        ("ner", "x.conll:1: the column 'ner' has the labels"),
    ] {
        let message = fault(name, &original, 0.5).to_string();
        assert!(message.starts_with(expected), "{message}");
    }
    let attributes = Sentence::from_attributes([[("a", 1.0)]]).unwrap();
    let message = fault("pos", &attributes, 0.5).to_string();
    assert!(message.contains("found ready-made attributes"), "{message}");
    assert!(matches!(fault("pos", &original, f64::NAN), Error::Parameter(_)));
}
