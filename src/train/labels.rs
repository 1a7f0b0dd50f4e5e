//! The labels of a training corpus and their conversion between schemes.

use super::base_models::BaseModels;
use super::labeled_sentence::LabeledSentence;
use super::options::AnyOptions;
use super::partial_labels::{check_legality, converted_labels};
use crate::chain::LabelWeights;
use crate::error::{Error, Result};
use crate::ids::LabelId;
use crate::label::{LabelSet, PlainLabels, Scheme, SchemeDetector};
use crate::model::MAX_LABELS;
use crate::sentence::JoinedColumns;

/// The labels of a training corpus and their schemes.
#[derive(Clone, Debug, Hash)]
pub(super) struct TrainingLabels {
    /// The labels of the model.
    pub set: LabelSet,
    /// Scheme of the labels of the model.
    pub scheme: Scheme,
    /// Scheme of the corpus, or of that of the model that training continues from.
    pub corpus_scheme: Scheme,
    /// Scheme of the training data.
    pub data_scheme: Scheme,
    /// Whether the labels of the corpus are converted.
    pub is_converted: bool,
    /// Whether the labels of the corpus encode any span.
    pub has_spans: bool,
    /// Whether the labels join columns.
    pub are_joined: bool,
}

/// What the labels of sentences tell of their scheme.
struct SchemeEvidence {
    detector: SchemeDetector,
    has_spans: bool, // some label is of a span
}

/// The ids of the labels of a sentence.
pub(super) enum LabelIds {
    /// Of each token, `[T]`.
    Gold(Vec<LabelId>),
    /// Those that each token may have, `[T]`; none for any.
    Allowed(Vec<Vec<LabelId>>),
}

impl TrainingLabels {
    /// Collects the labels of the models that training continues from, then those of the training
    /// sentences, converted to the scheme of the models or else of the options.
    pub fn new<S: LabeledSentence>(
        sentences: &[S],
        options: &AnyOptions,
        models: &BaseModels<'_>,
    ) -> Result<Self> {
        Self::including(&[], sentences, options, models)
    }

    /// Like [`new`](Self::new), with the labels `given` before those of the sentences, unless they
    /// are converted.
    pub fn including<S: LabeledSentence>(
        given: &[String],
        sentences: &[S],
        options: &AnyOptions,
        models: &BaseModels<'_>,
    ) -> Result<Self> {
        let labels = Self::without_labels(sentences, options, models)?;
        if let Some(conflict) = labels.conflict(models) {
            for sentence in sentences {
                if let Some((t, message)) = conflict.find(&known(sentence)?) {
                    return Err(sentence.fault(t, message));
                }
            }
        }
        let mut labels = labels.continuing(models)?;
        if !labels.is_converted {
            for label in given {
                labels.set.insert(label)?;
            }
        }
        for sentence in sentences {
            labels.insert(sentence)?;
        }
        labels.check_not_empty()?;
        labels.check_legality(sentences)?;
        Ok(labels)
    }

    fn check_not_empty(&self) -> Result<()> {
        if self.set.is_empty() {
            return Err(Error::parameter(
                "no token of the training data has a label; expected some",
            ));
        }
        Ok(())
    }

    /// Checks the partial labels of sentences whose labels are not converted.
    fn check_legality<S: LabeledSentence>(&self, sentences: &[S]) -> Result<()> {
        match self.is_converted {
            true => Ok(()),
            false => check_legality(sentences, self.corpus_scheme),
        }
    }

    /// Detects the scheme of labels, without collecting them.
    fn without_labels<S: LabeledSentence>(
        sentences: &[S],
        options: &AnyOptions,
        models: &BaseModels<'_>,
    ) -> Result<Self> {
        let plain = match models.first() {
            // What fits the model is not guessed: other labels may be those of a wrong column.
            Some(model) => match model.header().plain_labels(options.plain_labels) {
                PlainLabels::Auto => PlainLabels::Tags,
                choice => choice,
            },
            None => options.plain_labels,
        };
        let joined = sentences.first().and_then(LabeledSentence::joined);
        models.check_joined(joined)?;
        if let Some(joined) = joined {
            return Self::joined(joined, options);
        }
        Self::of_scheme(&SchemeEvidence::new(sentences, plain)?, options)
    }

    /// The schemes that the labels of a corpus are of, and are converted to.
    fn of_scheme(evidence: &SchemeEvidence, options: &AnyOptions) -> Result<Self> {
        let (corpus_scheme, _) = evidence.detector.prevailing();
        let has_spans = evidence.has_spans || corpus_scheme == Scheme::Plain;
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
            data_scheme: corpus_scheme,
            is_converted,
            has_spans,
            are_joined: false,
        })
    }

    /// The schemes of labels that join columns: they encode no spans, whatever their prefixes.
    fn joined(joined: &JoinedColumns, options: &AnyOptions) -> Result<Self> {
        if options.scheme != Scheme::Raw || options.plain_labels == PlainLabels::Spans {
            let option = match options.scheme {
                Scheme::Raw => "--plain-labels spans".to_owned(),
                scheme => format!("--scheme {scheme}"),
            };
            return Err(Error::parameter(format!(
                "{option}: the labels join columns ({}), so they encode no spans; omit the option",
                joined.name()
            )));
        }
        Ok(Self {
            set: LabelSet::new(),
            scheme: Scheme::Raw,
            corpus_scheme: Scheme::Raw,
            data_scheme: Scheme::Raw,
            is_converted: false,
            has_spans: false,
            are_joined: true,
        })
    }

    /// Adds the labels of a sentence to the set.
    fn insert(&mut self, sentence: &impl LabeledSentence) -> Result<()> {
        let converted = self.converted(sentence)?;
        let mut insert = |t: usize, label: &str| {
            self.set.insert(label)?;
            if self.set.len() > MAX_LABELS {
                return Err(sentence.fault(t, one_too_many(label)));
            }
            Ok(())
        };
        match converted {
            Some(sets) => {
                for (t, set) in sets.iter().enumerate() {
                    set.iter().try_for_each(|label| insert(t, label))?;
                }
            }
            None => {
                for (t, label) in sentence.labels()?.into_iter().enumerate() {
                    insert(t, label)?;
                }
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

    /// Returns the ids of the labels of a sentence.
    pub fn ids(&self, sentence: &impl LabeledSentence) -> Result<LabelIds> {
        let id = |t: usize, label: &str| {
            self.set
                .id(label)
                .ok_or_else(|| sentence.fault(t, format!("the label '{label}' is unknown")))
        };
        let Some(sets) = self.converted(sentence)? else {
            let labels = sentence.labels()?.into_iter().enumerate();
            let ids = labels.map(|(t, label)| id(t, label));
            return Ok(LabelIds::Gold(ids.collect::<Result<_>>()?));
        };
        let sets = sets.iter().enumerate();
        let ids = sets.map(|(t, set)| set.iter().map(|label| id(t, label)).collect());
        Ok(LabelIds::Allowed(ids.collect::<Result<_>>()?))
    }

    /// Returns the labels that each token of a sentence may have in the scheme of the model, none
    /// for any; `None` if they are the labels of the sentence as they are.
    fn converted(&self, sentence: &impl LabeledSentence) -> Result<Option<Vec<Vec<String>>>> {
        let owned = |set: Vec<&str>| set.into_iter().map(str::to_owned).collect();
        Ok(match (sentence.allowed(), self.is_converted) {
            (None, false) => None,
            (None, true) => {
                let labels = sentence.labels()?;
                let labels = self.data_scheme.convert(&labels, self.scheme).into_iter();
                Some(labels.map(|label| vec![label]).collect())
            }
            (Some(allowed), false) => Some(allowed.into_iter().map(owned).collect()),
            (Some(allowed), true) => Some(converted_labels(
                sentence,
                &allowed,
                [self.data_scheme, self.scheme],
            )?),
        })
    }
}

impl SchemeEvidence {
    fn new<S: LabeledSentence>(sentences: &[S], plain: PlainLabels) -> Result<Self> {
        let mut evidence = Self {
            detector: SchemeDetector::new().with_plain_labels(plain),
            has_spans: false,
        };
        for sentence in sentences {
            evidence.add(sentence)?;
        }
        Ok(evidence)
    }

    fn add(&mut self, sentence: &impl LabeledSentence) -> Result<()> {
        let labels = sentence.labels()?;
        let is_of_span = |label: &str| !Scheme::Raw.spans(&[label]).is_empty();
        match sentence.allowed() {
            Some(allowed) => {
                let mut labels = allowed.iter().flatten();
                self.has_spans = self.has_spans || labels.any(|label| is_of_span(label));
                self.detector.observe_partial(&allowed);
            }
            None => {
                self.has_spans = self.has_spans || !Scheme::Raw.spans(&labels).is_empty();
                self.detector.observe(&labels);
            }
        }
        Ok(())
    }
}

fn one_too_many(label: &str) -> String {
    format!(
        "'{label}' is one label too many: at most {MAX_LABELS} can be trained (is this the label \
         column?)"
    )
}

/// Returns a label of each token of a sentence, `O` for unknown ones.
fn known(sentence: &impl LabeledSentence) -> Result<Vec<&str>> {
    Ok(match sentence.allowed() {
        None => sentence.labels()?,
        Some(allowed) => {
            let sets = allowed.into_iter();
            sets.map(|set| set.first().copied().unwrap_or("O"))
                .collect()
        }
    })
}
