//! The memory of training, estimated and checked before it is allocated.

use super::settings::{NoiseTerm, TrainSettings};
use super::training_set::TrainingSet;
use crate::error::{Error, Result};
use crate::memory::MemoryLimit;
use crate::objective::{NoiseMemory, required_memory};
use crate::optim::LbfgsOptions;

/// Memory of the program itself: its code, threads and small tables.
const PROGRAM: usize = 8_000_000;

impl TrainingSet {
    /// Returns the memory usage in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        // Classes, their scales, and sums over columns.
        let columns = 16 * (self.attributes() + self.space().nodes.columns());
        self.data().memory()
            + self.alphabet_memory()
            + self.space().memory()
            + columns
            + self.development.as_ref().map_or(0, |dev| dev.memory())
    }

    /// Estimates the memory in bytes of a training run, excluding the training set itself: of the
    /// optimization, or of building the model from its result, whichever is more.
    #[must_use]
    pub fn memory_to_train(&self, settings: &TrainSettings) -> usize {
        let noise_term = settings.noise();
        let noise = match &noise_term {
            None => NoiseMemory::None,
            Some(NoiseTerm::Quadratic(noise)) => NoiseMemory::Quadratic(noise),
            Some(NoiseTerm::MonteCarlo(_)) => NoiseMemory::MonteCarlo,
        };
        let has_l1 = settings.options().l1 > 0.0;
        // Two points with their gradients and the direction; with L1 the pseudo-gradient and the
        // strengths; the best weights.
        let doubles = 5 + 2 * usize::from(has_l1) + usize::from(self.development.is_some());
        // The pairs of L-BFGS and the preconditioner.
        let singles = 2 * LbfgsOptions::default().memory + 1;
        let vectors = self
            .space()
            .dimension()
            .saturating_mul(8 * doubles + 4 * singles);
        let development = self.development.as_ref();
        let scorer = development.map_or(0, |dev| dev.memory_to_score(self.space()));
        let optimization = required_memory(self.data(), self.space(), noise)
            .saturating_add(vectors)
            .saturating_add(scorer);
        optimization.max(self.memory_to_build_model()) + PROGRAM
    }

    /// Checks that training fits into memory before it is allocated.
    ///
    /// # Errors
    ///
    /// How much is needed, the limit, and what to do.
    pub(super) fn check_memory(&self, settings: &TrainSettings, limit: MemoryLimit) -> Result<()> {
        let held = self.memory();
        let needed = held.saturating_add(self.memory_to_train(settings));
        let check = limit.check(needed as u64, held as u64);
        check.map_err(|over| {
            let labels = self.space().labels();
            Error::parameter(format!(
                "training on {} weights of {labels} labels: {over}; expected fewer weights \
                 (--states observed, --min-count 2), fewer labels or a larger limit (--memory)",
                self.space().dimension()
            ))
        })
    }

    /// Estimates the memory in bytes of building the model, when the matrices have been freed: the
    /// weights of all attributes with their positions, in vectors that double when they grow, and
    /// the file.
    fn memory_to_build_model(&self) -> usize {
        let blocks = self.space().blocks().into_iter();
        let classes = [&self.node_classes, &self.edge_classes];
        let weights: usize = blocks
            .zip(classes)
            .map(|(block, classes)| {
                let count = |class| block.targets.range(class as usize).len();
                let sizes = (0..classes.len() as u32).map(|class| (classes.size(class), class));
                let weights = sizes.map(|(size, class)| size as usize * count(class));
                weights.fold(0usize, usize::saturating_add)
            })
            .fold(0, usize::saturating_add);
        let theta = self.space().dimension().saturating_mul(8);
        weights.saturating_mul(24 + 8).saturating_add(theta)
    }
}
