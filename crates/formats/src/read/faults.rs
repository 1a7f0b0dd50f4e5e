//! Faults that are reported together.

use dropchain::{Error, Place, Result};

/// Maximum number of faults that are listed.
const LISTED: usize = 20;

/// Faults of annotations, collected until the end of a file.
#[derive(Debug, Default)]
pub(super) struct Faults {
    listed: Vec<(Place, String)>,
    count: u64,
    is_repairable: bool, // by other options, at least one of them
}

impl Faults {
    /// Adds a fault; `is_repairable`: ``misaligned`` could repair it.
    pub fn add(&mut self, place: Place, message: String, is_repairable: bool) {
        self.count += 1;
        self.is_repairable |= is_repairable;
        if self.listed.len() < LISTED {
            self.listed.push((place, message));
        }
    }

    /// Returns the faults as an error, if there are any.
    pub fn finish(&mut self) -> Result<()> {
        let listed = std::mem::take(&mut self.listed);
        let mut listed = listed.into_iter();
        let Some((place, first)) = listed.next() else {
            return Ok(());
        };
        let mut message = first;
        for (place, fault) in listed {
            message.push_str(&format!("\n{place}: {fault}"));
        }
        if self.count > LISTED as u64 {
            let more = self.count - LISTED as u64;
            message.push_str(&format!("\n… and {more} more"));
        }
        if self.is_repairable {
            message.push_str(
                "\nexpected spans of whole tokens (`misaligned` expand extends those that cut \
                 tokens, `misaligned` drop leaves them out)",
            );
        }
        Err(Error::input(place, message))
    }
}
