//! What the commands of the program share: arguments, files that are written, signals, progress and
//! other output, and how commands end.

pub mod arguments;
pub mod exit;
pub mod interrupt;
pub mod missing;
pub mod outputs;
pub mod progress;
pub mod terminal;

use std::io::{self, Write};

use dropchain::Error;
use serde::Serialize;

use arguments::FileName;
use dropchain_layout::{printable_json, printable_lines};
use exit::{CommandError, CommandResult};

/// Rejects more than one `-` among the input files.
pub fn check_stdin_once<'a>(files: impl IntoIterator<Item = &'a FileName>) -> CommandResult {
    match files.into_iter().filter(|file| &***file == "-").count() {
        0 | 1 => Ok(()),
        _ => Err(CommandError::Usage("standard input can be read only once")),
    }
}

/// Converts a failure to write to standard output.
pub fn stdout_error(error: io::Error) -> CommandError {
    Error::io("standard output", error).into()
}

/// Writes results for people to standard output. Text of files cannot control the terminal.
pub fn print(text: &str) -> CommandResult {
    print_exact(&printable_lines(text))
}

/// Writes results as JSON to standard output. Text of files cannot control the terminal.
pub fn print_json(json: &str) -> CommandResult {
    print_exact(&printable_json(json))
}

/// Prints text with paint, which only a terminal gets. The text of files in it is
/// [printable](dropchain_layout::printable).
pub fn print_painted(text: &str) -> CommandResult {
    anstream::stdout().lock().write_all(text.as_bytes()).map_err(stdout_error)
}

/// Writes a page to standard output, exactly.
pub fn print_exact(text: &str) -> CommandResult {
    io::stdout().lock().write_all(text.as_bytes()).map_err(stdout_error)
}

/// Serializes a report as one line of JSON.
pub fn json_line(report: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(report)
        .map(|json| json + "\n")
        .map_err(|e| Error::parameter(format!("cannot write the report as JSON: {e}")))
}

/// Prints a report as a line of JSON, or as text.
pub fn print_report(
    is_json: bool,
    report: &impl Serialize,
    text: impl FnOnce() -> String,
) -> CommandResult {
    if is_json { print_json(&json_line(report)?) } else { print(&text()) }
}
