//! Signals: ending a command early without losing its result.
//!
//! While there is no result, a signal ends the program at once and leaves all files as they are.
//! Once there is one, the first signal sets [`flag`], upon which training ends and the result is
//! saved. Another one that follows within a second counts as the same: `timeout` sends its signal
//! to the process and to its group. A later one ends the program without saving.
//!
//! Signals that are ignored at the start stay ignored: SIGHUP under `nohup`, and SIGINT in the
//! background jobs of scripts.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

use dropchain::kernel::atomic_file;

use crate::progress::notice;

#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
#[cfg(unix)]
use signal_hook::iterator::Signals;
#[cfg(unix)]
use std::{io, sync::Arc, thread};

/// Signals that arrive within this time count as one.
pub const SAME_SIGNAL: Duration = Duration::from_secs(1);

/// Added to the number of a signal for the exit code, by shell convention.
const EXIT_CODE_BASE: u8 = 128;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static SIGNAL: AtomicU8 = AtomicU8::new(0);
static HAS_RESULT: AtomicBool = AtomicBool::new(false);
static ADVICE: OnceLock<String> = OnceLock::new();

/// A signal, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal(pub u8);

impl Signal {
    /// SIGHUP.
    pub const HANG_UP: Self = Self(1);
    const INTERRUPT: Self = Self(2);
    const TERMINATE: Self = Self(15);

    /// Returns the exit code of a program that the signal ended.
    pub fn exit_code(self) -> u8 {
        EXIT_CODE_BASE + self.0
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::HANG_UP => f.write_str("SIGHUP"),
            Self::INTERRUPT => f.write_str("SIGINT"),
            Self::TERMINATE => f.write_str("SIGTERM"),
            Self(number) => write!(f, "signal {number}"),
        }
    }
}

/// Returns the flag that a signal sets.
pub fn flag() -> &'static AtomicBool {
    &INTERRUPTED
}

/// Returns the signal that has set the flag.
pub fn received() -> Option<Signal> {
    let is_set = INTERRUPTED.load(Ordering::SeqCst);
    is_set.then(|| Signal(SIGNAL.load(Ordering::SeqCst)))
}

/// Sets the flag for a signal that another process of the run has received.
pub fn adopt(signal: Signal) {
    SIGNAL.store(signal.0, Ordering::SeqCst);
    INTERRUPTED.store(true, Ordering::SeqCst);
}

/// Declares that there is a result: from now on a signal ends training instead of the program.
pub fn set_has_result() {
    HAS_RESULT.store(true, Ordering::SeqCst);
}

/// Sets what to say about the state of the work if a signal ends the program at once.
pub fn set_advice(advice: String) {
    let _ = ADVICE.set(advice);
}

/// Handles a signal.
fn handle(signal: Signal) {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    if !HAS_RESULT.load(Ordering::SeqCst) {
        quit(signal, "before there was a result", "no file was changed");
    }
    if let Some(first) = FIRST.get() {
        if first.elapsed() > SAME_SIGNAL {
            quit(signal, "again", "nothing was saved");
        }
        return;
    }
    let _ = FIRST.set(Instant::now());
    adopt(signal);
    notice(&format!(
        "interrupted by {signal}: saving the best result so far (again to quit without saving)"
    ));
}

/// Ends the program, leaving no temporary files.
fn quit(signal: Signal, when: &str, state: &str) -> ! {
    let _suspended = atomic_file::suspend();
    let state = ADVICE.get().map_or(state, String::as_str);
    notice(&format!("error: interrupted by {signal} {when}; {state}"));
    std::process::exit(signal.exit_code().into());
}

/// Makes a file size limit (`ulimit -f`) an error of writing, not the end of the program.
pub fn survive_size_limit() {
    #[cfg(unix)]
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// Starts to handle signals. Call it before creating files.
pub fn watch() {
    if let Err(error) = watch_signals(handle) {
        notice(&format!("warning: signals will end the program without saving: {error}"));
    }
}

/// Calls `handle` with each SIGHUP, SIGINT and SIGTERM that arrives, on a thread of its own, unless
/// the signal is ignored.
#[cfg(unix)]
pub fn watch_signals(handle: impl Fn(Signal) + Send + 'static) -> io::Result<()> {
    let ignored = ignored_signals();
    let is_handled = |signal: &i32| (ignored >> (signal - 1)) & 1 == 0;
    let handled = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(is_handled);
    let mut signals = Signals::new(handled)?;
    let wait = move || {
        for number in signals.forever() {
            handle(Signal(u8::try_from(number).unwrap_or_default()));
        }
    };
    let builder = thread::Builder::new().name("signals".to_owned());
    builder.spawn(wait).map(drop)
}

/// Returns the set of ignored signals as a bit mask, signal 1 in the lowest bit. Where Linux does
/// not tell, SIGHUP counts as ignored: `nohup` must work.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(1 << (SIGHUP - 1))
}

/// Calls `handle` with SIGINT for each Ctrl-C.
#[cfg(not(unix))]
pub fn watch_signals(handle: impl Fn(Signal) + Send + 'static) -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(move || handle(Signal::INTERRUPT))
}
