//! Names of input files.

use std::borrow::Borrow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::ops::Deref;
use std::path::Path;

/// The name of an input file, which need not be valid UTF-8. As a string, for messages and logs,
/// it has replacement characters then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName {
    name: OsString,
    text: String,
}

impl FileName {
    /// Returns the name of standard input.
    pub fn stdin() -> Self {
        Self::from(OsString::from("-"))
    }
}

impl From<OsString> for FileName {
    fn from(name: OsString) -> Self {
        let text = name.to_string_lossy().into_owned();
        Self { name, text }
    }
}

impl Deref for FileName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl Borrow<str> for FileName {
    fn borrow(&self) -> &str {
        &self.text
    }
}

impl AsRef<OsStr> for FileName {
    fn as_ref(&self) -> &OsStr {
        &self.name
    }
}

impl AsRef<Path> for FileName {
    fn as_ref(&self) -> &Path {
        Path::new(&self.name)
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl serde::Serialize for FileName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}
