//! The training sets of a search: per template, with development data or folds.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use dropchain::corpus::Corpus;
use dropchain::error::Result;
use dropchain::template::Template;
use dropchain::train::{
    BaseModels, ExtractedCorpora, Folds, ModelMatch, TrainSettings, TrainingCorpora, TrainingSet,
    check_line_options, check_one_pass,
};

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
    fingerprints: Vec<(String, u64)>, // of the corpora and the models, with names
    matches: Vec<Vec<ModelMatch>>,    // [templates]
    templates: Vec<Option<Template>>,
}

enum Sets {
    Dev(Vec<TrainingSet>),
    Folds {
        corpora_by_template: Vec<ExtractedCorpora>,
        /// Without borders of folds in documents, if there are any.
        whole_by_template: Vec<Option<ExtractedCorpora>>,
        folds: Folds,
    },
}

impl TuningData {
    /// Extracts attributes, once per template (`None`: the attributes that come with the
    /// sentences).
    ///
    /// # Errors
    ///
    /// Same as [`Trainer::train`](dropchain::Trainer::train).
    pub fn extract(
        corpora: &TrainingCorpora,
        templates: Vec<Option<Template>>,
        validation: Validation,
        settings: &TrainSettings,
    ) -> Result<Self> {
        Self::from_models(
            corpora,
            templates,
            validation,
            settings,
            &BaseModels::default(),
        )
    }

    /// Like [`extract`](Self::extract), for a search in which every training continues from the
    /// same models. Their structure must be that of the settings, which should be
    /// [continuing](TrainSettings::continuing).
    ///
    /// # Errors
    ///
    /// Same as [`Trainer::train`](dropchain::Trainer::train).
    pub fn from_models(
        corpora: &TrainingCorpora,
        templates: Vec<Option<Template>>,
        validation: Validation,
        settings: &TrainSettings,
        models: &BaseModels<'_>,
    ) -> Result<Self> {
        for template in templates.iter().flatten() {
            check_one_pass(template, &corpora.labeled)?;
        }
        let all = templates.clone();
        let templates = templates.into_iter();
        let mut fingerprints = vec![
            ("training data".to_owned(), fingerprint(&corpora.labeled)),
            (
                "development data".to_owned(),
                corpora.dev.as_ref().map_or(0, fingerprint),
            ),
            ("unlabeled text".to_owned(), fingerprint(&corpora.unlabeled)),
        ];
        for (role, model) in models.iter() {
            let sum = model.fingerprint()?;
            fingerprints.push((role.to_string(), (sum >> 64 ^ sum) as u64));
        }
        let mut matches = Vec::new();
        let sets = match validation {
            Validation::Dev => {
                let mut set = |template| {
                    let extracted =
                        ExtractedCorpora::from_models(corpora.clone(), template, settings, models)?;
                    matches.push(extracted.matches());
                    Ok(extracted.into_training_set(settings))
                };
                Sets::Dev(templates.map(&mut set).collect::<Result<_>>()?)
            }
            Validation::Folds(folds) => {
                let parts = folds.parts();
                let mut whole_by_template = Vec::new();
                let mut extract = |mut template: Option<Template>| {
                    if let Some(template) = &mut template {
                        template.set_parts(Arc::clone(&parts));
                    }
                    let mut corpora = TrainingCorpora {
                        dev: None,
                        ..corpora.clone()
                    };
                    let documents = template.as_ref().and_then(Template::documents);
                    let mut whole = None;
                    if let Some(documents) = documents {
                        let mut separate = corpora.labeled.clone().into_sentences();
                        if folds.separate(&mut separate, documents.rule) {
                            let template = template.clone();
                            whole = Some(ExtractedCorpora::from_models(
                                corpora.clone(),
                                template,
                                settings,
                                models,
                            )?);
                            corpora.labeled = separate.into();
                        }
                    }
                    whole_by_template.push(whole);
                    let extracted = ExtractedCorpora::for_cross_validation(
                        corpora, template, settings, models,
                    )?;
                    matches.push(extracted.matches());
                    Ok(extracted)
                };
                let corpora_by_template: Vec<ExtractedCorpora> =
                    templates.map(&mut extract).collect::<Result<_>>()?;
                if let Some(corpora) = corpora_by_template.first() {
                    corpora.check_folds(folds.held_out())?;
                }
                Sets::Folds {
                    corpora_by_template,
                    whole_by_template,
                    folds,
                }
            }
        };
        Ok(Self {
            sets,
            fingerprints,
            matches,
            templates: all,
        })
    }

    /// Returns what the training data of each template have in common with the models that
    /// training continues from.
    #[must_use]
    pub fn matches(&self) -> &[Vec<ModelMatch>] {
        &self.matches
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
        let corpora = self.fingerprints.clone();
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

    /// Checks the options of the lines of a template.
    pub(super) fn check_line_options(
        &self,
        template: usize,
        settings: &TrainSettings,
    ) -> Result<()> {
        match &self.templates[template] {
            Some(template) => check_line_options(template, settings),
            None => Ok(()),
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
                ..
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
                mut whole_by_template,
                ..
            } => whole_by_template
                .swap_remove(template)
                .unwrap_or_else(|| corpora_by_template.swap_remove(template))
                .into_training_set(settings),
        }
    }

    /// Returns the memory usage in bytes, for the whole search.
    pub(super) fn memory(&self) -> usize {
        match &self.sets {
            Sets::Dev(sets) => sets.iter().map(TrainingSet::memory).sum(),
            Sets::Folds {
                corpora_by_template,
                whole_by_template,
                ..
            } => (corpora_by_template.iter())
                .chain(whole_by_template.iter().flatten())
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
        if let Some(joined) = schema.joined() {
            joined.hash(&mut hasher);
        }
        (sentence.layout.document_start, sentence.len()).hash(&mut hasher);
        if sentence.weight() != 1.0 {
            sentence.weight().to_bits().hash(&mut hasher);
        }
        for t in 0..sentence.len() {
            sentence.cells(t).for_each(|cell| cell.hash(&mut hasher));
            if let Some(label) = sentence.partial_label(t) {
                label.labels().hash(&mut hasher);
            }
            let attributes = sentence.attributes.iter();
            for (name, value) in attributes
                .clone()
                .flat_map(|attributes| attributes.token(t))
            {
                (name, value.to_bits()).hash(&mut hasher);
            }
            for (name, value) in attributes.flat_map(|attributes| attributes.edge(t)) {
                ("edge", name, value.to_bits()).hash(&mut hasher);
            }
        }
    }
    hasher.finish()
}
