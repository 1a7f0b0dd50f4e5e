//! Whether standard output was closed at the start (`>&-`).
//!
//! The runtime of Rust opens `/dev/null` in place of closed standard streams before `main`, so
//! that writing would succeed and the results be lost. Here a function that the loader calls
//! before that looks at the file descriptor.

use std::sync::atomic::{AtomicBool, Ordering};

use dropchain::{Error, Result};

static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Fails if standard output was closed when the program started.
pub fn check_stdout_open() -> Result<()> {
    if WAS_CLOSED.load(Ordering::Relaxed) {
        let message = "it is closed; expected a file, a pipe or a terminal";
        let error = std::io::Error::other(message);
        return Err(Error::io("standard output", error));
    }
    Ok(())
}

#[cfg(target_os = "linux")]
mod before_main {
    use super::{Ordering, WAS_CLOSED};

    // SAFETY: the section lists functions of this type, which the loader calls once, in the only
    // thread. The function sets an atomic and makes a system call through the C library, which is
    // initialized; it relies on nothing of Rust's runtime.
    #[allow(unsafe_code)]
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        let is_open = rustix::fs::lstat("/proc/self/fd/1").is_ok();
        // Without /proc nothing is known.
        let knows = rustix::fs::lstat("/proc/self/fd").is_ok();
        WAS_CLOSED.store(knows && !is_open, Ordering::Relaxed);
    }
}
