//! No input makes the library panic, and no two templates share an attribute.

use hashbrown::HashMap;
use proptest::prelude::*;

use super::*;

/// One line for every function and every way to combine them.
const EVERYTHING: &str = r#"bias
start[-1]
end
word[-2]
lower
shape
shape(collapsed)
shape(chris2)
shape(dan2)[+1]
length
capitalization
class
prefix(1..4)
suffix(2..3, lower)
affixes(2..6)
ngrams(1..3)
regex("^\w(.)")
regex("\d")
bag(word, -3..3)
title
occurrence
lexicon("names.txt", lower)
cluster("paths.txt", 1, 4)
value(length)
vector("vectors.txt", lower, scale(2))
word[-1] & word
prefix(1..2) & suffix(1..2) & shape
word if length[-1] <= 3 and word matches "a"
word if not word[+1] == "x"
edge: word
"#;

const PATTERNS: &str = "*:%x[-1,0]/%X[1,0]\nu:%m[0,0,\"^\\u?.*\\p\"]\nb%t[-6,0,\"\\W$\"]\nB\n";

/// What lines of templates are made of, besides their ends.
const TOKENS: &str = "\
    word lower shape prefix bag regex value length column lexicon cluster vector first scale \
    0.5 edge: if not and exists matches == <= ( ) [ ] -1 3 .. , & \"a\" \"names.txt\" \
    \"vectors.txt\" \\ # é U u: %x[ %m[ 0,0 , @ * B =";

fn template_text() -> impl Strategy<Value = String> {
    let token = prop::sample::select(TOKENS.split(' ').chain(["\n"]).collect::<Vec<_>>());
    prop::collection::vec((token, any::<bool>()), 0..24).prop_map(|tokens| {
        let blanked = tokens.into_iter().map(|(token, blank)| {
            let blank = if blank { " " } else { "" };
            format!("{token}{blank}")
        });
        blanked.collect()
    })
}

fn all_attributes(source: &str, sentence: &Sentence) -> Vec<Collected> {
    let template = parse(source).unwrap();
    (0..sentence.len()).map(|t| collect(&template, sentence, t)).collect()
}

proptest! {
    #[test]
    fn parsing_never_panics(source in any::<String>()) {
        let _ = parse(&source);
    }

    #[test]
    fn parsing_random_template_text_never_panics(source in template_text()) {
        if let Ok(template) = parse(&source) {
            let _ = template.bind(&Schema::words());
        }
    }

    #[test]
    fn extraction_never_panics_and_yields_no_attribute_twice(
        words in prop::collection::vec(any::<String>(), 0..6),
    ) {
        for collected in all_attributes(EVERYTHING, &Sentence::from_words(&words)) {
            let mut seen = HashMap::new();
            for attribute in collected.node.iter().chain(&collected.edge) {
                prop_assert!(seen.insert(attribute.clone(), ()).is_none(), "{}", attribute);
            }
        }
    }

    #[test]
    fn patterns_never_panic(words in prop::collection::vec(any::<String>(), 0..6)) {
        all_attributes(PATTERNS, &Sentence::from_words(&words));
    }

    #[test]
    fn recurring_words_yield_no_duplicate_attributes(
        words in prop::collection::vec("[aA|\\\\ é1.]{0,4}", 1..12),
    ) {
        for collected in all_attributes(EVERYTHING, &Sentence::from_words(&words)) {
            let mut attributes = collected.node.clone();
            attributes.sort_unstable();
            attributes.dedup();
            prop_assert_eq!(attributes.len(), collected.node.len());
        }
    }
}

#[test]
fn a_sentence_without_tokens_has_no_attributes() {
    assert!(all_attributes(EVERYTHING, &Sentence::from_words([""; 0])).is_empty());
}

#[test]
fn a_very_long_word_is_supported() {
    let word = "é".repeat(200_000);
    let sentence = Sentence::from_words([word]);
    assert_eq!(all_attributes(EVERYTHING, &sentence).len(), 1);
}
