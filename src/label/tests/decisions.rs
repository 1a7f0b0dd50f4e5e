//! What is decided about labels: sentences of labels, separated by `/`, and what is said of them.

use super::*;
use crate::error::Place;
use crate::testing::rows;

fn observed(mut detector: SchemeDetector, corpus: &str) -> SchemeDetector {
    for (i, sentence) in corpus.split(" / ").enumerate() {
        let labels: Vec<&str> = sentence.split_whitespace().collect();
        detector.observe_at(&labels, |t| Some(Place::line("x", (100 * i + t) as u64 + 1)));
    }
    detector
}

fn said(detector: SchemeDetector, corpus: &str) -> String {
    observed(detector, corpus).detected().account(PlainLabels::Spans).join("; ")
}

#[test]
fn labels_decide_the_scheme_the_notation_and_what_is_outside() {
    let table = "
        O I-X I-X I-Y / I-X → IO, 3 labels
        O I-X I-X I-Y / I-X B-X → IOB1, 4 labels
        O B-X I-X B-Y / B-X → IOB2, 4 labels
        B-X → IOB2, 1 label
        O B-X E-X S-Y → BIOES, 4 labels
        S-X → BIOES, 1 label
        B I O B → IOB2, 3 labels
        B-NP-SBJ I-NP-SBJ O → IOB2, 3 labels
        // Few labels, or none.
        → IO, 0 labels
        O O /  → IO, 1 label; warning: no token is in a span
        0 0 → IO, outside '0', 1 label; warning: no token is in a span
        // Notations.
        O B_PER I_PER O → IOB2 written B_X, 3 labels
        O PER-B PER-I → IOB2 written X-B, 3 labels
        o b-per i-per → IOB2 written b-X, outside 'o', 3 labels
        O B-X L-X U-Y → BILOU, 4 labels
        O B/X I/X L/X → BILOU written B/X, 4 labels
        B M E S S B E → BMES, 4 labels
        O B-X M-X E-X W-X → BMEWO, 5 labels
        O PER.B PER.I → IOB2 written X.B, 3 labels
        I_A I_A O I_B → IO written I_X, 3 labels
        <other> I-<title> <title> I-<title> <title> I-<author> <other> I-<other> → IOB2 written I-X
            X, outside '<other>', 5 labels
        // Outside.
        0 0 B-PER I-PER → IOB2, outside '0', 3 labels
        OUT OUT B-PER I-PER → IOB2, outside 'OUT', 3 labels
        _ _ B-PER I-PER → IOB2, outside '_', 3 labels
        none none none none B-X I-X → IOB2, outside 'none', 3 labels
        B-X I-X I-O B-O I-O O → IOB2, 5 labels; warning: x:3: the label 'I-O' (2 times) is outside
            with a prefix, and read as 'O'; warning: x:4: the label 'B-O' is outside with a prefix,
            and read as 'O'
        I_PER I_0 I_0 I_PER 0 → IO written I_X, outside '0', 3 labels; warning: x:2: the label 'I_0'
            (2 times) is outside with a prefix, and read as '0'
        I-O I-O → IO, 1 label; warning: x:1: the label 'I-O' (2 times) is outside with a prefix, and
            read as 'O'; warning: no token is in a span
        // Types without prefixes have much outside or long spans.
        O PERSON O / LOCATION O → types without prefixes, 3 labels
        NP NP VP NP NP O → types without prefixes, 3 labels
        OTHER PER OTHER → types without prefixes, outside 'OTHER', 2 labels
        0 PER 0 0 → types without prefixes, outside '0', 2 labels
        // Numbers, and the labels of sentences of one token, are classes.
        0 1 0 0 / 1 0 → tags, 2 labels
        0 / 0 / 1 / 0 → tags, 2 labels
        -1 0 +1 0 0 → tags, 3 labels
        O / spam / O → tags, 2 labels
        B-X / O / B-X → IOB2, 2 labels
        // Tags.
        DT NN VBZ . → tags, 4 labels
        -LRB- NN -RRB- → tags, 3 labels
        NN NN NN → tags, 1 label
        S V B E N A P RD → tags, 8 labels
        N-S V-B A-E → tags, 3 labels
        DET NOUN NOUN NOUN VERB → tags, 3 labels
        _ NOUN VERB DET → tags, 4 labels
        NN-S VB-S DT JJ-B → tags, 4 labels
        A A A A B B → tags, 2 labels
        // `O` is the pronoun of the tag set for tweets.
        O V D N / N V O / N N P O → tags, 5 labels
        B-X NN I-X VB → tags, 4 labels; warning: x:2: the label 'NN' has no tag such as B-, unlike
            others: no spans are read, and accuracy alone is scored; warning: x:4: the label 'VB'
            has no tag such as B-, unlike others: no spans are read, and accuracy alone is scored
        // One label of no scheme, or one invalid label in a hundred, does not hide the scheme.
        O B-PER I-PER O NE-COARSE O B-LOC → IOB2, 5 labels; warning: x:5: the label 'NE-COARSE'
            belongs to no scheme, unlike the others (IOB2)
        B-X I-X O I-X → IOB1, not strictly, 3 labels; warning: x:1: 'B-X' at the beginning of a
            sentence is invalid in IOB1; so many that the rules of the scheme are not enforced
    ";
    for (corpus, expected) in rows(table) {
        assert_eq!(said(SchemeDetector::new(), corpus), format!("read as {expected}"), "{corpus}");
    }
    let long = ["B-X I-X O"; 200].join(" ") + " I-X";
    let expected = "read as IOB2, 3 labels; warning: x:601: 'I-X' after 'O' is invalid in IOB2";
    assert_eq!(said(SchemeDetector::new(), &long), expected);
    let long = "read as IOB2, 2 labels; warning: x:1: a sentence of 1002 tokens; are the blank \
                lines between sentences missing?";
    assert_eq!(said(SchemeDetector::new(), &["B-X O"; 501].join(" ")), long);
    let types = observed(SchemeDetector::new(), "O PERSON O").detected();
    assert!(types.account(PlainLabels::Auto)[0].contains("they have no B- or I-"));
}

#[test]
fn a_choice_or_a_column_of_tags_decides_otherwise() {
    let new = SchemeDetector::new;
    let of_tags = |mut detector: SchemeDetector| {
        detector.of_tags();
        detector
    };
    let spans = || new().with_plain_labels(PlainLabels::Spans);
    let nil = |detector: SchemeDetector| detector.with_outside(Some("NIL".into()));
    for (detector, corpus, expected) in [
        (spans(), "NP VP", "types without prefixes, 2 labels"),
        (spans(), "0 / 1", "types without prefixes, outside '0', 2 labels"),
        (new().with_plain_labels(PlainLabels::Tags), "O PERSON O", "tags, 2 labels"),
        (nil(new()), "B-X I-X NIL B-X", "IOB2, outside 'NIL', 3 labels"),
        (nil(spans()), "X X NIL", "types without prefixes, outside 'NIL', 2 labels"),
        // Morphology, where most words have none; a tag set of one's own.
        (of_tags(new()), "_ Number=Plur Number=Plur _ _", "tags, 2 labels"),
        (of_tags(new()), "B-X I-X O", "tags, 3 labels"),
        (of_tags(spans()), "B-X I-X O", "IOB2, 3 labels"),
        (of_tags(spans()), "_ X X _", "types without prefixes, outside '_', 2 labels"),
    ] {
        assert_eq!(said(detector, corpus), format!("read as {expected}"), "{corpus}");
    }
}

#[test]
fn partial_labels_reveal_the_scheme_too() {
    for (corpus, expected) in [
        ("_ I-X _ / B-X _ _", Scheme::Iob2),
        ("O B-X _ O", Scheme::Iob2),
        ("O I-X _ B-Y|B-X", Scheme::Iob1),
        ("_ E-X _ / B-X _ _", Scheme::Bioes),
        ("_ I-X _ / _ O", Scheme::Io),
        ("_ NN _ / B-X O", Scheme::Raw),
        ("O PERSON O / _ PERSON|O O", Scheme::Plain),
    ] {
        let mut detector = SchemeDetector::new();
        for sentence in corpus.split(" / ") {
            let labels =
                |cell: &str| cell.split('|').filter(|&l| l != "_").map(str::to_owned).collect();
            let sets: Vec<Vec<String>> = sentence.split(' ').map(labels).collect();
            detector.observe_partial(&sets, |_| None);
        }
        assert_eq!(detector.detected().labeling.scheme, expected, "{corpus}");
    }
}

#[test]
fn other_labels_are_read_alike_unless_they_clearly_have_another_scheme() {
    let of = |corpus: &str| observed(SchemeDetector::new(), corpus).detected().labeling;
    for (corpus, other, expected) in [
        ("B-X B-X E-X I-X", "B-X E-X S-X", "BIOES"),
        ("B-X I-X O", "B-X E-X S-X", "IOB2"),
        ("S-X O", "B-X I-X", "BIOES"),
        ("I-X I-X O", "B-X I-X O", "IO"),
        ("B-X O", "I-X B-X O", "IOB2"),
        ("I-X I-X O", "I-X B-X O", "IOB1"), // nothing contradicts it
        ("PER-B PER-I O", "B-X I-X", "IOB2 written X-B"),
        ("B_X I_X 0", "B-X I-X", "IOB2 written B_X, outside '0'"),
        ("0 0", "B-X I-X O", "IO, outside '0'"),
        ("O O", "B-X I-X 0", "IO"),
        ("O O", "B-X I-X O", "IOB2"),
        ("", "B-X I-X O", "IOB2"),
        ("O PER PER O", "B-X I-X", "types without prefixes"),
        ("NN VB DT", "B-X I-X", "tags"),
        ("B-X Q I-X O", "B-X I-X", "IOB2"),
        ("B-X Q Q O", "B-X I-X", "tags"),
        ("PER PER", "O PER O", "types without prefixes"),
        ("B-PER I-PER O", "O PER O", "IOB2"),
        ("0 PER 0 0", "O PER O", "types without prefixes, outside '0'"),
        ("0 0", "O PER O", "IO, outside '0'"),
        ("O O PER", "NN VB", "tags"),
        ("B-X I-X O", "NN VB", "tags"),
    ] {
        let detected = observed(SchemeDetector::new(), corpus).detected_for(&of(other));
        assert_eq!(detected.labeling.to_string(), expected, "{corpus}, like {other}");
    }
}

#[test]
fn what_is_illegal_is_always_said_in_the_same_order() {
    let corpus = ["B-X I-X"; 200].join(" / ") + " / O I-X / I-X";
    for _ in 0..20 {
        let illegal = observed(SchemeDetector::new(), &corpus).detected().illegal;
        let whys: Vec<&str> = illegal.iter().map(|misfit| &*misfit.why).collect();
        assert_eq!(whys, ["after 'O'", "at the beginning of a sentence"]);
    }
}

#[test]
fn labels_outside_with_a_prefix_are_in_no_span() {
    let labels = ["B-X", "I-O", "B-O", "I-X", "O"];
    let iob2 = Labeling::from(Scheme::Iob2);
    assert_eq!(iob2.spans(&labels).len(), 2);
    assert_eq!(iob2.convert(&labels, &iob2), ["B-X", "O", "O", "I-X", "O"]);
    assert_eq!(iob2.convert(&labels, &Scheme::Bioes.into()), ["S-X", "O", "O", "S-X", "O"]);
    let grobid = "I-<x> <x> I-<x> <other> I-<y> <y>";
    let labeling = observed(SchemeDetector::new(), grobid).detected().labeling;
    assert_eq!(labeling.spans(&grobid.split(' ').collect::<Vec<_>>()).len(), 3);
}
