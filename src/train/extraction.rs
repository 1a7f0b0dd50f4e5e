//! Extraction: from the sentences of corpora, or from ready-made attributes, to the attributes of a
//! training run.

use std::sync::Arc;

use super::base_models::BaseModels;
use super::base_weights::BaseWeights;
use super::corpora::{TrainingCorpora, document_rule, for_each_in_context, is_content};
use super::development::DevelopmentSet;
use super::extracted::{DataSource, Extracted};
use super::labeled_sentence::gold_labels;
use super::labels::{LabelIds, TrainingLabels};
use super::options::CommonOptions;
use super::settings::TrainSettings;
use crate::chain::Order;
use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::extract::{Alphabets, AttributeCorpus, AttributeSource, DatasetBuilder};
use crate::memory::{MemoryLimit, available_address_space, input_over_limit};
use crate::model::{CorpusColumns, source_date};
use crate::sentence::{Document, DocumentRule, Schema, Sentence, SentenceRef, Separation};
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
        let mut memory = ExtractionMemory::new(text.map(Sentence::memory).sum(), limit);
        let template = learned_template(template, &sentences, options, models)?;
        let Some(first) = sentences.first() else {
            return Err(Error::parameter("there are no sentences to train on"));
        };
        let schema = Schema::clone(first.schema());
        let labels = TrainingLabels::new(&[], &sentences, options, models)?;
        let attributes = AttributeSource::bind(template.as_ref(), &schema)?;
        let mut alphabets = Alphabets::default();
        let base = BaseWeights::read_all(models, &labels.set, &mut alphabets)?;
        check_transitions(&base, template.as_ref())?;
        let has_edges = options.structure.order == Order::One;
        let columns = CorpusColumns::of(&schema);
        let source = DataSource { files, date, columns, template, held_out };
        let template = source.template.as_ref();
        let patterns = template.map(|template| template.unmatched_patterns(&sentences));
        let mut doubts = patterns.unwrap_or_default();
        let mut extraction = Extraction {
            builder: DatasetBuilder::extending(attributes, alphabets, has_edges),
            labels: &labels,
            rule: document_rule(template),
            memory: &mut memory,
        };
        extraction.add_labeled(sentences, options.attributes.caseless)?;
        extraction.add_unlabeled(&unlabeled, template)?;
        let (data, alphabets) = extraction.builder.finish();
        doubts.extend(template.iter().flat_map(|template| {
            template.unmatched_files(alphabets.nodes.names().chain(alphabets.edges.names()))
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
            let (template, labels) = (extracted.source.template.as_ref(), &extracted.labels);
            let known = Arc::unwrap_or_clone(std::mem::take(&mut extracted.alphabets));
            let (development, known) =
                DevelopmentSet::from_text((&dev, gold), template, known, has_edges, labels)?;
            extracted.alphabets = Arc::new(known);
            extracted.development = Some(development);
        }
        // Attributes are no longer looked up by name.
        let alphabets = Arc::make_mut(&mut extracted.alphabets);
        alphabets.nodes.drop_index();
        alphabets.edges.drop_index();
        Ok(extracted)
    }
}

/// Returns the sentences that have tokens and are not document boundaries.
fn content(corpus: Corpus) -> Vec<Sentence> {
    let mut sentences = corpus.into_sentences();
    retain_content(&mut sentences);
    sentences
}

/// Checks that a model without weights of label pairs does not continue one that has them.
fn check_transitions(base: &[BaseWeights], template: Option<&Template>) -> Result<()> {
    let has_transitions = template.is_none_or(Template::transitions);
    match has_transitions || !base.iter().any(BaseWeights::has_transitions) {
        true => Ok(()),
        false => Err(Error::parameter(
            "the template has no weights for label pairs (no bare B), but the model that training \
             continues from has; expected a template with a line `B`",
        )),
    }
}

/// Removes document boundaries and sentences without tokens. What they separate stays separate.
fn retain_content(sentences: &mut Vec<Sentence>) {
    let mut before = Separation::default();
    sentences.retain_mut(|sentence| {
        let layout = &mut sentence.layout;
        layout.separation.add(before);
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
}

/// The attributes so far, and what more of them are added with.
struct Extraction<'a> {
    builder: DatasetBuilder,
    labels: &'a TrainingLabels,
    rule: Option<DocumentRule>, // if attributes depend on documents
    memory: &'a mut ExtractionMemory,
}

impl Extraction<'_> {
    /// Adds the labeled sentences, then copies without case of those that have one, with this
    /// weight unless it is 0. Consumes the sentences, document by document or one by one, to free
    /// their text early.
    fn add_labeled(&mut self, sentences: Vec<Sentence>, caseless: f64) -> Result<()> {
        let copies = caseless_copies(&self.builder.source, &sentences, caseless)?;
        self.memory.text += copies.iter().map(Sentence::memory).sum::<usize>();
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
            sentences.iter().for_each(|sentence| self.memory.free(sentence));
        }
        for copy in &copies {
            self.add(copy.into())?;
            self.memory.free(copy);
        }
        Ok(())
    }

    /// Adds a labeled sentence.
    fn add(&mut self, sentence: SentenceRef<'_>) -> Result<()> {
        match self.labels.ids(sentence.sentence())? {
            LabelIds::Gold(labels) => self.builder.add(sentence, &labels),
            LabelIds::Allowed(sets) => self.builder.add_partial(sentence, &sets),
        }?;
        self.memory.check(&self.builder, sentence)
    }

    /// Adds the unlabeled sentences, without their new attributes.
    fn add_unlabeled(&mut self, unlabeled: &[Sentence], template: Option<&Template>) -> Result<()> {
        for sentences in unlabeled.chunk_by(|x, y| x.schema() == y.schema()) {
            let source = AttributeSource::bind(template, sentences[0].schema())?;
            self.builder.switch_source(source);
            for_each_in_context(sentences, template, |sentence| {
                self.builder.add(sentence, &[])?;
                self.memory.check(&self.builder, sentence)
            })?;
        }
        Ok(())
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

/// Returns copies without case of those training sentences that have one, with their numbers; none
/// if their weight is 0.
fn caseless_copies(
    source: &AttributeSource,
    sentences: &[Sentence],
    weight: f64,
) -> Result<Vec<Sentence>> {
    let sentences = sentences.iter().filter(|_| weight > 0.0);
    sentences.filter_map(|sentence| source.caseless_copy(sentence, weight).transpose()).collect()
}

/// The memory of text and attributes during extraction.
struct ExtractionMemory {
    text: usize, // sentences that have not been freed, in bytes
    limit: u64,
    has_address_limit: bool,
    sentences: usize, // extracted so far
}

impl ExtractionMemory {
    /// Sentences from one check to the next.
    const INTERVAL: usize = 64;

    /// Address space that must be left for what is not counted, such as memoized values.
    const RESERVE: u64 = 16 << 20;

    fn new(text: usize, limit: MemoryLimit) -> Self {
        Self {
            text,
            limit: limit.bytes(text as u64),
            has_address_limit: available_address_space().is_some(),
            sentences: 0,
        }
    }

    /// Subtracts a sentence that will be freed. Its memory may seem more than when it was counted:
    /// it may have shared text with a copy that is gone.
    fn free(&mut self, sentence: &Sentence) {
        self.text = self.text.saturating_sub(sentence.memory());
    }

    /// Checks the memory after `sentence`, the last one added to `builder`.
    fn check(&mut self, builder: &DatasetBuilder, sentence: SentenceRef<'_>) -> Result<()> {
        self.sentences += 1;
        if !self.sentences.is_multiple_of(Self::INTERVAL) {
            return Ok(());
        }
        let document = sentence.document().map_or(0, |(document, _)| document.memory());
        let attributes = builder.memory() as u64;
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
