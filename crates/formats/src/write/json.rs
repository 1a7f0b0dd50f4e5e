//! Texts with marks as JSON objects: for displaCy, Prodigy, doccano and Label Studio.

use std::ops::Range;

use serde::ser::{Error, Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::annotated_text::{AnnotatedText, Mark};
use dropchain::kernel::corpus::JsonObject;
use dropchain::sentence::OffsetUnit;

/// Keys of an input object that are not copied to the output.
const REPLACED_KEYS: [&str; 10] = [
    "text",
    "tokens",
    "labels",
    "label",
    "spans",
    "offsets",
    "offset",
    "probability",
    "marginals",
    "nbest",
];

/// An object: the other members of the input object, verbatim, and these.
struct Record<'a> {
    input: Option<&'a str>,
    members: Vec<(&'static str, Value)>,
}

impl Serialize for Record<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let input: Option<JsonObject<'_>> =
            self.input.map(serde_json::from_str).transpose().map_err(Error::custom)?;
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in input.iter().flat_map(|object| &object.members) {
            if !REPLACED_KEYS.contains(&key.as_str()) {
                map.serialize_entry(key, value)?;
            }
        }
        for (key, value) in &self.members {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// The input of displaCy's `manual=True`.
pub(super) fn displacy(text: &AnnotatedText) -> impl Serialize + '_ {
    let entity = |mark: &Mark, Range { start, end }| {
        let entity = json!({"start": start, "end": end, "label": mark.label});
        with("probability", entity, mark.probability)
    };
    let object = text.record.as_deref().and_then(|record| serde_json::from_str(record).ok());
    let title = object.and_then(|object: JsonObject<'_>| object.get("title").map(RawValue::get));
    let title: Option<String> = title.and_then(|title| serde_json::from_str(title).ok());
    let members = vec![
        ("text", json!(text.text)),
        ("ents", marks(text, OffsetUnit::Chars, entity)),
        ("title", json!(title)),
    ];
    Record { input: None, members }
}

/// An object as Prodigy reads and writes them.
pub(super) fn spans(text: &AnnotatedText, unit: OffsetUnit) -> impl Serialize + '_ {
    let tokens = text.tokens.iter().enumerate().map(|(id, token)| {
        let Range { start, end } = token.in_unit(unit);
        let mut object = json!({
            "text": text.text[token.bytes.clone()],
            "start": start,
            "end": end,
            "id": id,
            "ws": text.text[token.bytes.end..].starts_with(char::is_whitespace),
        });
        if text.places.binary_search_by_key(&id, |(first, _)| *first).is_ok() {
            object["sent_start"] = json!(true);
        }
        object
    });
    let span = |mark: &Mark, Range { start, end }| {
        let span = json!({
            "start": start,
            "end": end,
            "label": mark.label,
            "token_start": mark.tokens.start,
            "token_end": mark.tokens.end - 1, // the last one, as Prodigy counts
        });
        with("probability", span, mark.probability)
    };
    let members = vec![
        ("text", json!(text.text)),
        ("tokens", tokens.collect()),
        ("spans", marks(text, unit, span)),
    ];
    Record { input: text.record.as_deref(), members }
}

/// An object as doccano reads and writes them.
pub(super) fn doccano(text: &AnnotatedText, unit: OffsetUnit) -> impl Serialize + '_ {
    let label = |mark: &Mark, Range { start, end }| json!([start, end, mark.label]);
    let members = vec![("text", json!(text.text)), ("label", marks(text, unit, label))];
    Record { input: text.record.as_deref(), members }
}

/// A task of Label Studio with one prediction.
#[derive(serde::Serialize)]
struct Task<'a> {
    data: Record<'a>,
    predictions: [Value; 1],
}

/// The task of a text; `number` counts the texts from 1, since ids must differ in all tasks.
///
/// Names are those of Label Studio's own template for named entities: the control tag `label` for
/// the object tag `text`, whose value is `$text`. Offsets count code points, as Label Studio does.
pub(super) fn task<'a>(
    text: &'a AnnotatedText,
    model: &str,
    number: u64,
) -> impl Serialize + use<'a> {
    let mut id = 0;
    let region = |mark: &Mark, Range { start, end }| {
        id += 1;
        let region = json!({
            "id": format!("{number}-{id}"),
            "from_name": "label",
            "to_name": "text",
            "type": "labels",
            "value": {
                "start": start,
                "end": end,
                "text": text.covered(mark),
                "labels": [mark.label],
            },
        });
        with("score", region, mark.probability)
    };
    let mut prediction = with("score", json!({"model_version": model}), text.probability);
    prediction["result"] = marks(text, OffsetUnit::Chars, region);
    let members = vec![("text", json!(text.text))];
    let data = Record { input: text.record.as_deref(), members };
    Task { data, predictions: [prediction] }
}

/// An array with what `item` makes of each mark and its position.
fn marks(
    text: &AnnotatedText,
    unit: OffsetUnit,
    mut item: impl FnMut(&Mark, Range<usize>) -> Value,
) -> Value {
    let marks = text.marks.iter().map(|mark| {
        let Range { start, end } = mark.tokens;
        let (first, last) = (&text.tokens[start], &text.tokens[end - 1]);
        item(mark, first.in_unit(unit).start..last.in_unit(unit).end)
    });
    marks.collect()
}

/// Adds a probability, if it is known, under the name that readers of the format know.
fn with(name: &str, mut object: Value, probability: Option<f64>) -> Value {
    if let Some(probability) = probability {
        object[name] = json!(probability);
    }
    object
}
