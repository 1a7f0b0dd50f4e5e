//! Writing tagged sentences.

mod conll;
mod conllu;
mod jsonl;
#[cfg(test)]
mod tests;
mod writer;

use serde_json::Value;

use super::json_object::{JsonObject, member, object};
use crate::error::{Error, Result};
use crate::sentence::Sentence;

pub(crate) use writer::LabelProbabilities;
pub use writer::{Candidate, SentenceWriter, Tagged, WriteFormat, WriteOptions, Writer};

/// An output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputFormat {
    /// The input's columns, with the predicted label as an additional one.
    Conll,
    /// CoNLL-U, with the predicted label in a column or as a key in `MISC`.
    Conllu,
    /// JSON lines: one object per sentence.
    Jsonl,
}

impl WriteFormat for OutputFormat {
    fn writer(&self, options: &WriteOptions) -> Result<Box<dyn SentenceWriter>> {
        if !matches!(options.separator, '\t' | ' ') {
            return Err(Error::parameter(format!(
                "columns cannot be separated by {:?}: expected a tab or a space",
                options.separator
            )));
        }
        if *self == Self::Conllu {
            conllu::check_labels(options)?;
        }
        Ok(Box::new(FormatWriter { format: *self, options: options.clone() }))
    }
}

/// Writes a format whose sentences do not depend on each other.
struct FormatWriter {
    format: OutputFormat,
    options: WriteOptions, // its `new_document`: whether the next sentence starts a document
}

impl SentenceWriter for FormatWriter {
    fn sentence(&mut self, buffer: &mut String, tagged: &Tagged) -> Result<()> {
        let first = std::mem::take(&mut self.options.new_document);
        match self.format {
            OutputFormat::Conll => conll::sentence(buffer, tagged, &self.options),
            OutputFormat::Conllu => conllu::sentence(buffer, tagged, &self.options, first),
            OutputFormat::Jsonl => jsonl::sentence(buffer, tagged, &self.options),
        }
    }

    fn boundary(&mut self, buffer: &mut String, tagged: &Tagged) -> Result<()> {
        self.options.new_document = true;
        match self.format {
            OutputFormat::Conll => conll::boundary(buffer, tagged, &self.options),
            OutputFormat::Conllu | OutputFormat::Jsonl => Ok(()),
        }
    }
}

/// Returns a copy of a sentence with notes: comments before it in CoNLL and CoNLL-U
/// (`# uncertainty = 0.5`), members of the object in JSON lines, in place of members of the input
/// with these names. Other formats do not show them.
pub fn with_notes(sentence: &Sentence, notes: &[(&str, Value)]) -> Sentence {
    let mut noted = sentence.clone();
    let comments = notes.iter().map(|(key, value)| match value {
        Value::String(text) => format!("# {key} = {text}"),
        other => format!("# {key} = {other}"),
    });
    noted.layout.comments.extend(comments);
    let mut members: Vec<String> = notes.iter().map(|(key, value)| member(key, value)).collect();
    let record = noted.layout.record.as_deref().unwrap_or("{}");
    if let Ok(input) = serde_json::from_str::<JsonObject<'_>>(record) {
        let others = input.members.iter();
        let others = others.filter(|(key, _)| notes.iter().all(|(name, _)| name != key));
        members.extend(others.map(|(key, value)| member(key, value)));
    }
    noted.layout.record = Some(object(members.into_iter()).into());
    noted
}
