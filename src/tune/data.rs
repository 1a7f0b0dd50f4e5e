//! What configurations are trained and scored on.

use super::folds::Folds;
use crate::error::Result;
use crate::template::Template;
use crate::train::{Corpora, Extracted, TrainOptions, TrainingSet};

/// How configurations are scored.
#[derive(Clone, Debug)]
pub enum Judge {
    /// On the development data of the [`Corpora`].
    Dev,
    /// By cross-validation.
    Folds(Folds),
}

/// The attributes of all sentences, under each template.
pub struct Data(Subjects);

enum Subjects {
    Dev(Vec<TrainingSet>),
    Folds {
        wholes: Vec<Extracted>,
        parts: Vec<Vec<usize>>,
    },
}

impl Data {
    /// Extracts attributes, once for each template (none: attributes that the sentences bring).
    ///
    /// # Errors
    ///
    /// Those of [`Trainer::train`](crate::Trainer::train).
    pub fn extract(
        corpora: &Corpora<'_>,
        templates: Vec<Option<Template>>,
        judge: &Judge,
        options: &TrainOptions,
    ) -> Result<Self> {
        let each = |template: Option<Template>| {
            let corpora = Corpora {
                sentences: corpora.sentences.clone(),
                unlabeled: corpora.unlabeled,
                dev: match judge {
                    Judge::Dev => corpora.dev.clone(),
                    Judge::Folds(_) => None,
                },
            };
            (corpora, template)
        };
        let templates = templates.into_iter().map(each);
        Ok(Self(match judge {
            Judge::Dev => {
                let material = |(corpora, template)| {
                    Ok(Extracted::new(corpora, template, options)?.material(options))
                };
                Subjects::Dev(templates.map(material).collect::<Result<_>>()?)
            }
            Judge::Folds(folds) => {
                let whole = |(corpora, template)| Extracted::to_be_cut(corpora, template, options);
                Subjects::Folds {
                    wholes: templates.map(whole).collect::<Result<_>>()?,
                    parts: folds.parts().to_vec(),
                }
            }
        }))
    }

    /// Number of templates.
    pub(super) fn templates(&self) -> usize {
        match &self.0 {
            Subjects::Dev(materials) => materials.len(),
            Subjects::Folds { wholes, .. } => wholes.len(),
        }
    }

    /// Trainings of a configuration: 1 with development data.
    pub(super) fn folds(&self) -> usize {
        match &self.0 {
            Subjects::Dev(_) => 1,
            Subjects::Folds { parts, .. } => parts.len(),
        }
    }

    /// Whether scores are means over folds.
    pub(super) fn has_folds(&self) -> bool {
        matches!(self.0, Subjects::Folds { .. })
    }

    /// Does something with what a fold is trained on.
    pub(super) fn with<T>(
        &self,
        template: usize,
        fold: usize,
        options: &TrainOptions,
        work: impl FnOnce(&TrainingSet) -> Result<T>,
    ) -> Result<T> {
        match &self.0 {
            Subjects::Dev(materials) => work(&materials[template]),
            Subjects::Folds { wholes, parts } => {
                work(&wholes[template].without(&parts[fold], options)?)
            }
        }
    }

    /// What a model is made of: everything under one template.
    pub(super) fn into_training_set(self, template: usize, options: &TrainOptions) -> TrainingSet {
        match self.0 {
            Subjects::Dev(mut materials) => materials.swap_remove(template),
            Subjects::Folds { mut wholes, .. } => wholes.swap_remove(template).material(options),
        }
    }

    /// Bytes that stay in memory for the whole search.
    pub(super) fn memory(&self) -> usize {
        match &self.0 {
            Subjects::Dev(materials) => materials.iter().map(TrainingSet::memory).sum(),
            Subjects::Folds { wholes, .. } => wholes.iter().map(Extracted::memory).sum(),
        }
    }
}
