//! Development data.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::corpora::for_each_in_context;
use super::events::DevScore;
use super::label_scores::LabelScores;
use super::labels::TrainingLabels;
use crate::chain::{Constraint, LabelWeights, Transitions};
use crate::error::{Error, Result};
use crate::eval::{Counts, Evaluation};
use crate::extract::{Alphabets, AttributeSource, Classes, Dataset, DatasetBuilder};
use crate::ids::LabelId;
use crate::model::{add_recall_bias, decoding_constraint};
use crate::score::ParameterSpace;
use crate::sentence::Sentence;
use crate::template::Template;

/// The number of threads that the estimate of memory assumes, so that logs do not depend on it.
const THREADS: usize = 8;

/// Development data over the attribute classes of the training data.
#[derive(Debug)]
pub(super) struct DevelopmentSet {
    pub(super) data: Dataset,
    gold: Vec<Vec<String>>, // [sentences][T]
    labels: TrainingLabels,
    pub(super) constraint: Option<Constraint>,
    /// Whether the data are only reported.
    pub is_report: bool,
}

/// Hashes the data and the gold labels.
impl Hash for DevelopmentSet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.data.hash(state);
        self.gold.hash(state);
    }
}

impl DevelopmentSet {
    /// Extracts the attributes of the development sentences, dropping those that do not occur in
    /// the training data. Also returns the alphabets.
    pub fn from_text(
        (sentences, gold): (&[Sentence], Vec<Vec<String>>),
        template: Option<&Template>,
        alphabets: Alphabets,
        edges: bool,
        labels: &TrainingLabels,
    ) -> Result<(Self, Alphabets)> {
        let Some(first) = sentences.first() else {
            return Err(Error::parameter("there are no development sentences"));
        };
        let source = AttributeSource::bind(template, first.schema())?;
        let mut builder = DatasetBuilder::with_alphabets(source, alphabets, edges);
        for_each_in_context(sentences, template, |sentence| builder.add(sentence, &[]))?;
        let (data, alphabets) = builder.finish();
        Ok((Self::new(data, gold, labels), alphabets))
    }

    /// Creates a development set from data over the attributes of the training data and the gold
    /// labels of each sentence.
    pub fn new(data: Dataset, gold: Vec<Vec<String>>, labels: &TrainingLabels) -> Self {
        Self {
            data,
            gold,
            labels: labels.clone(),
            constraint: decoding_constraint(&labels.set, &labels.labeling),
            is_report: false,
        }
    }

    /// Only reports scores, of labels without constraints, and chooses nothing.
    pub fn only_report(&mut self) {
        (self.is_report, self.constraint) = (true, None);
    }

    /// Maps the attributes to the classes of the training data.
    pub fn collapse(&mut self, [nodes, edges]: &[Classes; 2]) {
        self.data.nodes = Arc::new(nodes.project(&self.data.nodes));
        self.data.edges = Arc::new(edges.project(&self.data.edges));
    }

    /// Returns the memory usage in bytes.
    pub fn memory(&self) -> usize {
        // A gold label is a string of its own.
        self.data.memory() + 56 * self.data.tokens() + 40 * self.data.len()
    }

    /// Estimates the memory in bytes of scoring parameters in `space`.
    pub fn memory_to_score(&self, space: &ParameterSpace) -> usize {
        let (stride, edge_width) = (space.stride(), space.edges.used_width());
        let tokens = (0..self.data.len()).map(|i| self.data.sentence(i).len());
        let per_thread = tokens.max().unwrap_or(0) * (2 * stride + edge_width);
        let pairs = space.sparse_pairs().unwrap_or(space.labels() * stride);
        // A copy of the matrices, paths and transitions for three recall biases.
        3 * self.data.memory() + 72 * self.data.len() + 8 * (THREADS * per_thread + 13 * pairs)
    }

    /// Returns the number of sentences.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Returns the number of gold spans, of tokens if the labels encode no spans.
    pub fn units(&self) -> usize {
        let labeling = &self.labels.corpus;
        let spans = || self.gold.iter().map(|labels| labeling.spans(labels).len()).sum();
        if labeling.scheme.has_spans() { spans() } else { self.data.tokens() }
    }

    /// Returns the transitions of the parameters θ with a recall bias.
    pub fn transitions(&self, space: &ParameterSpace, theta: &[f64], bias: f64) -> Transitions {
        let mut weights = LabelWeights::default();
        if bias == 0.0 {
            let mut transitions = space.transitions();
            space.set_transitions(theta, &mut weights, &mut transitions);
            return transitions;
        }
        space.label_weights(theta, &mut weights);
        add_recall_bias(bias, &self.labels.set, &self.labels.labeling, &mut weights);
        Transitions::from_weights(&weights, space.order())
    }

    /// Counts predicted label sequences by label.
    pub(super) fn label_scores<'a>(
        &self,
        paths: impl Iterator<Item = &'a Vec<LabelId>>,
    ) -> LabelScores {
        let mut scores = LabelScores::new(self.labels.set.names());
        for (path, gold) in paths.zip(&self.gold) {
            let gold = gold.iter().map(|label| self.labels.set.id(label));
            scores.add(gold, path);
        }
        scores
    }

    /// Scores predicted label sequences, one per sentence.
    pub(super) fn evaluate<'a>(
        &self,
        paths: impl Iterator<Item = &'a Vec<LabelId>>,
    ) -> Result<Evaluation> {
        let corpus = &self.labels.corpus;
        let mut evaluation = Evaluation::new().with_labelings(corpus, corpus);
        for (path, gold) in paths.zip(&self.gold) {
            let name = |&label: &LabelId| self.labels.set.name(label);
            let mut predicted: Vec<&str> = path.iter().map(name).collect();
            let converted;
            if self.labels.labeling != *corpus {
                converted = self.labels.labeling.convert(&predicted, corpus);
                predicted = converted.iter().map(String::as_str).collect();
            }
            evaluation.add(gold, &predicted)?;
        }
        Ok(evaluation)
    }

    /// Returns the score of an evaluation, and the counts of spans by type.
    pub(super) fn score(&self, evaluation: &Evaluation) -> (DevScore, Vec<(String, Counts)>) {
        if !evaluation.has_spans() {
            return (DevScore::Accuracy(evaluation.accuracy()), Vec::new());
        }
        let types = evaluation.types().map(|(name, counts)| (name.to_owned(), counts));
        (DevScore::F1(evaluation.f1()), types.collect())
    }
}
