//! Ctrl-C handling.

use std::sync::atomic::{AtomicBool, Ordering};

use super::progress::notice;

/// Exit code of a program killed by SIGINT, by shell convention.
const INTERRUPTED_EXIT_CODE: i32 = 130;

/// Installs a Ctrl-C handler and returns the flag that it sets. A second Ctrl-C exits at once.
pub fn interrupt_flag() -> &'static AtomicBool {
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);
    let result = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED_EXIT_CODE);
        }
        notice("interrupted: saving the best model so far (Ctrl-C again to quit without saving)");
    });
    if let Err(error) = result {
        notice(&format!(
            "warning: Ctrl-C will exit without saving: {error}"
        ));
    }
    &INTERRUPTED
}
