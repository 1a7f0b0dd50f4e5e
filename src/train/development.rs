//! Development data, and scoring parameters on them during training.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rayon::prelude::*;

use super::events::{DevScore, LabelScores};
use super::labels::TrainingLabels;
use crate::chain::{Constraint, LabelWeights, Scores, Transitions, Viterbi};
use crate::error::Result;
use crate::eval::{Counts, Evaluation};
use crate::extract::{Classes, Dataset};
use crate::ids::LabelId;
use crate::model::{add_recall_bias, decoding_constraint};
use crate::score::{ForwardProduct, ParameterSpace};

/// The number of threads that the estimate of memory assumes, so that logs do not depend on it.
const THREADS: usize = 8;

/// Development data over the attribute classes of the training data.
#[derive(Debug)]
pub(super) struct DevelopmentSet {
    pub data: Dataset,
    gold: Vec<Vec<String>>, // [sentences][T]
    labels: TrainingLabels,
    /// To label sequences that are legal in the label scheme; `None` if all are.
    pub constraint: Option<Constraint>,
    /// Whether the data are only reported, and choose nothing.
    pub is_report: bool,
}

/// Hashes the data and the gold labels.
impl Hash for DevelopmentSet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.data, &self.gold).hash(state);
    }
}

impl DevelopmentSet {
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

    /// Scores predicted label sequences, one per sentence: by span F1, or by accuracy if the labels
    /// do not encode spans. Also returns the counts of spans by type.
    fn score<'p>(&self, paths: impl Iterator<Item = &'p Vec<LabelId>>) -> Result<Scored> {
        let TrainingLabels { set, labeling, corpus, .. } = &self.labels;
        let mut evaluation = Evaluation::new().with_labelings(corpus, corpus);
        for (path, gold) in paths.zip(&self.gold) {
            let mut predicted: Vec<&str> = path.iter().map(|&label| set.name(label)).collect();
            let converted;
            if labeling != corpus {
                converted = labeling.convert(&predicted, corpus);
                predicted = converted.iter().map(String::as_str).collect();
            }
            evaluation.add(gold, &predicted)?;
        }
        if !evaluation.has_spans() {
            return Ok((DevScore::Accuracy(evaluation.accuracy()), Vec::new()));
        }
        let types = evaluation.types().map(|(name, counts)| (name.to_owned(), counts));
        Ok((DevScore::F1(evaluation.f1()), types.collect()))
    }
}

/// A score, and the counts of spans by type.
type Scored = (DevScore, Vec<(String, Counts)>);

/// Scores parameters on a development set, iteration after iteration.
pub(super) struct DevScorer<'a> {
    development: &'a DevelopmentSet,
    space: &'a ParameterSpace,
    products: [ForwardProduct; 2], // of nodes and edges
    /// The predictions of the last parameters by label, if the data are only reported.
    pub label_scores: Option<LabelScores>,
}

impl<'a> DevScorer<'a> {
    pub fn new(development: &'a DevelopmentSet, space: &'a ParameterSpace) -> Self {
        let data = &development.data;
        let products = [
            ForwardProduct::new(&data.nodes, &space.nodes),
            ForwardProduct::new(&data.edges, &space.edges),
        ];
        Self { development, space, products, label_scores: None }
    }

    /// Scores the parameters θ with each of the recall biases.
    pub fn score(&mut self, theta: &[f64], recall_biases: &[f64]) -> Result<Vec<Scored>> {
        for product in &mut self.products {
            product.set_weights(theta);
        }
        let development = self.development;
        let transitions = |&bias| development.transitions(self.space, theta, bias);
        let transitions: Vec<Transitions> = recall_biases.iter().map(transitions).collect();
        let decode = |scratch: &mut Scratch, i| self.decode(scratch, theta, &transitions, i);
        let sentences = (0..development.data.len()).into_par_iter();
        let paths: Vec<Vec<Vec<LabelId>>> = sentences.map_init(Scratch::default, decode).collect();
        if development.is_report {
            let labels = &development.labels.set;
            let scores = self.label_scores.insert(LabelScores::new(labels.names()));
            for (paths, gold) in paths.iter().zip(&development.gold) {
                scores.add(gold.iter().map(|label| labels.id(label)), &paths[0]);
            }
        }
        let candidates = 0..recall_biases.len();
        candidates.map(|i| development.score(paths.iter().map(|paths| &paths[i]))).collect()
    }

    /// Decodes a sentence with each of several transition matrices.
    fn decode(
        &self,
        scratch: &mut Scratch,
        theta: &[f64],
        transitions: &[Transitions],
        sentence: usize,
    ) -> Vec<Vec<LabelId>> {
        let tokens = self.development.data.sentence(sentence);
        let [nodes, edges] = &self.products;
        for (product, scores, width) in [
            (nodes, &mut scratch.nodes, nodes.block.width()),
            (edges, &mut scratch.edges, edges.block.used_width()),
        ] {
            scores.resize(tokens.len() * width, 0.0);
            product.write(theta, tokens.clone(), scores, None);
        }
        let scores = Scores::new(&scratch.nodes, &scratch.edges);
        let constraint = self.development.constraint.as_ref();
        let decode = |transitions| {
            let mut path = Vec::new();
            scratch.viterbi.decode(transitions, scores, constraint, None, &mut path);
            path
        };
        transitions.iter().map(decode).collect()
    }
}

#[derive(Default)]
struct Scratch {
    viterbi: Viterbi,
    nodes: Vec<f64>,
    edges: Vec<f64>,
}
