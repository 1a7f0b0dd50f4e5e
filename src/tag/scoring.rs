//! From a sentence to the scores of its labels: the first half of tagging.
//!
//! The model's template, bound to the columns of the sentence, makes its attributes, whose weights
//! a [`Scorer`] sums. Known labels and spans then restrict the scores.

use std::sync::Arc;

use super::condition::Condition;
use super::input::TagInput;
use super::restriction::Restriction;
use super::scorer::{Scorer, SentenceScores};
use super::tagger::Tagger;
use super::workspace::{BoundTemplate, Workspace};
use crate::chain::padded;
use crate::error::{Error, Result};
use crate::extract::{AttributeSource, TokenSink};
use crate::interrupt::STEP;
use crate::model::Header;
use crate::sentence::{Document, Sentence, SentenceRef};
use crate::template::{self, Attribute, AttributeSink};

/// Passes on the attributes of a sentence that a filter keeps.
struct Filtered<'s, S> {
    sink: &'s mut S,
    keeps: Box<dyn FnMut(&Attribute<'_>) -> bool>,
}

impl<S: AttributeSink> AttributeSink for Filtered<'_, S> {
    fn node(&mut self, attribute: &Attribute<'_>, value: f64) {
        if (self.keeps)(attribute) {
            self.sink.node(attribute, value);
        }
    }

    fn edge(&mut self, attribute: &Attribute<'_>, value: f64) {
        if (self.keeps)(attribute) {
            self.sink.edge(attribute, value);
        }
    }
}

impl<S: TokenSink> TokenSink for Filtered<'_, S> {
    fn end_token(&mut self, t: usize) -> Result<()> {
        self.sink.end_token(t)
    }
}

impl Tagger {
    /// Passes the attributes of a sentence that the tagger sees to `sink`, with their names, in
    /// their order.
    ///
    /// # Errors
    ///
    /// The errors of [`Tagger::tag_with`] before there are scores, and of the sink.
    pub fn attributes<'s>(
        &self,
        sentence: impl Into<TagInput<'s>>,
        workspace: &mut Workspace,
        sink: &mut impl TokenSink,
    ) -> Result<()> {
        self.read(sentence.into(), workspace, |source, sentence, workspace| {
            self.filtered(source, sentence, &mut workspace.template, sink)
        })
    }

    /// Computes the scores of a sentence in the workspace, as far as a condition allows.
    pub(super) fn score(
        &self,
        sentence: TagInput<'_>,
        condition: &Condition,
        workspace: &mut Workspace,
    ) -> Result<()> {
        let restriction = Restriction::new(condition, sentence, self.model.header())?;
        let k = self.model.header().labels.len();
        let stride = padded(k);
        let width = if self.has_edges() { k * stride } else { 0 };
        // A sentence without tokens is not read, so nothing below fills them.
        workspace.scores.reset(0, 0, &workspace.interrupt);
        self.read(sentence, workspace, |source, sentence, workspace| {
            let Workspace { buffers, interrupt, template, scores, .. } = workspace;
            let tokens = sentence.sentence().len();
            scores.reset(tokens * stride, tokens * width, interrupt);
            interrupt.check()?;
            let mut scorer = Scorer::new(&self.model, buffers, [stride, width], interrupt);
            match self.filter {
                None if scorer.takes_bundles(tokens) => {
                    source.bundles(sentence, template, &mut scorer)?;
                }
                _ => self.filtered(source, sentence, template, &mut scorer)?,
            }
            scorer.finish(scores)
        })?;
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

    /// Calls `f` with the source of attributes and with a sentence in its document as the template
    /// reads it: if there is a first pass, with its predictions. Does nothing without tokens.
    fn read(
        &self,
        sentence: TagInput<'_>,
        workspace: &mut Workspace,
        f: impl FnOnce(&AttributeSource, SentenceRef<'_>, &mut Workspace) -> Result<()>,
    ) -> Result<()> {
        let own = sentence.in_context().filter(|_| !sentence.is_empty());
        let Some(mut sentence) = own else { return Ok(()) };
        let (alone, predicted);
        if let Some(first) = &self.first_pass {
            alone = Document::alone(sentence.sentence());
            let (document, i) = sentence.document().unwrap_or((&alone, 0));
            let extend = || first.extend(document, &workspace.interrupt);
            predicted = document.derived(&self.identity, extend)?;
            let Some(extended) = predicted.in_context(i) else { return Ok(()) };
            sentence = extended;
        }
        workspace.switch_to(&self.identity);
        let bound = self.bound(sentence, workspace)?;
        let result = f(&bound.source, sentence, workspace);
        workspace.bound = Some(bound);
        result
    }

    /// Takes the template out of the workspace, bound to the columns of a sentence.
    fn bound(&self, sentence: SentenceRef<'_>, workspace: &mut Workspace) -> Result<BoundTemplate> {
        let sentence = sentence.sentence();
        let schema = sentence.schema();
        let is_same = |own: &Arc<_>| Arc::ptr_eq(own, schema) || own == schema;
        if let Some(bound) = workspace.bound.take().filter(|bound| is_same(&bound.schema)) {
            return Ok(bound);
        }
        workspace.buffers.reset();
        let source = AttributeSource::bind(self.template(), schema)
            .map_err(|e| explain(e, self.model.header(), sentence))?;
        let source = source.with_fingerprinter(self.model.fingerprinter());
        Ok(BoundTemplate { schema: Arc::clone(schema), source })
    }
}

/// The contents of columns with well-known names.
const CONTENTS: [(&str, &str); 7] = [
    ("pos", "part-of-speech tags"),
    ("upos", "part-of-speech tags"),
    ("xpos", "part-of-speech tags"),
    ("tag", "part-of-speech tags"),
    ("lemma", "lemmas"),
    ("chunk", "chunk tags"),
    ("feats", "morphological features"),
];

/// Explains an error of binding the template of a model to the columns of a sentence, if it is that
/// the sentence lacks columns of the training data.
fn explain(error: Error, header: &Header, sentence: &Sentence) -> Error {
    let (schema, names) = (sentence.schema(), &header.columns.names);
    let lacking: Vec<usize> = (0..names.len())
        .filter(|&i| !header.columns.is_label(i) && schema.position(&names[i]).is_none())
        .collect();
    let binds_with = |columns: &[usize]| {
        let columns: Vec<&str> = columns.iter().map(|&i| &*names[i]).collect();
        let schema = schema.with_derived(&columns).map(Arc::new);
        schema.is_ok_and(|schema| AttributeSource::bind(header.template.as_ref(), &schema).is_ok())
    };
    if !binds_with(&lacking) {
        return error;
    }
    let is_needed = |&column: &usize| {
        let others = lacking.iter().copied().filter(|&other| other != column);
        !binds_with(&others.collect::<Vec<_>>())
    };
    let needed = lacking.iter().copied().filter(is_needed).map(|i| {
        let known = CONTENTS.iter().find(|(known, _)| *known == names[i]);
        let contents = known.map_or_else(String::new, |(_, contents)| format!("{contents} in "));
        format!("{contents}column {} ('{}')", i + 1, names[i])
    });
    Error::input(
        sentence.place(0),
        format!(
            "this model needs {}; the input has only {} (the training data had {})",
            needed.collect::<Vec<_>>().join(" and "),
            schema.list(),
            names.join(" ")
        ),
    )
}

/// The error of scores that are not finite at token `t`.
pub(super) fn overflow(sentence: TagInput<'_>, t: usize) -> Error {
    Error::input(
        sentence.place(t),
        "the scores of the labels are not finite; expected smaller attribute values, or a model \
         with smaller weights",
    )
}
