//! Kinds of JSON, by the keys of the first object.

use super::file_kind::FileKind;
use super::first_lines::MAX_BYTES;

/// Returns the kind of a file that begins with these lines, the first of which is not blank.
pub(super) fn kind(lines: &[&str]) -> Option<FileKind> {
    let (first, second) = (lines[0], lines.get(1).copied().unwrap_or_default());
    if !is_json(first, second) {
        return None;
    }
    // A long line is cut.
    let are_lines = first.starts_with('{') && (first.ends_with('}') || first.len() + 4 > MAX_BYTES);
    let object: String = match are_lines {
        true => first.split_whitespace().collect(),
        false => lines.iter().flat_map(|line| line.split_whitespace()).collect(),
    };
    let has = |keys: &[&str], values: &[&str]| {
        let is_value = |rest: &str| values.iter().any(|value| rest.starts_with(value));
        keys.iter().any(|key| {
            let key = format!("\"{key}\":");
            object.match_indices(&key).any(|(i, key)| is_value(&object[i + key.len()..]))
        })
    };
    let has_text = has(&["text"], &["\""]) || has(&["data"], &["{"]);
    let kind = if has(&["tokens"], &["[\"", "[]"]) || has(&["attributes"], &["["]) {
        FileKind::JSON_TOKENS
    } else if has_text
        && (has(&["spans", "entities", "annotations", "result"], &["[", "null"])
            || has(&["label", "labels"], &["[[", "[{", "[]"]))
    {
        FileKind::JSON_SPANS
    } else if has_text && has(&["label", "labels", "class"], &[""]) {
        FileKind::JSON_CLASSES
    } else {
        FileKind::JSON
    };
    Some(match kind {
        kind if !are_lines => kind,
        FileKind::Other(what, advice) if has_text && kind != FileKind::JSON_TOKENS => {
            FileKind::JsonTexts(what, advice)
        }
        _ => FileKind::Jsonl,
    })
}

/// Returns whether JSON begins with these two lines, such as an object, or training data of spaCy.
fn is_json(first: &str, second: &str) -> bool {
    let starts = |line: &str, values: &[&str]| values.iter().any(|value| line.starts_with(value));
    let is_value = second == "{" || starts(second, &["{\"", "[\"", "[["]) || second.contains("\":");
    matches!(first, "[" | "{") && is_value
        || starts(first, &["[{\"", "[[\"", "TRAIN_DATA"])
        || first.starts_with('[') && first.contains("\"entities\"")
        || first.strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with('"'))
            && first.contains("\":")
}
