//! Receiving signals, on Unix and elsewhere.

#[cfg(unix)]
use std::{io, sync::Arc, sync::atomic::AtomicBool, thread};

#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
#[cfg(unix)]
use signal_hook::iterator::Signals;

/// Calls `handle` with the number of each SIGHUP, SIGINT and SIGTERM that arrives, on a thread of
/// its own, unless the signal is ignored.
#[cfg(unix)]
pub fn watch(handle: impl Fn(u8) + Send + 'static) -> io::Result<()> {
    // A file size limit is then an error of writing, not the end of the program.
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    let ignored = ignored_signals();
    let is_handled = |signal: &i32| (ignored >> (signal - 1)) & 1 == 0;
    let handled = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(is_handled);
    let mut signals = Signals::new(handled)?;
    let wait = move || {
        for number in signals.forever() {
            handle(u8::try_from(number).unwrap_or_default());
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
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(1 << (SIGHUP - 1))
}

/// Calls `handle` with the number of SIGINT for each Ctrl-C.
#[cfg(not(unix))]
pub fn watch(handle: impl Fn(u8) + Send + 'static) -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(move || handle(2))
}
