//! What can go wrong, said once and in full.
//!
//! A fault in an input names its place (file, line, column) and what was expected there. The
//! library never prints and never exits: the command line prints an [`Error`] once and chooses
//! the exit code.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The result of an operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A place in an input file: `file`, `file:line` or `file:line:column`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// File name as the user gave it; `-` is standard input.
    pub file: String,
    /// Line, from 1; 0 where the whole file is meant.
    pub line: u64,
    /// Column in characters, from 1; 0 where the whole line is meant.
    pub column: u64,
}

impl Place {
    /// The whole of `file`.
    pub fn file(file: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line: 0,
            column: 0,
        }
    }

    /// A line of `file`, counted from 1.
    pub fn line(file: impl Into<String>, line: u64) -> Self {
        Self {
            file: file.into(),
            line,
            column: 0,
        }
    }

    /// A column (in characters, from 1) of a line of `file`.
    pub fn column(file: impl Into<String>, line: u64, column: u64) -> Self {
        Self {
            file: file.into(),
            line,
            column,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        if self.column > 0 {
            write!(f, ":{}", self.column)?;
        }
        Ok(())
    }
}

/// Everything that can fail in this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An input (corpus, template, lexicon) says something that cannot be right.
    #[error("{place}: {message}")]
    Input {
        /// Where.
        place: Place,
        /// What was found and what was expected.
        message: String,
    },
    /// The operating system refused a file.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file as the user gave it.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A model file is damaged, of another kind or of a later version.
    #[error("{}: {message}", path.display())]
    Model {
        /// The model file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A parameter, or a combination of parameters, has no meaning.
    #[error("{0}")]
    Parameter(String),
}

impl Error {
    /// A fault at a place of an input.
    pub fn input(place: Place, message: impl Into<String>) -> Self {
        Self::Input {
            place,
            message: message.into(),
        }
    }

    /// A file operation that failed.
    pub fn io(path: impl AsRef<Path>, source: io::Error) -> Self {
        Self::Io {
            path: path.as_ref().to_owned(),
            source,
        }
    }

    /// A damaged or foreign model file.
    pub fn model(path: impl AsRef<Path>, message: impl Into<String>) -> Self {
        Self::Model {
            path: path.as_ref().to_owned(),
            message: message.into(),
        }
    }

    /// A parameter without meaning.
    pub fn parameter(message: impl Into<String>) -> Self {
        Self::Parameter(message.into())
    }
}
