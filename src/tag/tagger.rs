//! The tagger: sentences in, labels out.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::condition::Condition;
use super::input::TagInput;
use super::tagging::{LabelPath, TagOptions, Tagging};
use super::workspace::Workspace;
use crate::chain::{Constraint, Marginals, Order, Transitions};
use crate::error::{Error, Result};
use crate::ids::LabelId;
use crate::interrupt::Interrupt;
use crate::label::Labeling;
use crate::memory::MemoryLimit;
use crate::model::{AttributeKind, Model, decoding_constraint};
use crate::second_pass::{LabelTypes, PredictedDocument, Prediction};
use crate::sentence::{Document, DocumentOptions, Sentence};
use crate::template::{Attribute, Template};

/// Size in bytes up to which a sentence is tagged without looking at the available memory.
const SMALL: u64 = 256 << 20;

/// Tags sentences with a model.
///
/// A tagger is `Send` and `Sync`: threads share one by reference or in an [`Arc`].
#[derive(Debug)]
#[must_use]
pub struct Tagger {
    pub(super) model: Arc<Model>,
    /// Distinguishes the tagger from others that use the same workspace.
    pub(super) identity: Arc<()>,
    /// The template of the model, if what a document is was changed.
    template: Option<Template>,
    pub(super) filter: Option<Arc<dyn AttributeFilter>>,
    pub(super) first_pass: Option<Box<FirstPass>>,
    transitions: Transitions,
    constraint: Option<Constraint>,
    /// Idle workspaces, at most one for each concurrent call.
    pool: Mutex<Vec<Workspace>>,
    memory: MemoryLimit,
    /// Held while a sentence that is not small is tagged, so that there is one at a time.
    large: Mutex<()>,
}

/// Decides which attributes of sentences a tagger sees ([`Tagger::with_attribute_filter`]).
pub trait AttributeFilter: fmt::Debug + Send + Sync {
    /// Returns the function that is called with every attribute of a sentence, in their order, and
    /// returns whether the tagger sees it.
    fn of(&self, sentence: &Sentence) -> Box<dyn FnMut(&Attribute<'_>) -> bool>;
}

impl Tagger {
    /// Creates a tagger for `model`.
    pub fn new(model: impl Into<Arc<Model>>) -> Self {
        let model = model.into();
        let header = model.header();
        Self {
            identity: Arc::new(()),
            template: None,
            filter: None,
            first_pass: FirstPass::of(&model).map(Box::new),
            transitions: Transitions::from_weights(&header.label_weights, header.order),
            constraint: decoding_constraint(&header.labels, &header.labeling),
            pool: Mutex::default(),
            memory: MemoryLimit::default(),
            large: Mutex::default(),
            model,
        }
    }

    /// Sets which attributes of a sentence the tagger sees; of two passes, in both.
    pub fn with_attribute_filter(mut self, filter: Arc<dyn AttributeFilter>) -> Self {
        if let Some(first) = &mut self.first_pass {
            first.tagger.filter = Some(Arc::clone(&filter));
        }
        self.filter = Some(filter);
        self
    }

    /// Sets the limit on the memory that tagging a sentence may take, by default most of the
    /// available memory.
    ///
    /// With edge attributes a token takes K² numbers, twice that for marginals or the n best
    /// sequences.
    pub fn with_memory_limit(self, memory: MemoryLimit) -> Self {
        Self { memory, ..self }
    }

    /// Returns the limit on the memory that tagging a sentence may take.
    pub fn memory_limit(&self) -> MemoryLimit {
        self.memory
    }

    /// Returns what a document is to the model; `None` if its template does not look at documents,
    /// so that a sentence is tagged alone as in its document.
    pub fn documents(&self) -> Option<DocumentOptions> {
        self.template().and_then(Template::documents)
    }

    /// Returns the template that is applied, if there is one.
    pub(super) fn template(&self) -> Option<&Template> {
        self.template.as_ref().or(self.model.header().template.as_ref())
    }

    /// Returns what has to be known around a sentence to tag it: the rule of
    /// [`documents`](Self::documents), and how many tokens before and after it. With two passes,
    /// the first sees documents from wherever the second looks.
    pub fn context(&self) -> Option<DocumentOptions> {
        let own = self.documents()?;
        let first = self.first_pass.as_ref().and_then(|first| first.tagger.context());
        Some(DocumentOptions { window: own.window + first.map_or(0, |first| first.window), ..own })
    }

    /// Sets what a document is, instead of what the model was trained with. Has no effect if its
    /// template does not look at documents.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the template of the model is too large to be changed.
    pub fn with_documents(mut self, documents: DocumentOptions) -> Result<Self> {
        if self.documents().is_some() {
            self.set_documents(documents)?;
            if let Some(first) = &mut self.first_pass {
                first.window = documents.window;
                first.tagger.set_documents(documents)?;
            }
        }
        Ok(self)
    }

    /// Sets what a document is, if the template looks at documents.
    fn set_documents(&mut self, documents: DocumentOptions) -> Result<()> {
        let template = self.template().filter(|template| template.documents().is_some());
        if let Some(template) = template.cloned() {
            self.template = Some(template.with_documents(documents)?);
            self.identity = Arc::new(());
        }
        Ok(())
    }

    /// Opens a model file and creates a tagger for it.
    ///
    /// # Errors
    ///
    /// Same as [`Model::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Model::open(path).map(Self::new)
    }

    /// Returns the model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Predicts sentence `i` of a document for a second pass; `types` are those of the model's
    /// labels.
    ///
    /// # Errors
    ///
    /// Same as [`Tagger::tag_with`].
    pub fn predict(
        &self,
        document: &Document<'_>,
        i: usize,
        types: &LabelTypes,
        interrupt: &Interrupt,
    ) -> Result<Prediction> {
        let tagging = self.with_workspace(|workspace| {
            workspace.set_interrupt(interrupt.clone());
            self.tag_with((document, i), TagOptions::with_marginals(), workspace)
        })?;
        let marginals = tagging.marginals.unwrap_or_default();
        Ok(Prediction::new(&tagging.labels, &marginals, types))
    }

    /// Calls `f` with a workspace of the pool ([`Tagger::tag`]), or with a new one if all are in
    /// use. If `f` panics, its workspace is dropped.
    pub fn with_workspace<R>(&self, f: impl FnOnce(&mut Workspace) -> R) -> R {
        // Pushing and popping leave the pool valid even if they panic.
        let idle = || self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let mut workspace = idle().pop().unwrap_or_default();
        let result = f(&mut workspace);
        workspace.set_interrupt(Interrupt::default());
        idle().push(workspace);
        result
    }

    /// Returns the name of a label.
    pub fn label(&self, id: LabelId) -> &str {
        self.model().header().labels.name(id)
    }

    /// Returns the names of labels, such as those of [`Tagging::labels`].
    pub fn label_names(&self, labels: &[LabelId]) -> Vec<&str> {
        labels.iter().map(|&id| self.label(id)).collect()
    }

    /// Returns the names of the labels of a sentence in a labeling, such as
    /// [that of the training corpus](crate::model::Header::corpus_labeling).
    pub fn label_names_in(&self, labeling: &Labeling, labels: &[LabelId]) -> Vec<Cow<'_, str>> {
        let names = self.label_names(labels);
        match &self.model().header().labeling {
            own if own == labeling => names.into_iter().map(Cow::Borrowed).collect(),
            own => (own.convert(&names, labeling).into_iter()).map(Cow::Owned).collect(),
        }
    }

    /// Tags a sequence of words and returns the names of the best labels.
    ///
    /// # Errors
    ///
    /// Same as [`Tagger::tag`].
    pub fn tag_words<S: AsRef<str>>(
        &self,
        words: impl IntoIterator<Item = S>,
    ) -> Result<Vec<&str>> {
        let tagging = self.tag(&Sentence::from_words(words))?;
        Ok(self.label_names(&tagging.labels))
    }

    /// Tags a sentence with the default options.
    ///
    /// The workspace comes from a pool in the tagger, which holds one workspace per concurrent call
    /// (up to about 20 MB each) until the tagger is dropped. The pool costs two short locks per
    /// sentence; [`Tagger::tag_with`] takes none.
    ///
    /// # Errors
    ///
    /// Same as [`Tagger::tag_with`].
    pub fn tag<'s>(&self, sentence: impl Into<TagInput<'s>>) -> Result<Tagging> {
        let sentence = sentence.into();
        self.with_workspace(|workspace| self.tag_with(sentence, TagOptions::default(), workspace))
    }

    /// Computes the marginals p(label | sentence) of every token and label, `[T][K]`.
    ///
    /// ```
    /// use dropchain::label::LabelSet;
    /// use dropchain::model::{EdgeWeights, Header};
    /// use dropchain::{Model, Result, Sentence, Tagger};
    ///
    /// # fn main() -> Result<()> {
    /// let labels = LabelSet::try_from(vec!["noun".to_owned(), "verb".to_owned()])?;
    /// let [noun, verb] = ["noun", "verb"].map(|name| labels.id(name).unwrap());
    /// let nodes = [("word=dogs", vec![(noun, 1.5)]), ("word=bark", vec![(verb, 2.0)])];
    /// let edges: [EdgeWeights<&str>; 0] = [];
    /// let tagger = Tagger::new(Model::from_weights(Header::new(labels), nodes, edges)?);
    /// let sentence = Sentence::from_attributes([[("word=dogs", 1.0)], [("word=bark", 1.0)]])?;
    ///
    /// let marginals = tagger.marginals(&sentence)?;
    /// assert_eq!(marginals.rows().len(), 2);
    /// assert!((marginals[[0, noun.index()]] - 0.8176).abs() < 1e-4); // 1 / (1 + exp(−1.5))
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Same as [`Tagger::tag_with`].
    pub fn marginals<'s>(&self, sentence: impl Into<TagInput<'s>>) -> Result<Marginals> {
        let tag =
            |workspace: &mut _| self.tag_with(sentence, TagOptions::with_marginals(), workspace);
        Ok(self.with_workspace(tag)?.marginals.unwrap_or_default())
    }

    /// Finds the `n` best label sequences that are legal in the label scheme, best first; fewer if
    /// there are fewer.
    ///
    /// ```
    /// # use dropchain::label::LabelSet;
    /// # use dropchain::model::{EdgeWeights, Header};
    /// # use dropchain::{Model, Result, Sentence, Tagger};
    /// # fn main() -> Result<()> {
    /// # let labels = LabelSet::try_from(vec!["noun".to_owned(), "verb".to_owned()])?;
    /// # let [noun, verb] = ["noun", "verb"].map(|name| labels.id(name).unwrap());
    /// # let nodes = [("word=dogs", vec![(noun, 1.5)]), ("word=bark", vec![(verb, 2.0)])];
    /// # let edges: [EdgeWeights<&str>; 0] = [];
    /// # let tagger = Tagger::new(Model::from_weights(Header::new(labels), nodes, edges)?);
    /// # let sentence = Sentence::from_attributes([[("word=dogs", 1.0)], [("word=bark", 1.0)]])?;
    /// // With the tagger and the sentence of `marginals`:
    /// let paths = tagger.nbest(&sentence, 2)?;
    /// assert_eq!(tagger.label_names(&paths[0].labels), ["noun", "verb"]);
    /// assert_eq!(tagger.label_names(&paths[1].labels), ["verb", "verb"]);
    /// assert!(paths[0].probability > paths[1].probability);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Same as [`Tagger::tag_with`].
    pub fn nbest<'s>(&self, sentence: impl Into<TagInput<'s>>, n: usize) -> Result<Vec<LabelPath>> {
        let options = TagOptions { nbest: n.max(2), ..TagOptions::default() };
        let tagging =
            self.with_workspace(|workspace| self.tag_with(sentence, options, workspace))?;
        let mut paths = tagging.nbest;
        paths.truncate(n);
        Ok(paths)
    }

    /// Tags a sentence in the caller's workspace.
    ///
    /// Once the workspace is warm, only the result is allocated. A sentence without tokens has one
    /// label sequence, the empty one.
    ///
    /// # Errors
    ///
    /// - the sentence lacks columns that the model's template reads, or attributes if the model was
    ///   trained without a template;
    /// - a cell that should be a number is not;
    /// - scores overflow;
    /// - the sentence takes more memory than [`Tagger::with_memory_limit`] allows;
    /// - the model file is damaged;
    /// - the work is interrupted ([`Workspace::set_interrupt`]).
    pub fn tag_with<'s>(
        &self,
        sentence: impl Into<TagInput<'s>>,
        options: TagOptions,
        workspace: &mut Workspace,
    ) -> Result<Tagging> {
        self.tag_given(sentence, &Condition::new(), options, workspace)
    }

    /// Tags the sentences of one document, in order, with the default options: the template may
    /// look at the words of all of them. Document boundaries are left out of the document and of
    /// the result.
    ///
    /// ```no_run
    /// # use dropchain::{Result, Sentence, Tagger};
    /// # fn main() -> Result<()> {
    /// let tagger = Tagger::open("ner.model")?;
    /// let document = ["Ada Lovelace left", "Later Lovelace returned"]
    ///     .map(|text| Sentence::from_words(text.split(' ')));
    /// for tagging in tagger.tag_document(&document)? {
    ///     println!("{:?}", tagger.label_names(&tagging.labels));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Same as [`Tagger::tag_with`].
    pub fn tag_document<'s>(
        &self,
        sentences: impl IntoIterator<Item = &'s Sentence>,
    ) -> Result<Vec<Tagging>> {
        let document = Document::new(sentences);
        (0..document.len()).map(|i| self.tag((&document, i))).collect()
    }

    /// Tags a sentence of which some labels or spans are known: the best label sequence, the n best
    /// ones, and probabilities are those given that the sequence keeps them.
    ///
    /// p(label | sentence) and the probabilities of sequences are normalized over all sequences
    /// that fulfill the condition, legal or not.
    ///
    /// ```no_run
    /// use dropchain::label::Span;
    /// use dropchain::tag::{Condition, TagOptions, Tagger, Workspace};
    /// use dropchain::Sentence;
    ///
    /// # fn main() -> dropchain::Result<()> {
    /// let tagger = Tagger::open("ner.model")?;
    /// let sentence = Sentence::from_words(["Paris", "Hilton", "left", "Paris"]);
    /// let name = Span { start: 0, end: 2, kind: "PER" };
    /// let condition = Condition::new().span(&name).label(2, "O");
    /// let options = TagOptions { marginals: true, ..TagOptions::default() };
    /// let tagging = tagger.tag_given(&sentence, &condition, options, &mut Workspace::default())?;
    /// println!("{:?}", tagger.label_names(&tagging.labels));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Tagger::tag_with`], and
    ///
    /// - a label or span is outside of the sentence, a span is empty, or spans overlap;
    /// - the model does not have a label, or none for the type of a span;
    /// - no sequence fulfills the condition, or none that is legal if it must be;
    /// - the condition restricts pairs of labels (spans do) and the model has order 0.
    pub fn tag_given<'s>(
        &self,
        sentence: impl Into<TagInput<'s>>,
        condition: &Condition,
        options: TagOptions,
        workspace: &mut Workspace,
    ) -> Result<Tagging> {
        let sentence = sentence.into();
        let is_large = self.check_memory(sentence, condition, options)?;
        let _one_at_a_time =
            is_large.then(|| self.large.lock().unwrap_or_else(PoisonError::into_inner));
        let scored = self.score(sentence, condition, workspace);
        let tagging = scored.and_then(|()| self.decode(sentence, options, workspace));
        if is_large {
            workspace.free_arrays();
        }
        tagging
    }

    /// Checks that there is memory to tag a sentence. Returns whether it is large: too large to be
    /// tagged together with others.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if it takes more memory than the limit.
    pub(super) fn check_memory(
        &self,
        sentence: TagInput<'_>,
        condition: &Condition,
        options: TagOptions,
    ) -> Result<bool> {
        let header = self.model().header();
        let (tokens, labels) = (sentence.len(), header.labels.len());
        let has_edges = self.has_edges() || condition.has_pairs(header);
        let arrays = options.memory(tokens, labels, has_edges);
        let needed = arrays.saturating_add(condition.memory(tokens, header));
        let is_large = needed > SMALL;
        if !is_large && self.memory == MemoryLimit::Available {
            return Ok(false);
        }
        self.memory.check(needed, 0).map_err(|over| {
            let edges = if has_edges { " and edge attributes" } else { "" };
            let message = format!(
                "tagging a sentence of {tokens} tokens with {labels} labels{edges}: {over}; \
                 expected a shorter sentence, or a smaller number of best sequences"
            );
            Error::input(sentence.place(0), message)
        })?;
        Ok(is_large)
    }

    /// Returns whether label pairs have scores of their own at each token.
    pub(super) fn has_edges(&self) -> bool {
        self.model.header().order == Order::One && self.model.attributes(AttributeKind::Edge) > 0
    }

    /// Returns the transitions and boundary weights.
    pub fn transitions(&self) -> &Transitions {
        &self.transitions
    }

    /// Returns the constraint to label sequences that are legal in the label scheme; `None` if all
    /// are.
    pub fn constraint(&self) -> Option<&Constraint> {
        self.constraint.as_ref()
    }
}

/// The first of two passes, a tagger of its own.
#[derive(Debug)]
pub(super) struct FirstPass {
    tagger: Tagger,
    types: LabelTypes,
    /// Maximum distance in tokens of the predictions that the second pass reads.
    window: u32,
}

impl FirstPass {
    /// Returns the first pass of a model, if it has one.
    fn of(model: &Model) -> Option<Self> {
        let template = model.header().template.as_ref();
        let options = template.and_then(Template::documents).unwrap_or_default();
        let first = Arc::clone(model.first_pass()?);
        let types = LabelTypes::new(&first.header().labels, &first.header().labeling);
        Some(Self { types, tagger: Tagger::new(first), window: options.window })
    }

    /// Returns the sentences of a document with columns of predictions.
    pub fn extend(&self, document: &Document<'_>, interrupt: &Interrupt) -> Result<Vec<Sentence>> {
        let predict = |i| self.tagger.predict(document, i, &self.types, interrupt);
        let predictions = (0..document.len()).map(predict).collect::<Result<Vec<_>>>()?;
        let sentences = document.sentences().zip(&predictions);
        PredictedDocument::new(sentences, &self.types, self.window as usize).extended()
    }
}
