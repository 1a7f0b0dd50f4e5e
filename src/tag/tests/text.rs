//! Raw text in one call.

use super::*;
use crate::label::Span;
use crate::sentence::Offsets;

#[test]
fn sentences_tokens_and_spans_have_offsets_in_the_whole_text() {
    let header = Header {
        labeling: Scheme::Iob2.into(),
        corpus_labeling: Scheme::Bioes.into(),
        ..double("word")
    };
    let nodes = vec![
        ("word[0]=Ada", vec![(1, 50.0)]),
        ("word[0]=Löve", vec![(2, 50.0)]),
        ("word[0]=left", vec![(0, 50.0)]),
    ];
    let tagger = Tagger::new(model(header, &nodes, &Vec::new()));
    let text = "Ü left.\r\n\n Ada Löve left. Ada left\n";
    let tagged = tagger.tag_text(text).unwrap();
    assert_eq!(tagged.len(), 3);
    let chars: Vec<char> = text.chars().collect();
    for sentence in &tagged {
        for token in &sentence.tokens {
            let Offsets { bytes, chars: at, .. } = token.offsets.clone();
            assert_eq!(&text[bytes], chars[at].iter().collect::<String>());
        }
    }
    let second = &tagged[1];
    assert_eq!(&text[second.offsets.bytes.clone()], "Ada Löve left.");
    let labels: Vec<&str> = second.tokens.iter().map(|t| &*t.label).collect();
    assert_eq!(labels[..3], ["B-X", "E-X", "O"]);
    let span = &second.spans[0];
    assert_eq!((&*span.kind, span.tokens.clone()), ("X", 0..2));
    assert_eq!(&text[span.offsets.bytes.clone()], "Ada Löve");
    assert_eq!(span.offsets.chars, 11..19);
    assert_eq!(&text[tagged[2].spans[0].offsets.bytes.clone()], "Ada");
    assert!(tagger.tag_text(" \n").unwrap().is_empty());
}

#[test]
fn labels_and_spans_of_a_text_have_probabilities_if_asked_for() {
    let nodes = vec![("word[0]=Ada", vec![(1, 1.0)])];
    let tagger = Tagger::new(model(double("word"), &nodes, &Vec::new()));
    let text = "Ada left.";
    let plain = tagger.tag_text(text).unwrap();
    let tagged = tagger.tag_text_with_probabilities(text, &Threshold::default()).unwrap();
    assert_eq!(plain[0].tokens[0].probability, None);
    let sentence = Sentence::from_words(["Ada", "left", "."]);
    let distribution = tagger.distribution(&sentence).unwrap();
    for (t, (token, other)) in tagged[0].tokens.iter().zip(&plain[0].tokens).enumerate() {
        assert_eq!(token.label, other.label);
        let expected = distribution.marginal(t, &token.label).unwrap();
        assert_eq!(token.probability, Some(expected));
    }
    for span in &tagged[0].spans {
        let (start, end, kind) = (span.tokens.start, span.tokens.end, &*span.kind);
        let expected = distribution.span_probability(&Span { start, end, kind });
        assert_eq!(span.probability, Some(expected.unwrap()));
    }
}
