//! Options in messages: the library names them by their fields, the program by their flags.

use std::sync::OnceLock;

use clap::{ArgMatches, Command};

/// The flags of the command that runs, without dashes.
static FLAGS: OnceLock<Vec<String>> = OnceLock::new();

/// Keeps the flags of the command that was called.
pub fn keep(mut program: &Command, mut matches: &ArgMatches) {
    while let Some((name, of_command)) = matches.subcommand()
        && let Some(command) = program.find_subcommand(name)
    {
        (program, matches) = (command, of_command);
    }
    let flags = program.get_arguments().filter_map(|argument| argument.get_long());
    let _ = FLAGS.set(flags.map(str::to_owned).collect());
}

/// Writes the fields in a message that the command has flags for as these: `` `warm_up` `` as
/// `--warm-up`.
pub fn of_fields(message: &str) -> String {
    named(message, FLAGS.get().map_or(&[], Vec::as_slice))
}

fn named(message: &str, flags: &[String]) -> String {
    let parts: Vec<&str> = message.split('`').collect();
    let parts = parts.iter().enumerate().map(|(i, part)| {
        let flag = part.replace('_', "-");
        match i % 2 {
            0 => (*part).to_owned(),
            _ if i + 1 == parts.len() => format!("`{part}"),
            _ if flags.contains(&flag) => format!("--{flag}"),
            _ => format!("`{part}`"),
        }
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_named_as_flags_of_the_command() {
        let flags = ["warm-up", "l2"].map(str::to_owned);
        for (message, expected) in [
            (
                "`warm_up` 3 and `l2`; expected `dropout`",
                "--warm-up 3 and --l2; expected `dropout`",
            ),
            ("run `dropchain train`, not `l2", "run `dropchain train`, not `l2"),
            ("no field", "no field"),
            ("``l2``", "``l2``"),
        ] {
            assert_eq!(named(message, &flags), expected);
        }
    }
}
