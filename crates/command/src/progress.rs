//! Progress and notices, on standard error.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::{flags, terminal};
use dropchain_layout::{Paint, printable_lines, wrap};

/// Whether nothing is printed to standard error, since another process of the run does so.
static IS_MUTED: AtomicBool = AtomicBool::new(false);

/// Interval of the spinner.
const TICK: Duration = Duration::from_millis(120);

/// The status line.
const LINE: &str = "{spinner} {elapsed} {wide_msg}";

/// The status line of work whose end is known.
const BAR: &str = "{spinner} {elapsed} {bar:10} {pos}/{len}, {eta} left  {wide_msg}";

/// Columns before the continuation of a line.
const INDENT: usize = 2;

/// Prefix of warnings.
const WARNING: &str = "warning:";

/// Prints a line to standard error, ignoring write errors.
pub fn notice(text: &str) {
    if IS_MUTED.load(Ordering::Relaxed) {
        return;
    }
    let text = formatted(text);
    let text = match text.strip_prefix(WARNING) {
        Some(rest) => Paint::Warning.on(WARNING) + rest,
        None => text,
    };
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// Prints why `program` failed: like a notice, on a terminal with its name in the style of errors.
pub fn failure(program: &str, message: &str) {
    if IS_MUTED.load(Ordering::Relaxed) {
        return;
    }
    let text = formatted(&format!("{program}: {message}"));
    let styled = text.replacen(program, &Paint::Bad.on(program), 1);
    let _ = writeln!(anstream::stderr().lock(), "{styled}");
}

/// Returns a text for standard error. On a terminal, it breaks between words.
fn formatted(text: &str) -> String {
    let text = flags::of_fields(text);
    let text = printable_lines(&text);
    match terminal::of_notices() {
        Some(columns) => wrap(&text, columns, INDENT),
        None => text.into_owned(),
    }
}

/// Prints no notices from now on.
pub fn mute() {
    IS_MUTED.store(true, Ordering::Relaxed);
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
                bar.set_message(printable_lines(text).into_owned());
            }
        }
    }

    /// Shows on a terminal how much of some work is done, as a bar with the time that is left.
    pub fn advance(&self, text: &str, done: usize, total: usize) {
        let Self::Terminal(bar) = self else {
            return;
        };
        if bar.length().is_none() {
            set_style(bar, BAR);
        }
        let is_new = bar.length() != Some(total as u64) || bar.position() > done as u64;
        bar.set_message(printable_lines(text).into_owned());
        bar.set_length(total as u64);
        bar.set_position(done as u64);
        if is_new {
            bar.reset_eta();
        }
    }

    /// Removes the status line.
    pub fn clear(&self) {
        if let Self::Terminal(bar) = self {
            bar.finish_and_clear();
        }
    }
}
