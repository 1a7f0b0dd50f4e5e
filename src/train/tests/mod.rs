//! Training from end to end: sentences in, a model out.

mod attributes;
mod checkpoints;
mod collapsing;
mod continued;
mod corpora;
mod crfsuite;
mod development;
mod early_stopping;
mod pruning;
mod ranks;
mod schedules;
mod two_passes;
mod watcher;

use std::ops::ControlFlow;
use std::sync::Arc;

use super::extraction::Source;
use super::training_set::TrainingSet;
use super::*;
use crate::error::Result;
use crate::memory::MemoryLimit;
use crate::model::{AttributeKind, Model, Precision};
use crate::sentence::{Attributes, Schema, Sentence};
use crate::template::Template;

/// Options with a change.
fn changed(mut options: TrainOptions, change: impl FnOnce(&mut TrainOptions)) -> TrainOptions {
    change(&mut options);
    options
}

/// Parses sentences, one per line, of tokens `word/label`.
fn corpus(text: &str) -> Vec<Sentence> {
    let names = vec!["word".to_owned(), "label".to_owned()];
    let schema = Arc::new(Schema::new(names, Some(1)).unwrap());
    let lines = (1..).zip(text.lines());
    let sentence = |(line, text): (u64, &str)| {
        let mut sentence = Sentence::new(Arc::clone(&schema), "x.conll");
        for token in text.split_whitespace() {
            let (word, label) = token.rsplit_once('/').expect("word/label");
            sentence.push([word, label], line).unwrap();
        }
        sentence
    };
    lines.map(sentence).collect()
}

/// Parses sentences with attributes, one per line, of tokens `label name:value,name:value`
/// separated by semicolons.
fn given(text: &str) -> Vec<Sentence> {
    let schema = Arc::new(Schema::new(vec!["label".to_owned()], Some(0)).unwrap());
    let sentence = |text: &str| {
        let mut sentence = Sentence::new(Arc::clone(&schema), "x.crfsuite");
        let mut attributes = Attributes::default();
        for token in text.split(';') {
            let (label, rest) = token.trim().split_once(' ').unwrap_or((token.trim(), ""));
            sentence.push([label], 1).unwrap();
            for attribute in rest.split(',').filter(|a| !a.is_empty()) {
                let (name, value) = attribute.split_once(':').unwrap_or((attribute, "1"));
                attributes.push(name, value.parse().unwrap());
            }
            attributes.end_token();
        }
        sentence.attributes = Some(Box::new(attributes));
        sentence
    };
    text.lines().map(sentence).collect()
}

fn training_set(
    corpora: impl Into<TrainingCorpora>,
    template: Option<Template>,
    settings: &TrainSettings,
    models: &BaseModels<'_>,
) -> TrainingSet {
    let source = Source::Text(corpora.into(), template);
    let extracted = source.extract(settings, models, MemoryLimit::default()).unwrap();
    TrainingSet::of(extracted, settings.options())
}

fn template(source: &str) -> Template {
    Template::parse(source, "t.tpl", &mut |_| unreachable!()).unwrap()
}

/// Names of persons and places in IOB2.
const NAMES: &str = "\
Ada/B-PER Lovelace/I-PER lived/O in/O London/B-LOC
Charles/B-PER Babbage/I-PER left/O London/B-LOC
Mary/B-PER Somerville/I-PER taught/O Ada/B-PER
she/O died/O in/O Marylebone/B-LOC
in/O London/B-LOC Charles/B-PER met/O Mary/B-PER Somerville/I-PER
he/O wrote/O to/O Ada/B-PER Lovelace/I-PER
New/B-LOC York/I-LOC is/O far/O
they/O left/O New/B-LOC York/I-LOC in/O May/O";

/// Sentences of words that mostly have the same label: about 10,000 tokens per 1,500 sentences.
fn synthetic_sentences(number: usize, seed: u64) -> Vec<Sentence> {
    let mut numbers = crate::testing::Lcg(seed);
    let labels = ["O", "B-PER", "O", "B-LOC", "O"];
    let mut text = String::new();
    for i in 0..number {
        // The first sentence has words that the last one has in lower case.
        text.push_str(match i {
            0 => "Bank/B-PER Rest/O ",
            _ if i + 1 == number => "bank/O rest/O ",
            _ => "",
        });
        for _ in 0..=numbers.below(12) {
            let word = numbers.below(400);
            let label = match numbers.below(10) {
                0 => labels[numbers.below(5)],
                _ => labels[word % 5],
            };
            text.push_str(&format!("w{word:03}/{label} "));
        }
        text.push('\n');
    }
    corpus(&text)
}

fn options() -> TrainOptions {
    changed(TrainOptions::new(Lbfgs::l2(0.1)), |o| o.storage.precision = Precision::F64)
}

/// Options of a run of five iterations.
fn short_options(dropout: f64) -> TrainOptions {
    changed(options(), |o| {
        o.method.noise.dropout = dropout;
        o.method.warm_up = Some(2);
        o.max_iterations = Some(5);
    })
}

fn train(options: &TrainOptions, sentences: Vec<Sentence>, source: &str) -> Result<Trained> {
    Trainer::new(options.clone())?.train(sentences, template(source), &mut ())
}

fn trained(options: &TrainOptions, sentences: Vec<Sentence>, source: &str) -> Model {
    train(options, sentences, source).unwrap().model
}

/// Records all events.
#[derive(Default)]
struct Recorder {
    attributes: [usize; 2], // before and after collapsing
    iterations: Vec<Iteration>,
    end: Option<End>,
}

impl Observer for Recorder {
    fn start(&mut self, start: &Start) {
        assert!(self.iterations.is_empty() && self.end.is_none());
        assert!(start.estimated_memory > 0);
        self.attributes = [start.model.attributes, start.model.collapsed_attributes];
    }

    fn iteration(&mut self, iteration: &Iteration) -> Result<ControlFlow<()>, ObserverError> {
        assert_eq!(iteration.number, self.iterations.len());
        self.iterations.push(iteration.clone());
        Ok(ControlFlow::Continue(()))
    }

    fn end(&mut self, end: &End) {
        assert_eq!(self.end.replace(end.clone()), None);
    }
}

impl Recorder {
    fn dev_scores(&self) -> Vec<f64> {
        let score = |iteration: &Iteration| iteration.dev.expect("a score").value();
        self.iterations.iter().map(score).collect()
    }
}

/// The weights of an attribute for each label or pair of labels, 0 if it has none.
fn weights(model: &Model, kind: AttributeKind, name: &[u8]) -> Vec<f64> {
    let k = model.header().labels.len();
    let mut scores = vec![0.0; if kind == AttributeKind::Node { k } else { k * k }];
    model.add_scores(kind, name, 1.0, k, &mut scores).unwrap();
    scores
}

/// Names of all attributes with weights.
fn names(model: &Model, kind: AttributeKind) -> Vec<Vec<u8>> {
    let name = |i| model.attribute_name(kind, i).unwrap().to_vec();
    (0..model.attributes(kind)).map(name).collect()
}

fn knows(model: &Model, name: &str) -> bool {
    names(model, AttributeKind::Node).contains(&name.as_bytes().to_vec())
}
