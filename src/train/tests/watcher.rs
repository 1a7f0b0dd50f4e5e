//! Training that is interrupted, and what observers see of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::*;

/// Sets a flag at an iteration.
pub(super) struct Interrupter<'a> {
    pub at: usize,
    pub flag: &'a AtomicBool,
}

impl Observer for Interrupter<'_> {
    fn iteration(&mut self, iteration: &Iteration) -> Result<ControlFlow<()>, ObserverError> {
        if iteration.number == self.at {
            self.flag.store(true, Ordering::Relaxed);
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Ends training at an iteration, with an error or without.
pub(super) struct Ender {
    pub at: usize,
    pub error: Option<&'static str>,
}

impl Observer for Ender {
    fn iteration(&mut self, iteration: &Iteration) -> Result<ControlFlow<()>, ObserverError> {
        assert!(iteration.number <= self.at);
        match self.error {
            _ if iteration.number < self.at => Ok(ControlFlow::Continue(())),
            Some(message) => Err(message.into()),
            None => Ok(ControlFlow::Break(())),
        }
    }
}

/// Number of models in two passes: of the first pass, of five folds, of the second pass.
pub(super) const MODELS: usize = 7;

/// A moment of training: the beginning of a model, by its number, or an iteration of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Moment {
    pub model: usize,
    pub iteration: Option<usize>,
}

/// Records the iterations of each model without their times, stops at a moment, and copies the
/// checkpoint at each.
#[derive(Default)]
pub(super) struct Watcher<'a> {
    pub model: usize,
    pub iterations: Vec<(usize, Iteration)>,
    pub resumed: Option<(usize, usize)>,
    pub stop: Option<(Moment, &'a AtomicBool)>,
    pub copied: Option<PathBuf>, // the checkpoint
    pub copies: Vec<(Moment, Vec<u8>)>,
    pub checkpoints: usize,
}

impl Watcher<'_> {
    fn reach(&mut self, iteration: Option<usize>) {
        let model = self.model;
        let now = Moment { model, iteration };
        if let Some((_, flag)) = self.stop.filter(|(moment, _)| *moment == now) {
            flag.store(true, Ordering::Relaxed);
        }
        let copied = self.copied.as_ref().filter(|checkpoint| checkpoint.exists());
        if let Some(checkpoint) = copied {
            self.copies.push((now, fs::read(checkpoint).unwrap()));
        }
    }
}

impl Observer for Watcher<'_> {
    fn pass(&mut self, pass: Pass) {
        self.model = match pass {
            Pass::First => 0,
            Pass::Fold { number, of } => {
                assert_eq!(of, MODELS - 2);
                number
            }
            Pass::Second => MODELS - 1,
        };
        self.reach(None);
    }

    fn resumed(&mut self, iterations: usize) {
        assert!(self.resumed.is_none());
        self.resumed = Some((self.model, iterations));
    }

    fn checkpoint(&mut self) {
        self.checkpoints += 1;
    }

    fn iteration(&mut self, iteration: &Iteration) -> Result<ControlFlow<()>, ObserverError> {
        let recorded = Iteration { time: Duration::ZERO, ..iteration.clone() };
        self.iterations.push((self.model, recorded));
        self.reach(Some(iteration.number));
        Ok(ControlFlow::Continue(()))
    }
}

/// The training data and the template.
#[derive(Clone, Copy)]
pub(super) struct Data<'a> {
    pub text: &'a str,
    pub dev: &'a str,
    pub template: &'a str,
}

impl Data<'_> {
    pub fn train(
        self,
        options: &TrainOptions,
        checkpoints: Option<Checkpoints>,
        watcher: &mut Watcher<'_>,
    ) -> Result<Trained> {
        let mut trainer = Trainer::new(options.clone()).unwrap();
        if let Some((_, flag)) = watcher.stop {
            trainer = trainer.interrupt(flag);
        }
        if let Some(checkpoints) = checkpoints {
            trainer = trainer.checkpoints(checkpoints);
        }
        let corpora = TrainingCorpora::new(corpus(self.text)).dev(corpus(self.dev));
        trainer.train(corpora, template(self.template), watcher)
    }
}

pub(super) fn every_iteration(path: &Path) -> Checkpoints {
    Checkpoints::new(path).every(CheckpointInterval::Iterations(1))
}
