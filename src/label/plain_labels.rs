//! Whether labels without a prefix are types of spans, such as `PERSON`, or tags, such as `NOUN`.
//!
//! Both occur, and nothing in a label says which it is; but their distributions differ. Outside
//! means nothing for tags, so they have no `O`, or one that is rare. Where `O` is at least half of
//! the tokens, or a quarter of the tokens in types follows one of the same type (a span of several
//! tokens), labels are types. Decision 66 has the numbers of corpora.

use super::chunk_label::ChunkLabel;
use super::scheme::Scheme;

/// What labels without a prefix such as `B-` are.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum PlainLabels {
    /// Types of spans if they look like it: there is a label `O`, which is at least half of the
    /// tokens, or at least a quarter of the others follows one with the same label.
    #[default]
    Auto,
    /// Types of spans: adjacent tokens with the same label are one, except with the label `O`.
    Spans,
    /// Tags, such as parts of speech.
    Tags,
}

crate::named!(PlainLabels, "kind of plain labels": Auto = "auto", Spans = "spans", Tags = "tags");

impl PlainLabels {
    /// What labels without a prefix are in predictions, given the scheme of the gold labels:
    /// predictions may be few, and follow the gold labels.
    #[must_use]
    pub const fn of_predictions(self, gold: Scheme) -> Self {
        match gold {
            Scheme::Plain => Self::Spans,
            Scheme::Raw => Self::Tags,
            _ => self,
        }
    }
}

/// Counts what tells types of spans from tags.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlainLabelCounts {
    has_prefix: bool, // some label is a chunk tag, with or without a type
    outside: u64,     // tokens with the label `O`
    typed: u64,       // tokens with another label
    continued: u64,   // of these, tokens after one with the same label
}

impl PlainLabelCounts {
    /// Counts a token, whose predecessor in the sentence has the label `previous`.
    pub fn observe(&mut self, label: &str, previous: Option<&str>) {
        if label == "O" {
            self.outside += 1;
            return;
        }
        self.has_prefix |= ChunkLabel::parse(label).is_inside();
        self.typed += 1;
        self.continued += u64::from(previous == Some(label));
    }

    /// Whether the labels are types of spans.
    pub fn are_types(self, choice: PlainLabels) -> bool {
        let Self {
            outside,
            typed,
            continued,
            ..
        } = self;
        if self.has_prefix || typed == 0 {
            return false;
        }
        match choice {
            PlainLabels::Spans => true,
            PlainLabels::Tags => false,
            PlainLabels::Auto => outside > 0 && (outside >= typed || 4 * continued >= typed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are_types(sentences: &[&str], choice: PlainLabels) -> bool {
        let mut counts = PlainLabelCounts::default();
        for sentence in sentences {
            let mut previous = None;
            for label in sentence.split(' ') {
                counts.observe(label, previous);
                previous = Some(label);
            }
        }
        counts.are_types(choice)
    }

    fn detected(sentences: &[&str]) -> bool {
        are_types(sentences, PlainLabels::Auto)
    }

    #[test]
    fn types_have_much_outside_or_long_spans() {
        assert!(detected(&["O PERSON O", "LOCATION O"]));
        assert!(detected(&["NP NP VP NP NP O"]));
    }

    #[test]
    fn tags_have_no_outside_or_little_of_it() {
        assert!(!detected(&["DET NOUN NOUN NOUN VERB"]));
        // `O` is the pronoun of the tag set for tweets.
        assert!(!detected(&["O V D N", "N V O", "N N P O"]));
    }

    #[test]
    fn labels_with_prefixes_are_not_plain() {
        assert!(!detected(&["O O O PERSON", "O O B-X"]));
        assert!(!detected(&["O O O PERSON S"]));
        assert!(!are_types(&["B-X I-Y I-X"], PlainLabels::Spans));
    }

    #[test]
    fn a_choice_is_kept() {
        assert!(are_types(&["NP VP"], PlainLabels::Spans));
        assert!(!are_types(&["O PERSON O"], PlainLabels::Tags));
        for choice in PlainLabels::ALL {
            assert_eq!(choice.name().parse::<PlainLabels>().unwrap(), choice);
        }
        assert!("bio".parse::<PlainLabels>().is_err());
    }

    #[test]
    fn without_types_there_is_nothing_to_detect() {
        assert!(!detected(&["O O"]));
    }
}
