//! The names of the template language, its quoting and escaping, and the tokens of a template line,
//! read one by one, with their locations for error messages.

use crate::error::{Error, Place, Result};

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
pub(super) const KEYWORDS: [&str; 6] = ["if", "and", "not", "matches", "exists", "edge"];

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

/// Returns whether a template can refer to the column `name` by its bare name.
pub(super) fn is_bare_column_name(name: &str) -> bool {
    !name.is_empty()
        && name_length(name) == name.len()
        && !KEYWORDS.contains(&name)
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
                let fault = format!("unknown escape '\\{escape}' in {}", quote(raw));
                return Err(format!("{fault}; expected \\\" or \\\\"));
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

/// A place in a template file, for error messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Location<'a> {
    /// The name of the template file.
    pub file: &'a str,
    /// The line number, from 1.
    pub line: u64,
    /// The column in characters, from 1.
    pub column: u64,
}

impl Location<'_> {
    /// Returns an error at this place.
    pub(super) fn error(self, message: impl Into<String>) -> Error {
        let message = shorten(message.into());
        Error::input(Place::column(self.file, self.line, self.column), message)
    }

    /// Returns an error at this place unless the condition `holds`.
    pub(super) fn ensure(self, holds: bool, message: impl FnOnce() -> String) -> Result<()> {
        if holds { Ok(()) } else { Err(self.error(message())) }
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

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A function, a column or a keyword.
    Name,
    /// A number, optionally with a sign, a fraction and an exponent.
    Number,
    /// A string in double quotes, with its escapes.
    Quoted,
    /// A string without its closing quote.
    Unterminated,
    /// An operator or any other character.
    Symbol,
    /// The end of the line, or a comment.
    End,
}

/// A token as written, which is empty at the end of the line, and its location.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub kind: TokenKind,
    pub text: &'a str,
    pub at: Location<'a>,
}

impl<'a> Token<'a> {
    /// Returns the number, if it is an integer of 32 bits.
    pub(super) fn integer(self) -> Option<i32> {
        self.text.parse().ok().filter(|_| self.kind == TokenKind::Number)
    }

    /// Returns what is between the quotes of a string.
    pub(super) fn quoted(self) -> Option<&'a str> {
        (self.kind == TokenKind::Quoted).then(|| &self.text[1..self.text.len() - 1])
    }
}

/// Operators of two characters.
const OPERATORS: [&str; 5] = ["..", "<=", ">=", "==", "!="];

/// The rest of a template line. Copies look ahead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tokens<'a> {
    rest: &'a str,
    at: Location<'a>, // of the rest
}

impl<'a> Tokens<'a> {
    /// Returns the tokens of `text`, which begins at `at`.
    pub(super) fn new(text: &'a str, at: Location<'a>) -> Self {
        Self { rest: text, at }
    }

    fn skip(&mut self, bytes: usize) -> &'a str {
        let (skipped, rest) = self.rest.split_at(bytes);
        self.at.column += skipped.chars().count() as u64;
        self.rest = rest;
        skipped
    }

    /// Consumes the text before the next `%`, or all that is left.
    pub(super) fn literal(&mut self) -> &'a str {
        self.skip(self.rest.find('%').unwrap_or(self.rest.len()))
    }

    /// Consumes a `%` and the name directly after it, if the rest starts with a `%`.
    pub(super) fn macro_name(&mut self) -> Option<Token<'a>> {
        let (name, at) = (self.rest.strip_prefix('%')?, self.at);
        let text = self.skip(1 + name_length(name));
        Some(Token { kind: TokenKind::Name, text, at })
    }

    /// Consumes the next token. The end of the line is never consumed.
    pub(super) fn next(&mut self) -> Token<'a> {
        self.skip(self.rest.len() - self.rest.trim_start().len());
        let (at, (kind, length)) = (self.at, first_token(self.rest));
        Token { kind, text: self.skip(length), at }
    }

    pub(super) fn peek(mut self) -> Token<'a> {
        self.next()
    }

    /// Consumes the next token if it is this name or symbol.
    pub(super) fn accept(&mut self, text: &str) -> bool {
        let accepted = self.peek().text == text;
        if accepted {
            self.next();
        }
        accepted
    }

    /// Consumes this symbol.
    pub(super) fn expect(&mut self, symbol: &str) -> Result<()> {
        if self.accept(symbol) { Ok(()) } else { Err(self.expected(&format!("'{symbol}'"))) }
    }

    /// Consumes an integer.
    pub(super) fn integer(&mut self, what: &str) -> Result<i32> {
        let number = self.peek().integer().ok_or_else(|| self.expected(what))?;
        self.next();
        Ok(number)
    }

    /// Consumes a string. Returns it with its location.
    pub(super) fn quoted(&mut self, what: &str) -> Result<(&'a str, Location<'a>)> {
        let string = self.peek().quoted().ok_or_else(|| self.expected(what))?;
        Ok((string, self.next().at))
    }

    /// Returns the error that the next token is another than `what`.
    pub(super) fn expected(&self, what: &str) -> Error {
        let Token { kind, text, at } = self.peek();
        let is_whole = |number: &str| !number.contains(['.', 'e', 'E']);
        at.error(match kind {
            TokenKind::End => format!("expected {what}, found the end of the line"),
            TokenKind::Unterminated => {
                format!("unterminated string {text}; expected a closing quote")
            }
            TokenKind::Number if text.parse::<i32>().is_err() && is_whole(text) => {
                format!("the number {text} is too large")
            }
            _ => format!("expected {what}, found '{text}'"),
        })
    }
}

/// Returns the kind of the first token of `rest`, which starts with it, and its length in bytes.
fn first_token(rest: &str) -> (TokenKind, usize) {
    let Some(first) = rest.chars().next().filter(|c| *c != '#') else { return (TokenKind::End, 0) };
    if first == '"' {
        return match closing_quote(&rest[1..]) {
            Some(end) => (TokenKind::Quoted, end + 2),
            None => (TokenKind::Unterminated, rest.len()),
        };
    }
    let operator = OPERATORS.iter().find(|operator| rest.starts_with(**operator));
    match (name_length(rest), number_length(rest)) {
        (0, 0) => (TokenKind::Symbol, operator.map_or(first.len_utf8(), |o| o.len())),
        (0, length) => (TokenKind::Number, length),
        (length, _) => (TokenKind::Name, length),
    }
}

/// Returns the length of the name that `text` starts with, in bytes; 0 if there is none.
pub(super) fn name_length(text: &str) -> usize {
    if !text.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return 0;
    }
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

/// Returns the length of the number that `text` starts with, in bytes; 0 if there is none.
fn number_length(text: &str) -> usize {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let sign = |from: usize| usize::from(text[from..].starts_with(['+', '-']));
    let mut end = sign(0) + digits(sign(0));
    if digits(sign(0)) == 0 {
        return 0;
    }
    if text[end..].starts_with('.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if text[end..].starts_with(['e', 'E']) {
        let start = end + 1 + sign(end + 1);
        end = if digits(start) > 0 { start + digits(start) } else { end };
    }
    end
}

/// Returns the position of the first unescaped double quote.
fn closing_quote(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.find(|c| {
        let is_end = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(line: &str) -> Vec<Token<'_>> {
        let mut tokens = Tokens::new(line, Location { file: "t.tpl", line: 3, column: 1 });
        let mut all = Vec::new();
        while tokens.peek().kind != TokenKind::End {
            all.push(tokens.next());
        }
        all
    }

    #[test]
    fn a_line_is_split_into_tokens() {
        use TokenKind::{Name, Number, Quoted, Symbol, Unterminated};
        for (line, expected) in [
            (
                r#"edge: bag(größe, -4..+2) if x <= 3.5 # "no"#,
                &[
                    (Name, "edge"),
                    (Symbol, ":"),
                    (Name, "bag"),
                    (Symbol, "("),
                    (Name, "größe"),
                    (Symbol, ","),
                    (Number, "-4"),
                    (Symbol, ".."),
                    (Number, "+2"),
                    (Symbol, ")"),
                    (Name, "if"),
                    (Name, "x"),
                    (Symbol, "<="),
                    (Number, "3.5"),
                ][..],
            ),
            (
                "l2>=1e-3 2E5 3e",
                &[
                    (Name, "l2"),
                    (Symbol, ">="),
                    (Number, "1e-3"),
                    (Number, "2E5"),
                    (Number, "3"),
                    (Name, "e"),
                ],
            ),
            (
                r##""^\d\"#\\"=="""##,
                &[(Quoted, r##""^\d\"#\\""##), (Symbol, "=="), (Quoted, "\"\"")],
            ),
            ("é?\"a\\\"", &[(Name, "é"), (Symbol, "?"), (Unterminated, "\"a\\\"")]),
        ] {
            let found: Vec<_> = tokens(line).iter().map(|token| (token.kind, token.text)).collect();
            assert_eq!(found, expected, "{line}");
        }
        let integers = tokens("-4 5000000000 1.5").into_iter().map(Token::integer);
        assert_eq!(integers.collect::<Vec<_>>(), [Some(-4), None, None]);
    }

    #[test]
    fn columns_count_characters() {
        let columns = tokens("größe  é").iter().map(|token| token.at.column).collect::<Vec<_>>();
        assert_eq!(columns, [1, 8]);
    }

    #[test]
    fn messages_quote_long_lines_in_part() {
        let line = format!("{}é", "9".repeat(1000));
        let tokens = Tokens::new(&line, Location { file: "t.tpl", line: 3, column: 1 });
        let message = tokens.expected("']'").to_string();
        assert!(message.starts_with("t.tpl:3:1: the number 999"), "{message}");
        assert!(message.contains('…') && message.ends_with("9 is too large"));
        assert!(message.len() < 500);
    }
}
