//! Scoring development data with the parameters of training.

use rayon::prelude::*;

use super::events::DevScore;
use super::prepare::{Labels, Prepared};
use crate::chain::{Constraint, LabelWeights, Scores, Transitions, Viterbi};
use crate::error::{Error, Result};
use crate::eval::Evaluation;
use crate::extract::{Alphabets, AttributeSource, Dataset, DatasetBuilder};
use crate::ids::LabelId;
use crate::label::convert;
use crate::model::decoding_constraint;
use crate::score::{ForwardProduct, ParameterSpace};
use crate::sentence::Sentence;
use crate::template::Template;

/// The score of an iterate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scored {
    pub score: DevScore,
    /// The recall bias that gave it.
    pub recall_bias: f64,
}

/// Development data over the classes of the training data.
pub(super) struct Development {
    data: Dataset,
    gold: Vec<Vec<String>>,
    labels: Labels,
    constraint: Option<Constraint>,
    always_spans: bool, // whether spans count where neither gold nor predicted labels write any
}

impl Development {
    /// Extracts the attributes of the development sentences. Attributes that training did not see
    /// are left out. Gives the alphabets back.
    pub fn new(
        sentences: &[Sentence],
        template: Option<&Template>,
        alphabets: Alphabets,
        edges: bool,
        labels: &Labels,
    ) -> Result<(Self, Alphabets)> {
        let Some(first) = sentences.first() else {
            return Err(Error::parameter("there are no development sentences"));
        };
        let source = AttributeSource::bind(template, first.schema())?;
        let mut builder = DatasetBuilder::with_alphabets(source, alphabets, edges);
        let mut gold = Vec::with_capacity(sentences.len());
        for sentence in sentences {
            let Some(labels) = sentence.labels() else {
                return Err(Error::input(
                    sentence.place(0),
                    "found no label column; development data need labels",
                ));
            };
            gold.push(labels.into_iter().map(str::to_owned).collect());
            builder.add(sentence, &[])?;
        }
        let (data, alphabets) = builder.finish(1);
        Ok((Self::of(data, gold, labels), alphabets))
    }

    /// Data over the attributes of training, with the gold labels of each sentence.
    fn of(data: Dataset, gold: Vec<Vec<String>>, labels: &Labels) -> Self {
        Self {
            data,
            gold,
            labels: labels.clone(),
            constraint: decoding_constraint(&labels.set, labels.scheme),
            always_spans: false,
        }
    }

    /// A part of a corpus that was held out. It is scored by spans wherever the corpus writes any, so that
    /// all its parts are.
    pub fn held_out(data: Dataset, gold: Vec<Vec<String>>, labels: &Labels) -> Self {
        Self {
            always_spans: labels.any_span,
            ..Self::of(data, gold, labels)
        }
    }

    /// Brings the data to the classes that training data were collapsed by.
    pub fn collapse(&mut self, prepared: &Prepared) {
        self.data.nodes = prepared.node_classes.project(&self.data.nodes);
        self.data.edges = prepared.edge_classes.project(&self.data.edges);
    }

    /// Bytes of memory of the matrices.
    pub fn memory(&self) -> usize {
        self.data.memory()
    }

    /// Number of sentences.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// The scores of the parameters θ under each of some recall biases: span F1, or accuracy where labels
    /// are no span scheme.
    pub fn score(
        &self,
        space: &ParameterSpace,
        theta: &[f64],
        recall_biases: &[f64],
    ) -> Result<Vec<DevScore>> {
        let mut weights = LabelWeights::default();
        space.label_weights(theta, &mut weights);
        let transitions: Vec<Transitions> = recall_biases
            .iter()
            .map(|&bias| {
                let mut weights = weights.clone();
                self.labels.add_recall_bias(bias, &mut weights);
                let mut transitions = Transitions::new(space.labels(), space.order());
                transitions.set(&weights.transitions, &weights.start, &weights.end);
                transitions
            })
            .collect();
        let matrices = [
            (&self.data.nodes, &space.nodes),
            (&self.data.edges, &space.edges),
        ];
        let products = matrices.map(|(matrix, block)| {
            let mut product = ForwardProduct::new(matrix, block);
            product.set_weights(theta);
            product
        });
        let paths: Vec<Vec<Vec<LabelId>>> = (0..self.data.len())
            .into_par_iter()
            .map_init(Scratch::default, |scratch, i| {
                scratch.decode(self, &products, theta, &transitions, i)
            })
            .collect();
        (0..recall_biases.len())
            .map(|candidate| self.evaluate(paths.iter().map(|paths| &paths[candidate])))
            .collect()
    }

    /// The score of a labeling.
    fn evaluate<'a>(&self, paths: impl Iterator<Item = &'a Vec<LabelId>>) -> Result<DevScore> {
        let mut evaluation = Evaluation::new();
        for (path, gold) in paths.zip(&self.gold) {
            let name = |&label: &LabelId| self.labels.set.name(label);
            let mut predicted: Vec<&str> = path.iter().map(name).collect();
            let converted;
            if self.labels.scheme != self.labels.corpus_scheme {
                converted = convert(&predicted, self.labels.corpus_scheme);
                predicted = converted.iter().map(String::as_str).collect();
            }
            evaluation.add(gold, &predicted)?;
        }
        Ok(if self.always_spans || evaluation.has_spans() {
            DevScore::F1(evaluation.f1())
        } else {
            DevScore::Accuracy(evaluation.accuracy())
        })
    }
}

#[derive(Default)]
struct Scratch {
    viterbi: Viterbi,
    nodes: Vec<f64>,
    edges: Vec<f64>,
}

impl Scratch {
    /// The best labels of a sentence under each of several transitions.
    fn decode(
        &mut self,
        development: &Development,
        products: &[ForwardProduct<'_>; 2],
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
        let scores = Scores {
            node: &self.nodes,
            edge: (!self.edges.is_empty()).then_some(&self.edges),
        };
        let constraint = development.constraint.as_ref();
        let decode = |transitions| {
            let mut path = Vec::new();
            self.viterbi
                .decode(transitions, scores, constraint, &mut path);
            path
        };
        transitions.iter().map(decode).collect()
    }
}
