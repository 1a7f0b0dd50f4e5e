//! A tagging with label names instead of label ids, in the scheme requested for output.

use std::borrow::Cow;

use super::tagger::Tagger;
use super::tagging::Tagging;
use crate::corpus::{Candidate, Tagged};
use crate::ids::LabelId;
use crate::label::Labeling;
use crate::sentence::Sentence;

/// Labels of one token with their probabilities.
type LabelProbabilities<'a> = Vec<(Cow<'a, str>, f64)>;

/// A tagging with label names, as [`Writer`](crate::corpus::Writer) takes it.
///
/// ```no_run
/// use dropchain::corpus::{OutputFormat, WriteOptions, Writer};
/// use dropchain::tag::{NamedTagging, Tagger};
/// use dropchain::Sentence;
///
/// # fn main() -> dropchain::Result<()> {
/// let tagger = Tagger::open("ner.model")?;
/// let sentence = Sentence::from_words(["Ada", "Lovelace", "lived", "in", "London"]);
/// let tagging = tagger.tag(&sentence)?;
/// let named = NamedTagging::new(&tagger, tagging, &tagger.model().header().corpus_labeling);
/// let options = WriteOptions::new(OutputFormat::Jsonl);
/// let mut writer = Writer::new(Vec::new(), "memory", &options)?;
/// writer.write(&named.tagged(&sentence))?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct NamedTagging<'a> {
    labels: Vec<Cow<'a, str>>,
    labeling: &'a Labeling,
    marginals: Option<Vec<LabelProbabilities<'a>>>,
    probability: Option<f64>,
    mark_probabilities: Option<Vec<f64>>,
    nbest: Vec<NamedPath<'a>>,
}

/// One of the n best label sequences.
#[derive(Clone, Debug)]
struct NamedPath<'a> {
    labels: Vec<Cow<'a, str>>,
    score: f64,
    probability: f64,
}

impl<'a> NamedTagging<'a> {
    /// Looks up the label names and converts them to `labeling`.
    pub fn new(tagger: &'a Tagger, tagging: Tagging, labeling: &'a Labeling) -> Self {
        let names = |labels: &[LabelId]| tagger.label_names_in(labeling, labels);
        let marginals = tagging.marginals.map(|marginals| {
            let predicted = tagger.label_names(&tagging.labels);
            let rows = marginals.rows().enumerate();
            rows.map(|(t, row)| named_marginals(tagger, row, &predicted, t, labeling)).collect()
        });
        Self {
            labels: names(&tagging.labels),
            labeling,
            marginals,
            probability: tagging.probability,
            mark_probabilities: None,
            nbest: tagging
                .nbest
                .iter()
                .map(|path| NamedPath {
                    labels: names(&path.labels),
                    score: path.score,
                    probability: path.probability,
                })
                .collect(),
        }
    }

    /// Sets the probabilities of spans or labels ([`Tagged::mark_probabilities`]).
    #[must_use]
    pub fn with_mark_probabilities(mut self, probabilities: Option<Vec<f64>>) -> Self {
        self.mark_probabilities = probabilities;
        self
    }

    /// Returns the memory usage in bytes, without the names of converted labels.
    pub fn memory(&self) -> usize {
        let rows = self.marginals.iter().flatten();
        let paths = self.nbest.iter();
        size_of::<Self>()
            + size_of_val(&self.labels[..])
            + rows.map(|row| size_of_val(&row[..])).sum::<usize>()
            + self.mark_probabilities.as_deref().map_or(0, size_of_val)
            + paths.map(|path| size_of_val(&path.labels[..])).sum::<usize>()
    }

    /// Combines the tagging with its sentence, for a writer.
    pub fn tagged<'s>(&'s self, sentence: &'s Sentence) -> Tagged<'s> {
        let borrow = |row: &'s LabelProbabilities<'a>| -> Vec<(&'s str, f64)> {
            row.iter().map(|(label, p)| (&**label, *p)).collect()
        };
        let marginals = self.marginals.as_ref();
        Tagged {
            sentence,
            labels: self.labels.iter().map(AsRef::as_ref).collect(),
            labeling: self.labeling,
            marginals: marginals.map(|rows| rows.iter().map(borrow).collect()),
            probability: self.probability,
            mark_probabilities: self.mark_probabilities.clone(),
            nbest: self
                .nbest
                .iter()
                .map(|path| Candidate {
                    labels: path.labels.iter().map(AsRef::as_ref).collect(),
                    score: path.score,
                    probability: path.probability,
                })
                .collect(),
        }
    }
}

/// Names the marginals `[K]` of token `t`, sorted by descending probability.
fn named_marginals<'a>(
    tagger: &'a Tagger,
    marginals: &[f64],
    predicted: &[&'a str],
    t: usize,
    labeling: &Labeling,
) -> LabelProbabilities<'a> {
    let header = tagger.model().header();
    let names = header.labels.names().iter().map(String::as_str);
    let row = names.zip(marginals.iter().copied());
    let mut row = if *labeling == header.labeling {
        row.map(|(label, p)| (Cow::Borrowed(label), p)).collect()
    } else {
        convert_marginals(row, predicted, t, [&header.labeling, labeling])
    };
    row.sort_by(|x, y| y.1.total_cmp(&x.1));
    row
}

/// Converts the marginals of token `t` to another labeling: the probability of each of the model's
/// labels is added to that of the label it converts to between the predicted neighbors.
fn convert_marginals<'a>(
    marginals: impl Iterator<Item = (&'a str, f64)>,
    predicted: &[&'a str],
    t: usize,
    [from, to]: [&Labeling; 2],
) -> LabelProbabilities<'a> {
    // The conversion of a label depends on its direct neighbors only.
    let mut window = predicted[t.saturating_sub(1)..predicted.len().min(t + 2)].to_vec();
    let center = t.min(1);
    let mut row: LabelProbabilities<'a> = Vec::new();
    for (label, probability) in marginals {
        window[center] = label;
        let label = from.convert(&window, to).swap_remove(center);
        match row.iter_mut().find(|(other, _)| *other == label) {
            Some((_, sum)) => *sum += probability,
            None => row.push((Cow::Owned(label), probability)),
        }
    }
    row
}
