//! From attribute corpora to the attributes of a training run.

use std::sync::Arc;

use super::base_models::BaseModels;
use super::base_weights::{AllBaseWeights, attributes_of_models};
use super::development::DevelopmentSet;
use super::extracted::ExtractedCorpora;
use super::extraction::check_weights;
use super::labeled_sentence::{AttributeSentence, LabeledSentence};
use super::labels::{LabelIds, TrainingLabels};
use super::settings::TrainSettings;
use crate::chain::Order;
use crate::error::{Error, Result};
use crate::extract::{Alphabet, Alphabets, AttributeCorpus, Dataset, SparseRows};
use crate::fingerprint::Fingerprinter;
use crate::ids::AttributeId;
use crate::template::Attribute;

impl ExtractedCorpora {
    /// Prepares attribute corpora for training. Their names and matrices are shared unless
    /// unlabeled sentences or a minimum count require others.
    ///
    /// # Errors
    ///
    /// Same as [`Trainer::train_attributes`](super::Trainer::train_attributes).
    pub fn from_attributes(
        corpus: &AttributeCorpus,
        dev: Option<&AttributeCorpus>,
        settings: &TrainSettings,
        models: &BaseModels<'_>,
    ) -> Result<Self> {
        let options = settings.options();
        models.check(settings)?;
        if options.caseless > 0.0 {
            return Err(Error::parameter(
                "copies without case need a template, but the attributes are ready-made",
            ));
        }
        if corpus.labeled().is_empty() {
            return Err(Error::parameter("there are no sentences to train on"));
        }
        let sentences = AttributeSentence::all(corpus);
        let given = corpus.given_labels();
        let labels = TrainingLabels::new(given, &sentences, options, models)?;
        let mut data = corpus.labeled().without_labels();
        for sentence in &sentences {
            match labels.ids(sentence)? {
                LabelIds::Gold(labels) => data.labels.extend(labels),
                LabelIds::Allowed(sets) => sets.iter().for_each(|set| data.push_labels(set)),
            }
        }
        let has_unlabeled = !corpus.unlabeled().is_empty();
        if has_unlabeled && settings.has_noise() {
            append(&mut data, corpus.unlabeled());
        }
        if options.order == Order::Zero {
            data.edges = Arc::new(empty_rows(data.tokens()));
        }
        check_weights(&data)?;
        let mut extracted = Self::of(labels, Arc::clone(corpus.alphabets()), data);
        // Which attributes have the value 0 with which labels.
        let zeros = corpus.zeros().into_iter().filter_map(|(attribute, label)| {
            let label = extracted.labels.set.id(corpus.label_name(label))?;
            Some((attribute, label))
        });
        extracted.zeros = zeros.collect();
        let mut kept = extracted.frequent_attributes(options);
        let known = attributes_of_models(models, &extracted.alphabets)?;
        for (kept, known) in kept.iter_mut().flatten().zip(known.iter().flatten()) {
            *kept |= known;
        }
        extracted.retain_attributes(&kept);
        if !models.is_empty() {
            let alphabets = Arc::make_mut(&mut extracted.alphabets);
            let base = AllBaseWeights::read(models, &extracted.labels.set, alphabets)?;
            extracted.base = base.map(Arc::new);
            extracted.count_attributes();
        }
        if let Some(dev) = dev {
            let (alphabets, labels) = (&extracted.alphabets, &extracted.labels);
            extracted.development = Some(development(dev, alphabets, labels, options.order)?);
        }
        Ok(extracted)
    }
}

/// Appends unlabeled sentences over the same attributes.
fn append(data: &mut Dataset, unlabeled: &Dataset) {
    let (nodes, edges) = (Arc::make_mut(&mut data.nodes), Arc::make_mut(&mut data.edges));
    for (rows, more) in [(nodes, &unlabeled.nodes), (edges, &unlabeled.edges)] {
        for row in 0..more.len() {
            rows.push_row(&mut more.entries(row).collect());
        }
    }
    data.append_unlabeled(unlabeled);
}

/// A matrix without entries.
fn empty_rows(rows: usize) -> SparseRows {
    let mut empty = SparseRows::default();
    for _ in 0..rows {
        empty.push_row(&mut Vec::new());
    }
    empty
}

/// Maps development data to the attributes of the training data.
fn development(
    dev: &AttributeCorpus,
    alphabets: &Alphabets,
    labels: &TrainingLabels,
    order: Order,
) -> Result<DevelopmentSet> {
    let sentences = dev.labeled();
    if sentences.is_empty() {
        return Err(Error::parameter("there are no development sentences"));
    }
    let known = |own: &Alphabet, training: &Alphabet| -> Vec<Option<u32>> {
        let id = |id| {
            let attribute = Attribute::named(own.name(id), Fingerprinter::default());
            training.find(&attribute).map(|id| id.0)
        };
        (0..own.len() as u32).map(AttributeId).map(id).collect()
    };
    let project = |rows: &SparseRows, known: &[Option<u32>]| {
        Arc::new(rows.map_columns(|column| known[column as usize], |_, value| value))
    };
    let own = dev.alphabets();
    let mut data = sentences.without_labels();
    data.nodes = project(&data.nodes, &known(&own.nodes, &alphabets.nodes));
    data.edges = match order {
        Order::Zero => Arc::new(empty_rows(data.tokens())),
        Order::One => project(&data.edges, &known(&own.edges, &alphabets.edges)),
    };
    let mut gold = Vec::with_capacity(sentences.len());
    for sentence in AttributeSentence::all(dev) {
        if let Some(allowed) = sentence.allowed() {
            let t = allowed.iter().position(|set| set.len() != 1).unwrap_or(0);
            let message = "found a partial label; development data need one label for every token";
            return Err(sentence.fault(t, message.to_owned()));
        }
        let labels = sentence.labels()?.into_iter();
        gold.push(labels.map(str::to_owned).collect());
    }
    Ok(DevelopmentSet::with_gold(data, gold, labels))
}
