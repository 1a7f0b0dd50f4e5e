//! Template files of CRF++ and Wapiti, read as they are.
//!
//! Both write an attribute as text with commands in it: `U05:%x[-1,0]/%x[0,0]`, a token at a
//! relative position and a column. CRF++ (0.58, `feature_index.cpp`) knows `U` and `B` lines and
//! `%x`; positions outside the sentence are `_B-1` … `_B-8` and `_B+1` … `_B+8`. Wapiti (1.5,
//! `src/pattern.c`, `src/reader.c`) adds `*` lines, which are `u` and `b` at once, lower-case
//! kinds, `%t` (whether a regular expression matches: `true` or `false`), `%m` (what it matched),
//! capital commands that put their result in lower case, and absolute positions `@1` … `@-1`;
//! outside are `_x-1` … `_x-4`, `_x-#` and `_x+1` … `_x+4`, `_x+#`.
//!
//! Where Wapiti sees bytes this sees characters: `.` is a character, letters are Unicode letters.

use std::fmt;

use super::functions::compile;
use super::lexer::Spot;
use super::syntax::{Expression, Function, Line, Piece, Position, Term};
use super::text::push_lower;
use super::wapiti_regex::translate;
use crate::error::Result;

/// Commands in one pattern.
const MAX_COMMANDS: usize = 64;

/// Which program's template file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    CrfPlusPlus,
    Wapiti,
}

impl Dialect {
    /// The program's name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::CrfPlusPlus => "CRF++",
            Self::Wapiti => "Wapiti",
        }
    }

    /// Positions on either side of a sentence that have a value of their own.
    pub(super) fn padding(self) -> usize {
        match self {
            Self::CrfPlusPlus => 8,
            Self::Wapiti => 5,
        }
    }

    /// Appends the value `distance` tokens (from 1 to the padding) before or after the sentence.
    fn push_boundary(self, before: bool, distance: usize, out: &mut String) {
        out.push_str(match self {
            Self::CrfPlusPlus => "_B",
            Self::Wapiti => "_x",
        });
        out.push(if before { '-' } else { '+' });
        out.push(match (self, distance) {
            (Self::Wapiti, 5..) => '#',
            _ => char::from(b'0' + distance.min(9) as u8),
        });
    }
}

/// What a command makes of a token.
#[derive(Clone, Debug)]
enum Command {
    Token,
    Test(Expression),
    Match(Expression),
}

/// A command of a pattern, such as `%x[0,1]`.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    dialect: Dialect,
    command: Command,
    /// Column of the input, from 0.
    pub column: usize,
    lower: bool,
}

impl Pattern {
    /// Positions on either side of the sentence that have a value of their own.
    pub(super) fn padding(&self) -> usize {
        self.dialect.padding()
    }

    /// Appends the value for a token.
    pub(super) fn write(&self, token: &str, out: &mut String) {
        let value = match &self.command {
            Command::Token => token,
            Command::Test(expression) if expression.regex.is_match(token) => "true",
            Command::Test(_) => "false",
            Command::Match(expression) => expression
                .regex
                .find(token)
                .map_or("", |found| found.as_str()),
        };
        if self.lower {
            push_lower(value, out);
        } else {
            out.push_str(value);
        }
    }

    /// Appends the value outside the sentence; `scratch` is overwritten.
    pub(super) fn write_outside(
        &self,
        before: bool,
        distance: usize,
        scratch: &mut String,
        out: &mut String,
    ) {
        scratch.clear();
        self.dialect.push_boundary(before, distance, scratch);
        self.write(scratch, out);
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (letter, expression) = match &self.command {
            Command::Token => ('x', None),
            Command::Test(expression) => ('t', Some(expression)),
            Command::Match(expression) => ('m', Some(expression)),
        };
        let letter = if self.lower {
            letter.to_ascii_uppercase()
        } else {
            letter
        };
        write!(f, "{} %{letter}[{}", self.dialect.name(), self.column)?;
        if let Some(expression) = expression {
            write!(f, ",\"{}\"", expression.source)?;
        }
        f.write_str("]")
    }
}

/// Whether a line is written in this way, not in dropchain's own language.
pub(super) fn is_pattern(line: &str) -> bool {
    let Some(rest) = line.strip_prefix(['U', 'u', 'B', 'b', '*']) else {
        return false;
    };
    let bare = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    if bare.trim_end().is_empty() || bare.starts_with(':') || line.starts_with('*') {
        return true;
    }
    rest.find('%').is_some_and(|i| {
        let command = rest[i + 1..].trim_start_matches(|c: char| c.is_ascii_alphabetic());
        command.starts_with('[') && !rest[..i].contains(['"', '('])
    })
}

/// Which program reads a file of patterns: Wapiti's if any line uses what only Wapiti has.
pub(super) fn dialect<'a>(mut lines: impl Iterator<Item = &'a str>) -> Dialect {
    let wapiti = lines.any(|line| {
        line.starts_with(['u', 'b', '*'])
            || ["%X[", "%t[", "%T[", "%m[", "%M[", "%x[@"]
                .iter()
                .any(|command| line.contains(command))
    });
    if wapiti {
        Dialect::Wapiti
    } else {
        Dialect::CrfPlusPlus
    }
}

/// What a pattern line says.
pub(super) struct Parsed {
    /// Nothing for a bare `B`.
    pub line: Option<Line>,
    /// Whether it is (also) the bare transition.
    pub transition: bool,
}

/// A line without the comment that Wapiti allows at its end.
pub(super) fn content(line: &str, dialect: Dialect) -> &str {
    let content = match dialect {
        Dialect::CrfPlusPlus => line,
        Dialect::Wapiti => line.split('#').next().unwrap_or(""),
    };
    content.trim_end()
}

/// Parses the [`content`] of a line that is neither blank nor a comment.
///
/// # Errors
///
/// [`crate::Error::Input`] where neither program would accept the line.
pub(super) fn line(text: &str, dialect: Dialect, spot: Spot<'_>) -> Result<Parsed> {
    let kinds = match dialect {
        Dialect::CrfPlusPlus => "expected a line that starts with U or B",
        Dialect::Wapiti => "expected a line that starts with u, b or *",
    };
    let mut scanner = Scanner {
        text,
        rest: text,
        dialect,
        spot,
    };
    let kind = text.chars().next().map(|c| c.to_ascii_lowercase());
    let (node, edge) = match kind {
        Some('u') => (true, false),
        Some('b') => (false, true),
        Some('*') if dialect == Dialect::Wapiti => (true, true),
        _ => return Err(scanner.fault(format!("{kinds}, found '{text}'"))),
    };
    let (head, pieces) = scanner.pieces()?;
    let bare = pieces.is_empty();
    let line = Line {
        number: spot.line,
        node,
        edge: edge && !bare,
        head,
        pieces,
        escape: false,
        conditions: Vec::new(),
    };
    Ok(Parsed {
        line: (node || !bare).then_some(line),
        transition: edge && bare,
    })
}

struct Scanner<'a> {
    text: &'a str,
    rest: &'a str,
    dialect: Dialect,
    spot: Spot<'a>,
}

impl<'a> Scanner<'a> {
    fn column(&self) -> u64 {
        let read = &self.text[..self.text.len() - self.rest.len()];
        read.chars().count() as u64 + 1
    }

    fn fault(&self, message: impl Into<String>) -> crate::Error {
        self.spot.fault(self.column(), message)
    }

    /// Takes what stands before the next `%`.
    fn literal(&mut self) -> &'a str {
        let (literal, rest) = self
            .rest
            .split_at(self.rest.find('%').unwrap_or(self.rest.len()));
        self.rest = rest;
        literal
    }

    fn pieces(&mut self) -> Result<(String, Vec<Piece>)> {
        let mut head = self.literal().to_owned();
        if self.dialect == Dialect::Wapiti {
            // Wapiti keeps the kind in lower case in its attributes.
            head = head[..1].to_ascii_lowercase() + &head[1..];
        }
        let mut pieces = Vec::new();
        while !self.rest.is_empty() {
            if pieces.len() == MAX_COMMANDS {
                return Err(self.fault(format!("more than {MAX_COMMANDS} commands in a line")));
            }
            let term = self.command()?;
            let after = self.literal().to_owned();
            pieces.push(Piece { term, after });
        }
        Ok((head, pieces))
    }

    /// Takes `%x[…]`; the rest starts with its `%`.
    fn command(&mut self) -> Result<Term> {
        let column = self.column();
        let letter = self.rest.chars().nth(1);
        let commands = match self.dialect {
            Dialect::CrfPlusPlus => "x",
            Dialect::Wapiti => "xtmXTM",
        };
        let Some(letter) = letter.filter(|c| commands.contains(*c)) else {
            let found: String = self.rest.chars().take(2).collect();
            let expected = match self.dialect {
                Dialect::CrfPlusPlus => "%x",
                Dialect::Wapiti => "%x, %t or %m",
            };
            return Err(self.fault(format!("'{found}' is no command; expected {expected}")));
        };
        self.rest = &self.rest[2..];
        self.take("[")?;
        let position = self.position()?;
        self.take(",")?;
        let cell = self.number()?;
        let cell = usize::try_from(cell)
            .map_err(|_| self.fault(format!("column {cell} does not exist; they count from 0")))?;
        let command = match letter.to_ascii_lowercase() {
            't' => Command::Test(self.expression()?),
            'm' => Command::Match(self.expression()?),
            _ => Command::Token,
        };
        self.take("]")?;
        Ok(Term {
            function: Function::Pattern(Pattern {
                dialect: self.dialect,
                command,
                column: cell,
                lower: letter.is_ascii_uppercase(),
            }),
            position,
            column,
        })
    }

    fn take(&mut self, symbol: &str) -> Result<()> {
        match self.rest.strip_prefix(symbol) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => {
                let found = self.rest.chars().next();
                let found = found.map_or("the end of the line".to_owned(), |c| format!("'{c}'"));
                Err(self.fault(format!("expected '{symbol}', found {found}")))
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
            .map_err(|_| self.fault(format!("expected a number, found '{number}'")))?;
        self.rest = rest;
        Ok(value)
    }

    fn position(&mut self) -> Result<Position> {
        if self.dialect == Dialect::Wapiti {
            if self.rest.starts_with('*') {
                return Err(self.fault("positions that a column holds ('*') are not supported"));
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
        let before = self.column();
        let offset = self.number()?;
        if self.dialect == Dialect::CrfPlusPlus && !(-8..=8).contains(&offset) {
            let message = format!("the position {offset} is too far; CRF++ allows -8 to 8");
            return Err(self.spot.fault(before, message));
        }
        Ok(Position::Relative(offset))
    }

    /// Takes `,"…"`.
    fn expression(&mut self) -> Result<Expression> {
        self.take(",")?;
        self.take("\"")?;
        let mut end = None;
        let mut characters = self.rest.char_indices();
        while let Some((i, c)) = characters.next() {
            match c {
                '"' => {
                    end = Some(i);
                    break;
                }
                '\\' => {
                    characters.next();
                }
                _ => {}
            }
        }
        let Some(end) = end else {
            return Err(self.fault("the regular expression does not end; expected '\"'"));
        };
        let source = &self.rest[..end];
        let translated = translate(source).map_err(|message| self.fault(message))?;
        let regex = compile(&translated, source).map_err(|message| self.fault(message))?;
        self.rest = &self.rest[end + 1..];
        Ok(Expression {
            source: source.to_owned(),
            regex,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_told_from_templates() {
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
