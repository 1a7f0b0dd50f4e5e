//! Parsing JSON lines: one object per line, with tokens or with text to tokenize.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;

use super::json_object::JsonObject;
use super::lines::{InputLine, LineReader, is_blank};
use super::parse::{ReadOptions, SentenceParser};
use crate::error::{Error, Place, Result};
use crate::sentence::{Schema, Sentence, Separation, TokenLabel};
use crate::tokenize::Tokenizer;

/// The default key of the labels.
const LABELS: &str = "labels";

/// The key of the text of an object that is to be tokenized.
const TEXT: &str = "text";

/// The key of the document that an object belongs to, or of the array of its sentences.
const DOCUMENT: &str = "doc";

/// Maximum number of keys that messages list.
const LISTED_KEYS: usize = 20;

/// Keys that are never columns: the other keys of JSON output, so that it can be read back, and
/// the column names of tokens and labels.
const RESERVED_KEYS: [&str; 11] = [
    "tokens",
    TEXT,
    "offset",
    LABELS,
    "spans",
    "offsets",
    "probability",
    "marginals",
    "nbest",
    "word",
    "label",
];

/// The columns, which the first object determines for the rest of the file.
struct JsonColumns {
    schema: Arc<Schema>,
    keys: Vec<String>, // [C] the key of each column
}

/// Parses JSON lines.
pub(super) struct JsonlParser {
    options: ReadOptions,
    columns: Option<JsonColumns>,
    tokenizer: Tokenizer,
    ready: VecDeque<Sentence>,
    document: Option<Box<str>>, // the value of the key `doc` of the last object, as written
    separation: Separation,     // what stands before the next sentence
    blank: bool,                // the last line was blank
}

impl JsonlParser {
    pub fn new(options: ReadOptions) -> Self {
        Self {
            tokenizer: Tokenizer::new(options.max_sentence),
            options,
            columns: None,
            ready: VecDeque::new(),
            document: None,
            separation: Separation::default(),
            blank: false,
        }
    }

    /// Parses the object on `line`: a sentence, a text, or a document of such objects.
    fn line(&mut self, line: &InputLine) -> Result<()> {
        let object = parse_object(line)?;
        let document = object.get(DOCUMENT);
        if let (Some(document), None, None) = (document, object.get("tokens"), object.get(TEXT))
            && let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(document.get())
        {
            return self.document(line, items);
        }
        self.begin_object(document.filter(is_document).map(|value| value.get().into()));
        self.object(line, &object)
    }

    /// Parses the objects of a document on one line.
    fn document(&mut self, line: &InputLine, items: Vec<&RawValue>) -> Result<()> {
        // No other object has this value: it is not JSON.
        self.begin_object(Some(format!("line {}", line.number).into()));
        for (i, item) in items.into_iter().enumerate() {
            let inner = InputLine {
                text: item.get(),
                ..*line
            };
            if !item.get().starts_with('{') {
                return Err(line.error(format!(
                    "key \"{DOCUMENT}\": expected an array of sentences, objects such as \
                     {{\"tokens\": [\"a\"], \"labels\": [\"O\"]}}, but item {} is {}",
                    i + 1,
                    type_name(item)
                )));
            }
            let object = parse_object(&inner)?;
            let before = self.ready.len();
            self.object(&inner, &object)?;
            if object.get(DOCUMENT).is_none() {
                // The output has one object per sentence, and marks the document in each.
                let mut added = self.ready.range_mut(before..);
                let own = added.next().and_then(|first| first.layout.record.clone());
                let members = own.as_deref().map_or("}", |record| &record[1..]);
                let comma = if members.trim_start() == "}" { "" } else { "," };
                let number = line.number;
                let record = format!("{{\"{DOCUMENT}\":{number}{comma}{members}");
                let record: Arc<str> = record.into();
                for sentence in self.ready.range_mut(before..) {
                    sentence.layout.record = Some(record.clone());
                }
            }
        }
        Ok(())
    }

    /// Begins an object of the document with this value of the key `doc`.
    fn begin_object(&mut self, document: Option<Box<str>>) {
        if self.document != document {
            self.document = document;
            self.separation.add(Separation::MARK);
        }
    }

    /// Adds a sentence.
    fn push(&mut self, mut sentence: Sentence) {
        sentence.layout.separation = std::mem::take(&mut self.separation);
        self.ready.push_back(sentence);
    }

    /// Parses an object with tokens or text.
    fn object(&mut self, line: &InputLine, object: &JsonObject) -> Result<()> {
        if let Some(value) = object.get("tokens") {
            let tokens = strings(line, "tokens", value)?;
            if !tokens.is_empty() {
                let sentence = self.tokens(line, object, tokens)?;
                self.push(sentence);
            }
            return Ok(());
        }
        if let Some(value) = object.get(TEXT) {
            if !self.options.unlabeled {
                return Err(line.error(
                    "an object with \"text\" has no labels; \
                     expected the keys \"tokens\" and \"labels\"",
                ));
            }
            return self.text(line, object, value);
        }
        let keys = object.members.iter().take(LISTED_KEYS);
        let mut found: Vec<String> = keys.map(|(key, _)| format!("{key:?}")).collect();
        if object.members.len() > LISTED_KEYS {
            found.push("…".to_owned());
        }
        let found = match found.is_empty() {
            true => "no key".to_owned(),
            false => found.join(", "),
        };
        Err(line.error(format!(
            "expected the key \"tokens\" or \"text\", found {found}"
        )))
    }

    /// The sentence of an object with tokens.
    fn tokens(
        &mut self,
        line: &InputLine,
        object: &JsonObject,
        tokens: Vec<String>,
    ) -> Result<Sentence> {
        let columns = match self.columns.take() {
            Some(columns) => columns,
            None => detect_columns(line, object, tokens.len(), &self.options)?,
        };
        let count = tokens.len();
        let mut cells = vec![tokens]; // [C][T]
        let mut labels = Vec::new(); // [T] if labels may be partial
        for (i, key) in columns.keys.iter().enumerate().skip(1) {
            if self.options.partial_labels && columns.schema.label() == Some(i) {
                labels = partial_labels(line, object, key, count)?;
                cells.push(labels.iter().map(TokenLabel::text).collect());
            } else {
                cells.push(column(line, object, key, count)?);
            }
        }
        let mut labels = labels.into_iter();
        let mut sentence = Sentence::new(columns.schema.clone(), line.file.clone());
        if self.options.weights {
            set_weight(line, object, &mut sentence)?;
        }
        for t in 0..count {
            sentence.push(cells.iter().map(|column| &column[t]), line.number)?;
            self.options.check_length(&sentence)?;
            if sentence.label(t).is_some_and(str::is_empty) {
                return Err(line.error(format!(
                    "the label of token {} is empty; expected a label, such as O",
                    t + 1
                )));
            }
            if let Some(label) = labels.next() {
                sentence.set_last_label(label);
            }
        }
        sentence.shrink_to_fit();
        sentence.layout.record = Some(Arc::from(line.text));
        self.columns = Some(columns);
        Ok(sentence)
    }

    /// Tokenizes the text of an object into sentences.
    fn text(&mut self, line: &InputLine, object: &JsonObject, value: &RawValue) -> Result<()> {
        let Ok(text) = serde_json::from_str::<String>(value.get()) else {
            return Err(line.error(format!(
                "key \"text\": expected a string, found {}",
                type_name(value)
            )));
        };
        // Each sentence gets the other members. With the text of all, they would be quadratic.
        let members = object.members.iter().filter(|(key, _)| key != TEXT);
        let members: Vec<String> = members
            .map(|(key, value)| format!("{}:{value}", Value::from(key.as_str())))
            .collect();
        let record: Arc<str> = format!("{{{}}}", members.join(",")).into();
        let sentences = self.tokenizer.read_line(&text, line.file, line.number)?;
        for mut sentence in sentences {
            sentence.layout.record = Some(record.clone());
            self.push(sentence);
        }
        Ok(())
    }
}

impl SentenceParser for JsonlParser {
    fn next_sentence(&mut self, lines: &mut LineReader) -> Result<Option<Sentence>> {
        while self.ready.is_empty() {
            let Some(line) = lines.next_line()? else {
                return Ok(None);
            };
            let is_blank = is_blank(line.text);
            if std::mem::replace(&mut self.blank, is_blank) && !is_blank {
                self.separation.add(Separation::BLANK_LINE);
            }
            if !is_blank {
                self.line(&line)?;
            }
        }
        Ok(self.ready.pop_front())
    }
}

/// Determines the columns from the first object: `word`, others in its order, the label.
fn detect_columns(
    line: &InputLine,
    object: &JsonObject,
    tokens: usize,
    options: &ReadOptions,
) -> Result<JsonColumns> {
    let chosen = options.label.as_deref();
    let present = chosen.filter(|key| object.get(key).is_some());
    let (key, label) = present.map_or((LABELS, "label"), |key| (key, key));
    let mut keys = vec!["tokens".to_owned()];
    let mut names = vec!["word".to_owned()];
    for (name, value) in &object.members {
        let selected = options.columns.as_ref().is_none_or(|c| c.contains(name));
        if selected
            && name != key
            && !RESERVED_KEYS.contains(&name.as_str())
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
    let schema = Schema::new(names, position).map_err(|error| line.error(error.to_string()))?;
    Ok(JsonColumns {
        schema: Arc::new(schema),
        keys,
    })
}

/// The cells of the column `key`, one per token.
fn column(line: &InputLine, object: &JsonObject, key: &str, tokens: usize) -> Result<Vec<String>> {
    let Some(value) = object.get(key) else {
        return Err(line.error(format!(
            "the key \"{key}\" is missing; expected a string for each token there"
        )));
    };
    let cells = strings(line, key, value)?;
    if cells.len() != tokens {
        return Err(line.error(format!(
            "key \"{key}\": expected as many strings as tokens ({tokens}), found {}",
            cells.len()
        )));
    }
    Ok(cells)
}

/// Gives a sentence the weight of its object, if it has one.
fn set_weight(line: &InputLine, object: &JsonObject, sentence: &mut Sentence) -> Result<()> {
    let Some(value) = object.get("weight") else {
        return Ok(());
    };
    let weight = match serde_json::from_str(value.get()) {
        Ok(Value::Null) => return Ok(()),
        // An array is a column of this name.
        Ok(Value::Array(_)) => return Ok(()),
        Ok(Value::Number(number)) => number.as_f64().unwrap_or(f64::INFINITY),
        _ => {
            return Err(line.error(format!(
                "key \"weight\": expected a number, found {}",
                type_name(value)
            )));
        }
    };
    let result = sentence.set_weight(weight);
    result.map_err(|message| line.error(message))
}

/// The labels of an object, which may be partial.
fn partial_labels(
    line: &InputLine,
    object: &JsonObject,
    key: &str,
    tokens: usize,
) -> Result<Vec<TokenLabel>> {
    let items: Vec<&RawValue> = match object.get(key) {
        None => return column(line, object, key, tokens).map(|_| Vec::new()),
        Some(value) => serde_json::from_str(value.get()).map_err(|_| {
            line.error(format!(
                "key \"{key}\": expected an array of labels, found {}",
                type_name(value)
            ))
        })?,
    };
    if items.len() != tokens {
        return Err(line.error(format!(
            "key \"{key}\": expected as many labels as tokens ({tokens}), found {}",
            items.len()
        )));
    }
    let labels = items.iter().enumerate();
    let labels = labels.map(|(t, item)| {
        let value: Result<Value, _> = serde_json::from_str(item.get());
        let value = value.map_err(|error| error.to_string());
        let label = value.and_then(|value| TokenLabel::from_json(&value));
        label.map_err(|fault| line.error(format!("key \"{key}\", item {}: {fault}", t + 1)))
    });
    labels.collect()
}

/// Parses an array of strings.
fn strings(line: &InputLine, key: &str, value: &RawValue) -> Result<Vec<String>> {
    if let Ok(strings) = serde_json::from_str(value.get()) {
        return Ok(strings);
    }
    let items: Vec<&RawValue> = serde_json::from_str(value.get()).unwrap_or_default();
    let is_other = |item: &&RawValue| serde_json::from_str::<String>(item.get()).is_err();
    Err(line.error(match items.iter().position(is_other) {
        Some(i) => format!(
            "key \"{key}\": expected an array of strings, but item {} is {}",
            i + 1,
            type_name(items[i])
        ),
        None => format!(
            "key \"{key}\": expected an array of strings, found {}",
            type_name(value)
        ),
    }))
}

/// Returns whether the value of the key `doc` identifies a document: null does not, and neither
/// does an array of strings, which may be a column.
fn is_document(value: &&RawValue) -> bool {
    value.get() != "null" && serde_json::from_str::<Vec<String>>(value.get()).is_err()
}

/// Names the type of a JSON value in an error message.
fn type_name(value: &RawValue) -> &'static str {
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

/// Parses the object on `line`, whose keys must be unique.
fn parse_object<'a>(line: &InputLine<'a>) -> Result<JsonObject<'a>> {
    let object: JsonObject<'a> = serde_json::from_str(line.text).map_err(|error| {
        let text = error.to_string();
        let message = text.split(" at line ").next().unwrap_or_default();
        if error.is_data() {
            return line.error(message);
        }
        let bytes = line.text.as_bytes();
        let before = &bytes[..error.column().saturating_sub(1).min(bytes.len())];
        let column = String::from_utf8_lossy(before).chars().count() as u64 + 1;
        Error::input(
            Place::column(&**line.file, line.number, column),
            format!("not valid JSON: {message}"),
        )
    })?;
    match object.repeated_key() {
        Some(key) => Err(line.error(format!("the key {key:?} occurs twice"))),
        None => Ok(object),
    }
}

#[cfg(test)]
mod tests {
    use crate::corpus::tests::{error, options, sentences};
    use crate::corpus::{DocumentRule, Format, ReadOptions};
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
    fn tokens_labels_and_other_columns_are_read() {
        let text = concat!(
            r#"{"id": 1.50, "pos": ["N", "V"], "#,
            r#""labels": ["B", "O"], "tokens": ["Ann", "l\u00e4uft"]}"#,
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
    fn named_columns_are_the_only_columns() {
        let options = ReadOptions {
            columns: Some(vec!["word".into(), "pos".into(), "lemma".into()]),
            ..unlabeled()
        };
        let text = concat!(
            r#"{"tokens":["a"],"tags":["x"],"pos":["N"]}"#,
            "\n",
            r#"{"tokens":["b"],"pos":["V"]}"#
        );
        let read = sentences(text, &options).unwrap();
        assert_eq!(read[1].schema().names(), ["word", "pos"]);
        assert_eq!(cells(&read[1], 0), ["b", "V"]);
    }

    #[test]
    fn labels_of_input_to_be_tagged_are_ignored() {
        let text = "{\"tokens\":[\"a\"],\"labels\":3}\n{\"tokens\":[\"b\"]}";
        let read = sentences(text, &unlabeled()).unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!(read[0].labels(), None);
        assert_eq!(read[0].schema().names(), ["word"]);
    }

    #[test]
    fn text_is_tokenized_with_offsets() {
        let object = r#"{"id": 7, "text": "Ann\tleft"}"#;
        let read = sentences(object, &unlabeled()).unwrap();
        assert_eq!(read[0].cell(1, 0), "left");
        assert_eq!(read[0].offsets[1].bytes, 4..8);
        assert_eq!(read[0].layout.source.as_deref(), Some("Ann\tleft"));
        assert_eq!(read[0].layout.record.as_deref(), Some(r#"{"id":7}"#));
        assert_eq!(
            error(r#"{"text": "Ann left"}"#, &jsonl()),
            "x:1: an object with \"text\" has no labels; \
             expected the keys \"tokens\" and \"labels\""
        );
        assert_eq!(
            error(r#"{"text": 3}"#, &unlabeled()),
            "x:1: key \"text\": expected a string, found a number"
        );
    }

    /// The words of each document.
    fn documents(text: &str) -> Vec<String> {
        let read = sentences(text, &unlabeled()).unwrap();
        let documents = DocumentRule::Auto.documents(&read).into_iter();
        let words = |document: Vec<&Sentence>| document.iter().map(|s| s.cell(0, 0)).collect();
        documents.map(words).collect()
    }

    #[test]
    fn consecutive_objects_with_the_same_document_belong_together() {
        let object =
            |word: &str, document: &str| format!("{{\"tokens\":[\"{word}\",\".\"]{document}}}\n");
        let text = object("a", ",\"doc\":1")
            + &object("b", ",\"doc\":1")
            + &object("c", ",\"doc\":\"1\"")
            + &object("d", "")
            + &object("e", ",\"doc\":null")
            + "{\"tokens\":[],\"doc\":{\"id\":[3]}}\n"
            + &object("f", ",\"doc\":{\"id\":[3]}")
            + "\n{\"text\":\"g\",\"doc\":{\"id\":[3]}}\n";
        assert_eq!(documents(&text), ["ab", "c", "de", "fg"]);
    }

    #[test]
    fn an_array_of_objects_is_a_document() {
        let text = concat!(
            "{\"doc\":[{\"tokens\":[\"a\"],\"id\":1},{\"text\":\"b\"}]}\n",
            "{\"doc\":[]}\n",
            "{\"doc\":[{\"tokens\":[\"c\"]}]}\n",
            "{\"tokens\":[\"d\"]}\n",
        );
        assert_eq!(documents(text), ["ab", "c", "d"]);
        let read = sentences(text, &unlabeled()).unwrap();
        let record = |i: usize| read[i].layout.record.as_deref().unwrap();
        assert_eq!(record(0), r#"{"doc":1,"tokens":["a"],"id":1}"#);
        assert_eq!(record(1), r#"{"doc":1}"#);
        assert_eq!(
            error("{\"doc\":[{\"tokens\":[\"a\"]}, 3]}", &unlabeled()),
            "x:1: key \"doc\": expected an array of sentences, objects such as \
             {\"tokens\": [\"a\"], \"labels\": [\"O\"]}, but item 2 is a number"
        );
        assert_eq!(
            error("{\"doc\":[{}]}", &unlabeled()),
            "x:1: expected the key \"tokens\" or \"text\", found no key"
        );
    }

    #[test]
    fn a_column_may_have_the_name_of_documents() {
        let text = "{\"tokens\":[\"a\"],\"doc\":[\"x\"]}\n{\"tokens\":[\"b\"],\"doc\":[\"y\"]}";
        let read = sentences(text, &unlabeled()).unwrap();
        assert_eq!(cells(&read[1], 0), ["b", "y"]);
        assert_eq!(documents(text), ["ab"]);
    }

    #[test]
    fn an_object_with_no_tokens_is_skipped() {
        let text = "{\"tokens\":[],\"labels\":[]}\n{\"tokens\":[\"a\"],\"labels\":[\"O\"]}";
        assert_eq!(sentences(text, &jsonl()).unwrap().len(), 1);
    }

    #[test]
    fn syntax_errors_have_a_column() {
        assert_eq!(
            error("{\"tokens\": [\"ä\" 1]}", &jsonl()),
            "x:1:17: not valid JSON: expected `,` or `]`"
        );
        assert_eq!(
            error("{\"tokens\": [\"a\"", &jsonl()),
            "x:1:15: not valid JSON: EOF while parsing a list"
        );
    }

    #[test]
    fn a_line_must_be_an_object_with_tokens_or_text_and_unique_keys() {
        assert_eq!(
            error("[1]", &jsonl()),
            "x:1: invalid type: sequence, expected a JSON object such as \
             {\"tokens\": [\"a\"], \"labels\": [\"O\"]}"
        );
        assert_eq!(
            error("{\"a\": 1, \"b\": 2}", &jsonl()),
            "x:1: expected the key \"tokens\" or \"text\", found \"a\", \"b\""
        );
        assert_eq!(
            error("{}", &jsonl()),
            "x:1: expected the key \"tokens\" or \"text\", found no key"
        );
        assert_eq!(
            error("{\"tokens\":[],\"tokens\":[]}", &jsonl()),
            "x:1: the key \"tokens\" occurs twice"
        );
    }

    #[test]
    fn a_value_of_the_wrong_type_is_an_error_that_names_its_key() {
        assert_eq!(
            error("{\"tokens\": \"a b\"}", &jsonl()),
            "x:1: key \"tokens\": expected an array of strings, found a string"
        );
        assert_eq!(
            error("{\"tokens\": [\"a\", null]}", &jsonl()),
            "x:1: key \"tokens\": expected an array of strings, but item 2 is null"
        );
        assert_eq!(
            error("{\"tokens\": [\"a\"], \"labels\": {}}", &jsonl()),
            "x:1: key \"labels\": expected an array of strings, found an object"
        );
    }

    #[test]
    fn there_must_be_one_label_per_token() {
        assert_eq!(
            error("{\"tokens\": [\"a\"]}", &jsonl()),
            "x:1: the key \"labels\" is missing; expected a string for each token there"
        );
        assert_eq!(
            error(
                "{\"tokens\": [\"a\", \"b\"], \"labels\": [\"O\"]}",
                &jsonl()
            ),
            "x:1: key \"labels\": expected as many strings as tokens (2), found 1"
        );
        assert_eq!(
            error("{\"tokens\": [\"a\"], \"labels\": [\"\"]}", &jsonl()),
            "x:1: the label of token 1 is empty; expected a label, such as O"
        );
    }

    #[test]
    fn a_later_object_must_have_the_columns_of_the_first() {
        let text = "{\"tokens\":[\"a\"],\"pos\":[\"N\"],\"labels\":[\"O\"]}\n\
                    {\"tokens\":[\"a\"],\"labels\":[\"O\"]}";
        assert_eq!(
            error(text, &jsonl()),
            "x:2: the key \"pos\" is missing; expected a string for each token there"
        );
    }
}
