//! Training to the end with every gradient.

use serde::Serialize;

use super::Variant;
use crate::error::Result;
use crate::sentence::Sentence;
use crate::template::Template;
use crate::train::{DevScore, TrainOptions, Trainer};

/// How training with a gradient ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    /// [`Variant::name`].
    pub engine: String,
    /// [`Variant::is_collapsed`].
    pub collapsed: bool,
    /// Best span F1 on development data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dev_f1: Option<f64>,
    /// Best accuracy on development data, where labels write no spans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dev_accuracy: Option<f64>,
    /// Iterations made.
    pub iterations: usize,
    /// The iteration with the best score.
    pub best_iteration: usize,
    /// Why it ended, as in run records: `patience`, `line_search`, …
    pub stop_reason: String,
    /// Seconds of training, without those of scoring development data.
    pub seconds: f64,
}

/// A training run with an engine; the likelihood is trained without noise, all else being equal.
///
/// # Errors
///
/// Those of [`Trainer::new`] and [`Trainer::train`].
pub fn train(
    engine: Variant,
    options: &TrainOptions,
    [sentences, dev]: [&[Sentence]; 2],
    template: Option<&Template>,
) -> Result<Run> {
    let mut options = options.clone();
    match engine.engine() {
        Some(engine) => options.gradient = engine,
        None => (options.dropout, options.edge_dropout) = (0.0, None),
    }
    let end = Trainer::new(options)?
        .train(
            sentences.to_vec(),
            Some(dev.to_vec()),
            template.cloned(),
            &mut (),
        )?
        .end;
    let (mut dev_f1, mut dev_accuracy) = (None, None);
    match end.dev {
        Some(DevScore::F1(score)) => dev_f1 = Some(score),
        Some(DevScore::Accuracy(score)) => dev_accuracy = Some(score),
        None => {}
    }
    Ok(Run {
        engine: engine.name(),
        collapsed: engine.is_collapsed(),
        dev_f1,
        dev_accuracy,
        iterations: end.iterations,
        best_iteration: end.best_iteration,
        stop_reason: end.reason.name().to_owned(),
        seconds: end.time.as_secs_f64(),
    })
}
