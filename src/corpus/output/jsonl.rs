//! JSON lines output: an object per sentence.
//!
//! If the input is an object, its other members come first, verbatim; then `file` (if there are
//! several and the input does not have the key), `tokens`, `labels`, the columns that these join
//! (if they join several), `spans` (if the labels encode spans; with their `probability`, if it was
//! requested), `offsets`, `text` and `offset` (for tokenized text), and `probability`, `marginals`
//! and `nbest` (if requested), always in this order.

use std::borrow::Cow;

use serde::Serialize;
use serde::ser::{Error as _, SerializeMap, Serializer};

use super::writer::{Tagged, WriteOptions};
use crate::corpus::json_object::JsonObject;
use crate::error::{Error, Result};
use crate::label::Span;
use crate::sentence::Offsets;

/// The keys that are always replaced by the output's.
const PREDICTION_KEYS: [&str; 6] =
    ["tokens", "labels", "spans", "probability", "marginals", "nbest"];

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
        let text = tagged.text();
        let mut map = serializer.serialize_map(None)?;
        let mut names_file = self.options.files;
        if let Some(record) = &sentence.layout.record {
            let object: JsonObject = serde_json::from_str(record).map_err(S::Error::custom)?;
            for (key, value) in &object.members {
                let name = key.as_str();
                let is_replaced = text.is_some() && TEXT_KEYS.contains(&name)
                    || PREDICTION_KEYS.contains(&name)
                    || self.options.joined.contains(key);
                if !is_replaced {
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
                .map(|t| self.options.parts(tagged, t, &tagged.labels[t]))
                .collect::<Result<Vec<_>>>();
            let parts: Vec<Vec<&str>> = parts.map_err(S::Error::custom)?; // [T][n]
            for (i, name) in self.options.joined.iter().enumerate() {
                let name = name.as_str();
                // Otherwise the joined labels have it.
                if name != FILE && !PREDICTION_KEYS.contains(&name) && !TEXT_KEYS.contains(&name) {
                    map.serialize_entry(name, &array(parts.len(), |t| parts[t][i]))?;
                }
            }
        }
        if self.options.spans {
            let spans = tagged.labeling.spans(&tagged.labels);
            let probabilities = tagged.mark_probabilities.as_ref();
            let span = |i: usize| SpanRecord {
                covered: text.as_ref().and_then(|_| self.covered(&spans[i])),
                token_start: spans[i].start,
                token_end: spans[i].end,
                kind: spans[i].kind,
                probability: probabilities.and_then(|all| all.get(i).copied()),
            };
            map.serialize_entry("spans", &array(spans.len(), span))?;
        }
        if let Some((text, offset)) = text {
            let token = |t: usize| self.position(&sentence.offsets[t]);
            map.serialize_entry("offsets", &array(sentence.len(), token))?;
            map.serialize_entry("text", text)?;
            map.serialize_entry("offset", &self.position(&offset))?;
        }
        if let Some(probability) = tagged.probability {
            map.serialize_entry("probability", &probability)?;
        }
        if let Some(marginals) = &tagged.marginals {
            let token = |t: usize| Probabilities(&marginals[t]);
            map.serialize_entry("marginals", &array(marginals.len(), token))?;
        }
        if !tagged.nbest.is_empty() {
            map.serialize_entry("nbest", &tagged.nbest)?;
        }
        map.end()
    }
}

impl<'a> SentenceRecord<'a> {
    /// Where something begins and ends in the text that was given, in the unit of the options.
    fn position(&self, offsets: &Offsets) -> [usize; 2] {
        let start = self.tagged.sentence.layout.source_start;
        let range = offsets.after(start.unwrap_or_default()).in_unit(self.options.offsets);
        [range.start, range.end]
    }

    /// Returns the part of the text that a span covers.
    fn covered(&self, span: &Span) -> Option<CoveredText<'a>> {
        let tokens = self.tagged.sentence.offsets.get(span.start..span.end)?;
        let offsets = Offsets::of_tokens(tokens)?;
        let [start, end] = self.position(&offsets);
        let text = self.tagged.source_text()?.get(offsets.bytes)?;
        Some(CoveredText { start, end, text })
    }
}

/// The items that a function returns for the numbers below `length`.
fn array<T>(length: usize, item: impl Fn(usize) -> T) -> Vec<T> {
    (0..length).map(item).collect()
}

#[derive(Serialize)]
struct SpanRecord<'a> {
    #[serde(flatten)]
    covered: Option<CoveredText<'a>>,
    token_start: usize,
    token_end: usize,
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<f64>,
}

/// The part of a text that a span covers.
#[derive(Serialize)]
struct CoveredText<'a> {
    start: usize,
    end: usize,
    text: &'a str,
}

/// An object with the labels as keys, in the given order.
struct Probabilities<'a>(&'a [(Cow<'a, str>, f64)]);

impl Serialize for Probabilities<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(label, probability)| (label, probability)))
    }
}

#[cfg(test)]
mod tests {
    use crate::corpus::Format;
    use crate::corpus::output::tests::{full, one, read, written};
    use crate::corpus::output::{OutputFormat, Tagged, WriteOptions};
    use crate::sentence::OffsetUnit;

    fn spans() -> WriteOptions {
        WriteOptions::new(OutputFormat::Jsonl)
    }

    fn tags() -> WriteOptions {
        WriteOptions { spans: false, ..spans() }
    }

    #[test]
    fn pre_tokenized_input_has_neither_text_nor_offsets() {
        let out = one(&spans(), Format::Conll, "Ann\nLee\n\"\n", &["B-P", "I-P", "O"]);
        assert_eq!(
            out,
            concat!(
                r#"{"tokens":["Ann","Lee","\""],"labels":["B-P","I-P","O"],"#,
                r#""spans":[{"token_start":0,"token_end":2,"type":"P"}]}"#,
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
                r#""spans":[{"start":0,"end":4,"text":"Ä  b","token_start":0,"token_end":2,"#,
                r#""type":"P"}],"offsets":[[0,1],[3,4],[5,6]],"text":"Ä  b c","offset":[0,6]}"#,
                "\n"
            )
        );
    }

    #[test]
    fn positions_count_from_the_beginning_of_the_file_in_the_chosen_unit() {
        for (offsets, expected) in [
            (OffsetUnit::Chars, [[2, 3], [4, 5]]),
            (OffsetUnit::Bytes, [[5, 6], [7, 11]]),
            (OffsetUnit::Utf16, [[3, 4], [5, 7]]),
        ] {
            let options = WriteOptions { offsets, ..spans() };
            let sentences = read(Format::Text, "😀\nb 😀\n");
            let tagged = Tagged::new(&sentences[1], vec!["O", "B-P"]);
            let [b, face] = expected;
            let (start, end) = (face[0], face[1]);
            let expected = serde_json::json!({
                "tokens": ["b", "😀"],
                "labels": ["O", "B-P"],
                "spans": [{
                    "start": start, "end": end, "text": "😀",
                    "token_start": 1, "token_end": 2, "type": "P"
                }],
                "offsets": [b, face],
                "text": "b 😀",
                "offset": [b[0], end],
            });
            let line = written(&options, &[tagged]).unwrap();
            assert_eq!(line, format!("{expected}\n"));
        }
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
    fn spans_have_probabilities_if_these_were_computed() {
        let sentences = read(Format::Conll, "a\n");
        let tagged = Tagged {
            mark_probabilities: Some(vec![0.5]),
            ..Tagged::new(&sentences[0], vec!["B-P"])
        };
        let line = written(&spans(), &[tagged]).unwrap();
        let span = r#"[{"token_start":0,"token_end":1,"type":"P","probability":0.5}]"#;
        assert!(line.contains(span), "{line}");
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
                r#""offsets":[[0,1],[2,3]],"text":"a\tb","offset":[0,3]}"#,
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
        let options =
            WriteOptions { joined: ["pos", "labels"].map(str::to_owned).to_vec(), ..tags() };
        let json = r#"{"pos":["old"],"tokens":["a"],"labels":["X"]}"#;
        assert_eq!(
            one(&options, Format::Jsonl, json, &["N+Y"]),
            r#"{"tokens":["a"],"labels":["N+Y"],"pos":["N"]}"#.to_owned() + "\n"
        );
    }
}
