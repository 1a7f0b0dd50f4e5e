//! `--spill`: training on text that memory does not hold.

use std::path::{Path, PathBuf};

use clap::Args;
use dropchain::train::{BaseModels, CorpusFiles, SentenceSource, Trainer};
use dropchain::{Error, Result, Template};

use super::document_arguments::{depends_on_documents, marks_document};
use super::partial_label_arguments::LabelScan;
use super::team::Team;
use super::template_argument::check_attributes_of;

/// Where the attributes of sentences are kept.
#[derive(Clone, Debug, Args)]
pub struct SpillArguments {
    /// Keep attributes in temporary files in DIR, not in memory: for more text than memory holds
    ///
    /// TRAIN is read a few times instead of being kept. The model is the same.
    /// The files take some 15 bytes per attribute of a token, are read in every evaluation, and
    /// have no name, so that nothing remains of them. Not with what needs all text in memory:
    /// --init, --towards, --discover, --caseless, --min-frequency, online algorithms, --noise
    /// monte-carlo, --gradient message, templates that read documents or learn names from TRAIN.
    /// Nor with several processes (dropchain-mpi): each keeps its part of the text in memory.
    #[arg(
        long,
        value_name = "DIR",
        help_heading = "Training",
        hide_short_help = true
    )]
    spill: Option<PathBuf>,
}

/// Files that are read several times.
pub struct Streams<'a> {
    pub labeled: CorpusFiles,
    /// Without files if there is no unlabeled text.
    pub unlabeled: CorpusFiles,
    pub directory: &'a Path,
}

impl SpillArguments {
    /// Returns the directory, if attributes are kept there.
    pub fn directory(&self) -> Option<&Path> {
        self.spill.as_deref()
    }

    /// Checks that training does not need all text in memory, and that a file can be written to
    /// the directory.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] says what needs all text; [`Error::Io`].
    pub fn check(
        &self,
        trainer: &Trainer<'_>,
        models: &BaseModels<'_>,
        template: Option<&Template>,
        team: &Team,
    ) -> Result<()> {
        let Some(directory) = self.directory() else {
            return Ok(());
        };
        let refuse = |found: &str| Err(Error::parameter(format!("--spill: {found}")));
        if team.ranks().is_some() {
            return refuse("each of several processes keeps its part of the text in memory");
        }
        if !models.is_empty() {
            return refuse("a model to continue from needs all text in memory");
        }
        if let Err(error) = trainer.check_streamed(template) {
            return refuse(&error.to_string());
        }
        let file = tempfile::tempfile_in(directory);
        file.map(drop).map_err(|error| Error::io(directory, error))
    }
}

/// Reads labeled sentences once; returns their labels.
///
/// # Errors
///
/// Those of reading; there is no template, and sentences come without attributes; the template
/// would be another one that reads documents, unless the arguments say what a document is.
pub fn scan(
    labeled: &CorpusFiles,
    template: Option<&Template>,
    documents_are_given: bool,
) -> Result<LabelScan> {
    let depends = template.is_some_and(depends_on_documents) && !documents_are_given;
    let mut labels = LabelScan::default();
    for sentence in labeled.sentences()? {
        let sentence = sentence?;
        check_attributes_of(template, &sentence)?;
        if depends && marks_document(&sentence) {
            return Err(Error::input(
                sentence.place(0),
                "--spill: the corpus marks documents, so the template ner would be ner-document, \
                 which needs all text in memory; expected --document sentence",
            ));
        }
        labels.add(&sentence);
    }
    Ok(labels)
}
