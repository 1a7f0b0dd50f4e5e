//! Parser for template files, in dropchain's own language or that of CRF++ or Wapiti, and
//! recursive-descent parser for a line of its own language.

use hashbrown::HashMap;

use super::ast::{
    Condition, ConditionTest, NamePart, Operation, TemplateLine, TemplateLines, Term,
};
use super::calls::{Argument, ArgumentValue, FunctionCall, check_offset, term_from_call};
use super::pattern_parser;
use super::resources::Resources;
use super::syntax::{Location, Token, TokenKind, Tokens, quote, unescape};
use super::text::nonblank_lines;
use crate::error::{Error, Place, Result};
use crate::sentence::DocumentOptions;

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

/// Returns the lines that are neither blank nor comments, numbered from 1.
fn numbered_lines(source: &str) -> impl Iterator<Item = (u64, &str)> {
    nonblank_lines(source).filter(|(_, line)| !line.trim_start().starts_with('#'))
}

/// Parses the text of the template file `file`.
///
/// # Errors
///
/// [`Error::Input`] at the first invalid line, or if there are no templates.
pub(super) fn parse_lines(
    source: &str,
    file: &str,
    resources: &mut Resources<'_>,
) -> Result<TemplateLines> {
    let lines = numbered_lines(source).map(|(_, line)| line);
    let dialect = check_syntax(source, file)?.then(|| pattern_parser::detect_dialect(lines));
    let mut parsed = TemplateLines {
        lines: Vec::new(),
        transitions: dialect.is_none(),
        documents: DocumentOptions::default(),
        dialect,
    };
    let mut seen: HashMap<String, u64> = HashMap::new(); // numbers of the lines
    let mut document = None; // the number of its line
    for (number, text) in numbered_lines(source) {
        let at = Location { file, line: number, column: 1 };
        if let Some(dialect) = dialect {
            let text = pattern_parser::strip_comment(text, dialect);
            let expressions = &mut resources.expressions;
            let mut line = pattern_parser::parse_line(text, dialect, at, expressions)?;
            let is_bare = line.parts.is_empty();
            parsed.transitions |= line.edge && is_bare;
            line.edge &= !is_bare;
            // A second copy of a line would only double a weight.
            if (line.node || line.edge) && seen.insert(text.to_owned(), number).is_none() {
                parsed.lines.push(line);
            }
        } else if strip_document(text).is_some() {
            if let Some(first) = document.replace(number) {
                return Err(at.error(format!("'document:' is already on line {first}")));
            }
            parsed.documents = parse_document(text, at)?;
        } else {
            let tokens = Tokens::new(text, at);
            let line = Parser { tokens, resources }.line()?;
            if let Some(earlier) = seen.insert(line.head.clone(), number) {
                let name = line.head.strip_suffix('=').unwrap_or(&line.head);
                let message = format!("'{name}' is already on line {earlier}");
                return Err(tokens.peek().at.error(message));
            }
            parsed.lines.push(line);
        }
    }
    if parsed.lines.is_empty() && !(dialect.is_some() && parsed.transitions) {
        return Err(Error::input(Place::file(file), "the file has no templates"));
    }
    Ok(parsed)
}

/// Returns whether all lines are in CRF++ or Wapiti syntax; it is an error if only some are.
fn check_syntax(source: &str, file: &str) -> Result<bool> {
    let mut lines = numbered_lines(source);
    let Some((first, line)) = lines.next() else { return Ok(false) };
    let is_pattern = pattern_parser::is_pattern(line);
    let other = lines.find(|(_, line)| pattern_parser::is_pattern(line) != is_pattern);
    let Some((line, text)) = other else { return Ok(is_pattern) };
    let (this, other) = match is_pattern {
        true => ("dropchain", "CRF++ or Wapiti"),
        false => ("CRF++ or Wapiti", "dropchain"),
    };
    Err(Location { file, line, column: 1 }.error(format!(
        "'{}' is in {this} syntax, but line {first} is in {other} syntax; expected a single \
         syntax throughout the file",
        text.trim()
    )))
}

/// Returns what follows `document:`, if the line begins so.
pub(super) fn strip_document(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("document")?.trim_start().strip_prefix(':')
}

/// Parses a line such as `document: marks window=500`: a rule, a window, or both.
///
/// # Errors
///
/// [`Error::Input`] at a word that is neither, or out of range.
fn parse_document(line: &str, at: Location<'_>) -> Result<DocumentOptions> {
    let rest = strip_document(line).unwrap_or_default().split('#').next().unwrap_or_default();
    let (mut rule, mut window) = (None, None);
    for word in rest.split_whitespace() {
        let start = word.as_ptr() as usize - line.as_ptr() as usize;
        let at = Location { column: line[..start].chars().count() as u64 + 1, ..at };
        let is_second = match word.strip_prefix("window=") {
            Some(text) => {
                let number = text.parse().unwrap_or(0);
                at.ensure((1..=DocumentOptions::MAX_WINDOW).contains(&number), || {
                    let expected = format!("a number from 1 to {}", DocumentOptions::MAX_WINDOW);
                    format!("the window '{text}' is not allowed; expected {expected}")
                })?;
                window.replace(number).is_some()
            }
            None => {
                let unknown = |error: Error| at.error(format!("{error}, or window=N"));
                rule.replace(word.parse().map_err(unknown)?).is_some()
            }
        };
        at.ensure(!is_second, || "found a second rule or window; expected only one".to_owned())?;
    }
    let end = Location { column: line.chars().count() as u64 + 1, ..at };
    end.ensure(rule.is_some() || window.is_some(), || {
        "expected a rule such as marks, or window=500".to_owned()
    })?;
    let window = window.unwrap_or(DocumentOptions::WINDOW);
    Ok(DocumentOptions { rule: rule.unwrap_or_default(), window })
}

/// Writes the line that says what a document is.
pub(super) fn format_document(options: DocumentOptions) -> String {
    format!("document: {} window={}", options.rule, options.window)
}

struct Parser<'a, 'r, 'f> {
    tokens: Tokens<'a>,
    resources: &'r mut Resources<'f>,
}

impl<'a> Parser<'a, '_, '_> {
    /// Parses the line, whose name is the canonical text of its terms and conditions.
    ///
    /// No two lines share an attribute. An attribute is the name of its line, followed by `=`
    /// unless all its terms are flags. Names differ, and no name starts with another name followed
    /// by `=`: inside a name, `=` occurs only in a string, and then the quotes before it are
    /// unbalanced, or in an operator, and then the text before it ends in a blank or in half an
    /// operator.
    fn line(&mut self) -> Result<TemplateLine> {
        let start = self.tokens.peek().at;
        let edge = self.edge_prefix();
        let mut terms = vec![self.term()?];
        while self.tokens.accept("&") {
            terms.push(self.term()?);
        }
        let names: Vec<String> = terms.iter().map(ToString::to_string).collect();
        let mut head = if edge { "edge:" } else { "" }.to_owned() + &names.join("|");
        let mut conditions = Vec::new();
        while self.tokens.accept(if conditions.is_empty() { "if" } else { "and" }) {
            let condition = self.condition()?;
            let joint = if conditions.is_empty() { "if" } else { "and" };
            let not = if condition.negated { "not " } else { "" };
            head += &format!(" {joint} {not}{} {}", condition.term, condition.text);
            conditions.push(condition);
        }
        if self.tokens.peek().kind != TokenKind::End {
            return Err(self.tokens.expected(match conditions.is_empty() {
                true => "'&', 'if' or the end of the line (a line holds one template)",
                false => "'and' or the end of the line",
            }));
        }
        check(start, edge, &terms, conditions.len())?;
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
        Ok(TemplateLine {
            number: start.line,
            node: !edge,
            edge,
            head,
            parts,
            escape: valued > 1,
            conditions,
        })
    }

    /// Consumes `edge:`, if the line starts with it.
    fn edge_prefix(&mut self) -> bool {
        let before = self.tokens;
        let is_edge = self.tokens.accept("edge") && self.tokens.accept(":");
        if !is_edge {
            self.tokens = before;
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
        at.ensure(depth < MAX_DEPTH, || "the parentheses are nested too deeply".to_owned())?;
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
                let expression = self.resources.expressions.compile(raw, raw);
                let expression = expression.map_err(|message| at.error(message))?;
                (ConditionTest::Matches(expression), format!("matches \"{raw}\""))
            }
            (_, Some((_, compare))) if is_length => {
                let (start, what) = (ahead, "a non-negative integer");
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
                let expected = "expected ==, matches or exists, or 'not' before the test";
                let fault = format!("'{operator}' compares numbers, but {term} is not a number");
                return Err(at.error(format!("{fault}; {expected}")));
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

/// Checks the limits of a line with these terms and so many conditions.
fn check(start: Location<'_>, edge: bool, terms: &[Term], conditions: usize) -> Result<()> {
    let count = terms.len();
    start.ensure(count.max(conditions) <= MAX_TERMS, || {
        let limit = format!("at most {MAX_TERMS} of each are allowed");
        format!("{count} terms and {conditions} conditions; {limit}")
    })?;
    let constant = matches!(terms, [term] if matches!(term.function.operation, Operation::Bias));
    start.ensure(!(edge && constant && conditions == 0), || {
        "'edge: bias' is the bare transition, which is always included".to_owned()
    })?;
    let values = terms.iter().map(|term| term.function.max_values());
    let attributes = values.fold(1, usize::saturating_mul);
    start.ensure(attributes <= MAX_ATTRIBUTES, || {
        let limit = format!("at most {MAX_ATTRIBUTES} are allowed");
        format!("this line can produce {attributes} attributes per token; {limit}")
    })
}
