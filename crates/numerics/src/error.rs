//! The error type.
//!
//! An error in an input states its location (file, line, column), what was found and what was
//! expected. The library never prints and never exits: the command line prints an [`Error`] once
//! and chooses the exit code.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The result of an operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A location in an input file: `file`, `file:line` or `file:line:column`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// File name as given by the user; `-` is standard input. Of data in memory, what its lines are
    /// and its name, which may be empty, around a zero byte, which no file name has: `row\0dev`.
    pub file: String,
    /// Line, from 1 (of data in memory shown from 0); 0 for the whole file.
    pub line: u64,
    /// Column in characters, from 1; 0 for the whole line.
    pub column: u64,
}

impl Place {
    /// Creates the location of a whole file.
    pub fn file(file: impl Into<String>) -> Self {
        Self { file: file.into(), line: 0, column: 0 }
    }

    /// Creates the location of a line, counted from 1.
    pub fn line(file: impl Into<String>, line: u64) -> Self {
        Self { file: file.into(), line, column: 0 }
    }

    /// Creates the location of a column, counted in characters from 1.
    pub fn column(file: impl Into<String>, line: u64, column: u64) -> Self {
        Self { file: file.into(), line, column }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.file.split_once('\0'), self.line) {
            (None, _) => f.write_str(&self.file)?,
            (Some((_, data)), 0) => return f.write_str(data),
            (Some((unit, "")), line) => return write!(f, "{unit} {}", line - 1),
            (Some((unit, data)), line) => return write!(f, "{unit} {} of {data}", line - 1),
        }
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        if self.column > 0 {
            write!(f, ":{}", self.column)?;
        }
        Ok(())
    }
}

/// Any error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An input (corpus, template, lexicon, …) is malformed.
    #[error("{place}: {message}")]
    Input {
        /// The location.
        place: Place,
        /// The fault: what was found and what was expected.
        message: String,
    },
    /// A file operation failed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file as given by the user.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file is damaged, has another format version or is not a model.
    #[error("{}: {message}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// The fault.
        message: String,
    },
    /// The objective or its gradient is infinite or not a number where training starts.
    #[error("{0}")]
    NotFinite(String),
    /// A checkpoint is damaged, or belongs to another run.
    #[error("{}: {message}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// The fault.
        message: String,
    },
    /// A parameter, or a combination of parameters, is invalid.
    #[error("{0}")]
    Parameter(String),
    /// The ranks of a distributed run disagree, or cannot reach one another.
    #[error("{0}")]
    Communication(String),
    /// The caller has ended the work ([`Interrupt`](crate::interrupt::Interrupt)).
    #[error("interrupted")]
    Interrupted,
    /// An observer of training returned an error of its own.
    #[error(transparent)]
    Observer(Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// Creates an [`Error::Input`].
    pub fn input(place: Place, message: impl Into<String>) -> Self {
        Self::Input { place, message: message.into() }
    }

    /// Creates an [`Error::Io`].
    pub fn io(path: impl AsRef<Path>, source: io::Error) -> Self {
        Self::Io { path: path.as_ref().to_owned(), source }
    }

    /// Creates an [`Error::Model`].
    pub fn model(path: impl AsRef<Path>, message: impl Into<String>) -> Self {
        Self::Model { path: path.as_ref().to_owned(), message: message.into() }
    }

    /// Creates an [`Error::Checkpoint`].
    pub fn checkpoint(path: impl AsRef<Path>, message: impl Into<String>) -> Self {
        Self::Checkpoint { path: path.as_ref().to_owned(), message: message.into() }
    }

    /// Creates an [`Error::Parameter`].
    pub fn parameter(message: impl Into<String>) -> Self {
        Self::Parameter(message.into())
    }

    /// Creates the [`Error::Parameter`] for threads that the system does not start.
    pub fn threads(reason: impl fmt::Display) -> Self {
        Self::Parameter(format!(
            "cannot start threads: {reason}; expected fewer of them (`threads`)"
        ))
    }
}

/// Checks that a condition of parameters `holds`.
///
/// # Errors
///
/// [`Error::Parameter`] with the message.
pub fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::Parameter(message())) }
}

/// Checks that a number is finite and not negative.
///
/// # Errors
///
/// [`Error::Parameter`] with the name of the number.
#[cfg(feature = "train")]
pub fn check_not_negative(name: &str, value: f64) -> Result<()> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(Error::parameter(format!("{name} {value}; expected a finite number that is not negative")))
}
