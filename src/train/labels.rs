//! The labels of a training corpus and their conversion between schemes.

use super::base_models::BaseModels;
use super::options::TrainOptions;
use super::partial_labels::{allowed_labels, check_legality, converted_labels};
use crate::chain::LabelWeights;
use crate::error::{Error, Result};
use crate::extract::AttributeCorpus;
use crate::ids::LabelId;
use crate::label::{LabelSet, Scheme, SchemeDetector, convert, spans};
use crate::model::MAX_LABELS;
use crate::sentence::{Sentence, TokenLabel};

/// The labels of a training corpus and their schemes.
#[derive(Clone, Debug, Hash)]
pub(super) struct TrainingLabels {
    /// The labels of the model.
    pub set: LabelSet,
    /// Scheme of the labels of the model.
    pub scheme: Scheme,
    /// Scheme of the corpus.
    pub corpus_scheme: Scheme,
    /// Whether the labels of the corpus are converted.
    pub is_converted: bool,
    /// Whether the labels of the corpus encode any span.
    pub has_spans: bool,
}

/// The labels of a sentence and, if some are partial, those that each token may have.
type Sequence<'a> = (Vec<&'a str>, Option<Vec<Vec<&'a str>>>);

impl TrainingLabels {
    /// Collects the labels of the models that training continues from, then those of the training
    /// sentences, converted to the scheme of the models or else of the options.
    pub fn new(
        sentences: &[Sentence],
        options: &TrainOptions,
        models: &BaseModels<'_>,
    ) -> Result<Self> {
        let sequence = |sentence| {
            let is_partial = Sentence::first_partial_label(sentence).is_some();
            let labels = gold(sentence)?;
            Ok((labels, is_partial.then(|| allowed_labels(sentence))))
        };
        let labels = Self::without_labels(sentences.iter().map(sequence), options)?;
        if let Some(conflict) = labels.conflict(models) {
            for sentence in sentences {
                if let Some((t, message)) = conflict.find(&known(sentence)?) {
                    return Err(Error::input(sentence.place(t), message));
                }
            }
        }
        let mut labels = labels.continuing(models)?;
        for sentence in sentences {
            labels.insert(sentence)?;
        }
        if labels.set.is_empty() {
            return Err(Error::parameter(
                "no token of the training data has a label; expected some",
            ));
        }
        if !labels.is_converted {
            check_legality(sentences, &labels.set, labels.scheme)?;
        }
        Ok(labels)
    }

    /// Like [`new`](Self::new), of an attribute corpus.
    pub fn of_attributes(
        corpus: &AttributeCorpus,
        options: &TrainOptions,
        models: &BaseModels<'_>,
    ) -> Result<Self> {
        let sentences = 0..corpus.labeled().len();
        let sequences = sentences.clone().map(|i| Ok((corpus.label_names(i), None)));
        let labels = Self::without_labels(sequences, options)?;
        if let Some(conflict) = labels.conflict(models) {
            for i in sentences.clone() {
                if let Some((t, message)) = conflict.find(&corpus.label_names(i)) {
                    let (sentence, token) = (i + 1, t + 1);
                    return Err(Error::parameter(format!(
                        "labeled sentence {sentence}, token {token}: {message}"
                    )));
                }
            }
        }
        let mut labels = labels.continuing(models)?;
        for i in sentences {
            for label in labels.converted(&corpus.label_names(i)) {
                labels.set.insert(&label)?;
            }
        }
        if labels.set.len() > MAX_LABELS {
            return Err(Error::parameter(format!(
                "{} labels; at most {MAX_LABELS} can be trained",
                labels.set.len()
            )));
        }
        Ok(labels)
    }

    /// Detects the scheme of label sequences, without collecting the labels.
    fn without_labels<'a>(
        sequences: impl Iterator<Item = Result<Sequence<'a>>>,
        options: &TrainOptions,
    ) -> Result<Self> {
        let mut detector = SchemeDetector::new();
        let mut has_spans = false;
        for sequence in sequences {
            let (labels, partial) = sequence?;
            if let Some(allowed) = partial {
                let mut labels = allowed.iter().flatten();
                has_spans = has_spans || labels.any(|label| !spans(&[label]).is_empty());
                detector.observe_partial(&allowed);
                continue;
            }
            has_spans = has_spans || !spans(&labels).is_empty();
            detector.observe(&labels);
        }
        let (corpus_scheme, _) = detector.prevailing();
        let is_converted = options.scheme != Scheme::Raw && options.scheme != corpus_scheme;
        if is_converted && !has_spans {
            return Err(Error::parameter(format!(
                "--scheme {}: the labels encode no spans (B-X, I-X, …); omit the option",
                options.scheme
            )));
        }
        Ok(Self {
            set: LabelSet::new(),
            scheme: if is_converted {
                options.scheme
            } else {
                corpus_scheme
            },
            corpus_scheme,
            is_converted,
            has_spans,
        })
    }

    /// Adds the labels of a sentence to the set.
    fn insert(&mut self, sentence: &Sentence) -> Result<()> {
        let sets = self.model_sets(sentence)?;
        let labels = (0..)
            .zip(&sets)
            .flat_map(|(t, set)| set.iter().map(move |l| (t, l)));
        for (t, label) in labels {
            self.set.insert(label)?;
            if self.set.len() > MAX_LABELS {
                let message = format!(
                    "'{label}' is one label too many: at most {MAX_LABELS} can be trained \
                     (is this the label column?)"
                );
                return Err(Error::input(sentence.place(t), message));
            }
        }
        Ok(())
    }

    /// Returns the label outside of all spans, if the labels encode spans.
    pub fn outside(&self) -> Option<LabelId> {
        self.has_spans.then(|| self.set.id("O")).flatten()
    }

    /// Subtracts `bias` from the score of the outside label at every token: from its start weight
    /// and from all transitions into it.
    pub fn add_recall_bias(&self, bias: f64, weights: &mut LabelWeights) {
        let Some(outside) = self.outside() else {
            return;
        };
        let k = self.set.len();
        weights.start[outside.index()] -= bias;
        for row in weights.transitions.chunks_exact_mut(k) {
            row[outside.index()] -= bias;
        }
    }

    /// Returns the ids of the labels that each token of a sentence may have, none for any.
    pub fn ids(&self, sentence: &Sentence) -> Result<Vec<Vec<LabelId>>> {
        let sets = self.model_sets(sentence)?;
        let id = |t: usize, label: &String| {
            self.set.id(label).ok_or_else(|| {
                Error::input(sentence.place(t), format!("the label '{label}' is unknown"))
            })
        };
        let sets = sets.iter().enumerate();
        sets.map(|(t, set)| set.iter().map(|label| id(t, label)).collect())
            .collect()
    }

    /// Returns the ids of all gold labels of an attribute corpus.
    pub fn attribute_ids(&self, corpus: &AttributeCorpus) -> Result<Vec<LabelId>> {
        let mut ids = Vec::with_capacity(corpus.labeled().tokens());
        for i in 0..corpus.labeled().len() {
            for label in self.converted(&corpus.label_names(i)) {
                let id = self
                    .set
                    .id(&label)
                    .ok_or_else(|| Error::parameter(format!("the label '{label}' is unknown")))?;
                ids.push(id);
            }
        }
        Ok(ids)
    }

    /// Returns the labels that each token of a sentence may have in the scheme of the model, none
    /// for any.
    fn model_sets(&self, sentence: &Sentence) -> Result<Vec<Vec<String>>> {
        let labels = gold(sentence)?;
        let is_partial = sentence.first_partial_label().is_some();
        Ok(match (is_partial, self.is_converted) {
            (true, true) => converted_labels(sentence, self.corpus_scheme, self.scheme)?,
            (true, false) => {
                let sets = allowed_labels(sentence).into_iter();
                sets.map(|set| set.into_iter().map(str::to_owned).collect())
                    .collect()
            }
            (false, _) => {
                let labels = self.converted(&labels).into_iter();
                labels.map(|label| vec![label]).collect()
            }
        })
    }

    /// Returns labels in the scheme of the model.
    fn converted(&self, labels: &[&str]) -> Vec<String> {
        if self.is_converted {
            convert(labels, self.scheme)
        } else {
            labels.iter().map(|&label| label.to_owned()).collect()
        }
    }
}

/// Returns the labels of a sentence, `O` for unknown ones.
fn known(sentence: &Sentence) -> Result<Vec<&str>> {
    let mut labels = gold(sentence)?;
    for (t, label) in labels.iter_mut().enumerate() {
        if sentence.partial_label(t) == Some(&TokenLabel::Unknown) {
            *label = "O";
        }
    }
    Ok(labels)
}

fn gold(sentence: &Sentence) -> Result<Vec<&str>> {
    sentence.labels().ok_or_else(|| {
        Error::input(
            sentence.place(0),
            "found no label column; training needs labels (choose the column with --label)",
        )
    })
}
