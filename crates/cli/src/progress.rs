//! Progress and notices, on standard error.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::builder::styling::{AnsiColor, Color, Style};
use indicatif::{ProgressBar, ProgressStyle};

use crate::terminal;
use dropchain_layout::{printable_lines, wrap};

/// Whether nothing is printed to standard error, since another process of the run does so.
static IS_MUTED: AtomicBool = AtomicBool::new(false);

/// How often the spinner moves.
const TICK: Duration = Duration::from_millis(120);

/// Columns before the continuation of a line.
const INDENT: usize = 2;

/// Prints a line to standard error, ignoring write errors.
pub fn notice(text: &str) {
    if IS_MUTED.load(Ordering::Relaxed) {
        return;
    }
    let _ = writeln!(std::io::stderr().lock(), "{}", formatted(text));
}

/// Prints why `program` failed: like a notice, on a terminal with its name in the style of errors.
pub fn failure(program: &str, message: &str) {
    const STYLE: Style = Style::new()
        .bold()
        .fg_color(Some(Color::Ansi(AnsiColor::Red)));
    if IS_MUTED.load(Ordering::Relaxed) {
        return;
    }
    let text = formatted(&format!("{program}: {message}"));
    let styled = text.replacen(program, &format!("{STYLE}{program}{STYLE:#}"), 1);
    let _ = writeln!(anstream::stderr().lock(), "{styled}");
}

/// Returns a text for standard error. On a terminal, it breaks between words.
fn formatted(text: &str) -> String {
    let text = printable_lines(text);
    match terminal::of_notices() {
        Some(columns) => wrap(&text, columns, INDENT),
        None => text.into_owned(),
    }
}

/// Prints no notices from now on.
pub fn mute() {
    IS_MUTED.store(true, Ordering::Relaxed);
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
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
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
            Self::Terminal(bar) => bar.set_message(printable_lines(text).into_owned()),
        }
    }

    /// Removes the status line.
    pub fn clear(&self) {
        if let Self::Terminal(bar) = self {
            bar.finish_and_clear();
        }
    }
}
