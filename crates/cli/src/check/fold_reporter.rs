//! Reports the training of models for folds to the terminal.

use std::ops::ControlFlow;

use dropchain::train::{Iteration, Observer, ObserverError, Pass};

use crate::progress::Progress;

/// Shows which model is being trained.
pub struct FoldReporter<'a> {
    pub progress: &'a Progress,
    /// Description of the current step.
    pub fold: String,
}

impl Observer for FoldReporter<'_> {
    fn pass(&mut self, pass: Pass) {
        if let Pass::Fold { number, of } = pass {
            self.fold = format!("training without fold {number} of {of}");
            self.progress.update(&self.fold);
        }
    }

    fn iteration(&mut self, iteration: &Iteration) -> Result<ControlFlow<()>, ObserverError> {
        if let Progress::Terminal(_) = self.progress {
            let number = iteration.number;
            let line = format!("{}, iteration {number}", self.fold);
            self.progress.update(&line);
        }
        Ok(ControlFlow::Continue(()))
    }
}
