//! `dropchain man`

use std::fs;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use dropchain::Error;

use super::arguments::OutputArguments;
use super::outputs::{CommandFiles, Kind, ResultFile};
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
    #[command(flatten)]
    output: OutputArguments,
}

impl ManCommand {
    pub fn run(&self) -> CommandResult {
        let mut program = definition().disable_help_subcommand(true);
        program.build();
        match &self.output_dir {
            Some(directory) => self.write(&program, directory),
            None => {
                let page = page(self.find(&program)?)?;
                print(&page.text)
            }
        }
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

    /// Writes the pages of all commands.
    fn write(&self, program: &Command, directory: &PathBuf) -> CommandResult {
        let mut pages = Vec::new();
        collect(program, &mut pages)?;
        fs::create_dir_all(directory).map_err(|e| Error::io(directory, e))?;
        let mut files = CommandFiles::new(self.output.force);
        let paths: Vec<PathBuf> = pages
            .iter()
            .map(|page| directory.join(&page.name))
            .collect();
        for path in &paths {
            files = files.write("--output-dir", Kind::ManPage, Some(path));
        }
        files.check()?;
        for (page, path) in pages.iter().zip(&paths) {
            ResultFile::reserve(path)?.save(page.text.as_bytes())?;
        }
        Ok(())
    }
}

/// A manual page.
struct Page {
    /// The name of its file.
    name: String,
    text: String,
}

/// Collects the pages of a command and those below it.
fn collect(command: &Command, pages: &mut Vec<Page>) -> Result<(), Error> {
    pages.push(page(command)?);
    command
        .get_subcommands()
        .try_for_each(|subcommand| collect(subcommand, pages))
}

/// Renders the page of a command: as `clap_mangen` does, but for the examples, whose lines stay.
fn page(command: &Command) -> Result<Page, Error> {
    let version = format!("dropchain {}", command.get_version().unwrap_or_default());
    let man = Man::new(command.clone())
        .source(version)
        .manual("dropchain");
    let mut text = Vec::new();
    let rendered = (man.render_title(&mut text))
        .and_then(|()| man.render_name_section(&mut text))
        .and_then(|()| man.render_synopsis_section(&mut text))
        .and_then(|()| man.render_description_section(&mut text))
        .and_then(|()| man.render_options_section(&mut text))
        .and_then(|()| match command.has_subcommands() {
            true => man.render_subcommands_section(&mut text),
            false => Ok(()),
        })
        .and_then(|()| examples(command).to_writer(&mut text));
    let name = man.get_filename();
    rendered.map_err(|e| Error::io(&name, e))?;
    let text = String::from_utf8_lossy(&text);
    let text = text.chars().map(ascii).collect();
    Ok(Page { name, text })
}

/// Escapes a character that not every `man` reads as UTF-8.
fn ascii(character: char) -> String {
    match character.is_ascii() {
        true => character.to_string(),
        false => format!("\\[u{:04X}]", u32::from(character)),
    }
}

/// Renders the text after the options: indented lines as they are, other paragraphs filled.
fn examples(command: &Command) -> Roff {
    let mut roff = Roff::new();
    let after = command.get_after_long_help().or(command.get_after_help());
    let after = after.map_or(String::new(), ToString::to_string);
    if after.is_empty() {
        return roff;
    }
    roff.control("SH", ["EXAMPLES"]);
    let after = after.strip_prefix("Examples:\n").unwrap_or(&after);
    for paragraph in after.split("\n\n") {
        roff.control("PP", []);
        let is_code = paragraph.starts_with("  ");
        if is_code {
            roff.control("nf", []);
        }
        for line in paragraph.lines() {
            roff.text([roman(line)]);
        }
        if is_code {
            roff.control("fi", []);
        }
    }
    roff
}
