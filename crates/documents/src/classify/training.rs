//! From documents to a classifier.
//!
//! # L2 strengths by how informative a feature is alone
//!
//! The strength on the weight of attribute j and label i is c2/(r_ij + ε) with
//!
//! ```text
//! r_ij = | log p(x_j|y = i) − log p(x_j|y ≠ i) |
//! ```
//!
//! where p(x_j|·) is the share of the tokens with (without) the label at which the attribute
//! occurs, plus one occurrence and one absence. An attribute that says nothing of a label has the
//! strength c2/ε there, so it cannot learn to correct what informative ones do: feature weights are
//! kept from adapting to each other, as by dropout.
//!
//! Source: Wang and Manning, "Fast dropout training", ICML 2013, appendix A.3.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::classifier::Classifier;
use super::corpus::InstanceCorpus;
use super::header::{ClassifierParts, Multiclass, one_vs_rest};
use super::options::ClassifierOptions;
use serde_json::{Map, Value};

use crate::Instance;
use crate::features::{at, check_memory, features};
use dropchain::corpus::Corpus;
use dropchain::error::{Error, Result};
use dropchain::extract::{Dataset, Target};
use dropchain::memory::MemoryLimit;
use dropchain::model::Model;
use dropchain::score::{ParameterSpace, States};
use dropchain::sentence::{Attributes, Schema, Sentence};
use dropchain::train::{AttributeCorpus, End, Observer, PenaltyRule, TrainSettings, Trainer};

/// A trained classifier.
#[derive(Debug)]
pub struct TrainedClassifier {
    /// The classifier.
    pub classifier: Classifier,
    /// How training ended. Where classes are trained one after another against the rest (softmax,
    /// hidden units), for each class.
    pub ends: Vec<End>,
}

/// Trains classifiers.
#[derive(Debug)]
pub struct ClassifierTrainer<'a> {
    options: ClassifierOptions, // train has all states, if there is a loss
    settings: TrainSettings,
    /// Ends training with the best weights so far, as [`Trainer::interrupt`] does.
    pub interrupt: Option<&'a AtomicBool>,
    /// Limits the memory of documents and of training.
    pub memory: MemoryLimit,
}

impl<'a> ClassifierTrainer<'a> {
    /// Checks the options.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if they are invalid or contradict one another.
    pub fn new(mut options: ClassifierOptions) -> Result<Self> {
        options.check()?;
        if options.loss.is_some() {
            options.multiclass = Multiclass::OneVsRest;
            // All classes have a problem of their own.
            options.train.states = Some(States::All);
            options.train.method.warm_up = Some(0); // the bounds are convex
        }
        let mut settings = options.settings()?;
        // What learns from mistakes has no penalties.
        let has_penalties = options.learner.is_none() || settings.l2() > 0.0;
        let has_rule = options.l2_informativeness.is_some() || !options.penalizes_bias;
        if options.loss.is_none() && has_penalties && has_rule {
            settings = settings.with_penalty_rule(Arc::new(DocumentPenalty {
                informativeness: options.l2_informativeness,
                penalizes_bias: options.penalizes_bias,
            }));
        }
        Ok(Self { options, settings, interrupt: None, memory: MemoryLimit::default() })
    }

    /// Returns the checked training options.
    pub fn settings(&self) -> &TrainSettings {
        &self.settings
    }

    /// Collects documents; those without a class are for the noise term alone.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] with the place of the document: it is a text and should have features, or
    /// the other way round, or the value of a feature is too large; memory is exhausted.
    pub fn corpus(&self, documents: impl IntoIterator<Item = Instance>) -> Result<InstanceCorpus> {
        let mut corpus = InstanceCorpus::default();
        self.add(documents.into_iter().map(Ok), &mut corpus)?;
        Ok(corpus)
    }

    /// Adds documents that are read, such as those of a
    /// [`InstanceReader`](crate::InstanceReader).
    ///
    /// # Errors
    ///
    /// Those of reading and of [`corpus`](Self::corpus).
    pub fn add(
        &self,
        documents: impl IntoIterator<Item = Result<Instance>>,
        corpus: &mut InstanceCorpus,
    ) -> Result<()> {
        for document in documents {
            let document = document?;
            let features = features(&document, self.options.features.as_ref())?;
            let attributes = &mut corpus.attributes;
            for (name, value) in features.iter() {
                attributes.attribute(name, *value).map_err(at(&document))?;
            }
            let label = document.label.as_deref();
            attributes.end_token(label).map_err(at(&document))?;
            attributes.end_sentence()?;
            check_memory(self.memory, attributes.memory(), &document)?;
            if features.iter().all(|(_, value)| *value == 0.0) {
                corpus.empty.push(document.place());
            }
            corpus.count(&document);
        }
        Ok(())
    }

    /// Converts documents to sentences of one token, for a search of hyperparameters
    /// (the crate `dropchain-tune`); also returns a corpus with their classes alone. Classes
    /// alternate as evenly as their numbers allow, so that blocks of adjacent documents, of which
    /// folds consist, have about the same classes.
    ///
    /// # Errors
    ///
    /// Those of reading and of [`corpus`](Self::corpus).
    pub fn sentences(
        &self,
        documents: impl IntoIterator<Item = Result<Instance>>,
    ) -> Result<(Corpus, InstanceCorpus)> {
        let (mut counts, mut numbered) = (InstanceCorpus::default(), Vec::new());
        let schemas = [None, Some("label")].map(|label| {
            let names = label.iter().map(|label| (*label).to_owned()).collect();
            Schema::new(names, label.map(|_| 0)).map(Arc::new)
        });
        let [unlabeled, labeled] = schemas;
        let schemas = [unlabeled?, labeled?];
        let mut held = 0;
        for document in documents {
            let document = document?;
            let schema = &schemas[usize::from(document.label.is_some())];
            let sentence = self.sentence(&document, schema)?;
            counts.count(&document);
            let mut classes = counts.classes.iter().enumerate();
            let class = classes.find(|(_, c)| Some(&c.name) == document.label.as_ref());
            let number = class.map_or((0, 0), |(i, class)| (i, class.documents));
            held += sentence.memory();
            check_memory(self.memory, held, &document)?;
            numbered.push((number, sentence));
        }
        let position = |&((class, number), _): &((usize, u64), _)| {
            let total = counts.classes.get(class).map_or(1, |class| class.documents);
            (number as f64 - 0.5) / total as f64
        };
        numbered.sort_by(|a, b| position(a).total_cmp(&position(b)));
        let mut corpus = Corpus::new();
        for (_, sentence) in numbered {
            corpus.push(sentence);
        }
        Ok((corpus, counts))
    }

    /// Converts a document to a sentence of one token; the only column is the label, if there is
    /// any.
    fn sentence(&self, document: &Instance, schema: &Arc<Schema>) -> Result<Sentence> {
        let mut attributes = Attributes::default();
        for (name, value) in features(document, self.options.features.as_ref())?.iter() {
            attributes.push(name, *value);
        }
        attributes.end_token();
        let mut sentence = Sentence::new(Arc::clone(schema), Arc::clone(&document.file));
        sentence.push(document.label.as_deref(), document.line)?;
        sentence.attributes = Some(Box::new(attributes));
        Ok(sentence)
    }

    /// Checks that there are two classes.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] with the place of the first document if all are of one class.
    pub fn check_classes(&self, corpus: &InstanceCorpus) -> Result<()> {
        match &corpus.classes[..] {
            [class] => Err(Error::input(
                class.first.clone(),
                format!("all documents are of the class '{}'; expected two classes", class.name),
            )),
            _ => Ok(()),
        }
    }

    /// Trains a classifier, with development data if there are any, whose accuracy then stops
    /// training early.
    ///
    /// # Errors
    ///
    /// Those of [`Trainer::train_file`]; there are fewer than two classes.
    pub fn train(
        &self,
        corpus: &InstanceCorpus,
        dev: Option<&InstanceCorpus>,
        observer: &mut dyn Observer,
    ) -> Result<TrainedClassifier> {
        self.check_classes(corpus)?;
        let is_apart = corpus.classes.len() > 2
            && !self.is_joint()
            && self.options.multiclass == Multiclass::OneVsRest;
        let (parts, ends) = match is_apart {
            true => self.train_one_vs_rest(corpus, dev, observer)?,
            false => {
                let dev = dev.map(|dev| &dev.attributes);
                let (parts, end) = self.train_once(&corpus.attributes, dev, observer)?;
                (parts, vec![end])
            }
        };
        let classifier = Classifier::from_bytes(self.record(parts).encode()?)?;
        Ok(TrainedClassifier { classifier, ends })
    }

    /// Trains all classes of a corpus at once.
    fn train_once(
        &self,
        corpus: &AttributeCorpus,
        dev: Option<&AttributeCorpus>,
        observer: &mut dyn Observer,
    ) -> Result<(ClassifierParts, End)> {
        let mut trainer = Trainer::with_settings(self.settings.clone()).memory(self.memory);
        if let Some(flag) = self.interrupt {
            trainer = trainer.interrupt(flag);
        }
        let (file, end) = trainer.train_file(corpus, dev, observer)?;
        Ok((self.parts(file)?, end))
    }

    /// Returns what a classifier consists of, given the file that its learner made.
    fn parts(&self, file: Vec<u8>) -> Result<ClassifierParts> {
        if self.options.loss.is_none() {
            return ClassifierParts::of_model(&Model::from_bytes(file)?);
        }
        let classifier = Classifier::from_bytes(file)?;
        ClassifierParts::of_file(classifier.header().clone(), classifier.file())
    }

    /// Returns whether one training learns all classes: together, or with a loss each against the
    /// rest.
    pub fn is_joint(&self) -> bool {
        match self.options.loss {
            Some(_) => self.options.hidden == 0,
            None => self.options.multiclass == Multiclass::Softmax,
        }
    }

    /// Makes the classifier of the file that the learner of the [`settings`](Self::settings) made.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if the bytes are none of it.
    pub fn classifier(&self, file: Vec<u8>) -> Result<Classifier> {
        Classifier::from_bytes(self.record(self.parts(file)?).encode()?)
    }

    /// Records the options in a classifier.
    fn record(&self, mut parts: ClassifierParts) -> ClassifierParts {
        let header = &mut parts.header;
        header.features = self.options.features;
        header.multiclass = match header.classes.len() {
            0..=2 => Multiclass::Softmax,
            _ => self.options.multiclass,
        };
        parts
    }

    /// Checks that the weights of models of each class fit into memory, beside the documents: those
    /// that are being combined, and a file of them.
    fn check_weights(&self, corpus: &InstanceCorpus) -> Result<()> {
        let attributes = &corpus.attributes;
        let features = attributes.alphabets().nodes.len();
        let classes = corpus.classes.len();
        let columns = classes.saturating_mul(self.options.hidden.max(1));
        let held = attributes.memory() as u64;
        let weights = columns.saturating_mul(20).saturating_add(64);
        let needed = held.saturating_add(features.saturating_mul(weights) as u64);
        let check = self.memory.check(needed, held);
        check.map_err(|over| {
            Error::parameter(format!(
                "{columns} weights of {features} features for {classes} classes: {over}; expected \
                 fewer features, fewer hidden units (--hidden) or a larger limit (--memory)"
            ))
        })
    }

    /// Trains a model for each class against the others: the scores of the class in all of them
    /// are those of the classifier.
    fn train_one_vs_rest(
        &self,
        corpus: &InstanceCorpus,
        dev: Option<&InstanceCorpus>,
        observer: &mut dyn Observer,
    ) -> Result<(ClassifierParts, Vec<End>)> {
        self.check_weights(corpus)?;
        let mut ends = Vec::new();
        let classes = corpus.classes.iter().map(|class| class.name.clone());
        let parts = one_vs_rest(classes.collect(), |class| {
            let own = corpus.attributes.against_rest(class)?;
            let dev = dev.map(|dev| dev.attributes.against_rest(class));
            let (parts, end) = self.train_once(&own, dev.transpose()?.as_ref(), observer)?;
            ends.push(end);
            Ok(parts)
        })?;
        Ok((parts, ends))
    }
}

/// Divides the L2 strength of each weight of a feature by r + ε, and frees the biases of a penalty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DocumentPenalty {
    /// ε, above 0; `None`: the strengths of features are all the same.
    pub informativeness: Option<f64>,
    /// Whether biases are penalized.
    pub penalizes_bias: bool,
}

impl PenaltyRule for DocumentPenalty {
    fn record(&self) -> Map<String, Value> {
        let mut record = Map::new();
        if let Some(epsilon) = self.informativeness {
            record.insert("l2_informativeness".to_owned(), epsilon.into());
        }
        record.insert("penalize_bias".to_owned(), self.penalizes_bias.into());
        record
    }

    fn unpenalized(&self, space: &ParameterSpace) -> Range<usize> {
        // Biases are the weights of labels, which follow those of features.
        match self.penalizes_bias {
            true => 0..0,
            false => space.nodes.range.end..space.dimension(),
        }
    }

    fn divisors(&self, data: &Dataset, space: &ParameterSpace) -> Vec<f64> {
        let mut divisors = vec![1.0; space.dimension()];
        let Some(epsilon) = self.informativeness else {
            return divisors;
        };
        let counts = Counts::new(data, space);
        let block = &space.nodes;
        let divisors_of_block = block.weights_mut(&mut divisors);
        for column in 0..block.columns() {
            let all = counts.of_columns[column];
            block.targets.for_each(column, |label, i| {
                let [inside, outside] = [
                    [counts.of_weights[i], counts.of_labels[label]],
                    [all - counts.of_weights[i], counts.tokens - counts.of_labels[label]],
                ]
                .map(|[occurrences, tokens]| ((occurrences + 1.0) / (tokens + 2.0)).ln());
                divisors_of_block[i] = (inside - outside).abs() + epsilon;
            });
        }
        divisors
    }
}

/// How often attributes and labels occur at tokens with one known label, times weights.
struct Counts {
    tokens: f64,
    of_labels: Vec<f64>,  // [stride]
    of_columns: Vec<f64>, // [J]
    of_weights: Vec<f64>, // of node attributes
}

impl Counts {
    fn new(data: &Dataset, space: &ParameterSpace) -> Self {
        let block = &space.nodes;
        let mut counts = Self {
            tokens: 0.0,
            of_labels: vec![0.0; space.stride()],
            of_columns: vec![0.0; block.columns()],
            of_weights: vec![0.0; block.range.len()],
        };
        for sentence in 0..data.len() {
            let Target::Gold(labels) = data.target(sentence) else {
                continue;
            };
            let weight = data.weight(sentence);
            for (token, label) in data.sentence(sentence).zip(labels) {
                counts.tokens += weight;
                counts.of_labels[label.index()] += weight;
                for (column, value) in data.nodes.entries(token) {
                    if value == 0.0 {
                        continue;
                    }
                    counts.of_columns[column as usize] += weight;
                    let position = label.index() as u32;
                    if let Some(i) = block.targets.index(column as usize, position) {
                        counts.of_weights[i] += weight;
                    }
                }
            }
        }
        counts
    }
}
