//! Parser for the lines of CRF++ and Wapiti template files; [`super::pattern`] describes them.

use super::ast::{NamePart, Position, TemplateLine, Term};
use super::lexer::{LineLocation, closing_quote};
use super::line_options::LineOptions;
use super::pattern::{Dialect, MacroOperation, PatternMacro};
use super::source_regex::{Expressions, SourceRegex};
use super::template_function::TemplateFunction;
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
    if wapiti {
        Dialect::Wapiti
    } else {
        Dialect::CrfPlusPlus
    }
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
    let mut parser = Parser {
        text,
        rest: text,
        dialect,
        location,
        expressions,
    };
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
    Ok(PatternLine {
        line: (node || !bare).then_some(line),
        transition: edge && bare,
    })
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
        let (literal, rest) = self
            .rest
            .split_at(self.rest.find('%').unwrap_or(self.rest.len()));
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
            self.error(format!(
                "column {input_column} does not exist; columns are numbered from 0"
            ))
        })?;
        let operation = match letter.to_ascii_lowercase() {
            't' => MacroOperation::Test(self.expression()?),
            'm' => MacroOperation::Match(self.expression()?),
            _ => MacroOperation::Cell,
        };
        self.expect("]")?;
        Ok(Term {
            function: TemplateFunction::Macro(PatternMacro {
                dialect: self.dialect,
                operation,
                column: input_column,
                lower: letter.is_ascii_uppercase(),
            }),
            position,
            column,
        })
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

    /// Parses `,"…"`.
    fn expression(&mut self) -> Result<SourceRegex> {
        self.expect(",")?;
        self.expect("\"")?;
        let Some(end) = closing_quote(self.rest) else {
            return Err(self.error("unterminated regular expression; expected '\"'"));
        };
        let expression = self.expressions.compile_wapiti(&self.rest[..end]);
        let expression = expression.map_err(|message| self.error(message))?;
        self.rest = &self.rest[end + 1..];
        Ok(expression)
    }
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
        for line in [
            "bias",
            "bag(word, 1..2)",
            "word",
            "upos",
            "bag(x) if x matches \"%x[\"",
            "",
        ] {
            assert!(!is_pattern(line), "{line}");
        }
    }
}
