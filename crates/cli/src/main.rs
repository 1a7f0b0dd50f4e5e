//! The `dropchain` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    dropchain_cli::run(before_main::stdout_was_closed())
}

/// Whether standard output was closed at the start (`>&-`).
///
/// The runtime of Rust opens `/dev/null` in place of closed standard streams before `main`, so
/// that writing would succeed and the results be lost. Here a function that the loader calls
/// before that looks at the file descriptor.
mod before_main {
    use std::sync::atomic::{AtomicBool, Ordering};

    static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

    /// Returns whether standard output was closed when the program started.
    pub fn stdout_was_closed() -> bool {
        WAS_CLOSED.load(Ordering::Relaxed)
    }

    // SAFETY: the section lists functions of this type, which the loader calls once, in the only
    // thread. The function sets an atomic and makes a system call through the C library, which is
    // initialized; it relies on nothing of Rust's runtime.
    #[cfg(target_os = "linux")]
    #[allow(unsafe_code)]
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;

    #[cfg(target_os = "linux")]
    extern "C" fn look() {
        let is_open = rustix::fs::lstat("/proc/self/fd/1").is_ok();
        // Without /proc nothing is known.
        let knows = rustix::fs::lstat("/proc/self/fd").is_ok();
        WAS_CLOSED.store(knows && !is_open, Ordering::Relaxed);
    }
}
