//! The tagger: scoring, decoding, marginals.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::attribute_filter::{AttributeFilter, Filtered};
use super::condition::Condition;
use super::input::TagInput;
use super::keyed_sentence::KeyedSentence;
use super::missing_columns;
use super::restriction::Restriction;
use super::scorer::{Scorer, ScoringBuffers};
use super::tagging::{LabelPath, SMALL, SentenceMemory, TagOptions, Tagging};
use super::workspace::{BoundTemplate, Workspace, WorkspacePool};
use crate::chain::{
    Constraint, LabelMask, Lattice, Marginals, Order, ScoredPath, Scores, Transitions,
};
use crate::error::{Error, Result};
use crate::extract::{AttributeSource, TokenSink};
use crate::ids::LabelId;
use crate::label::Labeling;
use crate::memory::MemoryLimit;
use crate::model::{AttributeKind, Model, decoding_constraint};
use crate::second_pass::{LabelTypes, PredictedDocument, Prediction};
use crate::sentence::{Document, DocumentOptions, Schema, Sentence, SentenceRef};
use crate::template::{self, Template};

/// Tags sentences with a model.
///
/// A tagger is `Send` and `Sync`: threads share one by reference or in an [`Arc`].
#[derive(Debug)]
pub struct Tagger {
    model: Arc<Model>,
    first_pass: Option<Box<FirstPass>>,
    transitions: Transitions,
    constraint: Option<Constraint>,
    /// Distinguishes this tagger from others that use the same workspace.
    identity: Arc<()>,
    pub(super) pool: WorkspacePool,
    pub(super) memory: MemoryLimit,
    /// The template of the model, if what a document is was changed.
    template: Option<Template>,
    /// Held while a sentence that is not small is tagged, so that there is one at a time.
    large: Mutex<()>,
    filter: Option<Arc<dyn AttributeFilter>>,
}

/// The first of two passes over a document.
#[derive(Debug)]
struct FirstPass {
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
        let header = first.header();
        Some(Self {
            types: LabelTypes::new(&header.labels, &header.labeling),
            tagger: Tagger::new(first),
            window: options.window,
        })
    }

    /// Sets what a document is.
    fn with_documents(self, options: DocumentOptions) -> Result<Self> {
        Ok(Self { tagger: self.tagger.with_documents(options)?, window: options.window, ..self })
    }

    /// Returns the sentences of a document with columns of predictions.
    fn extend(&self, document: &Document<'_>) -> Result<Vec<Sentence>> {
        let predictions = (0..document.len())
            .map(|i| self.tagger.predict(document, i, &self.types))
            .collect::<Result<Vec<_>>>()?;
        let sentences = document.sentences().zip(&predictions);
        PredictedDocument::new(sentences, &self.types, self.window as usize).extended()
    }
}

impl Tagger {
    /// Creates a tagger for `model`.
    pub fn new(model: impl Into<Arc<Model>>) -> Self {
        let model = model.into();
        let header = model.header();
        Self {
            constraint: decoding_constraint(&header.labels, &header.labeling),
            transitions: Transitions::from_weights(&header.label_weights, header.order),
            first_pass: FirstPass::of(&model).map(Box::new),
            model,
            identity: Arc::new(()),
            pool: WorkspacePool::default(),
            memory: MemoryLimit::default(),
            template: None,
            large: Mutex::new(()),
            filter: None,
        }
    }

    /// Sets which attributes of a sentence the tagger sees; of two passes, in both.
    /// [`KeyedSentence`]s keep their attributes.
    #[must_use]
    pub fn with_attribute_filter(mut self, filter: Arc<dyn AttributeFilter>) -> Self {
        self.first_pass = self.first_pass.map(|first| {
            let tagger = first.tagger.with_attribute_filter(Arc::clone(&filter));
            Box::new(FirstPass { tagger, ..*first })
        });
        let filter = Some(filter);
        Self { filter, ..self }
    }

    /// Sets the limit on the memory that tagging a sentence may take, by default most of the
    /// available memory.
    ///
    /// With edge attributes a token takes K² numbers, twice that for marginals or the n best
    /// sequences.
    #[must_use]
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

    /// Returns what has to be known around a sentence to tag it: the rule of
    /// [`documents`](Self::documents), and how many tokens before and after it. With two passes,
    /// the first sees documents from wherever the second looks.
    pub fn context(&self) -> Option<DocumentOptions> {
        let own = self.documents()?;
        let first = self.first_pass.as_ref();
        let first = first.and_then(|first| first.tagger.context());
        Some(DocumentOptions { window: own.window + first.map_or(0, |first| first.window), ..own })
    }

    /// Sets what a document is, instead of what the model was trained with. Has no effect if its
    /// template does not look at documents.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the template of the model is too large to be changed.
    pub fn with_documents(mut self, documents: DocumentOptions) -> Result<Self> {
        if self.documents().is_some()
            && let Some(template) = self.template()
        {
            self.template = Some(template.clone().with_documents(documents)?);
            self.identity = Arc::new(());
            let first = self.first_pass.take();
            let first = first.map(|first| first.with_documents(documents));
            self.first_pass = first.transpose()?.map(Box::new);
        }
        Ok(self)
    }

    fn template(&self) -> Option<&Template> {
        self.template.as_ref().or(self.model.header().template.as_ref())
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
    ) -> Result<Prediction> {
        let input = (document, i);
        let tag = |workspace: &mut _| self.tag_with(input, TagOptions::with_marginals(), workspace);
        let tagging = self.pool.with(tag)?;
        let marginals = tagging.marginals.unwrap_or_default();
        Ok(Prediction::new(&tagging.labels, &marginals, types))
    }

    /// Calls `f` with a workspace of the pool ([`Tagger::tag`]).
    pub fn with_workspace<R>(&self, f: impl FnOnce(&mut Workspace) -> R) -> R {
        self.pool.with(f)
    }

    /// Creates an empty sentence of ready-made attributes for this tagger.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the model has a template, which makes the attributes itself.
    pub fn keyed_sentence(&self) -> Result<KeyedSentence> {
        if self.model.header().template.is_some() {
            return Err(Error::parameter(
                "found ready-made attributes; expected words, since the model makes attributes \
                 with its template",
            ));
        }
        Ok(KeyedSentence::new(Arc::clone(&self.identity), self.model.fingerprinter()))
    }

    /// Returns the name of a label.
    pub fn label(&self, id: LabelId) -> &str {
        self.model.header().labels.name(id)
    }

    /// Returns the names of labels, such as those of [`Tagging::labels`].
    pub fn label_names(&self, labels: &[LabelId]) -> Vec<&str> {
        labels.iter().map(|&id| self.label(id)).collect()
    }

    /// Returns the names of the labels of a sentence in a labeling, such as
    /// [that of the training corpus](crate::tag::Header::corpus_labeling).
    pub fn label_names_in(&self, labeling: &Labeling, labels: &[LabelId]) -> Vec<Cow<'_, str>> {
        let names = self.label_names(labels);
        match &self.model.header().labeling {
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
        self.pool.with(|workspace| self.tag_with(sentence, TagOptions::default(), workspace))
    }

    /// Computes the marginals p(label | sentence) of every token and label, `[T][K]`.
    ///
    /// ```
    /// use dropchain::label::LabelSet;
    /// use dropchain::tag::{EdgeWeights, Header};
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
        Ok(self.pool.with(tag)?.marginals.unwrap_or_default())
    }

    /// Finds the `n` best label sequences that are legal in the label scheme, best first; fewer if
    /// there are fewer.
    ///
    /// ```
    /// # use dropchain::label::LabelSet;
    /// # use dropchain::tag::{EdgeWeights, Header};
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
        let tagging = (self.pool).with(|workspace| self.tag_with(sentence, options, workspace))?;
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
    /// - the model file is damaged.
    pub fn tag_with<'s>(
        &self,
        sentence: impl Into<TagInput<'s>>,
        options: TagOptions,
        workspace: &mut Workspace,
    ) -> Result<Tagging> {
        self.tag_restricted(sentence.into(), None, options, workspace)
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
        self.pool
            .with(|workspace| self.tag_document_with(&document, TagOptions::default(), workspace))
    }

    /// Tags the sentences of a document in the caller's workspace. To tag only some of them, pass
    /// `(&document, i)` to [`Tagger::tag_with`] or [`Tagger::tag_given`].
    ///
    /// # Errors
    ///
    /// Same as [`Tagger::tag_with`].
    pub fn tag_document_with(
        &self,
        document: &Document<'_>,
        options: TagOptions,
        workspace: &mut Workspace,
    ) -> Result<Vec<Tagging>> {
        (0..document.len()).map(|i| self.tag_with((document, i), options, workspace)).collect()
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
    /// Those of [`Tagger::tag_with`], and
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
        let restriction = self.restriction(condition, sentence)?;
        self.tag_restricted(sentence, restriction.as_ref(), options, workspace)
    }

    /// Returns the label sequences that a condition allows; `None` if it says nothing.
    pub(super) fn restriction(
        &self,
        condition: &Condition,
        sentence: TagInput<'_>,
    ) -> Result<Option<Restriction>> {
        if condition.is_empty() {
            condition.check(sentence)?;
            return Ok(None);
        }
        let [tokens, labels] = [sentence.len(), self.transitions.labels()];
        let needed = Restriction::memory(condition, tokens, self.model.header());
        if needed > SMALL || self.memory != MemoryLimit::Available {
            self.memory.check(needed, 0).map_err(|over| {
                let message = format!(
                    "known labels and spans of a sentence of {tokens} tokens with {labels} labels: \
                     {over}; expected a shorter sentence"
                );
                Error::input(sentence.place(0), message)
            })?;
        }
        let restriction = Restriction::new(condition, sentence, self.model.header())?;
        if let (Order::Zero, Some(&(t, ..))) =
            (self.transitions.order(), restriction.forbidden.first())
        {
            return Err(Error::input(
                sentence.place(t),
                "a known span needs a model of order 1, since a model of order 0 knows no pairs of \
                 labels; expected known labels only",
            ));
        }
        Ok(Some(restriction))
    }

    fn tag_restricted(
        &self,
        sentence: TagInput<'_>,
        restriction: Option<&Restriction>,
        options: TagOptions,
        workspace: &mut Workspace,
    ) -> Result<Tagging> {
        let needed = self.check_memory(sentence, options, restriction)?;
        if needed <= SMALL {
            return self.tag_within_limit(sentence, restriction, options, workspace);
        }
        let _one_at_a_time = self.large.lock().unwrap_or_else(PoisonError::into_inner);
        let tagging = self.tag_within_limit(sentence, restriction, options, workspace);
        workspace.free_arrays();
        tagging
    }

    /// Returns the memory that tagging a sentence takes, in bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] at the sentence if it is more than the limit.
    pub(super) fn check_memory(
        &self,
        sentence: TagInput<'_>,
        options: TagOptions,
        restriction: Option<&Restriction>,
    ) -> Result<u64> {
        let has_pairs = restriction.is_some_and(Restriction::has_pairs);
        let size = SentenceMemory {
            tokens: sentence.len(),
            labels: self.transitions.labels(),
            has_edges: has_pairs || self.has_edges(),
        };
        let needed = size.bytes(options);
        if needed <= SMALL && self.memory == MemoryLimit::Available {
            return Ok(needed);
        }
        self.memory.check(needed, 0).map_err(|over| {
            let edges = if size.has_edges { " and edge attributes" } else { "" };
            let message = format!(
                "tagging a sentence of {} tokens with {} labels{edges}: {over}; expected a shorter \
                 sentence, or a smaller number of best sequences",
                size.tokens, size.labels
            );
            Error::input(sentence.place(0), message)
        })?;
        Ok(needed)
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

    /// Returns whether label pairs have scores of their own at each token.
    fn has_edges(&self) -> bool {
        self.transitions.order() == Order::One && self.model.attributes(AttributeKind::Edge) > 0
    }

    fn tag_within_limit(
        &self,
        sentence: TagInput<'_>,
        restriction: Option<&Restriction>,
        options: TagOptions,
        workspace: &mut Workspace,
    ) -> Result<Tagging> {
        let has_edges = self.score_within(sentence, restriction, workspace)?;
        let mask = restriction.map(|restriction| &restriction.mask);
        let Workspace { nodes, edges, viterbi, lattice, .. } = workspace;
        let scores = Scores { node: nodes, edge: has_edges.then_some(edges) };
        let constraint = self.constraint().filter(|_| options.constrain);
        let mut tagging = Tagging::default();
        let labels = &mut tagging.labels;
        let best = viterbi.decode(&self.transitions, scores, constraint, mask, labels);
        if let Some(restriction) = restriction.filter(|_| best == f64::NEG_INFINITY) {
            return Err(no_sequence(sentence, restriction, constraint));
        }
        if !best.is_finite() {
            return Err(overflow(sentence, 0));
        }
        if options.marginals || options.probability || options.nbest > 1 {
            let log_partition = self.forward_backward(sentence, scores, mask, lattice)?;
            let probability = |score: f64| (score - log_partition).exp().min(1.0);
            tagging.probability = options.probability.then(|| probability(best));
            if options.marginals {
                tagging.marginals = Some(self.node_marginals(sentence.len(), lattice, mask));
            }
            if options.nbest > 1 {
                let n = options.nbest;
                let paths = viterbi.nbest(&self.transitions, scores, n, constraint, mask);
                let path = |path: ScoredPath| LabelPath {
                    probability: probability(path.score),
                    labels: path.labels,
                    score: path.score,
                };
                tagging.nbest = paths.into_iter().map(path).collect();
            }
        }
        Ok(tagging)
    }

    /// Fills the lattice of a sentence. Returns the logarithm of the partition function.
    pub(super) fn forward_backward(
        &self,
        sentence: TagInput<'_>,
        scores: Scores<'_>,
        mask: Option<&LabelMask>,
        lattice: &mut Lattice,
    ) -> Result<f64> {
        let log_partition = match mask {
            None => lattice.forward_backward(&self.transitions, scores),
            Some(mask) => lattice.forward_backward_within(&self.transitions, scores, mask),
        };
        match log_partition.is_finite() {
            true => Ok(log_partition),
            false => Err(overflow(sentence, 0)),
        }
    }

    /// Computes the scores of a sentence in the workspace, −∞ for label pairs that a restriction
    /// forbids. Returns whether there are edge scores.
    pub(super) fn score_within(
        &self,
        sentence: TagInput<'_>,
        restriction: Option<&Restriction>,
        workspace: &mut Workspace,
    ) -> Result<bool> {
        let has_edges = self.score(sentence, workspace)?;
        match restriction {
            Some(restriction) if restriction.has_pairs() => {
                self.forbid(&restriction.forbidden, sentence.len(), &mut workspace.edges);
                Ok(true)
            }
            _ => Ok(has_edges),
        }
    }

    /// Gives label pairs the score −∞, in edge scores that are created if there are none.
    fn forbid(&self, pairs: &[(usize, LabelId, LabelId)], tokens: usize, edges: &mut Vec<f64>) {
        let (k, stride) = (self.transitions.labels(), self.transitions.stride());
        edges.resize(tokens * k * stride, 0.0);
        for (t, a, b) in pairs {
            edges[(t * k + a.index()) * stride + b.index()] = f64::NEG_INFINITY;
        }
    }

    /// Copies the node marginals out of the lattice, without its padding. Those of labels outside
    /// of the mask are 0; in the lattice, they are rounded up.
    pub(super) fn node_marginals(
        &self,
        tokens: usize,
        lattice: &Lattice,
        mask: Option<&LabelMask>,
    ) -> Marginals {
        let (k, stride) = (self.transitions.labels(), self.transitions.stride());
        let padded = lattice.node_marginals();
        let cells = (0..tokens).flat_map(|t| (0..k).map(move |b| (t, b)));
        let values = cells.map(|(t, b)| match mask {
            Some(mask) if !mask.allows(t, LabelId(b as u16)) => 0.0,
            _ => padded[t * stride + b],
        });
        Marginals::new(values.collect(), k)
    }

    /// Computes the scores of a sentence in the workspace. Returns whether there are edge scores.
    fn score(&self, sentence: TagInput<'_>, workspace: &mut Workspace) -> Result<bool> {
        let (k, stride) = (self.transitions.labels(), self.transitions.stride());
        let has_edges = self.has_edges();
        let width = if has_edges { k * stride } else { 0 };
        workspace.nodes.clear();
        workspace.nodes.resize(sentence.len() * stride, 0.0);
        workspace.edges.clear();
        workspace.edges.resize(sentence.len() * width, 0.0);
        if sentence.is_empty() {
            return Ok(has_edges);
        }
        workspace.switch_to(&self.identity);
        if let TagInput::Keyed(sentence) = sentence {
            self.score_keyed(sentence, width, workspace)?;
        }
        self.with_predictions(sentence, |sentence| {
            self.score_attributes(sentence, width, workspace)
        })?;
        for (scores, width) in [(&workspace.nodes, stride), (&workspace.edges, width)] {
            if let Some(i) = scores.iter().position(|score| !score.is_finite()) {
                return Err(overflow(sentence, i / width));
            }
        }
        Ok(has_edges)
    }

    /// Calls `f` with a sentence as the template reads it: if there is a first pass, with its
    /// predictions. Does nothing for sentences of which there are only keys.
    fn with_predictions(
        &self,
        sentence: TagInput<'_>,
        f: impl FnOnce(SentenceRef<'_>) -> Result<()>,
    ) -> Result<()> {
        let context = match sentence {
            TagInput::Sentence(sentence) => Some(sentence.into()),
            TagInput::InDocument(document, i) => document.in_context(i),
            TagInput::Keyed(_) => None,
        };
        let Some(sentence) = context else {
            return Ok(());
        };
        let Some(first) = &self.first_pass else {
            return f(sentence);
        };
        let alone;
        let (document, i) = match sentence.document() {
            Some(document) => document,
            None => {
                alone = Document::alone(sentence.sentence());
                (&alone, 0)
            }
        };
        let predicted = document.derived(&self.identity, || first.extend(document))?;
        f(predicted.in_context(i).unwrap_or(sentence))
    }

    /// Adds the weights of a sentence's attributes, as the template or the sentence itself has
    /// them, to the scores in the workspace.
    fn score_attributes(
        &self,
        sentence: SentenceRef<'_>,
        width: usize,
        workspace: &mut Workspace,
    ) -> Result<()> {
        let bound = self.bound(sentence, workspace)?;
        workspace.buffers.clear();
        let mut scorer = self.scorer(&mut workspace.buffers, width);
        let result = match scorer.takes_bundles(sentence.sentence().len()) {
            true if self.filter.is_none() => {
                (bound.source).bundles(sentence, &mut workspace.template, &mut scorer)
            }
            _ => self.filtered(&bound, sentence, &mut workspace.template, &mut scorer),
        };
        let result =
            result.and_then(|()| scorer.finish(&mut workspace.nodes, &mut workspace.edges));
        workspace.bound = Some(bound);
        result
    }

    /// Passes the attributes of a sentence that the tagger sees to `sink`, with their names, in
    /// their order. Does nothing for a [`KeyedSentence`], which has no names.
    ///
    /// # Errors
    ///
    /// Those of [`Tagger::tag_with`] before there are scores, and of the sink.
    pub fn attributes<'s>(
        &self,
        sentence: impl Into<TagInput<'s>>,
        sink: &mut impl TokenSink,
    ) -> Result<()> {
        let sentence = sentence.into();
        if sentence.is_empty() {
            return Ok(());
        }
        self.pool.with(|workspace| {
            workspace.switch_to(&self.identity);
            self.with_predictions(sentence, |sentence| {
                let bound = self.bound(sentence, workspace)?;
                let result = self.filtered(&bound, sentence, &mut workspace.template, sink);
                workspace.bound = Some(bound);
                result
            })
        })
    }

    /// Passes the attributes of a sentence that the filter keeps to `sink`.
    fn filtered(
        &self,
        bound: &BoundTemplate,
        sentence: SentenceRef<'_>,
        workspace: &mut template::Workspace,
        sink: &mut impl TokenSink,
    ) -> Result<()> {
        let Some(filter) = &self.filter else {
            return bound.source.attributes(sentence, workspace, sink);
        };
        let keeps = filter.of(sentence.sentence());
        let mut filtered = Filtered { sink, keeps };
        (bound.source).attributes(sentence, workspace, &mut filtered)
    }

    /// Takes the template out of the workspace, bound to the columns of a sentence.
    fn bound(&self, sentence: SentenceRef<'_>, workspace: &mut Workspace) -> Result<BoundTemplate> {
        let schema = sentence.sentence().schema();
        match workspace.bound.take() {
            Some(bound) if bound.is_for(schema) => Ok(bound),
            _ => {
                workspace.buffers.reset();
                let bound = self.bind(schema);
                bound.map_err(|e| {
                    missing_columns::explain(e, self.model.header(), sentence.sentence())
                })
            }
        }
    }

    /// Adds the weights of a sentence's attributes, looked up by their keys, to the scores in the
    /// workspace.
    fn score_keyed(
        &self,
        sentence: &KeyedSentence,
        width: usize,
        workspace: &mut Workspace,
    ) -> Result<()> {
        if !sentence.is_for(&self.identity) {
            return Err(Error::parameter("the sentence was made for another tagger"));
        }
        workspace.buffers.clear();
        let mut scorer = self.scorer(&mut workspace.buffers, width);
        scorer.add_keyed(sentence);
        scorer.finish(&mut workspace.nodes, &mut workspace.edges)
    }

    fn scorer<'a>(&'a self, buffers: &'a mut ScoringBuffers, width: usize) -> Scorer<'a> {
        Scorer { model: &self.model, buffers, stride: self.transitions.stride(), width }
    }

    /// Binds the template to the columns of `schema`.
    fn bind(&self, schema: &Arc<Schema>) -> Result<BoundTemplate> {
        let source = AttributeSource::bind(self.template(), schema)?;
        let fingerprinter = self.model.fingerprinter();
        Ok(BoundTemplate {
            schema: Arc::clone(schema),
            source: source.with_fingerprinter(fingerprinter),
        })
    }
}

/// The error of a restriction that no sequence fulfills, at the first token that none reaches.
fn no_sequence(
    sentence: TagInput<'_>,
    restriction: &Restriction,
    constraint: Option<&Constraint>,
) -> Error {
    let t = restriction.first_unreachable(constraint).unwrap_or(0);
    let (legal, or_off) = match constraint {
        Some(_) => ("legal ", ", or --constrain off"),
        None => ("", ""),
    };
    Error::input(
        sentence.place(t),
        format!(
            "no {legal}label sequence has the known labels and spans up to here; expected labels \
             and spans that fit together{or_off}"
        ),
    )
}

fn overflow(sentence: TagInput<'_>, t: usize) -> Error {
    Error::input(
        sentence.place(t),
        "the scores of the labels are not finite; expected smaller attribute values, or a model \
         with smaller weights",
    )
}
