//! The data of a search, and those of each run.

use std::hash::{Hash, Hasher};

use xxhash_rust::xxh3::Xxh3;

use dropchain::corpus::Corpus;
use dropchain::kernel::train::{Folds, is_content};
use dropchain::label::Labeling;
use dropchain::template::Template;
use dropchain::train::{BaseModels, TrainSettings, TrainingCorpora};
use dropchain::{Error, Result, Sentence};

/// The data of a search.
#[derive(Clone, Debug)]
pub struct TuningData<'a> {
    /// The corpora, with development data unless there are folds.
    pub corpora: TrainingCorpora,
    /// The templates to compare; `None`: the attributes that come with the sentences, or the
    /// template of a model that training continues from.
    pub templates: Vec<Option<Template>>,
    /// Folds to hold out, if configurations are scored by cross-validation.
    pub folds: Option<Folds>,
    /// The models that every run continues from.
    pub models: BaseModels<'a>,
}

impl TuningData<'_> {
    /// Returns the number of runs per configuration: 1 with development data.
    pub(super) fn runs(&self) -> usize {
        self.folds.as_ref().map_or(1, |folds| folds.held_out.len())
    }

    /// Returns the corpora of the runs on a fold, whose held-out sentences are the development
    /// data; without a fold, all of them.
    ///
    /// # Errors
    ///
    /// No held-out sentence has one label for every token.
    pub(super) fn corpora(&self, template: usize, fold: Option<usize>) -> Result<TrainingCorpora> {
        let Some((folds, fold)) = self.folds.as_ref().zip(fold) else {
            let dev = self.corpora.dev.clone().filter(|_| self.folds.is_none());
            return Ok(TrainingCorpora { dev, ..self.corpora.clone() });
        };
        let [rest, held_out] = self.parts(folds, template, fold);
        let is_scored = |sentence: &&Sentence| sentence.first_partial_label().is_none();
        let dev: Corpus = held_out.iter().filter(is_scored).cloned().collect();
        if !dev.iter().any(is_content) {
            return Err(Error::parameter(format!(
                "no sentence of fold {} has one label for every token; expected fewer folds, or \
                 fewer partial labels",
                fold + 1
            )));
        }
        let unlabeled = self.corpora.unlabeled.clone();
        Ok(TrainingCorpora { unlabeled, ..TrainingCorpora::new(rest).dev(dev) })
    }

    /// Returns the sentences of all other folds, and those of a fold. Document boundaries are in
    /// both.
    pub(super) fn parts(&self, folds: &Folds, template: usize, fold: usize) -> [Corpus; 2] {
        let mut sentences = self.corpora.labeled.clone().into_sentences();
        let template = self.templates[template].as_ref().or_else(|| self.models.template());
        if let Some(documents) = template.and_then(Template::documents) {
            folds.separate(&mut sentences, documents.rule);
        }
        let held_out = &folds.held_out[fold];
        let (mut parts, mut number) = ([Corpus::new(), Corpus::new()], 0);
        for sentence in sentences {
            if is_content(&sentence) {
                let is_held_out = held_out.binary_search(&number).is_ok();
                parts[usize::from(is_held_out)].push(sentence);
                number += 1;
            } else {
                parts[0].push(sentence.clone());
                parts[1].push(sentence);
            }
        }
        parts
    }

    /// Returns the settings of the runs on folds, which read plain labels as the whole corpus does:
    /// the labels of a fold may look different, and its scores must have the same metric.
    pub(super) fn fold_settings(&self, settings: &TrainSettings) -> Result<TrainSettings> {
        let mut options = settings.all_options();
        options.labels.read_like(self.labeling(settings).scheme);
        TrainSettings::new(options)
    }

    /// Returns how the labels of the training data are read.
    pub(super) fn labeling(&self, settings: &TrainSettings) -> Labeling {
        settings.options().labels.detector().of(&self.corpora.labeled).detected().labeling
    }

    /// Returns a fingerprint of all that the runs read.
    pub(super) fn fingerprint(&self) -> Result<u64> {
        let mut hasher = Xxh3::new();
        let TrainingCorpora { labeled, dev, unlabeled, .. } = &self.corpora;
        for corpus in [Some(labeled), dev.as_ref(), Some(unlabeled)] {
            hasher.write_usize(corpus.map_or(usize::MAX, Corpus::len));
            for sentence in corpus.into_iter().flatten() {
                sentence.hash_content(&mut hasher);
                let Some(attributes) = &sentence.attributes else { continue };
                for t in 0..sentence.len() {
                    for (name, value) in attributes.token(t).chain(attributes.edge(t)) {
                        (name, value.to_bits()).hash(&mut hasher);
                    }
                    t.hash(&mut hasher);
                }
            }
        }
        for template in &self.templates {
            template.iter().for_each(|template| template.hash_content(&mut hasher));
            hasher.write_u8(0);
        }
        for (role, model) in self.models.iter() {
            (role.to_string(), model.fingerprint()?).hash(&mut hasher);
        }
        Ok(hasher.finish())
    }
}
