//! Training.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use dropchain::Error;
use dropchain::kernel::optim::StopReason;
use dropchain::kernel::train::AnyOptions;
use dropchain::train::{
    BaseModels, Calibration, CheckpointInterval, Checkpoints, DevScore, End, HoldOut, Iteration,
    Lbfgs, ModelMatch, Observer, ObserverError, Pass, Pruned, Rounded, Start, TrainSettings,
    Trained, Trainer, TrainingCorpora,
};
use dropchain_online::Sgd;
use dropchain_report::log::{Header, Record as Line};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value, json};

use crate::corpus::PyCorpus;
use crate::error::{exception, in_python, warn};
use crate::inputs;
use crate::job::{self, Job};
use crate::objects::{fields, object};
use crate::options::{given_options, train_options};
use crate::tagger::PyTagger;
use crate::template::PyTemplate;

/// Development data.
#[derive(FromPyObject)]
pub enum DevData<'py> {
    /// Sentences of their own.
    Corpus(Bound<'py, PyCorpus>),
    /// A share of the labeled sentences, which is held out.
    Share(f64),
}

/// The arguments of a training run.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Arguments<'py> {
    pub labeled: Bound<'py, PyCorpus>,
    pub dev: Option<DevData<'py>>,
    pub unlabeled: Option<Bound<'py, PyCorpus>>,
    pub template: Option<Bound<'py, PyTemplate>>,
    pub options: Bound<'py, PyDict>,
    pub init: Option<Bound<'py, PyTagger>>,
    pub towards: Option<Bound<'py, PyTagger>>,
    pub threads: Option<i64>,
    pub memory: Option<i64>,
    pub checkpoint: Option<PathBuf>,
    pub checkpoint_iterations: Option<i64>,
    pub checkpoint_seconds: Option<f64>,
    pub resume: bool,
    pub observer: Option<Bound<'py, PyAny>>,
    /// The other arguments as options of the command line, in JSON.
    pub record: String,
}

impl Arguments<'_> {
    /// Returns the models that training continues from.
    pub fn models(&self) -> BaseModels<'_> {
        BaseModels {
            init: self.init.as_ref().map(|tagger| tagger.get().inner.model()),
            towards: self.towards.as_ref().map(|tagger| tagger.get().inner.model()),
        }
    }

    /// Returns the run as the command line records it.
    fn config(&self) -> PyResult<Value> {
        let mut options: Map<String, Value> =
            serde_json::from_str(&self.record).unwrap_or_default();
        for (name, value) in given_options(&self.options)? {
            options.insert(name.replace('_', "-"), value.into());
        }
        Ok(json!({"command": "train", "options": options}))
    }

    /// Copies the corpora; a share of the labeled sentences is held out by the seed.
    ///
    /// # Errors
    ///
    /// `ValueError`: the share is not between 0 and 1, or is of too few sentences.
    pub fn corpora(&self, seed: u64) -> PyResult<TrainingCorpora> {
        let unlabeled = self.unlabeled.as_ref().map(|corpus| corpus.get().to_corpus("unlabeled"));
        let mut corpora = TrainingCorpora {
            labeled: self.labeled.get().to_corpus("data"),
            unlabeled: unlabeled.unwrap_or_default(),
            ..TrainingCorpora::default()
        };
        match &self.dev {
            None => Ok(corpora),
            Some(DevData::Corpus(dev)) => {
                corpora.dev = Some(dev.get().to_corpus("dev"));
                Ok(corpora)
            }
            Some(DevData::Share(share)) => {
                let held_out = HoldOut::new(*share).and_then(|share| corpora.hold_out(share, seed));
                held_out.map_err(exception)
            }
        }
    }

    /// Rejects unlabeled text where training cannot learn from it.
    ///
    /// # Errors
    ///
    /// `ValueError` that says why.
    pub fn check_unlabeled(&self, options: &AnyOptions) -> PyResult<()> {
        let name = options.method.name();
        let noise = options.method.regularization().noise;
        let reason = if self.unlabeled.as_ref().is_none_or(|corpus| corpus.get().0.is_empty()) {
            return Ok(());
        } else if ![Lbfgs::NAME, Sgd::NAME].contains(&name) {
            format!("algorithm {name} learns from labels alone; expected lbfgs or sgd")
        } else if name == Sgd::NAME && noise.kind.is_sampled() {
            format!("algorithm {name} with sampled noise learns from labels alone; expected lbfgs")
        } else if !noise.is_on() {
            "without noise it teaches nothing; expected dropout above 0".to_owned()
        } else {
            return Ok(());
        };
        Err(PyValueError::new_err(format!("unlabeled text: {reason}")))
    }

    fn checkpoints(&self) -> PyResult<Option<Checkpoints>> {
        let Some(path) = &self.checkpoint else { return Ok(None) };
        let mut checkpoints = Checkpoints::new(path);
        let name = "checkpoint_every";
        if let Some(count) = inputs::count(name, self.checkpoint_iterations, 1)? {
            checkpoints = checkpoints.every(CheckpointInterval::Iterations(count));
        }
        if let Some(seconds) = self.checkpoint_seconds {
            let time = Duration::try_from_secs_f64(seconds).map_err(|_| {
                PyValueError::new_err(format!("{name} of {seconds} s; expected a time above 0"))
            })?;
            checkpoints = checkpoints.every(CheckpointInterval::Time(time));
        }
        Ok(Some(if self.resume { checkpoints.resume() } else { checkpoints }))
    }
}

/// Checks options and that they fit the models that training continues from.
///
/// # Errors
///
/// `ValueError` if one is out of its range, or the structure of a model is another one.
pub fn checked(options: AnyOptions, models: &BaseModels<'_>) -> PyResult<TrainSettings> {
    let settings = TrainSettings::new(options).map_err(exception)?;
    models.check(&settings).map_err(exception)?;
    Ok(settings)
}

/// What makes the content of an event, with the GIL.
pub type Content = dyn FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send;

/// An event of training or of a search: its kind, and what makes its content.
pub struct Event {
    /// `warning` of what most likely is a mistake in the data, or another one.
    pub kind: &'static str,
    /// Makes the content.
    pub content: Box<Content>,
}

/// Gives a warning, or tells the observer of another event; it returns False to end the work.
///
/// # Errors
///
/// The exceptions of warnings and of the observer.
pub fn follow(
    py: Python<'_>,
    observer: Option<&Bound<'_, PyAny>>,
    event: Event,
) -> PyResult<ControlFlow<()>> {
    if event.kind == "warning" {
        let text: String = (event.content)(py)?.extract(py)?;
        warn(py, &text, 2)?;
    } else if let Some(observer) = observer
        && let Ok(false) = observer.call1((event.kind, (event.content)(py)?))?.extract()
    {
        return Ok(ControlFlow::Break(()));
    }
    Ok(ControlFlow::Continue(()))
}

/// Keeps what happens, and sends it on if somebody follows training.
struct Recorder<'a, 'j> {
    job: &'a Job<'j, Event>,
    is_followed: bool,
    flow: ControlFlow<()>,
    record: Record,
}

/// A recorded event of training.
#[derive(Default)]
pub struct Record {
    course: Course,
    /// Course of the first pass, once it has ended.
    first_pass: Option<Course>,
    messages: Vec<String>,
    pruned: Option<Pruned>,
}

/// The sizes of the data and the iterations of a model.
#[derive(Default)]
struct Course {
    start: Option<Start>,
    history: Vec<Iteration>,
}

impl Course {
    /// Returns the log of the run as the command line writes it: JSON lines.
    fn log(&self, end: &End) -> PyResult<String> {
        let header = Cow::Owned(Header::new(Vec::new()));
        let start =
            self.start.as_ref().map(|start| Line::Start { header, start: Cow::Borrowed(start) });
        let iterations = self.history.iter().map(Cow::Borrowed).map(Line::Iteration);
        let lines = start.into_iter().chain(iterations).chain([Line::End(Cow::Borrowed(end))]);
        let log = lines.map(|line| serde_json::to_string(&line).map(|line| line + "\n"));
        let log: serde_json::Result<String> = log.collect();
        log.map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// Trains a model with a trainer, as `train` does, and records what happens.
///
/// # Errors
///
/// The errors of `train`.
pub fn record<'a>(
    job: &'a Job<'_, Event>,
    is_followed: bool,
    trainer: Trainer<'a>,
    train: impl FnOnce(Trainer<'a>, &mut dyn Observer) -> dropchain::Result<Trained>,
) -> dropchain::Result<(Trained, Record)> {
    let flow = ControlFlow::Continue(());
    let mut recorder = Recorder { job, is_followed, flow, record: Record::default() };
    let trained = train(trainer.interrupt(job.interrupt), &mut recorder)?;
    Ok((trained, recorder.record))
}

impl Recorder<'_, '_> {
    /// Sends an event, unless the follower has ended training.
    fn send(
        &mut self,
        kind: &'static str,
        content: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send + 'static,
    ) {
        if (self.is_followed || kind == "warning") && self.flow.is_continue() {
            self.flow = self.job.send(Event { kind, content: Box::new(content) });
        }
    }

    fn message(&mut self, message: String) {
        self.record.messages.push(message.clone());
        self.send("message", |py| message.into_py_any(py));
    }
}

impl Observer for Recorder<'_, '_> {
    fn pass(&mut self, pass: Pass) {
        let course = std::mem::take(&mut self.record.course);
        if pass != Pass::First && self.record.first_pass.is_none() {
            self.record.first_pass = Some(course);
        }
        self.message(match pass {
            Pass::First => "first pass".to_owned(),
            Pass::Fold { number, of } => format!("first pass without fold {number} of {of}"),
            Pass::Second => "second pass".to_owned(),
        });
    }

    fn start(&mut self, start: &Start) {
        let is_first = self.record.first_pass.is_none() && self.record.course.start.is_none();
        for warning in warnings(&start.reading).filter(|_| is_first) {
            self.send("warning", |py| warning.into_py_any(py));
        }
        self.record.course.start = Some(start.clone());
        let start = start.clone();
        self.send("start", move |py| {
            let fields = start_fields(py, &start)?;
            fields.set_item("weights", start.model.weights)?;
            Ok(fields.unbind())
        });
    }

    fn calibrated(&mut self, calibration: &Calibration) {
        let calibration = calibration.clone();
        self.send("calibration", move |py| {
            let fields = PyDict::new(py);
            fields!(fields, calibration, [sentences, initial, trials, rate]);
            fields.into_py_any(py)
        });
    }

    fn end(&mut self, end: &End) {
        let reason = end.reason.name();
        self.send("end", move |py| reason.into_py_any(py));
    }

    fn matched(&mut self, found: &ModelMatch) {
        let (labels, attributes) = (found.labels, found.node_attributes);
        self.message(format!(
            "{} of {} labels and {} of {} attributes are in the model {}",
            labels.matched,
            labels.matched + labels.new,
            attributes.matched,
            attributes.matched + attributes.new,
            found.model
        ));
    }

    fn resumed(&mut self, iterations: usize) {
        self.message(match iterations {
            0 => "resumed with this pass".to_owned(),
            _ => format!("resumed after {iterations} iterations"),
        });
    }

    fn checkpoint_failed(&mut self, error: &Error) {
        self.message(format!("the checkpoint was not written: {error}"));
    }

    fn iteration(&mut self, iteration: &Iteration) -> Result<ControlFlow<()>, ObserverError> {
        self.record.course.history.push(iteration.clone());
        let iteration = iteration.clone();
        self.send("iteration", move |py| {
            let fields = iteration_fields(py, &iteration)?;
            let (weights, details) = (&iteration.weights, iteration.dev_details.as_ref());
            fields.set_item("weight_norm", weights.norm)?;
            fields.set_item("nonzero_weights", weights.nonzero_weights)?;
            fields.set_item("step", iteration.optimizer.step)?;
            if let Some(scores) = details.and_then(|details| details.label_scores.as_ref()) {
                let labels = scores.labels.iter();
                let labels = labels.map(|(name, c)| (name, c.correct, c.predicted, c.gold));
                fields.set_item("label_scores", labels.collect::<Vec<_>>())?;
                fields.set_item("sentences", (scores.correct_sentences, scores.sentences))?;
            }
            fields.into_py_any(py)
        });
        Ok(self.flow)
    }

    fn pruned(&mut self, pruned: &Pruned) {
        self.record.pruned = Some(*pruned);
    }

    fn rounded(&mut self, rounded: &Rounded) {
        self.message(rounded.to_string());
    }
}

/// Trains a model. Returns a dict: the tagger, the history, how training ended, and the exception
/// that ended it early, if any. Without a model, raises the exception.
#[pyfunction]
pub fn train<'py>(py: Python<'py>, arguments: Arguments<'py>) -> PyResult<Bound<'py, PyDict>> {
    let models = arguments.models();
    let options = train_options(&arguments.options, models.default_options())?;
    let settings = checked(options.clone(), &models)?;
    arguments.check_unlabeled(&options)?;
    let corpora = arguments.corpora(options.seed)?;
    let template = arguments.template.as_ref().map(|t| t.get().inner.clone());
    let memory = inputs::memory_limit(arguments.memory)?;
    let trainer = Trainer::with_settings(settings.clone()).models(models).memory(memory);
    let trainer = arguments.checkpoints()?.into_iter().fold(trainer, Trainer::checkpoints);
    let observer = arguments.observer.as_ref();
    let is_followed = observer.is_some();
    let work = |job: &Job<'_, Event>| {
        record(job, is_followed, trainer, |t, recorder| t.train(corpora, template, recorder))
    };
    let threads = inputs::count("threads", arguments.threads, 1)?;
    let handle = |event| follow(py, observer, event);
    let ((mut trained, record), raised) = job::run(py, threads, work, handle)?;
    // A model is not lost for its record.
    if let Ok(recorded) = trained.model.with_config(&arguments.config()?) {
        trained.model = recorded;
    }
    outcome(py, (trained, record), raised, &settings)
}

/// Returns the warnings in what is said of the reading of training data.
pub fn warnings(reading: &[String]) -> impl Iterator<Item = String> + '_ {
    reading.iter().filter_map(|line| line.strip_prefix("warning: ")).map(str::to_owned)
}

/// Returns the result of training as a dict.
///
/// # Errors
///
/// None of results.
pub fn outcome<'py>(
    py: Python<'py>,
    (trained, mut record): (Trained, Record),
    raised: Option<PyErr>,
    settings: &TrainSettings,
) -> PyResult<Bound<'py, PyDict>> {
    let end = &trained.end;
    let result = PyDict::new(py);
    fields!(result, end, [iterations, warm_up, best_iteration, dev_mean, recall_bias]);
    fields!(result, end, [regularization]);
    result.set_item("end_reason", end.reason.name())?;
    result.set_item("seconds", end.time.as_secs_f64())?;
    set_score(&result, end.dev)?;
    result.set_item("has_learned", end.has_result())?;
    let has_exact_gradient = settings.regularization().noise.has_exact_gradient();
    let has_failed = end.reason == StopReason::NonFinite
        || end.reason == StopReason::LineSearch && has_exact_gradient;
    result.set_item("converged", !has_failed)?;
    let own = end.record();
    result.set_item("noise_iterations", own.noisy_iterations().unwrap_or(0))?;
    let warning = own.warning_of_noise().map(|warning| in_python(&warning));
    record.messages.extend(warning.clone());
    result.set_item("warning", warning)?;
    let course = record.first_pass.filter(|_| trained.is_first_pass).unwrap_or(record.course);
    let start = course.start.as_ref().map(|start| start_fields(py, start)).transpose()?;
    result.set_item("start", start.unwrap_or_else(|| PyDict::new(py).into_any()))?;
    let history = course.history.iter().map(|iteration| iteration_fields(py, iteration));
    result.set_item("history", history.collect::<PyResult<Vec<_>>>()?)?;
    result.set_item("log", course.log(end)?)?;
    fields!(result, record, [messages]);
    result.set_item("pruned", record.pruned.map(|pruned| (pruned.before, pruned.after)))?;
    fields!(result, trained, [is_first_pass]);
    result.set_item("tagger", PyTagger::of(py, trained.model))?;
    result.set_item("exception", raised)?;
    let options = serde_json::to_string(settings).unwrap_or_else(|_| "{}".to_owned());
    result.set_item("options", options)?;
    Ok(result)
}

fn start_fields<'py>(py: Python<'py>, start: &Start) -> PyResult<Bound<'py, PyAny>> {
    let fields = object(py, start)?;
    fields.del_item("parameters")?; // the options
    Ok(fields)
}

fn iteration_fields<'py>(py: Python<'py>, iteration: &Iteration) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    let Iteration { terms, optimizer, weights, .. } = iteration;
    fields!(fields, iteration, [number, objective, dev_mean, recall_bias]);
    fields!(fields, terms, [log_likelihood, noise, l2, l1]);
    fields!(fields, optimizer, [gradient_norm, evaluations, learning_rate]);
    fields!(fields, weights, [nonzero]);
    fields.set_item("seconds", iteration.time.as_secs_f64())?;
    set_score(&fields, iteration.dev)?;
    Ok(fields)
}

/// Sets a score on development data and its name.
fn set_score(fields: &Bound<'_, PyDict>, score: Option<DevScore>) -> PyResult<()> {
    fields.set_item("dev_score", score.map(DevScore::value))?;
    let metric = score.map(|score| match score {
        DevScore::F1(_) => "f1",
        DevScore::Accuracy(_) => "accuracy",
    });
    fields.set_item("metric", metric)
}
