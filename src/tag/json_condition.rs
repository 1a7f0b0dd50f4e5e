//! Conditions from JSON lines.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::condition::Condition;
use crate::error::{Error, Result};
use crate::label::Span;
use crate::sentence::{Sentence, TokenLabel};

/// A span as JSON output has it.
#[derive(Deserialize)]
struct SpanItem {
    start: usize,
    end: usize,
    #[serde(rename = "type")]
    kind: String,
}

impl Condition {
    /// Creates a condition from `keys` of the JSON object that a sentence was read from. The value
    /// of a key is an array of labels, one per token, each a string (`_` is unknown, `A|B` one of
    /// two), an array of labels or null; or an array of spans as in JSON output. A key that is
    /// missing or null says nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if a value is something else, or the object has text instead of tokens.
    pub fn from_record(sentence: &Sentence, keys: &[String]) -> Result<Self> {
        let mut condition = Self::new();
        let Some(record) = sentence.layout.record.as_deref() else {
            return Ok(condition);
        };
        let error = |message: String| Error::input(sentence.place(0), message);
        let record: Map<String, Value> =
            serde_json::from_str(record).map_err(|e| error(format!("not valid JSON: {e}")))?;
        for key in keys {
            let items = match record.get(key) {
                None | Some(Value::Null) => continue,
                Some(Value::Array(items)) => items,
                Some(_) => {
                    return Err(error(format!(
                        "key \"{key}\": expected an array of labels or spans"
                    )));
                }
            };
            if !record.contains_key("tokens") && !items.is_empty() {
                return Err(error(format!(
                    "key \"{key}\": the object has text, whose tokens are not known yet; \
                     expected the key \"tokens\" with known labels and spans"
                )));
            }
            let result = match items.iter().all(Value::is_object) {
                true => condition.add_spans(items),
                false => condition.add_labels(items, sentence.len()),
            };
            result.map_err(|fault| error(format!("key \"{key}\"{fault}")))?;
        }
        Ok(condition)
    }

    fn add_spans(&mut self, items: &[Value]) -> Result<(), String> {
        for (i, item) in items.iter().enumerate() {
            let span = SpanItem::deserialize(item).map_err(|_| {
                format!(
                    ", item {}: expected a span such as {{\"start\": 0, \"end\": 2, \"type\": \
                     \"PER\"}}",
                    i + 1
                )
            })?;
            let SpanItem { start, end, kind } = &span;
            let (start, end) = (*start, *end);
            *self = std::mem::take(self).span(&Span { start, end, kind });
        }
        Ok(())
    }

    fn add_labels(&mut self, items: &[Value], tokens: usize) -> Result<(), String> {
        if items.len() != tokens {
            return Err(format!(
                ": expected as many labels as tokens ({tokens}), found {}",
                items.len()
            ));
        }
        for (t, item) in items.iter().enumerate() {
            let label = TokenLabel::from_json(item);
            let label = label.map_err(|fault| format!(", item {}: {fault}", t + 1))?;
            *self = std::mem::take(self).label(t, label);
        }
        Ok(())
    }
}
