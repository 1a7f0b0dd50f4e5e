//! `dropchain man`

use std::fs;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_mangen::{Man, generate_to};
use dropchain::Error;

use super::{CommandResult, definition, print};

/// Print the manual page of a command, or write those of all commands
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain man train | man -l -

  # All pages, where `man dropchain-train` finds them
  dropchain man --output-dir ~/.local/share/man/man1")]
pub struct ManCommand {
    /// The command; without one, the page of the program
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Write the pages of all commands to this directory, which is created
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    output_dir: Option<PathBuf>,
}

impl ManCommand {
    pub fn run(&self) -> CommandResult {
        let mut program = with_all_options(definition()).disable_help_subcommand(true);
        if let Some(directory) = &self.output_dir {
            let written =
                fs::create_dir_all(directory).and_then(|()| generate_to(program, directory));
            return Ok(written.map_err(|e| Error::io(directory, e))?);
        }
        program.build();
        let mut page = Vec::new();
        let rendered = Man::new(self.find(&program)?.clone()).render(&mut page);
        rendered.map_err(|e| Error::io("manual page", e))?;
        print(&String::from_utf8_lossy(&page))
    }

    /// Returns the command that was asked for.
    fn find<'a>(&self, program: &'a Command) -> Result<&'a Command, Error> {
        let mut found = program;
        for name in &self.command {
            found = found.find_subcommand(name).ok_or_else(|| {
                let commands = found.get_subcommands().map(Command::get_name);
                let commands: Vec<&str> = commands.collect();
                Error::parameter(format!(
                    "man: there is no command '{name}'; expected one of {}",
                    commands.join(", ")
                ))
            })?;
        }
        Ok(found)
    }
}

/// Has the options that `-h` leaves out described in the pages.
fn with_all_options(command: Command) -> Command {
    command
        .mut_args(|argument| argument.hide_short_help(false))
        .mut_subcommands(with_all_options)
}
