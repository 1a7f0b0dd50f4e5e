//! Sentences that training reads as often as it needs, instead of keeping them.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::sync::OnceLock;
use std::time::SystemTime;

use super::corpora::is_content;
use crate::corpus::{Corpus, ReadOptions, ReadReport, Reader};
use crate::error::{Error, Place, Result};
use crate::sentence::Sentence;

/// Sentences that can be read several times: the same ones each time.
pub trait SentenceSource {
    /// Begins to read.
    ///
    /// # Errors
    ///
    /// Those of reading.
    fn sentences(&self) -> Result<Box<dyn Iterator<Item = Result<Sentence>> + '_>>;
}

impl SentenceSource for Corpus {
    fn sentences(&self) -> Result<Box<dyn Iterator<Item = Result<Sentence>> + '_>> {
        Ok(Box::new(self.iter().cloned().map(Ok)))
    }
}

/// Files of sentences. It is an error if one of them changes between two readings.
#[derive(Clone, Debug, Default)]
pub struct CorpusFiles(Vec<Input>);

#[derive(Clone, Debug)]
struct Input {
    files: Vec<OsString>,
    options: ReadOptions,
    states: Vec<FileState>,
    was_read: OnceLock<()>, // and so reported
}

/// The length of a file and the time of its last change.
type FileState = (u64, Option<SystemTime>);

impl CorpusFiles {
    /// Creates a list of no files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends files of the same format.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if one cannot be read; [`Error::Parameter`] for standard input, which can be
    /// read only once.
    pub fn add<S: AsRef<OsStr>>(&mut self, files: &[S], options: &ReadOptions) -> Result<()> {
        let files: Vec<OsString> = files.iter().map(|file| file.as_ref().to_owned()).collect();
        let states = files.iter().map(|file| state(file));
        self.0.push(Input {
            states: states.collect::<Result<_>>()?,
            files,
            options: options.clone(),
            was_read: OnceLock::new(),
        });
        Ok(())
    }
}

impl SentenceSource for CorpusFiles {
    fn sentences(&self) -> Result<Box<dyn Iterator<Item = Result<Sentence>> + '_>> {
        let mut readers = Vec::new();
        for input in &self.0 {
            for (file, earlier) in input.files.iter().zip(&input.states) {
                if state(file)? != *earlier {
                    let message = "the file changed while it was being read; expected the same \
                                   contents until its sentences have been read several times";
                    return Err(Error::input(Place::file(&*file.to_string_lossy()), message));
                }
            }
            let mut options = input.options.clone();
            if input.was_read.set(()).is_err() {
                options.report = ReadReport::default();
            }
            let mut reader = Reader::open(&input.files, &options)?;
            reader.require_sentences();
            readers.push(reader);
        }
        Ok(Box::new(readers.into_iter().flatten()))
    }
}

fn state(file: &OsStr) -> Result<FileState> {
    if file == "-" {
        return Err(Error::parameter(
            "-: standard input can be read only once; expected a file",
        ));
    }
    let metadata = fs::metadata(file).map_err(|error| Error::io(file, error))?;
    if !metadata.is_file() && !metadata.is_dir() {
        let message = "the input can be read only once; expected a file";
        return Err(Error::input(Place::file(&*file.to_string_lossy()), message));
    }
    Ok((metadata.len(), metadata.modified().ok()))
}

/// The sentences of a training run that are not kept in memory.
#[derive(Clone, Copy)]
pub struct StreamedCorpora<'a> {
    /// Labeled sentences.
    pub labeled: &'a dyn SentenceSource,
    /// Development data, which are kept.
    pub dev: Option<&'a Corpus>,
    /// Sentences that only the noise term uses.
    pub unlabeled: Option<&'a dyn SentenceSource>,
}

/// Reads the sentences that have tokens.
pub(super) fn content(
    source: &dyn SentenceSource,
) -> Result<impl Iterator<Item = Result<Sentence>> + '_> {
    let has_content = |sentence: &Result<Sentence>| sentence.as_ref().map_or(true, is_content);
    Ok(source.sentences()?.filter(has_content))
}
