//! A run of several passes: what has ended, and the checkpoints.

use std::hash::Hasher;

use xxhash_rust::xxh3::Xxh3;

use super::base_models::BaseModels;
use super::checkpoint::OpenCheckpoints;
use super::corpora::TrainingCorpora;
use super::events::{Observer, Pass};
use super::finished_passes::FinishedPasses;
use super::trained::Trained;
use super::trainer::Trainer;
use crate::corpus::Corpus;
use crate::error::Result;
use crate::template::Template;

/// A run of several passes. Those that have ended are not repeated if the run resumes from a
/// checkpoint.
pub(super) struct Passes {
    pub finished: FinishedPasses,
    checkpoints: Option<OpenCheckpoints>,
}

impl Passes {
    /// Begins or resumes a run with these data and this template.
    ///
    /// # Errors
    ///
    /// Those of [`Checkpoints::open`](super::Checkpoints); the checkpoint to resume from belongs to
    /// other data or another template.
    pub fn begin(
        trainer: &Trainer<'_>,
        corpora: &TrainingCorpora,
        template: &Template,
    ) -> Result<Self> {
        let mut checkpoints = trainer.open_checkpoints(2)?;
        let mut finished = FinishedPasses::default();
        if let Some(open) = &mut checkpoints {
            open.set_fingerprint(fingerprint(corpora, template, &trainer.models)?)?;
            if let Some(stored) = open.take_finished() {
                finished = stored.try_into()?;
            }
        }
        Ok(Self {
            finished,
            checkpoints,
        })
    }

    /// Begins a pass.
    pub fn begin_pass(&mut self, pass: Pass, observer: &mut dyn Observer) {
        observer.pass(pass);
        if self
            .checkpoints
            .as_mut()
            .is_some_and(OpenCheckpoints::resume_pass)
        {
            observer.resumed(0);
        }
    }

    /// Trains the model of the pass.
    ///
    /// # Errors
    ///
    /// Those of [`Trainer::train`].
    pub fn train(
        &mut self,
        trainer: &Trainer<'_>,
        corpora: TrainingCorpora,
        template: &Template,
        observer: &mut dyn Observer,
    ) -> Result<Trained> {
        let open = self.checkpoints.as_mut();
        let checkpoints = open.map(|open| open.of_pass(&self.finished));
        trainer.train_pass(corpora, Some(template.clone()), checkpoints, observer)
    }

    /// Writes a checkpoint of the passes that have ended.
    pub fn save(&mut self, observer: &mut dyn Observer) {
        let Some(open) = &mut self.checkpoints else {
            return;
        };
        observer.checkpoint();
        if let Err(error) = open.write::<()>(Some(&self.finished), None) {
            observer.checkpoint_failed(&error);
        }
    }
}

/// Returns a fingerprint of everything that determines the passes but the options.
fn fingerprint(
    corpora: &TrainingCorpora,
    template: &Template,
    models: &BaseModels<'_>,
) -> Result<u64> {
    let mut hasher = Xxh3::new();
    template.hash_content(&mut hasher);
    for corpus in [
        Some(&corpora.labeled),
        corpora.dev.as_ref(),
        Some(&corpora.unlabeled),
    ] {
        hasher.write_usize(corpus.map_or(usize::MAX, Corpus::len));
        let sentences = corpus.into_iter().flat_map(Corpus::iter);
        sentences.for_each(|sentence| sentence.hash_content(&mut hasher));
    }
    for (role, model) in models.iter() {
        hasher.write(role.to_string().as_bytes());
        hasher.write_u128(model.fingerprint()?);
    }
    Ok(hasher.finish())
}
