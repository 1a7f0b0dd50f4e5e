//! What a sentence was cut from: a line of raw text, a JSON object, or the text inside one.
//!
//! All three lie in the one field `layout.source`, and a token's offsets must be right there. So
//! the text comes first, and the JSON object that it was found in follows after U+001E, which
//! no JSON line can contain. A sentence without offsets was cut from no text: its source, if it has
//! one, is a JSON object.

use std::sync::Arc;

use crate::sentence::Sentence;

/// Stands between a text and the JSON object around it.
const RECORD: char = '\u{1e}';

/// The source of a sentence from `text`, a member of the JSON object `record`.
pub(super) fn join(text: &str, record: &str) -> Arc<str> {
    Arc::from([text, record].join(RECORD.encode_utf8(&mut [0; 4])))
}

/// The text that the tokens' offsets refer to: a line of raw text, or the `text` of a JSON object.
#[must_use]
pub fn source_text(sentence: &Sentence) -> Option<&str> {
    split(sentence).0
}

/// The JSON object that a sentence was read from.
pub(super) fn record(sentence: &Sentence) -> Option<&str> {
    split(sentence).1
}

fn split(sentence: &Sentence) -> (Option<&str>, Option<&str>) {
    let Some(source) = sentence.layout.source.as_deref() else {
        return (None, None);
    };
    if sentence.offsets.is_empty() {
        return (None, Some(source));
    }
    match source.rsplit_once(RECORD) {
        Some((text, record)) if record.trim_start().starts_with('{') => (Some(text), Some(record)),
        _ => (Some(source), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sentence::Offsets;

    fn sentence(source: Option<Arc<str>>, from_text: bool) -> Sentence {
        let mut sentence = Sentence::from_words(["a"]);
        sentence.layout.source = source;
        if from_text {
            sentence.offsets.push(Offsets {
                bytes: 0..1,
                chars: 0..1,
            });
        }
        sentence
    }

    #[test]
    fn text_and_record_are_told_apart() {
        let none = sentence(None, false);
        assert_eq!((source_text(&none), record(&none)), (None, None));
        let tokens = sentence(Some(Arc::from("{}")), false);
        assert_eq!((source_text(&tokens), record(&tokens)), (None, Some("{}")));
        let raw = sentence(Some(Arc::from("a \u{1e} {}")), true);
        assert_eq!(record(&raw), Some(" {}"));
        let raw = sentence(Some(Arc::from("{}\u{1e}x")), true);
        assert_eq!((source_text(&raw), record(&raw)), (Some("{}\u{1e}x"), None));
        let both = sentence(Some(join("a\u{1e}b", "{}")), true);
        assert_eq!(
            (source_text(&both), record(&both)),
            (Some("a\u{1e}b"), Some("{}"))
        );
    }
}
