//! The lexemes of the template language, its names, quoting and escaping.

use crate::error::{Error, Place};

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
const KEYWORDS: [&str; 7] = ["if", "and", "not", "matches", "exists", "node", "edge"];

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
    let found = FUNCTIONS.iter().find(|(function, _)| *function == name);
    found.map_or("word", |(_, example)| example)
}

/// Returns whether `name` is a function that needs no parentheses.
fn is_bare_function(name: &str) -> bool {
    is_function(name) && !CALLED_FUNCTIONS.contains(&name)
}

/// Returns whether `name` is a keyword.
pub(super) fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

/// Returns whether a template can refer to the column `name` by its bare name.
pub(super) fn is_bare_column_name(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    starts
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !is_keyword(name)
        && !is_bare_function(name)
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

/// A line of a template file, for error messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineLocation<'a> {
    /// The name of the template file.
    pub file: &'a str,
    /// The line number, from 1.
    pub line: u64,
}

impl LineLocation<'_> {
    /// Returns an error at `column` (in characters, from 1) of the line.
    pub(super) fn error(self, column: u64, message: impl Into<String>) -> Error {
        let message = shorten(message.into());
        Error::input(Place::column(self.file, self.line, column), message)
    }
}

/// Maximum number of characters of an error message, which may quote a line.
const MAX_MESSAGE: usize = 400;

/// Omits the middle of a very long message.
fn shorten(message: String) -> String {
    let length = message.chars().count();
    if length <= MAX_MESSAGE {
        return message;
    }
    let half = MAX_MESSAGE / 2;
    let start: String = message.chars().take(half).collect();
    let end: String = message.chars().skip(length - half).collect();
    format!("{start}…{end}")
}

/// The kind of a lexeme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LexemeKind<'a> {
    /// A function, a column or a keyword.
    Name(&'a str),
    /// An integer, optionally signed.
    Integer(i32),
    /// A number with a fractional part or an exponent.
    Decimal,
    /// The text between double quotes, with escapes unresolved.
    Quoted(&'a str),
    /// An operator or a bracket.
    Symbol(&'static str),
    /// The end of the line, or a comment.
    End,
}

/// A lexeme and its location.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexeme<'a> {
    pub kind: LexemeKind<'a>,
    /// The lexeme as written; empty at the end of the line.
    pub text: &'a str,
    /// Column of its first character, from 1.
    pub column: u64,
}

/// Operators and brackets, two-character symbols first.
const SYMBOLS: [&str; 16] =
    ["..", "<=", ">=", "==", "!=", "*=", "<", ">", "=", "(", ")", "[", "]", ",", "&", ":"];

/// Splits a line into lexemes; the last is always [`LexemeKind::End`].
///
/// # Errors
///
/// [`Error::Input`] at a character that cannot start a lexeme, at an unterminated string and at an
/// integer that overflows.
pub(super) fn lexemes<'a>(
    line: &'a str,
    location: LineLocation<'_>,
) -> Result<Vec<Lexeme<'a>>, Error> {
    let mut lexemes = Vec::new();
    let (mut rest, mut column) = (line, 1);
    loop {
        let trimmed = rest.trim_start();
        column += characters(&rest[..rest.len() - trimmed.len()]);
        rest = trimmed;
        if rest.is_empty() || rest.starts_with('#') {
            lexemes.push(Lexeme { kind: LexemeKind::End, text: "", column });
            return Ok(lexemes);
        }
        let (kind, length) =
            first_lexeme(rest).map_err(|message| location.error(column, message))?;
        let (text, after) = rest.split_at(length);
        lexemes.push(Lexeme { kind, text, column });
        column += characters(text);
        rest = after;
    }
}

fn characters(text: &str) -> u64 {
    text.chars().count() as u64
}

/// Returns the first lexeme of `rest`, which is not empty, and its length in bytes.
fn first_lexeme(rest: &str) -> Result<(LexemeKind<'_>, usize), String> {
    if let Some(quoted) = rest.strip_prefix('"') {
        let length = closing_quote(quoted)
            .ok_or_else(|| format!("unterminated string {rest}; expected a closing quote"))?;
        return Ok((LexemeKind::Quoted(&quoted[..length]), length + 2));
    }
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    if rest.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        return Ok((LexemeKind::Name(&rest[..length]), length));
    }
    let unsigned = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    if unsigned.starts_with(|c: char| c.is_ascii_digit()) {
        let after = unsigned.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_digit = |c: char| c.is_ascii_digit();
        let fraction = after.strip_prefix('.').filter(|rest| rest.starts_with(is_digit));
        let end = fraction.map_or(after, |fraction| fraction.trim_start_matches(is_digit));
        let exponent = end.strip_prefix(['e', 'E']);
        let exponent = exponent.map(|rest| rest.strip_prefix(['+', '-']).unwrap_or(rest));
        let exponent = exponent.filter(|rest| rest.starts_with(is_digit));
        let end = exponent.map_or(end, |exponent| exponent.trim_start_matches(is_digit));
        if end.len() < after.len() {
            return Ok((LexemeKind::Decimal, rest.len() - end.len()));
        }
        let number = &rest[..rest.len() - after.len()];
        let value = number.parse().map_err(|_| format!("the number {number} is too large"))?;
        return Ok((LexemeKind::Integer(value), number.len()));
    }
    if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
        return Ok((LexemeKind::Symbol(symbol), symbol.len()));
    }
    let c = rest.chars().next().unwrap_or(' ');
    Err(format!("unexpected character '{c}'"))
}

/// Returns the position of the first unescaped double quote.
pub(super) fn closing_quote(text: &str) -> Option<usize> {
    let mut characters = text.char_indices();
    while let Some((i, c)) = characters.next() {
        match c {
            '"' => return Some(i),
            '\\' => {
                characters.next();
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCATION: LineLocation<'_> = LineLocation { file: "t.tpl", line: 3 };

    fn kinds(line: &str) -> Vec<LexemeKind<'_>> {
        let lexemes = lexemes(line, LOCATION).unwrap();
        lexemes.iter().map(|lexeme| lexeme.kind).collect()
    }

    #[test]
    fn a_line_is_split_into_lexemes() {
        use LexemeKind::{Decimal, End, Integer, Name, Quoted, Symbol};
        assert_eq!(
            kinds(r#"edge: bag(größe, -4..+2) if x <= 3.5 # "no"#),
            [
                Name("edge"),
                Symbol(":"),
                Name("bag"),
                Symbol("("),
                Name("größe"),
                Symbol(","),
                Integer(-4),
                Symbol(".."),
                Integer(2),
                Symbol(")"),
                Name("if"),
                Name("x"),
                Symbol("<="),
                Decimal,
                End,
            ]
        );
        assert_eq!(
            kinds("l2*=1e-3 l1=2E5 3e"),
            [
                Name("l2"),
                Symbol("*="),
                Decimal,
                Name("l1"),
                Symbol("="),
                Decimal,
                Integer(3),
                Name("e"),
                End,
            ]
        );
        assert_eq!(
            kinds(r##""^\d\"#\\"=="""##),
            [Quoted(r##"^\d\"#\\"##), Symbol("=="), Quoted(""), End]
        );
    }

    #[test]
    fn messages_quote_long_lines_in_part() {
        let line = format!("word[{}é]", "9".repeat(1000));
        let error = lexemes(&line, LOCATION);
        let message = error.unwrap_err().to_string();
        assert!(message.starts_with("t.tpl:3:6: the number 999"), "{message}");
        assert!(message.contains('…') && message.ends_with("9 is too large"));
        assert!(message.len() < 500);
    }

    #[test]
    fn columns_count_characters() {
        let lexemes = lexemes("größe  é", LOCATION).unwrap();
        assert_eq!(lexemes[1].column, 8);
        assert_eq!(lexemes[2].column, 9);
    }

    #[test]
    fn errors_name_line_and_column() {
        let error = |line| lexemes(line, LOCATION).unwrap_err().to_string();
        assert_eq!(error("word ; x"), "t.tpl:3:6: unexpected character ';'");
        assert_eq!(error("word[99999999999]"), "t.tpl:3:6: the number 99999999999 is too large");
        assert_eq!(
            error(r#"regex("a\")"#),
            r#"t.tpl:3:7: unterminated string "a\"); expected a closing quote"#
        );
        assert_eq!(error("a -b"), "t.tpl:3:3: unexpected character '-'");
    }
}
