//! Extraction: from the sentences of corpora, or from ready-made attributes, to the attributes of a
//! training run.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::base_models::{BaseModels, BaseWeights};
use super::corpora::{TrainingCorpora, document_rule, for_each_in_context, is_content};
use super::development::DevelopmentSet;
use super::labeled_sentence::{AttributeSentence, gold_labels};
use super::labels::TrainingLabels;
use super::options::CommonOptions;
use super::settings::TrainSettings;
use super::training_set::{DataSource, Extracted};
use crate::chain::Order;
use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::extract::{
    Alphabet, Alphabets, AttributeCorpus, AttributeSource, Dataset, DatasetBuilder, SparseRows,
};
use crate::memory::{MemoryLimit, available_address_space, input_over_limit};
use crate::model::{CorpusColumns, FileRecord, FileRole, source_date};
use crate::sentence::{Document, DocumentRule, Sentence, SentenceRef, Separation, SourceFile};
use crate::template::Template;

/// What a training set is made from.
pub(super) enum Source<'a> {
    /// Sentences, and the template that defines their attributes.
    Text(TrainingCorpora, Option<Template>),
    /// Ready-made attributes, and those of development data.
    Attributes(&'a AttributeCorpus, Option<&'a AttributeCorpus>),
}

impl Source<'_> {
    /// Extracts the attributes, beside the labels and attributes of models whose training is
    /// continued. Document boundaries ([`Layout::document_start`](crate::sentence::Layout)) are
    /// skipped. `limit` is that of text and attributes together.
    ///
    /// # Errors
    ///
    /// Same as [`Trainer::train`](super::Trainer::train).
    pub fn extract(
        self,
        settings: &TrainSettings,
        models: &BaseModels<'_>,
        limit: MemoryLimit,
    ) -> Result<Extracted> {
        models.check(settings)?;
        match self {
            Self::Text(corpora, template) => {
                Extracted::from_text(corpora, template, settings, models, limit)
            }
            Self::Attributes(corpus, dev) => {
                Extracted::from_attributes(corpus, dev, settings, models)
            }
        }
    }
}

impl Extracted {
    fn from_text(
        corpora: TrainingCorpora,
        template: Option<Template>,
        settings: &TrainSettings,
        models: &BaseModels<'_>,
        limit: MemoryLimit,
    ) -> Result<Self> {
        let (date, files) = (source_date()?, corpora.files(template.as_ref()));
        let TrainingCorpora { labeled, dev, unlabeled, held_out } = corpora;
        let options = settings.options();
        let (sentences, dev) = (content(labeled), dev.map(content));
        let unlabeled = if settings.has_noise() { unlabeled.into_sentences() } else { Vec::new() };
        let text = sentences.iter().chain(dev.iter().flatten()).chain(&unlabeled);
        let text: usize = text.map(Sentence::memory).sum();
        let limit = limit.bytes(text as u64); // of what is free before models are read
        let template = learned_template(template, &sentences, options, models)?;
        let Some(first) = sentences.first() else {
            return Err(Error::parameter("there are no sentences to train on"));
        };
        let labels = TrainingLabels::new(&[], &sentences, options, models)?;
        let attributes = AttributeSource::bind(template.as_ref(), first.schema())?;
        let mut alphabets = Alphabets::default();
        let base = BaseWeights::read_all(models, &labels.set, &mut alphabets)?;
        let has_transitions = template.as_ref().is_none_or(Template::transitions);
        if !has_transitions && base.iter().any(BaseWeights::has_transitions) {
            return Err(Error::parameter(
                "the template has no weights for label pairs (no bare B), but the model that \
                 training continues from has; expected a template with a line `B`",
            ));
        }
        let has_edges = options.structure.order == Order::One;
        let columns = CorpusColumns::of(first.schema());
        let source = DataSource { files, date, columns, template, held_out };
        let template = source.template.as_ref();
        let patterns = template.map(|template| template.unmatched_patterns(&sentences));
        let mut doubts = patterns.unwrap_or_default();
        let mut extraction = Extraction {
            builder: DatasetBuilder::extending(attributes, alphabets, has_edges),
            labels: &labels,
            rule: document_rule(template),
            text,
            limit,
            has_address_limit: available_address_space().is_some(),
            sentences: 0,
        };
        extraction.add_labeled(sentences, options.attributes.caseless)?;
        extraction.add_unlabeled(&unlabeled, template)?;
        let (data, alphabets) = extraction.builder.finish();
        doubts.extend(template.iter().flat_map(|template| {
            let names = alphabets.nodes.names().chain(alphabets.edges.names());
            template.unmatched_lines(names, has_edges)
        }));
        let mut extracted = Self {
            labels,
            alphabets: Arc::new(alphabets),
            data,
            development: None,
            source,
            base,
            zeros: Vec::new(),
            doubts,
        };
        extracted.check_weights()?;
        if options.attributes.min_count > 1 {
            extracted.drop_rare(options);
        }
        if let Some(dev) = dev {
            let gold = match extracted.source.held_out {
                Some(_) => gold_labels(&dev)?,
                None => extracted.labels.of_development(&dev, options)?,
            };
            let Some(first) = dev.first() else { return Err(no_development()) };
            let template = extracted.source.template.as_ref();
            let source = AttributeSource::bind(template, first.schema())?;
            let known = Arc::unwrap_or_clone(std::mem::take(&mut extracted.alphabets));
            let mut builder = DatasetBuilder::with_alphabets(source, known, has_edges);
            for_each_in_context(&dev, template, |sentence| builder.add(sentence, &[]))?;
            let (data, known) = builder.finish();
            extracted.alphabets = Arc::new(known);
            extracted.development = Some(DevelopmentSet::new(data, gold, &extracted.labels));
        }
        // Attributes are no longer looked up by name.
        let alphabets = Arc::make_mut(&mut extracted.alphabets);
        alphabets.nodes.drop_index();
        alphabets.edges.drop_index();
        Ok(extracted)
    }

    /// Prepares attribute corpora for training. Their names and matrices are shared unless
    /// unlabeled sentences or a minimum count require others.
    fn from_attributes(
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
            labels.ids(sentence)?.iter().for_each(|labels| data.push_labels(labels));
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

/// Returns the sentences that have tokens and are not document boundaries. What the others separate
/// stays separate.
fn content(corpus: Corpus) -> Vec<Sentence> {
    let mut sentences = corpus.into_sentences();
    let mut before = Separation::default();
    sentences.retain_mut(|sentence| {
        sentence.layout.separation.add(before);
        if is_content(sentence) {
            before = Separation::default();
            return true;
        }
        before = sentence.layout.separation;
        if sentence.layout.document_start {
            before.add(Separation::MARK);
        }
        false
    });
    sentences
}

/// The attributes so far, what more of them are added with, and the memory that is left.
struct Extraction<'a> {
    builder: DatasetBuilder,
    labels: &'a TrainingLabels,
    rule: Option<DocumentRule>, // if attributes depend on documents
    text: usize,                // sentences that have not been freed, in bytes
    limit: u64,                 // of text and attributes
    has_address_limit: bool,
    sentences: usize, // extracted so far
}

impl Extraction<'_> {
    /// Sentences from one check of the memory to the next.
    const INTERVAL: usize = 64;

    /// Address space that must be left for what is not counted, such as memoized values.
    const RESERVE: u64 = 16 << 20;

    /// Adds the labeled sentences, then copies without case of those that have one, with this
    /// weight unless it is 0. Consumes the sentences, document by document or one by one, to free
    /// their text early.
    fn add_labeled(&mut self, sentences: Vec<Sentence>, caseless: f64) -> Result<()> {
        let source = &self.builder.source;
        let copied = sentences.iter().filter(|_| caseless > 0.0);
        let copies = copied.filter_map(|s| source.caseless_copy(s, caseless).transpose());
        let copies: Vec<Sentence> = copies.collect::<Result<_>>()?;
        self.text += copies.iter().map(Sentence::memory).sum::<usize>();
        let lengths = match self.rule {
            None => vec![1; sentences.len()],
            Some(rule) => rule.documents(&sentences).iter().map(Vec::len).collect(),
        };
        let mut rest = sentences.into_iter();
        for length in lengths {
            let sentences: Vec<Sentence> = rest.by_ref().take(length).collect();
            let document = self.rule.map(|_| Document::new(&sentences));
            for (i, sentence) in sentences.iter().enumerate() {
                let context = document.as_ref().and_then(|document| document.in_context(i));
                self.add(context.unwrap_or(sentence.into()))?;
            }
            sentences.iter().for_each(|sentence| self.free(sentence));
        }
        for copy in &copies {
            self.add(copy.into())?;
            self.free(copy);
        }
        Ok(())
    }

    /// Adds a labeled sentence.
    fn add(&mut self, sentence: SentenceRef<'_>) -> Result<()> {
        self.builder.add_partial(sentence, &self.labels.ids(sentence.sentence())?)?;
        self.check_memory(sentence)
    }

    /// Adds the unlabeled sentences, without their new attributes.
    fn add_unlabeled(&mut self, unlabeled: &[Sentence], template: Option<&Template>) -> Result<()> {
        for sentences in unlabeled.chunk_by(|x, y| x.schema() == y.schema()) {
            let source = AttributeSource::bind(template, sentences[0].schema())?;
            self.builder.switch_source(source);
            for_each_in_context(sentences, template, |sentence| {
                self.builder.add(sentence, &[])?;
                self.check_memory(sentence)
            })?;
        }
        Ok(())
    }

    /// Subtracts a sentence that will be freed. Its memory may seem more than when it was counted:
    /// it may have shared text with a copy that is gone.
    fn free(&mut self, sentence: &Sentence) {
        self.text = self.text.saturating_sub(sentence.memory());
    }

    /// Checks the memory after `sentence`, the last one added.
    fn check_memory(&mut self, sentence: SentenceRef<'_>) -> Result<()> {
        self.sentences += 1;
        if !self.sentences.is_multiple_of(Self::INTERVAL) {
            return Ok(());
        }
        let document = sentence.document().map_or(0, |(document, _)| document.memory());
        let attributes = self.builder.memory() as u64;
        let mut limit = self.limit;
        if self.has_address_limit {
            // An array that grows takes twice its size beside itself, and none is more than half of
            // all. Training needs more than that.
            let left = available_address_space().unwrap_or(u64::MAX);
            limit = limit.min(left.saturating_sub(Self::RESERVE));
        }
        let counted = (self.text + document) as u64 + attributes;
        if counted <= self.limit && attributes <= limit {
            return Ok(());
        }
        Err(input_over_limit(
            sentence.sentence().place(0),
            "the attributes up to here need",
            limit,
            "less text, a smaller template",
        ))
    }
}

/// Returns the template: the given one, or that of a model unless the sentences come with
/// attributes. It learns from the sentences, and keeps what the template of a model has learned:
/// its training data are data of this model, too.
///
/// # Errors
///
/// There is no template, but sentences without case should have attributes of their own.
fn learned_template(
    given: Option<Template>,
    sentences: &[Sentence],
    options: &CommonOptions,
    models: &BaseModels<'_>,
) -> Result<Option<Template>> {
    let has_attributes = sentences.first().is_some_and(|sentence| sentence.attributes.is_some());
    let earlier = models.template().filter(|_| !has_attributes);
    let Some(mut template) = given.or_else(|| earlier.cloned()) else {
        return match options.attributes.caseless > 0.0 {
            true => Err(Error::parameter(
                "`caseless` needs a template, and the sentences come with their attributes",
            )),
            false => Ok(None),
        };
    };
    if options.attributes.caseless > 0.0 {
        template.set_caseless();
    }
    template.learn(sentences.iter());
    for (_, model) in models.iter() {
        if let Some(earlier) = &model.header().template {
            template.learn_from(earlier);
        }
    }
    Ok(Some(template))
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

/// The error of development data without sentences.
fn no_development() -> Error {
    Error::parameter("there are no development sentences")
}

/// Maps development data to the attributes of the training data.
fn development(dev: &AttributeCorpus, alphabets: &Alphabets, order: Order) -> Result<Dataset> {
    let sentences = dev.labeled();
    if sentences.is_empty() {
        return Err(no_development());
    }
    let known = |own: &Alphabet, training: &Alphabet| -> Vec<Option<u32>> {
        own.names().map(|name| training.get(name).map(|id| id.0)).collect()
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
