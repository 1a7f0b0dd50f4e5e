//! Labels and spans that are known before tagging.

use clap::Args;
use dropchain::corpus::{Format, ReadOptions};
use dropchain::tag::Condition;
use dropchain::{Error, Result, Sentence};
use dropchain_formats::InputFormat;

/// What to keep of the input.
#[derive(Clone, Debug, Args)]
pub struct ForcedArguments {
    /// Keep the known labels in this column of the input and complete the others
    ///
    /// `_` is an unknown label, `B-PER|B-ORG` one of two. In JSON lines, COLUMN is a key, or
    /// several separated by commas: of labels (null is unknown), or of spans such as
    /// {"start": 0, "end": 2, "type": "PER"}. Probabilities are those given what is known.
    #[arg(
        long,
        value_name = "COLUMN",
        value_delimiter = ',',
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    forced: Vec<String>,
}

impl ForcedArguments {
    /// Sets how to read input of this format.
    pub fn apply(&self, options: ReadOptions, format: InputFormat) -> Result<ReadOptions> {
        match (&self.forced[..], format) {
            ([], _) | (_, InputFormat::Core(Format::Jsonl)) => Ok(options),
            (_, InputFormat::Core(Format::Text)) => Err(Error::parameter(
                "--forced: raw text has no labels; expected columns or JSON lines (--format)",
            )),
            (_, InputFormat::Spans | InputFormat::Brat) => Err(Error::parameter(
                "--forced: annotated spans do not say which other tokens are known; expected \
                 columns or JSON lines (--format)",
            )),
            ([column], _) => Ok(ReadOptions {
                label: Some(column.clone()),
                unlabeled: false,
                partial_labels: true,
                ..options
            }),
            _ => Err(Error::parameter(
                "--forced: found several columns; expected one, except in JSON lines",
            )),
        }
    }

    /// Returns what is known about a sentence, if known labels are to be kept.
    pub fn condition(&self, sentence: &Sentence, format: InputFormat) -> Result<Option<Condition>> {
        if self.forced.is_empty() || sentence.layout.document_start {
            return Ok(None);
        }
        Ok(Some(match format {
            InputFormat::Core(Format::Jsonl) => Condition::from_record(sentence, &self.forced)?,
            _ => Condition::from_labels(sentence),
        }))
    }
}
