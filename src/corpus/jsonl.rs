//! Parsing JSON lines: one object per line, with tokens or with text to tokenize.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;

use super::doubts::check_token;
use super::json_object::{
    ATTRIBUTES, JsonColumns, JsonObject, attribute_items, attributes, column, parse_object,
    partial_labels, strings, type_name,
};
use super::lines::{InputLine, LineReader, is_blank};
use super::parse::{ReadOptions, SentenceParser};
use super::tag_names::{label_names, named, names_of_features};
use crate::error::{Place, Result};
use crate::sentence::{Sentence, Separation, TokenLabel};
use crate::tokenize::Tokenizer;

/// The key of the text of an object that is to be tokenized.
const TEXT: &str = "text";

/// The token of an object with attributes alone.
const NO_WORD: &str = "_";

/// The key of the document that an object belongs to, or of the array of its sentences.
const DOCUMENT: &str = "doc";

/// The key of a header, which has the names of labels that are numbers.
const FEATURES: &str = "features";

/// Maximum number of keys that messages list.
const LISTED_KEYS: usize = 20;

/// Parses JSON lines.
pub(super) struct JsonlParser {
    options: ReadOptions,
    columns: Option<JsonColumns>,
    features: BTreeMap<String, Vec<String>>, // the names of the labels of each key
    tokenizer: Tokenizer,
    document: Option<Box<str>>, // the value of the key `doc` of the last object, as written
    separation: Separation,     // what stands before the next sentence
    blank: bool,                // the last line was blank
}

impl JsonlParser {
    pub fn new(options: ReadOptions) -> Self {
        Self {
            tokenizer: Tokenizer::new(options.limits.max_sentence),
            options,
            columns: None,
            features: BTreeMap::new(),
            document: None,
            separation: Separation::default(),
            blank: false,
        }
    }

    /// Parses the object on `line`: a sentence, a text, or a document of such objects.
    fn record(&mut self, line: &InputLine, ready: &mut VecDeque<Sentence>) -> Result<()> {
        let object = parse_object(line)?;
        let is_header = ["tokens", TEXT, ATTRIBUTES].iter().all(|key| object.get(key).is_none());
        if let Some(features) = object.get(FEATURES).filter(|_| is_header) {
            self.features = names_of_features(line, features)?;
            return Ok(());
        }
        let document = object.get(DOCUMENT);
        if let (Some(document), None, None) = (document, object.get("tokens"), object.get(TEXT))
            && let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(document.get())
        {
            return self.document(line, items, ready);
        }
        // Null identifies no document, and an array of strings may be a column.
        let is_column = |value: &str| serde_json::from_str::<Vec<String>>(value).is_ok();
        let document = document.map(RawValue::get);
        let document = document.filter(|value| *value != "null" && !is_column(value));
        self.begin_object(document.map(Into::into));
        self.object(line, &object, None, ready)
    }

    /// Parses the objects of a document on one line.
    fn document(
        &mut self,
        line: &InputLine,
        items: Vec<&RawValue>,
        ready: &mut VecDeque<Sentence>,
    ) -> Result<()> {
        // No other object has this value: it is not JSON.
        self.begin_object(Some(format!("line {}", line.number).into()));
        for (i, item) in items.into_iter().enumerate() {
            let inner = InputLine { text: item.get(), ..*line };
            if !item.get().starts_with('{') {
                return Err(line.error(format!(
                    "key \"{DOCUMENT}\": expected an array of sentences, objects such as \
                     {{\"tokens\": [\"a\"], \"labels\": [\"O\"]}}, but item {} is {}",
                    i + 1,
                    type_name(item)
                )));
            }
            let object = parse_object(&inner)?;
            // The output has one object per sentence, and marks the document in each.
            let number = object.get(DOCUMENT).is_none().then_some(line.number);
            self.object(&inner, &object, number, ready)?;
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

    /// Adds a sentence with the object that the output copies.
    fn push(&mut self, mut sentence: Sentence, record: Arc<str>, ready: &mut VecDeque<Sentence>) {
        sentence.layout.record = Some(record);
        sentence.layout.separation = std::mem::take(&mut self.separation);
        ready.push_back(sentence);
    }

    /// Parses an object with tokens, attributes or text; `document` is the number of the document
    /// that it is part of, if it does not say so itself.
    fn object(
        &mut self,
        line: &InputLine,
        object: &JsonObject,
        document: Option<u64>,
        ready: &mut VecDeque<Sentence>,
    ) -> Result<()> {
        let items = object.get(ATTRIBUTES).and_then(attribute_items);
        let tokens = match (object.get("tokens"), &items) {
            (Some(value), _) => Some(strings(line, "tokens", value)?),
            (None, Some(items)) if object.get(TEXT).is_none() => {
                Some(vec![NO_WORD.to_owned(); items.len()])
            }
            _ => None,
        };
        if let Some(tokens) = tokens {
            if tokens.is_empty() {
                return Ok(());
            }
            let mut sentence = self.tokens(line, object, tokens)?;
            if let Some(items) = items {
                let (tokens, found) = (sentence.len(), items.len());
                if found != tokens {
                    let expected = format!("expected the attributes of each token ({tokens})");
                    return Err(
                        line.error(format!("key \"{ATTRIBUTES}\": {expected}, found {found}"))
                    );
                }
                sentence.attributes = Some(Box::new(attributes(line, &items)?));
            }
            let record = match document {
                None => Arc::from(line.text),
                number => object.without(&[], number),
            };
            self.push(sentence, record, ready);
            return Ok(());
        }
        if let Some(value) = object.get(TEXT) {
            if !self.options.unlabeled {
                return Err(line.error(
                    "an object with \"text\" has no labels; expected the keys \"tokens\" and \
                     \"labels\" (`format` spans reads spans of characters)",
                ));
            }
            let text: String = serde_json::from_str(value.get()).map_err(|_| {
                let found = type_name(value);
                line.error(format!("key \"text\": expected a string, found {found}"))
            })?;
            // Each of its sentences gets the rest of the object: with the text of all, they would
            // be quadratic.
            let record = object.without(&[TEXT], document);
            for sentence in self.tokenizer.read_line(&text, line.file, line.number)? {
                self.push(sentence, record.clone(), ready);
            }
            return Ok(());
        }
        let keys = object.members.iter().take(LISTED_KEYS);
        let mut found: Vec<String> = keys.map(|(key, _)| format!("{key:?}")).collect();
        if object.members.len() > LISTED_KEYS {
            found.push("…".to_owned());
        }
        let found = if found.is_empty() { "no key".to_owned() } else { found.join(", ") };
        Err(line.error(format!("expected the key \"tokens\" or \"text\", found {found}")))
    }

    /// Determines the columns from the first object, and the names of labels that are numbers.
    fn detect(&self, line: &InputLine, object: &JsonObject, tokens: usize) -> Result<JsonColumns> {
        let mut columns = JsonColumns::detect(line, object, tokens, &self.options)?;
        let key = columns.schema.label().and_then(|label| columns.keys.get(label));
        let own = key.and_then(|key| self.features.get(key)).map_or(&[][..], Vec::as_slice);
        let given = &self.options.supervision.label_names;
        columns.names = label_names(own, given).to_vec();
        if !given.is_empty() && columns.names != *given {
            let said = "the names of labels that are given are those of the data set in another \
                        order: its own order is read";
            self.options.report.warn(Place::file(&**line.file), said);
        }
        Ok(columns)
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
            None => self.detect(line, object, tokens.len())?,
        };
        let count = tokens.len();
        let mut cells = vec![tokens]; // [C][T]
        let mut labels = Vec::new(); // [T] if labels may be partial
        for (i, key) in columns.keys.iter().enumerate().skip(1) {
            let is_label = columns.schema.label() == Some(i);
            let is_partial = self.options.supervision.partial_labels;
            let value = object.get(key);
            let named = match value.filter(|_| is_label) {
                Some(value) => named(line, key, value, (&columns.names, is_partial))?,
                None => None,
            };
            let value = named.as_deref().or(value);
            if is_partial && is_label {
                labels = partial_labels(line, value, key, count)?;
                cells.push(labels.iter().map(TokenLabel::text).collect());
            } else {
                cells.push(column(line, value, key, count)?);
            }
        }
        let mut labels = labels.into_iter();
        let mut sentence = Sentence::new(columns.schema.clone(), line.file.clone());
        if self.options.supervision.weights {
            set_weight(line, object, &mut sentence)?;
        }
        for t in 0..count {
            sentence.push_input(cells.iter().map(|column| &column[t]), line.number)?;
            self.options.check_length(&sentence)?;
            if sentence.label(t).is_some_and(str::is_empty) {
                return Err(line.error(format!(
                    "the label of token {} is empty; expected a label, such as O",
                    t + 1
                )));
            }
            let label = sentence.label(t).unwrap_or_default();
            check_token((sentence.cell(t, 0), false), label, line, &self.options.report);
            if let Some(label) = labels.next() {
                sentence.set_last_label(label);
            }
        }
        sentence.shrink_to_fit();
        self.columns = Some(columns);
        Ok(sentence)
    }
}

impl SentenceParser for JsonlParser {
    fn memory_per_byte(&self) -> u64 {
        30
    }

    fn line(&mut self, line: &InputLine, ready: &mut VecDeque<Sentence>) -> Result<()> {
        let is_blank = is_blank(line.text);
        if std::mem::replace(&mut self.blank, is_blank) && !is_blank {
            self.separation.add(Separation::BLANK_LINE);
        }
        if is_blank { Ok(()) } else { self.record(line, ready) }
    }

    fn recover(&mut self, lines: &mut LineReader) -> Result<()> {
        lines.skip_line()
    }
}

/// Gives a sentence the weight of its object, if it has one.
fn set_weight(line: &InputLine, object: &JsonObject, sentence: &mut Sentence) -> Result<()> {
    let Some(value) = object.get("weight") else { return Ok(()) };
    let weight = match serde_json::from_str(value.get()) {
        // An array is a column of this name.
        Ok(Value::Null | Value::Array(_)) => return Ok(()),
        Ok(Value::Number(number)) => number.as_f64().unwrap_or(f64::INFINITY),
        _ => {
            let found = type_name(value);
            return Err(line.error(format!("key \"weight\": expected a number, found {found}")));
        }
    };
    sentence.set_weight(weight).map_err(|message| line.error(message))
}

#[cfg(test)]
mod tests {
    use crate::corpus::tests::{error, options, sentences};
    use crate::corpus::{Format, ReadOptions};
    use crate::sentence::DocumentRule;
    use crate::sentence::Sentence;
    use crate::testing::rows;

    fn jsonl() -> ReadOptions {
        options(Format::Jsonl)
    }

    fn unlabeled() -> ReadOptions {
        ReadOptions { unlabeled: true, ..jsonl() }
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
        let options = ReadOptions { label: Some("ner".to_owned()), ..jsonl() };
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
             expected the keys \"tokens\" and \"labels\" (`format` spans reads spans of \
             characters)"
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
    fn objects_that_are_none_are_errors_with_their_line_and_key() {
        let table = r#"
            {"tokens": ["ä" 1]} → :17: not valid JSON: expected `,` or `]`
            {"tokens": ["a" → :15: not valid JSON: EOF while parsing a list
            [1] → : invalid type: sequence, expected a JSON object such as {"tokens": ["a"],
                "labels": ["O"]}
            {"a": 1, "b": 2} → : expected the key "tokens" or "text", found "a", "b"
            {} → : expected the key "tokens" or "text", found no key
            {"tokens":[],"tokens":[]} → : the key "tokens" occurs twice
            {"tokens": "a b"} → : key "tokens": expected an array of strings, found a string
            {"tokens": ["a", null]} → : key "tokens": expected an array of strings, but item 2 is
                null
            {"tokens": ["a"], "labels": {}} → : key "labels": expected an array of strings, found an
                object
            {"tokens": ["a"]} → : the key "labels" is missing; expected a string for each token
                there
            {"tokens": ["a", "b"], "labels": ["O"]} → : key "labels": expected as many strings as
                tokens (2), found 1
            {"tokens": ["a"], "labels": [""]} → : the label of token 1 is empty; expected a label,
                such as O
        "#;
        for (text, expected) in rows(table) {
            assert_eq!(error(text, &jsonl()), format!("x:1{expected}"));
        }
        let text = "{\"tokens\":[\"a\"],\"pos\":[\"N\"],\"labels\":[\"O\"]}\n\
                    {\"tokens\":[\"a\"],\"labels\":[\"O\"]}";
        assert_eq!(
            error(text, &jsonl()),
            "x:2: the key \"pos\" is missing; expected a string for each token there"
        );
    }

    #[test]
    fn attributes_are_arrays_of_names_and_pairs_or_objects() {
        let text = r#"{"tokens": ["Ann", "left"], "labels": ["B", "O"],
            "attributes": [["w=Ann", ["len", 3]], {"w=left": 1, "edge:x": 0.5}]}"#;
        let read = sentences(&text.replace('\n', " "), &jsonl()).unwrap();
        let attributes = read[0].attributes.as_ref().unwrap();
        let of = |t| attributes.token(t).collect::<Vec<_>>();
        assert_eq!(of(0), [("w=Ann", 1.0), ("len", 3.0)]);
        assert_eq!(of(1), [("w=left", 1.0)]);
        assert_eq!(attributes.edge(1).collect::<Vec<_>>(), [("x", 0.5)]);
        assert_eq!(read[0].schema().names(), ["word", "label"]);
    }

    #[test]
    fn attributes_alone_are_a_sentence_and_strings_are_a_column() {
        let read = sentences(r#"{"attributes": [["a"], []], "labels": ["B", "O"]}"#, &jsonl());
        let read = read.unwrap();
        assert_eq!(read[0].words().unwrap().collect::<Vec<_>>(), ["_", "_"]);
        assert_eq!(read[0].attributes.as_ref().unwrap().len(), 2);
        let column = r#"{"tokens": ["a"], "attributes": ["x"], "labels": ["B"]}"#;
        let read = sentences(column, &jsonl()).unwrap();
        assert_eq!(read[0].schema().names(), ["word", "attributes", "label"]);
        assert!(read[0].attributes.is_none());
    }

    #[test]
    fn attributes_that_are_none_are_errors_with_their_item() {
        let table = r#"
            [[1]] → item 1: expected names, or pairs of a name and a number, in an array
            [[["a"]]] → item 1: expected pairs of a name and a number, such as ["w=Ann", 0.5]
            [{"a": "x"}] → item 1: attribute 'a' has the value "x"; expected a finite number
            [[""]] → item 1: an attribute without a name
        "#;
        for (attributes, expected) in rows(table) {
            let text = format!("{{\"attributes\": {attributes}, \"labels\": [\"O\"]}}");
            let expected = format!("x:1: key \"attributes\", {expected}");
            assert_eq!(error(&text, &jsonl()), expected);
        }
        assert_eq!(
            error(r#"{"tokens": ["a"], "attributes": [[], []], "labels": ["O"]}"#, &jsonl()),
            "x:1: key \"attributes\": expected the attributes of each token (1), found 2"
        );
        let huge = r#"{"attributes": [[["a", 1e999]]], "labels": ["O"]}"#;
        assert!(error(huge, &jsonl()).starts_with("x:1"), "{}", error(huge, &jsonl()));
    }
}
