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
        let Some(text) = weight_text(line.text) else {
            return Ok(());
        };
        if let Some((_, first)) = self.weight {
            return Err(line.error(format!(
                "a second weight for the next sentence; expected one (the first is on line {first})"
            )));
        }
        self.weight = Some((parse_weight(line, text)?, line.number));
        Ok(())
    }

    /// Gives the weight, if there is one, to the sentence that begins.
    pub fn apply(&mut self, sentence: &mut Sentence) -> Result<()> {
        let Some((weight, line)) = self.weight.take() else {
            return Ok(());
        };
        let place = Place::line(&**sentence.file(), line);
        let result = sentence.set_weight(weight);
        result.map_err(|message| Error::input(place, message))
    }

    /// Checks that no weight waits for a sentence where there is a document boundary.
    pub fn check_boundary(&self, line: &InputLine) -> Result<()> {
        match self.weight {
            None => Ok(()),
            Some((_, number)) => Err(Error::input(
                Place::line(&**line.file, number),
                "the weight is followed by a document boundary; expected a sentence",
            )),
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

/// Parses a weight; its range is that of [`Sentence::with_weight`].
pub(super) fn parse_weight(line: &InputLine, text: &str) -> Result<f64> {
    text.trim().parse().map_err(|_| {
        line.error(format!(
            "the weight of the sentence is '{}'; expected a number",
            text.trim()
        ))
    })
}

/// Returns the weight of a comment such as `# weight = 0.5`.
fn weight_text(comment: &str) -> Option<&str> {
    let (key, value) = comment.strip_prefix('#')?.split_once('=')?;
    (key.trim() == "weight").then_some(value)
}
