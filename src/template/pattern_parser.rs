//! Parser for the lines of CRF++ and Wapiti template files; [`super::pattern`] describes them.

use regex::Regex;

use super::ast::{LineOptions, NamePart, TemplateLine};
use super::expressions::Expressions;
use super::function::{ColumnRef, Operation, Position, TemplateFunction, Term, TextInput};
use super::pattern::{Dialect, MacroOperation, PatternMacro};
use super::syntax::{LineLocation, closing_quote};
use crate::error::Result;

/// Maximum number of macros in one line.
const MAX_MACROS: usize = 64;

/// Returns whether a line is in CRF++ or Wapiti syntax, as opposed to dropchain's own language.
pub(super) fn is_pattern(line: &str) -> bool {
    let Some(rest) = line.strip_prefix(['U', 'u', 'B', 'b', '*']) else {
        return false;
    };
    let bare = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    if bare.trim_end().is_empty() || bare.starts_with(':') || line.starts_with('*') {
        return true;
    }
    rest.find('%').is_some_and(|i| {
        let name = rest[i + 1..].trim_start_matches(|c: char| c.is_ascii_alphabetic());
        name.starts_with('[') && !rest[..i].contains(['"', '('])
    })
}

/// Returns the dialect of a file: Wapiti if any line uses syntax that only Wapiti has.
pub(super) fn detect_dialect<'a>(mut lines: impl Iterator<Item = &'a str>) -> Dialect {
    let wapiti = lines.any(|line| {
        line.starts_with(['u', 'b', '*'])
            || ["%X[", "%t[", "%T[", "%m[", "%M[", "%x[@"]
                .iter()
                .any(|syntax| line.contains(syntax))
    });
    if wapiti { Dialect::Wapiti } else { Dialect::CrfPlusPlus }
}

/// A parsed line.
pub(super) struct PatternLine {
    /// `None` for a bare `B`.
    pub line: Option<TemplateLine>,
    /// Whether the line enables bare transitions.
    pub transition: bool,
}

/// Strips the trailing comment, which Wapiti allows, and trailing white space.
pub(super) fn strip_comment(line: &str, dialect: Dialect) -> &str {
    let content = match dialect {
        Dialect::CrfPlusPlus => line,
        Dialect::Wapiti => line.split('#').next().unwrap_or(""),
    };
    content.trim_end()
}

/// Parses a line that is neither blank nor a comment, as returned by [`strip_comment`].
///
/// # Errors
///
/// [`crate::Error::Input`] if neither program would accept the line.
pub(super) fn parse_line(
    text: &str,
    dialect: Dialect,
    location: LineLocation<'_>,
    expressions: &mut Expressions,
) -> Result<PatternLine> {
    let expected = match dialect {
        Dialect::CrfPlusPlus => "expected a line that starts with U or B",
        Dialect::Wapiti => "expected a line that starts with u, b or *",
    };
    let mut parser = Parser { text, rest: text, dialect, location, expressions };
    let line_type = text.chars().next().map(|c| c.to_ascii_lowercase());
    let (node, edge) = match line_type {
        Some('u') => (true, false),
        Some('b') => (false, true),
        Some('*') if dialect == Dialect::Wapiti => (true, true),
        _ => return Err(parser.error(format!("{expected}, found '{text}'"))),
    };
    let (head, parts) = parser.parts()?;
    let bare = parts.is_empty();
    let line = TemplateLine {
        number: location.line,
        node,
        edge: edge && !bare,
        head,
        parts,
        escape: false,
        conditions: Vec::new(),
        options: LineOptions::default(),
    };
    Ok(PatternLine { line: (node || !bare).then_some(line), transition: edge && bare })
}

struct Parser<'a, 'e> {
    text: &'a str,
    rest: &'a str,
    dialect: Dialect,
    location: LineLocation<'a>,
    expressions: &'e mut Expressions,
}

impl<'a> Parser<'a, '_> {
    fn column(&self) -> u64 {
        let consumed = &self.text[..self.text.len() - self.rest.len()];
        consumed.chars().count() as u64 + 1
    }

    fn error(&self, message: impl Into<String>) -> crate::Error {
        self.location.error(self.column(), message)
    }

    /// Consumes the literal text before the next `%`.
    fn literal(&mut self) -> &'a str {
        let (literal, rest) = self.rest.split_at(self.rest.find('%').unwrap_or(self.rest.len()));
        self.rest = rest;
        literal
    }

    /// Parses the literal text before the first macro, and the macros with the text after each.
    fn parts(&mut self) -> Result<(String, Vec<NamePart>)> {
        let mut head = self.literal().to_owned();
        if self.dialect == Dialect::Wapiti {
            // Wapiti lower-cases the line type in its attributes.
            head = head[..1].to_ascii_lowercase() + &head[1..];
        }
        let mut parts = Vec::new();
        while !self.rest.is_empty() {
            if parts.len() == MAX_MACROS {
                return Err(self.error(format!("more than {MAX_MACROS} macros in a line")));
            }
            let term = self.pattern_macro()?;
            let literal = self.literal().to_owned();
            parts.push(NamePart { term, literal });
        }
        Ok((head, parts))
    }

    /// Parses `%x[…]`; the rest starts with its `%`.
    fn pattern_macro(&mut self) -> Result<Term> {
        let column = self.column();
        let letter = self.rest.chars().nth(1);
        let letters = match self.dialect {
            Dialect::CrfPlusPlus => "x",
            Dialect::Wapiti => "xtmXTM",
        };
        let Some(letter) = letter.filter(|c| letters.contains(*c)) else {
            let found: String = self.rest.chars().take(2).collect();
            let expected = match self.dialect {
                Dialect::CrfPlusPlus => "%x",
                Dialect::Wapiti => "%x, %t or %m",
            };
            return Err(self.error(format!("unknown macro '{found}'; expected {expected}")));
        };
        self.rest = &self.rest[2..];
        self.expect("[")?;
        let position = self.position()?;
        self.expect(",")?;
        let input_column = self.number()?;
        let input_column = usize::try_from(input_column).map_err(|_| {
            self.error(format!("column {input_column} does not exist; columns are numbered from 0"))
        })?;
        let (operation, source) = match letter.to_ascii_lowercase() {
            't' => self.expression(MacroOperation::Test)?,
            'm' => self.expression(MacroOperation::Match)?,
            _ => (MacroOperation::Cell, ""),
        };
        self.expect("]")?;
        let pattern_macro =
            PatternMacro { dialect: self.dialect, operation, lower: letter.is_ascii_uppercase() };
        let function = TemplateFunction {
            operation: Operation::Macro(pattern_macro),
            input: Some(TextInput::verbatim(ColumnRef::Number(input_column))),
            text: format!("%{letter}[{input_column},{source}]"),
        };
        Ok(Term { function, position, column })
    }

    /// Consumes `symbol`.
    fn expect(&mut self, symbol: &str) -> Result<()> {
        match self.rest.strip_prefix(symbol) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => {
                let found = self.rest.chars().next();
                let found = found.map_or("the end of the line".to_owned(), |c| format!("'{c}'"));
                Err(self.error(format!("expected '{symbol}', found {found}")))
            }
        }
    }

    fn number(&mut self) -> Result<i32> {
        self.rest = self.rest.trim_start();
        let unsigned = self.rest.strip_prefix(['+', '-']).unwrap_or(self.rest);
        let after = unsigned.trim_start_matches(|c: char| c.is_ascii_digit());
        let (number, rest) = self.rest.split_at(self.rest.len() - after.len());
        let value = number
            .parse()
            .map_err(|_| self.error(format!("expected a number, found '{number}'")))?;
        self.rest = rest;
        Ok(value)
    }

    fn position(&mut self) -> Result<Position> {
        if self.dialect == Dialect::Wapiti {
            if self.rest.starts_with('*') {
                return Err(self.error("positions read from a column ('*') are not supported"));
            }
            if let Some(rest) = self.rest.strip_prefix('@') {
                self.rest = rest;
                let offset = self.number()?;
                return Ok(if offset < 0 {
                    Position::FromEnd(offset)
                } else {
                    Position::FromStart(offset - 1)
                });
            }
        }
        let column = self.column();
        let offset = self.number()?;
        if self.dialect == Dialect::CrfPlusPlus && !(-8..=8).contains(&offset) {
            let message = format!("the position {offset} is out of range; CRF++ allows -8 to 8");
            return Err(self.location.error(column, message));
        }
        Ok(Position::Relative(offset))
    }

    /// Parses `,"…"`. Returns the operation with the expression, and its source.
    fn expression(
        &mut self,
        operation: fn(Regex) -> MacroOperation,
    ) -> Result<(MacroOperation, &'a str)> {
        self.expect(",")?;
        self.expect("\"")?;
        let Some(end) = closing_quote(self.rest) else {
            return Err(self.error("unterminated regular expression; expected '\"'"));
        };
        let (source, rest) = self.rest.split_at(end);
        let translated = translate(source);
        let compiled = translated.and_then(|t| self.expressions.compile_translated(&t, source));
        let expression = compiled.map_err(|message| self.error(message))?;
        self.rest = &rest[1..];
        Ok((operation(expression), source))
    }
}

/// Translates a Wapiti expression to the syntax of the `regex` crate.
///
/// Wapiti (`src/pattern.c`) has a small dialect: characters, `.`, the classes
/// `\d \a \w \l \u \p \s` and their upper-case complements, `*` and `?` after a single character,
/// `^` at the start and `$` at the end. Its `*` is lazy. Its backtracking matcher explores
/// alternatives in the `regex` crate's order of preference, so both find the same match.
///
/// # Errors
///
/// A message if a repetition operator has no operand or the expression ends in a backslash.
fn translate(source: &str) -> Result<String, String> {
    let mut out = String::from("(?s)");
    let body = match source.strip_prefix('^') {
        Some(body) => {
            out.push('^');
            body
        }
        None => source,
    };
    let mut characters = body.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '$' if characters.peek().is_none() => {
                out.push('$');
                break;
            }
            '*' | '?' => {
                return Err(format!(
                    "'{c}' has nothing to repeat in \"{source}\"; expected a character before \
                     it, or \\{c}"
                ));
            }
            '.' => out.push('.'),
            '\\' => match characters.next() {
                Some(escaped) => push_escape(escaped, &mut out),
                None => return Err(format!("\"{source}\" ends in a backslash")),
            },
            c => push_character(c, &mut out),
        }
        if characters.next_if_eq(&'*').is_some() {
            out.push_str("*?");
        } else if characters.next_if_eq(&'?').is_some() {
            out.push('?');
        }
    }
    Ok(out)
}

fn push_escape(c: char, out: &mut String) {
    let class = match c.to_ascii_lowercase() {
        'a' => r"\p{Alphabetic}",
        'd' => r"\p{Nd}",
        'l' => r"\p{Lowercase}",
        'p' => r"\p{P}\p{S}",
        's' => r"\s",
        'u' => r"\p{Uppercase}",
        'w' => r"\p{Alphabetic}\p{Nd}",
        _ => return push_character(c, out),
    };
    out.push_str(if c.is_ascii_uppercase() { "[^" } else { "[" });
    out.push_str(class);
    out.push(']');
}

fn push_character(c: char, out: &mut String) {
    out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_distinguished_from_templates() {
        for line in [
            "U00:%x[0,0]",
            "B",
            "b",
            "B01",
            "b:",
            "*",
            "*:%x[0,0]",
            "u:%m[0,0,\"a\"]",
            "Uw%X[0,0]",
            "*100",
            "U:const",
        ] {
            assert!(is_pattern(line), "{line}");
        }
        for line in ["bias", "bag(word, 1..2)", "word", "upos", "bag(x) if x matches \"%x[\"", ""] {
            assert!(!is_pattern(line), "{line}");
        }
    }

    #[test]
    fn a_repetition_of_nothing_is_an_error() {
        assert_eq!(
            translate("*a").unwrap_err(),
            r#"'*' has nothing to repeat in "*a"; expected a character before it, or \*"#
        );
        assert!(translate("a**").is_err());
        assert!(translate("a\\").is_err());
    }

    fn find<'a>(expression: &str, text: &'a str) -> Option<&'a str> {
        let expression = Regex::new(&translate(expression).unwrap()).unwrap();
        expression.find(text).map(|found| found.as_str())
    }

    #[test]
    fn wapiti_expressions_match_as_in_wapiti() {
        for (expression, text, expected) in [
            (r"^\u", "London", Some("L")),
            (r"^\u", "london", None),
            (r"^.?.?.?", "Köln", Some("Köl")),
            (r".?.?.?$", "Köln", Some("öln")),
            (r"\d*$", "ab12", Some("12")),
            (r"\d*", "12", Some("")),
            (r"^\U*$", "i7-x", Some("i7-x")),
            (r"\p", "a+b", Some("+")),
            (r"\a\A", "b2", Some("b2")),
            (r"\w*\W", "ab-c", Some("ab-")),
            (r"a$b", "a$b", Some("a$b")),
            (r"\.\*", "x.*", Some(".*")),
            (r"(a)", "(a)", Some("(a)")),
            (r"b^", "ab^", Some("b^")),
            (r"\l\s", "a\u{a0}", Some("a\u{a0}")),
            (r#"\""#, "\"", Some("\"")),
        ] {
            assert_eq!(find(expression, text), expected, "{expression} on {text}");
        }
    }
}
