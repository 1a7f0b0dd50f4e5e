//! The memory of training, estimated and checked before it is allocated.

use super::development::DevelopmentSet;
use super::options::WarmStart;
use super::settings::{NoiseTerm, TrainSettings};
use super::training_set::TrainingSet;
use crate::error::{Error, Result};
use crate::memory::MemoryLimit;
use crate::model::Precision;
use crate::objective::{NoiseMemory, required_memory};
use crate::online::{LearnerSettings, learner_memory};

/// Memory of the program itself: its code, threads and small tables.
const PROGRAM: usize = 8_000_000;

/// The reciprocal of the overhead of the allocator: 3 %.
const OVERHEAD: usize = 32;

/// How many times as long as their encoding names are: EWT with the template `chunk`, 5.7.
const NAMES_RATIO: usize = 4;

/// Size from which an allocation is returned to the system when it is freed. Smaller ones leave
/// gaps that are only partly used again (glibc's `M_MMAP_THRESHOLD_MAX`).
pub(super) const RETURNED: usize = 32 << 20;

/// Returns the memory in bytes of scoring development data, if there are any.
pub(super) fn scorer_memory(set: &TrainingSet) -> usize {
    let development = set.development.as_ref();
    development.map_or(0, |dev| dev.memory_to_score(set.space()))
}

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

    /// Estimates the memory in bytes of a training run, excluding the training set itself: of the
    /// optimization, or of building the model from its result, whichever is more.
    #[must_use]
    pub fn memory_to_train(&self, settings: &TrainSettings) -> usize {
        let (optimization, returned) = if settings.options().algorithm.is_online() {
            self.memory_to_learn(settings)
        } else {
            self.memory_to_optimize(settings)
        };
        self.memory_with_model((optimization, returned), settings.options().precision)
    }

    /// Estimates the memory in bytes of a training run whose optimization takes so many, some of
    /// which the allocator returns to the system before the model is built.
    #[must_use]
    pub fn memory_with_model(&self, of_run: (usize, usize), precision: Precision) -> usize {
        let (optimization, returned) = of_run;
        let built = self.memory_to_build_model(precision);
        let building = (optimization - returned).saturating_add(built);
        let most = optimization.max(building);
        most.saturating_add(PROGRAM).saturating_add(most / OVERHEAD)
    }

    /// Estimates the memory of an online learner, and how much of it the allocator returns to the
    /// system before the model is built.
    fn memory_to_learn(&self, settings: &TrainSettings) -> (usize, usize) {
        self.memory_of_learner(&self.learner(settings))
    }

    /// Like [`TrainingSet::memory_to_learn`], of the learner with these settings.
    fn memory_of_learner(&self, learner: &LearnerSettings) -> (usize, usize) {
        let noise = learner.noise.as_ref();
        let bytes = learner_memory(self.data(), self.space(), &learner.algorithm, noise);
        // The parameters, those of the best epoch, the result, and those of calibration.
        let parameters = self.space().dimension().saturating_mul(8 * 4);
        let scorer = scorer_memory(self);
        let returned = if bytes >= RETURNED { bytes } else { 0 };
        (
            bytes.saturating_add(parameters).saturating_add(scorer),
            returned,
        )
    }

    /// Estimates the memory of the optimization, and how much of it the allocator returns to the
    /// system before the model is built.
    fn memory_to_optimize(&self, settings: &TrainSettings) -> (usize, usize) {
        let noise_term = settings.noise();
        let noise = match &noise_term {
            None => NoiseMemory::None,
            Some(NoiseTerm::Quadratic(noise)) => NoiseMemory::Quadratic(noise),
            Some(NoiseTerm::MonteCarlo(_)) => NoiseMemory::MonteCarlo,
        };
        let has_l1 = self.has_l1(settings.options().l1);
        let dimension = self.space().dimension();
        // Two points with their gradients and the direction; with L1 the pseudo-gradient and the
        // strengths; the best weights.
        // Of template lines with options: strengths, and rates of weights and columns. Of strengths
        // by a rule: these, divisors, and what the rule counts. Of reweighted noise: the strengths, those of the next round, and halves.
        let is_reweighted = matches!(
            &noise_term,
            Some(NoiseTerm::Quadratic(noise)) if noise.engine.round().is_some()
        );
        let doubles = 5
            + 3 * usize::from(is_reweighted)
            + 2 * usize::from(has_l1)
            + 3 * usize::from(self.has_line_options())
            + 3 * usize::from(self.has_l2_rule())
            + usize::from(self.development.is_some());
        let doubles = dimension.saturating_mul(8 * doubles);
        // The pairs of L-BFGS and the preconditioner.
        let pairs = settings.options().lbfgs.memory;
        let singles = dimension.saturating_mul(4 * (2 * pairs + 1));
        let scorer = scorer_memory(self);
        let optimization = required_memory(self.data(), self.space(), noise)
            .saturating_add(doubles)
            .saturating_add(singles)
            .saturating_add(scorer);
        // What the allocator returns to the system before the model is built.
        let is_returned = |bytes: usize| dimension.saturating_mul(bytes) >= RETURNED;
        let returned =
            doubles * usize::from(is_returned(8)) + singles * usize::from(is_returned(4));
        match settings.options().warm_start {
            WarmStart::Off => (optimization, returned),
            WarmStart::Online => {
                let learner = self.warm_start_learner(settings);
                let (passes, freed) = self.memory_of_learner(&learner);
                // What the passes leave behind: gaps, if their vectors are small.
                let left = (passes - freed) * usize::from(!is_returned(8));
                let optimization = optimization.saturating_add(left);
                (optimization.max(passes), returned)
            }
        }
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
