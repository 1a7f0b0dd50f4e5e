//! What `dropchain tune` tells while it runs.

use std::sync::OnceLock;

use dropchain::train::DevScore;
use dropchain::tune::{Observer, Plan, Rung, RungEnd, Stage, Standing};

use super::results::arguments;
use crate::cli::progress::Progress;
use crate::cli::watcher::{describe, megabytes};

/// Lines about the trainings of a rung, where lines do not change in place.
const MOST_LINES: usize = 12;

/// Passes what a search tells on to the terminal.
pub struct Watcher<'a> {
    progress: &'a Progress,
    templates: &'a [String],
    begun: OnceLock<(Plan, Vec<Rung>)>,
}

impl<'a> Watcher<'a> {
    pub fn new(progress: &'a Progress, templates: &'a [String]) -> Self {
        Self {
            progress,
            templates,
            begun: OnceLock::new(),
        }
    }

    /// How the work was spread.
    pub fn plan(&self) -> Option<Plan> {
        self.begun.get().map(|begun| begun.0)
    }

    fn rungs(&self) -> usize {
        self.begun.get().map_or(0, |begun| begun.1.len())
    }
}

impl Observer for Watcher<'_> {
    fn start(&self, plan: &Plan, rungs: &[Rung]) {
        let rung = |rung: &Rung| match rung.iterations {
            Some(iterations) => format!("{} for {iterations} iterations", rung.configurations),
            None => format!("{} to the end", rung.configurations),
        };
        let rungs_told: Vec<String> = rungs.iter().map(rung).collect();
        let mut memory = plan.data + plan.trainings * plan.training;
        if !plan.in_files {
            memory += plan.waiting;
        }
        self.progress.say(&format!(
            "configurations: {}; {} at a time; about {} of memory",
            rungs_told.join(", "),
            plan.trainings,
            megabytes(memory)
        ));
        if plan.in_files {
            self.progress.say(
                "weights wait in temporary files: memory does not hold those of all configurations",
            );
        }
        let _ = self.begun.set((*plan, rungs.to_vec()));
    }

    fn progress(&self, stage: Stage, done: usize, of: usize) {
        let stage = match stage {
            Stage::Beginnings => "without noise".to_owned(),
            Stage::Rung(number) => format!("rung {} of {}", number + 1, self.rungs()),
            Stage::Refit(iterations) => {
                let text = format!("training the best on all data for {iterations} iterations");
                return self.progress.step(text);
            }
        };
        if done == of || done.is_multiple_of(of.div_ceil(MOST_LINES)) {
            self.progress
                .step(format!("{stage}: {done} of {of} trainings done"));
        }
    }

    fn rung(&self, end: &RungEnd) {
        let best = end.standings.iter().min_by(|a, b| a.compare(b));
        let scored = |best: &Standing| Some((best.configuration, best.score?));
        if let Some((configuration, score)) = best.and_then(scored) {
            let score: DevScore = score;
            self.progress.say(&format!(
                "best of {} so far: {} with {}",
                end.standings.len(),
                describe(score),
                arguments(&configuration, self.templates, false)
            ));
        }
    }
}
