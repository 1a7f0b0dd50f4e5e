//! Complete training runs with a variant of the objective.

use super::Variant;
use dropchain::error::Result;
use dropchain::template::Template;
use dropchain::train::{DevScore, TrainSettings, Trainer, TrainingCorpora};
use dropchain_report::TrainingRun;

/// Trains a model with a variant of the objective, without noise for [`Variant::Likelihood`]; all
/// other settings are the same.
///
/// # Errors
///
/// Same as [`Trainer::new`] and [`Trainer::train`].
pub fn train(
    variant: Variant,
    settings: &TrainSettings,
    corpora: &TrainingCorpora,
    template: Option<&Template>,
) -> Result<TrainingRun> {
    let mut regularization = settings.regularization().clone();
    variant.apply(&mut regularization.noise);
    let end = Trainer::with_settings(settings.with_regularization(regularization)?)
        .train(corpora.clone(), template.cloned(), &mut ())?
        .end;
    let (mut dev_f1, mut dev_accuracy) = (None, None);
    match end.dev {
        Some(DevScore::F1(score)) => dev_f1 = Some(score),
        Some(DevScore::Accuracy(score)) => dev_accuracy = Some(score),
        None => {}
    }
    Ok(TrainingRun {
        engine: variant.name(),
        collapsed: variant.is_collapsed(),
        dev_f1,
        dev_accuracy,
        iterations: end.iterations,
        best_iteration: end.best_iteration,
        stop_reason: end.reason.name().to_owned(),
        seconds: end.time.as_secs_f64(),
    })
}
