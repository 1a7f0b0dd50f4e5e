//! Naming the labels of a tagging, in the scheme requested for output.

use std::borrow::Cow;

use super::tagger::Tagger;
use super::tagging::{LabelPath, Tagging};
use crate::corpus::{Candidate, LabelProbabilities, Tagged};
use crate::ids::LabelId;
use crate::label::Labeling;
use crate::sentence::Sentence;

impl Tagger {
    /// Names the labels of a tagging of `sentence` in a labeling, as a
    /// [`Writer`](crate::corpus::Writer) takes them.
    ///
    /// ```no_run
    /// use dropchain::corpus::{OutputFormat, WriteOptions, Writer};
    /// use dropchain::{Sentence, Tagger};
    ///
    /// # fn main() -> dropchain::Result<()> {
    /// let tagger = Tagger::open("ner.model")?;
    /// let sentence = Sentence::from_words(["Ada", "Lovelace", "lived", "in", "London"]);
    /// let tagging = tagger.tag(&sentence)?;
    /// let options = WriteOptions::new(OutputFormat::Jsonl);
    /// let mut writer = Writer::new(Vec::new(), "memory", &options)?;
    /// let labeling = &tagger.model().header().corpus_labeling;
    /// writer.write(&tagger.tagged(&sentence, &tagging, labeling))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn tagged<'a>(
        &'a self,
        sentence: &'a Sentence,
        tagging: &Tagging,
        labeling: &'a Labeling,
    ) -> Tagged<'a> {
        let names = |labels: &[LabelId]| self.label_names_in(labeling, labels);
        let marginals = tagging.marginals.as_ref().map(|marginals| {
            let header = self.model().header();
            let predicted = self.label_names(&tagging.labels);
            let named = |(t, row): (usize, &[f64])| {
                let labels = header.labels.names().iter().map(String::as_str);
                let row = labels.zip(row.iter().copied());
                let mut row: LabelProbabilities<'_> = match *labeling == header.labeling {
                    true => row.map(|(label, p)| (Cow::Borrowed(label), p)).collect(),
                    false => convert_marginals(row, &predicted, t, [&header.labeling, labeling]),
                };
                row.sort_by(|x, y| y.1.total_cmp(&x.1)); // by descending probability
                row
            };
            marginals.rows().enumerate().map(named).collect()
        });
        let candidate = |path: &LabelPath| Candidate {
            labels: names(&path.labels),
            score: path.score,
            probability: path.probability,
        };
        Tagged {
            sentence,
            labels: names(&tagging.labels),
            labeling,
            marginals,
            probability: tagging.probability,
            mark_probabilities: self.mark_probabilities_in(labeling, tagging),
            nbest: tagging.nbest.iter().map(candidate).collect(),
        }
    }
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
