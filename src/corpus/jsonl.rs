//! JSON lines: an object per line, with its tokens or with a text to cut.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::is_blank;
use super::lines::{Line, Lines};
use super::reader::{Parse, ReadOptions};
use crate::error::{Error, Place, Result};
use crate::sentence::{Schema, Sentence};
use crate::tokenize::Tokenizer;

/// The key of the labels, on input by default and on output always.
const LABELS: &str = "labels";

/// Keys that are no columns, whatever they hold: the other parts of our own output, so that it can
/// be read again, and names that columns have from elsewhere.
const NO_COLUMNS: [&str; 10] = [
    "tokens",
    "text",
    LABELS,
    "spans",
    "offsets",
    "probability",
    "marginals",
    "nbest",
    "word",
    "label",
];

/// The members of a JSON object, in its order, their values as they are written there.
pub(super) struct Members<'a>(pub Vec<(String, &'a RawValue)>);

impl<'a> Members<'a> {
    fn get(&self, key: &str) -> Option<&'a RawValue> {
        let found = self.0.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| *value)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object such as {\"tokens\": [\"a\"], \"labels\": [\"O\"]}")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

/// What the first object settles for the rest of the file.
struct Shape {
    schema: Arc<Schema>,
    keys: Vec<String>, // [C] the key of each column
}

/// Reads JSON lines.
pub(super) struct Jsonl {
    options: ReadOptions,
    shape: Option<Shape>,
    tokenizer: Tokenizer,
    ready: VecDeque<Sentence>,
}

impl Jsonl {
    pub fn new(options: ReadOptions) -> Self {
        Self {
            options,
            shape: None,
            tokenizer: Tokenizer::default(),
            ready: VecDeque::new(),
        }
    }

    /// The sentences of the object on `line`.
    fn object(&mut self, line: &Line) -> Result<()> {
        let members = parse(line)?;
        if let Some(value) = members.get("tokens") {
            let tokens = strings(line, "tokens", value)?;
            if !tokens.is_empty() {
                let sentence = self.tokens(line, &members, tokens)?;
                self.ready.push_back(sentence);
            }
            return Ok(());
        }
        if let Some(value) = members.get("text") {
            if !self.options.unlabeled {
                return Err(line.fault(
                    "an object with \"text\" has no labels; expected the keys \"tokens\" and \"labels\"",
                ));
            }
            return self.text(line, value);
        }
        let found: Vec<String> = members
            .0
            .iter()
            .map(|(key, _)| format!("{key:?}"))
            .collect();
        let found = match found.is_empty() {
            true => "no key".to_owned(),
            false => found.join(", "),
        };
        Err(line.fault(format!(
            "expected the key \"tokens\" or \"text\", found {found}"
        )))
    }

    /// The sentence of an object with `tokens`.
    fn tokens(&mut self, line: &Line, members: &Members, tokens: Vec<String>) -> Result<Sentence> {
        let shape = match self.shape.take() {
            Some(shape) => shape,
            None => settle(line, members, tokens.len(), &self.options)?,
        };
        let count = tokens.len();
        let mut columns = vec![tokens];
        for key in &shape.keys[1..] {
            columns.push(column(line, members, key, count)?);
        }
        let mut sentence = Sentence::new(shape.schema.clone(), line.file.clone());
        for t in 0..count {
            sentence.push(columns.iter().map(|cells| &cells[t]), line.number)?;
            if sentence.label(t).is_some_and(str::is_empty) {
                return Err(line.fault(format!(
                    "the label of token {} is empty; expected a label, such as O",
                    t + 1
                )));
            }
        }
        sentence.layout.record = Some(Arc::from(line.text));
        self.shape = Some(shape);
        Ok(sentence)
    }

    /// The sentences of an object with a text.
    fn text(&mut self, line: &Line, value: &RawValue) -> Result<()> {
        let Ok(text) = serde_json::from_str::<String>(value.get()) else {
            return Err(line.fault(format!(
                "key \"text\": expected a string, found {}",
                kind(value)
            )));
        };
        let record: Arc<str> = Arc::from(line.text);
        let sentences = self.tokenizer.read_line(&text, line.file, line.number)?;
        for mut sentence in sentences {
            sentence.layout.record = Some(record.clone());
            self.ready.push_back(sentence);
        }
        Ok(())
    }
}

impl Parse for Jsonl {
    fn next(&mut self, lines: &mut Lines) -> Result<Option<Sentence>> {
        while self.ready.is_empty() {
            let Some(line) = lines.next_line()? else {
                return Ok(None);
            };
            if !is_blank(line.text) {
                self.object(&line)?;
            }
        }
        Ok(self.ready.pop_front())
    }
}

/// The columns, by the first object: `word`, further ones in its order, the label.
fn settle(line: &Line, members: &Members, tokens: usize, options: &ReadOptions) -> Result<Shape> {
    let chosen = options.label.as_deref();
    let own = chosen.filter(|key| members.get(key).is_some());
    let (key, label) = own.map_or((LABELS, "label"), |key| (key, key));
    let mut keys = vec!["tokens".to_owned()];
    let mut names = vec!["word".to_owned()];
    for (name, value) in &members.0 {
        let asked = options.columns.as_ref().is_none_or(|c| c.contains(name));
        if asked
            && name != key
            && !NO_COLUMNS.contains(&name.as_str())
            && serde_json::from_str::<Vec<String>>(value.get()).is_ok_and(|c| c.len() == tokens)
        {
            keys.push(name.clone());
            names.push(name.clone());
        }
    }
    let mut position = None;
    if !options.unlabeled {
        position = Some(names.len());
        keys.push(key.to_owned());
        names.push(label.to_owned());
    }
    let schema = Schema::new(names, position).map_err(|error| line.fault(error.to_string()))?;
    Ok(Shape {
        schema: Arc::new(schema),
        keys,
    })
}

/// The cells that `key` gives the tokens.
fn column(line: &Line, members: &Members, key: &str, tokens: usize) -> Result<Vec<String>> {
    let Some(value) = members.get(key) else {
        return Err(line.fault(format!(
            "the key \"{key}\" is missing; expected a string for each token there"
        )));
    };
    let cells = strings(line, key, value)?;
    if cells.len() != tokens {
        return Err(line.fault(format!(
            "key \"{key}\": expected as many strings as tokens ({tokens}), found {}",
            cells.len()
        )));
    }
    Ok(cells)
}

/// An array of strings.
fn strings(line: &Line, key: &str, value: &RawValue) -> Result<Vec<String>> {
    if let Ok(strings) = serde_json::from_str(value.get()) {
        return Ok(strings);
    }
    let items: Vec<&RawValue> = serde_json::from_str(value.get()).unwrap_or_default();
    let odd = |item: &&RawValue| serde_json::from_str::<String>(item.get()).is_err();
    Err(line.fault(match items.iter().position(odd) {
        Some(i) => format!(
            "key \"{key}\": expected an array of strings, but item {} is {}",
            i + 1,
            kind(items[i])
        ),
        None => format!(
            "key \"{key}\": expected an array of strings, found {}",
            kind(value)
        ),
    }))
}

/// What a JSON value is, in words.
fn kind(value: &RawValue) -> &'static str {
    match serde_json::from_str(value.get()) {
        Ok(Value::Null) => "null",
        Ok(Value::Bool(_)) => "a boolean",
        Ok(Value::Number(_)) => "a number",
        Ok(Value::String(_)) => "a string",
        Ok(Value::Array(_)) => "an array",
        Ok(Value::Object(_)) => "an object",
        Err(_) => "not valid JSON",
    }
}

/// The members of the object on `line`; each key once.
fn parse<'a>(line: &Line<'a>) -> Result<Members<'a>> {
    let members: Members<'a> = serde_json::from_str(line.text).map_err(|error| {
        let text = error.to_string();
        let message = text.split(" at line ").next().unwrap_or_default();
        if error.is_data() {
            return line.fault(message);
        }
        let bytes = line.text.as_bytes();
        let before = &bytes[..error.column().saturating_sub(1).min(bytes.len())];
        let column = String::from_utf8_lossy(before).chars().count() as u64 + 1;
        Error::input(
            Place::column(&**line.file, line.number, column),
            format!("not valid JSON: {message}"),
        )
    })?;
    for (i, (key, _)) in members.0.iter().enumerate() {
        if members.0[..i].iter().any(|(other, _)| other == key) {
            return Err(line.fault(format!("the key {key:?} is there twice")));
        }
    }
    Ok(members)
}

#[cfg(test)]
mod tests {
    use crate::corpus::reader::tests::{fault, options, sentences};
    use crate::corpus::{Format, ReadOptions};
    use crate::sentence::Sentence;

    fn jsonl() -> ReadOptions {
        options(Format::Jsonl)
    }

    fn unlabeled() -> ReadOptions {
        ReadOptions {
            unlabeled: true,
            ..jsonl()
        }
    }

    fn cells(sentence: &Sentence, t: usize) -> Vec<&str> {
        sentence.cells(t).collect()
    }

    #[test]
    fn tokens_labels_and_further_columns_are_read() {
        let text = concat!(
            r#"{"id": 1.50, "pos": ["N", "V"], "labels": ["B", "O"], "tokens": ["Ann", "l\u00e4uft"]}"#,
            "\n\n",
            r#"{"tokens": ["b"], "labels": ["O"], "pos": ["N"], "note": ["x"]}"#,
        );
        let read = sentences(text, &jsonl()).unwrap();
        assert_eq!(read[0].schema().names(), ["word", "pos", "label"]);
        assert_eq!(cells(&read[0], 1), ["läuft", "V", "O"]);
        assert_eq!(read[0].labels().unwrap(), ["B", "O"]);
        assert_eq!(read[1].place(0).to_string(), "x:3");
        assert_eq!(read[0].layout.record.as_deref(), text.lines().next());
        assert_eq!(read[0].layout.source, None);
    }

    #[test]
    fn another_key_can_hold_the_labels() {
        let options = ReadOptions {
            label: Some("ner".to_owned()),
            ..jsonl()
        };
        let read = sentences(r#"{"tokens":["a"],"ner":["B"],"pos":["N"]}"#, &options).unwrap();
        assert_eq!(read[0].schema().names(), ["word", "pos", "ner"]);
        assert_eq!(read[0].labels().unwrap(), ["B"]);
        let read = sentences(r#"{"tokens":["a"],"labels":["B"]}"#, &options).unwrap();
        assert_eq!(read[0].labels().unwrap(), ["B"]);
    }

    #[test]
    fn only_the_columns_that_were_named_are_columns() {
        let options = ReadOptions {
            columns: Some(vec!["word".into(), "pos".into(), "lemma".into()]),
            ..unlabeled()
        };
        let text = "{\"tokens\":[\"a\"],\"tags\":[\"x\"],\"pos\":[\"N\"]}\n{\"tokens\":[\"b\"],\"pos\":[\"V\"]}";
        let read = sentences(text, &options).unwrap();
        assert_eq!(read[1].schema().names(), ["word", "pos"]);
        assert_eq!(cells(&read[1], 0), ["b", "V"]);
    }

    #[test]
    fn labels_are_not_looked_at_where_they_are_not_needed() {
        let text = "{\"tokens\":[\"a\"],\"labels\":3}\n{\"tokens\":[\"b\"]}";
        let read = sentences(text, &unlabeled()).unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!(read[0].labels(), None);
        assert_eq!(read[0].schema().names(), ["word"]);
    }

    #[test]
    fn a_text_is_cut_into_tokens_with_offsets_into_it() {
        let object = r#"{"id": 7, "text": "Ann\tleft"}"#;
        let read = sentences(object, &unlabeled()).unwrap();
        assert_eq!(read[0].cell(1, 0), "left");
        assert_eq!(read[0].offsets[1].bytes, 4..8);
        assert_eq!(read[0].layout.source.as_deref(), Some("Ann\tleft"));
        assert_eq!(read[0].layout.record.as_deref(), Some(object));
        assert_eq!(
            fault(r#"{"text": "Ann left"}"#, &jsonl()),
            "x:1: an object with \"text\" has no labels; expected the keys \"tokens\" and \"labels\""
        );
        assert_eq!(
            fault(r#"{"text": 3}"#, &unlabeled()),
            "x:1: key \"text\": expected a string, found a number"
        );
    }

    #[test]
    fn an_object_without_tokens_gives_nothing() {
        let text = "{\"tokens\":[],\"labels\":[]}\n{\"tokens\":[\"a\"],\"labels\":[\"O\"]}";
        assert_eq!(sentences(text, &jsonl()).unwrap().len(), 1);
    }

    #[test]
    fn faults_in_the_json_have_their_column() {
        assert_eq!(
            fault("{\"tokens\": [\"ä\" 1]}", &jsonl()),
            "x:1:17: not valid JSON: expected `,` or `]`"
        );
        assert_eq!(
            fault("{\"tokens\": [\"a\"", &jsonl()),
            "x:1:15: not valid JSON: EOF while parsing a list"
        );
    }

    #[test]
    fn a_line_must_be_an_object_with_tokens_or_text_each_key_once() {
        assert_eq!(
            fault("[1]", &jsonl()),
            "x:1: invalid type: sequence, expected a JSON object such as \
             {\"tokens\": [\"a\"], \"labels\": [\"O\"]}"
        );
        assert_eq!(
            fault("{\"a\": 1, \"b\": 2}", &jsonl()),
            "x:1: expected the key \"tokens\" or \"text\", found \"a\", \"b\""
        );
        assert_eq!(
            fault("{}", &jsonl()),
            "x:1: expected the key \"tokens\" or \"text\", found no key"
        );
        assert_eq!(
            fault("{\"tokens\":[],\"tokens\":[]}", &jsonl()),
            "x:1: the key \"tokens\" is there twice"
        );
    }

    #[test]
    fn a_value_of_the_wrong_type_is_an_error_that_names_its_key() {
        assert_eq!(
            fault("{\"tokens\": \"a b\"}", &jsonl()),
            "x:1: key \"tokens\": expected an array of strings, found a string"
        );
        assert_eq!(
            fault("{\"tokens\": [\"a\", null]}", &jsonl()),
            "x:1: key \"tokens\": expected an array of strings, but item 2 is null"
        );
        assert_eq!(
            fault("{\"tokens\": [\"a\"], \"labels\": {}}", &jsonl()),
            "x:1: key \"labels\": expected an array of strings, found an object"
        );
    }

    #[test]
    fn labels_must_be_there_one_for_each_token() {
        assert_eq!(
            fault("{\"tokens\": [\"a\"]}", &jsonl()),
            "x:1: the key \"labels\" is missing; expected a string for each token there"
        );
        assert_eq!(
            fault(
                "{\"tokens\": [\"a\", \"b\"], \"labels\": [\"O\"]}",
                &jsonl()
            ),
            "x:1: key \"labels\": expected as many strings as tokens (2), found 1"
        );
        assert_eq!(
            fault("{\"tokens\": [\"a\"], \"labels\": [\"\"]}", &jsonl()),
            "x:1: the label of token 1 is empty; expected a label, such as O"
        );
    }

    #[test]
    fn a_later_object_must_have_the_columns_of_the_first() {
        let text = "{\"tokens\":[\"a\"],\"pos\":[\"N\"],\"labels\":[\"O\"]}\n\
                    {\"tokens\":[\"a\"],\"labels\":[\"O\"]}";
        assert_eq!(
            fault(text, &jsonl()),
            "x:2: the key \"pos\" is missing; expected a string for each token there"
        );
    }
}
