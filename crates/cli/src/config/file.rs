//! Configuration files: TOML with a key for each option, and the line that it is on.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use dropchain::input_file::read_text;
use dropchain::{Error, Place, Result};
use toml::de::{DeTable, DeValue};

/// Maximum size of a configuration file, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// What is expected of a configuration file.
const EXPECTED: &str = "options in TOML";

/// The text of a configuration file.
#[derive(Debug)]
pub struct ConfigFile {
    /// Its name in messages; `-` is standard input.
    name: String,
    text: String,
    /// The folder that file names in it are relative to.
    pub folder: PathBuf,
}

/// A key with its value.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    pub key: &'a str,
    pub value: &'a DeValue<'a>,
    /// Offset of the key in the text.
    pub offset: usize,
}

impl ConfigFile {
    /// Reads a file; `-` is standard input.
    ///
    /// # Errors
    ///
    /// It cannot be read, is larger than 4 MiB or not UTF-8.
    pub fn read(path: &Path) -> Result<Self> {
        let text = match path == Path::new("-") {
            true => read_stdin()?,
            false => read_text(path, MAX_BYTES, EXPECTED)?,
        };
        Ok(Self {
            name: path.display().to_string(),
            text,
            folder: path.parent().unwrap_or(Path::new("")).to_owned(),
        })
    }

    /// Parses the text.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] with the line of the first mistake.
    pub fn parse(&self) -> Result<DeTable<'_>> {
        let table = DeTable::parse(&self.text).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            self.error(offset, &format!("this is not TOML: {}", error.message()))
        })?;
        Ok(table.into_inner())
    }

    /// Returns the location of an offset.
    pub fn place(&self, offset: usize) -> Place {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        Place::line(&self.name, line as u64)
    }

    /// Returns an error at an offset.
    pub fn error(&self, offset: usize, message: &str) -> Error {
        Error::input(self.place(offset), message)
    }
}

/// Returns the entries of a table, in the order of the file.
pub fn entries<'a>(table: &'a DeTable<'a>) -> Vec<Entry<'a>> {
    let mut entries: Vec<Entry<'a>> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref(),
            value: value.get_ref(),
            offset: key.span().start,
        })
        .collect();
    entries.sort_by_key(|entry| entry.offset);
    entries
}

/// The entries of the table of each command.
type Sections<'a> = BTreeMap<&'a str, Vec<Entry<'a>>>;

/// Splits the entries of a file into those of all commands and the tables of single ones.
///
/// # Errors
///
/// The key of a command has another value than a table.
pub fn split_sections<'a>(
    file: &ConfigFile,
    table: &'a DeTable<'a>,
    commands: &[&str],
) -> Result<(Vec<Entry<'a>>, Sections<'a>)> {
    let (sections, shared): (Vec<_>, Vec<_>) = entries(table)
        .into_iter()
        .partition(|entry| commands.contains(&entry.key));
    let mut by_command = BTreeMap::new();
    for section in sections {
        let DeValue::Table(table) = section.value else {
            let message = format!(
                "{key} is the table of options for `dropchain {key}` ([{key}]), but this is {}; \
                 training files are `input`",
                super::value::found(section.value),
                key = section.key
            );
            return Err(file.error(section.offset, &message));
        };
        by_command.insert(section.key, entries(table));
    }
    Ok((shared, by_command))
}

fn read_stdin() -> Result<String> {
    let failed = |e| Error::io("-", e);
    let mut bytes = Vec::new();
    let limit = MAX_BYTES as u64 + 1;
    (io::stdin().lock().take(limit))
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() > MAX_BYTES {
        let message = format!("has more than {MAX_BYTES} bytes; expected {EXPECTED}");
        return Err(failed(io::Error::new(io::ErrorKind::InvalidData, message)));
    }
    String::from_utf8(bytes).map_err(|_| {
        let message = format!("is not UTF-8 text; expected {EXPECTED}");
        failed(io::Error::new(io::ErrorKind::InvalidData, message))
    })
}
