//! Extraction: from the sentences of corpora to attributes.

use std::sync::Arc;

use super::base_models::BaseModels;
use super::base_weights::AllBaseWeights;
use super::corpora::{TrainingCorpora, document_rule, for_each_in_context, is_content};
use super::development::DevelopmentSet;
use super::extracted::{CorpusInfo, ExtractedCorpora};
use super::labels::{LabelIds, TrainingLabels};
use super::options::CommonOptions;
use super::settings::TrainSettings;
use crate::chain::Order;
use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::extract::{Alphabets, AttributeSource, Dataset, DatasetBuilder};
use crate::memory::{MemoryLimit, available_address_space, input_over_limit};
use crate::sentence::{Document, DocumentRule, Schema, Sentence, SentenceRef, Separation};
use crate::template::Template;

impl ExtractedCorpora {
    /// Extracts the attributes, beside the labels and attributes of models whose training is
    /// continued. Document boundaries ([`Layout::document_start`](crate::sentence::Layout)) are
    /// skipped.
    ///
    /// # Errors
    ///
    /// Same as [`Trainer::train`](super::Trainer::train).
    pub fn from_models(
        corpora: impl Into<TrainingCorpora>,
        template: Option<Template>,
        settings: &TrainSettings,
        models: &BaseModels<'_>,
    ) -> Result<Self> {
        let limit = MemoryLimit::default();
        Self::within_memory(corpora, template, settings, models, limit)
    }

    /// Extracts the attributes of a labeled corpus for holding out folds.
    ///
    /// # Errors
    ///
    /// Same as [`from_models`](Self::from_models).
    pub fn for_cross_validation(
        corpora: impl Into<TrainingCorpora>,
        template: Option<Template>,
        settings: &TrainSettings,
        models: &BaseModels<'_>,
    ) -> Result<Self> {
        let corpora = corpora.into();
        let sentences = corpora.labeled.iter().filter(|s| is_content(s));
        let owned = |labels: Vec<&str>| labels.into_iter().map(str::to_owned).collect();
        let is_gold = |s: &&Sentence| s.first_partial_label().is_none();
        let labels = |s| Some(s).filter(is_gold).and_then(Sentence::labels);
        let gold = sentences.map(|s| labels(s).map_or_else(Vec::new, owned));
        let gold = gold.collect();
        Ok(Self { gold, ..Self::from_models(corpora, template, settings, models)? })
    }

    /// Like [`from_models`](Self::from_models), with a limit on the memory of text and attributes
    /// together.
    pub(super) fn within_memory(
        corpora: impl Into<TrainingCorpora>,
        template: Option<Template>,
        settings: &TrainSettings,
        models: &BaseModels<'_>,
        limit: MemoryLimit,
    ) -> Result<Self> {
        models.check(settings)?;
        let TrainingCorpora { labeled, dev, unlabeled, held_out } = corpora.into();
        let content = |corpus: Corpus| {
            let mut sentences = corpus.into_sentences();
            retain_content(&mut sentences);
            sentences
        };
        let (sentences, dev) = (content(labeled), dev.map(content));
        let unlabeled = unlabeled.into_sentences();
        let text = sentences.iter().chain(dev.iter().flatten()).chain(&unlabeled);
        let mut memory = ExtractionMemory::new(text.map(Sentence::memory).sum(), limit);
        let template = learned_template(template, &sentences, settings.options(), models)?;
        let sentences = (sentences, &*unlabeled);
        let mut extracted = Self::extract(sentences, template, settings, models, &mut memory)?;
        extracted.held_out = held_out;
        if let Some(dev) = dev {
            let (development, alphabets) = DevelopmentSet::new(
                &dev,
                extracted.template.as_ref(),
                Arc::unwrap_or_clone(std::mem::take(&mut extracted.alphabets)),
                settings.options().order == Order::One,
                &extracted.labels,
            )?;
            extracted.alphabets = Arc::new(alphabets);
            extracted.development = Some(development);
        }
        // Attributes are no longer looked up by name.
        let alphabets = Arc::make_mut(&mut extracted.alphabets);
        alphabets.nodes.drop_index();
        alphabets.edges.drop_index();
        Ok(extracted)
    }

    /// Extracts the attributes of the training sentences and of the unlabeled ones.
    fn extract(
        (sentences, unlabeled): (Vec<Sentence>, &[Sentence]),
        template: Option<Template>,
        settings: &TrainSettings,
        models: &BaseModels<'_>,
        memory: &mut ExtractionMemory,
    ) -> Result<Self> {
        let options = settings.options();
        let info = CorpusInfo::new(&sentences);
        let Some(first) = sentences.first() else {
            return Err(Error::parameter("there are no sentences to train on"));
        };
        let schema = Schema::clone(first.schema());
        let labels = TrainingLabels::new(&[], &sentences, options, models)?;
        let source = AttributeSource::bind(template.as_ref(), &schema)?;
        let mut alphabets = Alphabets::default();
        let base = AllBaseWeights::read(models, &labels.set, &mut alphabets)?;
        check_transitions(base.as_ref(), template.as_ref())?;
        let mut extraction = Extraction {
            builder: DatasetBuilder::extending(source, alphabets, options.order == Order::One),
            labels: &labels,
            rule: document_rule(template.as_ref()),
            memory,
        };
        let copies = extraction.add_labeled(sentences, options.caseless)?;
        extraction.add_unlabeled(unlabeled, template.as_ref(), options.discover)?;
        let (data, alphabets, groups) = extraction.builder.finish();
        check_weights(&data)?;
        let mut extracted = Self {
            copies,
            template,
            source: info,
            base: base.map(Arc::new),
            groups: groups.map(Arc::new),
            ..Self::of(labels, Arc::new(alphabets), data)
        };
        if options.min_count > 1 {
            let frequent = extracted.frequent_attributes(options);
            extracted.retain_attributes(&frequent);
        }
        Ok(extracted)
    }
}

/// Checks that some training sentence counts.
pub(super) fn check_weights(data: &Dataset) -> Result<()> {
    if data.total_weights()[0] > 0.0 {
        return Ok(());
    }
    Err(Error::parameter("the weights of all training sentences are 0; expected some above 0"))
}

/// Checks that a model without weights of label pairs does not continue one that has them.
fn check_transitions(base: Option<&AllBaseWeights>, template: Option<&Template>) -> Result<()> {
    let has_transitions = template.is_none_or(Template::transitions);
    match base.filter(|base| !has_transitions && base.has_transitions()) {
        None => Ok(()),
        Some(_) => Err(Error::parameter(
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
    /// weight unless it is 0. Returns the numbers of the sentences that were copied. Consumes the
    /// sentences, document by document or one by one, to free their text early.
    fn add_labeled(&mut self, sentences: Vec<Sentence>, caseless: f64) -> Result<Vec<usize>> {
        let copies = caseless_copies(self.builder.source(), &sentences, caseless)?;
        self.memory.text += copies.iter().map(|(_, copy)| copy.memory()).sum::<usize>();
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
        for (number, copy) in &copies {
            self.builder.set_copied(Some(*number as u32));
            self.add(copy.into())?;
            self.memory.free(copy);
        }
        self.builder.set_copied(None);
        Ok(copies.iter().map(|(number, _)| *number).collect())
    }

    /// Adds a labeled sentence.
    fn add(&mut self, sentence: SentenceRef<'_>) -> Result<()> {
        match self.labels.ids(sentence.sentence())? {
            LabelIds::Gold(labels) => self.builder.add(sentence, &labels),
            LabelIds::Allowed(sets) => self.builder.add_partial(sentence, &sets),
        }?;
        self.memory.check(&self.builder, sentence)
    }

    /// Adds the unlabeled sentences. New attributes are dropped unless `discover` is set.
    fn add_unlabeled(
        &mut self,
        unlabeled: &[Sentence],
        template: Option<&Template>,
        discover: bool,
    ) -> Result<()> {
        for sentences in unlabeled.chunk_by(|x, y| x.schema() == y.schema()) {
            let source = AttributeSource::bind(template, sentences[0].schema())?;
            self.builder.switch_source(source, discover);
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
    let first = sentences.first();
    let has_attributes = first.is_some_and(|sentence| sentence.attributes.is_some());
    let earlier = models.template().filter(|_| !has_attributes);
    let Some(mut template) = given.or_else(|| earlier.cloned()) else {
        return match options.caseless > 0.0 {
            true => Err(Error::parameter(
                "--caseless needs a template, and the sentences come with their attributes",
            )),
            false => Ok(None),
        };
    };
    if options.caseless > 0.0 {
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
) -> Result<Vec<(usize, Sentence)>> {
    let mut copies = Vec::new();
    if weight > 0.0 {
        for (number, sentence) in sentences.iter().enumerate() {
            if let Some(copy) = source.caseless_copy(sentence, weight)? {
                copies.push((number, copy));
            }
        }
    }
    Ok(copies)
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
