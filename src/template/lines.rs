//! Parses the lines of a template file, in dropchain's own language or that of CRF++ or Wapiti.

use hashbrown::HashMap;

use super::ast::TemplateLines;
use super::resources::Resources;
use super::text::nonblank_lines;
use super::tokens::{Location, Tokens};
use super::{parser, pattern_parser};
use crate::error::{Error, Place, Result};
use crate::sentence::DocumentOptions;

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
            let line = parser::parse_line(tokens, resources)?;
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
    let rest = strip_document(line).unwrap_or_default();
    let rest = rest.split('#').next().unwrap_or_default();
    let (mut rule, mut window) = (None, None);
    for word in rest.split_whitespace() {
        let start = word.as_ptr() as usize - line.as_ptr() as usize;
        let at = Location { column: line[..start].chars().count() as u64 + 1, ..at };
        let is_second = match word.strip_prefix("window=") {
            Some(number) => {
                let found = parse_window(number).map_err(|message| at.error(message))?;
                window.replace(found).is_some()
            }
            None => {
                let unknown = |error: Error| at.error(format!("{error}, or window=N"));
                rule.replace(word.parse().map_err(unknown)?).is_some()
            }
        };
        if is_second {
            return Err(at.error("found a second rule or window; expected only one"));
        }
    }
    if rule.is_none() && window.is_none() {
        let column = line.chars().count() as u64 + 1;
        let message = "expected a rule such as marks, or window=500";
        return Err(Location { column, ..at }.error(message));
    }
    let default = DocumentOptions::default();
    Ok(DocumentOptions {
        rule: rule.unwrap_or(default.rule),
        window: window.unwrap_or(default.window),
    })
}

fn parse_window(text: &str) -> Result<u32, String> {
    let window = text.parse().ok();
    window.filter(|window| (1..=DocumentOptions::MAX_WINDOW).contains(window)).ok_or_else(|| {
        let largest = DocumentOptions::MAX_WINDOW;
        format!("the window '{text}' is not allowed; expected a number from 1 to {largest}")
    })
}

/// Writes the line that says what a document is.
pub(super) fn format_document(options: DocumentOptions) -> String {
    format!("document: {} window={}", options.rule, options.window)
}
