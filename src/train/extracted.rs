//! The attributes of all corpora of a training run, before collapsing.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::agreement::common_classes;
use super::base_models::{BaseModels, BaseRole};
use super::base_weights::AllBaseWeights;
use super::corpora::{TrainingCorpora, is_content};
use super::development::DevelopmentSet;
use super::labels::{LabelIds, TrainingLabels};
use super::line_options::{check_line_options, line_options_key};
use super::model_match::{ModelMatch, Occurrences};
use super::options::TrainOptions;
use super::settings::TrainSettings;
use crate::chain::Order;
use crate::error::{Error, Result};
use crate::extract::{Alphabets, AttributeSource, Classes, Dataset, DatasetBuilder, SparseRows};
use crate::ids::LabelId;
use crate::memory::{MemoryLimit, input_over_limit};
use crate::ranks::Ranks;
use crate::sentence::{Document, DocumentRule, JoinedColumns, Sentence, SentenceRef, Separation};
use crate::template::Template;

/// The attributes of all corpora of a training run as sparse matrices, one column per attribute.
///
/// [`into_training_set`](Self::into_training_set) converts all of it to a training set. For
/// cross-validation, extract once and hold out each fold ([`hold_out`](Self::hold_out)).
pub struct ExtractedCorpora {
    pub(super) labels: TrainingLabels,
    /// Attribute names; empty if folds were held out, since no model is built from such data.
    pub(super) alphabets: Arc<Alphabets>,
    /// Number of node attributes, the columns of `data.nodes`.
    pub(super) node_attributes: usize,
    /// Number of edge attributes, the columns of `data.edges`.
    pub(super) edge_attributes: usize,
    /// Labeled sentences, then unlabeled ones.
    pub(super) data: Dataset,
    /// The last labeled sentences are copies of others without case: the numbers of these.
    pub(super) copies: Vec<usize>,
    pub(super) development: Option<DevelopmentSet>,
    pub(super) template: Option<Template>,
    pub(super) source: CorpusInfo,
    /// The weights of the models that training continues from.
    pub(super) base: Option<Arc<AllBaseWeights>>,
    /// The groups of template lines of node and edge attributes, as far as they are not 0.
    pub(super) groups: Option<Arc<[Vec<u32>; 2]>>,
    /// Node attributes that have the value 0 at a token with this label, and so may have a weight
    /// for it; ascending.
    pub(super) zeros: Vec<(u32, LabelId)>,
    /// Of node and edge attributes: their classes in the data of other ranks; those of different
    /// classes do not collapse.
    pub(super) classes_elsewhere: Option<[Vec<u32>; 2]>,
    // [labeled sentences][T], for cross-validation only; empty if some label is partial.
    pub(super) gold: Vec<Vec<String>>,
}

impl ExtractedCorpora {
    /// Extracts the attributes. Document boundaries
    /// ([`Layout::document_start`](crate::sentence::Layout)) are skipped.
    ///
    /// # Errors
    ///
    /// Same as [`Trainer::train`](super::Trainer::train).
    pub fn new(
        corpora: impl Into<TrainingCorpora>,
        template: Option<Template>,
        settings: &TrainSettings,
    ) -> Result<Self> {
        Self::from_models(corpora, template, settings, &BaseModels::default())
    }

    /// Like [`new`](Self::new), with the labels and attributes of models, whose training is
    /// continued.
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
        Self::within_memory(corpora, template, settings, models, MemoryLimit::default())
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
        models.check(settings.options())?;
        let TrainingCorpora {
            labeled,
            dev,
            unlabeled,
        } = corpora.into();
        let [sentences, dev] = [Some(labeled), dev].map(|corpus| {
            let mut sentences = corpus?.into_sentences();
            retain_content(&mut sentences);
            Some(sentences)
        });
        let unlabeled = unlabeled.into_sentences();
        let sentences = sentences.unwrap_or_default();
        let text = [Some(&sentences), dev.as_ref(), Some(&unlabeled)];
        let text = text.into_iter().flatten().flatten();
        let mut memory = ExtractionMemory::new(text.map(Sentence::memory).sum(), limit);
        let input = ExtractionInput {
            sentences,
            unlabeled: &unlabeled,
            template,
            models,
        };
        let mut extracted = Self::extract(input, settings, &mut memory)?;
        if let Some(dev) = dev {
            extracted.add_development(&dev, settings.options().order)?;
        }
        // From here on, no attributes are looked up by name.
        let alphabets = Arc::make_mut(&mut extracted.alphabets);
        alphabets.nodes.drop_index();
        alphabets.edges.drop_index();
        Ok(extracted)
    }

    /// Extracts the attributes of a labeled corpus for holding out folds.
    ///
    /// # Errors
    ///
    /// Same as [`ExtractedCorpora::new`].
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
        Ok(Self {
            gold,
            ..Self::from_models(corpora, template, settings, models)?
        })
    }

    /// Extracts the attributes of the training sentences and of the unlabeled ones. Consumes the
    /// training sentences one by one to free their text early.
    fn extract(
        input: ExtractionInput<'_>,
        settings: &TrainSettings,
        memory: &mut ExtractionMemory,
    ) -> Result<Self> {
        let options = settings.options();
        let template = input.template(options)?;
        let ExtractionInput {
            sentences,
            unlabeled,
            models,
            ..
        } = input;
        let info = CorpusInfo::new(&sentences);
        let Some(first) = sentences.first() else {
            return Err(Error::parameter("there are no sentences to train on"));
        };
        let labels = TrainingLabels::new(&sentences, options, models)?;
        let source = AttributeSource::bind(template.as_ref(), first.schema())?;
        let mut alphabets = Alphabets::default();
        let base = AllBaseWeights::read(models, &labels.set, &mut alphabets)?;
        check_transitions(base.as_ref(), template.as_ref())?;
        let mut builder = DatasetBuilder::extending(source, alphabets, options.order == Order::One);
        let copies = caseless_copies(builder.source(), &sentences, options.caseless)?;
        memory.text += copies.iter().map(|(_, copy)| copy.memory()).sum::<usize>();
        let rule = template
            .as_ref()
            .and_then(Template::documents)
            .map(|documents| documents.rule);
        match rule {
            None => {
                for sentence in sentences {
                    add_labeled(&mut builder, &labels, (&sentence).into())?;
                    memory.check(&builder, &sentence, 0)?;
                    memory.free(&sentence);
                }
            }
            Some(rule) => add_labeled_documents(&mut builder, &labels, sentences, rule, memory)?,
        }
        let numbers = copies.iter().map(|(number, _)| *number).collect();
        for (number, copy) in copies {
            builder.set_copied(Some(number as u32));
            add_labeled(&mut builder, &labels, (&copy).into())?;
            memory.check(&builder, &copy, 0)?;
            memory.free(&copy);
        }
        builder.set_copied(None);
        for sentences in unlabeled.chunk_by(|x, y| x.schema() == y.schema()) {
            let source = AttributeSource::bind(template.as_ref(), sentences[0].schema())?;
            builder.switch_source(source, options.discover);
            match rule {
                None => {
                    for sentence in sentences.iter().filter(|s| is_content(s)) {
                        builder.add(sentence, &[])?;
                        memory.check(&builder, sentence, 0)?;
                    }
                }
                Some(rule) => {
                    for document in rule.documents(sentences) {
                        let document = Document::new(document);
                        let contexts = document.in_contexts();
                        for context in contexts.filter(|c| is_content(c.sentence())) {
                            builder.add(context, &[])?;
                            memory.check(&builder, context.sentence(), document.memory())?;
                        }
                    }
                }
            }
        }
        let (data, alphabets, groups) = builder.finish_grouped(options.min_count);
        check_weights(&data)?;
        Ok(Self {
            labels,
            node_attributes: alphabets.nodes.len(),
            edge_attributes: alphabets.edges.len(),
            alphabets: Arc::new(alphabets),
            data,
            copies: numbers,
            development: None,
            template,
            source: info,
            base: base.map(Arc::new),
            groups: groups.map(Arc::new),
            zeros: Vec::new(),
            classes_elsewhere: None,
            gold: Vec::new(),
        })
    }

    /// Agrees with other ranks, which have unlabeled sentences of their own, on attributes that
    /// always occur together.
    ///
    /// # Errors
    ///
    /// [`Error::Communication`].
    pub(super) fn agree_on_classes(&mut self, ranks: &Ranks) -> Result<()> {
        let [nodes, edges] = [
            (&self.data.nodes, self.node_attributes),
            (&self.data.edges, self.edge_attributes),
        ]
        .map(|(matrix, columns)| common_classes(ranks, &Classes::equal_columns(matrix, columns)));
        self.classes_elsewhere = Some([nodes?, edges?]);
        Ok(())
    }

    /// Checks the options of the lines of the template.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] at the first line with a dropout rate of 1 or more.
    pub(super) fn check_line_options(&self, settings: &TrainSettings) -> Result<()> {
        match &self.template {
            Some(template) => check_line_options(template, settings),
            None => Ok(()),
        }
    }

    /// Compares the training data with each model that training continues from.
    #[must_use]
    pub fn matches(&self) -> Vec<ModelMatch> {
        let Some(base) = &self.base else {
            return Vec::new();
        };
        let occurrences = self.occurrences();
        let labels = self.labels.set.len();
        let compare = |model| ModelMatch::new(model, &self.data, labels, &occurrences);
        base.iter().map(compare).collect()
    }

    /// Returns which attributes occur in the training data.
    pub(super) fn occurrences(&self) -> Occurrences {
        Occurrences::new(&self.data, [self.node_attributes, self.edge_attributes])
    }

    fn add_development(&mut self, sentences: &[Sentence], order: Order) -> Result<()> {
        let (development, alphabets) = DevelopmentSet::new(
            sentences,
            self.template.as_ref(),
            Arc::unwrap_or_clone(std::mem::take(&mut self.alphabets)),
            order == Order::One,
            &self.labels,
        )?;
        self.alphabets = Arc::new(alphabets);
        self.development = Some(development);
        Ok(())
    }

    /// Checks that predictions can be scored on each fold: some held-out sentence must have one
    /// label for every token.
    ///
    /// # Errors
    ///
    /// The number of the first fold without such a sentence.
    pub fn check_folds(&self, held_out: &[Vec<usize>]) -> Result<()> {
        let has_gold = |fold: &Vec<usize>| {
            let gold = fold.iter().filter_map(|&i| self.gold.get(i));
            gold.into_iter().any(|gold| !gold.is_empty())
        };
        match held_out.iter().position(|fold| !has_gold(fold)) {
            None => Ok(()),
            Some(fold) => Err(Error::parameter(format!(
                "no sentence of fold {} has one label for every token; expected fewer folds, or \
                 fewer partial labels",
                fold + 1
            ))),
        }
    }

    /// Returns the number of labeled sentences.
    #[must_use]
    pub fn sentences(&self) -> usize {
        self.data.labeled() - self.copies.len()
    }

    /// Returns a fingerprint of all labels and attributes.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let data = (&self.labels, &self.alphabets, &self.data);
        let origin = (
            base_fingerprints(&self.base),
            line_options_key(self.template.as_ref(), self.groups.as_deref()),
        );
        fingerprint(&(data, &self.development, &self.gold, origin))
    }

    /// Returns the memory usage in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.data.memory()
            + self.alphabets.nodes.memory()
            + self.alphabets.edges.memory()
            + self.development.as_ref().map_or(0, DevelopmentSet::memory)
            + self.base.as_ref().map_or(0, |base| base.memory())
    }

    /// Returns the data without the held-out sentences, which become its development data.
    ///
    /// # Errors
    ///
    /// Same as [`ExtractedCorpora::hold_out`].
    pub(super) fn without(&self, held_out: &[usize], settings: &TrainSettings) -> Result<Self> {
        let [rest, fold] = self.split(held_out)?;
        let kept = self.frequent_columns(&rest, settings);
        // Predictions can only be compared with labels that are known.
        let fold: Vec<usize> = fold
            .into_iter()
            .filter(|&i| !self.gold[i].is_empty())
            .collect();
        if fold.is_empty() {
            return Err(Error::parameter(
                "no held-out sentence has one label for every token; expected some in each fold",
            ));
        }
        let gold = fold.iter().map(|&i| self.gold[i].clone()).collect();
        let fold = self.data.select(&fold, Some(&kept));
        Ok(Self {
            labels: self.labels.clone(),
            alphabets: Arc::default(),
            node_attributes: self.node_attributes,
            edge_attributes: self.edge_attributes,
            data: self.data.select(&rest, Some(&kept)),
            copies: Vec::new(),
            development: Some(DevelopmentSet::held_out(fold, gold, &self.labels)),
            template: self.template.clone(),
            source: CorpusInfo::default(),
            base: self.base.clone(),
            groups: self.groups.clone(),
            zeros: self.zeros.clone(),
            classes_elsewhere: None,
            gold: Vec::new(),
        })
    }

    /// Returns the sentences that are not held out, and those that are, in ascending order.
    fn split(&self, held_out: &[usize]) -> Result<[Vec<usize>; 2]> {
        let labeled = self.sentences();
        let mut is_held_out = vec![false; self.data.len()];
        for &sentence in held_out {
            if sentence >= labeled.min(self.gold.len()) {
                return Err(Error::parameter(format!(
                    "sentence {sentence} held out; expected a number below {}",
                    labeled.min(self.gold.len())
                )));
            }
            is_held_out[sentence] = true;
        }
        if held_out.is_empty() || is_held_out[..labeled].iter().all(|&held_out| held_out) {
            return Err(Error::parameter(format!(
                "{} of {labeled} sentences held out; expected some, and not all",
                held_out.len()
            )));
        }
        // A copy without case is neither trained on nor scored without its sentence.
        for (i, &original) in (labeled..).zip(&self.copies) {
            is_held_out[i] = is_held_out[original];
        }
        let all = 0..self.data.len();
        let rest = all.filter(|&i| !is_held_out[i]).collect();
        let fold = (0..labeled).filter(|&i| is_held_out[i]).collect();
        Ok([rest, fold])
    }

    /// Returns, for each column of nodes and of edges, whether it is frequent enough in these
    /// sentences alone.
    pub(super) fn frequent_columns(
        &self,
        sentences: &[usize],
        settings: &TrainSettings,
    ) -> [Vec<bool>; 2] {
        let options = settings.options();
        let labeled = self.data.labeled();
        // As in extraction: unlabeled sentences count only if attributes are discovered in them.
        let is_counted = |i| i < labeled || (options.discover && options.min_count == 1);
        let frequent = |matrix: &SparseRows, columns: usize, kind: usize| -> Vec<bool> {
            let counted = sentences.iter().copied().filter(|&i| is_counted(i));
            let counts = self.data.column_counts(matrix, columns, counted);
            // Attributes of models are kept however rare they are.
            let is_known = |id| self.base.as_ref().is_some_and(|base| base.has(kind, id));
            let is_frequent = counts.iter().map(|n| n.is_at_least(options.min_count));
            let kept = is_frequent.enumerate();
            kept.map(|(id, is_frequent)| is_frequent || is_known(id))
                .collect()
        };
        [
            frequent(&self.data.nodes, self.node_attributes, 0),
            frequent(&self.data.edges, self.edge_attributes, 1),
        ]
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

/// Adds a labeled sentence.
fn add_labeled(
    builder: &mut DatasetBuilder,
    labels: &TrainingLabels,
    sentence: SentenceRef<'_>,
) -> Result<()> {
    match labels.ids(sentence.sentence())? {
        LabelIds::Gold(labels) => builder.add(sentence, &labels),
        LabelIds::Allowed(sets) => builder.add_partial(sentence, &sets),
    }
}

/// Adds labeled sentences document by document, and frees the text of each.
fn add_labeled_documents(
    builder: &mut DatasetBuilder,
    labels: &TrainingLabels,
    sentences: Vec<Sentence>,
    rule: DocumentRule,
    memory: &mut ExtractionMemory,
) -> Result<()> {
    let documents = rule.documents(&sentences).into_iter();
    let lengths: Vec<usize> = documents.map(|document| document.len()).collect();
    let mut rest = sentences.into_iter();
    for length in lengths {
        let sentences: Vec<Sentence> = rest.by_ref().take(length).collect();
        let document = Document::new(&sentences);
        for context in document.in_contexts() {
            add_labeled(builder, labels, context)?;
            memory.check(builder, context.sentence(), document.memory())?;
        }
        for sentence in &sentences {
            memory.free(sentence);
        }
    }
    Ok(())
}

/// What attributes are extracted from.
struct ExtractionInput<'a> {
    sentences: Vec<Sentence>,
    unlabeled: &'a [Sentence],
    template: Option<Template>,
    models: &'a BaseModels<'a>,
}

impl ExtractionInput<'_> {
    /// Returns the template: the given one, or that of a model unless the sentences come with
    /// attributes. It learns from the sentences, and keeps what the template of a model has
    /// learned: its training data are data of this model, too.
    ///
    /// # Errors
    ///
    /// There is no template, but sentences without case should have attributes of their own.
    fn template(&self, options: &TrainOptions) -> Result<Option<Template>> {
        let Some(mut template) = self.unlearned_template() else {
            if options.caseless > 0.0 {
                return Err(Error::parameter(
                    "--caseless needs a template, and the sentences come with their attributes",
                ));
            }
            return Ok(None);
        };
        if options.caseless > 0.0 {
            template.set_caseless();
        }
        template.learn_labeled(self.sentences.iter(), options.plain_labels);
        for (_, model) in self.models.iter() {
            if let Some(earlier) = &model.header().template {
                template.learn_from(earlier);
            }
        }
        Ok(Some(template))
    }

    fn unlearned_template(&self) -> Option<Template> {
        let first = self.sentences.first();
        let has_attributes = first.is_some_and(|sentence| sentence.attributes.is_some());
        let earlier = self.models.template().filter(|_| !has_attributes);
        self.template.clone().or_else(|| earlier.cloned())
    }
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

/// Checks that some training sentence counts.
pub(super) fn check_weights(data: &Dataset) -> Result<()> {
    if data.total_weights()[0] == 0.0 {
        return Err(Error::parameter(
            "the weights of all training sentences are 0; expected some above 0",
        ));
    }
    Ok(())
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

/// Returns the fingerprints of the models that training continues from.
pub(super) fn base_fingerprints(base: &Option<Arc<AllBaseWeights>>) -> Vec<(BaseRole, u128)> {
    let models = base.iter().flat_map(|base| base.iter());
    models
        .map(|model| (model.role, model.fingerprint))
        .collect()
}

/// The memory of text and attributes during extraction.
struct ExtractionMemory {
    text: usize, // sentences that have not been freed, in bytes
    limit: u64,
    sentences: usize, // extracted so far
}

impl ExtractionMemory {
    /// Sentences from one check to the next.
    const INTERVAL: usize = 64;

    fn new(text: usize, limit: MemoryLimit) -> Self {
        Self {
            text,
            limit: limit.bytes(text as u64),
            sentences: 0,
        }
    }

    /// Subtracts a sentence that will be freed. Its memory may seem more than when it was counted:
    /// it may have shared text with a copy that is gone.
    fn free(&mut self, sentence: &Sentence) {
        self.text = self.text.saturating_sub(sentence.memory());
    }

    /// Checks the memory after `sentence`, the last one added to `builder`.
    /// `document` is the memory of its document.
    fn check(
        &mut self,
        builder: &DatasetBuilder,
        sentence: &Sentence,
        document: usize,
    ) -> Result<()> {
        self.sentences += 1;
        let is_due = self.sentences.is_multiple_of(Self::INTERVAL);
        if !is_due || (self.text + document + builder.memory()) as u64 <= self.limit {
            return Ok(());
        }
        Err(input_over_limit(
            sentence.place(0),
            "the attributes up to here need",
            self.limit,
            "less text, a smaller template",
        ))
    }
}

/// Files and columns of the training corpus, for the header of the model.
#[derive(Debug, Default)]
pub(super) struct CorpusInfo {
    pub files: Vec<String>,
    pub columns: Vec<String>,
    pub label_column: Option<u32>,
    pub joined: Option<JoinedColumns>,
}

impl CorpusInfo {
    fn new(sentences: &[Sentence]) -> Self {
        let mut files: Vec<String> = Vec::new();
        for file in sentences.iter().map(Sentence::file) {
            if files.last().is_none_or(|last| **last != **file) {
                files.push(file.to_string());
            }
        }
        let schema = sentences.first().map(Sentence::schema);
        let joined = schema.and_then(|s| s.joined());
        let label = schema.and_then(|s| s.label()).filter(|_| joined.is_none());
        Self {
            files,
            columns: schema.map_or_else(Vec::new, |s| s.input_names().to_vec()),
            label_column: label.map(|c| c as u32),
            joined: joined.cloned(),
        }
    }
}

/// Hashes training data to 64 bits: equal on any run of the same program with the same data.
pub(super) fn fingerprint(data: &impl Hash) -> u64 {
    let mut hasher = Xxh3::new();
    data.hash(&mut hasher);
    hasher.finish()
}
