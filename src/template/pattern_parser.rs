//! Parser for the lines of CRF++ and Wapiti template files.
//!
//! In both programs a template is text with macros in it: `U05:%x[-1,0]/%x[0,0]` refers to tokens
//! at relative positions, and to columns. CRF++ (0.58, `feature_index.cpp`) has `U` and `B` lines
//! and `%x`; positions outside the sentence are `_B-1` … `_B-8` and `_B+1` … `_B+8`. Wapiti (1.5,
//! `src/pattern.c`, `src/reader.c`) adds `*` lines, which are both `u` and `b`; lower-case line
//! types; `%t` (whether a regular expression matches: `true` or `false`); `%m` (the match);
//! upper-case macros that lower-case their result; and absolute positions `@1` … `@-1`. Outside the
//! sentence it has `_x-1` … `_x-4`, `_x-#` and `_x+1` … `_x+4`, `_x+#`.
//!
//! Where Wapiti works on bytes, this works on characters: `.` is a character, letters are Unicode
//! letters.

use super::ast::{
    ColumnRef, Dialect, NamePart, Operation, Position, TemplateFunction, TemplateLine, Term,
    TextInput,
};
use super::resources::Expressions;
use super::syntax::{Location, Token, Tokens};
use super::text::push_lower;
use super::text_function::TextFunction;
use crate::error::Result;

/// Maximum number of macros in one line. In dropchain's own language, lines have fewer terms:
/// attributes are expanded in an array of this length.
pub(super) const MAX_MACROS: usize = 64;

/// Returns whether a line is in CRF++ or Wapiti syntax, as opposed to dropchain's own language.
pub(super) fn is_pattern(line: &str) -> bool {
    let Some(rest) = line.strip_prefix(['U', 'u', 'B', 'b', '*']) else { return false };
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

/// Strips the trailing comment, which Wapiti allows, and trailing white space.
pub(super) fn strip_comment(line: &str, dialect: Dialect) -> &str {
    let content = match dialect {
        Dialect::CrfPlusPlus => line,
        Dialect::Wapiti => line.split('#').next().unwrap_or(""),
    };
    content.trim_end()
}

/// Parses a line that is neither blank nor a comment, as returned by [`strip_comment`]. A line
/// without macros that is crossed with the label pair is the bare transition.
///
/// # Errors
///
/// [`crate::Error::Input`] if neither program would accept the line.
pub(super) fn parse_line(
    text: &str,
    dialect: Dialect,
    at: Location<'_>,
    expressions: &mut Expressions,
) -> Result<TemplateLine> {
    let tokens = Tokens::new(text, at);
    let (node, edge) = match (dialect, text.chars().next().map(|c| c.to_ascii_lowercase())) {
        (_, Some('u')) => (true, false),
        (_, Some('b')) => (false, true),
        (Dialect::Wapiti, Some('*')) => (true, true),
        (Dialect::CrfPlusPlus, _) => return Err(tokens.expected("a line that starts with U or B")),
        (Dialect::Wapiti, _) => return Err(tokens.expected("a line that starts with u, b or *")),
    };
    let mut parser = Parser { tokens, dialect, expressions };
    let mut head = parser.tokens.literal().to_owned();
    if dialect == Dialect::Wapiti {
        // Wapiti lower-cases the line type in its attributes.
        head = head[..1].to_ascii_lowercase() + &head[1..];
    }
    let mut parts = Vec::new();
    while let Some(name) = parser.tokens.macro_name() {
        name.at.ensure(parts.len() < MAX_MACROS, || {
            format!("more than {MAX_MACROS} macros in a line")
        })?;
        let term = parser.pattern_macro(name)?;
        parts.push(NamePart { term, literal: parser.tokens.literal().to_owned() });
    }
    Ok(TemplateLine {
        number: at.line,
        node,
        edge,
        head,
        parts,
        escape: false,
        conditions: Vec::new(),
    })
}

struct Parser<'a, 'e> {
    tokens: Tokens<'a>,
    dialect: Dialect,
    expressions: &'e mut Expressions,
}

impl Parser<'_, '_> {
    /// Parses the rest of `%x[…]`, of which `%x` is the name.
    fn pattern_macro(&mut self, name: Token<'_>) -> Result<Term> {
        let is_wapiti = self.dialect == Dialect::Wapiti;
        let lower = name.text.to_ascii_lowercase();
        let is_known = name.text == "%x" || is_wapiti && matches!(&*lower, "%x" | "%t" | "%m");
        name.at.ensure(is_known, || {
            let expected = if is_wapiti { "%x, %t or %m" } else { "%x" };
            format!("unknown macro '{}'; expected {expected}", name.text)
        })?;
        self.tokens.expect("[")?;
        let position = self.position()?;
        self.tokens.expect(",")?;
        let at = self.tokens.peek().at;
        let column = self.tokens.integer("the number of a column")?;
        let column = usize::try_from(column).map_err(|_| {
            at.error(format!("column {column} does not exist; columns are numbered from 0"))
        })?;
        let input = TextInput { column: ColumnRef::Number(column), lower: false };
        let is_lower = name.text != lower;
        let function = match &*lower {
            "%x" => TemplateFunction::of_text(TextInput { lower: is_lower, ..input }),
            test => {
                let test_is_flag = test == "%t";
                self.tokens.expect(",")?;
                let (source, at) = self.tokens.quoted("a regular expression in quotes")?;
                let compiled = translate(source);
                let compiled = compiled.and_then(|text| self.expressions.compile(&text, source));
                let expression = compiled.map_err(|message| at.error(message))?;
                let pattern = Some(expression.clone());
                let function = TextFunction::derived(move |text, out| match test_is_flag {
                    true => out.push_str(if expression.is_match(text) { "true" } else { "false" }),
                    false => {
                        let found = expression.find(text).map_or("", |found| found.as_str());
                        if is_lower { push_lower(found, out) } else { out.push_str(found) }
                    }
                });
                let operation = Operation::OfText(TextFunction { pattern, ..function });
                let text = format!("{}[{column},{source}]", name.text);
                TemplateFunction { operation, input: Some(input), text }
            }
        };
        self.tokens.expect("]")?;
        Ok(Term { function, position, column: name.at.column })
    }

    fn position(&mut self) -> Result<Position> {
        let is_absolute = self.dialect == Dialect::Wapiti && self.tokens.accept("@");
        let at = self.tokens.peek().at;
        let offset = self.tokens.integer("a position such as -1")?;
        let is_in_range = self.dialect == Dialect::Wapiti || (-8..=8).contains(&offset);
        at.ensure(is_in_range, || {
            format!("the position {offset} is out of range; CRF++ allows -8 to 8")
        })?;
        Ok(match is_absolute {
            true if offset < 0 => Position::FromEnd(offset),
            true => Position::FromStart(offset - 1),
            false => Position::Relative(offset),
        })
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
    let mut characters = source.chars().peekable();
    out.extend(characters.next_if_eq(&'^'));
    while let Some(c) = characters.next() {
        match c {
            '$' if characters.peek().is_none() => out.push('$'),
            '*' | '?' => {
                let expected = format!("expected a character before it, or \\{c}");
                return Err(format!("'{c}' has nothing to repeat in \"{source}\"; {expected}"));
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
    use regex::Regex;

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
        Regex::new(&translate(expression).unwrap()).unwrap().find(text).map(|found| found.as_str())
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
