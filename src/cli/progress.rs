//! Progress and notices, on standard error.

use std::io::{IsTerminal, Write};

use indicatif::{ProgressBar, ProgressStyle};

/// Prints a line on standard error. That nobody may read it is no reason to fail.
pub fn notice(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Tells how a long piece of work goes: a line that changes on a terminal, plain lines elsewhere,
/// nothing when quiet.
#[derive(Debug)]
pub enum Progress {
    /// Says nothing.
    Quiet,
    /// A plain line for each step.
    Lines,
    /// A line on a terminal that changes in place.
    Terminal(ProgressBar),
}

impl Progress {
    /// Progress on standard error.
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
        bar.enable_steady_tick(std::time::Duration::from_millis(120));
        Self::Terminal(bar)
    }

    /// Something worth a line of its own.
    pub fn say(&self, text: &str) {
        match self {
            Self::Quiet => {}
            Self::Lines => notice(text),
            Self::Terminal(bar) => bar.suspend(|| notice(text)),
        }
    }

    /// A step of the work.
    pub fn step(&self, text: String) {
        match self {
            Self::Quiet => {}
            Self::Lines => notice(&text),
            Self::Terminal(bar) => bar.set_message(text),
        }
    }

    /// The work is done: the changing line goes away.
    pub fn done(&self) {
        if let Self::Terminal(bar) = self {
            bar.finish_and_clear();
        }
    }
}
