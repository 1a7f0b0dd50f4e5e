//! Text encodings other than UTF-8.
//!
//! Names and tables are those of the Encoding Standard of the web, in which `latin1` is
//! windows-1252. A byte order mark is stronger than the name: a file that begins with one is UTF-8
//! or UTF-16, whatever was said.

use std::fmt;
use std::str::FromStr;

#[cfg(feature = "encodings")]
use encoding_rs::{Encoding, REPLACEMENT};

use crate::error::{Error, Result};

/// An encoding of text, such as `latin1`, `utf-16le` or `gb18030`.
#[cfg(feature = "encodings")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextEncoding(pub(super) &'static Encoding);

/// An encoding of text; without the feature `encodings` there is none but UTF-8.
#[cfg(not(feature = "encodings"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextEncoding {}

impl TextEncoding {
    /// The name of the encoding.
    #[cfg(feature = "encodings")]
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// The name of the encoding.
    #[cfg(not(feature = "encodings"))]
    pub fn name(self) -> &'static str {
        match self {}
    }
}

impl fmt::Display for TextEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for TextEncoding {
    type Err = Error;

    /// Parses a label of the Encoding Standard, in upper or lower case.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if there is no such label.
    fn from_str(label: &str) -> Result<Self> {
        #[cfg(feature = "encodings")]
        if let Some(encoding) = Encoding::for_label(label.as_bytes())
            && encoding != REPLACEMENT
        {
            return Ok(Self(encoding));
        }
        Err(Error::parameter(format!(
            "unknown encoding '{label}': expected a name such as latin1, windows-1250, utf-16le, \
             shift_jis, gb18030 or koi8-r"
        )))
    }
}

#[cfg(all(test, feature = "encodings"))]
mod tests {
    use super::*;

    #[test]
    fn labels_are_those_of_the_web() {
        let name = |label: &str| label.parse::<TextEncoding>().map(|encoding| encoding.to_string());
        assert_eq!(name("latin1").unwrap(), "windows-1252");
        assert_eq!(name("UTF8").unwrap(), "UTF-8");
        assert_eq!(name("SJIS").unwrap(), "Shift_JIS");
        for unknown in ["", "latin-one", "iso-2022-kr"] {
            let error = name(unknown).unwrap_err().to_string();
            assert!(error.starts_with("unknown encoding '"), "{error}");
        }
    }
}
