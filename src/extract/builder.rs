//! Building a data set from sentences: the source of their attributes, a template or the input
//! itself, and the builder.

use std::cell::Cell;
use std::sync::Arc;

use super::Dataset;
use super::alphabet::Alphabets;
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprinter;
use crate::ids::{AttributeId, LabelId};
use crate::sentence::{Schema, Sentence, SentenceRef};
use crate::template::{Attribute, AttributeSink, BundleSink, Extractor, Template, Workspace};

/// Maximum absolute value of an attribute; sums of squares of larger ones might overflow.
pub(super) const MAX_VALUE: f64 = 1e30;

/// The error of an attribute whose value is larger, or not a number.
pub(super) fn beyond_limit(name: &str, value: f64) -> Error {
    Error::parameter(format!(
        "attribute '{name}' has the value {value}; expected a number of at most {MAX_VALUE:e}"
    ))
}

/// Produces the attributes of each token.
#[derive(Debug)]
pub enum AttributeSource {
    /// A template, bound to the columns of the input.
    Template(Box<Extractor>),
    /// The input itself ([`Sentence::attributes`]).
    Input(Fingerprinter),
}

impl AttributeSource {
    /// Creates the source for sentences of `schema`: the template or, if there is none, the
    /// attributes that come with the input.
    ///
    /// # Errors
    ///
    /// The template reads columns that `schema` does not have.
    pub fn bind(template: Option<&Template>, schema: &Schema) -> Result<Self> {
        Ok(match template {
            Some(template) => Self::Template(Box::new(template.bind(schema)?)),
            None => Self::Input(Fingerprinter::default()),
        })
    }

    /// Sets the fingerprinter that computes the keys of attributes.
    #[must_use]
    pub fn with_fingerprinter(self, fingerprinter: Fingerprinter) -> Self {
        match self {
            Self::Template(extractor) => {
                Self::Template(Box::new(extractor.with_fingerprinter(fingerprinter)))
            }
            Self::Input(_) => Self::Input(fingerprinter),
        }
    }

    /// Returns a copy of a training sentence without case, with `weight` times its weight, if the
    /// template gives such sentences attributes of their own and the copy is another sentence.
    ///
    /// # Errors
    ///
    /// The sentence is too long, or the weight too large.
    pub fn caseless_copy(&self, sentence: &Sentence, weight: f64) -> Result<Option<Sentence>> {
        match self {
            Self::Template(extractor) => extractor.caseless_copy(sentence, weight),
            Self::Input(_) => Ok(None),
        }
    }

    /// Passes all attributes of a sentence to `sink`, token by token; `end_token(t)` follows the
    /// attributes of token `t`.
    ///
    /// # Errors
    ///
    /// A cell that should be a number is not; without a template, the sentence has no attributes or
    /// the wrong number of them; the sink returns an error.
    pub fn attributes<S: TokenSink>(
        &self,
        context: SentenceRef<'_>,
        workspace: &mut Workspace,
        sink: &mut S,
    ) -> Result<()> {
        let sentence = context.sentence();
        match self {
            Self::Template(extractor) => {
                extractor.prepare(context, workspace)?;
                for t in 0..sentence.len() {
                    extractor.extract(sentence, t, workspace, sink);
                    sink.end_token(t)?;
                }
                Ok(())
            }
            Self::Input(fingerprinter) => input_attributes(sentence, *fingerprinter, sink),
        }
    }

    /// Passes all attributes of a sentence to `sink` like [`attributes`](Self::attributes), those
    /// of bundles first, and of these only what the sink wants.
    ///
    /// # Errors
    ///
    /// Same as [`attributes`](Self::attributes).
    pub fn bundles<S: TokenSink + BundleSink>(
        &self,
        context: SentenceRef<'_>,
        workspace: &mut Workspace,
        sink: &mut S,
    ) -> Result<()> {
        let Self::Template(extractor) = self else {
            return self.attributes(context, workspace, sink);
        };
        extractor.prepare(context, workspace)?;
        extractor.start_bundles(workspace, sink);
        for t in 0..context.sentence().len() {
            extractor.extract_bundles(t, workspace, sink);
            sink.end_token(t)?;
        }
        Ok(())
    }
}

/// Passes the attributes that come with a sentence to `sink`.
fn input_attributes<S: TokenSink>(
    sentence: &Sentence,
    fingerprinter: Fingerprinter,
    sink: &mut S,
) -> Result<()> {
    let fault = |message: &str| Err(Error::input(sentence.place(0), message));
    let Some(attributes) = &sentence.attributes else {
        return fault(
            "found columns; expected pre-extracted attributes (CRFsuite's format), because there \
             is no template",
        );
    };
    if attributes.is_full() {
        return fault("the sentence has more than 4 GiB of attributes");
    }
    let (found, tokens) = (attributes.len(), sentence.len());
    if found != tokens {
        return fault(&format!(
            "found attributes for {found} tokens; expected them for all {tokens} of the sentence"
        ));
    }
    for t in 0..sentence.len() {
        for (name, value) in attributes.token(t) {
            sink.node(&Attribute::named(name.as_bytes(), fingerprinter), value);
        }
        for (name, value) in attributes.edge(t) {
            sink.edge(&Attribute::named(name.as_bytes(), fingerprinter), value);
        }
        sink.end_token(t)?;
    }
    Ok(())
}

/// An [`AttributeSink`] that also receives the boundaries of tokens.
pub trait TokenSink: AttributeSink {
    /// Called after the last attribute of token `t`.
    ///
    /// # Errors
    ///
    /// The first error among the attributes of this token.
    fn end_token(&mut self, t: usize) -> Result<()>;
}

/// Builds a [`Dataset`] sentence by sentence.
#[derive(Debug)]
pub struct DatasetBuilder {
    /// Produces the attributes.
    pub source: AttributeSource,
    workspace: Workspace,
    extracted: Extracted,
}

/// The data set so far, and how attributes are added to it.
#[derive(Debug)]
struct Extracted {
    alphabets: Alphabets,
    grow: bool,  // whether new attributes are interned
    edges: bool, // whether edge attributes are extracted
    data: Dataset,
    entries: [Vec<(u32, f64)>; 2], // node and edge entries of the token
}

impl DatasetBuilder {
    /// Creates a builder of training data that adds to alphabets. Edge attributes are extracted
    /// only if `edges` is set (order 1).
    pub fn extending(source: AttributeSource, alphabets: Alphabets, edges: bool) -> Self {
        let mut builder = Self::with_alphabets(source, alphabets, edges);
        builder.extracted.grow = true;
        builder
    }

    /// Creates a builder with fixed alphabets: unknown attributes are dropped.
    pub fn with_alphabets(source: AttributeSource, alphabets: Alphabets, edges: bool) -> Self {
        let extracted = Extracted {
            alphabets,
            grow: false,
            edges,
            data: Dataset::default(),
            entries: [Vec::new(), Vec::new()],
        };
        Self { source, workspace: Workspace::default(), extracted }
    }

    /// Switches to another source for the following sentences, for example those of another schema.
    /// Unknown attributes are dropped from here on.
    pub fn switch_source(&mut self, source: AttributeSource) {
        self.source = source;
        self.extracted.grow = false;
        self.workspace.clear();
    }

    /// Adds a sentence with its labels, `[T]`, or with none if it is unlabeled. Labeled sentences
    /// must come first. The sentence counts with its [weight](Sentence::weight).
    ///
    /// # Errors
    ///
    /// The errors of [`AttributeSource::attributes`]; a value that is not finite or beyond ±10³⁰;
    /// too many attributes. The builder must not be used after an error.
    ///
    /// # Panics
    ///
    /// If some tokens have labels and others do not.
    pub fn add<'a>(
        &mut self,
        sentence: impl Into<SentenceRef<'a>>,
        labels: &[LabelId],
    ) -> Result<()> {
        self.extracted.data.labels.extend_from_slice(labels);
        self.add_tokens(sentence.into(), labels.len())
    }

    /// Adds a sentence with the labels that each token may have, `[T]`; with none, a token may have
    /// any.
    ///
    /// # Errors
    ///
    /// Same as [`add`](Self::add).
    ///
    /// # Panics
    ///
    /// If there are not as many sets of labels as tokens.
    pub fn add_partial<'a>(
        &mut self,
        sentence: impl Into<SentenceRef<'a>>,
        allowed: &[Vec<LabelId>],
    ) -> Result<()> {
        for labels in allowed {
            self.extracted.data.push_labels(labels);
        }
        self.add_tokens(sentence.into(), allowed.len())
    }

    /// Adds the tokens of a sentence, of which `labeled` have labels: all or none.
    fn add_tokens(&mut self, context: SentenceRef<'_>, labeled: usize) -> Result<()> {
        let sentence = context.sentence();
        let mut sink = DatasetSink { to: &mut self.extracted, sentence, first: true, error: None };
        self.source.attributes(context, &mut self.workspace, &mut sink)?;
        let data = &mut self.extracted.data;
        let (tokens, labels) = (data.nodes.len(), data.labels.len());
        assert!(labels == tokens || labeled == 0, "{labels} labels for {tokens} tokens");
        data.end_sentence(tokens, sentence.weight());
        Ok(())
    }

    /// Returns the data set and its alphabets.
    pub fn finish(self) -> (Dataset, Alphabets) {
        let Extracted { mut data, alphabets, .. } = self.extracted;
        data.shrink_to_fit();
        (data, alphabets)
    }

    /// Returns the memory usage in bytes of the data set and the alphabets so far.
    pub fn memory(&self) -> usize {
        self.extracted.data.memory() + self.extracted.alphabets.memory()
    }
}

/// Appends the attributes of one sentence to the data set.
struct DatasetSink<'a> {
    to: &'a mut Extracted,
    sentence: &'a Sentence,
    first: bool, // whether this is the first token, which no edge leads into
    error: Option<Error>,
}

/// The memo of an attribute that is not in the alphabet. 0 means not looked up yet.
const ABSENT: u64 = 1;

/// Added to the id of an attribute to make its memo.
const PRESENT: u64 = 2;

impl DatasetSink<'_> {
    fn push(&mut self, edge: bool, attribute: &Attribute<'_>, value: f64) {
        if value == 0.0 || self.error.is_some() {
            return;
        }
        let id = if value.abs() <= MAX_VALUE {
            self.id(edge, attribute)
        } else {
            let mut name = Vec::new();
            attribute.write(&mut name);
            Err(beyond_limit(&String::from_utf8_lossy(&name), value))
        };
        match id {
            Ok(Some(id)) => self.to.entries[usize::from(edge)].push((id.0, value)),
            Ok(None) => {}
            Err(error) => self.error = Some(error),
        }
    }

    /// Looks up an attribute, by its memo if it has one, and interns it if the alphabets may grow.
    fn id(&mut self, edge: bool, attribute: &Attribute<'_>) -> Result<Option<AttributeId>> {
        let memo = attribute.memo();
        match memo.map_or(0, Cell::get) {
            0 => {}
            ABSENT => return Ok(None),
            memo => return Ok(Some(AttributeId((memo - PRESENT) as u32))),
        }
        let Alphabets { nodes, edges } = &mut self.to.alphabets;
        let alphabet = if edge { edges } else { nodes };
        let id = match self.to.grow {
            true => Some(alphabet.intern(attribute)?),
            false => alphabet.find(attribute),
        };
        if let Some(memo) = memo {
            memo.set(id.map_or(ABSENT, |id| u64::from(id.0) + PRESENT));
        }
        Ok(id)
    }
}

impl AttributeSink for DatasetSink<'_> {
    fn node(&mut self, attribute: &Attribute<'_>, value: f64) {
        self.push(false, attribute, value);
    }

    fn edge(&mut self, attribute: &Attribute<'_>, value: f64) {
        if self.to.edges && !self.first {
            self.push(true, attribute, value);
        }
    }
}

impl TokenSink for DatasetSink<'_> {
    fn end_token(&mut self, t: usize) -> Result<()> {
        if let Some(error) = self.error.take() {
            return Err(Error::input(self.sentence.place(t), error.to_string()));
        }
        let Extracted { data, entries, .. } = &mut *self.to;
        // Nobody shares the matrices yet, so nothing is copied.
        Arc::make_mut(&mut data.nodes).push_row(&mut entries[0]);
        Arc::make_mut(&mut data.edges).push_row(&mut entries[1]);
        entries.iter_mut().for_each(Vec::clear);
        self.first = false;
        Ok(())
    }
}
