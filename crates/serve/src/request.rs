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

/// Options that are not read from a body.
const OPTIONS: [&str; 3] = ["marginals", "nbest", "constrain"];

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
        let list = [TEXTS, INPUTS]
            .into_iter()
            .find(|key| object.get(key).is_some());
        let Some(key) = list else {
            let object = Some(object);
            let inputs = vec![Input { raw, object }];
            return Ok(Self { inputs, list });
        };
        if let Some((other, _)) = object.members.iter().find(|(name, _)| name != key) {
            return Err(format!(
                "expected no other key beside {key:?}, found {other:?}"
            ));
        }
        let inputs: Vec<&RawValue> = serde_json::from_str(object.members[0].1.get())
            .map_err(|_| format!("key {key:?}: expected an array"))?;
        let inputs = inputs.into_iter().enumerate().map(|(i, raw)| {
            let input = Input::of_list(key, raw);
            input.map_err(|message| format!("{key}:{}: {message}", i + 1))
        });
        let inputs = inputs.collect::<Result<_, _>>()?;
        Ok(Self { inputs, list })
    }

    /// Returns the number of inputs, if the request is a list of them.
    pub fn list_length(&self) -> Option<usize> {
        self.list.map(|_| self.inputs.len())
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
        sentences.sort_by_key(|(input, _)| *input);
        self.separate(&mut sentences);
        Ok(sentences)
    }

    /// Marks where documents begin: with each input, unless it has the same value under `doc` as
    /// the one before it.
    fn separate(&self, sentences: &mut [InputSentence]) {
        let mut before = None;
        for (input, sentence) in sentences {
            let document = self.inputs[*input].document();
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

impl<'a> Input<'a> {
    /// Parses an input of the list `key`.
    fn of_list(key: &str, raw: &'a RawValue) -> Result<Self, String> {
        let object = match key {
            INPUTS => Some(object(raw, "expected an object")?),
            _ if raw.get().starts_with('"') => None,
            _ => return Err("expected a string".to_owned()),
        };
        Ok(Self { raw, object })
    }

    /// The value that names the document of the input.
    fn document(&self) -> Option<&'a str> {
        let document = self.object.as_ref()?.get(DOCUMENT)?.get();
        (document != "null" && !document.starts_with('[')).then_some(document)
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
    for (key, value) in OPTIONS
        .into_iter()
        .filter_map(|key| Some((key, object.get(key)?.get())))
    {
        if value.starts_with(|c: char| c.is_ascii_digit() || "tf".contains(c)) {
            return Err(format!(
                "{key:?} is an option; expected it in the address, as in /tag?{key}={value}"
            ));
        }
    }
    Ok(object)
}
