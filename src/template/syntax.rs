//! The names of the template language, its quoting and escaping.

use super::tokens::name_length;

/// Every function, with an example of its arguments.
pub(super) const FUNCTIONS: [(&str, &str); 24] = [
    ("bias", "bias"),
    ("start", "start"),
    ("end", "end"),
    ("column", "column(2) or column(\"name\")"),
    ("lower", "lower or lower(column)"),
    ("shape", "shape(dan2)"),
    ("length", "length"),
    ("capitalization", "capitalization"),
    ("class", "class"),
    ("prefix", "prefix(1..4)"),
    ("suffix", "suffix(3)"),
    ("affixes", "affixes(2..6)"),
    ("ngrams", "ngrams(2..4)"),
    ("regex", "regex(\"^[0-9]+$\")"),
    ("bag", "bag(word, 1..4)"),
    ("title", "title"),
    ("occurrence", "occurrence"),
    ("lexicon", "lexicon(\"names.txt\")"),
    ("cluster", "cluster(\"paths.txt\", 4, 6, 10)"),
    ("vector", "vector(\"vectors.txt\", first(50000), scale(0.5))"),
    ("value", "value(column)"),
    ("others", "others(word[-1])"),
    ("mention", "mention(order)"),
    ("run", "run(position)"),
];

/// Functions that need parentheses, since columns may have these names.
const CALLED_FUNCTIONS: [&str; 3] = ["others", "mention", "run"];

/// Keywords of the grammar. A column with such a name must be written `column("…")`.
const KEYWORDS: [&str; 6] = ["if", "and", "not", "matches", "exists", "edge"];

/// Returns the names of all functions.
pub(super) fn function_names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|(name, _)| *name)
}

/// Returns whether `name` is a function.
pub(super) fn is_function(name: &str) -> bool {
    function_names().any(|function| function == name)
}

/// Returns an example of the arguments of a function.
pub(super) fn function_example(name: &str) -> &'static str {
    FUNCTIONS.iter().find(|(function, _)| *function == name).map_or("word", |(_, example)| example)
}

/// Returns whether `name` is a keyword.
pub(super) fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

/// Returns whether a template can refer to the column `name` by its bare name.
pub(super) fn is_bare_column_name(name: &str) -> bool {
    !name.is_empty()
        && name_length(name) == name.len()
        && !is_keyword(name)
        && (!is_function(name) || CALLED_FUNCTIONS.contains(&name))
}

/// Quotes a string in template syntax.
pub(super) fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', r"\\").replace('"', r#"\""#))
}

/// Resolves the escapes `\"` and `\\` of a quoted string.
pub(super) fn unescape(raw: &str) -> Result<String, String> {
    let mut text = String::with_capacity(raw.len());
    let mut characters = raw.chars();
    while let Some(c) = characters.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match characters.next() {
            Some(c @ ('"' | '\\')) => text.push(c),
            other => {
                let escape: String = other.into_iter().collect();
                return Err(format!(
                    "unknown escape '\\{escape}' in {}; expected \\\" or \\\\",
                    quote(raw)
                ));
            }
        }
    }
    Ok(text)
}

/// Calls `visit` with the pieces of `text`, with `|` and `\` escaped by a backslash, until it
/// returns `false`. Returns whether all pieces were visited.
pub(super) fn escape_value(text: &[u8], visit: &mut impl FnMut(&[u8]) -> bool) -> bool {
    text.iter().all(|byte| match byte {
        b'|' => visit(br"\|"),
        b'\\' => visit(br"\\"),
        _ => visit(std::slice::from_ref(byte)),
    })
}
