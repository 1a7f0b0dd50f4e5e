//! The `dropchain` program.

use std::process::ExitCode;

use dropchain::internals::cli;

fn main() -> ExitCode {
    cli::run()
}
