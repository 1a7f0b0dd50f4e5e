//! Weights of sentences in comments.

use super::lines::InputLine;
use crate::error::{Error, Place, Result};
use crate::sentence::Sentence;

/// The weight in a comment that belongs to the next sentence.
#[derive(Debug, Default)]
pub(super) struct PendingWeight {
    weight: Option<(f64, u64)>, // and its line
}

impl PendingWeight {
    /// Reads a comment before a sentence: `# weight = 0.5` is a weight, others have none.
    pub fn read(&mut self, line: &InputLine) -> Result<()> {
        match weight_text(line.text) {
            Some(text) => self.set(line, text, "the next sentence"),
            None => Ok(()),
        }
    }

    /// Sets the weight on `line`, which is that of `whose`.
    pub fn set(&mut self, line: &InputLine, text: &str, whose: &str) -> Result<()> {
        let text = text.trim();
        let weight = text.parse().map_err(|_| {
            line.error(format!("the weight of the sentence is '{text}'; expected a number"))
        })?;
        match self.weight.replace((weight, line.number)) {
            None => Ok(()),
            Some((_, first)) => Err(line.error(format!(
                "a second weight for {whose}; expected one (the first is on line {first})"
            ))),
        }
    }

    /// Gives the weight, if there is one, to the sentence that begins.
    pub fn apply(&mut self, sentence: &mut Sentence) -> Result<()> {
        let Some((weight, line)) = self.weight.take() else { return Ok(()) };
        let place = Place::line(&**sentence.file(), line);
        sentence.set_weight(weight).map_err(|message| Error::input(place, message))
    }

    /// Checks that no weight waits for a sentence in `file`, where there is none.
    pub fn check_none(&self, file: &str, message: &str) -> Result<()> {
        match self.weight {
            None => Ok(()),
            Some((_, line)) => Err(Error::input(Place::line(file, line), message)),
        }
    }
}

/// Checks that a comment inside a sentence has no weight.
pub(super) fn check_comment_inside(line: &InputLine) -> Result<()> {
    match weight_text(line.text) {
        None => Ok(()),
        Some(_) => Err(line.error(
            "the weight of a sentence stands inside it; expected it before the first token",
        )),
    }
}

/// Returns the weight of a comment such as `# weight = 0.5`.
fn weight_text(comment: &str) -> Option<&str> {
    let (key, value) = comment.strip_prefix('#')?.split_once('=')?;
    (key.trim() == "weight").then_some(value)
}
