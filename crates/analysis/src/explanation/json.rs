//! Explanations as JSON.

use dropchain::{Error, Result};
use serde_json::json;

use super::ExplainedSentence;
use super::recorder::Recorder;

impl ExplainedSentence<'_> {
    /// Writes a line of JSON: `tokens`, `labels`, `explanations` of the chosen tokens, and their
    /// `blocks`: spans and the tokens outside of spans, if wanted each with its `html`.
    ///
    /// # Errors
    ///
    /// Same as [`Alternative::parts`](super::Alternative::parts).
    pub fn write_json(&self, has_html: bool, out: &mut Vec<u8>) -> Result<()> {
        let labels = 0..self.words.len();
        let labels: Vec<&str> = labels.map(|t| self.label(t)).collect();
        let beginning = json!({"tokens": self.words, "labels": labels}).to_string();
        // Token by token, since values take much more memory than their text.
        out.extend_from_slice(beginning.trim_end_matches('}').as_bytes());
        out.extend_from_slice(b",\"explanations\":[");
        let tokens = self.words.len();
        // Vectors double when they grow.
        let check_memory = |bytes: usize| {
            self.explanation.check_memory(2 * bytes, || format!("explaining {tokens} tokens"))
        };
        let (recorder, mut blocks) = (Recorder::new(self), Vec::new());
        for (i, block) in self.blocks().iter().enumerate() {
            let mut value = serde_json::to_value(block).map_err(unwritten)?;
            for t in block.start..block.end {
                let token = recorder.token(t)?;
                if has_html && t == block.token {
                    value["html"] = token.html(&self.words, block).into();
                }
                if i > 0 || t > block.start {
                    out.push(b',');
                }
                serde_json::to_writer(&mut *out, &token).map_err(unwritten)?;
                check_memory(out.len() + blocks.len())?;
            }
            if i > 0 {
                blocks.push(b',');
            }
            serde_json::to_writer(&mut blocks, &value).map_err(unwritten)?;
            check_memory(out.len() + blocks.len())?;
        }
        out.extend_from_slice(b"],\"blocks\":[");
        out.append(&mut blocks);
        out.extend_from_slice(b"]}\n");
        Ok(())
    }
}

fn unwritten(error: serde_json::Error) -> Error {
    Error::io("an explanation", error.into())
}
