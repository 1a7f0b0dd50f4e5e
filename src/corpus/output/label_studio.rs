//! Tasks of Label Studio with predictions: a JSON array, an item per text.
//!
//! Names are those of Label Studio's own template for named entities: the control tag `label` for
//! the object tag `text`, whose value is `$text`. Offsets count code points, as Label Studio does.

use std::ops::Range;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::json;

use super::annotated_text::{AnnotatedText, Mark};
use super::spans::SpansRecord;
use crate::corpus::offset_unit::OffsetUnit;

/// A task with one prediction.
pub(super) struct Task<'a> {
    text: &'a AnnotatedText,
    spans: SpansRecord<'a>,
    model: &'a str,
    number: u64,
}

impl<'a> Task<'a> {
    /// The task of a text; `number` counts the texts from 1, since ids must differ in all tasks.
    pub fn new(text: &'a AnnotatedText, model: &'a str, number: u64) -> Self {
        Self {
            text,
            spans: SpansRecord::new(text, OffsetUnit::Chars),
            model,
            number,
        }
    }

    fn region(&self, i: usize, mark: &Mark) -> serde_json::Value {
        let Range { start, end } = self.spans.position(mark);
        let mut region = json!({
            "id": format!("{}-{}", self.number, i + 1),
            "from_name": "label",
            "to_name": "text",
            "type": "labels",
            "value": {
                "start": start,
                "end": end,
                "text": self.text.covered(mark),
                "labels": [mark.label],
            },
        });
        if let Some(probability) = mark.probability {
            region["score"] = json!(probability);
        }
        region
    }
}

impl Serialize for Task<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let marks = self.text.marks.iter().enumerate();
        let regions: Vec<_> = marks.map(|(i, mark)| self.region(i, mark)).collect();
        let mut prediction = json!({ "model_version": self.model });
        if let Some(probability) = self.text.probability {
            prediction["score"] = json!(probability);
        }
        prediction["result"] = regions.into();
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("data", &TaskData(self.text))?;
        map.serialize_entry("predictions", &[prediction])?;
        map.end()
    }
}

/// The other members of the input object, and the text.
struct TaskData<'a>(&'a AnnotatedText);

impl Serialize for TaskData<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.0.serialize_members(&mut map)?;
        map.serialize_entry("text", &*self.0.text)?;
        map.end()
    }
}
