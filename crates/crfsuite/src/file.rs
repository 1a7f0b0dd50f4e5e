//! The sections of a file.

use std::path::Path;

use super::features::{FeatureLists, Features};
use super::names::Names;
use super::numbers::number;
use crate::damaged;
use dropchain::{Error, Result};

/// The first bytes of a model file of CRFsuite.
pub const MAGIC: &[u8] = b"lCRF";

/// The type of model: a first-order Markov CRF.
const KIND: &[u8] = b"FOMC";

/// The version of the format.
const VERSION: u32 = 100;

/// Length of the header.
pub(super) const HEADER: usize = 48;

/// A file that CRFsuite wrote. Its sections lie within it; their contents are checked when they are
/// read.
#[derive(Debug)]
pub(super) struct CrfsuiteFile<'a> {
    pub(super) path: &'a Path,
    pub(super) features: Features<'a>,
    pub(super) label_names: Names<'a>,
    pub(super) attribute_names: Names<'a>,
    pub(super) of_labels: FeatureLists<'a>,
    pub(super) of_attributes: FeatureLists<'a>,
}

impl<'a> CrfsuiteFile<'a> {
    /// Finds the sections of a file.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if it is of another version or damaged.
    pub fn read(path: &'a Path, bytes: &'a [u8]) -> Result<Self> {
        let declared = declared_length(path, bytes)?;
        if declared != bytes.len() as u64 {
            return Err(wrong_length(path, bytes.len() as u64, declared));
        }
        let field = |i: usize| number(bytes, 4 * i).unwrap_or(0);
        if &bytes[8..12] != KIND || field(3) != VERSION {
            let message = format!(
                "a CRFsuite model of type '{}', version {}; expected type FOMC, version 100, as \
                 CRFsuite 0.12 and later write it",
                bytes[8..12].escape_ascii(),
                field(3)
            );
            return Err(Error::model(path, message));
        }
        let sections = || -> Result<Self, String> {
            let label_names = Names::read(bytes, field(8), field(5), "labels")?;
            let attribute_names = Names::read(bytes, field(9), field(6), "attributes")?;
            Ok(Self {
                path,
                features: Features::read(bytes, field(7))?,
                of_labels: FeatureLists::read(bytes, field(10), b"LFRF", label_names.len())?,
                of_attributes: FeatureLists::read(
                    bytes,
                    field(11),
                    b"AFRF",
                    attribute_names.len(),
                )?,
                label_names,
                attribute_names,
            })
        };
        sections().map_err(|what| damaged(path, &what))
    }

    /// Returns the number of labels.
    pub fn labels(&self) -> usize {
        self.label_names.len()
    }
}

/// Returns the error for a file of another length than its header says.
fn wrong_length(path: &Path, found: u64, declared: u64) -> Error {
    let what = format!("it has {found} bytes; according to its preamble, {declared}");
    damaged(path, &what)
}

/// Returns the length that a file should have, given at least its header.
///
/// # Errors
///
/// [`Error::Model`] if it ends within its header or declares to.
pub(super) fn declared_length(path: &Path, bytes: &[u8]) -> Result<u64> {
    match number(bytes, 4) {
        Some(length) if bytes.len() >= HEADER && length as usize >= HEADER => Ok(length.into()),
        Some(length) if bytes.len() >= HEADER => {
            Err(wrong_length(path, bytes.len() as u64, length.into()))
        }
        _ => Err(damaged(path, "it ends within its first 48 bytes")),
    }
}
