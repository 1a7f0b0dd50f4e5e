//! Memoization does not change the result.

use super::*;
use crate::template::Extractor;

const TEMPLATE: &str = "\
word
word[-1] & shape(dan2)[+1]
affixes(2..3)
bag(word, 1..3)
regex(\"^(.)o\")
length[-2]
title
occurrence
lower[+1] if length(word) <= 2
";

const TEXTS: [&str; 4] =
    ["Mr. Ford or Mr. Ford ?", "a|b \\\\ or a|b", "Mr. Ford", "or not or Ford"];

/// Returns the attributes of each token of a sentence.
fn all(extractor: &Extractor, ws: &mut Workspace, sentence: &Sentence) -> Vec<Vec<String>> {
    extractor.prepare(sentence, ws).unwrap();
    let token = |t: usize| {
        let mut collected = Collected::default();
        extractor.extract(sentence, t, ws, &mut collected);
        collected.node
    };
    (0..sentence.len()).map(token).collect()
}

#[test]
fn sentences_have_the_same_attributes_whatever_came_before() {
    let extractor = parse(TEMPLATE).unwrap().bind(&Schema::words()).unwrap();
    let fresh = |text: &str| all(&extractor, &mut Workspace::default(), &words(text));
    let expected = TEXTS.map(fresh);
    let mut ws = Workspace::default();
    for _ in 0..3 {
        let again = TEXTS.map(|text| all(&extractor, &mut ws, &words(text)));
        assert_eq!(again, expected);
    }
}

#[test]
fn extractors_that_share_a_workspace_do_not_disturb_each_other() {
    let [one, other] = ["word\nsuffix(2)", "lower[-1]\nword & word[+1]"]
        .map(|source| parse(source).unwrap().bind(&Schema::words()).unwrap());
    let fresh = |e: &Extractor| all(e, &mut Workspace::default(), &words(TEXTS[0]));
    let mut ws = Workspace::default();
    for extractor in [&one, &other, &one, &other] {
        let found = all(extractor, &mut ws, &words(TEXTS[0]));
        assert_eq!(found, fresh(extractor));
    }
}

#[test]
fn memos_belong_to_their_attribute_and_start_at_0() {
    struct Memos(Vec<(String, u64)>);
    impl AttributeSink for Memos {
        fn node(&mut self, attribute: &Attribute<'_>, value: f64) {
            let name = format_attribute(attribute, value);
            let Some(memo) = attribute.memo() else { return };
            match memo.get() {
                0 => {
                    memo.set(self.0.len() as u64 + 1);
                    self.0.push((name, 1));
                }
                number => {
                    let (known, times) = &mut self.0[number as usize - 1];
                    assert_eq!(*known, name);
                    *times += 1;
                }
            }
        }
        fn edge(&mut self, _: &Attribute<'_>, _: f64) {}
    }
    let template = parse("word\nword[-1]\nbag(word, 1..2)\nword & word[-1]").unwrap();
    let extractor = template.bind(&Schema::words()).unwrap();
    let (mut ws, mut memos) = (Workspace::default(), Memos(Vec::new()));
    for _ in 0..2 {
        let sentence = words("a b a");
        extractor.prepare(&sentence, &mut ws).unwrap();
        for t in 0..3 {
            extractor.extract(&sentence, t, &mut ws, &mut memos);
        }
    }
    let times = |name: &str| {
        let mut found = memos.0.iter().filter(|(known, _)| known == name);
        (found.next().map(|(_, times)| *times), found.next().is_none())
    };
    assert_eq!(times("word[0]=a"), (Some(4), true));
    assert_eq!(times("word[-1]=b"), (Some(2), true));
    assert_eq!(times("bag(word, 1..2)=a"), (Some(4), true));
    assert_eq!(times("word[0]|word[-1]=a|b"), (None, true));
}

#[test]
fn memo_entries_are_dropped_when_there_are_too_many() {
    let extractor = parse("word\nngrams(1..6)").unwrap().bind(&Schema::words()).unwrap();
    let mut ws = Workspace::default();
    let mut most = 0;
    for i in 0..1500 {
        let word = format!("abcdefghijklmnopqrstuvwxyz{i:05}");
        let found = all(&extractor, &mut ws, &words(&word));
        assert_eq!(found[0][0], format!("word[0]={word}"));
        most = most.max(ws.values.watermark().values);
    }
    assert!(most < 140_000, "{most} values are memoized");
}
