//! `dropchain convert`

use std::path::PathBuf;

use clap::Args;
use dropchain::Error;
use dropchain::label::{Labeling, Scheme};
use dropchain::model::{AttributeKind, Precision};
use dropchain_options::{LabelOptions, named};

use crate::{CommandFiles, CommandResult, Progress, ResultFile, interrupt};

/// Convert a model of CRFsuite, change the precision of a model, drop small weights
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain convert old.crfsuite --model new.model
  dropchain convert ner.model --model small.model --precision f16 --prune 0.01
  dropchain tag new.model test.crfsuite

A model that CRFsuite wrote keeps its labels and probabilities. All commands read such files, too,
but opening them takes longer, and they have no checksums. Fewer bytes per weight make a smaller
model that tags slightly faster; `dropchain eval small.model dev.conll` tells what they cost.")]
pub struct ConvertCommand {
    /// Model file, of CRFsuite or dropchain
    old: PathBuf,
    /// Write the model to this file
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Precision of the stored weights [default: that of the old model, for CRFsuite f64]
    #[arg(long, value_parser = named::<Precision>())]
    precision: Option<Precision>,
    /// Drop attribute weights with an absolute value below EPS
    #[arg(long, value_name = "EPS", default_value_t = 0.0)]
    prune: f64,
    #[command(flatten)]
    labels: LabelOptions,
    /// How the labels encode spans, if CRFsuite's are not read as they should be
    #[arg(long, value_parser = named::<Scheme>())]
    scheme: Option<Scheme>,
    /// Do not print what was written
    #[arg(long)]
    quiet: bool,
}

impl ConvertCommand {
    pub fn run(&self) -> CommandResult {
        CommandFiles::default().read([&self.old]).write_model(&self.model, None).check()?;
        interrupt::watch();
        let file = ResultFile::new(&self.model)?;
        let old = dropchain_crfsuite::open(&self.old)?;
        old.verify()?;
        let relabeled = self.labels.apply_to_model(&old)?;
        let mut new = relabeled.unwrap_or(old);
        let precision = self.precision.unwrap_or(new.header().precision);
        if self.prune != 0.0 {
            new = new.pruned(self.prune)?;
        }
        let new = new.with_precision(precision).map_err(|error| match error {
            Error::Parameter(message) => Error::model(&self.old, message),
            other => other,
        })?;
        let new = match self.scheme {
            Some(scheme) => {
                let old = new.header().labeling.clone();
                new.with_labeling(Labeling { scheme, strict: false, ..old })?
            }
            None => new,
        };
        file.save(new.as_bytes())?;
        let weights = [AttributeKind::Node, AttributeKind::Edge].map(|kind| new.weights(kind));
        Progress::new(self.quiet).println(&format!(
            "wrote {}: {} labels, {} attributes, {} weights of {} bytes",
            self.model.display(),
            new.header().labels.len(),
            new.attributes(AttributeKind::Node) + new.attributes(AttributeKind::Edge),
            weights[0] + weights[1],
            new.header().precision.bytes(),
        ));
        Ok(())
    }
}
