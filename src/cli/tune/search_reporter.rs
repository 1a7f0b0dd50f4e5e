//! Reports the progress of a search to the terminal.

use std::sync::OnceLock;

use dropchain::tune::{Phase, ResourcePlan, Rung, RungResult, TrialResult, TuneObserver};

use super::results::train_flags;
use crate::cli::interrupt;
use crate::cli::progress::Progress;
use crate::cli::training_reporter::{format_megabytes, format_score};

/// Maximum number of progress reports per rung.
const REPORTS_PER_RUNG: usize = 12;

/// Writes the events of a search to the terminal.
pub struct SearchReporter<'a> {
    progress: &'a Progress,
    templates: &'a [String],
    started: OnceLock<(ResourcePlan, Vec<Rung>)>,
}

impl<'a> SearchReporter<'a> {
    pub fn new(progress: &'a Progress, templates: &'a [String]) -> Self {
        Self {
            progress,
            templates,
            started: OnceLock::new(),
        }
    }

    /// Returns how the work was distributed; `None` before the search has started.
    pub fn plan(&self) -> Option<ResourcePlan> {
        self.started.get().map(|started| started.0)
    }

    fn rungs(&self) -> usize {
        self.started.get().map_or(0, |started| started.1.len())
    }
}

impl TuneObserver for SearchReporter<'_> {
    fn start(&self, plan: &ResourcePlan, rungs: &[Rung]) {
        let describe = |rung: &Rung| match rung.iterations {
            Some(iterations) => format!("{} for {iterations} iterations", rung.configurations),
            None => format!("{} until convergence", rung.configurations),
        };
        let descriptions: Vec<String> = rungs.iter().map(describe).collect();
        self.progress.println(&format!(
            "configurations: {}; {} in parallel; about {} of memory",
            descriptions.join(", "),
            plan.concurrency,
            format_megabytes(plan.memory())
        ));
        let _ = self.started.set((*plan, rungs.to_vec()));
    }

    fn progress(&self, phase: Phase, done: usize, total: usize) {
        if !matches!(phase, Phase::WarmStart) {
            interrupt::set_has_result();
        }
        let phase = match phase {
            Phase::WarmStart => "warm-up".to_owned(),
            Phase::Rung(number) => format!("rung {} of {}", number + 1, self.rungs()),
            Phase::Refit(iterations) => {
                return self.progress.update(format!(
                    "training the best configuration on all data for {iterations} iterations"
                ));
            }
        };
        if done == total || done.is_multiple_of(total.div_ceil(REPORTS_PER_RUNG)) {
            self.progress
                .update(format!("{phase}: {done} of {total} training runs done"));
        }
    }

    fn rung(&self, result: &RungResult) {
        let best = result.trials.iter().min_by(|a, b| a.compare(b));
        let scored = |best: &TrialResult| Some((best.configuration, best.score?));
        if let Some((configuration, score)) = best.and_then(scored) {
            self.progress.println(&format!(
                "best of {} so far: {} with {}",
                result.trials.len(),
                format_score(score),
                train_flags(&configuration, self.templates, false)
            ));
        }
    }
}
