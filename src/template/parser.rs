//! A line of dropchain's own template language, from tokens to [`Line`].

use super::arguments::{Argument, Call, Value};
use super::functions::{self, check_offset, expression, unescape};
use super::lexer::{Kind, Spot, Token, tokens};
use super::resources::Resources;
use super::syntax::{Comparison, Condition, Form, Function, Line, Piece, Term, Test};
use crate::error::{Error, Result};

/// Terms in a conjunction, and conditions of a line.
const MAX_TERMS: usize = 8;

/// Attributes that one line can give one token.
const MAX_ATTRIBUTES: usize = 4096;

/// How deep brackets nest: `value(length(lower(column(1))))` is the deepest sense.
const MAX_DEPTH: usize = 8;

/// Parses a line; [`None`] where there is nothing but blanks and a comment.
///
/// # Errors
///
/// [`Error::Input`] at the first token that does not fit.
pub(super) fn line(
    text: &str,
    spot: Spot<'_>,
    resources: &mut Resources<'_>,
) -> Result<Option<Line>> {
    let mut parser = Parser {
        tokens: &tokens(text, spot)?,
        at: 0,
        spot,
        resources,
    };
    if parser.peek().kind == Kind::End {
        return Ok(None);
    }
    parser.line().map(Some)
}

struct Parser<'a, 'r, 'f> {
    tokens: &'a [Token<'a>],
    at: usize,
    spot: Spot<'a>,
    resources: &'r mut Resources<'f>,
}

impl<'a> Parser<'a, '_, '_> {
    fn peek(&self) -> Token<'a> {
        self.tokens[self.at]
    }

    /// The next token; the end of the line comes again and again.
    fn next(&mut self) -> Token<'a> {
        let token = self.tokens[self.at];
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn accept(&mut self, kind: Kind<'_>) -> bool {
        let accepted = self.peek().kind == kind;
        if accepted {
            self.next();
        }
        accepted
    }

    fn expected(&self, what: &str) -> Error {
        let token = self.peek();
        let found = match token.kind {
            Kind::End => "the end of the line".to_owned(),
            _ => format!("'{}'", token.text),
        };
        self.fault(token, format!("expected {what}, found {found}"))
    }

    fn fault(&self, token: Token<'_>, message: String) -> Error {
        self.spot.fault(token.column, message)
    }

    fn line(&mut self) -> Result<Line> {
        let start = self.peek();
        let edge = self.kind_is_edge();
        let mut terms = vec![self.term()?];
        while self.accept(Kind::Symbol("&")) {
            terms.push(self.term()?);
        }
        let mut conditions = Vec::new();
        if self.accept(Kind::Name("if")) {
            conditions.push(self.condition()?);
            while self.accept(Kind::Name("and")) {
                conditions.push(self.condition()?);
            }
        }
        self.end(conditions.is_empty())?;
        self.check(start, edge, &terms, &conditions)?;
        Ok(assemble(self.spot.line, edge, terms, conditions))
    }

    /// Takes `edge:` or `node:`.
    fn kind_is_edge(&mut self) -> bool {
        let colon = self.tokens.get(self.at + 1).map(|token| token.kind);
        let name = self.peek().kind;
        let prefixed = matches!(name, Kind::Name("edge" | "node"));
        if prefixed && colon == Some(Kind::Symbol(":")) {
            self.at += 2;
        }
        prefixed && name == Kind::Name("edge")
    }

    fn end(&mut self, unconditional: bool) -> Result<()> {
        let token = self.peek();
        let after = self.tokens.get(self.at + 1).map(|token| token.kind);
        match token.kind {
            Kind::End => Ok(()),
            Kind::Name(name) if after == Some(Kind::Symbol("=")) => {
                Err(self.fault(token, format!("there is no option '{name}'")))
            }
            Kind::Name(_) if unconditional => {
                Err(self.expected("'&', 'if' or the end of the line (a line holds one template)"))
            }
            _ if unconditional => Err(self.expected("'&', 'if' or the end of the line")),
            _ => Err(self.expected("'and' or the end of the line")),
        }
    }

    fn check(
        &self,
        start: Token<'_>,
        edge: bool,
        terms: &[Term],
        conditions: &[Condition],
    ) -> Result<()> {
        let fault = |message: String| Err(self.fault(start, message));
        if terms.len() > MAX_TERMS || conditions.len() > MAX_TERMS {
            return fault(format!(
                "{} terms and {} conditions; at most {MAX_TERMS} of each are allowed",
                terms.len(),
                conditions.len()
            ));
        }
        let constant = matches!(terms, [term] if matches!(term.function, Function::Bias));
        if edge && constant && conditions.is_empty() {
            return fault(
                "'edge: bias' is the bare transition, which is there without a template".to_owned(),
            );
        }
        let attributes = terms.iter().fold(1_usize, |product, term| {
            product.saturating_mul(term.function.max_values())
        });
        if attributes > MAX_ATTRIBUTES {
            return fault(format!(
                "this line can give a token {attributes} attributes; at most {MAX_ATTRIBUTES} \
                 are allowed"
            ));
        }
        Ok(())
    }

    fn term(&mut self) -> Result<Term> {
        let call = self.call(0)?;
        functions::term(call, self.spot, self.resources)
    }

    fn call(&mut self, depth: usize) -> Result<Call<'a>> {
        let token = self.peek();
        let Kind::Name(name) = token.kind else {
            return Err(self.expected("a function or a column"));
        };
        if depth == MAX_DEPTH {
            return Err(self.fault(token, "the brackets nest too deep".to_owned()));
        }
        self.next();
        let arguments = if self.accept(Kind::Symbol("(")) {
            Some(self.arguments(depth)?)
        } else {
            None
        };
        let offset = if self.accept(Kind::Symbol("[")) {
            Some(self.offset()?)
        } else {
            None
        };
        Ok(Call {
            name,
            column: token.column,
            arguments,
            offset,
        })
    }

    fn offset(&mut self) -> Result<i32> {
        let token = self.peek();
        let Kind::Integer(offset) = token.kind else {
            return Err(self.expected("a position such as -1"));
        };
        check_offset(offset, self.spot, token.column)?;
        self.next();
        if !self.accept(Kind::Symbol("]")) {
            return Err(self.expected("']'"));
        }
        Ok(offset)
    }

    fn arguments(&mut self, depth: usize) -> Result<Vec<Argument<'a>>> {
        let mut arguments = Vec::new();
        if self.accept(Kind::Symbol(")")) {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.argument(depth)?);
            if self.accept(Kind::Symbol(")")) {
                return Ok(arguments);
            }
            if !self.accept(Kind::Symbol(",")) {
                return Err(self.expected("',' or ')'"));
            }
        }
    }

    fn argument(&mut self, depth: usize) -> Result<Argument<'a>> {
        let token = self.peek();
        let value = match token.kind {
            Kind::Integer(first) => {
                self.next();
                Value::Range(first, self.range_end(first)?)
            }
            Kind::Decimal => {
                self.next();
                Value::Decimal(token.text)
            }
            Kind::Quoted(text) => {
                self.next();
                Value::Quoted(text)
            }
            Kind::Name(_) => Value::Call(self.call(depth + 1)?),
            _ => return Err(self.expected("an argument")),
        };
        Ok(Argument {
            column: token.column,
            value,
        })
    }

    fn range_end(&mut self, first: i32) -> Result<i32> {
        if !self.accept(Kind::Symbol("..")) {
            return Ok(first);
        }
        let Kind::Integer(last) = self.peek().kind else {
            return Err(self.expected("the end of the range"));
        };
        self.next();
        Ok(last)
    }

    fn condition(&mut self) -> Result<Condition> {
        let negated = self.accept(Kind::Name("not"));
        let term = self.term()?;
        let test = self.test(&term)?;
        Ok(Condition {
            negated,
            term,
            test,
        })
    }

    fn test(&mut self, term: &Term) -> Result<Test> {
        let operator = self.peek();
        match operator.kind {
            Kind::Name("exists") => {
                self.next();
                Ok(Test::Exists)
            }
            Kind::Name("matches") => {
                self.next();
                let (raw, token) = self.string("a regular expression in quotes")?;
                let compiled = expression(raw);
                Ok(Test::Matches(
                    compiled.map_err(|message| self.fault(token, message))?,
                ))
            }
            Kind::Symbol(symbol) => match Comparison::of(symbol) {
                Some(comparison) => {
                    self.next();
                    self.compared(term, comparison, operator)
                }
                None => Err(self.expected("a test")),
            },
            _ => Err(self.expected(&format!(
                "a test of {term} (<=, ==, !=, matches \"…\" or exists)"
            ))),
        }
    }

    fn compared(
        &mut self,
        term: &Term,
        comparison: Comparison,
        operator: Token<'_>,
    ) -> Result<Test> {
        if matches!(term.function, Function::Form(Form::Length, _)) {
            let token = self.peek();
            let number = match token.kind {
                Kind::Integer(number) => usize::try_from(number).ok(),
                _ => None,
            };
            let Some(number) = number else {
                return Err(self.expected("a number that is not negative"));
            };
            self.next();
            return Ok(Test::Length(comparison, number));
        }
        let equal = match comparison {
            Comparison::Equal => Test::Equal,
            Comparison::Unequal => Test::Unequal,
            _ => {
                let message = format!(
                    "'{}' compares numbers, and {term} is none; expected ==, !=, matches or exists",
                    operator.text
                );
                return Err(self.fault(operator, message));
            }
        };
        let (raw, token) = self.string("a string in quotes")?;
        let text = unescape(raw).map_err(|message| self.fault(token, message))?;
        Ok(equal(text))
    }

    fn string(&mut self, what: &str) -> Result<(&'a str, Token<'a>)> {
        let token = self.peek();
        let Kind::Quoted(raw) = token.kind else {
            return Err(self.expected(what));
        };
        self.next();
        Ok((raw, token))
    }
}

/// Puts the canonical name and the separators around the terms.
///
/// No two lines share an attribute. Theirs start with their names followed by `=` (or end there),
/// names differ, and no name is another name, `=` and more: inside a name a `=` stands in a
/// string, before which the quotes of a name would not be closed, or in an operator, before
/// which a name would end in a blank or in the half of an operator.
fn assemble(number: u64, edge: bool, terms: Vec<Term>, conditions: Vec<Condition>) -> Line {
    let mut head = String::new();
    if edge {
        head.push_str("edge:");
    }
    let parts: Vec<String> = terms.iter().map(ToString::to_string).collect();
    head.push_str(&parts.join("|"));
    for (i, condition) in conditions.iter().enumerate() {
        head.push_str(if i == 0 { " if " } else { " and " });
        head.push_str(&condition.to_string());
    }
    let valued = terms.iter().filter(|term| !term.function.is_flag()).count();
    if valued > 0 {
        head.push('=');
    }
    let mut left = valued;
    let pieces = terms
        .into_iter()
        .map(|term| {
            let counts = !term.function.is_flag();
            left -= usize::from(counts);
            let after = if counts && left > 0 { "|" } else { "" };
            Piece {
                term,
                after: after.to_owned(),
            }
        })
        .collect();
    Line {
        number,
        node: !edge,
        edge,
        head,
        pieces,
        escape: valued > 1,
        conditions,
    }
}
