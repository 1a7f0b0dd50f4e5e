//! From documents to a model.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use serde::Serialize;
use serde_json::json;

use crate::corpus::{CorpusOptions, DocumentCorpus, Target};
use crate::linear::{Fitted, Problem, Step};
use crate::model::{ModelFile, ModelHeader, ModelInput};
use crate::options::{DocumentOptions, Multiclass, NoiseKind, Task};
use crate::{DocumentModel, Loss};
use dropchain::error::{Error, Result};
use dropchain::kernel::extract::SparseRows;
use dropchain::kernel::optim::StopReason;

/// Number of classes above which sigma points are further from dropout than its quadratic term
/// (`docs/dropout.md`).
const MOST_CLASSES_OF_SIGMA_POINTS: usize = 20;

/// Iterations whose accuracies are averaged to choose one: a single one wobbles.
const AVERAGED: usize = 5;

/// What happens in training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// Training begins.
    Start(Start),
    /// An iteration was made; number 0 is the start.
    Iteration(Iteration),
    /// Training has ended.
    End(End),
}

/// What is trained on.
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

/// An iteration.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Iteration {
    /// Number of the iteration, from 1.
    #[serde(rename = "iteration")]
    pub number: usize,
    /// The objective.
    pub objective: f64,
    /// Terms of the objective.
    #[serde(flatten)]
    pub terms: IterationTerms,
    /// The norm of the gradient.
    pub gradient_norm: f64,
    /// Evaluations of the objective so far.
    pub evaluations: usize,
    /// Number of parameters that are not 0.
    pub nonzero: usize,
    /// The accuracy on development documents, if there are any.
    pub dev_accuracy: Option<f64>,
    /// Seconds since the start.
    pub seconds: f64,
}

/// The terms of the objective.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct IterationTerms {
    /// −loss, if the loss is a likelihood.
    pub log_likelihood: Option<f64>,
    /// The noise term.
    pub dropout: f64,
    /// The L2 penalty.
    pub l2: f64,
    /// The L1 penalty.
    pub l1: f64,
}

/// How training ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct End {
    /// Why; `None`: the accuracy on development documents no longer improved.
    pub reason: Option<StopReason>,
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
    pub fn new(mut options: DocumentOptions) -> Result<Self> {
        options.check()?;
        if options.model.task == Task::Classes && options.model.loss != Loss::Softmax {
            options.model.multiclass = Multiclass::OneVsRest;
        }
        Ok(Self { options, interrupt: None })
    }

    /// Returns the options.
    pub fn options(&self) -> &DocumentOptions {
        &self.options
    }

    /// Returns how documents become rows of a corpus.
    pub fn corpus_options(&self) -> CorpusOptions {
        CorpusOptions {
            features: self.options.data.features,
            of_numbers: self.options.model.task == Task::Numbers,
            of_counts: self.options.model.loss == Loss::Poisson,
            memory: self.options.memory,
        }
    }

    /// A warning if the noise approximates dropout worse than the default, with the classes of a
    /// corpus.
    pub fn warning(&self, corpus: &DocumentCorpus) -> Option<String> {
        let (noise, classes) = (&self.options.noise, corpus.classes.len());
        let has_sigma_points = noise.is_on()
            && noise.kind == NoiseKind::GaussianScores
            && self.options.model.multiclass == Multiclass::Softmax;
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
    pub fn train(
        &self,
        corpus: &DocumentCorpus,
        dev: Option<&DocumentCorpus>,
        observer: Observer<'_>,
    ) -> Result<Trained> {
        if self.options.model.task == Task::Classes {
            corpus.check_classes()?;
        }
        let own;
        let corpus = match self.options.model.min_count {
            0 | 1 => corpus,
            count => {
                own = corpus.without_rare(count);
                &own
            }
        };
        let problem = Problem::new(corpus, corpus.features(), &self.options, self.interrupt)?;
        let unlabeled = corpus.targets.iter().filter(|target| **target == Target::Unknown).count();
        let _ = observer(&Event::Start(Start {
            documents: corpus.documents() - unlabeled,
            unlabeled,
            labels: corpus.classes.len(),
            attributes: corpus.features(),
            active_per_token: corpus.rows.nonzeros() as f64 / corpus.documents() as f64,
            columns: problem.design.dimension(),
            parameters: problem.dimension(),
        }));
        let dev = dev.map(|dev| Development::new(corpus, dev));
        let (fitted, end) = self.fit(&problem, dev.as_ref(), observer)?;
        let model = self.model(corpus, &problem, &fitted, end)?;
        let _ = observer(&Event::End(end));
        Ok(Trained { model, end })
    }

    /// Minimizes the objective, and returns the weights of the best iteration.
    pub(crate) fn fit(
        &self,
        problem: &Problem<'_>,
        dev: Option<&Development>,
        observer: Observer<'_>,
    ) -> Result<(Fitted, End)> {
        let options = &self.options;
        let is_likelihood = matches!(options.model.loss, Loss::Softmax | Loss::Logistic);
        let start = Instant::now();
        let mut recent: Vec<f64> = Vec::new();
        let mut best: Option<Best> = None;
        let mut is_patient = true;
        let mut watch = |step: &Step<'_>| {
            let accuracy = dev.map(|dev| dev.accuracy_of(problem, step.x));
            let terms = step.detail;
            let flow = observer(&Event::Iteration(Iteration {
                number: step.number,
                objective: step.value,
                terms: IterationTerms {
                    log_likelihood: is_likelihood.then_some(-terms.loss),
                    dropout: terms.noise,
                    l2: terms.l2,
                    l1: step.value - (terms.loss + terms.noise + terms.l2),
                },
                gradient_norm: step.gradient_norm,
                evaluations: step.evaluations,
                nonzero: step.nonzero,
                dev_accuracy: accuracy,
                seconds: start.elapsed().as_secs_f64(),
            }));
            if let Some(accuracy) = accuracy {
                recent.push(accuracy);
                let last = &recent[recent.len().saturating_sub(AVERAGED)..];
                let mean = last.iter().sum::<f64>() / last.len() as f64;
                match &best {
                    Some(best) if mean <= best.mean => {
                        is_patient = step.number < best.number + options.course.patience;
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
            reason: is_patient.then_some(fitted.stop_reason),
            iterations: fitted.iterations,
            best_iteration: fitted.iterations,
            dev_accuracy: None,
            objective: fitted.objective,
        };
        // The units of several classes are trained one after another, to the end.
        if let Some(best) = best.filter(|best| best.phi.len() == fitted.phi.len()) {
            (end.best_iteration, end.dev_accuracy) = (best.number, Some(best.accuracy));
            fitted.phi = best.phi;
        }
        Ok((fitted, end))
    }

    /// Makes the model of a minimum.
    fn model(
        &self,
        corpus: &DocumentCorpus,
        problem: &Problem<'_>,
        fitted: &Fitted,
        end: End,
    ) -> Result<DocumentModel> {
        let options = &self.options;
        let task = options.model.task;
        let parts = problem.parts(&fitted.phi);
        let data = &options.data;
        let mut record = serde_json::to_value(options)
            .map_err(|error| Error::parameter(format!("cannot record the options: {error}")))?;
        record["l2"] = options.l2().into();
        let header = ModelHeader {
            classes: corpus.classes.iter().map(|class| class.name.clone()).collect(),
            multiclass: match corpus.classes.len() {
                0..=2 => Multiclass::Softmax,
                _ => options.model.multiclass,
            },
            loss: options.model.loss,
            input: ModelInput {
                features: data.features,
                table: data.table.clone(),
                label: data.label.clone(),
                files: data.files.clone(),
            },
            biases: parts.biases,
            outputs: parts.outputs,
            documents: corpus.targets.iter().filter(|t| **t != Target::Unknown).count() as u64,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            options: record,
            result: json!(end),
        };
        let rows = corpus.feature_names().into_iter().zip(parts.rows).collect();
        DocumentModel::from_bytes(ModelFile::encode(task, &header, rows)?, task)
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
    /// Takes documents, by the features and classes of the training data.
    pub fn new(corpus: &DocumentCorpus, dev: &DocumentCorpus) -> Self {
        let number = |target: &Target| {
            let Target::Class(class) = target else { return None };
            let name = &dev.classes[*class as usize].name;
            corpus.classes.iter().position(|own| own.name == *name)
        };
        let classes = dev.targets.iter().map(number).collect();
        Self { rows: corpus.rows_of(dev), classes }
    }

    /// Takes documents that have the features and classes of the training data.
    pub fn of_subset(held_out: &DocumentCorpus) -> Self {
        let number = |target: &Target| match target {
            Target::Class(class) => Some(*class as usize),
            _ => None,
        };
        Self { rows: held_out.rows.clone(), classes: held_out.targets.iter().map(number).collect() }
    }

    /// Returns the accuracy of weights.
    pub fn accuracy_of(&self, problem: &Problem<'_>, phi: &[f64]) -> f64 {
        self.accuracy(&problem.scores(phi, &self.rows))
    }

    /// Returns the share of documents whose class has the best score.
    fn accuracy(&self, scores: &[f64]) -> f64 {
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
        corpus.add(documents, &trainer.corpus_options())?;
        trainer.train(&corpus, None, &mut |_| ControlFlow::Continue(()))
    }
}
