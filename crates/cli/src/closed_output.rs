//! Whether standard output was closed at the start, which only the program can see.

use std::sync::atomic::{AtomicBool, Ordering};

use dropchain::{Error, Result};

static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Sets whether standard output was closed when the program started.
pub fn set_stdout_closed(was_closed: bool) {
    WAS_CLOSED.store(was_closed, Ordering::Relaxed);
}

/// Fails if standard output was closed when the program started.
pub fn check_stdout_open() -> Result<()> {
    if WAS_CLOSED.load(Ordering::Relaxed) {
        let message = "it is closed; expected a file, a pipe or a terminal";
        let error = std::io::Error::other(message);
        return Err(Error::io("standard output", error));
    }
    Ok(())
}
