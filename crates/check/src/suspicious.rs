//! Suspicious annotation: where models that were trained on the rest of a corpus disagree with it.
//!
//! The corpus is divided into folds, and each fold is compared with the predictions of a model that
//! did not see it. A sentence is as suspicious as its worst token: the largest difference, over its
//! tokens, between the probability of the most probable label and that of the label it has. (The
//! probability of the whole sequence ranks long sentences first, and sentences with rare words:
//! decision 69.)

use std::cmp::Ordering;

use rayon::prelude::*;

use dropchain::corpus::Corpus;
use dropchain::kernel::ids::LabelId;
use dropchain::kernel::optim::StopReason;
use dropchain::kernel::train::{Folds, is_content};
use dropchain::sentence::Sentence;
use dropchain::tag::{TagDocuments, TagInput, Tagger};
use dropchain::template::Template;
use dropchain::train::{Observer, Pass, Trainer};
use dropchain::{Error, Place, Result};
use dropchain_analysis::{Predictions, gold_labels};
use serde::Serialize;

/// Predictions that have probabilities.
const EXPECTED: &str = "predictions with probabilities, as `tune` writes them, or `tag` with \
                        `marginals`";

/// How to look for suspicious annotation.
#[derive(Clone, Copy, Debug)]
pub struct SuspicionOptions {
    /// Number of folds of the corpus, at least 2: that of models.
    pub folds: usize,
    /// Seed of the division into folds.
    pub seed: u64,
    /// Maximum number of sentences to return.
    pub limit: usize,
}

impl Default for SuspicionOptions {
    fn default() -> Self {
        Self { folds: 5, seed: 1, limit: 20 }
    }
}

/// A sentence whose labels a model that did not see it finds improbable. As JSON, numbers that are
/// not finite are null.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SuspiciousSentence<'c> {
    /// The file of the sentence.
    pub file: &'c str,
    /// The line of the token with the largest difference.
    pub line: u64,
    /// Number of the sentence in the corpus, counting document boundaries.
    pub sentence: usize,
    /// The largest difference, over its tokens, between the probability of the most probable label
    /// and that of the label it has; 0 to 1.
    pub suspicion: f64,
    /// log p(labels | sentence); −∞ if the model does not know one of them. NaN if only predictions
    /// were given.
    pub log_probability: f64,
    /// log p(predicted labels | sentence), or NaN likewise.
    pub predicted_log_probability: f64,
    /// The token with the largest difference.
    pub token: usize,
    /// The words, `[T]`; none of ready-made attributes.
    pub tokens: Vec<&'c str>,
    /// The labels, `[T]`.
    pub labels: Vec<&'c str>,
    /// The predicted labels, `[T]`.
    pub predicted: Vec<String>,
    /// The probability of the label that each token has, `[T]`; NaN where predictions have none.
    pub probabilities: Vec<f64>,
    /// The probability of the label that is predicted for each token, `[T]`.
    pub predicted_probabilities: Vec<f64>,
}

impl<'c> SuspiciousSentence<'c> {
    /// Describes a sentence by its labels, those predicted, the probabilities of both, `[T]` and of
    /// the sequences, and its differences, of which the first of equal ones counts; `None` without
    /// tokens.
    fn new(
        (number, sentence): (usize, &'c Sentence),
        labels: Vec<&'c str>,
        predicted: Vec<String>,
        [probabilities, predicted_probabilities]: [Vec<f64>; 2],
        [log_probability, predicted_log_probability]: [f64; 2],
        differences: &[f64],
    ) -> Option<Self> {
        let tokens = (0..differences.len()).rev();
        let token = tokens.max_by(|&a, &b| differences[a].total_cmp(&differences[b]))?;
        Some(Self {
            file: sentence.file(),
            line: sentence.place(token).line,
            sentence: number,
            suspicion: differences[token],
            log_probability,
            predicted_log_probability,
            token,
            tokens: sentence.words().into_iter().flatten().collect(),
            labels,
            predicted,
            probabilities,
            predicted_probabilities,
        })
    }

    /// Where the token with the largest difference is.
    pub fn place(&self) -> Place {
        Place::line(self.file, self.line)
    }
}

/// Finds the sentences where models that were trained on the other folds disagree most with the
/// labels, the most suspicious first. Without a template the sentences have ready-made attributes.
/// Sentences whose labels are not all known are left out. Returns `None` if training was
/// interrupted.
///
/// The same result for any number of threads.
///
/// # Errors
///
/// Errors of training; fewer than two folds; fewer sentences than folds.
pub fn suspicious<'c>(
    trainer: &Trainer<'_>,
    corpus: &'c Corpus,
    template: Option<&Template>,
    options: SuspicionOptions,
    observer: &mut dyn Observer,
) -> Result<Option<Vec<SuspiciousSentence<'c>>>> {
    let mut sentences = corpus.sentences().to_vec();
    let folds = Folds::new(&sentences, options.folds, options.seed)?;
    let rule = template.and_then(Template::documents).unwrap_or_default();
    folds.separate(&mut sentences, rule.rule);
    let numbers: Vec<usize> = (0..sentences.len()).filter(|&i| is_content(&sentences[i])).collect();
    let of = folds.held_out.len();
    let mut found = Vec::new();
    for (fold, held_out) in folds.held_out.iter().enumerate() {
        observer.pass(Pass::Fold { number: fold + 1, of });
        let is_held_out = |number: &usize| held_out.binary_search(number).is_ok();
        let rest = (0..numbers.len()).filter(|number| !is_held_out(number));
        let rest: Corpus = rest.map(|i| sentences[numbers[i]].clone()).collect();
        let trained = trainer.train(rest, template.cloned(), observer)?;
        if trained.end.reason == StopReason::Interrupted {
            return Ok(None);
        }
        let tagger = Tagger::new(trained.model);
        let held: Vec<&Sentence> = held_out.iter().map(|&i| &sentences[numbers[i]]).collect();
        let documents = TagDocuments::new(&tagger, &held);
        let compare = |i: usize| {
            let number = numbers[held_out[i]];
            compare(&tagger, documents.input(i), (number, &corpus.sentences()[number]))
        };
        let compared = (0..held.len()).into_par_iter().map(compare);
        found.extend(compared.collect::<Result<Vec<_>>>()?.into_iter().flatten());
        found.sort_by(order);
        found.truncate(options.limit);
    }
    Ok(Some(found))
}

/// Finds the sentences where predictions by models that did not see them disagree most with the
/// labels, in the same order, at most `limit`. Sentences whose labels are not all known are left
/// out.
///
/// # Errors
///
/// [`Error::Input`] if a predicted label has no probability.
pub fn suspicious_by<'c>(
    predictions: &Predictions,
    corpus: &'c Corpus,
    limit: usize,
) -> Result<Vec<SuspiciousSentence<'c>>> {
    let mut found = Vec::new();
    for (number, (sentence, own)) in corpus.iter().zip(&predictions.sentences).enumerate() {
        if !is_content(sentence) || sentence.first_partial_label().is_some() {
            continue;
        }
        let (gold, predicted) = (gold_labels(sentence)?, predictions.columns.labels(own)?);
        let of = predictions.columns.probabilities(own);
        let predicted_probability = |(t, label): (usize, &&str)| {
            of(t, label).ok_or_else(|| {
                let message = format!("found no probability of a label; expected {EXPECTED}");
                Error::input(own.place(t), message)
            })
        };
        let predicted_probabilities: Vec<f64> =
            predicted.iter().enumerate().map(predicted_probability).collect::<Result<_>>()?;
        let probabilities: Vec<f64> =
            (0..gold.len()).map(|t| of(t, gold[t]).unwrap_or(f64::NAN)).collect();
        let difference = |t: usize| match gold[t] == predicted[t] {
            true => 0.0,
            false => (predicted_probabilities[t] - of(t, gold[t]).unwrap_or(0.0)).max(0.0),
        };
        let differences: Vec<f64> = (0..gold.len()).map(difference).collect();
        found.extend(SuspiciousSentence::new(
            (number, sentence),
            gold,
            predicted.into_iter().map(str::to_owned).collect(),
            [probabilities, predicted_probabilities],
            [f64::NAN; 2],
            &differences,
        ));
    }
    found.sort_by(order);
    found.truncate(limit);
    Ok(found)
}

/// The order of suspicion: of equally suspicious sentences the less probable ones first.
fn order(a: &SuspiciousSentence<'_>, b: &SuspiciousSentence<'_>) -> Ordering {
    (b.suspicion.total_cmp(&a.suspicion))
        .then_with(|| a.log_probability.total_cmp(&b.log_probability))
        .then_with(|| a.sentence.cmp(&b.sentence))
}

/// Compares the labels of a sentence with what a model predicts; `None` if not all are known.
fn compare<'c>(
    tagger: &Tagger,
    input: TagInput<'_>,
    (number, sentence): (usize, &'c Sentence),
) -> Result<Option<SuspiciousSentence<'c>>> {
    if sentence.first_partial_label().is_some() {
        return Ok(None);
    }
    let gold = sentence.labels().unwrap_or_default();
    let set = &tagger.model().header().labels;
    let ids: Vec<_> = gold.iter().map(|label| set.id(label)).collect();
    let distribution = tagger.distribution(input)?;
    let predicted = tagger.tag(input)?.labels;
    let marginals = distribution.marginals();
    let marginal = |t: usize, id: LabelId| marginals[[t, id.index()]];
    let of_gold = |(t, id): (usize, &Option<LabelId>)| id.map_or(0.0, |id| marginal(t, id));
    let own: Vec<f64> = ids.iter().enumerate().map(of_gold).collect();
    let differences = own.iter().enumerate().map(|(t, own)| {
        let best = marginals.row(t).iter().copied().fold(0.0, f64::max);
        (best - own).clamp(0.0, 1.0)
    });
    let differences: Vec<f64> = differences.collect();
    let names = tagger.label_names(&predicted);
    let log_probability = match ids.iter().all(Option::is_some) {
        true => distribution.log_probability(&gold)?,
        false => f64::NEG_INFINITY,
    };
    let log_probabilities = [log_probability, distribution.log_probability(&names)?];
    let names = names.into_iter().map(str::to_owned).collect();
    let others = predicted.iter().enumerate().map(|(t, &id)| marginal(t, id)).collect();
    let (numbered, both) = ((number, sentence), [own, others]);
    Ok(SuspiciousSentence::new(numbered, gold, names, both, log_probabilities, &differences))
}
