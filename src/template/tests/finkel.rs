//! The templates that ship with dropchain. Those of the papers are checked against the feature
//! tables they are derived from.

use super::*;

const NER: &str = include_str!("../../../features/ner-finkel.tpl");
const NER_EDGES: &str = include_str!("../../../features/ner-finkel-edges.tpl");
const POS: &str = include_str!("../../../features/pos-sancl.tpl");
const CHUNK: &str = include_str!("../../../features/chunk.tpl");

fn learned(source: &str, training: &str) -> Template {
    let mut template = parse(source).unwrap();
    template.learn(std::iter::once(&words(training)));
    template
}

#[test]
fn every_shipped_file_parses() {
    for name in Template::shipped_names() {
        let template = Template::shipped(name).unwrap().unwrap();
        assert!(template.transitions());
        let sentence = table("0 1 2", Some(2), "Paris NNP B-LOC");
        let is_bound = template.bind(sentence.schema()).is_ok();
        assert!(is_bound != name.ends_with("two-passes"), "{name}");
    }
    assert!(Template::shipped("nothing").is_none());
}

#[test]
fn the_ner_set_yields_all_rows_of_the_table() {
    let template = learned(NER, "said the fall of");
    let sentence = words("Fall of EU said Mr. Kohl");
    assert_eq!(
        collect(&template, &sentence, 2).node.join("; "),
        "bias; word[0]=EU; word[-1]=of; word[+1]=said; \
         affixes(2..6)[0]=<E; affixes(2..6)[0]=<EU; affixes(2..6)[0]=<EU>; affixes(2..6)[0]=U>; \
         affixes(2..6)[0]=EU>; shape(dan2)[0]=X:2; shape(dan2)[-1]=x:2k; shape(dan2)[+1]=xk; \
         word[-1]|shape(dan2)[0]=of|X:2; shape(dan2)[0]|word[+1]=X:2|said; \
         shape(dan2)[-1]|shape(dan2)[0]=x:2k|X:2; shape(dan2)[0]|shape(dan2)[+1]=X:2|xk; \
         shape(dan2)[-1]|shape(dan2)[0]|shape(dan2)[+1]=x:2k|X:2|xk; \
         word[-2]|shape(dan2)[0] if length[-1] <= 3=Fall|X:2; \
         bag(word, 1..4)=said; bag(word, 1..4)=Mr.; bag(word, 1..4)=Kohl; bag(word, 1..4)=; \
         bag(word, -4..-1)=; bag(word, -4..-1)=Fall; bag(word, -4..-1)=of; occurrence[0]=none"
    );
}

#[test]
fn the_ner_set_treats_the_sentence_ends_as_empty_words() {
    let template = learned(NER, "");
    assert_eq!(
        collect(&template, &words("70"), 0).node.join("; "),
        "bias; word[0]=70; word[-1]=; word[+1]=; \
         affixes(2..6)[0]=<7; affixes(2..6)[0]=<70; affixes(2..6)[0]=<70>; affixes(2..6)[0]=0>; \
         affixes(2..6)[0]=70>; shape(dan2)[0]=d:2; shape(dan2)[-1]=; shape(dan2)[+1]=; \
         word[-1]|shape(dan2)[0]=|d:2; shape(dan2)[0]|word[+1]=d:2|; \
         shape(dan2)[-1]|shape(dan2)[0]=|d:2; shape(dan2)[0]|shape(dan2)[+1]=d:2|; \
         shape(dan2)[-1]|shape(dan2)[0]|shape(dan2)[+1]=|d:2|; \
         word[-2]|shape(dan2)[0] if length[-1] <= 3=|d:2; \
         word[+2]|shape(dan2)[0] if length[+1] <= 3=|d:2; \
         bag(word, 1..4)=; bag(word, -4..-1)=; occurrence[0]=none"
    );
}

#[test]
fn the_ner_set_recognizes_titles_abbreviations_and_recurring_names() {
    let template = learned(NER, "");
    let sentence = words("by Sen. Ford of U.N. and Ford later");
    let at = |t: usize| collect(&template, &sentence, t).node;
    assert!(at(1).contains(&"title[0]".to_owned()));
    assert!(!at(2).contains(&"title[0]".to_owned()));
    assert!(at(2).contains(&"occurrence[0]=later".to_owned()));
    assert!(at(6).contains(&"occurrence[0]=before".to_owned()));
    assert!(at(4).contains(&"shape(dan2)[0]=X.X.".to_owned()));
    assert!(at(4).contains(&"affixes(2..6)[0]=<U.N.>".to_owned()));
    let crossed = "word[+2]|shape(dan2)[0] if length[+1] <= 3=U.N.|Xx";
    assert!(at(2).contains(&crossed.to_owned()), "across a short word");
    let crossed = "word[-2]|shape(dan2)[0] if length[-1] <= 3=";
    assert!(!at(3).iter().any(|a| a.starts_with(crossed)), "not across a long one");
}

#[test]
fn the_comment_on_the_paper_set_says_how_to_get_it() {
    let [from, to] = ["affixes(2..6)", "affixes(2..)"];
    assert!(NER.contains(&format!("s/{from}/{to}/")));
    let paper = learned(&NER.replace(from, to), "said the fall of");
    let attributes = collect(&paper, &words("Fall of Reuters said"), 2).node;
    for expected in [
        "affixes(2..)[0]=<Reuters>",
        "affixes(2..)[0]=<Reuters",
        "affixes(2..)[0]=Reuters>",
        "shape(dan2)[-1]|shape(dan2)[0]=x:2k|Xx",
    ] {
        assert!(attributes.contains(&expected.to_owned()), "{expected}");
    }
    let shipped = collect(&learned(NER, "said the fall of"), &words("a Reuters b"), 1).node;
    assert!(!shipped.contains(&"affixes(2..6)[0]=<Reuters".to_owned()));
}

#[test]
fn the_edge_set_adds_label_pairs_to_the_node_set() {
    let template = learned(NER_EDGES, "");
    let sentence = words("in Rome .");
    assert_eq!(
        collect(&template, &sentence, 1).edge.join("; "),
        "edge:word[0]=Rome; edge:word[-1]|word[0]=in|Rome; edge:word[-1]=in; \
         edge:shape(dan2)[-1]=x:2; edge:shape(dan2)[0]=Xx; \
         edge:shape(dan2)[-1]|shape(dan2)[0]=x:2|Xx; edge:shape(dan2)[+1]=.:1"
    );
    let nodes = collect(&learned(NER, ""), &sentence, 1).node;
    assert_eq!(collect(&template, &sentence, 1).node, nodes);
    assert!(template.transitions());
}

#[test]
fn the_pos_set_has_exactly_five_templates() {
    assert_eq!(
        nodes(POS, "in Rome .", 1).join("; "),
        "word[-1]=in; word[0]=Rome; word[+1]=.; word[-1]|word[0]=in|Rome; word[0]|word[+1]=Rome|."
    );
}

#[test]
fn the_chunk_set_contains_the_nineteen_of_the_reference_run() {
    let template = parse(CHUNK).unwrap();
    let sentence = table("0 1 2", Some(2), "a A O\nb B O\nc C O\nd D O\ne E O");
    let attributes = collect(&template, &sentence, 2).node;
    let nineteen = "\
        word[-2]=a word[-1]=b word[0]=c word[+1]=d word[+2]=e word[-1]|word[0]=b|c \
        word[0]|word[+1]=c|d column(1)[-2]=A column(1)[-1]=B column(1)[0]=C column(1)[+1]=D \
        column(1)[+2]=E column(1)[-2]|column(1)[-1]=A|B column(1)[-1]|column(1)[0]=B|C \
        column(1)[0]|column(1)[+1]=C|D column(1)[+1]|column(1)[+2]=D|E \
        column(1)[-2]|column(1)[-1]|column(1)[0]=A|B|C \
        column(1)[-1]|column(1)[0]|column(1)[+1]=B|C|D \
        column(1)[0]|column(1)[+1]|column(1)[+2]=C|D|E";
    assert_eq!(nineteen.split(' ').count(), 19);
    for expected in nineteen.split(' ') {
        assert!(attributes.contains(&expected.to_owned()), "{expected}");
    }
}
