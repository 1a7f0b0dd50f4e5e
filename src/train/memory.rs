//! The memory of training, estimated and checked before it is allocated.

use super::development::DevelopmentSet;
use super::settings::TrainSettings;
use super::training_set::TrainingSet;
use crate::error::{Error, Result};
use crate::memory::MemoryLimit;
use crate::model::Precision;

/// Memory of the program itself: its code, threads and small tables.
const PROGRAM: usize = 8_000_000;

/// The reciprocal of the overhead of the allocator: 3 %.
const OVERHEAD: usize = 32;

/// How many times as long as their encoding names are: EWT with the template `chunk`, 5.7.
const NAMES_RATIO: usize = 4;

impl TrainingSet {
    /// Returns the memory usage in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        // Classes, their scales, and sums over columns.
        let columns = 16 * (self.attributes() + self.space().nodes.columns());
        self.data().memory()
            + self.alphabet_memory()
            + self.origin_memory()
            + self.space().memory()
            + columns
            + self.development.as_ref().map_or(0, DevelopmentSet::memory)
    }

    /// Estimates the memory in bytes of a training run, excluding the training set itself: of
    /// learning, or of building the model from its result, whichever is more.
    #[must_use]
    pub fn memory_to_train(&self, settings: &TrainSettings) -> usize {
        let learning = settings.learner().memory(self, settings.options());
        let development = self.development.as_ref();
        let scorer = development.map_or(0, |dev| dev.memory_to_score(self.space()));
        let learning = learning.saturating_add(scorer);
        self.memory_with_model(learning, settings.options().precision)
    }

    /// Estimates the memory in bytes of a training run whose learner takes so many.
    #[must_use]
    pub fn memory_with_model(&self, learning: usize, precision: Precision) -> usize {
        let most = learning.max(self.memory_to_build_model(precision));
        most.saturating_add(PROGRAM).saturating_add(most / OVERHEAD)
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

    /// Estimates the memory in bytes of building the model, excluding the training set. The names
    /// of attributes become those of the tables; all else but the matrices, which are freed first,
    /// stays until the tables are filled.
    fn memory_to_build_model(&self, precision: Precision) -> usize {
        // Of the positions of node and of edge weights, at most.
        let sizes = [2, 4].map(|position| position + precision.bytes());
        let classes = [&self.node_classes, &self.edge_classes];
        let attributes = classes
            .map(|classes| classes.classes().len())
            .iter()
            .sum::<usize>();
        let weights = self.space().blocks().into_iter().zip(classes).zip(sizes);
        let weights = weights
            .flat_map(|((block, classes), size)| {
                (0..classes.len() as u32).map(move |class| {
                    let weights = block.targets.range(class as usize).len();
                    weights.saturating_mul(size * classes.size(class) as usize)
                })
            })
            .fold(0, usize::saturating_add);
        // Ends of rows; slots, of which three in five are used.
        let slots = attributes.saturating_mul(8 * 5 / 3);
        let names = self.alphabet_memory();
        let sections = weights
            .saturating_add(slots)
            .saturating_add(names / NAMES_RATIO);
        let tables = sections.saturating_add(attributes.saturating_mul(8));
        // The file beside its sections, when there are no names any more.
        let file = sections.saturating_mul(2).saturating_sub(names);
        let transitions = self.space().labels().saturating_pow(2);
        let built = tables.max(file).saturating_sub(self.data().memory());
        built.saturating_add(transitions.saturating_mul(2 * 8))
    }
}
