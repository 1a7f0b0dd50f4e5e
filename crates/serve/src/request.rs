//! The body of a request: what to tag.

use std::io::Cursor;

use dropchain::corpus::{Format, JsonObject, ReadOptions, Reader};
use dropchain::sentence::Separation;
use dropchain::tag::Header;
use dropchain::{Error, Result, Sentence};
use serde_json::value::RawValue;

use crate::api_error::ApiError;
use crate::options::ServeOptions;
use crate::rows::{ROWS, rows_sentence};

/// What to send.
const EXPECTED: &str = "expected a JSON object with one of the keys \"text\", \"tokens\", \
     \"rows\" and \"doc\", or with \"texts\" or \"inputs\" for several at once";

/// The key of several texts.
const TEXTS: &str = "texts";

/// The key of several inputs.
const INPUTS: &str = "inputs";

/// The key of the document that an input belongs to.
const DOCUMENT: &str = "doc";

/// One input of a request.
enum Item<'a> {
    /// An object as in JSON lines, or with rows of columns.
    Object(&'a RawValue, JsonObject<'a>),
    /// A string.
    Text(&'a RawValue),
}

/// The inputs of a request.
pub struct TagRequest<'a> {
    items: Vec<Item<'a>>,
    /// The key of the inputs, unless the request is a single one.
    list: Option<&'static str>,
}

/// A sentence to tag, and the index of its input.
pub type InputSentence = (usize, Sentence);

impl<'a> TagRequest<'a> {
    /// Parses a body.
    pub fn parse(body: &'a [u8]) -> Result<Self, ApiError> {
        let whole: &RawValue = serde_json::from_slice(body)
            .map_err(|error| ApiError::bad_request(format!("not valid JSON: {error}")))?;
        let object = object(whole)
            .map_err(|found| ApiError::unprocessable(format!("{EXPECTED}; {found}")))?;
        check_options(&object)?;
        let list = [TEXTS, INPUTS]
            .into_iter()
            .find(|key| object.get(key).is_some());
        let items = match list {
            None => vec![Item::Object(whole, object)],
            Some(key) => {
                if let Some((other, _)) = object.members.iter().find(|(name, _)| name != key) {
                    return Err(ApiError::unprocessable(format!(
                        "expected no other key beside {key:?}, found {other:?}"
                    )));
                }
                items(key, object.members[0].1)?
            }
        };
        Ok(Self { items, list })
    }

    /// Returns the number of inputs, if the request is a list of them.
    pub fn list_length(&self) -> Option<usize> {
        self.list.map(|_| self.items.len())
    }

    /// Returns the sentences of all inputs, with the indices of their inputs.
    pub fn sentences(&self, header: &Header, limits: &ServeOptions) -> Result<Vec<InputSentence>> {
        let sentences = self.read(header, limits);
        sentences.map_err(|error| match (error, self.list) {
            (Error::Input { message, .. }, None) => Error::Parameter(message),
            (error, _) => error,
        })
    }

    fn read(&self, header: &Header, limits: &ServeOptions) -> Result<Vec<InputSentence>> {
        let name = self.list.unwrap_or("request");
        let mut lines = String::new();
        let mut sentences = Vec::new();
        for (i, item) in self.items.iter().enumerate() {
            match item {
                Item::Object(_, object) if object.get(ROWS).is_some() => {
                    let sentence =
                        rows_sentence(object, header, limits.max_sentence, (name, i as u64 + 1))?;
                    sentences.extend(sentence.map(|sentence| (i, sentence)));
                }
                // Line breaks are white space: inside of strings they are escaped.
                Item::Object(raw, _) => lines.push_str(&raw.get().replace(['\n', '\r'], " ")),
                Item::Text(raw) => {
                    lines.push_str("{\"text\":");
                    lines.push_str(raw.get());
                    lines.push('}');
                }
            }
            lines.push('\n');
        }
        let joined = header.label_name().filter(|_| header.joined.is_some());
        let options = ReadOptions {
            format: Some(Format::Jsonl),
            label: joined.map(str::to_owned),
            unlabeled: true,
            max_sentence: limits.max_sentence,
            memory: limits.memory,
            ..ReadOptions::default()
        };
        let reader = Reader::from_read(Box::new(Cursor::new(lines.into_bytes())), name, &options);
        for sentence in reader {
            let sentence = sentence?;
            sentences.push((sentence.place(0).line.saturating_sub(1) as usize, sentence));
        }
        sentences.sort_by_key(|(item, _)| *item);
        self.separate(&mut sentences);
        Ok(sentences)
    }

    /// Marks where documents begin: with each input, unless it has the same value under `doc` as
    /// the one before it.
    fn separate(&self, sentences: &mut [InputSentence]) {
        let document = |i: usize| match &self.items[i] {
            Item::Object(_, object) => object
                .get(DOCUMENT)
                .map(RawValue::get)
                .filter(|value| *value != "null" && !value.starts_with('[')),
            Item::Text(_) => None,
        };
        let mut before = None;
        for (item, sentence) in sentences {
            let begins = match before {
                Some(before) if before == *item => false,
                Some(before) => document(*item).is_none() || document(*item) != document(before),
                None => true,
            };
            if begins {
                sentence.layout.separation.add(Separation::MARK);
            }
            before = Some(*item);
        }
    }
}

/// Parses an object, or says what was found instead.
fn object(value: &RawValue) -> Result<JsonObject<'_>, String> {
    if !value.get().starts_with('{') {
        let start: String = value.get().chars().take(20).collect();
        return Err(format!("found {start}"));
    }
    let object: JsonObject<'_> =
        serde_json::from_str(value.get()).map_err(|error| error.to_string())?;
    match object.repeated_key() {
        Some(key) => Err(format!("found the key {key:?} twice")),
        None => Ok(object),
    }
}

/// Parses the inputs of a list.
fn items<'a>(key: &'static str, value: &'a RawValue) -> Result<Vec<Item<'a>>, ApiError> {
    let values: Vec<&RawValue> = serde_json::from_str(value.get())
        .map_err(|_| ApiError::unprocessable(format!("key {key:?}: expected an array")))?;
    let item = |(i, value): (usize, &'a RawValue)| {
        let error =
            |message: String| ApiError::unprocessable(format!("{key}:{}: {message}", i + 1));
        if key == TEXTS {
            return match value.get().starts_with('"') {
                true => Ok(Item::Text(value)),
                false => Err(error("expected a string".to_owned())),
            };
        }
        let object =
            object(value).map_err(|found| error(format!("expected an object; {found}")))?;
        check_options(&object)?;
        Ok(Item::Object(value, object))
    };
    values.into_iter().enumerate().map(item).collect()
}

/// Rejects options among the keys, where they would have no effect.
fn check_options(object: &JsonObject<'_>) -> Result<(), ApiError> {
    let is_option = |key: &str| {
        let value = object.get(key).map(RawValue::get);
        value.is_some_and(|value| {
            value.starts_with(|c: char| c.is_ascii_digit() || "tf".contains(c))
        })
    };
    match ["marginals", "nbest", "constrain"]
        .into_iter()
        .find(|key| is_option(key))
    {
        Some(key) => Err(ApiError::unprocessable(format!(
            "{key:?} is an option; expected it in the address, as in /tag?{key}={}",
            object.get(key).map_or("", RawValue::get)
        ))),
        None => Ok(()),
    }
}
