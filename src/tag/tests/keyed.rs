//! Sentences of attributes as keys against the same sentences with names.

use super::*;
use crate::label::LabelSet;

/// Names and values of the attributes of each token, and those of the edge into it.
type Tokens = Vec<[Vec<(&'static str, f64)>; 2]>;

/// A model without a template: the weights of the tests' template models.
fn untemplated(precision: Precision) -> Model {
    let header = Header { template: None, precision, ..double("word") };
    model(header, &nodes(), &edges())
}

fn sentences() -> Vec<Tokens> {
    let a = ("word[0]=a", 1.0);
    let both = vec![a, ("word[0]=c", -0.5), a, ("unknown", 2.0)];
    let edge = vec![("edge:word[0]=a", 0.75), ("edge:word[0]=c", 1.0), ("edge:?", 1.0)];
    vec![
        vec![],
        vec![[vec![], vec![]]],
        vec![[vec![a], edge.clone()]],
        vec![
            [both.clone(), vec![]],
            [vec![], edge.clone()],
            [vec![("word[0]=b", 0.0)], vec![]],
            [both, edge],
        ],
    ]
}

fn named(tokens: &Tokens) -> Sentence {
    let mut sentence = Sentence::from_attributes(tokens.iter().map(|_| [("", 0.0); 0])).unwrap();
    let mut attributes = Attributes::default();
    for [nodes, edges] in tokens {
        nodes.iter().for_each(|(name, value)| attributes.push(name, *value));
        edges.iter().for_each(|(name, value)| attributes.push_edge(name, *value));
        attributes.end_token();
    }
    sentence.attributes = Some(Box::new(attributes));
    sentence
}

fn keyed(tagger: &Tagger, tokens: &Tokens) -> KeyedSentence {
    let mut sentence = tagger.keyed_sentence().unwrap();
    for [nodes, edges] in tokens {
        for &(name, value) in nodes {
            sentence.attribute(name, value).unwrap();
        }
        for &(name, value) in edges {
            sentence.edge_attribute(name, value).unwrap();
        }
        sentence.end_token();
    }
    sentence
}

#[test]
fn keys_tag_like_names() {
    let label = LabelSet::try_from(vec!["X".to_owned()]).unwrap();
    let other = Model::from_weights(
        Header::new(label),
        [("word[0]=a", vec![])],
        [("edge:word[0]=a", vec![])],
    );
    let other = Tagger::new(other.unwrap());
    for precision in [Precision::F32, Precision::F64] {
        let tagger = Tagger::new(untemplated(precision));
        let mut workspace = Workspace::default();
        let mut other_workspace = Workspace::default();
        for tokens in sentences() {
            let named = named(&tokens);
            let expected = tagger.tag_with(&named, EVERYTHING, &mut Workspace::default());
            let expected = expected.unwrap();
            let by_key = keyed(&tagger, &tokens);
            assert_eq!((by_key.len(), by_key.is_empty()), (tokens.len(), tokens.is_empty()));
            // By turns in one workspace: names, keys, another tagger.
            for _ in 0..2 {
                for workspace in [&mut workspace, &mut other_workspace] {
                    let found = tagger.tag_with(&by_key, EVERYTHING, workspace).unwrap();
                    assert_eq!(found, expected);
                }
                let found = tagger.tag_with(&named, EVERYTHING, &mut workspace).unwrap();
                assert_eq!(found, expected);
                let sentence = keyed(&other, &tokens);
                other.tag_with(&sentence, EVERYTHING, &mut other_workspace).unwrap();
            }
            assert_eq!(tagger.tag(&by_key).unwrap().labels, expected.labels);
            let distribution = tagger.distribution(&by_key).unwrap();
            assert_eq!(Some(distribution.marginals()), expected.marginals);
        }
    }
}

#[test]
fn conditions_hold_for_keys() {
    let tagger = Tagger::new(untemplated(Precision::F32));
    let tokens = sentences().pop().unwrap();
    let condition = Condition::new().label(1, "B-X");
    let mut workspace = Workspace::default();
    let mut given = |sentence: TagInput<'_>, condition: &Condition| {
        tagger.tag_given(sentence, condition, EVERYTHING, &mut workspace)
    };
    let (named, keyed) = (named(&tokens), keyed(&tagger, &tokens));
    let found = given((&keyed).into(), &condition).unwrap();
    assert_eq!(found, given((&named).into(), &condition).unwrap());
    assert_eq!(tagger.label(found.labels[1]), "B-X");
    let error = given((&keyed).into(), &Condition::new().label(3, "B-Y")).unwrap_err();
    assert!(error.to_string().starts_with("token 3: "), "{error}");
}

#[test]
fn keys_of_another_tagger_and_values_that_are_no_numbers_are_rejected() {
    let [one, two] = [(); 2].map(|()| Tagger::new(untemplated(Precision::F32)));
    let mut sentence = keyed(&one, &sentences()[2]);
    let error = two.tag(&sentence).unwrap_err();
    assert_eq!(error.to_string(), "the sentence was made for another tagger");
    for value in [f64::NAN, f64::INFINITY] {
        let error = sentence.attribute("x", value).unwrap_err().to_string();
        assert!(error.contains("'x' of token 1 has the value"), "{error}");
    }
    sentence.clear();
    assert_eq!(one.tag(&sentence).unwrap().labels, []);
    let error = tagger().keyed_sentence().unwrap_err().to_string();
    assert!(error.contains("expected words"), "{error}");
    let mut large = one.keyed_sentence().unwrap();
    for _ in 0..2 {
        large.attribute("word[0]=a", f64::MAX).unwrap();
        large.end_token();
    }
    let error = one.tag(&large).unwrap_err().to_string();
    assert!(error.starts_with("token 0: the scores"), "{error}");
}
