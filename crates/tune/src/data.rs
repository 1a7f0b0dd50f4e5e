//! The training sets of a search: per template, with development data or folds.

use std::hash::{Hash, Hasher};

use xxhash_rust::xxh3::Xxh3;

use dropchain::Sentence;
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
    sets: Vec<Set>,
    templates: Vec<Option<Template>>,
    matches: Vec<Vec<ModelMatch>>, // [templates]
    folds: Option<Folds>,
    reading: Vec<String>,
    dev_units: Option<usize>,
    fingerprints: Vec<(String, u64)>, // of all that the sets depend on, with names
}

/// What is extracted with a template.
enum Set {
    Dev(Box<TrainingSet>),
    Folds {
        corpora: Box<ExtractedCorpora>,
        /// Without borders of folds in documents, if there are any.
        whole: Option<Box<ExtractedCorpora>>,
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
        Self::from_models(corpora, templates, validation, settings, &BaseModels::default())
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
        let mut data = Self {
            sets: Vec::new(),
            matches: Vec::new(),
            folds: match validation {
                Validation::Dev => None,
                Validation::Folds(folds) => Some(folds),
            },
            reading: Vec::new(),
            dev_units: None,
            fingerprints: vec![
                ("training data".to_owned(), fingerprint(&corpora.labeled)),
                ("development data".to_owned(), corpora.dev.as_ref().map_or(0, fingerprint)),
                ("unlabeled text".to_owned(), fingerprint(&corpora.unlabeled)),
            ],
            templates,
        };
        if data.folds.is_none() {
            data.dev_units = corpora.dev.as_ref().map(|dev| units(corpora, dev, settings));
        }
        for (role, model) in models.iter() {
            let sum = model.fingerprint()?;
            let sum = (sum >> 64 ^ sum) as u64;
            data.fingerprints.push((role.to_string(), sum));
        }
        for (i, template) in data.templates.clone().into_iter().enumerate() {
            let (set, fingerprint) = match &data.folds {
                None => {
                    let corpora = corpora.clone();
                    let extracted =
                        ExtractedCorpora::from_models(corpora, template, settings, models)?;
                    data.matches.push(extracted.matches());
                    data.reading = extracted.reading();
                    let set = extracted.into_training_set(settings);
                    let fingerprint = set.fingerprint();
                    (Set::Dev(Box::new(set)), fingerprint)
                }
                Some(folds) => {
                    let (extracted, whole) =
                        extract_folds(corpora, template, folds, settings, models)?;
                    if i == 0 {
                        extracted.check_folds(folds.held_out())?;
                    }
                    data.matches.push(extracted.matches());
                    data.reading = extracted.reading();
                    let (fingerprint, corpora) = (extracted.fingerprint(), Box::new(extracted));
                    let whole = whole.map(Box::new);
                    (Set::Folds { corpora, whole }, fingerprint)
                }
            };
            data.sets.push(set);
            let name = format!("attributes of template {}", i + 1);
            data.fingerprints.push((name, fingerprint));
        }
        Ok(data)
    }

    /// Says how the training data were read: labels and columns, then warnings.
    pub fn reading(&self) -> &[String] {
        &self.reading
    }

    /// Returns the number of gold spans of the development data, of tokens if the labels encode no
    /// spans; `None` with folds.
    pub fn dev_units(&self) -> Option<usize> {
        self.dev_units
    }

    /// Returns what the training data of each template have in common with the models that
    /// training continues from.
    pub fn matches(&self) -> &[Vec<ModelMatch>] {
        &self.matches
    }

    /// Returns names and fingerprints of all that the matrices depend on.
    pub(super) fn fingerprints(&self) -> &[(String, u64)] {
        &self.fingerprints
    }

    /// Returns the number of templates.
    pub(super) fn templates(&self) -> usize {
        self.sets.len()
    }

    /// Checks the options of the lines of a template.
    pub(super) fn check_line_options(
        &self,
        template: usize,
        settings: &TrainSettings,
    ) -> Result<()> {
        check_line_options(self.templates[template].as_ref(), settings)
    }

    /// Returns the number of trainings per configuration: 1 with development data.
    pub(super) fn folds(&self) -> usize {
        (self.folds.as_ref()).map_or(1, |folds| folds.held_out().len())
    }

    /// Returns whether scores are means over folds.
    pub(super) fn has_folds(&self) -> bool {
        self.folds.is_some()
    }

    /// Calls `work` with the training set of a fold.
    pub(super) fn with_training_set<T>(
        &self,
        template: usize,
        fold: usize,
        settings: &TrainSettings,
        work: impl FnOnce(&TrainingSet) -> Result<T>,
    ) -> Result<T> {
        match (&self.sets[template], &self.folds) {
            (Set::Dev(set), _) => work(set),
            (Set::Folds { corpora, .. }, folds) => {
                let held_out = folds.as_ref().map_or(&[][..], |f| &f.held_out()[fold]);
                work(&corpora.hold_out(held_out, settings)?)
            }
        }
    }

    /// Returns the training set of the final model: all labeled sentences, with one template.
    pub(super) fn into_training_set(
        mut self,
        template: usize,
        settings: &TrainSettings,
    ) -> TrainingSet {
        match self.sets.swap_remove(template) {
            Set::Dev(set) => *set,
            Set::Folds { corpora, whole } => whole.unwrap_or(corpora).into_training_set(settings),
        }
    }

    /// Returns the memory usage in bytes, for the whole search.
    pub(super) fn memory(&self) -> usize {
        let memory = |set: &Set| match set {
            Set::Dev(set) => set.memory(),
            Set::Folds { corpora, whole } => {
                corpora.memory() + whole.as_ref().map_or(0, |whole| whole.memory())
            }
        };
        self.sets.iter().map(memory).sum()
    }
}

/// Extracts attributes for folds; also, if there are borders of folds in documents, without these.
fn extract_folds(
    corpora: &TrainingCorpora,
    mut template: Option<Template>,
    folds: &Folds,
    settings: &TrainSettings,
    models: &BaseModels<'_>,
) -> Result<(ExtractedCorpora, Option<ExtractedCorpora>)> {
    if let Some(template) = &mut template {
        template.set_parts(folds.parts());
    }
    let mut corpora = TrainingCorpora { dev: None, ..corpora.clone() };
    let mut whole = None;
    if let Some(documents) = template.as_ref().and_then(Template::documents) {
        let mut separate = corpora.labeled.clone().into_sentences();
        if folds.separate(&mut separate, documents.rule) {
            let (all, template) = (corpora.clone(), template.clone());
            whole = Some(ExtractedCorpora::from_models(all, template, settings, models)?);
            corpora.labeled = separate.into();
        }
    }
    let extracted = ExtractedCorpora::for_cross_validation(corpora, template, settings, models)?;
    Ok((extracted, whole))
}

/// Returns what scores on development data count: gold spans, or tokens.
fn units(corpora: &TrainingCorpora, dev: &Corpus, settings: &TrainSettings) -> usize {
    let train = corpora.labeled.iter().filter_map(Sentence::labels);
    let labeling = settings.options().detector().after(train).detected().labeling;
    let units = dev.iter().filter_map(|sentence| {
        let labels = sentence.labels()?;
        Some(match labeling.scheme.has_spans() {
            true => labeling.spans(&labels).len(),
            false => labels.len(),
        })
    });
    units.sum()
}

/// Returns a fingerprint of the text of a corpus.
fn fingerprint(corpus: &Corpus) -> u64 {
    let mut hasher = Xxh3::new();
    for sentence in corpus {
        (sentence.layout.document_start, sentence.len()).hash(&mut hasher);
        for t in 0..sentence.len() {
            sentence.cells(t).for_each(|cell| cell.hash(&mut hasher));
        }
    }
    hasher.finish()
}
