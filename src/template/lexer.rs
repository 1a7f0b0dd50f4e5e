//! A template line as a row of tokens.

use crate::error::{Error, Place};

/// A line of a template file, for the places of its faults.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot<'a> {
    /// The template file.
    pub file: &'a str,
    /// The line, from 1.
    pub line: u64,
}

impl Spot<'_> {
    /// A fault at `column` (in characters, from 1) of the line.
    pub(super) fn fault(self, column: u64, message: impl Into<String>) -> Error {
        Error::input(Place::column(self.file, self.line, column), message)
    }
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    /// A function, a column or a key word.
    Name(&'a str),
    /// A whole number, with or without a sign.
    Integer(i32),
    /// A number with a fraction.
    Decimal,
    /// What stands between double quotes, escapes untouched.
    Quoted(&'a str),
    /// An operator or a bracket.
    Symbol(&'static str),
    /// The end of the line, or a comment.
    End,
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub kind: Kind<'a>,
    /// The token as written; empty at the end of the line.
    pub text: &'a str,
    /// Column of its first character, from 1.
    pub column: u64,
}

/// Operators and brackets; those of two characters first.
const SYMBOLS: [&str; 15] = [
    "..", "<=", ">=", "==", "!=", "<", ">", "=", "(", ")", "[", "]", ",", "&", ":",
];

/// Cuts a line into tokens; the last is always [`Kind::End`].
///
/// # Errors
///
/// [`Error::Input`] at a character that begins no token, at an unfinished string and at a
/// number that does not fit.
pub(super) fn tokens<'a>(line: &'a str, spot: Spot<'_>) -> Result<Vec<Token<'a>>, Error> {
    let mut tokens = Vec::new();
    let (mut rest, mut column) = (line, 1);
    loop {
        let trimmed = rest.trim_start();
        column += characters(&rest[..rest.len() - trimmed.len()]);
        rest = trimmed;
        if rest.is_empty() || rest.starts_with('#') {
            tokens.push(Token {
                kind: Kind::End,
                text: "",
                column,
            });
            return Ok(tokens);
        }
        let (kind, length) = token(rest).map_err(|message| spot.fault(column, message))?;
        let (text, after) = rest.split_at(length);
        tokens.push(Token { kind, text, column });
        column += characters(text);
        rest = after;
    }
}

fn characters(text: &str) -> u64 {
    text.chars().count() as u64
}

/// The first token of `rest`, which is not empty, and its length in bytes.
fn token(rest: &str) -> Result<(Kind<'_>, usize), String> {
    if let Some(quoted) = rest.strip_prefix('"') {
        let length = closing_quote(quoted)
            .ok_or_else(|| format!("the string {rest} does not end; expected a closing quote"))?;
        return Ok((Kind::Quoted(&quoted[..length]), length + 2));
    }
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    if rest.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        return Ok((Kind::Name(&rest[..length]), length));
    }
    let unsigned = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    if unsigned.starts_with(|c: char| c.is_ascii_digit()) {
        let after = unsigned.trim_start_matches(|c: char| c.is_ascii_digit());
        let fraction = after.strip_prefix('.').unwrap_or("");
        if fraction.starts_with(|c: char| c.is_ascii_digit()) {
            let after = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            return Ok((Kind::Decimal, rest.len() - after.len()));
        }
        let number = &rest[..rest.len() - after.len()];
        let value = number
            .parse()
            .map_err(|_| format!("the number {number} is too large"))?;
        return Ok((Kind::Integer(value), number.len()));
    }
    if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
        return Ok((Kind::Symbol(symbol), symbol.len()));
    }
    let c = rest.chars().next().unwrap_or(' ');
    Err(format!("'{c}' has no meaning in a template"))
}

/// Where the string ends; a backslash takes the next character with it.
fn closing_quote(text: &str) -> Option<usize> {
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

    const SPOT: Spot<'_> = Spot {
        file: "t.tpl",
        line: 3,
    };

    fn kinds(line: &str) -> Vec<Kind<'_>> {
        let tokens = tokens(line, SPOT).unwrap();
        tokens.iter().map(|token| token.kind).collect()
    }

    #[test]
    fn a_line_is_cut_into_tokens() {
        use Kind::{Decimal, End, Integer, Name, Quoted, Symbol};
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
            kinds(r##""^\d\"#\\"=="""##),
            [Quoted(r##"^\d\"#\\"##), Symbol("=="), Quoted(""), End]
        );
    }

    #[test]
    fn columns_count_characters() {
        let tokens = tokens("größe  é", SPOT).unwrap();
        assert_eq!(tokens[1].column, 8);
        assert_eq!(tokens[2].column, 9);
    }

    #[test]
    fn faults_name_line_and_column() {
        let fault = |line| tokens(line, SPOT).unwrap_err().to_string();
        assert_eq!(
            fault("word ; x"),
            "t.tpl:3:6: ';' has no meaning in a template"
        );
        assert_eq!(
            fault("word[99999999999]"),
            "t.tpl:3:6: the number 99999999999 is too large"
        );
        assert_eq!(
            fault(r#"regex("a\")"#),
            r#"t.tpl:3:7: the string "a\") does not end; expected a closing quote"#
        );
        assert_eq!(fault("a -b"), "t.tpl:3:3: '-' has no meaning in a template");
    }
}
