//! A tagging with names for labels, as it is written.

use std::borrow::Cow;

use dropchain::corpus::{Candidate, Tagged};
use dropchain::ids::LabelId;
use dropchain::label::{Scheme, convert};
use dropchain::sentence::Sentence;
use dropchain::tag::{Tagger, Tagging};
use ndarray::ArrayView1;

/// Labels with their probabilities.
type Probabilities<'a> = Vec<(Cow<'a, str>, f64)>;

/// A tagging with names for labels.
pub struct Shown<'a> {
    labels: Vec<Cow<'a, str>>,
    marginals: Option<Vec<Probabilities<'a>>>,
    probability: Option<f64>,
    nbest: Vec<(Vec<Cow<'a, str>>, f64, f64)>,
}

impl<'a> Shown<'a> {
    /// A tagging with labels in `scheme`.
    pub fn new(tagger: &'a Tagger, tagging: Tagging, scheme: Scheme) -> Self {
        let header = tagger.model().header();
        let own = |labels: &[LabelId]| tagger.label_names(labels);
        let names = |labels: &[LabelId]| -> Vec<Cow<'a, str>> {
            if scheme == header.scheme {
                own(labels).into_iter().map(Cow::Borrowed).collect()
            } else {
                let labels = convert(&own(labels), scheme);
                labels.into_iter().map(Cow::Owned).collect()
            }
        };
        let marginals = tagging.marginals.map(|marginals| {
            let predicted = own(&tagging.labels);
            let row = |(t, row): (usize, ArrayView1<'_, f64>)| {
                let own = header.labels.names().iter().map(String::as_str);
                let own = own.zip(row.iter().copied());
                let mut row = if scheme == header.scheme {
                    own.map(|(label, p)| (Cow::Borrowed(label), p)).collect()
                } else {
                    converted(own, &predicted, t, scheme)
                };
                row.sort_by(|x, y| y.1.total_cmp(&x.1));
                row
            };
            marginals.rows().into_iter().enumerate().map(row).collect()
        });
        Self {
            labels: names(&tagging.labels),
            marginals,
            probability: tagging.probability,
            nbest: tagging
                .nbest
                .iter()
                .map(|path| (names(&path.labels), path.score, path.probability))
                .collect(),
        }
    }

    /// The tagging of `sentence`, for a writer.
    pub fn tagged<'s>(&'s self, sentence: &'s Sentence) -> Tagged<'s> {
        let named = |row: &'s Probabilities<'a>| -> Vec<(&'s str, f64)> {
            row.iter().map(|(label, p)| (&**label, *p)).collect()
        };
        let marginals = self.marginals.as_ref();
        Tagged {
            sentence,
            labels: self.labels.iter().map(AsRef::as_ref).collect(),
            marginals: marginals.map(|rows| rows.iter().map(named).collect()),
            probability: self.probability,
            nbest: self
                .nbest
                .iter()
                .map(|(labels, score, probability)| Candidate {
                    labels: labels.iter().map(AsRef::as_ref).collect(),
                    score: *score,
                    probability: *probability,
                })
                .collect(),
        }
    }
}

/// Probabilities of labels at token `t` in another scheme: each of the model's own labels counts
/// for the label that it would become in its place among the predicted ones.
fn converted<'a>(
    own: impl Iterator<Item = (&'a str, f64)>,
    predicted: &[&'a str],
    t: usize,
    scheme: Scheme,
) -> Probabilities<'a> {
    // What a label becomes depends on its neighbors alone.
    let mut around = predicted[t.saturating_sub(1)..predicted.len().min(t + 2)].to_vec();
    let place = t.min(1);
    let mut row: Probabilities<'a> = Vec::new();
    for (label, probability) in own {
        around[place] = label;
        let label = convert(&around, scheme).swap_remove(place);
        match row.iter_mut().find(|(known, _)| *known == label) {
            Some((_, sum)) => *sum += probability,
            None => row.push((Cow::Owned(label), probability)),
        }
    }
    row
}
