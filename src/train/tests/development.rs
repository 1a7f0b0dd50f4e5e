//! Development data whose labels are written otherwise than those of the training data.

use super::*;
use crate::label::{PlainLabels, Scheme};

/// What is said of development data in training on `train`, or the error.
fn said(train: &str, dev: &str, options: TrainOptions) -> String {
    let settings = TrainSettings::new(options).unwrap();
    let corpora = TrainingCorpora::new(corpus(train)).dev(corpus(dev));
    match TrainingSet::new(corpora, template("word"), &settings) {
        Ok(set) => set.extracted.labels.reading[1..].join("; "),
        Err(error) => error.to_string(),
    }
}

#[test]
fn labels_of_development_data_are_converted_and_that_is_said_or_an_error() {
    let types = "Ada/PER Lovelace/PER left/O\nin/O London/LOC";
    let tags = "Ada/NNP left/VBD\nin/IN London/NNP";
    let other = |what: &str, label: &str, of: &str| {
        format!(
            "x.conll:1: the label '{label}': the labels of these data are read as {what}, those of \
             the training data as {of}, and cannot be converted; expected labels of the same kind \
             (is this the label column?)"
        )
    };
    for (train, dev, expected) in [
        (NAMES, "Ada/B-PER Byron/I-PER left/O", ""),
        (NAMES, "Ada/B-ORG Byron/I-ORG left/O", ""),
        (NAMES, "left/O", ""),
        (NAMES, "Ada/I-PER Byron/I-PER left/O", "IO, 2 labels, converted to IOB2"),
        (NAMES, "Ada/B-PER Byron/E-PER London/S-LOC O/O", "BIOES, 4 labels, converted to IOB2"),
        (NAMES, "Ada/PER-B Byron/PER-I O/O", "IOB2 written X-B, 3 labels, converted to IOB2"),
        (NAMES, "Ada/B-PER Byron/I-PER O/0", "IOB2, outside '0', 3 labels, converted to IOB2"),
        (NAMES, "left/0 again/0", "IO, outside '0', 1 label, converted to IOB2"),
        (NAMES, "A/PER B/PER c/O d/O", "types without prefixes, 2 labels, converted to IOB2"),
        (NAMES, tags, &other("tags", "NNP", "IOB2")),
        (types, "A/B-PER B/I-PER c/O", "IOB2, 3 labels, converted to types without prefixes"),
        (types, "Ada/ORG left/O", ""),
        (types, "Ada/ORG", ""),
        (tags, "Ada/B-PER Byron/I-PER left/O", &other("IOB2", "B-PER", "tags")),
        (tags, "Ada/UH left/VBD", ""),
    ] {
        let is_read = !expected.is_empty() && !expected.starts_with("x.conll");
        let start = if is_read { "development data: read as " } else { "" };
        let found = said(train, dev, TrainOptions::default());
        assert_eq!(found, format!("{start}{expected}"), "{dev}");
    }
    let chosen = changed(TrainOptions::default(), |o| o.labels.plain_labels = PlainLabels::Tags);
    assert_eq!(said(types, "Ada/ORG left/O", chosen), "");
}

#[test]
fn development_data_in_another_notation_have_the_same_score() {
    let dev = "Ada/B-PER Somerville/I-PER left/O London/B-LOC again/O\nYork/B-LOC left/O";
    let score = |dev: String| {
        let corpora = TrainingCorpora::new(corpus(NAMES)).dev(corpus(&dev));
        let options = changed(TrainOptions::default(), |o| o.max_iterations = Some(3));
        let trainer = Trainer::new(options).unwrap();
        trainer.train(corpora, template("word"), &mut ()).unwrap().end.dev.unwrap().value()
    };
    let expected = score(dev.to_owned());
    assert!(expected > 0.0);
    for changes in
        [&[("B-", "B_"), ("I-", "I_")][..], &[("/O", "/OUT")], &[("B-LOC", "S-LOC"), ("I-", "E-")]]
    {
        let change = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
        let dev = changes.iter().fold(dev.to_owned(), change);
        assert_eq!(score(dev.clone()), expected, "{dev}");
    }
}

#[test]
fn the_label_outside_with_a_prefix_is_trained_as_outside() {
    let labels = |text: &str| {
        let settings = TrainSettings::new(TrainOptions::default()).unwrap();
        let set = TrainingSet::new(corpus(text), template("word"), &settings).unwrap();
        (set.extracted.labels.set.names().join(" "), set.extracted.labels.reading.len())
    };
    let text = "Ada/B-PER left/I-O in/B-O London/B-LOC ./O";
    assert_eq!(labels(text), ("B-PER O B-LOC".to_owned(), 3));
}

#[test]
fn a_label_of_no_scheme_stays_and_cannot_be_converted() {
    let text = NAMES.to_owned() + "odd/NE-COARSE-LIT";
    let with = |scheme| {
        let settings = changed(TrainOptions::default(), |o| o.labels.scheme = scheme);
        let settings = TrainSettings::new(settings).unwrap();
        TrainingSet::new(corpus(&text), template("word"), &settings).map(|set| set.extracted.labels)
    };
    let labels = with(Scheme::Raw).unwrap();
    assert_eq!(labels.labeling, Scheme::Iob2);
    assert!(labels.set.id("NE-COARSE-LIT").is_some());
    let error = with(Scheme::Bioes).err().unwrap().to_string();
    assert!(
        error.contains("`scheme` bioes: the label 'NE-COARSE-LIT' cannot be converted"),
        "{error}"
    );
}
