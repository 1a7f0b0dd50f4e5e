//! Notes about a sentence, which are written with it.

use serde_json::Value;

use crate::corpus::json_object::{JsonObject, member, object};
use crate::sentence::Sentence;

/// Returns a copy of a sentence with notes: comments before it in CoNLL and CoNLL-U
/// (`# uncertainty = 0.5`), members of the object in JSON lines, in place of members of the input
/// with these names. Other formats do not show them.
pub fn with_notes(sentence: &Sentence, notes: &[(&str, Value)]) -> Sentence {
    let mut noted = sentence.clone();
    let comments = notes.iter().map(|(key, value)| match value {
        Value::String(text) => format!("# {key} = {text}"),
        other => format!("# {key} = {other}"),
    });
    noted.layout.comments.extend(comments);
    let mut members: Vec<String> = notes.iter().map(|(key, value)| member(key, value)).collect();
    let record = noted.layout.record.as_deref().unwrap_or("{}");
    if let Ok(input) = serde_json::from_str::<JsonObject<'_>>(record) {
        let others = input.members.iter();
        let others = others.filter(|(key, _)| notes.iter().all(|(name, _)| name != key));
        members.extend(others.map(|(key, value)| member(key, value)));
    }
    noted.layout.record = Some(object(members.into_iter()).into());
    noted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Format;
    use crate::corpus::output::tests::{read, written};
    use crate::corpus::output::{OutputFormat, Tagged, WriteOptions};

    fn noted(input: Format, text: &str, output: OutputFormat) -> String {
        let sentences = read(input, text);
        let notes = [("score", Value::from(0.5)), ("place", Value::from("x:1"))];
        let sentence = with_notes(&sentences[0], &notes);
        let options = WriteOptions { spans: false, ..WriteOptions::new(output) };
        written(&options, &[Tagged::new(&sentence, vec!["X"])]).unwrap()
    }

    #[test]
    fn notes_are_comments_of_columns() {
        let text = noted(Format::Conll, "a\n", OutputFormat::Conll);
        assert_eq!(text, "# score = 0.5\n# place = x:1\na\tX\n\n");
    }

    #[test]
    fn notes_are_members_of_objects_and_replace_those_of_the_input() {
        let json = r#"{"n":1.50,"score":"old","tokens":["a"],"labels":["Y"]}"#;
        assert_eq!(
            noted(Format::Jsonl, json, OutputFormat::Jsonl),
            concat!(r#"{"score":0.5,"place":"x:1","n":1.50,"tokens":["a"],"labels":["X"]}"#, "\n")
        );
        assert!(
            noted(Format::Conll, "a\n", OutputFormat::Jsonl)
                .starts_with(r#"{"score":0.5,"place":"x:1","tokens":["a"]"#)
        );
    }
}
