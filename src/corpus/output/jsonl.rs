//! JSON lines output: an object per sentence.
//!
//! If the input is an object, its other members come first, verbatim; then `file` (if there are
//! several and the input does not have the key), `tokens`, `labels`, the columns that these join
//! (if they join several), `spans` (if the labels encode spans), `offsets`, `text` and `offset`
//! (for tokenized text), and `probability`, `marginals` and `nbest` (if requested), always in this
//! order.

use serde::Serialize;
use serde::ser::{Error as _, SerializeMap, Serializer};

use super::format::{Tagged, WriteOptions};
use crate::corpus::json_object::JsonObject;
use crate::error::{Error, Result};
use crate::label::Span;
use crate::sentence::{Offsets, TextPosition};

/// The keys that are always replaced by the output's.
const PREDICTION_KEYS: [&str; 6] = [
    "tokens",
    "labels",
    "spans",
    "probability",
    "marginals",
    "nbest",
];

/// The key of the file, if there are several.
const FILE: &str = "file";

/// The keys that are replaced for tokenized text.
const TEXT_KEYS: [&str; 3] = ["offsets", "text", "offset"];

/// Writes a sentence.
pub(super) fn sentence(buffer: &mut String, tagged: &Tagged, options: &WriteOptions) -> Result<()> {
    let object = SentenceRecord { tagged, options };
    let line = serde_json::to_string(&object)
        .map_err(|error| Error::input(tagged.sentence.place(0), error.to_string()))?;
    buffer.push_str(&line);
    buffer.push('\n');
    Ok(())
}

/// The object of a sentence.
struct SentenceRecord<'a> {
    tagged: &'a Tagged<'a>,
    options: &'a WriteOptions,
}

impl Serialize for SentenceRecord<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tagged = self.tagged;
        let sentence = tagged.sentence;
        let text = sentence_text(tagged);
        let mut map = serializer.serialize_map(None)?;
        let mut names_file = self.options.files;
        if let Some(record) = &sentence.layout.record {
            let object: JsonObject = serde_json::from_str(record).map_err(S::Error::custom)?;
            for (key, value) in &object.members {
                let replaced = text.is_some() && TEXT_KEYS.contains(&key.as_str());
                let predicted =
                    PREDICTION_KEYS.contains(&key.as_str()) || self.options.joined.contains(key);
                if !replaced && !predicted {
                    map.serialize_entry(key, value)?;
                }
                // What the input says of its file stays.
                names_file = names_file && key != FILE;
            }
        }
        if names_file {
            map.serialize_entry(FILE, &**sentence.file())?;
        }
        map.serialize_entry("tokens", &array(sentence.len(), |t| tagged.word(t)))?;
        map.serialize_entry("labels", &tagged.labels)?;
        if !self.options.joined.is_empty() {
            let parts = (0..sentence.len())
                .map(|t| self.options.parts(tagged, t, tagged.labels[t]))
                .collect::<Result<Vec<_>>>();
            let parts: Vec<Vec<&str>> = parts.map_err(S::Error::custom)?; // [T][n]
            for (i, name) in self.options.joined.iter().enumerate() {
                if is_own_key(name) {
                    continue; // the joined labels have it
                }
                map.serialize_entry(name, &array(parts.len(), |t| parts[t][i]))?;
            }
        }
        if self.options.spans {
            let spans = tagged.labeling.spans(&tagged.labels);
            let span = |i: usize| SpanRecord {
                start: spans[i].start,
                end: spans[i].end,
                kind: spans[i].kind,
                text: text.as_ref().and_then(|_| covered(tagged, &spans[i])),
            };
            map.serialize_entry("spans", &array(spans.len(), span))?;
        }
        if let Some((text, offset)) = text {
            let zero = TextPosition::default();
            let first = TextPosition {
                bytes: offset.bytes.start,
                chars: offset.chars.start,
            };
            let token = |t: usize| OffsetsRecord::new(&sentence.offsets[t], first, zero);
            map.serialize_entry("offsets", &array(sentence.len(), token))?;
            map.serialize_entry("text", text)?;
            let start = sentence.layout.source_start;
            let start = start.filter(|_| self.options.file_offsets);
            let offset = OffsetsRecord::new(&offset, zero, start.unwrap_or_default());
            map.serialize_entry("offset", &offset)?;
        }
        if let Some(probability) = tagged.probability {
            map.serialize_entry("probability", &probability)?;
        }
        if let Some(marginals) = &tagged.marginals {
            let token = |t: usize| LabelProbabilities(&marginals[t]);
            map.serialize_entry("marginals", &array(marginals.len(), token))?;
        }
        if !tagged.nbest.is_empty() {
            map.serialize_entry("nbest", &tagged.nbest)?;
        }
        map.end()
    }
}

/// Returns whether a key of the object has a meaning of its own.
fn is_own_key(key: &str) -> bool {
    key == FILE || PREDICTION_KEYS.contains(&key) || TEXT_KEYS.contains(&key)
}

/// The items that a function returns for the numbers below `length`.
fn array<T>(length: usize, item: impl Fn(usize) -> T) -> Vec<T> {
    (0..length).map(item).collect()
}

#[derive(Serialize)]
struct SpanRecord<'a> {
    start: usize,
    end: usize,
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

/// Returns the text of a sentence that was tokenized, and its position in its source.
fn sentence_text<'a>(tagged: &Tagged<'a>) -> Option<(&'a str, Offsets)> {
    let (first, last) = (
        tagged.sentence.offsets.first()?,
        tagged.sentence.offsets.last()?,
    );
    let offset = Offsets {
        bytes: first.bytes.start..last.bytes.end,
        chars: first.chars.start..last.chars.end,
    };
    Some((tagged.source_text()?.get(offset.bytes.clone())?, offset))
}

/// Returns the part of the text that a span covers.
fn covered<'a>(tagged: &Tagged<'a>, span: &Span) -> Option<&'a str> {
    let tokens = tagged.sentence.offsets.get(span.start..span.end)?;
    (tagged.source_text()?).get(tokens.first()?.bytes.start..tokens.last()?.bytes.end)
}

#[derive(Serialize)]
struct OffsetsRecord {
    bytes: [usize; 2],
    chars: [usize; 2],
}

impl OffsetsRecord {
    /// Positions that count from `origin`, in what begins at `start`.
    fn new(Offsets { bytes, chars }: &Offsets, origin: TextPosition, start: TextPosition) -> Self {
        Self {
            bytes: [bytes.start, bytes.end].map(|byte| byte - origin.bytes + start.bytes),
            chars: [chars.start, chars.end].map(|char| char - origin.chars + start.chars),
        }
    }
}

/// An object with the labels as keys, in the given order.
struct LabelProbabilities<'a>(&'a [(&'a str, f64)]);

impl Serialize for LabelProbabilities<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use crate::corpus::Format;
    use crate::corpus::output::tests::{full, one, read, written};
    use crate::corpus::output::{OutputFormat, Tagged, WriteOptions};

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
    fn pre_tokenized_input_has_neither_text_nor_offsets() {
        let out = one(
            &spans(),
            Format::Conll,
            "Ann\nLee\n\"\n",
            &["B-P", "I-P", "O"],
        );
        assert_eq!(
            out,
            concat!(
                r#"{"tokens":["Ann","Lee","\""],"labels":["B-P","I-P","O"],"#,
                r#""spans":[{"start":0,"end":2,"type":"P"}]}"#,
                "\n"
            )
        );
    }

    #[test]
    fn tokens_of_raw_text_have_offsets_and_spans_have_text() {
        let out = one(&spans(), Format::Text, "Ä  b c", &["B-P", "I-P", "O"]);
        assert_eq!(
            out,
            concat!(
                r#"{"tokens":["Ä","b","c"],"labels":["B-P","I-P","O"],"#,
                r#""spans":[{"start":0,"end":2,"type":"P","text":"Ä  b"}],"#,
                r#""offsets":[{"bytes":[0,2],"chars":[0,1]},"#,
                r#"{"bytes":[4,5],"chars":[3,4]},{"bytes":[6,7],"chars":[5,6]}],"#,
                r#""text":"Ä  b c","offset":{"bytes":[0,7],"chars":[0,6]}}"#,
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
    fn labels_without_spans_have_no_spans_key() {
        let out = one(&tags(), Format::Crfsuite, "B\tw=a\n", &["X"]);
        assert_eq!(out, "{\"tokens\":[\"_\"],\"labels\":[\"X\"]}\n");
    }

    #[test]
    fn other_keys_of_the_input_come_first_and_unchanged() {
        let json = concat!(
            r#"{"n": 1.50, "tokens": ["a"], "labels": ["old"], "#,
            r#""big": 123456789012345678901234567890, "x": {"y" : [ ]}}"#
        );
        let out = one(&tags(), Format::Jsonl, json, &["new"]);
        assert_eq!(
            out,
            concat!(
                r#"{"n":1.50,"big":123456789012345678901234567890,"x":{"y" : [ ]},"#,
                r#""tokens":["a"],"labels":["new"]}"#,
                "\n"
            )
        );
        let json = r#"{"text": "a\tb", "id": 7}"#;
        let out = one(&tags(), Format::Jsonl, json, &["A", "B"]);
        assert_eq!(
            out,
            concat!(
                r#"{"id":7,"tokens":["a","b"],"labels":["A","B"],"#,
                r#""offsets":[{"bytes":[0,1],"chars":[0,1]},{"bytes":[2,3],"chars":[2,3]}],"#,
                r#""text":"a\tb","offset":{"bytes":[0,3],"chars":[0,3]}}"#,
                "\n"
            )
        );
    }

    #[test]
    fn the_text_of_pre_tokenized_input_is_kept_like_any_other_key() {
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
                r#"{"tokens":["a"],"labels":["X"],"#,
                r#""probability":0.5,"marginals":[{"X":0.75,"Y":0.25}],"#,
                r#""nbest":[{"labels":["X"],"score":2.5,"probability":0.5},"#,
                r#"{"labels":["Y"],"score":-1.0,"probability":0.125}]}"#,
                "\n"
            )
        );
    }

    #[test]
    fn the_output_can_be_read_again() {
        let json = r#"{"id":1,"pos":["N"],"tokens":["a"],"labels":["X"]}"#.to_owned() + "\n";
        assert_eq!(one(&tags(), Format::Jsonl, &json, &["X"]), json);
    }

    #[test]
    fn joined_labels_replace_the_keys_of_their_columns() {
        let options = WriteOptions {
            joined: ["pos", "labels"].map(str::to_owned).to_vec(),
            ..tags()
        };
        let json = r#"{"pos":["old"],"tokens":["a"],"labels":["X"]}"#;
        assert_eq!(
            one(&options, Format::Jsonl, json, &["N+Y"]),
            r#"{"tokens":["a"],"labels":["N+Y"],"pos":["N"]}"#.to_owned() + "\n"
        );
    }
}
