//! Attributes that are left out, and tokens that are damaged.

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
    let mut elsewhere = Sentence::new(Arc::clone(sentence.schema()), "-".into());
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
    let mut sentence = Sentence::new(schema, "x.conll".into());
    for (line, word) in (1..).zip(words) {
        sentence.push([*word, "NN", "O"], line).unwrap();
    }
    sentence
}

fn column(sentence: &Sentence, column: usize) -> Vec<&str> {
    (0..sentence.len()).map(|t| sentence.cell(t, column)).collect()
}

/// The smallest number of letters left out, added, replaced or swapped with the next one that turns
/// `a` into `b`, if that is at most 1.
fn is_one_error_away(a: &str, b: &str) -> bool {
    let [a, b]: [Vec<char>; 2] = [a, b].map(|word| word.chars().collect());
    let left_out = |long: &[char], short: &[char]| {
        (0..long.len()).any(|i| [&long[..i], &long[i + 1..]].concat() == short)
    };
    let differences: Vec<usize> = (0..a.len().min(b.len())).filter(|&i| a[i] != b[i]).collect();
    match a.len() as i64 - b.len() as i64 {
        1 => left_out(&a, &b),
        -1 => left_out(&b, &a),
        0 => match differences[..] {
            [_] => true,
            [i, j] => a[i] == b[j] && a[j] == b[i],
            _ => false,
        },
        _ => false,
    }
}

#[test]
fn words_get_one_typing_error_and_nothing_else_changes() {
    let words = ["London", "is", "a", "schöne", "Stadt", "!", "1984", "ee", "x-y"];
    let original = sentence(&words);
    let mut lengths = std::collections::BTreeSet::new();
    for seed in 0..200 {
        let damaged = Damage::Misspelling.apply(&original, 1.0, seed).unwrap();
        for (before, after) in words.iter().zip(column(&damaged, 0)) {
            let letters = before.chars().filter(|c| c.is_alphabetic()).count();
            match letters {
                0 | 1 => assert_eq!(*before, after),
                _ => assert!(is_one_error_away(before, after), "{before} {after}"),
            }
            lengths.insert(after.chars().count() as i64 - before.chars().count() as i64);
        }
        assert_eq!(column(&damaged, 1), column(&original, 1));
        assert_eq!(column(&damaged, 2), column(&original, 2));
        assert_eq!(damaged.place(3), original.place(3));
    }
    assert_eq!(Vec::from_iter(lengths), [-1, 0, 1]);
}

#[test]
fn a_higher_rate_includes_the_damages_of_a_lower_one() {
    let words: Vec<String> = (0..300).map(|i| format!("Word{i}")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let original = sentence(&words);
    let missing = Damage::Missing(vec!["pos".to_owned()]);
    for damage in [Damage::Misspelling, Damage::Lowercase, missing] {
        let mut before = original.clone();
        for rate in [0.0, 0.2, 0.6, 1.0] {
            let now = damage.apply(&original, rate, 4).unwrap();
            let is_changed =
                |sentence: &Sentence, t: usize| !sentence.cells(t).eq(original.cells(t));
            let changed = (0..300).filter(|&t| is_changed(&now, t)).count() as f64;
            let bound = 5.0 * (300.0 * rate * (1.0 - rate)).sqrt();
            assert!((changed - 300.0 * rate).abs() <= bound, "{damage:?}");
            for t in (0..300).filter(|&t| is_changed(&before, t)) {
                assert!(now.cells(t).eq(before.cells(t)));
            }
            before = now;
        }
    }
    let lower = Damage::Lowercase.apply(&original, 1.0, 4).unwrap();
    assert_eq!(lower.cell(7, 0), "word7");
}

#[test]
fn what_cannot_be_damaged_is_an_error_with_its_place() {
    let original = sentence(&["a"]);
    let fault = |damage: &Damage, sentence: &Sentence, rate: f64| {
        damage.apply(sentence, rate, 1).unwrap_err().to_string()
    };
    let missing = |name: &str| Damage::Missing(vec![name.to_owned()]);
    for (name, expected) in [
        ("chunk", "x.conll:1: there is no column 'chunk'"),
        ("ner", "x.conll:1: the column 'ner' has the labels"),
    ] {
        let message = fault(&missing(name), &original, 0.5);
        assert!(message.starts_with(expected), "{message}");
    }
    let attributes = Sentence::from_attributes([[("a", 1.0)]]).unwrap();
    let message = fault(&Damage::Lowercase, &attributes, 0.5);
    assert!(message.contains("found ready-made attributes"), "{message}");
    let error = Damage::Lowercase.apply(&original, f64::NAN, 1).unwrap_err();
    assert!(matches!(error, Error::Parameter(_)));
}
