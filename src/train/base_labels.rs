//! The labels of the models that training continues from.

use super::base_models::BaseModels;
use super::labels::TrainingLabels;
use crate::error::Result;
use crate::label::Scheme;

impl TrainingLabels {
    /// Puts the labels of models first, and adopts their scheme. There are no other labels yet.
    pub(super) fn continuing(mut self, models: &BaseModels<'_>) -> Result<Self> {
        let Some(model) = models.first() else {
            return Ok(self);
        };
        let header = model.header();
        self.is_converted =
            self.has_spans && header.scheme != Scheme::Raw && header.scheme != self.corpus_scheme;
        self.scheme = header.scheme;
        self.corpus_scheme = header.corpus_scheme;
        self.has_spans |= header.encodes_spans();
        for (_, model) in models.iter() {
            for label in model.header().labels.names() {
                self.set.insert(label)?;
            }
        }
        Ok(self)
    }

    /// Returns the conflict between the labels of the training data, of which only the kind is
    /// known yet, and those of the first model: only one of them encodes spans.
    pub(super) fn conflict<'a>(&self, models: &BaseModels<'a>) -> Option<LabelConflict<'a>> {
        let has_model_spans = models.first()?.header().encodes_spans();
        (self.has_spans != has_model_spans).then_some(LabelConflict {
            models: *models,
            has_spans: self.has_spans,
            scheme: self.data_scheme,
        })
    }
}

/// A conflict between labels that encode spans and others that do not.
pub(super) struct LabelConflict<'a> {
    models: BaseModels<'a>,
    has_spans: bool, // whether those of the training data do
    scheme: Scheme,  // of the training data
}

impl LabelConflict<'_> {
    /// Returns the first label of a sentence that does not fit the model, and a message. The label
    /// `O` fits every model.
    pub fn find(&self, labels: &[&str]) -> Option<(usize, String)> {
        let misfits = |label: &&str| {
            *label != "O"
                && self.has_spans != self.scheme.spans(std::slice::from_ref(label)).is_empty()
        };
        let t = labels.iter().position(misfits)?;
        let (role, model) = self.models.iter().next()?;
        let [found, expected] = [self.has_spans, !self.has_spans].map(|has_spans| {
            if has_spans {
                "encode spans"
            } else {
                "encode no spans"
            }
        });
        let message = format!(
            "the label '{}': the labels of these data {found}, those of the model of {role}, {}, \
             {expected}; expected labels of the same kind (is this the label column?)",
            labels[t],
            model.path().display()
        );
        Some((t, message))
    }
}
