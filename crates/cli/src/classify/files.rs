//! What `classify train` and `classify tune` read and write.

use std::path::PathBuf;

use clap::Args;
use dropchain::Result;
use dropchain_documents::Instance;

use super::input::DocumentInput;
use crate::arguments::ThreadArguments;
use crate::file_name::FileName;
use crate::outputs::CommandFiles;

/// Files, and how to go about them.
#[derive(Debug, Args)]
pub struct TrainingFiles {
    /// Training documents: files, folders, or `-` for standard input
    #[arg(required = true, value_name = "TRAIN")]
    pub train: Vec<FileName>,
    /// Write the model to this file
    #[arg(long, value_name = "FILE")]
    pub model: PathBuf,
    /// Write a log in JSON lines to this file
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Do not print progress
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub threads: ThreadArguments,
    #[command(flatten)]
    pub input: DocumentInput,
    /// Documents without classes for the noise term; classes in them are ignored
    ///
    /// Takes all arguments up to the next option, so put TRAIN first.
    #[arg(long, num_args = 1.., value_name = "FILE", help_heading = "Unlabeled documents")]
    pub unlabeled: Vec<FileName>,
}

impl TrainingFiles {
    /// Returns what is read and written, to check that they are not the same files.
    pub fn declared(&self, dev: &[FileName]) -> CommandFiles {
        CommandFiles::default()
            .read(&self.train)
            .read(dev)
            .read(&self.unlabeled)
            .write_model(&self.model, self.log.as_deref())
    }

    /// Returns whether the training documents have ready-made features.
    pub fn has_features(&self) -> bool {
        self.input.has_features(&self.train)
    }

    /// Begins to read the unlabeled documents, without what classes they have.
    pub fn unlabeled(&self) -> Result<impl Iterator<Item = Result<Instance>>> {
        let files = &self.unlabeled[..];
        let reader = (!files.is_empty()).then(|| self.input.unlabeled(files));
        let documents = reader.transpose()?.into_iter().flatten();
        Ok(documents.map(|document| document.map(Instance::without_label)))
    }
}
