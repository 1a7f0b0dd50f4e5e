//! Tagging: from sentences and a model to labels.
//!
//! A [`Tagger`] is immutable and shared by threads; a [`Workspace`] belongs to one thread and is
//! reused from sentence to sentence. Tagging a sentence builds no strings: the fingerprint of each
//! attribute is put together of those of its parts and looked up in the mapped model.

mod scorer;
mod stream;

use std::path::Path;
use std::sync::Arc;

use ndarray::Array2;

use crate::chain::{Constraint, Lattice, Order, ScoredPath, Scores, Transitions, Viterbi};
use crate::error::{Error, Result};
use crate::extract::AttributeSource;
use crate::ids::LabelId;
use crate::model::{AttributeKind, Model, decoding_constraint};
use crate::sentence::{Schema, Sentence};
use crate::template;
use scorer::{Scorer, Scratch};
pub use stream::{Batch, stream};

/// What to find out about a sentence besides its best labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagOptions {
    /// Whether only label sequences that the scheme allows may be predicted.
    pub constrain: bool,
    /// Whether to give p(label | sentence) for each token and label.
    pub marginals: bool,
    /// How many label sequences to give, best first; 0 and 1 give the best without its rivals.
    pub nbest: usize,
    /// Whether to give the probability of the predicted sequence.
    pub probability: bool,
}

impl Default for TagOptions {
    fn default() -> Self {
        Self {
            constrain: true,
            marginals: false,
            nbest: 1,
            probability: false,
        }
    }
}

/// A label sequence with its score and probability.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelPath {
    /// Labels, `[T]`.
    pub labels: Vec<LabelId>,
    /// Sum of the weights along the sequence.
    pub score: f64,
    /// p(labels | sentence), among all sequences, legal or not.
    pub probability: f64,
}

/// What tagging found out about a sentence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tagging {
    /// The best labels, `[T]`.
    pub labels: Vec<LabelId>,
    /// p(label | sentence), `[T][K]`, if asked for.
    pub marginals: Option<Array2<f64>>,
    /// p(best labels | sentence), if asked for.
    pub probability: Option<f64>,
    /// The n best sequences, best first, if more than one was asked for.
    pub nbest: Vec<LabelPath>,
}

/// Tags sentences with a model.
#[derive(Debug)]
pub struct Tagger {
    model: Model,
    transitions: Transitions,
    constraint: Option<Constraint>,
    /// What tells this tagger from others that use the same workspace.
    identity: Arc<()>,
}

/// What one thread needs for tagging; made once, reused for every sentence, of any columns and
/// with any tagger.
#[derive(Debug, Default)]
pub struct Workspace {
    bound: Option<Bound>,
    template: template::Workspace,
    scratch: Scratch,
    nodes: Vec<f64>, // [T][stride]
    edges: Vec<f64>, // [T][K][stride]
    viterbi: Viterbi,
    lattice: Lattice,
}

/// The template of a tagger, bound to the columns of the last sentence.
#[derive(Debug)]
struct Bound {
    tagger: Arc<()>,
    schema: Arc<Schema>,
    source: AttributeSource,
}

impl Bound {
    /// Whether it is that of a tagger for the columns of `schema`.
    fn is_of(&self, tagger: &Tagger, schema: &Arc<Schema>) -> bool {
        Arc::ptr_eq(&self.tagger, &tagger.identity)
            && (Arc::ptr_eq(&self.schema, schema) || self.schema == *schema)
    }
}

impl Tagger {
    /// A tagger for `model`.
    #[must_use]
    pub fn new(model: Model) -> Self {
        let header = model.header();
        let mut transitions = Transitions::new(header.labels.len(), header.order);
        let weights = &header.label_weights;
        transitions.set(&weights.transitions, &weights.start, &weights.end);
        Self {
            constraint: decoding_constraint(&header.labels, header.scheme),
            transitions,
            model,
            identity: Arc::new(()),
        }
    }

    /// A tagger for the model in a file.
    ///
    /// # Errors
    ///
    /// As [`Model::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Model::open(path).map(Self::new)
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The name of a label.
    #[must_use]
    pub fn label(&self, id: LabelId) -> &str {
        self.model.header().labels.name(id)
    }

    /// The best labels of ready-made words, by name.
    ///
    /// # Errors
    ///
    /// As [`Tagger::tag`].
    pub fn tag_words<S: AsRef<str>>(
        &self,
        words: impl IntoIterator<Item = S>,
    ) -> Result<Vec<&str>> {
        let sentence = Sentence::from_words(words);
        let tagging = self.tag(&sentence, TagOptions::default(), &mut Workspace::default())?;
        Ok(tagging.labels.iter().map(|&id| self.label(id)).collect())
    }

    /// Tags a sentence. One without tokens has one label sequence, the empty one.
    ///
    /// # Errors
    ///
    /// A sentence without the columns that the model's template reads, or without attributes where
    /// the model was trained on ready-made ones; a cell that should be a number and is not;
    /// attribute values for which scores overflow; a damaged model file.
    pub fn tag(
        &self,
        sentence: &Sentence,
        options: TagOptions,
        workspace: &mut Workspace,
    ) -> Result<Tagging> {
        let edges = self.score(sentence, workspace)?;
        let Workspace {
            nodes,
            edges: edge_scores,
            viterbi,
            lattice,
            ..
        } = workspace;
        let scores = Scores {
            node: nodes,
            edge: edges.then_some(edge_scores),
        };
        let constraint = self.constraint.as_ref().filter(|_| options.constrain);
        let mut tagging = Tagging::default();
        let labels = &mut tagging.labels;
        let best = viterbi.decode(&self.transitions, scores, constraint, labels);
        if !best.is_finite() {
            return Err(overflow(sentence, 0));
        }
        if options.marginals || options.probability || options.nbest > 1 {
            let log_partition = lattice.forward_backward(&self.transitions, scores);
            if !log_partition.is_finite() {
                return Err(overflow(sentence, 0));
            }
            let probability = |score: f64| (score - log_partition).exp().min(1.0);
            tagging.probability = options.probability.then(|| probability(best));
            if options.marginals {
                tagging.marginals = Some(self.marginals(sentence.len(), lattice));
            }
            if options.nbest > 1 {
                let paths = viterbi.nbest(&self.transitions, scores, options.nbest, constraint);
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

    fn marginals(&self, tokens: usize, lattice: &Lattice) -> Array2<f64> {
        let (k, stride) = (self.transitions.labels(), self.transitions.stride());
        let padded = lattice.node_marginals();
        Array2::from_shape_fn((tokens, k), |(t, b)| padded[t * stride + b])
    }

    /// Writes the scores of a sentence into the workspace; whether there are edge scores.
    fn score(&self, sentence: &Sentence, workspace: &mut Workspace) -> Result<bool> {
        let (k, stride) = (self.transitions.labels(), self.transitions.stride());
        let edges = self.transitions.order() == Order::One
            && self.model.attributes(AttributeKind::Edge) > 0;
        let width = if edges { k * stride } else { 0 };
        workspace.nodes.clear();
        workspace.nodes.resize(sentence.len() * stride, 0.0);
        workspace.edges.clear();
        workspace.edges.resize(sentence.len() * width, 0.0);
        if sentence.is_empty() {
            return Ok(edges);
        }
        let schema = sentence.schema();
        let bound = match workspace.bound.take() {
            Some(bound) if bound.is_of(self, schema) => bound,
            _ => {
                workspace.scratch.forget();
                self.bind(schema)?
            }
        };
        workspace.scratch.clear();
        let mut scorer = Scorer {
            model: &self.model,
            scratch: &mut workspace.scratch,
            stride,
            width,
            fault: Ok(()),
        };
        let result = bound
            .source
            .attributes(sentence, &mut workspace.template, &mut scorer);
        let result =
            result.and_then(|()| scorer.finish(&mut workspace.nodes, &mut workspace.edges));
        workspace.bound = Some(bound);
        result?;
        for (scores, width) in [(&workspace.nodes, stride), (&workspace.edges, width)] {
            if let Some(i) = scores.iter().position(|score| !score.is_finite()) {
                return Err(overflow(sentence, i / width));
            }
        }
        Ok(edges)
    }

    /// The template, bound to the columns of `schema`.
    fn bind(&self, schema: &Arc<Schema>) -> Result<Bound> {
        let source = AttributeSource::bind(self.model.header().template.as_ref(), schema)?;
        Ok(Bound {
            tagger: Arc::clone(&self.identity),
            schema: Arc::clone(schema),
            source: source.with_fingerprinter(self.model.fingerprinter().unwrap_or_default()),
        })
    }
}

fn overflow(sentence: &Sentence, t: usize) -> Error {
    Error::input(
        sentence.place(t),
        "the scores of the labels are not finite; expected smaller attribute values, or a model \
         with smaller weights",
    )
}

#[cfg(test)]
mod tests;
