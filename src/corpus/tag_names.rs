//! Which column has the labels, and the names of labels that are numbers, as in data sets of
//! HuggingFace.

use std::collections::BTreeMap;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Number, Value};

use super::lines::InputLine;
use crate::error::Result;

/// The number of labels that HuggingFace's libraries ignore.
const IGNORED: f64 = -100.0;

/// Returns the only column that can have the labels, in the order of its name: `labels`, another
/// usual name, one that is likely. `None` if there is none, or several with the best name.
pub fn label_column<'a>(names: &[&'a str]) -> Option<&'a str> {
    const LIKELY: [&str; 5] = ["ner", "entity", "entities", "iob", "bio"];
    let steps: [fn(&str) -> bool; 3] = [
        |name| name == "labels",
        |name| ["label", "labels", "tag", "tags"].contains(&name),
        |name| LIKELY.contains(&name) || name.contains("tags"),
    ];
    for is_usual in steps {
        let mut found = names.iter().filter(|name| is_usual(&name.to_lowercase()));
        if let Some(first) = found.next() {
            return found.next().is_none().then_some(*first);
        }
    }
    None
}

/// Returns the names of labels that are numbers: those that are given, unless they are those of the
/// data set itself in another order. Its own is that of the numbers.
pub fn label_names<'a>(own: &'a [String], given: &'a [String]) -> &'a [String] {
    let sorted = |names: &'a [String]| {
        let mut names: Vec<&String> = names.iter().collect();
        names.sort();
        names
    };
    if given.is_empty() || sorted(own) == sorted(given) { own } else { given }
}

/// The names of the labels of each key in a description of a data set's features, such as
/// `{"ner_tags": {"feature": {"names": ["O", "B-PER"]}}}`.
pub(super) fn names_of_features(
    line: &InputLine,
    features: &RawValue,
) -> Result<BTreeMap<String, Vec<String>>> {
    let features: BTreeMap<String, Value> = serde_json::from_str(features.get()).map_err(|_| {
        line.error("key \"features\": expected an object with the names of each key")
    })?;
    Ok(features.into_iter().filter_map(|(key, value)| Some((key, names_in(&value)?))).collect())
}

/// The names in the description of a feature: an array of them, or an object from their numbers.
fn names_in(value: &Value) -> Option<Vec<String>> {
    let name = |value: &Value| value.as_str().map(str::to_owned);
    match value {
        Value::Array(names) => names.iter().map(name).collect(),
        Value::Object(members) if members.contains_key("0") => {
            (0..members.len()).map(|i| members.get(&i.to_string()).and_then(name)).collect()
        }
        Value::Object(members) => {
            let inner = ["names", "feature", "class_label", "sequence", "dtype"];
            inner.iter().find_map(|key| names_in(members.get(*key)?))
        }
        _ => None,
    }
}

/// Returns an array of labels in which numbers are names, or the one that is there; -100 becomes
/// null if labels may be partial.
pub(super) fn named(
    line: &InputLine,
    key: &str,
    value: &RawValue,
    (names, is_partial): (&[String], bool),
) -> Result<Option<Box<RawValue>>> {
    let mut first = value.get().trim_start_matches(|c: char| c == '[' || c.is_whitespace()).chars();
    let is_number = first.next().is_some_and(|c| c == '-' || c.is_ascii_digit());
    if !is_number && names.is_empty() {
        return Ok(None);
    }
    let Ok(mut items) = serde_json::from_str::<Vec<Value>>(value.get()) else { return Ok(None) };
    for (t, item) in items.iter_mut().enumerate() {
        if let Value::Number(number) = item {
            *item = name_of(number, names, is_partial)
                .map_err(|fault| line.error(format!("key \"{key}\", item {}: {fault}", t + 1)))?;
        }
    }
    Ok(to_raw_value(&items).ok())
}

/// Returns the name of a label, or says what is wrong with its number.
fn name_of(number: &Number, names: &[String], is_partial: bool) -> Result<Value, String> {
    let value = number.as_f64().unwrap_or(f64::NAN);
    let whole = (value.fract() == 0.0 && value >= 0.0).then_some(value as usize);
    match whole.and_then(|i| names.get(i)) {
        Some(name) => Ok(Value::from(name.as_str())),
        None if value == IGNORED && is_partial => Ok(Value::Null),
        None if value == IGNORED => Err("found -100, which HuggingFace's libraries ignore; \
             `partial_labels` reads it as an unknown label"
            .to_owned()),
        None if value.fract() != 0.0 => {
            Err(format!("found {number} as a label; expected a whole number, or a name"))
        }
        None if names.is_empty() => Err(format!(
            "found the number {number} as a label; expected names (`label_names` O,B-PER,… are \
             those of the numbers from 0)"
        )),
        None => Err(format!("found the label {number}; there are {} names", names.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::tests::{error, options, sentences};
    use crate::corpus::{Format, ReadOptions, Supervision};
    use crate::testing::rows;

    fn strings(names: &str) -> Vec<String> {
        names.split_whitespace().map(str::to_owned).collect()
    }

    fn jsonl(label: Option<&str>, names: &str, partial_labels: bool) -> ReadOptions {
        let label_names = strings(names);
        let supervision = Supervision { partial_labels, label_names, ..Supervision::default() };
        let label = label.map(str::to_owned);
        ReadOptions { label, supervision, ..options(Format::Jsonl) }
    }

    #[test]
    fn the_column_of_the_labels_has_the_only_name_that_is_usual_or_likely() {
        for (names, expected) in [
            ("labels tags", Some("labels")),
            ("pos Tag ner_tags", Some("Tag")),
            ("label tag", None),
            ("lemma ner_tags", Some("ner_tags")),
            ("ner_tags pos_tags", None),
            ("lemma NER", Some("NER")),
            ("lemma pos", None),
            ("", None),
        ] {
            let list: Vec<&str> = names.split_whitespace().collect();
            assert_eq!(label_column(&list), expected, "{names}");
        }
    }

    #[test]
    fn the_keys_of_labels_are_found_or_named() {
        let tokens = r#""tokens":["Ann","left"]"#;
        let table = r#"
            "ner_tags":["B","O"],"pos":["N","V"] → Ann N B, left V O
            "tags":["B","O"],"pos_tags":["N","V"] → Ann N B, left V O
            "labels":["B","O"],"tags":["N","V"] → Ann N B, left V O
            "ner_tags":["B","O"],"pos_tags":[3,4],"id":["x"] → x:1: the key "labels" is missing;
                expected a string for each token there (found a value for each under "ner_tags",
                "pos_tags": `label` KEY)
            "lemma":["a","b"] → x:1: the key "labels" is missing; expected a string for each token
                there (found a value for each under "lemma": `label` KEY)
            "id":3 → x:1: the key "labels" is missing; expected a string for each token there
        "#;
        for (members, expected) in rows(table) {
            let text = format!("{{{tokens},{members}}}");
            let options = jsonl(None, "", false);
            let read = match sentences(&text, &options) {
                Ok(read) => (0..2)
                    .map(|t| read[0].cells(t).collect::<Vec<_>>().join(" "))
                    .collect::<Vec<_>>()
                    .join(", "),
                Err(error) => error.to_string(),
            };
            assert_eq!(read, expected);
            let is_said = expected.starts_with("Ann") && !members.contains("labels");
            assert_eq!(options.report.notices().len(), usize::from(is_said), "{members}");
        }
        let other = format!("{{{tokens},\"ner_tags\":[\"B\",\"O\"]}}");
        let named = error(&other, &jsonl(Some("ner"), "", false));
        assert!(named.starts_with("x:1: the key \"ner\" is missing;"), "{named}");
    }

    #[test]
    fn numbers_are_labels_with_names() {
        let object =
            |labels: &str| format!("{{\"tokens\":[\"Ann\",\"left\"],\"tags\":[{labels}]}}\n");
        let read = |text: &str, names: &str, partial| {
            let read = sentences(text, &jsonl(Some("tags"), names, partial));
            read.map_or_else(|e| e.to_string(), |read| read[0].labels().unwrap().join(" "))
        };
        assert_eq!(read(&object("1,0"), "O B-PER", false), "B-PER O");
        assert_eq!(read(&object("1.0,\"O\""), "O B-PER", false), "B-PER O");
        assert_eq!(read(&object("1,-100"), "O B-PER", true), "B-PER _");
        let table = "
            -100,1 → 1: found -100, which HuggingFace's libraries ignore; `partial_labels` reads it
                as an unknown label
            0,0.7 → 2: found 0.7 as a label; expected a whole number, or a name
            0,2 → 2: found the label 2; there are 2 names
            0,-1 → 2: found the label -1; there are 2 names
        ";
        for (labels, expected) in rows(table) {
            let error = read(&object(labels), "O B-PER", false);
            assert_eq!(error, format!("x:1: key \"tags\", item {expected}"), "{labels}");
        }
        assert_eq!(
            read(&object("3,0"), "", false),
            "x:1: key \"tags\", item 1: found the number 3 as a label; expected names \
             (`label_names` O,B-PER,… are those of the numbers from 0)"
        );
        for features in [
            r#"{"tags":{"feature":{"names":["O","B-PER"],"_type":"ClassLabel"},"_type":"List"}}"#,
            r#"{"tags":["O","B-PER"],"id":{"dtype":"string"}}"#,
            r#"{"tags":{"sequence":{"class_label":{"names":{"1":"B-PER","0":"O"}}}}}"#,
        ] {
            let text = format!("{{\"features\":{features}}}\n{}", object("1,0"));
            assert_eq!(read(&text, "", false), "B-PER O", "{features}");
            // Its own names are those of the numbers, whatever the order of others.
            assert_eq!(read(&text, "B-PER O", false), "B-PER O", "{features}");
            assert_eq!(read(&text, "OUT B-X", false), "B-X OUT", "{features}");
        }
        assert!(read("{\"features\":3}\n", "", false).starts_with("x:1: key \"features\""));
    }
}
