//! JSON lines output: an object per sentence.
//!
//! First the members of the input's object, where it was one, as they are written there, but for
//! those that are made here; then `tokens`, `labels`, `spans` (where labels write spans), `offsets`
//! and `text` (where the tokens were cut from a text), `probability`, `marginals` and `nbest` (where
//! they were asked for), always in this order.

use serde::ser::{Error as _, Serialize, SerializeMap, Serializer};

use super::{Candidate, Tagged, source, word};
use crate::corpus::jsonl::Members;
use crate::error::{Error, Result};
use crate::label;
use crate::sentence::{Offsets, Sentence};

/// The keys that say what was found here: what the input has there is not carried through.
const FOUND: [&str; 6] = [
    "tokens",
    "labels",
    "spans",
    "probability",
    "marginals",
    "nbest",
];

/// The keys that are made here where the tokens were cut here.
const CUT: [&str; 2] = ["offsets", "text"];

/// Writes a sentence.
pub(super) fn sentence(buffer: &mut String, tagged: &Tagged, spans: bool) -> Result<()> {
    let object = Object { tagged, spans };
    let line = serde_json::to_string(&object)
        .map_err(|error| Error::input(tagged.sentence.place(0), error.to_string()))?;
    buffer.push_str(&line);
    buffer.push('\n');
    Ok(())
}

struct Object<'a> {
    tagged: &'a Tagged<'a>,
    spans: bool,
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tagged = self.tagged;
        let sentence = tagged.sentence;
        let text = source(sentence);
        let mut map = serializer.serialize_map(None)?;
        if let Some(record) = &sentence.layout.record {
            let members: Members = serde_json::from_str(record).map_err(S::Error::custom)?;
            for (key, value) in &members.0 {
                let made = text.is_some() && CUT.contains(&key.as_str());
                if !made && !FOUND.contains(&key.as_str()) {
                    map.serialize_entry(key, value)?;
                }
            }
        }
        map.serialize_entry("tokens", &List(sentence.len(), |t| word(sentence, t)))?;
        map.serialize_entry("labels", &tagged.labels)?;
        if self.spans {
            let spans = label::spans(&tagged.labels);
            let span = |i: usize| Span {
                span: &spans[i],
                text: text.and_then(|text| cut(sentence, text, &spans[i])),
            };
            map.serialize_entry("spans", &List(spans.len(), span))?;
        }
        if let Some(text) = text {
            let offsets = &sentence.offsets;
            map.serialize_entry(
                "offsets",
                &List(offsets.len(), |t: usize| Place(&offsets[t])),
            )?;
            map.serialize_entry("text", text)?;
        }
        if let Some(probability) = tagged.probability {
            map.serialize_entry("probability", &probability)?;
        }
        if let Some(marginals) = &tagged.marginals {
            let token = |t: usize| Pairs(&marginals[t]);
            map.serialize_entry("marginals", &List(marginals.len(), token))?;
        }
        if !tagged.nbest.is_empty() {
            let path = |n: usize| CandidateRecord(&tagged.nbest[n]);
            map.serialize_entry("nbest", &List(tagged.nbest.len(), path))?;
        }
        map.end()
    }
}

/// An array of so many items, each made when its turn comes.
struct List<F>(usize, F);

impl<T: Serialize, F: Fn(usize) -> T> Serialize for List<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((0..self.0).map(&self.1))
    }
}

struct Span<'a> {
    span: &'a label::Span<'a>,
    text: Option<&'a str>,
}

impl Serialize for Span<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("start", &self.span.start)?;
        map.serialize_entry("end", &self.span.end)?;
        map.serialize_entry("type", self.span.kind)?;
        if let Some(text) = self.text {
            map.serialize_entry("text", text)?;
        }
        map.end()
    }
}

/// The part of the text that a span covers.
fn cut<'a>(sentence: &Sentence, text: &'a str, span: &label::Span) -> Option<&'a str> {
    let first = sentence.offsets.get(span.start)?;
    let last = sentence.offsets.get(span.end.checked_sub(1)?)?;
    text.get(first.bytes.start..last.bytes.end)
}

struct Place<'a>(&'a Offsets);

impl Serialize for Place<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("bytes", &[self.0.bytes.start, self.0.bytes.end])?;
        map.serialize_entry("chars", &[self.0.chars.start, self.0.chars.end])?;
        map.end()
    }
}

/// An object with labels for keys, in the order given.
struct Pairs<'a>(&'a [(&'a str, f64)]);

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

struct CandidateRecord<'a>(&'a Candidate<'a>);

impl Serialize for CandidateRecord<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("labels", &self.0.labels)?;
        map.serialize_entry("score", &self.0.score)?;
        map.serialize_entry("probability", &self.0.probability)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{full, one, read, written};
    use super::super::{OutputFormat, Tagged, WriteOptions};
    use crate::corpus::Format;

    fn spans() -> WriteOptions {
        WriteOptions::new(OutputFormat::Jsonl)
    }

    fn tags() -> WriteOptions {
        WriteOptions {
            spans: false,
            ..spans()
        }
    }

    #[test]
    fn ready_tokens_have_neither_text_nor_offsets() {
        let out = one(
            &spans(),
            Format::Conll,
            "Ann\nLee\n\"\n",
            &["B-P", "I-P", "O"],
        );
        assert_eq!(
            out,
            r#"{"tokens":["Ann","Lee","\""],"labels":["B-P","I-P","O"],"spans":[{"start":0,"end":2,"type":"P"}]}"#
                .to_owned()
                + "\n"
        );
    }

    #[test]
    fn tokens_of_a_text_have_offsets_and_spans_their_text() {
        let out = one(&spans(), Format::Text, "Ä  b c", &["B-P", "I-P", "O"]);
        assert_eq!(
            out,
            concat!(
                r#"{"tokens":["Ä","b","c"],"labels":["B-P","I-P","O"],"#,
                r#""spans":[{"start":0,"end":2,"type":"P","text":"Ä  b"}],"#,
                r#""offsets":[{"bytes":[0,2],"chars":[0,1]},{"bytes":[4,5],"chars":[3,4]},{"bytes":[6,7],"chars":[5,6]}],"#,
                r#""text":"Ä  b c"}"#,
                "\n"
            )
        );
    }

    #[test]
    fn a_text_without_offsets_into_it_is_not_written() {
        let mut sentences = read(Format::Conll, "a\n");
        sentences[0].layout.source = Some("a b".into());
        let tagged = Tagged::new(&sentences[0], vec!["X"]);
        assert_eq!(
            written(&tags(), &[tagged]).unwrap(),
            "{\"tokens\":[\"a\"],\"labels\":[\"X\"]}\n"
        );
    }

    #[test]
    fn labels_that_write_no_spans_give_none() {
        let out = one(&tags(), Format::Crfsuite, "B\tw=a\n", &["X"]);
        assert_eq!(out, "{\"tokens\":[\"_\"],\"labels\":[\"X\"]}\n");
    }

    #[test]
    fn other_keys_of_the_input_come_first_and_unchanged() {
        let json = r#"{"n": 1.50, "tokens": ["a"], "labels": ["old"], "big": 123456789012345678901234567890, "x": {"y" : [ ]}}"#;
        let out = one(&tags(), Format::Jsonl, json, &["new"]);
        assert_eq!(
            out,
            r#"{"n":1.50,"big":123456789012345678901234567890,"x":{"y" : [ ]},"tokens":["a"],"labels":["new"]}"#
                .to_owned()
                + "\n"
        );
        let json = r#"{"text": "a\tb", "id": 7}"#;
        let out = one(&tags(), Format::Jsonl, json, &["A", "B"]);
        assert_eq!(
            out,
            concat!(
                r#"{"id":7,"tokens":["a","b"],"labels":["A","B"],"#,
                r#""offsets":[{"bytes":[0,1],"chars":[0,1]},{"bytes":[2,3],"chars":[2,3]}],"text":"a\tb"}"#,
                "\n"
            )
        );
    }

    #[test]
    fn a_text_beside_ready_tokens_is_a_key_like_any_other() {
        let json = r#"{"text":"a b","tokens":["a","b"],"labels":["A","B"]}"#.to_owned() + "\n";
        assert_eq!(one(&tags(), Format::Jsonl, &json, &["A", "B"]), json);
    }

    #[test]
    fn marginals_and_candidates_are_written_best_first() {
        let sentences = read(Format::Conll, "a\n");
        let tagged = full(&sentences[0], &["X"], &["Y"]);
        assert_eq!(
            written(&tags(), &[tagged]).unwrap(),
            concat!(
                r#"{"tokens":["a"],"labels":["X"],"probability":0.5,"marginals":[{"X":0.75,"Y":0.25}],"#,
                r#""nbest":[{"labels":["X"],"score":2.5,"probability":0.5},{"labels":["Y"],"score":-1.0,"probability":0.125}]}"#,
                "\n"
            )
        );
    }

    #[test]
    fn the_output_can_be_read_again() {
        let json = r#"{"id":1,"pos":["N"],"tokens":["a"],"labels":["X"]}"#.to_owned() + "\n";
        assert_eq!(one(&tags(), Format::Jsonl, &json, &["X"]), json);
    }
}
