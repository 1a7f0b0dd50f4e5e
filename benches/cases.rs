//! Objectives on real corpora that several benches measure.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use dropchain::corpus::{Corpus, Format, ReadOptions};
use dropchain::kernel::extract::{Alphabets, AttributeSource, Classes, Dataset, DatasetBuilder};
use dropchain::kernel::ids::LabelId;
use dropchain::kernel::noise::Engine;
use dropchain::kernel::objective::{NoiseKind, NoiseOptions, PenalizedLikelihood};
use dropchain::kernel::optim::{LbfgsOptions, Objective, minimize};
use dropchain::kernel::score::{ParameterSpace, SpaceOptions, States};
use dropchain::label::LabelSet;
use dropchain::sentence::Sentence;
use dropchain::template::Template;

/// After these iterations, the weights are typical of most of training.
const ITERATIONS: usize = 12;

/// A corpus and template to measure.
#[derive(Clone, Copy)]
pub struct Case {
    pub name: &'static str,
    pub file: &'static str,
    pub format: Format,
    pub label: Option<&'static str>,
    pub template: &'static str,
    pub states: States,
    /// Maximum number of labels; all rarer ones are merged into one.
    pub max_labels: usize,
}

pub const CASES: [Case; 10] = {
    const CASE: Case = Case {
        name: "",
        file: "conll2000/train.txt",
        format: Format::Conll,
        label: None,
        template: "chunk",
        states: States::All,
        max_labels: 100,
    };
    const EWT: Case =
        Case { file: "ewt/train.conllu", format: Format::Conllu, template: "pos-sancl", ..CASE };
    [
        Case { name: "chunks5", max_labels: 5, ..CASE },
        Case { name: "esp", file: "conll2002-esp/esp.train", template: "ner", ..CASE },
        Case { name: "ned", file: "conll2002-ned/ned.train", template: "ner", ..CASE },
        Case { name: "wnut17", file: "wnut17/train.conll", template: "ner", ..CASE },
        Case { name: "upos", label: Some("upos"), ..EWT },
        Case { name: "chunks", ..CASE },
        Case { name: "chunks-observed", states: States::Observed, ..CASE },
        Case { name: "xpos", label: Some("xpos"), ..EWT },
        Case {
            name: "upos+feats",
            label: Some("upos+feats"),
            states: States::Observed,
            max_labels: 10_000,
            ..EWT
        },
        Case {
            name: "upos+feats+deprel",
            label: Some("upos+feats+deprel"),
            states: States::Observed,
            max_labels: 10_000,
            ..EWT
        },
    ]
};

impl Case {
    /// Reads the corpus of the case below `folder`.
    pub fn corpus(&self, folder: &str) -> Corpus {
        let path = Path::new(folder).join(self.file);
        let options = ReadOptions {
            format: Some(self.format),
            label: self.label.map(str::to_owned),
            ..ReadOptions::default()
        };
        Corpus::read([path.to_str().unwrap()], &options).unwrap()
    }

    /// Returns the data set of `sentences`, its classes of columns and the number of labels.
    pub fn dataset(&self, sentences: &[Sentence]) -> (Dataset, Classes, usize) {
        let mut template = Template::shipped(self.template).unwrap().unwrap();
        template.learn(sentences.iter());
        let source = AttributeSource::bind(Some(&template), sentences[0].schema()).unwrap();
        let mut builder = DatasetBuilder::extending(source, Alphabets::default(), true);
        let mut labels = LabelSet::new();
        for sentence in sentences.iter().filter(|s| !s.layout.document_start) {
            let ids = sentence.labels().unwrap().into_iter().map(|label| {
                if labels.len() < self.max_labels {
                    labels.insert(label).unwrap()
                } else {
                    labels.id(label).unwrap_or(LabelId(0))
                }
            });
            let ids: Vec<LabelId> = ids.collect();
            builder.add(sentence, &ids).unwrap();
        }
        let (mut data, alphabets) = builder.finish();
        let classes = Classes::equal_columns(&data.nodes, alphabets.nodes.len());
        data.nodes = classes.collapsed(&data.nodes).into();
        (data, classes, labels.len())
    }

    /// Creates the parameters of the case.
    pub fn space(&self, data: &Dataset, classes: &Classes, labels: usize) -> ParameterSpace {
        let options = SpaceOptions {
            states: self.states,
            label_pairs: self.states,
            ..SpaceOptions::FIRST_ORDER
        };
        ParameterSpace::new(labels, data, classes, &Classes::singletons(0), options)
    }
}

/// Seconds of an evaluation: processor time with one thread, else wall-clock time.
fn seconds(objective: &mut PenalizedLikelihood, theta: &[f64], gradient: &mut [f64]) -> f64 {
    let alone = rayon::current_num_threads() == 1;
    let processor = || {
        let line = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        let nanoseconds: f64 = line.split(' ').next()?.parse().ok()?;
        alone.then_some(1e-9 * nanoseconds)
    };
    let (clock, before) = (Instant::now(), processor());
    assert!(objective.evaluate(theta, gradient).0.is_finite());
    match (before, processor()) {
        (Some(before), Some(after)) => after - before,
        _ => clock.elapsed().as_secs_f64(),
    }
}

/// The noise of all cases.
pub const NOISE: NoiseOptions = NoiseOptions {
    kind: NoiseKind::Dropout,
    dropout: 0.3,
    edge_dropout: None,
    gradient: Engine::Exact,
    unlabeled_weight: 0.0,
};

/// The objectives of a case without noise and with it.
pub fn objectives(data: &Dataset, space: &ParameterSpace) -> [PenalizedLikelihood; 2] {
    [
        PenalizedLikelihood::new(data, space, 0.1),
        PenalizedLikelihood::new(data, space, 0.1).with_noise(NOISE),
    ]
}

/// Returns the weights after twelve iterations of a training without noise and as many with it.
///
/// At weights that were trained without noise alone, its derivatives may exceed the first limit of
/// `objective::totals`; an evaluation then begins twice.
pub fn typical_weights(objectives: &mut [PenalizedLikelihood; 2]) -> Vec<f64> {
    let options = LbfgsOptions { max_iterations: Some(ITERATIONS), ..LbfgsOptions::default() };
    let mut x = vec![0.0; objectives[0].dimension()];
    for objective in objectives {
        let outcome =
            minimize(objective, x, None, &options, None, &mut |_| ControlFlow::Continue(()));
        x = outcome.unwrap().x;
    }
    x
}

/// Returns the minimum seconds of an evaluation of each objective, evaluated alternately.
pub fn evaluation_seconds(
    objectives: &mut [PenalizedLikelihood; 2],
    theta: &[f64],
    rounds: usize,
) -> [f64; 2] {
    let mut gradient = vec![0.0; theta.len()];
    let mut best = [f64::INFINITY; 2];
    for _ in 0..rounds {
        for (objective, best) in objectives.iter_mut().zip(&mut best) {
            *best = best.min(seconds(objective, theta, &mut gradient));
        }
    }
    best
}
