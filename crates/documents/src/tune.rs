//! Searching strengths and rates of a classifier: each configuration is trained, and scored by its
//! accuracy on development documents or over folds.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use rayon::prelude::*;
use serde::Serialize;

use crate::corpus::DocumentCorpus;
use crate::options::{DocumentOptions, Strengths};
use crate::training::{Development, DocumentTrainer, Trained};
use dropchain::kernel::random::shuffle;
use dropchain::{Error, Result};

/// A configuration of a search, and its score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Configuration {
    /// The amount of noise and the strengths of the penalties.
    #[serde(flatten)]
    pub strengths: Strengths,
    /// The mean accuracy over folds, or that on development documents.
    pub mean_accuracy: f64,
    /// The accuracies of the folds.
    pub fold_scores: Vec<f64>,
    /// The mean best iteration.
    pub best_iteration: usize,
}

/// The data on which configurations are scored.
#[derive(Clone, Copy, Debug)]
pub enum Scoring<'d> {
    /// Development documents.
    Dev(&'d DocumentCorpus),
    /// So many folds of the training documents, with about the same share of each class, drawn with
    /// a seed.
    Folds(usize, u64),
}

/// The results of a search, the best configuration first.
#[derive(Debug)]
pub struct SearchResult {
    /// The configurations.
    pub configurations: Vec<Configuration>,
    /// The model of the best one, trained on all documents for its mean best iteration.
    pub trained: Trained,
    /// Whether an interrupt ended it before all had a score.
    pub interrupted: bool,
}

/// Training documents, and those to score them on.
type Part = (DocumentCorpus, Development);

impl DocumentTrainer<'_> {
    /// Trains with and scores all candidates instead of the strengths of this trainer, and trains
    /// with the best one on all documents. `observer` is called with every score.
    ///
    /// # Errors
    ///
    /// The errors of [`train`](Self::train); [`Error::Parameter`] if there are fewer documents than
    /// folds, or none was scored before an interrupt.
    pub fn search(
        &self,
        corpus: &DocumentCorpus,
        scoring: Scoring<'_>,
        candidates: &[Strengths],
        observer: &(dyn Fn(&Configuration) + Sync),
    ) -> Result<SearchResult> {
        corpus.check_classes()?;
        let parts = parts(corpus, scoring)?;
        let with = |&strengths| DocumentOptions { strengths, ..self.options.clone() };
        let trainer = |own| Ok(Self { interrupt: self.interrupt, ..Self::new(with(own))? });
        let trainers = candidates.iter().map(trainer).collect::<Result<Vec<Self>>>()?;
        let scored = trainers.par_iter().map(|trainer| {
            let found = trainer.score(&parts)?;
            found.iter().for_each(observer);
            Ok(found)
        });
        let scored = scored.collect::<Result<Vec<_>>>()?;
        let mut configurations: Vec<Configuration> = scored.into_iter().flatten().collect();
        configurations.sort_by(|a, b| b.mean_accuracy.total_cmp(&a.mean_accuracy));
        let Some(best) = configurations.first() else {
            return Err(Error::parameter("interrupted before a configuration had a score"));
        };
        let mut options = with(&best.strengths);
        options.learning.max_iterations = Some(best.best_iteration);
        // What interrupted the search does not interrupt the model.
        let trainer = DocumentTrainer { options, interrupt: None };
        let trained = trainer.train(corpus, None, &mut |_| ControlFlow::Continue(()))?;
        let interrupted = configurations.len() < candidates.len();
        Ok(SearchResult { configurations, trained, interrupted })
    }

    /// Scores the options of this trainer; `None` if it was interrupted.
    fn score(&self, parts: &[Part]) -> Result<Option<Configuration>> {
        let mut scores = Vec::new();
        let mut iterations = 0;
        for (training, dev) in parts {
            let interrupted = || self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed));
            if interrupted() {
                return Ok(None);
            }
            let watch = &mut |_: &_| ControlFlow::Continue(());
            let (_, _, end) = self.fit(training, Some(dev), watch)?;
            if interrupted() {
                return Ok(None);
            }
            scores.extend(end.dev_accuracy); // there is one: that of iteration 0 at least
            iterations += end.best_iteration;
        }
        Ok(Some(Configuration {
            strengths: self.options.strengths,
            mean_accuracy: scores.iter().sum::<f64>() / scores.len() as f64,
            fold_scores: scores,
            best_iteration: iterations.div_ceil(parts.len()).max(1),
        }))
    }
}

/// Returns what is trained on and what is scored, once or for each fold.
fn parts(corpus: &DocumentCorpus, scoring: Scoring<'_>) -> Result<Vec<Part>> {
    let (folds, seed) = match scoring {
        Scoring::Dev(dev) => return Ok(vec![(corpus.clone(), Development::new(corpus, dev))]),
        Scoring::Folds(folds, seed) => (folds, seed),
    };
    let count = corpus.documents();
    let mut order: Vec<usize> = (0..count).collect();
    shuffle(&mut order, seed);
    order.retain(|&n| corpus.targets[n].is_some());
    if !(2..=order.len()).contains(&folds) {
        return Err(Error::parameter(format!(
            "--folds {folds}: there are {} documents; expected at least one per fold",
            order.len()
        )));
    }
    // One class after another, dealt out to the folds in turn.
    order.sort_by_key(|&n| corpus.targets[n]);
    let parts = (0..folds).map(|fold| {
        let held_out: Vec<usize> = order.iter().skip(fold).step_by(folds).copied().collect();
        let mut is_trained = vec![true; count];
        held_out.iter().for_each(|&n| is_trained[n] = false);
        let rest: Vec<usize> = (0..count).filter(|&n| is_trained[n]).collect();
        (corpus.subset(&rest), Development::new(corpus, &corpus.subset(&held_out)))
    });
    Ok(parts.collect())
}
