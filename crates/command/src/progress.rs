//! Progress and notices, on standard error. The library names options by their fields, notices by
//! their flags.

use std::io::{IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::{ArgMatches, Command};
use dropchain_layout::{Paint, printable_lines, wrap};
use indicatif::{ProgressBar, ProgressStyle};

use crate::terminal;

/// Whether nothing is printed to standard error, since another process of the run does so.
static IS_MUTED: AtomicBool = AtomicBool::new(false);

/// Interval of the spinner.
const TICK: Duration = Duration::from_millis(120);

/// The status line.
const LINE: &str = "{spinner} {elapsed} {wide_msg}";

/// Columns of the status line before its text: spinner, time, and blanks.
const SPINNER: usize = 7;

/// The status line of work whose end is known: 24 columns more, and the numbers.
const BAR: &str = "{spinner} {elapsed} {bar:10} {pos}/{len}, {eta} left  {wide_msg}";

/// Columns before the continuation of a line.
const INDENT: usize = 2;

/// What notices begin with that have a color on a terminal.
const BEGINNINGS: [(&str, Paint); 3] =
    [("error:", Paint::Bad), ("warning:", Paint::Warning), ("tip:", Paint::Good)];

/// Prints a line to standard error, ignoring write errors: an error, a warning and a tip begin with
/// this word. On a terminal, it breaks between words.
pub fn notice(text: &str) {
    if IS_MUTED.load(Ordering::Relaxed) {
        return;
    }
    let text = with_flags(text);
    let text = printable_lines(&text);
    let text = match terminal::of_notices() {
        Some(columns) => wrap(&text, columns, INDENT),
        None => text.into_owned(),
    };
    let painted = BEGINNINGS
        .iter()
        .find_map(|(word, paint)| text.strip_prefix(word).map(|rest| paint.on(word) + rest));
    let _ = writeln!(anstream::stderr().lock(), "{}", painted.unwrap_or(text));
}

/// Prints a line to standard error, unless `quiet`.
pub fn notice_unless(quiet: bool, text: &str) {
    if !quiet {
        notice(text);
    }
}

/// Prints no notices from now on.
pub fn mute() {
    IS_MUTED.store(true, Ordering::Relaxed);
}

/// Returns the words of a text that fit the status line after some columns.
fn beginning(text: &str, columns: usize) -> String {
    let rest = terminal::of_notices().unwrap_or(usize::MAX).saturating_sub(columns);
    let text = wrap(&printable_lines(text), rest, 0);
    text.lines().next().unwrap_or_default().trim_end_matches(',').to_owned()
}

fn set_style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}

/// Reports the progress of a long-running command.
#[derive(Debug)]
pub enum Progress {
    /// Prints nothing.
    Quiet,
    /// Prints one line per update.
    Lines,
    /// Updates one line of a terminal in place.
    Terminal(ProgressBar),
}

impl Progress {
    /// Selects the kind of progress: a status line if standard error is a terminal, else lines;
    /// nothing if `quiet`.
    pub fn new(quiet: bool) -> Self {
        if quiet {
            return Self::Quiet;
        }
        if !std::io::stderr().is_terminal() {
            return Self::Lines;
        }
        let bar = ProgressBar::new_spinner();
        set_style(&bar, LINE);
        bar.enable_steady_tick(TICK);
        Self::Terminal(bar)
    }

    /// Returns whether it is on a terminal.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Terminal(_))
    }

    /// Prints a permanent line, above the status line of a terminal.
    pub fn println(&self, text: &str) {
        match self {
            Self::Quiet => {}
            Self::Lines => notice(text),
            Self::Terminal(bar) => bar.suspend(|| notice(text)),
        }
    }

    /// Prints permanent lines.
    pub fn println_all(&self, lines: impl IntoIterator<Item = String>) {
        lines.into_iter().for_each(|line| self.println(&line));
    }

    /// Replaces the status line of a terminal; elsewhere prints a line.
    pub fn update(&self, text: &str) {
        match self {
            Self::Quiet => {}
            Self::Lines => notice(text),
            Self::Terminal(bar) => {
                if bar.length().is_some() {
                    bar.unset_length();
                    set_style(bar, LINE);
                }
                bar.set_message(beginning(text, SPINNER));
            }
        }
    }

    /// Shows on a terminal how much of some work is done, as a bar with the time that is left.
    pub fn advance(&self, text: &str, done: usize, total: usize) {
        let Self::Terminal(bar) = self else { return };
        let text = beginning(text, SPINNER + 24 + 2 * total.to_string().len());
        let (length, position) = (total as u64, done as u64);
        if bar.length() != Some(length) || bar.position() > position {
            bar.set_message("");
            bar.set_position(0);
            bar.set_length(length);
            set_style(bar, BAR);
            bar.reset_eta();
        }
        bar.set_message(text);
        bar.set_position(position);
    }

    /// Removes the status line.
    pub fn clear(&self) {
        if let Self::Terminal(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// The flags of the command that runs, without dashes.
static FLAGS: OnceLock<Vec<String>> = OnceLock::new();

/// Keeps the flags of the command that was called.
pub fn keep_flags(mut program: &Command, mut matches: &ArgMatches) {
    while let Some((name, of_command)) = matches.subcommand()
        && let Some(command) = program.find_subcommand(name)
    {
        (program, matches) = (command, of_command);
    }
    let flags = program.get_arguments().filter_map(|argument| argument.get_long());
    let _ = FLAGS.set(flags.map(str::to_owned).collect());
}

/// Writes the fields in a message that the command has flags for as these: `` `warm_up` `` as
/// `--warm-up`.
pub fn with_flags(message: &str) -> String {
    named(message, FLAGS.get().map_or(&[], Vec::as_slice))
}

fn named(message: &str, flags: &[String]) -> String {
    let parts: Vec<&str> = message.split('`').collect();
    let parts = parts.iter().enumerate().map(|(i, part)| {
        let flag = part.replace('_', "-");
        match i % 2 {
            0 => (*part).to_owned(),
            _ if i + 1 == parts.len() => format!("`{part}"),
            _ if flags.contains(&flag) => format!("--{flag}"),
            _ => format!("`{part}`"),
        }
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_named_as_flags_of_the_command() {
        let flags = ["warm-up", "l2"].map(str::to_owned);
        for (message, expected) in [
            (
                "`warm_up` 3 and `l2`; expected `dropout`",
                "--warm-up 3 and --l2; expected `dropout`",
            ),
            ("run `dropchain train`, not `l2", "run `dropchain train`, not `l2"),
            ("no field", "no field"),
            ("``l2``", "``l2``"),
        ] {
            assert_eq!(named(message, &flags), expected);
        }
    }
}
