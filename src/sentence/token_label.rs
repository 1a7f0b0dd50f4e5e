//! Labels that are not fully known.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};

/// Stands for an unknown label in text.
const UNKNOWN: &str = "_";

const EMPTY: &str = "a label is empty";

/// Separates the labels of a set in text.
const SEPARATOR: char = '|';

/// What is known about the label of a token.
///
/// In text, `_` is an unknown label and `B-PER|B-ORG` one of two labels. Corpora are read so only
/// on request ([`ReadOptions::partial_labels`](crate::corpus::ReadOptions)), since both may also be
/// ordinary labels.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TokenLabel {
    /// This label.
    Known(String),
    /// One of these labels.
    OneOf(Vec<String>),
    /// Any label.
    Unknown,
}

impl TokenLabel {
    /// Returns the labels that are allowed; none if any is.
    pub fn labels(&self) -> &[String] {
        match self {
            Self::Known(label) => std::slice::from_ref(label),
            Self::OneOf(labels) => labels,
            Self::Unknown => &[],
        }
    }

    /// Returns the text that stands for it in a column.
    pub fn text(&self) -> String {
        match self {
            Self::Unknown => UNKNOWN.to_owned(),
            _ => self.labels().join("|"),
        }
    }

    /// Drops repeated labels; a set of one is a known label.
    ///
    /// # Errors
    ///
    /// There is no label, or an empty one.
    pub fn normalized(self) -> Result<Self, &'static str> {
        if self.labels().iter().any(String::is_empty) {
            return Err(EMPTY);
        }
        let Self::OneOf(labels) = self else { return Ok(self) };
        let mut distinct: Vec<String> = Vec::with_capacity(labels.len());
        for label in labels {
            if !distinct.contains(&label) {
                distinct.push(label);
            }
        }
        match distinct.len() {
            0 => Err("no label is allowed"),
            1 => Ok(Self::Known(distinct.remove(0))),
            _ => Ok(Self::OneOf(distinct)),
        }
    }

    /// Converts a JSON value: a string as in a column, an array of labels, or null.
    ///
    /// # Errors
    ///
    /// The fault: what was found and what was expected.
    fn from_json(value: &Value) -> Result<Self, String> {
        let found = match value {
            Value::Null => return Ok(Self::Unknown),
            Value::String(text) => return text.parse().map_err(|error: Error| error.to_string()),
            Value::Array(labels) => {
                let labels = labels.iter().map(|label| label.as_str().map(str::to_owned));
                match labels.collect() {
                    Some(labels) => return Ok(Self::OneOf(labels).normalized()?),
                    None => "an array of other things",
                }
            }
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::Object(_) => "an object",
        };
        Err(format!("expected a label, an array of labels or null, found {found}"))
    }

    /// Converts the items of an array of JSON, one for each token.
    ///
    /// # Errors
    ///
    /// What follows the name of the array in a message: that there are more or fewer items, or
    /// which one is wrong.
    pub fn all_from_json(items: &[Value], tokens: usize) -> Result<Vec<Self>, String> {
        if items.len() != tokens {
            let found = items.len();
            return Err(format!(": expected as many labels as tokens ({tokens}), found {found}"));
        }
        let labels = items.iter().enumerate().map(|(t, item)| {
            Self::from_json(item).map_err(|fault| format!(", item {}: {fault}", t + 1))
        });
        labels.collect()
    }

    /// The memory usage on the heap in bytes.
    pub(super) fn memory(&self) -> usize {
        self.labels().iter().map(|label| 40 + label.capacity()).sum()
    }
}

/// Parses a label as it is written in a column.
impl FromStr for TokenLabel {
    type Err = Error;

    /// # Errors
    ///
    /// [`Error::Parameter`] if a label of a set is empty, repeated or unknown.
    fn from_str(text: &str) -> Result<Self> {
        if text == UNKNOWN {
            return Ok(Self::Unknown);
        }
        let labels: Vec<String> = text.split(SEPARATOR).map(str::to_owned).collect();
        let is_repeated = |i: usize| labels[..i].contains(&labels[i]);
        let label = if labels.iter().any(String::is_empty) {
            Err(EMPTY)
        } else if labels.len() > 1 && labels.iter().any(|label| label == UNKNOWN) {
            Err("'_', any label, is one of its parts")
        } else if (1..labels.len()).any(is_repeated) {
            Err("a label is repeated")
        } else {
            Self::OneOf(labels).normalized()
        };
        label.map_err(|fault| {
            let expected = "expected a label, several such as B-PER|B-ORG, or '_' for any";
            Error::parameter(format!("the partial label '{text}': {fault}; {expected}"))
        })
    }
}

impl From<&str> for TokenLabel {
    /// The label itself, whatever its text.
    fn from(label: &str) -> Self {
        Self::Known(label.to_owned())
    }
}

/// `None` is an unknown label.
impl From<Option<&str>> for TokenLabel {
    fn from(label: Option<&str>) -> Self {
        label.map_or(Self::Unknown, Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_a_label_a_set_or_any() {
        let parse = |text: &str| text.parse::<TokenLabel>().unwrap();
        assert_eq!(parse("_"), TokenLabel::Unknown);
        assert_eq!(parse("B-PER"), TokenLabel::from("B-PER"));
        let set = parse("B-PER|B-ORG");
        assert_eq!(set.labels(), ["B-PER", "B-ORG"]);
        assert_eq!(set.text(), "B-PER|B-ORG");
        assert_eq!(TokenLabel::Unknown.text(), "_");
    }

    #[test]
    fn parts_of_a_set_are_labels() {
        for (text, fault) in [
            ("", "a label is empty"),
            ("A|", "a label is empty"),
            ("|B", "a label is empty"),
            ("A|B|A", "a label is repeated"),
            ("A|_", "'_', any label, is one of its parts"),
        ] {
            let error = text.parse::<TokenLabel>().unwrap_err().to_string();
            let expected = format!("the partial label '{text}': {fault}; ");
            assert!(error.starts_with(&expected), "{error}");
        }
        assert!(TokenLabel::OneOf(vec![]).normalized().is_err());
    }
}
