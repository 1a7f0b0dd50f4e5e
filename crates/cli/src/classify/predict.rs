//! `dropchain classify predict`

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::{ArgAction, Args};
use dropchain_documents::Instance;
use dropchain_documents::classify::{Classifier, Prediction};
use serde_json::{Map, Value, json};

use super::input::DocumentInput;
use crate::CommandResult;
use crate::file_name::FileName;
use crate::named::{Named, named};
use crate::outputs::CommandFiles;
use crate::stdout_error;

/// Predict the classes of documents, with probabilities
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'a great , funny film' | dropchain classify predict reviews.model
  dropchain classify predict reviews.model new.csv --text body --top 3
  dropchain classify predict reviews.model folder/ --output jsonl

A line for each document, in the order of the input: its class and the probability, separated by a
tab. With --top N, the N best classes, each with its probability.")]
pub struct PredictCommand {
    /// Model file
    model: PathBuf,
    /// Documents: files, folders, or `-` for standard input; a text on each line unless the name
    /// or --format says otherwise
    #[arg(default_value = "-")]
    input: Vec<FileName>,
    /// Output format
    #[arg(
        long,
        action = ArgAction::Set,
        value_parser = named(&OUTPUTS),
        default_value = "tsv",
        value_name = "FORMAT",
    )]
    output: bool,
    /// Number of classes to print, the best first
    #[arg(long, value_name = "N", default_value_t = 1)]
    top: usize,
    #[command(flatten)]
    documents: DocumentInput,
}

/// Whether the output is JSON.
const OUTPUTS: [Named<bool>; 2] = [
    ("tsv", "Classes and probabilities, separated by tabs", false),
    ("jsonl", "JSON lines with the place of the document", true),
];

impl PredictCommand {
    pub fn run(&self) -> CommandResult {
        CommandFiles::default()
            .read([&self.model])
            .read(&self.input)
            .check()?;
        let classifier = Classifier::open(&self.model)?;
        let mut out = BufWriter::new(io::stdout().lock());
        for document in self.documents.unlabeled(&self.input)? {
            let document = document?;
            let prediction = classifier.classify(&document)?;
            let line = match self.output {
                false => self.tsv(&classifier, &prediction),
                true => self.json(&classifier, &document, &prediction).to_string(),
            };
            // As soon as it is known: the input may be a pipe that stays open.
            let written = writeln!(out, "{line}").and_then(|()| out.flush());
            written.map_err(stdout_error)?;
        }
        self.documents.print_notices();
        Ok(())
    }

    /// Returns the best classes with their probabilities.
    fn top<'a>(
        &self,
        classifier: &'a Classifier,
        prediction: &Prediction,
    ) -> impl Iterator<Item = (&'a str, f64)> {
        let ranking = prediction.ranking().into_iter().take(self.top.max(1));
        ranking.map(|class| {
            let probability = prediction.probabilities()[class];
            (classifier.classes()[class].as_str(), probability)
        })
    }

    fn tsv(&self, classifier: &Classifier, prediction: &Prediction) -> String {
        let cells = self.top(classifier, prediction);
        let cells: Vec<String> = cells.map(|(class, p)| format!("{class}\t{p:.4}")).collect();
        cells.join("\t")
    }

    fn json(&self, classifier: &Classifier, document: &Instance, prediction: &Prediction) -> Value {
        let best = &classifier.classes()[prediction.best()];
        let top = self.top(classifier, prediction);
        let top: Map<String, Value> = top.map(|(class, p)| (class.to_owned(), json!(p))).collect();
        json!({
            "file": &*document.file,
            "line": (document.line > 0).then_some(document.line),
            "label": best,
            "probabilities": top,
        })
    }
}
