//! The built-in template for labels.

use super::template_file::Template;
use crate::label::ChunkLabel;
use crate::sentence::Sentence;

/// Types of phrases that every corpus of chunks has.
const PHRASES: [&str; 2] = ["NP", "VP"];

impl Template {
    /// Returns the name of the built-in template for labeled sentences whose labels encode spans
    /// or not: `pos` for tags; `chunk` for phrases (NP, VP, …) with parts of speech in the second
    /// column; otherwise `ner`. `None` if a sentence has attributes of its own.
    pub fn shipped_for<'a>(
        sentences: impl IntoIterator<Item = &'a Sentence> + Clone,
        encode_spans: bool,
    ) -> Option<&'static str> {
        let mut all = sentences.clone().into_iter();
        if all.any(|sentence| sentence.attributes.is_some()) {
            return None;
        }
        let has_column = |sentence: &Sentence| sentence.schema().label() > Some(1);
        let is_of = |sentence: &Sentence, phrase: &str| {
            let mut labels = (0..sentence.len()).filter_map(|t| sentence.label(t));
            labels.any(|label| ChunkLabel::parse(label).kind == phrase)
        };
        let occurs = |phrase: &str| sentences.clone().into_iter().any(|s| is_of(s, phrase));
        let are_phrases = PHRASES.into_iter().all(occurs);
        let are_phrases = are_phrases && sentences.into_iter().all(has_column);
        Some(match encode_spans {
            false => "pos",
            true if are_phrases => "chunk",
            true => "ner",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(columns: &[&str], labels: [&str; 2]) -> Sentence {
        let words = ["He", "slept"];
        let columns = columns.iter().map(|name| (*name, words));
        Sentence::from_columns(columns).unwrap().with_labels(labels).unwrap()
    }

    #[test]
    fn the_labels_decide() {
        let chosen = |sentence, spans| Template::shipped_for(&[sentence], spans);
        let two = ["word", "pos"];
        let phrases = ["B-NP", "B-VP"];
        assert_eq!(chosen(sentence(&two, phrases), true), Some("chunk"));
        assert_eq!(chosen(sentence(&["word"], phrases), true), Some("ner"));
        assert_eq!(chosen(sentence(&two, ["B-PER", "O"]), true), Some("ner"));
        assert_eq!(chosen(sentence(&two, ["PRP", "VBD"]), false), Some("pos"));
        let extracted = Sentence::from_attributes([[("w=He", 1.0)]]).unwrap();
        assert_eq!(chosen(extracted, true), None);
    }
}
