//! A run and what became of it.

use dropchain::kernel::{eval::standard_error, model::NoiseExposure};
use dropchain::train::{DevScore, Iteration, StopReason};

use crate::log::Run;
use crate::views::{count_of, percent};

/// A run and where it was recorded.
#[derive(Debug)]
pub struct NamedRun {
    pub name: String,
    pub run: Run,
}

impl NamedRun {
    /// Returns the iteration whose weights the model has, and its score on development data: of a
    /// run without an end, the one that is kept so far.
    pub fn kept(&self) -> Option<(usize, DevScore)> {
        let iterations = &self.run.iterations;
        if let Some(end) = &self.run.end {
            let number = end.best_iteration;
            let own = || iterations.iter().find(|i| i.number == number)?.dev;
            if let Some(score) = end.dev.or_else(own) {
                return Some((number, score));
            }
        }
        let mean = |i: &Iteration| i.dev_mean.or(i.dev.map(DevScore::value)).unwrap_or(-1.0);
        let kept = iterations.iter().reduce(|a, b| if mean(b) > mean(a) { b } else { a })?;
        Some((kept.number, kept.dev?))
    }

    /// Returns the score; one below all others if there is none.
    pub fn rank(&self) -> f64 {
        self.kept().map_or(-1.0, |(_, score)| score.value())
    }

    /// Returns the standard error of the kept score, a fraction, as a proportion of the spans or
    /// tokens of the development data; `None` if their number is not known.
    pub fn standard_error(&self) -> Option<f64> {
        standard_error(self.kept()?.1.value(), self.run.start.data.dev_units)
    }

    /// Returns whether the kept score is not told apart from that of the best run: it lies within a
    /// standard error of it.
    pub fn is_tie(&self, best: &Self) -> bool {
        let error = best.standard_error().unwrap_or(0.0);
        self.kept().is_some() && self.rank() >= best.rank() - error
    }

    /// Returns the number of iterations.
    pub fn iterations(&self) -> usize {
        self.run.iterations.last().map_or(0, |last| last.number)
    }

    /// Returns how the run ended, in a word or two.
    pub fn ending(&self) -> &'static str {
        let Some(end) = &self.run.end else { return "unfinished" };
        match end.reason {
            StopReason::Patience => "stopped early",
            StopReason::Improvement | StopReason::Gradient | StopReason::Loss => "converged",
            StopReason::MaxIterations => "reached --max-iterations",
            StopReason::LineSearch => "ended by the line search",
            StopReason::Interrupted => "interrupted",
            StopReason::NonFinite => "failed",
        }
    }

    /// Says in a sentence how the run ended and why.
    pub fn verdict(&self) -> String {
        let iterations = count_of(self.iterations() as u64, "iteration");
        let why = match self.run.end.as_ref().map(|end| end.reason) {
            None => ": the run was killed, or is still going on".to_owned(),
            Some(StopReason::Patience) => {
                let patience = self.run.start.options["patience"].as_u64();
                let waited = patience.map_or(String::new(), |n| format!(" for {n} iterations"));
                format!(": no improvement on development data{waited}")
            }
            Some(StopReason::Interrupted) => String::new(),
            Some(StopReason::MaxIterations) => ", before it converged".to_owned(),
            Some(reason) => format!(": {}", reason.message()),
        };
        format!("{}: {} after {iterations}{why}.", self.name, self.ending())
    }

    /// Says which iteration was kept, with which score.
    pub fn best(&self) -> Option<String> {
        let (number, score) = self.kept()?;
        let is_last = number > 0 && number == self.iterations();
        let end = self.run.end.as_ref();
        let is_cut = end.is_some_and(|end| end.reason == StopReason::MaxIterations);
        let rising = if is_last && is_cut { ", the last one: more may raise it" } else { "" };
        let mean = end.and_then(|end| end.dev_mean).map(percent);
        let mean = mean.map_or(String::new(), |mean| format!(" (mean of 5: {mean})"));
        Some(format!("{score}{mean} on development data, at iteration {number}{rising}"))
    }

    /// Returns how much noise the weights that were kept have seen, if they were to see some.
    pub fn noise(&self) -> Option<&NoiseExposure> {
        self.run.end.as_ref()?.noise.as_ref()
    }
}
