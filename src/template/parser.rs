//! Recursive-descent parser for a line of dropchain's own template language.

use super::ast::{Condition, ConditionTest, NamePart, Operation, TemplateLine, Term};
use super::calls::{Argument, ArgumentValue, FunctionCall, check_offset, term_from_call};
use super::resources::Resources;
use super::syntax::{quote, unescape};
use super::tokens::{Location, Token, TokenKind, Tokens};
use crate::error::Result;

/// Maximum number of terms in a conjunction, and of conditions in a line.
const MAX_TERMS: usize = 8;

/// Maximum number of attributes that one line may produce per token.
const MAX_ATTRIBUTES: usize = 4096;

/// Maximum nesting of parentheses. No meaningful call is deeper than
/// `value(length(lower(column(1))))`.
const MAX_DEPTH: usize = 8;

type Comparison = fn(&usize, &usize) -> bool;

/// The comparisons of lengths.
const COMPARISONS: [(&str, Comparison); 6] = [
    ("<=", usize::le),
    (">=", usize::ge),
    ("<", usize::lt),
    (">", usize::gt),
    ("==", usize::eq),
    ("!=", usize::ne),
];

/// Parses a line that is not blank and no comment.
///
/// # Errors
///
/// [`crate::Error::Input`] at the first unexpected token.
pub(super) fn parse_line(
    tokens: Tokens<'_>,
    resources: &mut Resources<'_>,
) -> Result<TemplateLine> {
    Parser { tokens, resources }.line()
}

struct Parser<'a, 'r, 'f> {
    tokens: Tokens<'a>,
    resources: &'r mut Resources<'f>,
}

impl<'a> Parser<'a, '_, '_> {
    fn line(&mut self) -> Result<TemplateLine> {
        let start = self.tokens.peek().at;
        let edge = self.edge_prefix();
        let mut terms = vec![self.term()?];
        while self.tokens.accept("&") {
            terms.push(self.term()?);
        }
        let mut conditions = Vec::new();
        while self.tokens.accept(if conditions.is_empty() { "if" } else { "and" }) {
            conditions.push(self.condition()?);
        }
        if self.tokens.peek().kind != TokenKind::End {
            return Err(self.tokens.expected(match conditions.is_empty() {
                true => "'&', 'if' or the end of the line (a line holds one template)",
                false => "'and' or the end of the line",
            }));
        }
        check(edge, &terms, &conditions).map_err(|message| start.error(message))?;
        Ok(assemble(start, edge, terms, conditions))
    }

    /// Consumes `edge:`, if the line starts with it.
    fn edge_prefix(&mut self) -> bool {
        let mut ahead = self.tokens;
        let is_edge = ahead.accept("edge") && ahead.accept(":");
        if is_edge {
            self.tokens = ahead;
        }
        is_edge
    }

    fn term(&mut self) -> Result<Term> {
        term_from_call(self.call(0)?, self.resources)
    }

    fn call(&mut self, depth: usize) -> Result<FunctionCall<'a>> {
        let Token { kind, text: name, at } = self.tokens.peek();
        if kind != TokenKind::Name {
            return Err(self.tokens.expected("a function or a column"));
        }
        if depth == MAX_DEPTH {
            return Err(at.error("the parentheses are nested too deeply"));
        }
        self.tokens.next();
        let arguments = if self.tokens.accept("(") { Some(self.arguments(depth)?) } else { None };
        let mut offset = None;
        if self.tokens.accept("[") {
            let at = self.tokens.peek().at;
            let position = self.tokens.integer("a position such as -1")?;
            check_offset(position, at)?;
            offset = Some(position);
            self.tokens.expect("]")?;
        }
        Ok(FunctionCall { name, at, arguments, offset })
    }

    fn arguments(&mut self, depth: usize) -> Result<Vec<Argument<'a>>> {
        let mut arguments = Vec::new();
        if self.tokens.accept(")") {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.argument(depth)?);
            if self.tokens.accept(")") {
                return Ok(arguments);
            }
            if !self.tokens.accept(",") {
                return Err(self.tokens.expected("',' or ')'"));
            }
        }
    }

    fn argument(&mut self, depth: usize) -> Result<Argument<'a>> {
        let token = self.tokens.peek();
        let value = if let Some(first) = token.integer() {
            self.tokens.next();
            let last = match self.tokens.accept("..") {
                false => Some(first),
                true if matches!(self.tokens.peek().text, "," | ")") => None,
                true => Some(self.tokens.integer("the end of the range, ',' or ')'")?),
            };
            ArgumentValue::Range(first, last)
        } else if let Some(text) = token.quoted() {
            self.tokens.next();
            ArgumentValue::Quoted(text)
        } else if token.kind == TokenKind::Number {
            self.tokens.next();
            ArgumentValue::Decimal(token.text.parse().unwrap_or(f64::NAN))
        } else if token.kind == TokenKind::Name {
            ArgumentValue::Call(self.call(depth + 1)?)
        } else {
            return Err(self.tokens.expected("an argument"));
        };
        Ok(Argument { at: token.at, value })
    }

    fn condition(&mut self) -> Result<Condition> {
        let negated = self.tokens.accept("not");
        let term = self.term()?;
        let (test, text) = self.test(&term)?;
        Ok(Condition { negated, term, test, text })
    }

    /// Parses a test of a term. Returns it with its canonical text.
    fn test(&mut self, term: &Term) -> Result<(ConditionTest, String)> {
        let mut ahead = self.tokens;
        let Token { text: operator, at, .. } = ahead.next();
        let comparison = COMPARISONS.iter().find(|(symbol, _)| *symbol == operator);
        let is_length = matches!(term.function.operation, Operation::Length);
        let found = match (operator, comparison) {
            ("exists", _) => (ConditionTest::Exists, "exists".to_owned()),
            ("matches", _) => {
                let (raw, at) = ahead.quoted("a regular expression in quotes")?;
                let compiled = self.resources.expressions.compile(raw, raw);
                let expression = compiled.map_err(|message| at.error(message))?;
                (ConditionTest::Matches(expression), format!("matches \"{raw}\""))
            }
            (_, Some((_, compare))) if is_length => {
                let what = "a non-negative integer";
                let start = ahead;
                let number = usize::try_from(ahead.integer(what)?);
                let number = number.map_err(|_| start.expected(what))?;
                (ConditionTest::Length(*compare, number), format!("{operator} {number}"))
            }
            ("==", _) => {
                let (raw, at) = ahead.quoted("a string in quotes")?;
                let string = unescape(raw).map_err(|message| at.error(message))?;
                let text = format!("== {}", quote(&string));
                (ConditionTest::Equal(string), text)
            }
            (_, Some(_)) => {
                return Err(at.error(format!(
                    "'{operator}' compares numbers, but {term} is not a number; expected ==, \
                     matches or exists, or 'not' before the test"
                )));
            }
            _ => {
                let tests = "(<=, ==, matches \"…\" or exists)";
                return Err(self.tokens.expected(&format!("a test of {term} {tests}")));
            }
        };
        self.tokens = ahead;
        Ok(found)
    }
}

/// Checks the limits of a line.
fn check(edge: bool, terms: &[Term], conditions: &[Condition]) -> Result<(), String> {
    if terms.len() > MAX_TERMS || conditions.len() > MAX_TERMS {
        return Err(format!(
            "{} terms and {} conditions; at most {MAX_TERMS} of each are allowed",
            terms.len(),
            conditions.len()
        ));
    }
    let constant = matches!(terms, [term] if matches!(term.function.operation, Operation::Bias));
    if edge && constant && conditions.is_empty() {
        return Err("'edge: bias' is the bare transition, which is always included".to_owned());
    }
    let values = terms.iter().map(|term| term.function.max_values());
    let attributes = values.fold(1, usize::saturating_mul);
    if attributes > MAX_ATTRIBUTES {
        return Err(format!(
            "this line can produce {attributes} attributes per token; at most {MAX_ATTRIBUTES} \
             are allowed"
        ));
    }
    Ok(())
}

/// Builds a line from its terms: the canonical name, and the separators of the values.
///
/// No two lines share an attribute. An attribute is the name of its line, followed by `=` unless
/// all its terms are flags. Names differ, and no name starts with another name followed by `=`:
/// inside a name, `=` occurs only in a string, and then the quotes before it are unbalanced, or in
/// an operator, and then the text before it ends in a blank or in half an operator.
fn assemble(
    start: Location<'_>,
    edge: bool,
    terms: Vec<Term>,
    conditions: Vec<Condition>,
) -> TemplateLine {
    let names: Vec<String> = terms.iter().map(ToString::to_string).collect();
    let mut head = if edge { "edge:" } else { "" }.to_owned() + &names.join("|");
    for (i, condition) in conditions.iter().enumerate() {
        let joint = if i == 0 { " if " } else { " and " };
        let not = if condition.negated { "not " } else { "" };
        head += &format!("{joint}{not}{} {}", condition.term, condition.text);
    }
    let has_value = |term: &Term| !term.function.is_flag();
    let valued = terms.iter().filter(|term| has_value(term)).count();
    if valued > 0 {
        head.push('=');
    }
    let separator = |term: &Term| if has_value(term) { "|" } else { "" }.to_owned();
    let parts = terms.into_iter().map(|term| NamePart { literal: separator(&term), term });
    let mut parts: Vec<NamePart> = parts.collect();
    if let Some(last) = parts.iter_mut().rfind(|part| has_value(&part.term)) {
        last.literal.clear();
    }
    TemplateLine {
        number: start.line,
        node: !edge,
        edge,
        head,
        parts,
        escape: valued > 1,
        conditions,
    }
}
