//! The kinds of model files.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use dropchain::error::{Error, Result};
use dropchain::model::{MAGIC, Magic};

/// What a model file of this crate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    /// A [`Classifier`](crate::classify::Classifier).
    Classifier,
    /// A [`Regression`](crate::regress::Regression).
    Regression,
}

impl ModelKind {
    const ALL: [Self; 2] = [Self::Classifier, Self::Regression];

    /// The first bytes of a file.
    pub(crate) const fn magic(self) -> &'static Magic {
        match self {
            Self::Classifier => b"DROPCLS\n",
            Self::Regression => b"DROPREG\n",
        }
    }

    /// Returns what such a model does, as in "the model predicts numbers".
    pub fn what(self) -> &'static str {
        match self {
            Self::Classifier => "classifies documents",
            Self::Regression => "predicts numbers",
        }
    }

    /// Returns the name of the kind, with its article.
    fn name(self) -> &'static str {
        match self {
            Self::Classifier => "a classifier",
            Self::Regression => "a regression",
        }
    }

    /// Returns the kind of a file that can be read twice, by its first bytes; `None` if it is of no
    /// kind of this crate.
    pub fn of(path: impl AsRef<Path>) -> Option<Self> {
        let magic = magic_of(path.as_ref())?;
        Self::ALL.into_iter().find(|kind| *kind.magic() == magic)
    }

    /// Checks that a file is not of another kind, if that can be told.
    pub(crate) fn check(self, path: &Path) -> Result<()> {
        let found = match (Self::of(path), magic_of(path)) {
            (Some(other), _) if other != self => other.what(),
            (None, Some(magic)) if magic == *MAGIC => "is a tagger",
            _ => return Ok(()),
        };
        let message = format!("the model {found}; expected {}", self.name());
        Err(Error::model(path, message))
    }
}

/// Returns the first bytes of a file that can be read twice.
fn magic_of(path: &Path) -> Option<Magic> {
    if !path.is_file() {
        return None;
    }
    let mut magic = [0; 8];
    File::open(path).ok()?.read_exact(&mut magic).ok()?;
    Some(magic)
}
