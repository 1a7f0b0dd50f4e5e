//! Parses the lines of a template file, in dropchain's own language or that of CRF++ or Wapiti.

use hashbrown::{HashMap, HashSet};

use super::ast::TemplateLine;
use super::expressions::Expressions;
use super::resources::Resources;
use super::syntax::LineLocation;
use super::text::nonblank_lines;
use super::{parser, pattern_parser};
use crate::error::{Error, Place, Result};
use crate::sentence::DocumentOptions;

/// The templates of a file.
pub(super) struct TemplateLines {
    pub lines: Vec<TemplateLine>,
    /// Whether bare transitions (label pairs) have weights.
    pub transitions: bool,
    /// What a document is.
    pub documents: DocumentOptions,
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
    let mut numbered: Vec<(u64, &str)> =
        nonblank_lines(source).filter(|(_, line)| !line.trim_start().starts_with('#')).collect();
    let patterns = is_pattern_file(&numbered, file)?;
    let parsed = if patterns {
        parse_patterns(&numbered, file, &mut resources.expressions)?
    } else {
        let documents = take_document_line(&mut numbered, file)?;
        TemplateLines {
            lines: parse_templates(&numbered, file, resources)?,
            transitions: true,
            documents,
        }
    };
    if parsed.lines.is_empty() && !(patterns && parsed.transitions) {
        let message = "the file has no templates";
        return Err(Error::input(Place::file(file), message));
    }
    Ok(parsed)
}

/// Removes and parses the line that says what a document is, if there is one.
fn take_document_line(numbered: &mut Vec<(u64, &str)>, file: &str) -> Result<DocumentOptions> {
    let is_document = |(_, text): &(u64, &str)| strip_document(text).is_some();
    let Some(i) = numbered.iter().position(is_document) else {
        return Ok(DocumentOptions::default());
    };
    let (first, text) = numbered.remove(i);
    if let Some((line, _)) = numbered.iter().copied().find(is_document) {
        let location = LineLocation { file, line };
        return Err(location.error(1, format!("'document:' is already on line {first}")));
    }
    let location = LineLocation { file, line: first };
    parse_document(text, location)
}

/// Returns whether the first line of a template is in CRF++ or Wapiti syntax.
pub(super) fn is_pattern_source(source: &str) -> bool {
    let mut lines = nonblank_lines(source).map(|(_, line)| line);
    let first = lines.find(|line| !line.trim_start().starts_with('#'));
    first.is_some_and(pattern_parser::is_pattern)
}

/// Returns whether the file is in CRF++ or Wapiti syntax.
///
/// # Errors
///
/// [`Error::Input`] if only some lines are.
fn is_pattern_file(numbered: &[(u64, &str)], file: &str) -> Result<bool> {
    let Some(&(first, line)) = numbered.first() else {
        return Ok(false);
    };
    let patterns = pattern_parser::is_pattern(line);
    for &(number, line) in numbered {
        if pattern_parser::is_pattern(line) != patterns {
            let (this, other) = if patterns {
                ("dropchain", "CRF++ or Wapiti")
            } else {
                ("CRF++ or Wapiti", "dropchain")
            };
            let message = format!(
                "'{}' is in {this} syntax, but line {first} is in {other} syntax; expected a \
                 single syntax throughout the file",
                line.trim()
            );
            return Err(Error::input(Place::column(file, number, 1), message));
        }
    }
    Ok(patterns)
}

fn parse_templates(
    numbered: &[(u64, &str)],
    file: &str,
    resources: &mut Resources<'_>,
) -> Result<Vec<TemplateLine>> {
    let mut lines = Vec::new();
    let mut seen: HashMap<String, u64> = HashMap::new();
    for &(number, text) in numbered {
        let location = LineLocation { file, line: number };
        let Some(line) = parser::parse_line(text, location, resources)? else {
            continue;
        };
        if let Some(earlier) = seen.insert(line.head.clone(), number) {
            let column = text.chars().take_while(|c| c.is_whitespace()).count() as u64 + 1;
            let name = line.head.strip_suffix('=').unwrap_or(&line.head);
            let message = format!("'{name}' is already on line {earlier}");
            return Err(location.error(column, message));
        }
        lines.push(line);
    }
    Ok(lines)
}

/// Parses lines in CRF++ or Wapiti syntax. Duplicate lines are ignored: a second copy would only
/// double a weight.
fn parse_patterns(
    numbered: &[(u64, &str)],
    file: &str,
    expressions: &mut Expressions,
) -> Result<TemplateLines> {
    let dialect = pattern_parser::detect_dialect(numbered.iter().map(|(_, line)| *line));
    let (mut lines, mut transitions) = (Vec::new(), false);
    let mut seen = HashSet::new();
    for &(number, text) in numbered {
        let text = pattern_parser::strip_comment(text, dialect);
        let location = LineLocation { file, line: number };
        let parsed = pattern_parser::parse_line(text, dialect, location, expressions)?;
        transitions |= parsed.transition;
        if seen.insert(text) {
            lines.extend(parsed.line);
        }
    }
    Ok(TemplateLines { lines, transitions, documents: DocumentOptions::default() })
}

/// Returns what follows `document:`, if the line begins so.
pub(super) fn strip_document(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("document")?;
    rest.trim_start().strip_prefix(':')
}

/// Parses a line such as `document: marks window=500`: a rule, a window, or both.
///
/// # Errors
///
/// [`crate::Error::Input`] at a word that is neither, or out of range.
fn parse_document(line: &str, location: LineLocation<'_>) -> Result<DocumentOptions> {
    let rest = strip_document(line).unwrap_or_default();
    let rest = rest.split('#').next().unwrap_or_default();
    let mut options = DocumentOptions::default();
    let (mut has_rule, mut has_window) = (false, false);
    for word in rest.split_whitespace() {
        let at = word.as_ptr() as usize - line.as_ptr() as usize;
        let column = line[..at].chars().count() as u64 + 1;
        let error = |message: String| Err(location.error(column, message));
        let (known, name) = match word.strip_prefix("window=") {
            Some(window) => {
                match parse_window(window) {
                    Ok(window) => options.window = window,
                    Err(message) => return error(message),
                }
                (&mut has_window, "window")
            }
            None => {
                match word.parse() {
                    Ok(rule) => options.rule = rule,
                    Err(unknown) => return error(format!("{unknown}, or window=N")),
                }
                (&mut has_rule, "rule")
            }
        };
        if std::mem::replace(known, true) {
            return error(format!("found a second {name}; expected only one"));
        }
    }
    if !has_rule && !has_window {
        let column = line.chars().count() as u64 + 1;
        return Err(location.error(column, "expected a rule such as marks, or window=500"));
    }
    Ok(options)
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
