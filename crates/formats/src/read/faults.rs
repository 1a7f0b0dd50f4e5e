//! Faults that are reported together.

use dropchain::{Error, Place, Result};

/// Maximum number of faults that are listed.
const LISTED: usize = 20;

/// Faults of annotations, collected until the end of a file.
#[derive(Debug, Default)]
pub(super) struct Faults {
    listed: Vec<(Place, String)>,
    count: u64,
    hints: Vec<&'static str>, // what repairs them, each once
}

impl Faults {
    /// Adds a fault, and what repairs it.
    pub fn add(&mut self, place: Place, message: String, hint: &'static str) {
        self.count += 1;
        if self.listed.len() < LISTED {
            self.listed.push((place, message));
        }
        self.hint(hint);
    }

    /// Adds what repairs some of the faults.
    pub fn hint(&mut self, hint: &'static str) {
        if !self.hints.contains(&hint) {
            self.hints.push(hint);
        }
    }

    /// Returns the faults as an error, if there are any.
    pub fn finish(&mut self) -> Result<()> {
        let Self { listed, count, hints } = std::mem::take(self);
        let mut listed = listed.into_iter();
        let Some((place, mut message)) = listed.next() else { return Ok(()) };
        for (place, fault) in listed {
            message.push_str(&format!("\n{place}: {fault}"));
        }
        if count > LISTED as u64 {
            message.push_str(&format!("\n… and {} more", count - LISTED as u64));
        }
        let separator = if count == 1 { "; " } else { "\n" };
        for hint in hints {
            message.push_str(separator);
            message.push_str(hint);
        }
        Err(Error::input(place, message))
    }
}
