//! From documents to a model.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::json;

use crate::corpus::DocumentCorpus;
use crate::linear::{Fitted, Problem, Step};
use crate::model::{ModelHeader, ModelInput};
use crate::options::{DocumentOptions, LearningOptions, Multiclass, NoiseKind};
use crate::{DocumentModel, Loss};
use dropchain::Result;
use dropchain::kernel::extract::SparseRows;
use dropchain::kernel::optim::StopReason;
use dropchain::train::{DevScore, Iteration, ObjectiveTerms, OptimizerStep, WeightCounts};

/// Number of classes above which sigma points are further from dropout than its quadratic term
/// (`docs/dropout.md`).
const MOST_CLASSES_OF_SIGMA_POINTS: usize = 20;

/// Iterations whose accuracies are averaged to choose one: a single one wobbles.
const AVERAGED: usize = 5;

/// An event of training.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// Training begins.
    Start(Start),
    /// An iteration was made; number 0 is the start.
    Iteration(Iteration),
    /// Training has ended.
    End(End),
}

/// The training data of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Start {
    /// Documents with a label.
    pub documents: usize,
    /// Documents without one.
    pub unlabeled: usize,
    /// Number of classes.
    pub labels: usize,
    /// Number of features.
    pub attributes: usize,
    /// Features of a document.
    pub active_per_token: f64,
    /// Features with different columns.
    pub columns: usize,
    /// Weights and biases.
    pub parameters: usize,
}

/// How training ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct End {
    /// Why.
    #[serde(rename = "stop_reason")]
    pub reason: StopReason,
    /// The number of iterations.
    pub iterations: usize,
    /// The iteration whose weights the model has.
    pub best_iteration: usize,
    /// Accuracy of that iteration on development documents, if there are any.
    pub dev_accuracy: Option<f64>,
    /// The objective.
    pub objective: f64,
}

/// Follows training, and may end it.
pub type Observer<'o> = &'o mut dyn FnMut(&Event) -> ControlFlow<()>;

/// A trained model.
#[derive(Debug)]
pub struct Trained {
    /// The model.
    pub model: DocumentModel,
    /// How training ended.
    pub end: End,
}

/// Trains models of documents.
#[derive(Debug)]
pub struct DocumentTrainer<'a> {
    pub(crate) options: DocumentOptions,
    /// Ends training with the best weights so far as soon as it is set.
    pub interrupt: Option<&'a AtomicBool>,
}

impl<'a> DocumentTrainer<'a> {
    /// Checks the options.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if they are invalid or contradict one another.
    ///
    /// [`Error::Parameter`]: dropchain::Error::Parameter
    pub fn new(mut options: DocumentOptions) -> Result<Self> {
        options.check()?;
        if options.learning.loss != Loss::Softmax {
            options.learning.multiclass = Multiclass::OneVsRest;
        }
        options.strengths.l2 = Some(options.l2()); // models record what was chosen by default
        Ok(Self { options, interrupt: None })
    }

    /// Returns the options.
    pub fn options(&self) -> &DocumentOptions {
        &self.options
    }

    /// A warning if the noise approximates dropout worse than the default, with the classes of a
    /// corpus.
    pub fn warning(&self, corpus: &DocumentCorpus) -> Option<String> {
        let classes = corpus.classes.len();
        let has_sigma_points = self.options.noise() == Some(NoiseKind::GaussianScores)
            && self.options.learning.multiclass == Multiclass::Softmax;
        (has_sigma_points && classes > MOST_CLASSES_OF_SIGMA_POINTS).then(|| {
            format!(
                "warning: --noise gaussian-scores with {classes} classes: above about \
                 {MOST_CLASSES_OF_SIGMA_POINTS} it is further from dropout than --noise dropout is"
            )
        })
    }

    /// Trains a model, with development documents if there are any, whose accuracy then stops
    /// training early.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if there are no documents, or memory does not suffice; [`Error::Input`]
    /// if all are of one class; [`Error::NotFinite`] if numbers overflow.
    ///
    /// [`Error::Parameter`]: dropchain::Error::Parameter
    /// [`Error::Input`]: dropchain::Error::Input
    /// [`Error::NotFinite`]: dropchain::Error::NotFinite
    pub fn train(
        &self,
        corpus: &DocumentCorpus,
        dev: Option<&DocumentCorpus>,
        observer: Observer<'_>,
    ) -> Result<Trained> {
        corpus.check_classes()?;
        let corpus = &*corpus.without_rare(self.options.learning.min_count);
        let dev = dev.map(|dev| Development::new(corpus, dev));
        let (problem, fitted, end) = self.fit(corpus, dev.as_ref(), observer)?;
        let model = self.model(&problem, &fitted.x, end)?;
        let _ = observer(&Event::End(end));
        Ok(Trained { model, end })
    }

    /// Prepares the documents and minimizes the objective. Returns the problem, the minimum with
    /// the weights of the best iteration, and how it ended.
    pub(crate) fn fit<'p>(
        &'p self,
        corpus: &'p DocumentCorpus,
        dev: Option<&Development>,
        observer: Observer<'_>,
    ) -> Result<(Problem<'p>, Fitted, End)> {
        let problem = Problem::new(corpus, &self.options, self.interrupt)?;
        let unlabeled = corpus.targets.iter().filter(|class| class.is_none()).count();
        let _ = observer(&Event::Start(Start {
            documents: corpus.documents() - unlabeled,
            unlabeled,
            labels: corpus.classes.len(),
            attributes: corpus.features(),
            active_per_token: corpus.rows.nonzeros() as f64 / corpus.documents() as f64,
            columns: problem.design.dimension(),
            parameters: problem.dimension(),
        }));
        let LearningOptions { loss, patience, .. } = self.options.learning;
        let start = Instant::now();
        let mut recent: Vec<f64> = Vec::new();
        let mut best: Option<Best> = None;
        let mut is_patient = true;
        let mut watch = |step: &Step<'_>| {
            let accuracy = dev.map(|dev| dev.accuracy(&problem, step.x));
            let time = start.elapsed();
            recent.extend(accuracy);
            let last = &recent[recent.len().saturating_sub(AVERAGED)..];
            let mean = last.iter().sum::<f64>() / last.len() as f64;
            let scores = accuracy.map(|accuracy| [accuracy, mean]);
            let flow = observer(&Event::Iteration(iteration(step, loss, scores, time)));
            if let Some(accuracy) = accuracy {
                match &best {
                    Some(best) if mean <= best.mean => {
                        is_patient = step.number < best.number + patience;
                    }
                    _ => {
                        let (number, phi) = (step.number, step.x.to_vec());
                        best = Some(Best { mean, accuracy, number, phi });
                    }
                }
            }
            if is_patient { flow } else { ControlFlow::Break(()) }
        };
        let mut fitted = problem.minimize(&mut watch)?;
        let mut end = End {
            reason: if is_patient { fitted.stop_reason } else { StopReason::Patience },
            iterations: fitted.iterations,
            best_iteration: fitted.iterations,
            dev_accuracy: None,
            objective: fitted.value,
        };
        if let Some(best) = best {
            (end.best_iteration, end.dev_accuracy) = (best.number, Some(best.accuracy));
            fitted.x = best.phi;
        }
        Ok((problem, fitted, end))
    }

    /// Makes the model of a minimum.
    fn model(&self, problem: &Problem<'_>, phi: &[f64], end: End) -> Result<DocumentModel> {
        let (options, corpus) = (&self.options, problem.corpus);
        let (biases, rows) = problem.parts(phi);
        let header = ModelHeader {
            classes: corpus.classes.iter().map(|class| class.name.clone()).collect(),
            multiclass: match corpus.classes.len() {
                0..=2 => Multiclass::Softmax,
                _ => options.learning.multiclass,
            },
            loss: options.learning.loss,
            input: ModelInput { features: options.features },
            biases,
            documents: corpus.targets.iter().flatten().count() as u64,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            options: json!(options),
            result: json!(end),
        };
        let names = corpus.names.names();
        // They were text.
        let names = names.map(|name| std::str::from_utf8(name).unwrap_or_default());
        DocumentModel::from_bytes(DocumentModel::encode(&header, names.zip(rows))?)
    }
}

/// Makes the event of an iteration, given its accuracy and the mean, if there are any.
fn iteration(step: &Step<'_>, loss: Loss, scores: Option<[f64; 2]>, time: Duration) -> Iteration {
    let terms = step.detail;
    let is_likelihood = matches!(loss, Loss::Softmax | Loss::Logistic);
    Iteration {
        number: step.number,
        objective: step.value,
        terms: ObjectiveTerms {
            log_likelihood: if is_likelihood { -terms.loss } else { f64::NAN },
            noise: terms.noise,
            l2: terms.l2,
            l1: step.value - (terms.loss + terms.noise + terms.l2),
        },
        optimizer: OptimizerStep {
            gradient_norm: step.gradient_norm,
            evaluations: step.evaluations,
            step: step.step,
            learning_rate: None,
        },
        weights: WeightCounts {
            nonzero: step.nonzero,
            norm: step.x_norm,
            nonzero_weights: step.nonzero,
        },
        time,
        dev: scores.map(|[accuracy, _]| DevScore::Accuracy(accuracy)),
        dev_mean: scores.map(|[_, mean]| mean),
        recall_bias: None,
        dev_details: None,
    }
}

/// The best iteration so far.
struct Best {
    mean: f64, // of its accuracy and those before it
    accuracy: f64,
    number: usize,
    phi: Vec<f64>,
}

/// Development documents.
#[derive(Debug)]
pub(crate) struct Development {
    rows: SparseRows,
    classes: Vec<Option<usize>>, // numbers of the classes in the training data
}

impl Development {
    /// Takes documents, by the features and classes of the training data; other features are left
    /// out.
    pub fn new(corpus: &DocumentCorpus, dev: &DocumentCorpus) -> Self {
        let own = |name| corpus.names.get(name).map(|feature| feature.0);
        let columns: Vec<Option<u32>> = dev.names.names().map(own).collect();
        let rows = dev.rows.map_columns(|column| columns[column as usize], |_, value| value);
        let number = |class: &Option<u32>| {
            let name = &dev.classes[(*class)? as usize].name;
            corpus.classes.iter().position(|own| own.name == *name)
        };
        Self { rows, classes: dev.targets.iter().map(number).collect() }
    }

    /// Returns the share of documents whose class has the best score with these weights.
    pub fn accuracy(&self, problem: &Problem<'_>, phi: &[f64]) -> f64 {
        let scores = problem.scores(phi, &self.rows);
        let count = self.classes.len().max(1);
        let outputs = (scores.len() / count).max(1);
        let best = |scores: &[f64]| match *scores {
            [score] => usize::from(score > 0.0),
            _ => {
                let better = |a: usize, b: usize| if scores[b] > scores[a] { b } else { a };
                (0..scores.len()).reduce(better).unwrap_or(0)
            }
        };
        let documents = scores.chunks(outputs).zip(&self.classes);
        let right = documents.filter(|(scores, class)| **class == Some(best(scores))).count();
        right as f64 / count as f64
    }
}

impl DocumentModel {
    /// Trains on documents with labels.
    ///
    /// # Errors
    ///
    /// The errors of [`DocumentTrainer`] and of reading.
    pub fn train(
        documents: impl IntoIterator<Item = Result<crate::Instance>>,
        options: &DocumentOptions,
    ) -> Result<Trained> {
        let trainer = DocumentTrainer::new(options.clone())?;
        let mut corpus = DocumentCorpus::default();
        corpus.add(documents, trainer.options())?;
        trainer.train(&corpus, None, &mut |_| ControlFlow::Continue(()))
    }
}
