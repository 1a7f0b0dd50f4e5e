//! Scoring parameters on development data during training.

use rayon::prelude::*;

use super::development::DevelopmentSet;
use super::events::DevScore;
use super::label_scores::LabelScores;
use super::training_set::TrainingSet;
use crate::chain::{Scores, Transitions, Viterbi};
use crate::error::Result;
use crate::eval::Counts;
use crate::ids::LabelId;
use crate::score::ForwardProduct;

/// Scores parameters on a development set, iteration after iteration.
pub(super) struct DevScorer<'a> {
    set: &'a TrainingSet,
    development: &'a DevelopmentSet,
    products: [ForwardProduct; 2],            // of nodes and edges
    label_scores: Option<LabelScores>,        // of the last parameters
    types: Vec<(f64, Vec<(String, Counts)>)>, // of these, by recall bias
}

impl<'a> DevScorer<'a> {
    /// Creates a scorer; `None` without development data.
    pub fn new(set: &'a TrainingSet) -> Option<Self> {
        let development = set.extracted.development.as_ref()?;
        let (data, space) = (&development.data, set.space());
        let products = [
            ForwardProduct::new(&data.nodes, &space.nodes),
            ForwardProduct::new(&data.edges, &space.edges),
        ];
        Some(Self { set, development, products, label_scores: None, types: Vec::new() })
    }

    /// Returns the predictions by label, of parameters that were scored since the last call, if the
    /// data are only reported.
    pub fn take_label_scores(&mut self) -> Option<LabelScores> {
        self.label_scores.take()
    }

    /// Returns the counts of spans by type, of parameters that were scored since the last call with
    /// this recall bias.
    pub fn take_types(&mut self, recall_bias: f64) -> Vec<(String, Counts)> {
        let found = self.types.drain(..).find(|(bias, _)| *bias == recall_bias);
        found.map_or_else(Vec::new, |(_, types)| types)
    }

    /// Scores the parameters θ with each of the recall biases: by span F1, or by accuracy if the
    /// labels do not encode spans.
    pub fn score(&mut self, theta: &[f64], recall_biases: &[f64]) -> Result<Vec<DevScore>> {
        let (development, space) = (self.development, self.set.space());
        for product in &mut self.products {
            product.set_weights(theta);
        }
        let products = &self.products;
        let transitions: Vec<Transitions> =
            recall_biases.iter().map(|&bias| development.transitions(space, theta, bias)).collect();
        let decode = |scratch: &mut Scratch, i| {
            scratch.decode(development, products, theta, &transitions, i)
        };
        let sentences = (0..development.data.len()).into_par_iter();
        let paths: Vec<Vec<Vec<LabelId>>> = sentences.map_init(Scratch::default, decode).collect();
        if development.is_report {
            let paths = paths.iter().map(|paths| &paths[0]);
            self.label_scores = Some(development.label_scores(paths));
        }
        self.types.clear();
        let mut scores = Vec::new();
        for (candidate, &bias) in recall_biases.iter().enumerate() {
            let paths = paths.iter().map(|paths| &paths[candidate]);
            let (score, types) = development.score(&development.evaluate(paths)?);
            scores.push(score);
            self.types.push((bias, types));
        }
        Ok(scores)
    }
}

#[derive(Default)]
struct Scratch {
    viterbi: Viterbi,
    nodes: Vec<f64>,
    edges: Vec<f64>,
}

impl Scratch {
    /// Decodes a sentence with each of several transition matrices.
    fn decode(
        &mut self,
        development: &DevelopmentSet,
        products: &[ForwardProduct; 2],
        theta: &[f64],
        transitions: &[Transitions],
        sentence: usize,
    ) -> Vec<Vec<LabelId>> {
        let tokens = development.data.sentence(sentence);
        let [nodes, edges] = products;
        for (product, scores, width) in [
            (nodes, &mut self.nodes, nodes.block().width()),
            (edges, &mut self.edges, edges.block().used_width()),
        ] {
            scores.resize(tokens.len() * width, 0.0);
            product.write(theta, tokens.clone(), scores, None);
        }
        let scores =
            Scores { node: &self.nodes, edge: (!self.edges.is_empty()).then_some(&self.edges) };
        let constraint = development.constraint.as_ref();
        let decode = |transitions| {
            let mut path = Vec::new();
            self.viterbi.decode(transitions, scores, constraint, None, &mut path);
            path
        };
        transitions.iter().map(decode).collect()
    }
}
