//! Explanations as JSON.

use std::io::Write;

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
        let (recorder, blocks) = (Recorder::new(self), self.blocks());
        let tokens = blocks.iter().flat_map(|block| block.start..block.end);
        self.write_list("explanations", tokens, out, |t, out| {
            serde_json::to_writer(out, &recorder.token(t)?).map_err(unwritten)
        })?;
        self.write_list("blocks", blocks, out, |block, out| {
            let mut value = serde_json::to_value(&block).map_err(unwritten)?;
            if has_html {
                value["html"] = recorder.token(block.token)?.html(&self.words, &block).into();
            }
            write!(out, "{value}").map_err(|e| Error::io("an explanation", e))
        })?;
        out.extend_from_slice(b"}\n");
        Ok(())
    }

    fn write_list<T>(
        &self,
        name: &str,
        items: impl IntoIterator<Item = T>,
        out: &mut Vec<u8>,
        write: impl Fn(T, &mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        out.extend_from_slice(format!(",\"{name}\":[").as_bytes());
        for (i, item) in items.into_iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            write(item, out)?;
            // Vectors double when they grow.
            let tokens = self.words.len();
            self.explanation
                .check_memory(2 * out.len(), || format!("explaining {tokens} tokens"))?;
        }
        out.push(b']');
        Ok(())
    }
}

fn unwritten(error: serde_json::Error) -> Error {
    Error::io("an explanation", error.into())
}
