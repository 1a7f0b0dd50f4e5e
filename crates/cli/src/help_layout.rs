//! The layout of help: as wide as the terminal, or 80 columns; paragraphs fill their lines.

use clap::Command;
use clap::builder::StyledStr;

use super::terminal;

/// The width of help that no terminal shows.
const DEFAULT: usize = 80;

/// The largest width of help: longer lines are hard to read.
const MAXIMUM: usize = 100;

/// Sets the width of all help texts.
pub fn fit(command: Command) -> Command {
    let columns = terminal::of_help().unwrap_or(DEFAULT).min(MAXIMUM);
    fill(command.term_width(columns))
}

/// Joins the lines of paragraphs in the texts after the options, which clap then breaks.
fn fill(mut command: Command) -> Command {
    if let Some(text) = command.get_after_help().map(paragraphs) {
        command = command.after_help(text);
    }
    if let Some(text) = command.get_after_long_help().map(paragraphs) {
        command = command.after_long_help(text);
    }
    let names = command.get_subcommands().map(|c| c.get_name().to_owned());
    let names: Vec<String> = names.collect();
    names
        .into_iter()
        .fold(command, |command, name| command.mut_subcommand(name, fill))
}

/// Joins lines that are not indented, except headings.
fn paragraphs(text: &StyledStr) -> String {
    let text = text.to_string();
    let mut joined = String::new();
    let mut goes_on = false;
    for line in text.lines() {
        let is_text = !(line.is_empty() || line.starts_with(' '));
        if goes_on && is_text {
            joined.push(' ');
        } else if !joined.is_empty() {
            joined.push('\n');
        }
        joined.push_str(line);
        goes_on = is_text && line != "Examples:";
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_become_lines() {
        let text = "Examples:\n  a b\n\n  c\n\nOne\ntwo.\n\nThree";
        let expected = "Examples:\n  a b\n\n  c\n\nOne two.\n\nThree";
        assert_eq!(paragraphs(&StyledStr::from(text)), expected);
    }
}
