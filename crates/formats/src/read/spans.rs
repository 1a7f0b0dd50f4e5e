//! Texts with spans of characters as JSON: the objects of Prodigy, doccano and Label Studio.

use std::collections::VecDeque;

use dropchain::corpus::{InputLine, LineReader, ReadFormat, ReadOptions, Repair, SentenceParser};
use dropchain::kernel::corpus::{JsonObject, LabelsSeen, json_fault, parse_object, type_name};
use dropchain::{Error, Place, Result, Sentence};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::marked_text::{MarkedSpan, MarkedText, MarkedToken};
use super::{alignment::Aligner, json_objects::JsonObjects, span_options::SpanOptions};

/// An object with what is needed.
const EXAMPLE: &str = r#"{"text": "Ann left", "spans": [{"start": 0, "end": 3, "label": "PER"}]}"#;

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

/// Texts without the key of the spans.
const NO_SPANS: Repair = Repair {
    one: "text has no key of spans",
    many: "texts have no key of spans",
    fate: "read as texts without spans, as others have it",
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

/// JSON with texts and spans of characters, as Prodigy, doccano and Label Studio write it. The
/// label of the options is the key of the spans.
#[derive(Clone, Debug)]
pub struct Spans(pub SpanOptions);

impl ReadFormat for Spans {
    fn parser(&self, options: &ReadOptions) -> Result<Box<dyn SentenceParser>> {
        Ok(Box::new(SpansParser {
            objects: JsonObjects::new(options.limits.memory.bytes(0), EXAMPLE),
            aligner: Aligner::new(options.clone(), self.0.clone(), "label")?,
            seen: LabelsSeen::default(),
        }))
    }
}

/// Parses JSON with spans of characters.
struct SpansParser {
    objects: JsonObjects,
    aligner: Aligner,
    seen: LabelsSeen,
}

impl SentenceParser for SpansParser {
    fn advance(&mut self, lines: &mut LineReader, ready: &mut VecDeque<Sentence>) -> Result<bool> {
        let Some((text, number)) = self.objects.next(lines)? else {
            self.aligner.faults.finish()?;
            return self.seen.finish().map(|()| false);
        };
        lines.begin_sentence();
        let file = lines.file().clone();
        let line = InputLine::new(&text, &file, number);
        if let Some(marked) = marked_text(&line, &self.aligner.options, &mut self.seen)? {
            ready.extend(self.aligner.sentences(&marked, &file)?);
        }
        Ok(true)
    }

    fn recover(&mut self, lines: &mut LineReader) -> Result<()> {
        lines.skip_line()
    }
}

/// An object of the array of spans.
#[derive(Deserialize)]
#[serde(expecting = "an object with \"start\", \"end\" and \"label\"")]
struct SpanObject<'a> {
    #[serde(borrow, alias = "start_offset")]
    start: Option<&'a RawValue>,
    #[serde(borrow, alias = "end_offset")]
    end: Option<&'a RawValue>,
    label: Option<Value>,
    labels: Option<Vec<String>>,
    text: Option<Value>,
    /// Label Studio: the span itself, or another result such as a choice.
    #[serde(borrow)]
    value: Option<Box<SpanObject<'a>>>,
    /// Label Studio: the beginning of a relation.
    from_id: Option<IgnoredAny>,
    hypertextlabels: Option<IgnoredAny>,
}

/// An annotation of Label Studio.
#[derive(Deserialize)]
#[serde(expecting = "an annotation with \"result\"")]
struct Annotation<'a> {
    was_cancelled: Option<bool>,
    #[serde(borrow)]
    result: Vec<&'a RawValue>,
}

/// A token of Prodigy.
#[derive(Deserialize)]
#[serde(expecting = "an object with \"start\" and \"end\"")]
struct TokenObject {
    start: u64,
    end: u64,
    sent_start: Option<bool>,
}

/// The text of an object, or `None` if it is to be left out: it was rejected or skipped, or has not
/// been annotated yet.
fn marked_text(
    line: &InputLine,
    options: &ReadOptions,
    seen: &mut LabelsSeen,
) -> Result<Option<MarkedText>> {
    let object = parse_object(line)?;
    let source = Source { line, options };
    let answer = if options.unlabeled { None } else { source.answer(&object)? };
    if answer == Some(false) {
        options.report.add(&REJECTED, 1);
        return Ok(None);
    }
    let text = source.text(&object)?;
    let spans = match options.unlabeled {
        true => Some(Vec::new()),
        false => source.spans(&object, answer.is_some(), seen)?,
    };
    let Some(spans) = spans else {
        options.report.add(&REJECTED, 1);
        return Ok(None);
    };
    let mut left_out = [&READ_KEYS[..], &SPAN_KEYS[..]].concat();
    left_out.extend(source.text_key());
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
}

impl Source<'_> {
    /// Whether the annotator accepted the text, or rejected or skipped it (Prodigy).
    fn answer(&self, object: &JsonObject) -> Result<Option<bool>> {
        let Some(answer) = object.get("answer") else { return Ok(None) };
        match serde_json::from_str::<String>(answer.get()).as_deref() {
            Ok("accept") => Ok(Some(true)),
            Ok("reject" | "ignore") => Ok(Some(false)),
            _ => Err(self.line.error(format!(
                "key \"answer\": expected \"accept\", \"reject\" or \"ignore\", found {answer}"
            ))),
        }
    }

    /// The key of the text that was chosen: the first of `columns`.
    fn text_key(&self) -> Option<&str> {
        self.options.columns.as_ref()?.first().map(String::as_str)
    }

    /// The text: the value of the key that was chosen, or of `text`, also that of the key `data`
    /// (Label Studio), or the only string there.
    fn text(&self, object: &JsonObject) -> Result<String> {
        let data = object.get("data").filter(|value| value.get().starts_with('{'));
        let data: Option<JsonObject<'_>> =
            data.map(|value| self.parse(value, "key \"data\"")).transpose()?;
        let data = data.as_ref();
        let chosen = self.text_key();
        let key = chosen.unwrap_or("text");
        let only = || {
            let mut strings = data?.members.iter().filter(|(_, value)| is_string(value));
            let only = strings.next().filter(|_| strings.next().is_none());
            only.filter(|_| chosen.is_none()).map(|(_, value)| *value)
        };
        let value = object.get(key).or_else(|| data?.get(key)).or_else(only);
        let Some(value) = value else { return Err(self.no_text(key, data.unwrap_or(object))) };
        serde_json::from_str(value.get()).map_err(|_| {
            let found = type_name(value);
            self.line.error(format!("key \"{key}\": expected a string, found {found}"))
        })
    }

    /// The error of an object without a text, which names the keys that could have it.
    fn no_text(&self, key: &str, object: &JsonObject) -> Error {
        let strings = object.members.iter().filter(|(_, value)| is_string(value));
        let keys: Vec<String> = strings.map(|(key, _)| format!("{key:?}")).collect();
        let found = match keys.is_empty() {
            true => "found no key with a string".to_owned(),
            false => format!("found strings under {} (`columns` KEY)", keys.join(", ")),
        };
        self.line.error(format!(
            "expected the key {key:?} with the text (of Label Studio: in \"data\"), {found}"
        ))
    }

    /// The spans; `None` if the text has not been annotated. None are in a text that was accepted
    /// without them, or whose value is null.
    fn spans(
        &self,
        object: &JsonObject,
        is_accepted: bool,
        seen: &mut LabelsSeen,
    ) -> Result<Option<Vec<MarkedSpan>>> {
        let chosen = self.options.label.as_deref();
        let keys = chosen.map_or_else(|| SPAN_KEYS.to_vec(), |key| vec![key]);
        let is_null = |value: &&RawValue| value.get() == "null";
        let value = |key| object.get(key).filter(|value| !is_null(value)).map(|v| (key, v));
        seen.any |= keys.iter().any(|key| object.get(key).is_some());
        if let Some((key, value)) = keys.iter().copied().find_map(value) {
            let items: Vec<&RawValue> = self.parse(value, &format!("key \"{key}\""))?;
            return self.spans_of(&items, key).map(Some);
        }
        if let Some((key, value)) = ["annotations", "completions"].into_iter().find_map(value) {
            seen.any = true;
            let items: Vec<&RawValue> = self.parse(value, &format!("key \"{key}\""))?;
            return self.annotated(&items, key, object);
        }
        if !is_accepted && !keys.iter().any(|key| object.get(key).is_some()) {
            self.options.report.add_at(&NO_SPANS, self.line.file, self.line.number);
            seen.without.get_or_insert_with(|| {
                let all = "\"spans\", \"label\", \"labels\", \"entities\" or \"annotations\"";
                let keys = chosen.map_or_else(|| all.to_owned(), |key| format!("\"{key}\""));
                self.line.error(format!("found no spans; expected an array of them under {keys}"))
            });
        }
        Ok(Some(Vec::new()))
    }

    /// The spans of the first annotation that was not canceled (Label Studio), or of the text
    /// itself (doccano).
    fn annotated<'b>(
        &self,
        items: &[&'b RawValue],
        key: &str,
        object: &JsonObject,
    ) -> Result<Option<Vec<MarkedSpan>>> {
        let has_result = |item: &&RawValue| {
            serde_json::from_str::<JsonObject<'_>>(item.get())
                .map_or(true, |item| item.get("result").is_some() || item.members.is_empty())
        };
        if object.get("data").is_none() && !items.iter().any(has_result) {
            return self.spans_of(items, key).map(Some);
        }
        let annotation = |(i, item): (usize, &&'b RawValue)| {
            self.parse(item, &format!("key \"{key}\", item {}", i + 1))
        };
        let annotations = items.iter().enumerate().map(annotation);
        let mut annotations: Vec<Annotation<'_>> = annotations.collect::<Result<_>>()?;
        annotations.retain(|annotation| annotation.was_cancelled != Some(true));
        if annotations.len() > 1 {
            self.options.report.add(&ALTERNATIVES, 1);
        }
        let first = annotations.first();
        first.map(|annotation| self.spans_of(&annotation.result, "result")).transpose()
    }

    /// The spans of an array of them.
    fn spans_of(&self, items: &[&RawValue], key: &str) -> Result<Vec<MarkedSpan>> {
        let span = |(i, item): (usize, &&RawValue)| {
            self.span(item, &format!("key \"{key}\", item {}", i + 1)).transpose()
        };
        items.iter().enumerate().filter_map(span).collect()
    }

    /// A span: an object or `[start, end, label]`. `None` for other results of Label Studio, such
    /// as relations.
    fn span(&self, item: &RawValue, name: &str) -> Result<Option<MarkedSpan>> {
        let fault = |message: &str| Err(self.fault(name, message));
        let place = Place::line(&**self.line.file, self.line.number);
        if item.get().starts_with('[') {
            return match serde_json::from_str::<(&RawValue, &RawValue, String)>(item.get()) {
                Ok((start, end, label)) => {
                    let range = (self.offset(start, name)?, self.offset(end, name)?);
                    Ok(Some(MarkedSpan::new(range, label, place)))
                }
                Err(_) => fault("expected [start, end, label]"),
            };
        }
        let mut span: SpanObject<'_> = self.parse(item, name)?;
        let is_other = span.value.is_some() || span.from_id.is_some();
        if let Some(value) = span.value.take() {
            span = *value;
        }
        if span.hypertextlabels.is_some() {
            return fault(
                "found a region of HTML (hypertextlabels); expected spans of text, which alone are \
                 read",
            );
        }
        let range = match (span.start, span.end) {
            (Some(start), Some(end)) => (self.offset(start, name)?, self.offset(end, name)?),
            (None, None) if is_other => return Ok(None),
            _ => return fault("expected \"start\", \"end\" and \"label\""),
        };
        let mut labels = match span.label {
            None => span.labels.unwrap_or_default(),
            Some(Value::String(label)) => vec![label],
            Some(Value::Number(number)) => {
                return fault(&format!(
                    "the label is the number {number}, whose name is elsewhere; expected the name \
                     (of doccano: export JSONL with text labels)"
                ));
            }
            Some(_) => return fault("expected \"label\" with a string"),
        };
        if labels.len() > 1 {
            self.options.report.add(&SEVERAL_LABELS, 1);
            return Ok(None);
        }
        let text = span.text.as_ref().and_then(Value::as_str).map(str::to_owned);
        match labels.pop() {
            Some(label) => Ok(Some(MarkedSpan { text, ..MarkedSpan::new(range, label, place) })),
            None => fault("found no label; expected \"label\" with a string"),
        }
    }

    /// The tokens, if there are any (Prodigy).
    fn tokens(&self, object: &JsonObject) -> Result<Option<Vec<MarkedToken>>> {
        let Some(value) = object.get("tokens").filter(|value| value.get() != "null") else {
            return Ok(None);
        };
        let items: Vec<&RawValue> = self.parse(value, "key \"tokens\"")?;
        let token = |(i, item): (usize, &&RawValue)| {
            let TokenObject { start, end, sent_start: starts_sentence } =
                self.parse(item, &format!("key \"tokens\", item {}", i + 1))?;
            Ok(MarkedToken { start, end, line: self.line.number, starts_sentence })
        };
        items.iter().enumerate().map(token).collect::<Result<_>>().map(Some)
    }

    /// An offset: a whole number from 0.
    fn offset(&self, value: &RawValue, name: &str) -> Result<u64> {
        serde_json::from_str(value.get()).map_err(|_| {
            let message = format!("expected an offset, a whole number from 0, found {value}");
            self.fault(name, &message)
        })
    }

    /// Parses a value inside the object.
    fn parse<'b, T: Deserialize<'b>>(&self, value: &'b RawValue, name: &str) -> Result<T> {
        serde_json::from_str(value.get()).map_err(|error| self.fault(name, &json_fault(&error)))
    }

    /// An error in a member of the object, such as `key "spans", item 3`.
    fn fault(&self, name: &str, message: &str) -> Error {
        self.line.error(format!("{name}: {message}"))
    }
}

/// Whether a value is a string.
fn is_string(value: &RawValue) -> bool {
    value.get().starts_with('"')
}
