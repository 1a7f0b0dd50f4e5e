//! Predictions for all training data by cross-validation: for every sentence, those of a model that
//! was trained without its fold.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::{Serialize, Serializer};

use dropchain::corpus::{Corpus, Tagged};
use dropchain::eval::{Confusion, Counts, Evaluation};
use dropchain::kernel::train::is_content;
use dropchain::label::Labeling;
use dropchain::sentence::Sentence;
use dropchain::tag::{TagDocuments, TagOptions, Tagger};
use dropchain::{Error, Result};

/// Maximum number of confusions in the scores.
const CONFUSIONS: usize = 30;

/// Out-of-fold predictions, and their scores.
///
/// It serializes to the scores, as `eval` has them.
#[derive(Clone, Debug)]
pub struct OutOfFold {
    sentences: Vec<Predicted>, // of the training data; without labels at a document boundary
    labeling: Labeling,
    evaluation: Evaluation,
}

/// The prediction for a sentence.
#[derive(Clone, Debug, Default)]
pub(super) struct Predicted {
    labels: Vec<String>,
    /// The probabilities of the predicted label of each token, and of its own label if it is
    /// another one.
    marginals: Vec<Vec<(String, f64)>>,
}

/// Tags the sentences of a fold with a model of the others. Document boundaries are left out.
pub(super) fn predict(tagger: &Tagger, held_out: &Corpus) -> Result<Vec<Predicted>> {
    let sentences = held_out.sentences();
    let documents = TagDocuments::new(tagger, sentences);
    let options = TagOptions { marginals: true, ..TagOptions::default() };
    let labeling = &tagger.model().header().corpus_labeling;
    let content = (0..sentences.len()).into_par_iter().filter(|&i| is_content(&sentences[i]));
    let predicted = content.map(|i| {
        let tagging = tagger
            .with_workspace(|workspace| tagger.tag_with(documents.input(i), options, workspace))?;
        let tagged = tagger.tagged(&sentences[i], &tagging, labeling);
        let own = sentences[i].labels().unwrap_or_default();
        let marginals = tagged.labels.iter().enumerate().map(|(t, label)| {
            let own = own.get(t).copied().filter(|own| *own != &**label);
            let names = [Some(&**label), own].into_iter().flatten();
            names.map(|name| (name.to_owned(), tagged.marginal(t, name).unwrap_or(0.0))).collect()
        });
        Ok(Predicted {
            marginals: marginals.collect(),
            labels: tagged.labels.iter().map(ToString::to_string).collect(),
        })
    });
    predicted.collect()
}

impl OutOfFold {
    /// Takes the predictions for the content of a corpus, by its number, whose labels are read so,
    /// and scores those whose label is known at every token.
    pub(super) fn new(
        corpus: &Corpus,
        labeling: Labeling,
        predicted: BTreeMap<usize, Predicted>,
    ) -> Result<Self> {
        let mut predicted = predicted.into_values();
        let mut evaluation = Evaluation::with_confusions().with_labelings(&labeling, &labeling);
        if let Some(joined) = corpus.iter().next().and_then(|first| first.schema().joined()) {
            evaluation = evaluation.with_joined_columns(joined.names());
        }
        let mut sentences = Vec::with_capacity(corpus.len());
        for sentence in corpus {
            if !is_content(sentence) {
                evaluation.add_document_start();
                sentences.push(Predicted::default());
                continue;
            }
            let own = predicted.next().unwrap_or_default();
            if sentence.first_partial_label().is_none() {
                evaluation.add(&sentence.labels().unwrap_or_default(), &own.labels)?;
            }
            sentences.push(own);
        }
        Ok(Self { sentences, labeling, evaluation })
    }

    /// The scores of the predictions.
    pub fn evaluation(&self) -> &Evaluation {
        &self.evaluation
    }

    /// The predicted labels of each sentence of the training data; none at a document boundary.
    pub fn labels(&self) -> impl Iterator<Item = &[String]> {
        self.sentences.iter().map(|predicted| &predicted.labels[..])
    }

    /// The predictions for the sentences of the training data, as a writer takes them: with the
    /// probabilities of the predicted label and of the label that a token has.
    ///
    /// # Errors
    ///
    /// There are more or fewer sentences.
    pub fn tagged<'a>(&'a self, corpus: &'a Corpus) -> Result<Vec<Tagged<'a>>> {
        if corpus.len() != self.sentences.len() {
            return Err(Error::parameter("expected the corpus that was divided into folds"));
        }
        let pairs = corpus.iter().zip(&self.sentences);
        let tagged = |(sentence, own): (&'a Sentence, &'a Predicted)| {
            let labels = own.labels.iter().map(String::as_str).collect();
            let marginals = own.marginals.iter().map(|token| {
                token.iter().map(|(name, p)| (Cow::Borrowed(&name[..]), *p)).collect()
            });
            let marginals = Some(marginals.collect());
            Tagged { labeling: &self.labeling, marginals, ..Tagged::new(sentence, labels) }
        };
        Ok(pairs.map(tagged).collect())
    }
}

impl Serialize for OutOfFold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Scores<'a> {
            #[serde(flatten)]
            scores: &'a Evaluation,
            labels: BTreeMap<&'a str, Counts>,
            confusions: Vec<Confusion<'a>>,
        }
        let scores = &self.evaluation;
        let labels = scores.labels().into_iter().collect();
        let confusions = scores.confusions(CONFUSIONS);
        Scores { scores, labels, confusions }.serialize(serializer)
    }
}
