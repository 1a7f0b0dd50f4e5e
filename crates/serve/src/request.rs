//! Requests: options, body, and the reason of a refusal.

use std::cell::LazyCell;
use std::io::Cursor;
use std::sync::Arc;

use axum::body::Bytes;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use dropchain::corpus::{Format, ReadLimits, ReadOptions, Reader};
use dropchain::kernel::corpus::{JsonObject, json_fault};
use dropchain::kernel::memory::input_over_limit;
use dropchain::label::{Labeling, Scheme};
use dropchain::model::{ColumnFit, Header};
use dropchain::sentence::{OffsetUnit, Schema, Separation};
use dropchain::tag::{TagOptions, Threshold};
use dropchain::{Error, MemoryLimit, Place, Result, Sentence};
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;

use crate::ServeOptions;

/// The type of JSON.
pub const JSON: &str = "application/json";

/// Why a request has no other answer.
#[derive(Clone, Debug)]
pub struct ApiError {
    pub status: StatusCode,
    pub message: String,
}

impl ApiError {
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, message }
    }

    /// The request itself is malformed.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// The request is valid JSON, but cannot be tagged.
    pub fn unprocessable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// There is too much to do.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, message)
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        match error {
            Error::Input { .. } | Error::Parameter(_) => Self::unprocessable(error.to_string()),
            Error::Interrupted => Self::unavailable("nobody waits for the answer"),
            error => Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let object = json!({"status": self.status.as_u16(), "error": self.message});
        let body = json_response(format!("{object}\n"));
        let is_busy = self.status == StatusCode::SERVICE_UNAVAILABLE;
        let retry = is_busy.then_some([(RETRY_AFTER, "1")]);
        (self.status, retry, body).into_response()
    }
}

/// Returns a response of JSON.
pub fn json_response(body: impl Into<Bytes>) -> Response {
    ([(CONTENT_TYPE, JSON)], body.into()).into_response()
}

/// Options for tagging the sentences of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Task {
    /// Tag them.
    #[default]
    Tag,
    /// Tag them, and explain their labels.
    Explain,
}

impl Task {
    /// Path of the route.
    pub fn path(self) -> &'static str {
        match self {
            Self::Tag => "/tag",
            Self::Explain => "/explain",
        }
    }

    /// The names of its options.
    pub fn options(self) -> &'static [&'static str] {
        match self {
            Self::Tag => &[
                "model",
                "constrain",
                "forced",
                "marginals",
                "threshold",
                "nbest",
                "scheme",
                "offsets",
            ],
            Self::Explain => &["model", "constrain", "forced", "html"],
        }
    }
}

/// Maximum number of best label sequences. `tag` has no such limit.
const MAX_NBEST: usize = 1000;

/// Maximum number of keys of known labels and spans.
const MAX_FORCED: usize = 16;

/// Memory of sentences in bytes up to which the available memory is not looked at.
const SMALL: u64 = 16 << 20;

/// Model and form of the answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestOptions {
    /// What is done with the sentences.
    pub task: Task,
    /// The name of the model; `None` is the first.
    pub model: Option<String>,
    /// Requested outputs.
    pub tag: TagOptions,
    /// Which spans are in the answer, if these are to have their probabilities.
    pub threshold: Option<Threshold>,
    /// The scheme of the labels; `None` is that of the training corpus, `Raw` that of the model.
    pub scheme: Option<Scheme>,
    /// The keys of known labels and spans.
    pub forced: Vec<String>,
    /// Unit of positions in texts.
    pub offsets: OffsetUnit,
    /// Whether explanations have HTML, too.
    pub html: bool,
}

impl RequestOptions {
    /// Parses a query string of a task.
    pub fn parse(task: Task, query: &str) -> Result<Self, ApiError> {
        let mut options = Self { task, ..Self::default() };
        let mut seen = Vec::new();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            if seen.contains(&name) {
                let message = format!("the option {name:?} is given twice");
                return Err(ApiError::bad_request(message));
            }
            if !task.options().contains(&&*name) {
                let (path, names) = (task.path(), task.options().join(", "));
                let message = format!("{path} has no option {name:?}; its options are {names}");
                return Err(ApiError::bad_request(message));
            }
            options.set(&name, &value)?;
            seen.push(name);
        }
        options.tag.probability = options.tag.marginals || options.tag.nbest > 1;
        if options.threshold.is_some() && options.tag.nbest > 1 {
            return Err(ApiError::bad_request(
                "\"threshold\" and \"nbest\": the labels of a candidate are a whole; expected one \
                 of these options",
            ));
        }
        if options.tag.marginals {
            options.threshold.get_or_insert_default();
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), ApiError> {
        let expected = |what: &str| {
            ApiError::bad_request(format!("option {name:?}: expected {what}, found {value:?}"))
        };
        let switch = || match value {
            "true" | "on" | "1" | "" => Ok(true),
            "false" | "off" | "0" => Ok(false),
            _ => Err(expected("true or false")),
        };
        match name {
            "model" => self.model = Some(value.to_owned()),
            "marginals" => self.tag.marginals = switch()?,
            "constrain" => self.tag.constrain = switch()?,
            "html" => self.html = switch()?,
            "threshold" => {
                let fault = |error| ApiError::bad_request(format!("option \"threshold\": {error}"));
                self.threshold = Some(value.parse::<Threshold>().map_err(fault)?);
            }
            "nbest" => {
                let number = value.parse().ok().filter(|n| (1..=MAX_NBEST).contains(n));
                let range = || expected(&format!("a number from 1 to {MAX_NBEST}"));
                self.tag.nbest = number.ok_or_else(range)?;
            }
            "scheme" => {
                let schemes = |_| expected("raw, io, iob1, iob2, bioes or plain");
                self.scheme = Some(value.parse().map_err(schemes)?);
            }
            "offsets" => {
                self.offsets = value.parse().map_err(|_| expected("chars, bytes or utf16"))?;
            }
            _ => {
                // Labels of `forced`, bounded: a client can repeat a key at no cost.
                for key in value.split(',').map(str::to_owned) {
                    if self.forced.contains(&key) {
                        let message = format!("option \"forced\": the key {key:?} occurs twice");
                        return Err(ApiError::bad_request(message));
                    }
                    if self.forced.len() == MAX_FORCED {
                        return Err(expected(&format!("at most {MAX_FORCED} keys")));
                    }
                    self.forced.push(key);
                }
            }
        }
        Ok(())
    }

    /// Returns the scheme of the labels of a model in the response.
    pub fn output_scheme(&self, header: &Header) -> Result<Labeling, ApiError> {
        match self.scheme {
            None => Ok(header.corpus_labeling.clone()),
            Some(Scheme::Raw) => Ok(header.labeling.clone()),
            Some(scheme) if header.encodes_spans() => Ok(scheme.into()),
            Some(_) => Err(ApiError::unprocessable(
                "option \"scheme\": the labels of the model encode no spans (B-X, I-X, …)",
            )),
        }
    }
}

/// The response.
const EXPECTED: &str = "expected a JSON object with one of the keys \"text\", \"tokens\", \
     \"rows\" and \"doc\", or with \"texts\" or \"inputs\" for several at once";

/// The key of several texts.
const TEXTS: &str = "texts";

/// The key of several inputs.
const INPUTS: &str = "inputs";

/// Options that are not read from a body.
const OPTIONS: [&str; 4] = ["marginals", "threshold", "nbest", "constrain"];

/// One input of a request.
struct Input<'a> {
    raw: &'a RawValue,
    /// An object as in JSON lines, or with rows of columns; `None`: a string of raw text.
    object: Option<JsonObject<'a>>,
}

/// The inputs of a request.
pub struct TagRequest<'a> {
    inputs: Vec<Input<'a>>,
    /// The key of the inputs, unless the request is a single one.
    list: Option<&'static str>,
}

/// A sentence to tag, and the index of its input.
pub type InputSentence = (usize, Sentence);

impl<'a> TagRequest<'a> {
    /// Parses a body.
    pub fn parse(body: &'a [u8]) -> Result<Self, ApiError> {
        let raw: &RawValue = serde_json::from_slice(body)
            .map_err(|error| ApiError::bad_request(format!("not valid JSON: {error}")))?;
        Self::of_json(raw).map_err(ApiError::unprocessable)
    }

    fn of_json(raw: &'a RawValue) -> Result<Self, String> {
        let object = object(raw, EXPECTED)?;
        let list = [TEXTS, INPUTS].into_iter().find(|key| object.get(key).is_some());
        let Some(key) = list else {
            return Ok(Self { inputs: vec![Input { raw, object: Some(object) }], list });
        };
        if let Some((other, _)) = object.members.iter().find(|(name, _)| name != key) {
            return Err(format!("expected no other key beside {key:?}, found {other:?}"));
        }
        let inputs: Vec<&RawValue> = serde_json::from_str(object.members[0].1.get())
            .map_err(|_| format!("key {key:?}: expected an array"))?;
        let inputs = inputs.into_iter().enumerate().map(|(i, raw)| {
            let object = match key {
                INPUTS => self::object(raw, "expected an object").map(Some),
                _ if raw.get().starts_with('"') => Ok(None),
                _ => Err("expected a string".to_owned()),
            };
            let object = object.map_err(|message| format!("{key}:{}: {message}", i + 1))?;
            Ok(Input { raw, object })
        });
        Ok(Self { inputs: inputs.collect::<Result<_, String>>()?, list })
    }

    /// Returns the number of inputs, if the request is a list of them.
    pub fn list_length(&self) -> Option<usize> {
        self.list.map(|_| self.inputs.len())
    }

    /// Returns the sentences of all inputs, with the indices of their inputs.
    pub fn sentences(&self, header: &Header, limits: &ServeOptions) -> Result<Vec<InputSentence>> {
        self.read(header, limits).map_err(|error| match (error, self.list) {
            (Error::Input { message, .. }, None) => Error::Parameter(message),
            (error, _) => error,
        })
    }

    fn read(&self, header: &Header, limits: &ServeOptions) -> Result<Vec<InputSentence>> {
        let name = self.list.unwrap_or("request");
        let (mut lines, mut sentences) = (String::new(), Vec::new());
        for (i, Input { raw, object }) in self.inputs.iter().enumerate() {
            match object {
                Some(object) if object.get(ROWS).is_some() => {
                    let place = (name, i as u64 + 1);
                    let sentence = rows_sentence(object, header, limits.max_sentence, place)?;
                    sentences.extend(sentence.map(|sentence| (i, sentence)));
                }
                // Line breaks are white space: inside of strings they are escaped.
                Some(_) => lines.push_str(&raw.get().replace(['\n', '\r'], " ")),
                None => lines.extend(["{\"text\":", raw.get(), "}"]),
            }
            lines.push('\n');
        }
        let joined = header.columns.label_name().filter(|_| header.columns.joined().is_some());
        let options = ReadOptions {
            format: Some(Format::Jsonl),
            label: joined.map(str::to_owned),
            unlabeled: true,
            limits: ReadLimits { max_sentence: limits.max_sentence, memory: limits.memory },
            ..ReadOptions::default()
        };
        let reader = Reader::from_read(Box::new(Cursor::new(lines.into_bytes())), name, &options);
        let limit = LazyCell::new(|| limits.memory.bytes(0));
        let unchecked = if limits.memory == MemoryLimit::Available { SMALL } else { 0 };
        let mut held = 0;
        for sentence in reader {
            let sentence = sentence?;
            held += (sentence.memory() + size_of::<InputSentence>()) as u64;
            if held > unchecked && held > *limit {
                let what = "the sentences up to here need";
                let place = sentence.place(0);
                return Err(input_over_limit(place, what, *limit, "less at once"));
            }
            sentences.push((sentence.place(0).line.saturating_sub(1) as usize, sentence));
        }
        sentences.sort_by_key(|(input, _)| *input);
        self.separate(&mut sentences);
        Ok(sentences)
    }

    /// Marks where documents begin: with each input, unless it has the same value under `doc` as
    /// the one before it.
    fn separate(&self, sentences: &mut [InputSentence]) {
        let mut before = None;
        for (input, sentence) in sentences {
            let object = self.inputs[*input].object.as_ref();
            let document = object.and_then(|object| object.get("doc")).map(RawValue::get);
            let document = document.filter(|name| *name != "null" && !name.starts_with('['));
            let goes_on = before.is_some_and(|(other, other_document)| {
                other == *input || (document.is_some() && document == other_document)
            });
            if !goes_on {
                sentence.layout.separation.add(Separation::MARK);
            }
            before = Some((*input, document));
        }
    }
}

/// Parses an object, or says what was `expected`. Options among its keys, where they would have no
/// effect, are errors.
fn object<'a>(raw: &'a RawValue, expected: &str) -> Result<JsonObject<'a>, String> {
    if !raw.get().starts_with('{') {
        let start: String = raw.get().chars().take(20).collect();
        return Err(format!("{expected}; found {start}"));
    }
    let object: JsonObject<'_> =
        serde_json::from_str(raw.get()).map_err(|error| error.to_string())?;
    if let Some(key) = object.repeated_key() {
        return Err(format!("found the key {key:?} twice"));
    }
    for (key, value) in OPTIONS.into_iter().filter_map(|key| Some((key, object.get(key)?.get()))) {
        if value.starts_with(|c: char| c.is_ascii_digit() || "tf".contains(c)) {
            return Err(format!(
                "{key:?} is an option; expected it in the address, as in /tag?{key}={value}"
            ));
        }
    }
    Ok(object)
}

/// The key of rows of columns.
const ROWS: &str = "rows";

/// The key of the names of the columns.
const COLUMNS: &str = "columns";

/// Returns the sentence of an object with `rows`, which is number `place.1` of the inputs
/// `place.0`; `None` if there are no rows.
fn rows_sentence(
    object: &JsonObject<'_>,
    header: &Header,
    max_sentence: usize,
    place: (&str, u64),
) -> Result<Option<Sentence>> {
    let error = |message: String| Error::input(Place::line(place.0, place.1), message);
    let rows = value(object, ROWS, "arrays of strings").map_err(error)?;
    let rows: Vec<Vec<String>> = rows.unwrap_or_default();
    let names = value(object, COLUMNS, "an array of strings").map_err(error)?;
    let Some(first) = rows.first() else { return Ok(None) };
    let schema = schema(names, first.len(), header).map_err(|fault| error(fault.to_string()))?;
    let (width, tokens) = (schema.width(), rows.len());
    if tokens > max_sentence {
        return Err(error(format!(
            "the sentence has {tokens} tokens; expected at most {max_sentence} (--max-sentence)"
        )));
    }
    if let Some(t) = rows.iter().position(|row| row.len() != width) {
        let (names, found) = (schema.list(), rows[t].len());
        return Err(error(format!(
            "row {}: expected {width} columns ({names}), found {found}",
            t + 1
        )));
    }
    let mut sentence = Sentence::new(Arc::new(schema), place.0);
    for row in &rows {
        sentence.push(row, place.1)?;
    }
    sentence.layout.record = Some(object.without(&[ROWS, COLUMNS], None));
    Ok(Some(sentence))
}

/// Parses the value of a key, if there is one.
fn value<T: DeserializeOwned>(
    object: &JsonObject<'_>,
    key: &str,
    expected: &str,
) -> Result<Option<T>, String> {
    let value = object.get(key).map(|value| serde_json::from_str(value.get()));
    let fault = |e| format!("key {key:?}: expected {expected}; {}", json_fault(&e));
    value.transpose().map_err(fault)
}

/// Returns the schema of rows: of the columns with these names, or of the `width` columns of the
/// training data, where the label may be missing, or of the first ones before it.
fn schema(names: Option<Vec<String>>, width: usize, header: &Header) -> Result<Schema> {
    let columns = &header.columns.names;
    let names = match (names, header.columns.fit(None, width, false)) {
        (Some(names), _) if names.is_empty() => {
            let message = format!("key {COLUMNS:?}: expected the names of the columns, found none");
            return Err(Error::parameter(message));
        }
        (Some(names), _) | (None, ColumnFit::Fewer(names)) => names,
        (None, ColumnFit::All | ColumnFit::Unlabeled) if width > 0 => columns[..width].to_vec(),
        (None, _) => {
            let columns = columns.join(" ");
            return Err(Error::parameter(format!(
                "expected rows of the columns of the training data ({columns}), or the key \
                 {COLUMNS:?} with the names of the columns; found {width} columns"
            )));
        }
    };
    let label = header.columns.label_name();
    let label = names.iter().position(|name| Some(name.as_str()) == label);
    Schema::new(names, label)
}

#[cfg(test)]
mod tests {
    use dropchain_numerics::testing::rows;

    use super::*;

    #[test]
    fn options_are_those_of_the_query() {
        let parse = |query| RequestOptions::parse(Task::Tag, query);
        let options = parse("model=a%2Eb&marginals&nbest=3&forced=x%2Cy&offsets=utf16").unwrap();
        assert_eq!(options.model.as_deref(), Some("a.b"));
        assert!(options.tag.marginals && options.tag.probability && options.tag.constrain);
        assert_eq!(options.tag.nbest, 3);
        assert_eq!(options.forced, ["x", "y"]);
        assert_eq!(options.offsets, OffsetUnit::Utf16);
        let options = parse("").unwrap();
        assert_eq!(options.tag, TagOptions::default());
    }

    #[test]
    fn options_that_make_no_sense_are_rejected_by_name() {
        let table = r#"
            nbest=0 → option "nbest": expected a number from 1 to 1000, found "0"
            nbest=1001 → option "nbest": expected a number from 1 to 1000, found "1001"
            marginals=yes → option "marginals": expected true or false, found "yes"
            scheme=x → option "scheme": expected raw, io, iob1, iob2, bioes or plain, found "x"
            offsets=utf8 → option "offsets": expected chars, bytes or utf16, found "utf8"
            threshold=PER=2 → option "threshold": found the threshold 2; expected a probability from
                0 to 1
            threshold=0.5&nbest=2 → "threshold" and "nbest": the labels of a candidate are a whole;
                expected one of these options
            nbest=2&nbest=3 → the option "nbest" is given twice
            forced=a&forced=b → the option "forced" is given twice
            forced=z,y,z → option "forced": the key "z" occurs twice
            forced=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17 → option "forced": expected at most 16
                keys, found "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"
            marginal=true → /tag has no option "marginal"; its options are model, constrain, forced,
                marginals, threshold, nbest, scheme, offsets
        "#;
        for (query, message) in rows(table) {
            let error = RequestOptions::parse(Task::Tag, query).unwrap_err();
            assert_eq!(error.message, message);
        }
        let error = RequestOptions::parse(Task::Explain, "nbest=2").unwrap_err();
        assert_eq!(
            error.message,
            "/explain has no option \"nbest\"; its options are model, constrain, forced, html"
        );
    }
}
