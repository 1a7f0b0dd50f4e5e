//! The column `MISC` of CoNLL-U: keys with values, such as `SpaceAfter=No|name=B-PER`.
//!
//! In values that are written, `\`, `|`, space, tab, LF and CR are escaped as `\\`, `\p`, `\s`,
//! `\t`, `\n` and `\r`.

/// The escapes: a character and what stands for it after a backslash.
const ESCAPES: [(char, char); 6] =
    [('\\', '\\'), ('|', 'p'), (' ', 's'), ('\t', 't'), ('\n', 'n'), ('\r', 'r')];

/// Returns whether a name can be a key.
pub(super) fn is_key(name: &str) -> bool {
    let invalid = |c: char| matches!(c, '=' | '|' | '\\') || c.is_whitespace();
    !(name.is_empty() || name == "_" || name.contains(invalid))
}

/// Returns the value of a key, unescaped, if it is there.
pub(super) fn value(misc: &str, key: &str) -> Option<String> {
    let mut items = misc.split('|').filter_map(|item| item.split_once('='));
    items.find_map(|(name, value)| (name == key).then(|| unescape(value)))
}

/// Appends `key=value` to `misc`, replacing any previous value of the key.
pub(super) fn with_key(misc: &str, key: &str, value: &str) -> String {
    let has_key = |item: &str| item.split_once('=').is_some_and(|(name, _)| name == key);
    let others = misc.split('|').filter(|item| *item != "_" && !has_key(item));
    let mut items: Vec<&str> = others.collect();
    let new = format!("{key}={}", escape(value));
    items.push(&new);
    items.join("|")
}

fn escape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        match ESCAPES.iter().find(|(plain, _)| *plain == c) {
            Some((_, escaped)) => out.extend(['\\', *escaped]),
            None => out.push(c),
        }
    }
    out
}

/// A backslash before any other character is one.
fn unescape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        let next = chars.clone().next().filter(|_| c == '\\');
        match ESCAPES.iter().find(|(_, escaped)| next == Some(*escaped)) {
            Some((plain, _)) => {
                chars.next();
                out.push(*plain);
            }
            None => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_they_were_written() {
        for label in ["B-PER", "a|b c\\", "\\p", "\t\n\r", "a=b"] {
            let misc = with_key("SpaceAfter=No|ner=O", "ner", label);
            assert!(misc.starts_with("SpaceAfter=No|ner="), "{misc}");
            assert_eq!(value(&misc, "ner").as_deref(), Some(label));
        }
        assert_eq!(value("x|ner=\\q", "ner").as_deref(), Some("\\q"));
        assert_eq!(value("SpaceAfter=No", "ner"), None);
        assert_eq!(value("_", "ner"), None);
    }
}
