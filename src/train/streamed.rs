//! Sentences that training reads as often as it needs, instead of keeping them.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::time::{Instant, SystemTime};

use super::agreement::needs_all_sentences;
use super::checkpoint::OpenCheckpoints;
use super::events::Observer;
use super::options::{NoiseKind, WarmStart};
use super::spill::{SpillOptions, StreamedAttributes};
use super::trained::Trained;
use super::trainer::Trainer;
use crate::corpus::{Corpus, ReadOptions, Reader};
use crate::error::{Error, Place, Result};
use crate::noise::Engine;
use crate::sentence::Sentence;
use crate::template::Template;

/// Memory of the attributes of a part in bytes.
const PART: usize = 4 << 20;

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
            let mut reader = Reader::open(&input.files, &input.options)?;
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

impl Trainer<'_> {
    /// Trains a model on sentences that are not kept in memory: they are read a few times, and
    /// their attributes are kept in temporary files in `directory`. The model has the bits of that
    /// of [`train`](Self::train) on the same sentences.
    ///
    /// In memory remain the development data, the names of attributes, the weights with the history
    /// of L-BFGS, some 10 bytes per token, and some blocks of 8,000 tokens.
    ///
    /// # Errors
    ///
    /// Those of [`train`](Self::train); [`Error::Io`] if `directory` has no space left;
    /// [`Error::Parameter`] if something needs all sentences at once
    /// ([`check_streamed`](Self::check_streamed)).
    pub fn train_streamed(
        &self,
        corpora: StreamedCorpora<'_>,
        template: impl Into<Option<Template>>,
        directory: &Path,
        observer: &mut dyn Observer,
    ) -> Result<Trained> {
        let spill = SpillOptions {
            directory,
            part: PART,
        };
        self.train_in_parts(corpora, template.into(), spill, observer)
    }

    /// Trains like [`train_streamed`](Self::train_streamed).
    pub(super) fn train_in_parts(
        &self,
        corpora: StreamedCorpora<'_>,
        template: Option<Template>,
        spill: SpillOptions<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Trained> {
        self.check_streamed(template.as_ref())?;
        let mut checkpoints = self.open_checkpoints(1)?;
        let checkpoints = checkpoints.as_mut().map(OpenCheckpoints::of_run);
        let attributes =
            StreamedAttributes::extract(corpora, template, &self.settings, spill, self.memory)?;
        attributes.extracted().check_line_options(&self.settings)?;
        let clock = Instant::now();
        let set = attributes.into_training_set(&self.settings, spill.directory)?;
        self.train_set(set, &[], checkpoints, clock, observer)
    }

    /// Checks that training does not need all sentences in memory: that there are no online
    /// algorithm, warm start, sampled noise, gradient by messages, copies without case, minimum
    /// frequency, model to continue from, discovered attributes, template that reads documents or
    /// learns from the training data, or [ranks](Self::ranks).
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] says what there is.
    pub fn check_streamed(&self, template: Option<&Template>) -> Result<()> {
        let options = self.settings.options();
        let has_noise = options.has_noise();
        let found = if self.ranks.is_some() {
            Some("several ranks")
        } else if options.algorithm.is_online() {
            Some("an online algorithm")
        } else if options.warm_start != WarmStart::Off {
            Some("a warm start")
        } else if has_noise && options.noise == NoiseKind::MonteCarlo {
            Some("sampled noise")
        } else if has_noise && matches!(options.gradient, Engine::Message { .. }) {
            Some("the gradient by messages")
        } else {
            needs_all_sentences(options, &self.models, template)
        };
        match found {
            None => Ok(()),
            Some(found) => Err(Error::parameter(format!(
                "{found}: needs all sentences in memory, so their attributes cannot be kept on disk"
            ))),
        }
    }
}
