//! `dropchain regress predict`

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::{ArgAction, Args};
use dropchain_documents::regress::{Regression, digits};
use serde_json::json;

use super::input::NumberInput;
use crate::CommandResult;
use crate::file_name::FileName;
use crate::named::{Named, named};
use crate::outputs::CommandFiles;
use crate::stdout_error;

/// Predict the numbers of documents
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain regress predict homes.model new.csv
  echo 'a great , funny film' | dropchain regress predict ratings.model

A line for each document, in the order of the input: its number.")]
pub struct PredictCommand {
    /// Model file
    model: PathBuf,
    /// Documents: files, or `-` for standard input; unless the name or --format says otherwise, in
    /// the form that the model was trained on
    #[arg(default_value = "-")]
    input: Vec<FileName>,
    /// Output format
    #[arg(
        long,
        action = ArgAction::Set,
        value_parser = named(&OUTPUTS),
        default_value = "text",
        value_name = "FORMAT",
    )]
    output: bool,
    #[command(flatten)]
    documents: NumberInput,
}

/// Whether the output is JSON.
const OUTPUTS: [Named<bool>; 2] = [
    ("text", "A number on each line", false),
    ("jsonl", "JSON lines with the place of the document", true),
];

impl PredictCommand {
    pub fn run(&self) -> CommandResult {
        CommandFiles::default()
            .read([&self.model])
            .read(&self.input)
            .check()?;
        let regression = Regression::open(&self.model)?;
        let mut out = BufWriter::new(io::stdout().lock());
        for document in self.documents.for_model(&self.input, &regression, false)? {
            let document = document?;
            let value = regression.predict(&document)?;
            let line = match self.output {
                false => digits(value),
                true => json!({
                    "file": &*document.file,
                    "line": (document.line > 0).then_some(document.line),
                    "value": value,
                })
                .to_string(),
            };
            // As soon as it is known: the input may be a pipe that stays open.
            let written = writeln!(out, "{line}").and_then(|()| out.flush());
            written.map_err(stdout_error)?;
        }
        self.documents.documents.print_notices();
        Ok(())
    }
}
