//! Texts with spans as JSON: the objects of Prodigy, doccano and Label Studio.

use dropchain::corpus::{InputLine, JsonObject, ReadOptions, Repair, parse_object, type_name};
use dropchain::{Error, Place, Result};
use serde_json::value::RawValue;

use super::marked_text::{MarkedSpan, MarkedText, MarkedToken};
use super::misaligned::SpanOptions;

/// Keys of spans: Prodigy's and ours; doccano's, old and new; its and spaCy's.
const SPAN_KEYS: [&str; 4] = ["spans", "label", "labels", "entities"];

/// Keys that the output does not copy, beside those of the spans.
const READ_KEYS: [&str; 6] =
    ["text", "tokens", "data", "annotations", "completions", "predictions"];

/// Texts that were left out.
pub(super) const REJECTED: Repair = Repair {
    one: "text is not annotated, or was rejected or skipped",
    many: "texts are not annotated, or were rejected or skipped",
    fate: "left out",
};

/// Spans with several labels.
pub(super) const SEVERAL_LABELS: Repair =
    Repair { one: "span has several labels", many: "spans have several labels", fate: "left out" };

/// Texts with several annotations.
const ALTERNATIVES: Repair = Repair {
    one: "text has several annotations",
    many: "texts have several annotations",
    fate: "the first of each is read",
};

/// The text of an object, or `None` if it is to be left out: it was rejected or skipped, or has not
/// been annotated yet.
pub(super) fn marked_text(
    line: &InputLine,
    options: &ReadOptions,
    span_options: &SpanOptions,
) -> Result<Option<MarkedText>> {
    let object = parse_object(line)?;
    let source = Source { line, options, span_options };
    if !options.unlabeled && source.is_rejected(&object)? {
        options.report.add(&REJECTED, 1);
        return Ok(None);
    }
    let text = source.text(&object)?;
    let spans = match options.unlabeled {
        true => Some(Vec::new()),
        false => source.spans(&object)?,
    };
    let Some(spans) = spans else {
        options.report.add(&REJECTED, 1);
        return Ok(None);
    };
    let mut left_out = [&READ_KEYS[..], &SPAN_KEYS[..]].concat();
    left_out.extend(span_options.text_key.as_deref());
    Ok(Some(MarkedText {
        text: text.into(),
        line: line.number,
        is_file: false,
        spans,
        tokens: source.tokens(&object)?,
        record: Some(object.without(&left_out, None)),
    }))
}

/// Reads an object on a line.
struct Source<'a> {
    line: &'a InputLine<'a>,
    options: &'a ReadOptions,
    span_options: &'a SpanOptions,
}

impl Source<'_> {
    /// Whether the annotator rejected or skipped the text (Prodigy).
    fn is_rejected(&self, object: &JsonObject) -> Result<bool> {
        let Some(answer) = object.get("answer") else {
            return Ok(false);
        };
        match serde_json::from_str::<String>(answer.get()).as_deref() {
            Ok("accept") => Ok(false),
            Ok("reject" | "ignore") => Ok(true),
            _ => Err(self.line.error(format!(
                "key \"answer\": expected \"accept\", \"reject\" or \"ignore\", found {answer}"
            ))),
        }
    }

    /// The text: the value of the key that was chosen, or of `text`, also that of the key `data`
    /// (Label Studio), or the only string there.
    fn text(&self, object: &JsonObject) -> Result<String> {
        let data = object.get("data").filter(|value| value.get().starts_with('{'));
        let data = data.map(|value| self.object(value, "data")).transpose()?;
        let data = data.as_ref();
        let chosen = self.span_options.text_key.as_deref();
        let key = chosen.unwrap_or("text");
        let only = || {
            let mut strings = data?.members.iter().filter(|(_, value)| is_string(value));
            let only = strings.next().filter(|_| strings.next().is_none());
            only.filter(|_| chosen.is_none()).map(|(_, value)| *value)
        };
        let value = object.get(key).or_else(|| data?.get(key)).or_else(only);
        let Some(value) = value else {
            return Err(self.no_text(key, data.unwrap_or(object)));
        };
        serde_json::from_str(value.get()).map_err(|_| {
            let found = type_name(value);
            let message = format!("key \"{key}\": expected a string, found {found}");
            self.line.error(message)
        })
    }

    /// The error of an object without a text, which names the keys that could have it.
    fn no_text(&self, key: &str, object: &JsonObject) -> Error {
        let strings = object.members.iter().filter(|(_, value)| is_string(value));
        let keys: Vec<String> = strings.map(|(key, _)| format!("{key:?}")).collect();
        let found = match keys.is_empty() {
            true => "found no key with a string".to_owned(),
            false => format!("found strings under {} (`text_key` KEY)", keys.join(", ")),
        };
        self.line.error(format!(
            "expected the key {key:?} with the text (of Label Studio: in \"data\"), {found}"
        ))
    }

    /// The spans; `None` if the text has not been annotated.
    fn spans(&self, object: &JsonObject) -> Result<Option<Vec<MarkedSpan>>> {
        let chosen = self.options.label.as_deref();
        let keys = chosen.map_or_else(|| SPAN_KEYS.to_vec(), |key| vec![key]);
        let present = |key: &&&str| object.get(key).is_some_and(|value| value.get() != "null");
        if let Some(key) = keys.iter().find(present) {
            let items = self.items(object.get(key), key)?;
            return self.spans_of(&items, key).map(Some);
        }
        for key in ["annotations", "completions"] {
            if object.get(key).is_some() {
                return self.annotated(&self.items(object.get(key), key)?);
            }
        }
        Err(self.line.error(format!(
            "found no spans; expected an array of them under {}",
            match chosen {
                Some(key) => format!("\"{key}\""),
                None =>
                    "\"spans\", \"label\", \"labels\", \"entities\" or \"annotations\"".to_owned(),
            }
        )))
    }

    /// The spans of the first annotation that was not canceled (Label Studio).
    fn annotated(&self, annotations: &[&RawValue]) -> Result<Option<Vec<MarkedSpan>>> {
        let mut results = Vec::new();
        for annotation in annotations {
            let annotation = self.object(annotation, "annotations")?;
            let is_canceled = annotation.get("was_cancelled").is_some_and(|v| v.get() == "true");
            if !is_canceled {
                results.push(self.items(annotation.get("result"), "result")?);
            }
        }
        if results.len() > 1 {
            self.options.report.add(&ALTERNATIVES, 1);
        }
        match results.first() {
            None => Ok(None),
            Some(items) => self.spans_of(items, "result").map(Some),
        }
    }

    /// The spans of an array of them.
    fn spans_of(&self, items: &[&RawValue], key: &str) -> Result<Vec<MarkedSpan>> {
        let mut spans = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            let name = format!("{key}\", item {}", i + 1);
            spans.extend(self.span(item, &name)?);
        }
        Ok(spans)
    }

    /// A span: an object or `[start, end, label]`. `None` for other results of Label Studio, such
    /// as relations.
    fn span(&self, item: &RawValue, name: &str) -> Result<Option<MarkedSpan>> {
        if item.get().starts_with('[') {
            return match serde_json::from_str::<(&RawValue, &RawValue, String)>(item.get()) {
                Ok((start, end, label)) => {
                    let [start, end] = [self.offset(start, name)?, self.offset(end, name)?];
                    Ok(Some(self.marked(start, end, label, None)))
                }
                Err(_) => Err(self.fault(name, "expected [start, end, label]")),
            };
        }
        let object = self.object(item, name)?;
        let nested = object.get("value");
        let is_relation = object.get("from_id").is_some();
        let value = match nested {
            Some(value) => self.object(value, name)?,
            None => object,
        };
        let first = |keys: [&str; 2]| keys.iter().find_map(|key| value.get(key));
        let (start, end) = (first(["start", "start_offset"]), first(["end", "end_offset"]));
        if value.get("hypertextlabels").is_some() {
            return Err(self.fault(
                name,
                "found a region of HTML (hypertextlabels); expected spans of text, which alone \
                 are read",
            ));
        }
        let (Some(start), Some(end)) = (start, end) else {
            let is_other = nested.is_some() || is_relation;
            return match is_other && start.is_none() && end.is_none() {
                true => Ok(None),
                false => Err(self.fault(name, "expected \"start\", \"end\" and \"label\"")),
            };
        };
        let labels = match (value.get("label"), value.get("labels")) {
            (Some(label), _) => serde_json::from_str(label.get()).map(|label| vec![label]),
            (None, Some(labels)) => serde_json::from_str(labels.get()),
            (None, None) => Ok(Vec::new()),
        };
        let mut labels: Vec<String> = labels.unwrap_or_default();
        if labels.len() > 1 {
            self.options.report.add(&SEVERAL_LABELS, 1);
            return Ok(None);
        }
        let Some(label) = labels.pop() else {
            return Err(self.fault(name, "found no label; expected \"label\" with a string"));
        };
        let text = value.get("text").and_then(|text| serde_json::from_str(text.get()).ok());
        let [start, end] = [self.offset(start, name)?, self.offset(end, name)?];
        Ok(Some(self.marked(start, end, label, text)))
    }

    fn marked(&self, start: u64, end: u64, label: String, text: Option<String>) -> MarkedSpan {
        MarkedSpan {
            start,
            end,
            label,
            text,
            gaps: Vec::new(),
            place: Place::line(&**self.line.file, self.line.number),
        }
    }

    /// The tokens, if there are any (Prodigy).
    fn tokens(&self, object: &JsonObject) -> Result<Option<Vec<MarkedToken>>> {
        let Some(value) = object.get("tokens").filter(|value| value.get() != "null") else {
            return Ok(None);
        };
        let mut tokens = Vec::new();
        for (i, item) in self.items(Some(value), "tokens")?.into_iter().enumerate() {
            let name = format!("tokens\", item {}", i + 1);
            let token = self.object(item, &name)?;
            let (Some(start), Some(end)) = (token.get("start"), token.get("end")) else {
                return Err(self.fault(&name, "expected \"start\" and \"end\""));
            };
            let starts_sentence = match token.get("sent_start").map(RawValue::get) {
                None | Some("null") => None,
                Some("true") => Some(true),
                Some("false") => Some(false),
                Some(_) => return Err(self.fault(&name, "expected true or false for sent_start")),
            };
            tokens.push(MarkedToken {
                start: self.offset(start, &name)?,
                end: self.offset(end, &name)?,
                starts_sentence,
            });
        }
        Ok(Some(tokens))
    }

    /// An offset: a whole number from 0.
    fn offset(&self, value: &RawValue, name: &str) -> Result<u64> {
        serde_json::from_str(value.get()).map_err(|_| {
            let message = format!("expected an offset, a whole number from 0, found {value}");
            self.fault(name, &message)
        })
    }

    /// The items of an array.
    fn items<'b>(&self, value: Option<&'b RawValue>, key: &str) -> Result<Vec<&'b RawValue>> {
        let found = value.map_or("null", RawValue::get);
        serde_json::from_str(found).map_err(|_| {
            let found = value.map_or("nothing", type_name);
            self.fault(key, &format!("expected an array, found {found}"))
        })
    }

    /// An object inside the object.
    fn object<'b>(&self, value: &'b RawValue, name: &str) -> Result<JsonObject<'b>> {
        let object: JsonObject<'b> = serde_json::from_str(value.get()).map_err(|_| {
            self.fault(name, &format!("expected an object, found {}", type_name(value)))
        })?;
        match object.repeated_key() {
            Some(key) => Err(self.fault(name, &format!("the key {key:?} occurs twice"))),
            None => Ok(object),
        }
    }

    /// An error in a member of the object: its key, perhaps followed by `", item 3`.
    fn fault(&self, name: &str, message: &str) -> Error {
        let name = match name.contains('"') {
            true => name.to_owned(),
            false => format!("{name}\""),
        };
        self.line.error(format!("key \"{name}: {message}"))
    }
}

/// Whether a value is a string.
fn is_string(value: &RawValue) -> bool {
    value.get().starts_with('"')
}
