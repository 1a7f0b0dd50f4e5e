//! The training sets of a search: per template, with development data or folds.

use std::hash::{Hash, Hasher};

use xxhash_rust::xxh3::Xxh3;

use super::folds::Folds;
use crate::corpus::Corpus;
use crate::error::Result;
use crate::template::Template;
use crate::train::{ExtractedCorpora, TrainSettings, TrainingCorpora, TrainingSet};

/// The data that configurations are scored on.
#[derive(Clone, Debug)]
pub enum Validation {
    /// The development data of the [`TrainingCorpora`].
    Dev,
    /// Held-out folds (cross-validation).
    Folds(Folds),
}

/// The extracted corpora of a search, for each template.
pub struct TuningData {
    sets: Sets,
    corpora: [(&'static str, u64); 3], // names and fingerprints
}

enum Sets {
    Dev(Vec<TrainingSet>),
    Folds {
        corpora_by_template: Vec<ExtractedCorpora>,
        folds: Folds,
    },
}

impl TuningData {
    /// Extracts attributes, once per template (`None`: the attributes that come with the
    /// sentences).
    ///
    /// # Errors
    ///
    /// Same as [`Trainer::train`](crate::Trainer::train).
    pub fn extract(
        corpora: &TrainingCorpora,
        templates: Vec<Option<Template>>,
        validation: Validation,
        settings: &TrainSettings,
    ) -> Result<Self> {
        let templates = templates.into_iter();
        let fingerprints = [
            ("training data", fingerprint(&corpora.labeled)),
            (
                "development data",
                corpora.dev.as_ref().map_or(0, fingerprint),
            ),
            ("unlabeled text", fingerprint(&corpora.unlabeled)),
        ];
        let sets = match validation {
            Validation::Dev => {
                let set = |template| TrainingSet::new(corpora.clone(), template, settings);
                Sets::Dev(templates.map(set).collect::<Result<_>>()?)
            }
            Validation::Folds(folds) => {
                let extract = |template| {
                    let corpora = TrainingCorpora {
                        dev: None,
                        ..corpora.clone()
                    };
                    ExtractedCorpora::for_cross_validation(corpora, template, settings)
                };
                let corpora_by_template = templates.map(extract).collect::<Result<_>>()?;
                Sets::Folds {
                    corpora_by_template,
                    folds,
                }
            }
        };
        Ok(Self {
            sets,
            corpora: fingerprints,
        })
    }

    /// Returns names and fingerprints of all that the matrices depend on.
    pub(super) fn fingerprints(&self) -> Vec<(String, u64)> {
        let templates: Vec<u64> = match &self.sets {
            Sets::Dev(sets) => sets.iter().map(TrainingSet::fingerprint).collect(),
            Sets::Folds {
                corpora_by_template,
                ..
            } => {
                let all = corpora_by_template.iter();
                all.map(ExtractedCorpora::fingerprint).collect()
            }
        };
        let corpora = self.corpora.map(|(name, sum)| (name.to_owned(), sum));
        let templates = templates.into_iter().enumerate();
        let templates =
            templates.map(|(i, sum)| (format!("attributes of template {}", i + 1), sum));
        corpora.into_iter().chain(templates).collect()
    }

    /// Returns the number of templates.
    pub(super) fn templates(&self) -> usize {
        match &self.sets {
            Sets::Dev(sets) => sets.len(),
            Sets::Folds {
                corpora_by_template,
                ..
            } => corpora_by_template.len(),
        }
    }

    /// Returns the number of trainings per configuration: 1 with development data.
    pub(super) fn folds(&self) -> usize {
        match &self.sets {
            Sets::Dev(_) => 1,
            Sets::Folds { folds, .. } => folds.held_out().len(),
        }
    }

    /// Returns whether scores are means over folds.
    pub(super) fn has_folds(&self) -> bool {
        matches!(self.sets, Sets::Folds { .. })
    }

    /// Calls `work` with the training set of a fold.
    pub(super) fn with_training_set<T>(
        &self,
        template: usize,
        fold: usize,
        settings: &TrainSettings,
        work: impl FnOnce(&TrainingSet) -> Result<T>,
    ) -> Result<T> {
        match &self.sets {
            Sets::Dev(sets) => work(&sets[template]),
            Sets::Folds {
                corpora_by_template,
                folds,
            } => work(&corpora_by_template[template].hold_out(&folds.held_out()[fold], settings)?),
        }
    }

    /// Returns the training set of the final model: all labeled sentences, with one template.
    pub(super) fn into_training_set(
        self,
        template: usize,
        settings: &TrainSettings,
    ) -> TrainingSet {
        match self.sets {
            Sets::Dev(mut sets) => sets.swap_remove(template),
            Sets::Folds {
                mut corpora_by_template,
                ..
            } => corpora_by_template
                .swap_remove(template)
                .into_training_set(settings),
        }
    }

    /// Returns the memory usage in bytes, for the whole search.
    pub(super) fn memory(&self) -> usize {
        match &self.sets {
            Sets::Dev(sets) => sets.iter().map(TrainingSet::memory).sum(),
            Sets::Folds {
                corpora_by_template,
                ..
            } => corpora_by_template
                .iter()
                .map(ExtractedCorpora::memory)
                .sum(),
        }
    }
}

/// Returns a fingerprint of everything in a corpus that training depends on.
fn fingerprint(corpus: &Corpus) -> u64 {
    let mut hasher = Xxh3::new();
    for sentence in corpus {
        let schema = sentence.schema();
        (schema.names(), schema.label()).hash(&mut hasher);
        (sentence.layout.document_start, sentence.len()).hash(&mut hasher);
        for t in 0..sentence.len() {
            sentence.cells(t).for_each(|cell| cell.hash(&mut hasher));
            let attributes = sentence.attributes.iter();
            for (name, value) in attributes.flat_map(|attributes| attributes.token(t)) {
                (name, value.to_bits()).hash(&mut hasher);
            }
        }
    }
    hasher.finish()
}
