//! The `dropchain` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    dropchain_cli::run()
}
