//! From documents to a classifier.

use std::sync::Arc;

use super::classifier::{at, features};
use super::features::FeatureOptions;
use super::one_vs_rest::OneVsRest;
use super::record::{ClassifierRecord, Multiclass};
use crate::chain::Order;
use crate::corpus::{Corpus, Instance};
use crate::error::{Error, Place, Result};
use crate::memory::{MemoryLimit, input_over_limit};
use crate::model::Model;
use crate::optim::LbfgsOptions;
use crate::sentence::{Attributes, Schema, Sentence};
use crate::train::{AttributeCorpus, End, Observer, TrainOptions, TrainSettings, Trainer};

/// How to train a classifier.
#[derive(Clone, Debug)]
pub struct ClassifierOptions {
    /// The features of texts; `None` if documents come with features.
    pub features: Option<FeatureOptions>,
    /// How several classes are told apart. Two classes are always one model, and more than two
    /// with a loss of y·score ([`TrainOptions::loss`]) always one of each class against the rest.
    pub multiclass: Multiclass,
    /// How to train. The order is 0, and noise is on features alone.
    pub train: TrainOptions,
}

impl Default for ClassifierOptions {
    fn default() -> Self {
        Self {
            features: Some(FeatureOptions::default()),
            multiclass: Multiclass::default(),
            train: Self::train_options(),
        }
    }
}

impl ClassifierOptions {
    /// Default of the memory of L-BFGS: with so many features, iterations are fewer than with that
    /// of taggers.
    pub const LBFGS_MEMORY: usize = 15;

    /// Default of the rate of dropout: the one that folds of training documents chose most often
    /// (decision 78).
    pub const DROPOUT: f64 = 0.7;

    /// Returns the default training options: noise from the first iteration on, none on the bias.
    #[must_use]
    pub fn train_options() -> TrainOptions {
        TrainOptions {
            lbfgs: LbfgsOptions {
                memory: Self::LBFGS_MEMORY,
                ..LbfgsOptions::default()
            },
            order: Order::Zero,
            dropout: Self::DROPOUT,
            warm_up: Some(0),
            edge_dropout: Some(0.0),
            ..TrainOptions::default()
        }
    }
}

/// Documents as features in memory, 4 bytes for each feature of a document, 12 if any value is not
/// 1.
#[derive(Clone, Debug, Default)]
pub struct InstanceCorpus {
    attributes: AttributeCorpus,
    classes: Vec<ClassCount>,
    empty: Vec<Place>,
}

/// A class in a corpus.
#[derive(Clone, Debug, PartialEq)]
struct ClassCount {
    name: String,
    documents: u64,
    first: Place,
}

impl InstanceCorpus {
    /// Returns the number of documents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.attributes.len()
    }

    /// Returns whether there are no documents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns where the documents are that have no features.
    #[must_use]
    pub fn without_features(&self) -> &[Place] {
        &self.empty
    }

    /// Returns the classes in the order of their first documents: their names, their numbers of
    /// documents, and where the first ones are.
    pub fn classes(&self) -> impl Iterator<Item = (&str, u64, &Place)> {
        let classes = self.classes.iter();
        classes.map(|class| (class.name.as_str(), class.documents, &class.first))
    }

    fn count(&mut self, document: &Instance) {
        let Some(label) = &document.label else { return };
        match self.classes.iter_mut().find(|class| class.name == *label) {
            Some(class) => class.documents += 1,
            None => self.classes.push(ClassCount {
                name: label.clone(),
                documents: 1,
                first: document.place(),
            }),
        }
    }
}

/// A trained classifier.
#[derive(Debug)]
pub struct TrainedClassifier {
    /// The model.
    pub model: Model,
    /// How training ended. Where classes are trained one after another against the rest (softmax,
    /// hidden units), for each class.
    pub ends: Vec<End>,
}

/// Trains classifiers.
#[derive(Debug)]
pub struct ClassifierTrainer<'a> {
    trainer: Trainer<'a>,
    record: ClassifierRecord,
    memory: MemoryLimit,
}

impl<'a> ClassifierTrainer<'a> {
    /// Checks the options.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if they are invalid or contradict one another.
    pub fn new(options: ClassifierOptions) -> Result<Self> {
        if options.train.order != Order::Zero {
            return Err(Error::parameter("a classifier has order 0, found order 1"));
        }
        let none = |features: &FeatureOptions| features.words.is_none() && features.chars.is_none();
        if options.features.as_ref().is_some_and(none) {
            let message = "there are no features; expected n-grams of words or of characters";
            return Err(Error::parameter(message));
        }
        let loss = options.train.loss;
        Ok(Self {
            trainer: Trainer::new(options.train)?,
            record: ClassifierRecord {
                features: options.features,
                multiclass: match loss {
                    None => options.multiclass,
                    Some(_) => Multiclass::OneVsRest,
                },
            },
            memory: MemoryLimit::default(),
        })
    }

    /// Changes the trainer, for example with [`Trainer::interrupt`].
    #[must_use]
    pub fn with_trainer(self, change: impl FnOnce(Trainer<'a>) -> Trainer<'a>) -> Self {
        Self {
            trainer: change(self.trainer),
            ..self
        }
    }

    /// Limits the memory of documents and of training.
    #[must_use]
    pub fn memory(self, memory: MemoryLimit) -> Self {
        Self {
            trainer: self.trainer.memory(memory),
            memory,
            ..self
        }
    }

    /// Returns the checked training options.
    #[must_use]
    pub fn settings(&self) -> &TrainSettings {
        self.trainer.settings()
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
    /// [`InstanceReader`](super::InstanceReader).
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
            let features = features(&document, self.record.features.as_ref())?;
            let attributes = &mut corpus.attributes;
            for (name, value) in features.iter() {
                attributes.attribute(name, *value).map_err(at(&document))?;
            }
            let label = document.label.as_deref();
            attributes.end_token(label).map_err(at(&document))?;
            attributes.end_sentence()?;
            self.check_memory(attributes.memory() as u64, &document)?;
            if features.iter().all(|(_, value)| *value == 0.0) {
                corpus.empty.push(document.place());
            }
            corpus.count(&document);
        }
        Ok(())
    }

    /// Checks that documents up to `last`, which need so many bytes, are within the limit.
    fn check_memory(&self, bytes: u64, last: &Instance) -> Result<()> {
        let limit = self.memory.bytes(0);
        if bytes <= limit {
            return Ok(());
        }
        let what = "the documents up to here need";
        let advice = "fewer documents";
        Err(input_over_limit(last.place(), what, limit, advice))
    }

    /// Converts documents to sentences of one token, for a search of hyperparameters
    /// ([`crate::tune`]); also returns a corpus with their classes alone. Classes alternate as
    /// evenly as their numbers allow, so that blocks of adjacent documents, of which folds consist,
    /// have about the same classes.
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
            let class = counts.classes.iter();
            let class = class
                .enumerate()
                .find(|(_, c)| Some(&c.name) == document.label.as_ref());
            let number = class.map_or((0, 0), |(i, class)| (i, class.documents));
            held += sentence.memory() as u64;
            self.check_memory(held, &document)?;
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
        for (name, value) in features(document, self.record.features.as_ref())?.iter() {
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
        if let [class] = &corpus.classes[..] {
            return Err(Error::input(
                class.first.clone(),
                format!(
                    "all documents are of the class '{}'; expected two classes",
                    class.name
                ),
            ));
        }
        Ok(())
    }

    /// Trains a classifier, with development data if there are any, whose accuracy then stops
    /// training early.
    ///
    /// # Errors
    ///
    /// Those of [`Trainer::train_attributes`]; there are fewer than two classes.
    pub fn train(
        &self,
        corpus: &InstanceCorpus,
        dev: Option<&InstanceCorpus>,
        observer: &mut dyn Observer,
    ) -> Result<TrainedClassifier> {
        self.check_classes(corpus)?;
        let (model, ends) = match self.record.multiclass {
            Multiclass::OneVsRest if corpus.classes.len() > 2 && !self.is_joint() => {
                self.train_one_vs_rest(corpus, dev, observer)?
            }
            _ => {
                let dev = dev.map(|dev| &dev.attributes);
                let trained = self
                    .trainer
                    .train_attributes(&corpus.attributes, dev, observer)?;
                (trained.model, vec![trained.end])
            }
        };
        Ok(TrainedClassifier {
            model: self.record(&model, corpus.classes.len())?,
            ends,
        })
    }

    /// Returns whether one training learns all classes: together, or with a loss each against the
    /// rest.
    #[must_use]
    pub fn is_joint(&self) -> bool {
        let options = self.trainer.settings().options();
        match options.loss {
            Some(_) => options.hidden == 0,
            None => self.record.multiclass == Multiclass::Softmax,
        }
    }

    /// Adds to a model that it is a classifier of so many classes.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the header would be too long.
    pub fn record(&self, model: &Model, classes: usize) -> Result<Model> {
        let mut record = self.record;
        if classes <= 2 {
            record.multiclass = Multiclass::Softmax;
        }
        record.add_to(model)
    }

    /// Trains a model for each class against the others: the scores of the class in all of them
    /// are those of the classifier.
    fn train_one_vs_rest(
        &self,
        corpus: &InstanceCorpus,
        dev: Option<&InstanceCorpus>,
        observer: &mut dyn Observer,
    ) -> Result<(Model, Vec<End>)> {
        let names: Vec<&str> = corpus.classes.iter().map(|class| &*class.name).collect();
        let mut combined = OneVsRest::new(&names)?;
        let mut ends = Vec::new();
        for class in &names {
            let own = corpus.attributes.against_rest(class)?;
            let dev = dev
                .map(|dev| dev.attributes.against_rest(class))
                .transpose()?;
            let trained = self
                .trainer
                .train_attributes(&own, dev.as_ref(), observer)?;
            combined.add(&trained.model)?;
            ends.push(trained.end);
        }
        Ok((combined.into_model()?, ends))
    }
}
