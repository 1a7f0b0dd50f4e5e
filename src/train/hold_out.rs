//! A share of the training data that is held out as development data, and what became of it.

use std::fmt;

use crate::error::{Error, Result};

/// The share of the training data to hold out as development data, such as `10%`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HoldOut {
    pub(super) percent: f64,
}

/// The held-out data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldOut {
    /// Number of sentences that were held out.
    pub sentences: usize,
    /// Number of all sentences.
    pub of: usize,
    /// Whether they are whole documents.
    pub by_document: bool,
    /// The share that was asked for.
    pub share: HoldOut,
    /// The seed that chose them.
    pub seed: u64,
}

impl HoldOut {
    /// Creates a share from a fraction, such as 0.1.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if it is not between 0 and 1.
    pub fn new(fraction: f64) -> Result<Self> {
        // 7 percent are 0.07, but 100 times 0.07 is more than 7.
        let percent = (fraction * 1e11).round() / 1e9;
        Self::of_percent(percent).ok_or_else(|| {
            Error::parameter(format!(
                "development data: {fraction} of the training data; expected a share between 0 \
                 and 1, such as 0.1"
            ))
        })
    }

    fn of_percent(percent: f64) -> Option<Self> {
        (percent > 0.0 && percent < 100.0).then_some(Self { percent })
    }

    /// Parses a number of percent, such as `10%`. Returns `None` for a text of another form, such
    /// as the name of a file.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if it is not between 0 and 100.
    pub fn parse(text: &str) -> Result<Option<Self>> {
        let number = text.strip_suffix('%').map(str::parse);
        let Some(Ok(percent)) = number else { return Ok(None) };
        let share = Self::of_percent(percent).ok_or_else(|| {
            Error::parameter(format!(
                "development data: {text} of the training data; expected more than 0% and less \
                 than 100%, such as 10% (./{text} is a file of this name)"
            ))
        });
        share.map(Some)
    }
}

impl fmt::Display for HoldOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", self.percent)
    }
}

impl fmt::Display for HeldOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sentences, of, share, seed, .. } = self;
        let units = ["sentences", "documents"][usize::from(self.by_document)];
        write!(
            f,
            "development data: {sentences} of {of} sentences, {share} of the {units}, seed {seed}"
        )
    }
}
