//! Recursive-descent parser for a line of dropchain's own template language.

use super::ast::{Condition, LineAmount, LineOptions, NamePart, OPTIONS, TemplateLine};
use super::calls::{Argument, ArgumentValue, FunctionCall, check_offset, term_from_call};
use super::function::{ConditionTest, Operation, Term};
use super::resources::Resources;
use super::syntax::{Lexeme, LexemeKind, LineLocation, lexemes, quote, unescape};
use crate::error::{Error, Result};

/// Maximum number of terms in a conjunction, and of conditions in a line.
const MAX_TERMS: usize = 8;

/// Maximum number of attributes that one line may produce per lexeme.
const MAX_ATTRIBUTES: usize = 4096;

/// Maximum nesting of parentheses. No meaningful call is deeper than
/// `value(length(lower(column(1))))`.
const MAX_DEPTH: usize = 8;

/// Parses a line. Returns `None` if it is empty except for white space and a comment.
///
/// # Errors
///
/// [`Error::Input`] at the first unexpected lexeme.
pub(super) fn parse_line(
    text: &str,
    location: LineLocation<'_>,
    resources: &mut Resources<'_>,
) -> Result<Option<TemplateLine>> {
    let mut parser = Parser { lexemes: &lexemes(text, location)?, at: 0, location, resources };
    if parser.peek().kind == LexemeKind::End {
        return Ok(None);
    }
    parser.line().map(Some)
}

struct Parser<'a, 'r, 'f> {
    lexemes: &'a [Lexeme<'a>],
    at: usize,
    location: LineLocation<'a>,
    resources: &'r mut Resources<'f>,
}

impl<'a> Parser<'a, '_, '_> {
    fn peek(&self) -> Lexeme<'a> {
        self.lexemes[self.at]
    }

    /// Consumes the next lexeme. The end of the line is never consumed.
    fn next(&mut self) -> Lexeme<'a> {
        let lexeme = self.lexemes[self.at];
        self.at = (self.at + 1).min(self.lexemes.len() - 1);
        lexeme
    }

    fn accept(&mut self, kind: LexemeKind<'_>) -> bool {
        let accepted = self.peek().kind == kind;
        if accepted {
            self.next();
        }
        accepted
    }

    fn expected(&self, what: &str) -> Error {
        let lexeme = self.peek();
        let found = match lexeme.kind {
            LexemeKind::End => "the end of the line".to_owned(),
            _ => format!("'{}'", lexeme.text),
        };
        self.error(lexeme, format!("expected {what}, found {found}"))
    }

    fn error(&self, lexeme: Lexeme<'_>, message: String) -> Error {
        self.location.error(lexeme.column, message)
    }

    fn line(&mut self) -> Result<TemplateLine> {
        let start = self.peek();
        let edge = self.edge_prefix();
        let mut terms = vec![self.term()?];
        while self.accept(LexemeKind::Symbol("&")) {
            terms.push(self.term()?);
        }
        let mut conditions = Vec::new();
        if self.accept(LexemeKind::Name("if")) {
            conditions.push(self.condition()?);
            while self.accept(LexemeKind::Name("and")) {
                conditions.push(self.condition()?);
            }
        }
        let options = self.options()?;
        self.end(conditions.is_empty() && !options.are_set())?;
        self.check(start, edge, &terms, &conditions)?;
        Ok(TemplateLine { options, ..assemble(self.location.line, edge, terms, conditions) })
    }

    /// Consumes `edge:` or `node:`. Returns whether it is `edge:`.
    fn edge_prefix(&mut self) -> bool {
        let colon = self.lexemes.get(self.at + 1).map(|lexeme| lexeme.kind);
        let name = self.peek().kind;
        let prefixed = matches!(name, LexemeKind::Name("edge" | "node"));
        if prefixed && colon == Some(LexemeKind::Symbol(":")) {
            self.at += 2;
        }
        prefixed && name == LexemeKind::Name("edge")
    }

    /// Parses the options at the end of the line.
    fn options(&mut self) -> Result<LineOptions> {
        let mut options = LineOptions::default();
        loop {
            let lexeme = self.peek();
            let sign = self.lexemes.get(self.at + 1).map(|lexeme| lexeme.kind);
            let amount: fn(f64) -> LineAmount = match sign {
                Some(LexemeKind::Symbol("=")) => LineAmount::Value,
                Some(LexemeKind::Symbol("*=")) => LineAmount::Factor,
                _ => return Ok(options),
            };
            let LexemeKind::Name(name) = lexeme.kind else {
                return Ok(options);
            };
            let Some(option) = options.get_mut(name) else {
                let names = OPTIONS.join(", ");
                let message = format!("there is no option '{name}'; expected one of {names}");
                return Err(self.error(lexeme, message));
            };
            if option.is_some() {
                return Err(self.error(lexeme, format!("the option '{name}' is given twice")));
            }
            self.at += 2;
            *option = Some(amount(self.amount(name)?));
        }
    }

    /// Parses the number of an option.
    fn amount(&mut self, option: &str) -> Result<f64> {
        let lexeme = self.peek();
        let number = match lexeme.kind {
            LexemeKind::Integer(_) | LexemeKind::Decimal => lexeme.text.parse::<f64>().ok(),
            _ => return Err(self.expected(&format!("a number after '{option}'"))),
        };
        match number.filter(|number| number.is_finite() && *number >= 0.0) {
            Some(number) => {
                self.next();
                Ok(number)
            }
            None => Err(self.error(
                lexeme,
                format!("{option} {}; expected a finite number that is not negative", lexeme.text),
            )),
        }
    }

    fn end(&mut self, unconditional: bool) -> Result<()> {
        let lexeme = self.peek();
        match lexeme.kind {
            LexemeKind::End => Ok(()),
            LexemeKind::Name(_) if unconditional => {
                Err(self.expected("'&', 'if' or the end of the line (a line holds one template)"))
            }
            _ if unconditional => Err(self.expected("'&', 'if' or the end of the line")),
            _ => Err(self.expected("'and', an option such as l2=0.1, or the end of the line")),
        }
    }

    fn check(
        &self,
        start: Lexeme<'_>,
        edge: bool,
        terms: &[Term],
        conditions: &[Condition],
    ) -> Result<()> {
        let error = |message: String| Err(self.error(start, message));
        if terms.len() > MAX_TERMS || conditions.len() > MAX_TERMS {
            return error(format!(
                "{} terms and {} conditions; at most {MAX_TERMS} of each are allowed",
                terms.len(),
                conditions.len()
            ));
        }
        let constant =
            matches!(terms, [term] if matches!(term.function.operation, Operation::Bias));
        if edge && constant && conditions.is_empty() {
            return error(
                "'edge: bias' is the bare transition, which is always included".to_owned(),
            );
        }
        let attributes = terms
            .iter()
            .fold(1_usize, |product, term| product.saturating_mul(term.function.max_values()));
        if attributes > MAX_ATTRIBUTES {
            return error(format!(
                "this line can produce {attributes} attributes per token; at most \
                 {MAX_ATTRIBUTES} are allowed"
            ));
        }
        Ok(())
    }

    fn term(&mut self) -> Result<Term> {
        let call = self.call(0)?;
        term_from_call(call, self.location, self.resources)
    }

    fn call(&mut self, depth: usize) -> Result<FunctionCall<'a>> {
        let lexeme = self.peek();
        let LexemeKind::Name(name) = lexeme.kind else {
            return Err(self.expected("a function or a column"));
        };
        if depth == MAX_DEPTH {
            return Err(self.error(lexeme, "the parentheses are nested too deeply".to_owned()));
        }
        self.next();
        let arguments =
            if self.accept(LexemeKind::Symbol("(")) { Some(self.arguments(depth)?) } else { None };
        let offset = if self.accept(LexemeKind::Symbol("[")) { Some(self.offset()?) } else { None };
        Ok(FunctionCall { name, column: lexeme.column, arguments, offset })
    }

    fn offset(&mut self) -> Result<i32> {
        let lexeme = self.peek();
        let LexemeKind::Integer(offset) = lexeme.kind else {
            return Err(self.expected("a position such as -1"));
        };
        check_offset(offset, self.location, lexeme.column)?;
        self.next();
        if !self.accept(LexemeKind::Symbol("]")) {
            return Err(self.expected("']'"));
        }
        Ok(offset)
    }

    fn arguments(&mut self, depth: usize) -> Result<Vec<Argument<'a>>> {
        let mut arguments = Vec::new();
        if self.accept(LexemeKind::Symbol(")")) {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.argument(depth)?);
            if self.accept(LexemeKind::Symbol(")")) {
                return Ok(arguments);
            }
            if !self.accept(LexemeKind::Symbol(",")) {
                return Err(self.expected("',' or ')'"));
            }
        }
    }

    fn argument(&mut self, depth: usize) -> Result<Argument<'a>> {
        let lexeme = self.peek();
        let value = match lexeme.kind {
            LexemeKind::Integer(first) => {
                self.next();
                self.range_from(first)?
            }
            LexemeKind::Decimal => {
                self.next();
                ArgumentValue::Decimal(lexeme.text)
            }
            LexemeKind::Quoted(text) => {
                self.next();
                ArgumentValue::Quoted(text)
            }
            LexemeKind::Name(_) => ArgumentValue::Call(self.call(depth + 1)?),
            _ => return Err(self.expected("an argument")),
        };
        Ok(Argument { column: lexeme.column, value })
    }

    /// Parses the rest of `3`, `1..3` or `1..`.
    fn range_from(&mut self, first: i32) -> Result<ArgumentValue<'a>> {
        if !self.accept(LexemeKind::Symbol("..")) {
            return Ok(ArgumentValue::Range(first, first));
        }
        match self.peek().kind {
            LexemeKind::Integer(last) => {
                self.next();
                Ok(ArgumentValue::Range(first, last))
            }
            LexemeKind::Symbol("," | ")") => Ok(ArgumentValue::OpenRange(first)),
            _ => Err(self.expected("the end of the range, ',' or ')'")),
        }
    }

    fn condition(&mut self) -> Result<Condition> {
        let negated = self.accept(LexemeKind::Name("not"));
        let term = self.term()?;
        let (test, text) = self.test(&term)?;
        Ok(Condition { negated, term, test, text })
    }

    /// Parses a test of a term. Returns it with its canonical text.
    fn test(&mut self, term: &Term) -> Result<(ConditionTest, String)> {
        let operator = self.peek();
        match operator.kind {
            LexemeKind::Name("exists") => {
                self.next();
                Ok((ConditionTest::Exists, "exists".to_owned()))
            }
            LexemeKind::Name("matches") => {
                self.next();
                let (raw, lexeme) = self.string("a regular expression in quotes")?;
                let compiled = self.resources.expressions.compile(raw);
                let expression = compiled.map_err(|message| self.error(lexeme, message))?;
                Ok((ConditionTest::Matches(expression), format!("matches \"{raw}\"")))
            }
            LexemeKind::Symbol("<=") => self.comparison(term, usize::le),
            LexemeKind::Symbol(">=") => self.comparison(term, usize::ge),
            LexemeKind::Symbol("<") => self.comparison(term, usize::lt),
            LexemeKind::Symbol(">") => self.comparison(term, usize::gt),
            LexemeKind::Symbol("==") => self.comparison(term, usize::eq),
            LexemeKind::Symbol("!=") => self.comparison(term, usize::ne),
            LexemeKind::Symbol(_) => Err(self.expected("a test")),
            _ => {
                Err(self
                    .expected(&format!("a test of {term} (<=, ==, !=, matches \"…\" or exists)")))
            }
        }
    }

    /// Parses the rest of a comparison, from its operator on.
    fn comparison(
        &mut self,
        term: &Term,
        compare: fn(&usize, &usize) -> bool,
    ) -> Result<(ConditionTest, String)> {
        let operator = self.next();
        if matches!(term.function.operation, Operation::Length) {
            let number = match self.peek().kind {
                LexemeKind::Integer(number) => usize::try_from(number).ok(),
                _ => None,
            };
            let Some(number) = number else {
                return Err(self.expected("a non-negative integer"));
            };
            self.next();
            let text = format!("{} {number}", operator.text);
            return Ok((ConditionTest::Length(compare, number), text));
        }
        let equal = match operator.text {
            "==" => ConditionTest::Equal,
            "!=" => ConditionTest::NotEqual,
            _ => {
                let message = format!(
                    "'{}' compares numbers, but {term} is not a number; expected ==, !=, \
                     matches or exists",
                    operator.text
                );
                return Err(self.error(operator, message));
            }
        };
        let (raw, lexeme) = self.string("a string in quotes")?;
        let string = unescape(raw).map_err(|message| self.error(lexeme, message))?;
        let text = format!("{} {}", operator.text, quote(&string));
        Ok((equal(string), text))
    }

    fn string(&mut self, what: &str) -> Result<(&'a str, Lexeme<'a>)> {
        let lexeme = self.peek();
        let LexemeKind::Quoted(raw) = lexeme.kind else {
            return Err(self.expected(what));
        };
        self.next();
        Ok((raw, lexeme))
    }
}

/// Builds a line from its terms: the canonical name, and the separators of the values.
///
/// No two lines share an attribute. An attribute is the name of its line, followed by `=` unless
/// all its terms are flags. Names differ, and no name starts with another name followed by `=`:
/// inside a name, `=` occurs only in a string, and then the quotes before it are unbalanced, or in
/// an operator, and then the text before it ends in a blank or in half an operator.
fn assemble(number: u64, edge: bool, terms: Vec<Term>, conditions: Vec<Condition>) -> TemplateLine {
    let mut head = String::new();
    if edge {
        head.push_str("edge:");
    }
    let names: Vec<String> = terms.iter().map(ToString::to_string).collect();
    head.push_str(&names.join("|"));
    for (i, condition) in conditions.iter().enumerate() {
        let joint = if i == 0 { " if " } else { " and " };
        let not = if condition.negated { "not " } else { "" };
        head += &format!("{joint}{not}{} {}", condition.term, condition.text);
    }
    let valued = terms.iter().filter(|term| !term.function.is_flag()).count();
    if valued > 0 {
        head.push('=');
    }
    let mut remaining = valued;
    let parts = terms
        .into_iter()
        .map(|term| {
            let has_value = !term.function.is_flag();
            remaining -= usize::from(has_value);
            let separator = if has_value && remaining > 0 { "|" } else { "" };
            NamePart { term, literal: separator.to_owned() }
        })
        .collect();
    TemplateLine {
        number,
        node: !edge,
        edge,
        head,
        parts,
        escape: valued > 1,
        conditions,
        options: LineOptions::default(),
    }
}
