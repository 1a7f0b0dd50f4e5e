//! From corpora to a training set, and what is reported of it before training.

use super::base_models::BaseModels;
use super::corpora::TrainingCorpora;
use super::development::DevelopmentSet;
use super::events::{DataSizes, ModelSizes, Start};
use super::extracted::Extracted;
use super::extraction::Source;
use super::learner::fields;
use super::model_match::ModelMatch;
use super::settings::TrainSettings;
use super::training_set::TrainingSet;
use crate::error::Result;
use crate::extract::Classes;
use crate::memory::MemoryLimit;
use crate::simd;
use crate::template::Template;

impl TrainingSet {
    /// Extracts the attributes of `corpora` as [`Trainer::train`](super::Trainer::train) does.
    ///
    /// # Errors
    ///
    /// Same as [`Trainer::train`](super::Trainer::train).
    pub fn new(
        corpora: impl Into<TrainingCorpora>,
        template: impl Into<Option<Template>>,
        settings: &TrainSettings,
    ) -> Result<Self> {
        let source = Source::Text(corpora.into(), template.into());
        let extracted = source.extract(settings, &BaseModels::default(), MemoryLimit::default())?;
        Ok(Self::of(extracted, settings.options()))
    }

    /// Returns the event before the first iteration of training.
    pub(super) fn start_event(&self, settings: &TrainSettings) -> Start {
        let Extracted { data, labels, development, .. } = &self.extracted;
        let per_token = |entries: usize| entries as f64 / data.tokens().max(1) as f64;
        let [active_per_token, collapsed_active_per_token] = self.entries.map(per_token);
        let mut reading = self.extracted.reading();
        if !simd::has_fused_multiply_add() {
            reading.push(
                "warning: this processor has no fused multiply-add instructions; training gives \
                 the same model, but takes many times as long"
                    .to_owned(),
            );
        }
        if settings.options().max_iterations != Some(0) {
            reading.extend(ModelMatch::warning(&self.matches));
        }
        Start {
            options: fields(settings).into(),
            data: DataSizes {
                sentences: data.labeled(),
                tokens: data.labels.len(),
                total_weight: data.weights.is_some().then(|| data.total_weights()[0]),
                partial_tokens: data.partial_tokens(),
                unlabeled_sentences: data.len() - data.labeled(),
                dev_sentences: development.as_ref().map_or(0, DevelopmentSet::len),
                dev_units: development.as_ref().map_or(0, DevelopmentSet::units),
                labels: labels.set.len(),
            },
            reading,
            model: ModelSizes {
                attributes: self.attributes(),
                collapsed_attributes: self.classes.iter().map(Classes::len).sum(),
                parameters: self.space.dimension(),
                weights: self.weights(),
                active_per_token,
                collapsed_active_per_token,
            },
            estimated_memory: self.memory().saturating_add(self.memory_to_train(settings)),
        }
    }
}
