//! From attribute corpora to the attributes of a training run.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::base_models::BaseModels;
use super::base_weights::BaseWeights;
use super::development::DevelopmentSet;
use super::extracted::{DataSource, Extracted};
use super::labeled_sentence::AttributeSentence;
use super::labels::{LabelIds, TrainingLabels};
use super::settings::TrainSettings;
use crate::chain::Order;
use crate::error::{Error, Result};
use crate::extract::{Alphabet, Alphabets, AttributeCorpus, Dataset, SparseRows};
use crate::fingerprint::Fingerprinter;
use crate::ids::AttributeId;
use crate::model::{FileRecord, FileRole, source_date};
use crate::sentence::SourceFile;
use crate::template::Attribute;

impl Extracted {
    /// Prepares attribute corpora for training. Their names and matrices are shared unless
    /// unlabeled sentences or a minimum count require others.
    pub(super) fn from_attributes(
        corpus: &AttributeCorpus,
        dev: Option<&AttributeCorpus>,
        settings: &TrainSettings,
        models: &BaseModels<'_>,
    ) -> Result<Self> {
        let options = settings.options();
        if options.attributes.caseless > 0.0 {
            return Err(Error::parameter(
                "copies without case need a template, but the attributes are ready-made",
            ));
        }
        if corpus.labeled().is_empty() {
            return Err(Error::parameter("there are no sentences to train on"));
        }
        let sentences = AttributeSentence::all(corpus);
        let labels = TrainingLabels::new(corpus.given_labels(), &sentences, options, models)?;
        let mut data = corpus.labeled().without_labels();
        for sentence in &sentences {
            match labels.ids(sentence)? {
                LabelIds::Gold(labels) => data.labels.extend(labels),
                LabelIds::Allowed(sets) => sets.iter().for_each(|set| data.push_labels(set)),
            }
        }
        if settings.has_noise() {
            data.append(corpus.unlabeled(), 0..corpus.unlabeled().len());
        }
        if options.structure.order == Order::Zero {
            data.edges = Arc::new(SparseRows::empty(data.tokens()));
        }
        // Which attributes have the value 0 with which labels.
        let zeros = corpus.zeros().into_iter().filter_map(|(attribute, label)| {
            Some((attribute, labels.set.id(corpus.label_name(label))?))
        });
        let dev_record = dev.map(|dev| record(FileRole::Dev, dev));
        let files = [record(FileRole::Train, corpus)].into_iter().chain(dev_record).collect();
        let mut extracted = Self {
            zeros: zeros.collect(),
            doubts: Vec::new(),
            labels,
            alphabets: Arc::clone(corpus.alphabets()),
            data,
            development: None,
            source: DataSource { files, date: source_date()?, ..DataSource::default() },
            base: Vec::new(),
        };
        extracted.check_weights()?;
        if !models.is_empty() {
            let alphabets = Arc::make_mut(&mut extracted.alphabets);
            extracted.base = BaseWeights::read_all(models, &extracted.labels.set, alphabets)?;
        }
        extracted.drop_rare(options);
        if let Some(dev) = dev {
            let data = development(dev, &extracted.alphabets, options.structure.order)?;
            let gold = extracted.labels.of_development(&AttributeSentence::all(dev), options)?;
            extracted.development = Some(DevelopmentSet::new(data, gold, &extracted.labels));
        }
        Ok(extracted)
    }
}

/// Returns the record of a corpus in memory.
fn record(role: FileRole, corpus: &AttributeCorpus) -> FileRecord {
    let content = || {
        let mut hasher = Xxh3::new();
        (corpus.given_labels(), corpus.alphabets(), corpus.labeled()).hash(&mut hasher);
        hasher.finish()
    };
    let record = FileRecord::new(role, &SourceFile::from("-"), content);
    FileRecord { sentences: Some(corpus.labeled().len() as u64), ..record }
}

/// Maps development data to the attributes of the training data.
fn development(dev: &AttributeCorpus, alphabets: &Alphabets, order: Order) -> Result<Dataset> {
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
        Order::Zero => Arc::new(SparseRows::empty(data.tokens())),
        Order::One => project(&data.edges, &known(&own.edges, &alphabets.edges)),
    };
    Ok(data)
}
