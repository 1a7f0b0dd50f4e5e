//! The line of a template file that says what a document is: `document: marks window=500`.

use super::lexer::LineLocation;
use crate::error::Result;
use crate::sentence::DocumentOptions;

/// The word that the line begins with.
const KEYWORD: &str = "document";

/// Returns what follows `document:`, if the line begins so.
pub(super) fn strip_keyword(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix(KEYWORD)?;
    rest.trim_start().strip_prefix(':')
}

/// Parses a line that begins with `document:`: a rule, a window, or both.
///
/// # Errors
///
/// [`crate::Error::Input`] at a word that is neither, or out of range.
pub(super) fn parse_line(line: &str, location: LineLocation<'_>) -> Result<DocumentOptions> {
    let rest = strip_keyword(line).unwrap_or_default();
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
    window
        .filter(|window| (1..=DocumentOptions::MAX_WINDOW).contains(window))
        .ok_or_else(|| {
            let largest = DocumentOptions::MAX_WINDOW;
            format!("the window '{text}' is not allowed; expected a number from 1 to {largest}")
        })
}

/// Writes the line.
pub(super) fn format_line(options: DocumentOptions) -> String {
    format!("{KEYWORD}: {} window={}", options.rule, options.window)
}
