//! The `dropchain` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    dropchain_cli::run(&arguments).into()
}
