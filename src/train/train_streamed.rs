//! Training on sentences that are not kept in memory.

use std::path::Path;
use std::time::Instant;

use super::agreement::needs_all_sentences;
use super::checkpoint::OpenCheckpoints;
use super::events::Observer;
use super::options::{NoiseKind, WarmStart};
use super::spill::{SpillOptions, StreamedAttributes};
use super::streamed::StreamedCorpora;
use super::trained::Trained;
use super::trainer::Trainer;
use crate::error::{Error, Result};
use crate::noise::Engine;
use crate::template::Template;

/// Memory of the attributes of a part in bytes.
const PART: usize = 4 << 20;

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
