//! Explanations as JSON.

use std::io::Write;

use dropchain::{Error, Result};
use serde_json::{Value, json};

use super::{ExplainedSentence, Part};

impl ExplainedSentence<'_> {
    /// Writes a line of JSON: `tokens`, `labels`, and `explanations` of the chosen tokens.
    ///
    /// # Errors
    ///
    /// Same as [`Alternative::parts`](super::Alternative::parts).
    pub fn write_json(&self, out: &mut Vec<u8>) -> Result<()> {
        let labels = 0..self.words.len();
        let labels: Vec<&str> = labels.map(|t| self.label(t)).collect();
        let beginning = json!({"tokens": self.words, "labels": labels}).to_string();
        // Token by token, since values take much more memory than their text.
        out.extend_from_slice(beginning.trim_end_matches('}').as_bytes());
        out.extend_from_slice(b",\"explanations\":[");
        for (i, t) in self.chosen().into_iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            let written = write!(out, "{}", token_json(self, t)?);
            written.map_err(|e| Error::io("an explanation", e))?;
            // Vectors double when they grow.
            let tokens = self.words.len();
            self.explanation
                .check_memory(2 * out.len(), || format!("explaining {tokens} tokens"))?;
        }
        out.extend_from_slice(b"]}\n");
        Ok(())
    }
}

fn token_json(sentence: &ExplainedSentence<'_>, t: usize) -> Result<Value> {
    let mut value = json!({
        "token": t,
        "text": sentence.words[t],
        "label": sentence.label(t),
        "probability": sentence.explanation.probability(t),
    });
    let Some(alternative) = sentence.alternative(t) else {
        return Ok(value);
    };
    let reasons = sentence.reasons(&alternative)?;
    let range = alternative.range();
    let labels = alternative.labels().iter();
    value["runner_up"] = json!({
        "label": sentence.name(alternative.label()),
        "start": range.start,
        "end": range.end,
        "labels": labels.map(|&label| sentence.name(label)).collect::<Vec<_>>(),
    });
    value["margin"] = reasons.margin.into();
    let shown = reasons.shown.iter();
    value["parts"] = shown.map(|shown| part(sentence, shown)).collect();
    value["others"] = json!({"parts": reasons.others, "contribution": reasons.sum_of_others});
    Ok(value)
}

fn part(sentence: &ExplainedSentence<'_>, part: &Part<'_>) -> Value {
    let labels = part.labels.map(|label| sentence.name(label));
    let mut value = json!({
        "kind": part.kind.name(),
        "token": part.token,
        "contribution": part.contribution(),
        "labels": labels,
        "weights": part.weights,
    });
    if let Some(previous) = part.previous {
        value["previous_labels"] = json!(previous.map(|label| sentence.name(label)));
    }
    if !part.name.is_empty() {
        value["attribute"] = json!(part.name);
        value["value"] = part.value.into();
    }
    value
}
