//! Gold labels beside those that a model knows.

use dropchain::Sentence;
use dropchain::corpus::Corpus;
use dropchain::label::{LabelSet, Scheme, SchemeDetector};
use dropchain::model::Header;

use crate::knows_none;

#[test]
fn a_model_knows_none_of_the_gold_labels_if_none_of_their_types_is_its_own() {
    let names = ["O", "B-PER", "I-PER"];
    for (labels, scheme, gold, expected) in [
        (&names[..], Scheme::Iob2, "O O", false), // texts without names
        (&names, Scheme::Iob2, "O B-PER", false),
        (&names, Scheme::Iob2, "PER-B PER-I 0", false),
        (&names, Scheme::Iob2, "O PER PER O", false),
        (&names, Scheme::Iob2, "O B-LOC", true),
        (&names, Scheme::Iob2, "NN VB", true),
        (&["PER", "O"], Scheme::Plain, "O B-PER", false),
        (&["NN", "VB"], Scheme::Raw, "NN DT", false),
        (&["NN", "VB"], Scheme::Raw, "B-NP I-NP O", true),
    ] {
        let labels: Vec<String> = labels.iter().map(|&label| label.to_owned()).collect();
        let mut header = Header::new(LabelSet::try_from(labels).unwrap());
        (header.labeling, header.corpus_labeling) = (scheme.into(), scheme.into());
        let labels: Vec<&str> = gold.split_whitespace().collect();
        let sentence = Sentence::from_words(labels.iter().map(|_| "a"));
        let corpus: Corpus = [sentence.with_labels(labels).unwrap()].into_iter().collect();
        let read = SchemeDetector::new().of(&corpus).detected_for(&header.corpus_labeling);
        assert_eq!(knows_none(&header, &corpus, &read.labeling), expected, "{gold}");
    }
}
