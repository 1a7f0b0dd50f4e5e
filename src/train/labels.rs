//! The labels of a training corpus and their conversion between schemes.

use std::hash::{Hash, Hasher};

use super::base_models::BaseModels;
use super::labeled_sentence::{LabeledSentence, gold_labels};
use super::options::CommonOptions;
use crate::error::{Error, Result};
use crate::ids::LabelId;
use crate::label::{LabelSet, Labeling, PlainLabels, Scheme, convert_partial};
use crate::model::{MAX_LABELS, Model};

/// The labels of a training corpus and how they encode spans.
#[derive(Clone, Debug)]
pub(super) struct TrainingLabels {
    /// The labels of the model.
    pub set: LabelSet,
    /// Labeling of the labels of the model.
    pub labeling: Labeling,
    /// Labeling of the corpus, or of the model that training continues from.
    pub corpus: Labeling,
    /// Labeling of the training data.
    pub data: Labeling,
    /// Whether the labels of the corpus are converted.
    pub is_converted: bool,
    /// Whether the labels of the corpus encode any span.
    pub has_spans: bool,
    /// How the labels were read, in words, then warnings.
    pub reading: Vec<String>,
}

/// Hashes what determines training, and not where it was read.
impl Hash for TrainingLabels {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let labelings = [&self.labeling, &self.corpus, &self.data];
        (&self.set, labelings, self.is_converted, self.has_spans).hash(state);
    }
}

impl TrainingLabels {
    /// Collects the labels of the models that training continues from, then the labels `given`
    /// unless they are converted, then those of the training sentences, converted to the scheme of
    /// the models or else of the options.
    pub fn new<S: LabeledSentence>(
        given: &[String],
        sentences: &[S],
        options: &CommonOptions,
        models: &BaseModels<'_>,
    ) -> Result<Self> {
        let mut labels = Self::without_labels(sentences, options, models)?;
        if let Some((role, model)) = models.iter().next() {
            let header = model.header();
            // The label `O` fits every model.
            if labels.has_spans != header.encodes_spans() {
                let whose = format!("the model of {role}, {}", model.path().display());
                other_kind(sentences, &labels.data, (&whose, &header.corpus_labeling))?;
            }
            labels.is_converted |=
                labels.has_spans && header.encodes_spans() && header.labeling != labels.data;
            labels.labeling = header.labeling.clone();
            labels.corpus = header.corpus_labeling.clone();
            labels.has_spans |= header.encodes_spans();
        }
        let mut set = LabelSet::new();
        for label in models.iter().flat_map(|(_, model)| model.header().labels.names()) {
            set.insert(label)?;
        }
        for label in given.iter().filter(|_| !labels.is_converted) {
            set.insert(label)?;
        }
        for sentence in sentences {
            labels.for_each(sentence, |t, allowed| {
                for label in allowed {
                    set.insert(label)?;
                    if set.len() > MAX_LABELS {
                        let message = format!(
                            "'{label}' is one label too many: at most {MAX_LABELS} can be trained \
                             (is this the label column?)"
                        );
                        return Err(sentence.fault(t, message));
                    }
                }
                Ok(())
            })?;
        }
        if set.is_empty() {
            return Err(Error::parameter(
                "no token of the training data has a label; expected some",
            ));
        }
        Ok(Self { set, ..labels })
    }

    /// Detects the scheme of labels, without collecting them.
    fn without_labels<S: LabeledSentence>(
        sentences: &[S],
        options: &CommonOptions,
        models: &BaseModels<'_>,
    ) -> Result<Self> {
        let plain = match (options.labels.plain_labels, models.first()) {
            // What fits the model is not guessed: other labels may be those of a wrong column.
            (PlainLabels::Auto, Some(model)) => match model.header().labeling.scheme {
                Scheme::Plain => PlainLabels::Spans,
                _ => PlainLabels::Tags,
            },
            (choice, _) => choice,
        };
        let joined = sentences.first().and_then(LabeledSentence::joined);
        models.check_joined(joined)?;
        let mut detector = options.labels.detector().with_plain_labels(plain);
        sentences.iter().try_for_each(|sentence| sentence.observe(&mut detector))?;
        // Few labels of the scheme of a model may look like those of another.
        let header = models.first().map(Model::header).filter(|header| header.encodes_spans());
        let like_model = header.map(|header| detector.detected_for(&header.corpus_labeling));
        let like_model = like_model.filter(|detected| detected.has_spans);
        let detected = like_model.unwrap_or_else(|| detector.detected());
        let (data, has_spans) = (detected.labeling.clone(), detected.has_spans);
        let option = match options.labels.scheme {
            Scheme::Raw => "`plain_labels` spans".to_owned(),
            scheme => format!("`scheme` {scheme}"),
        };
        let is_converted = options.labels.scheme != Scheme::Raw && data != options.labels.scheme;
        let is_spans = is_converted || options.labels.plain_labels == PlainLabels::Spans;
        match joined {
            Some(joined) if is_spans => {
                return Err(Error::parameter(format!(
                    "{option}: the labels join columns ({}), so they encode no spans; omit the \
                     option",
                    joined.name()
                )));
            }
            None if is_converted && !has_spans => {
                return Err(Error::parameter(format!(
                    "{option}: the labels encode no spans (B-X, I-X, …); omit the option"
                )));
            }
            _ => {}
        }
        if let Some(stray) = detected.strays.first().filter(|_| is_converted) {
            let message = format!(
                "{option}: the label '{}' cannot be converted, since it belongs to no scheme; mend \
                 it, or omit the option",
                stray.label.escape_debug()
            );
            return Err(match &stray.first {
                Some(place) => Error::input(place.clone(), message),
                None => Error::parameter(message),
            });
        }
        Ok(Self {
            set: LabelSet::new(),
            labeling: if is_converted { options.labels.scheme.into() } else { data.clone() },
            corpus: data.clone(),
            data,
            is_converted: is_converted || !detected.prefixed_outside.is_empty(),
            has_spans,
            reading: match joined {
                None => detected.account(options.labels.plain_labels),
                Some(_) => vec!["read as joined labels".to_owned()],
            },
        })
    }

    /// Returns the labels of development data in the labeling of the corpus, `[sentences][T]`, and
    /// notes how they are read if they are converted.
    ///
    /// # Errors
    ///
    /// Tokens without one known label; labels that encode spans if those of the training data
    /// encode none, or the other way round, and none of which these have.
    pub fn of_development<S: LabeledSentence>(
        &mut self,
        sentences: &[S],
        options: &CommonOptions,
    ) -> Result<Vec<Vec<String>>> {
        let gold = gold_labels(sentences)?;
        let mut detector = options.labels.detector();
        sentences.iter().try_for_each(|sentence| sentence.observe(&mut detector))?;
        let [own, read] = [detector.detected(), detector.detected_for(&self.corpus)];
        let is_other = match self.corpus.scheme {
            Scheme::Raw => own.has_spans,
            Scheme::Plain => false,
            _ => !own.labeling.scheme.has_spans(),
        };
        let is_known =
            |label: &String| *label != self.corpus.outside() && self.set.id(label).is_some();
        if is_other && !gold.iter().flatten().any(is_known) {
            other_kind(sentences, &own.labeling, ("the training data", &self.corpus))?;
        }
        let convert = |labels: &Vec<String>| match is_other {
            true => labels.clone(),
            false => read.labeling.convert(labels, &self.corpus),
        };
        let converted: Vec<Vec<String>> = gold.iter().map(convert).collect();
        if converted != gold {
            let line = format!("development data: read as {read}, converted to {}", self.corpus);
            self.reading.push(line);
        }
        Ok(converted)
    }

    /// Returns the label outside of all spans, if the labels encode spans.
    pub fn outside(&self) -> Option<LabelId> {
        self.set.id(self.labeling.outside()).filter(|_| self.has_spans)
    }

    /// Returns the ids of the labels that each token of a sentence may have, none for any.
    pub fn ids(&self, sentence: &impl LabeledSentence) -> Result<Vec<Vec<LabelId>>> {
        let mut ids = Vec::new();
        self.for_each(sentence, |t, labels| {
            let id = |label: &&str| {
                let unknown = || sentence.fault(t, format!("the label '{label}' is unknown"));
                self.set.id(label).ok_or_else(unknown)
            };
            ids.push(labels.iter().map(id).collect::<Result<_>>()?);
            Ok(())
        })?;
        Ok(ids)
    }

    /// Calls `visit` with each token of a sentence and the labels that it may have in the scheme of
    /// the model, none for any.
    ///
    /// # Errors
    ///
    /// Partial labels allow no sequence that is legal in the scheme of the corpus: an unknown label
    /// may be any of the scheme, whether the corpus has it or not. Sequences without partial labels
    /// may be illegal, since annotated corpora have errors.
    fn for_each(
        &self,
        sentence: &impl LabeledSentence,
        mut visit: impl FnMut(usize, &[&str]) -> Result<()>,
    ) -> Result<()> {
        let Some(allowed) = sentence.allowed() else {
            let mut labels = sentence.labels()?;
            let converted;
            if self.is_converted {
                converted = self.data.convert(&labels, &self.labeling);
                labels = converted.iter().map(String::as_str).collect();
            }
            return labels.iter().enumerate().try_for_each(|(t, &label)| visit(t, &[label]));
        };
        let [from, to] = match self.is_converted {
            true => [&self.data, &self.labeling],
            false => [&self.corpus; 2],
        };
        // The label outside with a prefix is outside.
        let outside = |label| if from.is_prefixed_outside(label) { from.outside() } else { label };
        let mut allowed: Vec<Vec<&str>> =
            allowed.into_iter().map(|set| set.into_iter().map(outside).collect()).collect();
        let converted;
        if self.is_converted || (from.scheme.has_spans() && from.strict) {
            converted = convert_partial(&allowed, from, to)
                .map_err(|t| no_legal_sequence(sentence, t, from))?;
            if self.is_converted {
                let sets = converted.iter();
                allowed = sets.map(|set| set.iter().map(String::as_str).collect()).collect();
            }
        }
        allowed.iter().enumerate().try_for_each(|(t, labels)| visit(t, labels))
    }
}

/// Checks that there are no labels but the one outside: they are of another kind than others.
fn other_kind<S: LabeledSentence>(
    sentences: &[S],
    own: &Labeling,
    (whose, other): (&str, &Labeling),
) -> Result<()> {
    for sentence in sentences {
        let labels = sentence.labels()?;
        let sets = sentence.allowed();
        let is_known = |t: usize| sets.as_ref().is_none_or(|sets| !sets[t].is_empty());
        let inside = |&t: &usize| labels[t] != own.outside() && is_known(t);
        if let Some(t) = (0..labels.len()).find(inside) {
            let message = format!(
                "the label '{}': the labels of these data are read as {own}, those of {whose} as \
                 {other}, and cannot be converted; expected labels of the same kind (is this the \
                 label column?)",
                labels[t]
            );
            return Err(sentence.fault(t, message));
        }
    }
    Ok(())
}

fn no_legal_sequence(sentence: &impl LabeledSentence, t: usize, labeling: &Labeling) -> Error {
    let labels = sentence.labels().unwrap_or_default();
    sentence.fault(
        t,
        format!(
            "the label '{}' has no place in a legal sequence, given the other labels of the \
             sentence ({labeling}); expected labels that fit together",
            labels.get(t).copied().unwrap_or_default()
        ),
    )
}
