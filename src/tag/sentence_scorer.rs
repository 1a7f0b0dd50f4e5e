//! From a sentence to the scores of its labels: the first half of tagging.
//!
//! The model's template, bound to the columns of the sentence, makes its attributes, whose weights
//! a [`Scorer`] sums. Known labels and spans then restrict the scores.

use std::sync::Arc;

use super::attribute_filter::{AttributeFilter, Filtered};
use super::condition::Condition;
use super::input::TagInput;
use super::missing_columns;
use super::restriction::Restriction;
use super::scorer::Scorer;
use super::sentence_scores::SentenceScores;
use super::workspace::{BoundTemplate, Workspace};
use crate::chain::{Order, padded};
use crate::error::{Error, Result};
use crate::extract::{AttributeSource, TokenSink};
use crate::interrupt::STEP;
use crate::model::{AttributeKind, Model};
use crate::sentence::{DocumentOptions, SentenceRef};
use crate::template::{self, Template};

/// Computes the scores of sentences.
#[derive(Debug)]
pub(super) struct SentenceScorer {
    pub model: Arc<Model>,
    /// Distinguishes the scorer from others that use the same workspace.
    pub identity: Arc<()>,
    /// The template of the model, if what a document is was changed.
    template: Option<Template>,
    filter: Option<Arc<dyn AttributeFilter>>,
}

impl SentenceScorer {
    pub fn new(model: Arc<Model>) -> Self {
        Self { model, identity: Arc::new(()), template: None, filter: None }
    }

    /// Sets which attributes are seen.
    pub fn set_filter(&mut self, filter: Arc<dyn AttributeFilter>) {
        self.filter = Some(filter);
    }

    /// Returns what a document is; `None` if the template does not look at documents.
    pub fn documents(&self) -> Option<DocumentOptions> {
        self.template().and_then(Template::documents)
    }

    /// Sets what a document is, if the template looks at documents.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the template is too large to be changed.
    pub fn set_documents(&mut self, documents: DocumentOptions) -> Result<()> {
        let template = self.template().filter(|template| template.documents().is_some());
        if let Some(template) = template.cloned() {
            self.template = Some(template.with_documents(documents)?);
            self.identity = Arc::new(());
        }
        Ok(())
    }

    fn template(&self) -> Option<&Template> {
        self.template.as_ref().or(self.model.header().template.as_ref())
    }

    /// Returns whether label pairs have scores of their own at each token.
    pub fn has_edges(&self) -> bool {
        self.model.header().order == Order::One && self.model.attributes(AttributeKind::Edge) > 0
    }

    /// Computes the scores of a sentence in the workspace, as far as a condition allows.
    pub fn score(
        &self,
        sentence: TagInput<'_>,
        condition: &Condition,
        workspace: &mut Workspace,
    ) -> Result<()> {
        let restriction = Restriction::new(condition, sentence, self.model.header())?;
        let k = self.model.header().labels.len();
        let stride = padded(k);
        let width = if self.has_edges() { k * stride } else { 0 };
        let Workspace { scores, interrupt, .. } = workspace;
        scores.reset(sentence.len() * stride, sentence.len() * width, interrupt);
        interrupt.check()?;
        if !sentence.is_empty() {
            workspace.switch_to(&self.identity);
            self.add_weights(sentence, [stride, width], workspace)?;
        }
        let SentenceScores { nodes, edges, .. } = &workspace.scores;
        for (scores, width) in [(nodes, stride), (edges, width)] {
            for (k, scores) in scores.chunks(STEP).enumerate() {
                workspace.interrupt.check()?;
                if let Some(i) = scores.iter().position(|score| !score.is_finite()) {
                    return Err(overflow(sentence, (k * STEP + i) / width));
                }
            }
        }
        if let Some(restriction) = restriction {
            restriction.apply(&mut workspace.scores);
        }
        Ok(())
    }

    /// Adds the weights of a sentence's attributes to its scores, nodes `[T][stride]` and edges
    /// `[T][width]`.
    fn add_weights(
        &self,
        sentence: TagInput<'_>,
        [stride, width]: [usize; 2],
        workspace: &mut Workspace,
    ) -> Result<()> {
        self.read(sentence, workspace, |source, sentence, workspace| {
            let Workspace { buffers, interrupt, template, scores, .. } = workspace;
            let mut scorer = Scorer::new(&self.model, buffers, [stride, width], interrupt);
            match self.filter {
                None if scorer.takes_bundles(sentence.sentence().len()) => {
                    source.bundles(sentence, template, &mut scorer)?;
                }
                _ => self.filtered(source, sentence, template, &mut scorer)?,
            }
            scorer.finish(scores)
        })
    }

    /// Passes the attributes of a sentence that the filter keeps to `sink`, in their order.
    pub fn attributes(
        &self,
        sentence: TagInput<'_>,
        workspace: &mut Workspace,
        sink: &mut impl TokenSink,
    ) -> Result<()> {
        if sentence.is_empty() {
            return Ok(());
        }
        workspace.switch_to(&self.identity);
        self.read(sentence, workspace, |source, sentence, workspace| {
            self.filtered(source, sentence, &mut workspace.template, sink)
        })
    }

    fn filtered(
        &self,
        source: &AttributeSource,
        sentence: SentenceRef<'_>,
        workspace: &mut template::Workspace,
        sink: &mut impl TokenSink,
    ) -> Result<()> {
        match &self.filter {
            None => source.attributes(sentence, workspace, sink),
            Some(filter) => {
                let keeps = filter.of(sentence.sentence());
                source.attributes(sentence, workspace, &mut Filtered { sink, keeps })
            }
        }
    }

    /// Calls `f` with the source of attributes, bound to the columns of a sentence, and with the
    /// sentence in its document.
    fn read(
        &self,
        sentence: TagInput<'_>,
        workspace: &mut Workspace,
        f: impl FnOnce(&AttributeSource, SentenceRef<'_>, &mut Workspace) -> Result<()>,
    ) -> Result<()> {
        let Some(sentence) = sentence.in_context() else { return Ok(()) };
        let bound = self.bound(sentence, workspace)?;
        let result = f(&bound.source, sentence, workspace);
        workspace.bound = Some(bound);
        result
    }

    /// Takes the template out of the workspace, bound to the columns of a sentence.
    fn bound(&self, sentence: SentenceRef<'_>, workspace: &mut Workspace) -> Result<BoundTemplate> {
        let sentence = sentence.sentence();
        let schema = sentence.schema();
        if let Some(bound) = workspace.bound.take().filter(|bound| bound.is_for(schema)) {
            return Ok(bound);
        }
        workspace.buffers.reset();
        let source = AttributeSource::bind(self.template(), schema)
            .map_err(|e| missing_columns::explain(e, self.model.header(), sentence))?;
        let source = source.with_fingerprinter(self.model.fingerprinter());
        Ok(BoundTemplate { schema: Arc::clone(schema), source })
    }
}

/// The error of scores that are not finite at token `t`.
pub(super) fn overflow(sentence: TagInput<'_>, t: usize) -> Error {
    Error::input(
        sentence.place(t),
        "the scores of the labels are not finite; expected smaller attribute values, or a model \
         with smaller weights",
    )
}
