//! Training.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dropchain::kernel::optim::StopReason;
use dropchain::kernel::train::AnyOptions;
use dropchain::train::{
    AttributeCorpus, BaseModels, Calibration, CheckpointInterval, Checkpoints, DevScore, End,
    HoldOut, Iteration, Lbfgs, ModelMatch, Observer, ObserverError, Pass, Pruned, Rounded, Start,
    TrainOptions, TrainSettings, Trained, Trainer, TrainingCorpora,
};
use dropchain::{Error, Tagger, Template};
use dropchain_online::Sgd;
use dropchain_report::log::{Header, Record as Line};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value, json};

use crate::corpus::PyCorpus;
use crate::error::{exception, in_python, warn};
use crate::fields::fields;
use crate::inputs;
use crate::job::{self, Finished, Job};
use crate::json::object;
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
    /// Returns the run as the command line records it.
    fn config(&self) -> PyResult<Value> {
        let mut options: Map<String, Value> =
            serde_json::from_str(&self.record).unwrap_or_default();
        for (name, value) in given_options(&self.options)? {
            options.insert(name.replace('_', "-"), value.into());
        }
        Ok(json!({"command": "train", "options": options}))
    }
}

/// The models that training continues from.
pub struct Bases {
    init: Option<Arc<Tagger>>,
    towards: Option<Arc<Tagger>>,
}

impl Bases {
    /// Shares the models of taggers.
    pub fn new(init: Option<&Bound<'_, PyTagger>>, towards: Option<&Bound<'_, PyTagger>>) -> Self {
        let [init, towards] = [init, towards].map(|t| t.map(|t| Arc::clone(&t.get().inner)));
        Self { init, towards }
    }

    /// Returns the models.
    pub fn models(&self) -> BaseModels<'_> {
        BaseModels {
            init: self.init.as_deref().map(Tagger::model),
            towards: self.towards.as_deref().map(Tagger::model),
        }
    }

    /// Returns the default options, of the model that training continues from if there is one.
    pub fn defaults(&self) -> TrainOptions {
        self.models().first().map_or_else(TrainOptions::default, TrainOptions::continuing)
    }

    /// Returns the options by name; those that are not given are defaults.
    ///
    /// # Errors
    ///
    /// The errors of [`train_options`]; the structure of a model is another one.
    pub fn options(&self, named: &Bound<'_, PyDict>) -> PyResult<AnyOptions> {
        let options = train_options(named, self.defaults())?;
        let settings = TrainSettings::new(options.clone()).map_err(exception)?;
        self.models().check(&settings).map_err(exception)?;
        Ok(options)
    }
}

/// The sentences of a training run.
pub enum Corpora<'a> {
    /// With words, and the template.
    Text(Box<TrainingCorpora>, Option<Template>),
    /// With features; and the development data.
    Attributes(&'a AttributeCorpus, Option<&'a AttributeCorpus>),
}

/// An event of training.
pub enum Event {
    /// It starts.
    Start(Box<Start>),
    /// The learning rates that were tried.
    Calibration(Calibration),
    /// An iteration has ended.
    Iteration(Box<Iteration>),
    /// The iterations have ended.
    End(StopReason),
    /// Something about the labels that is most likely a mistake.
    Warning(String),
    /// Something else.
    Message(String),
}

/// Keeps what happens, and sends it on if somebody follows training.
pub struct Recorder<'a, 'j> {
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
        let lines = start.into_iter().chain(iterations);
        let mut log = String::new();
        for line in lines.chain([Line::End(Cow::Borrowed(end))]) {
            let line = serde_json::to_string(&line);
            log += &line.map_err(|error| PyValueError::new_err(error.to_string()))?;
            log.push('\n');
        }
        Ok(log)
    }
}

impl<'a, 'j> Recorder<'a, 'j> {
    /// Records a training run, which somebody follows or not.
    pub fn new(job: &'a Job<'j, Event>, is_followed: bool) -> Self {
        Self { job, is_followed, flow: ControlFlow::Continue(()), record: Record::default() }
    }

    /// Trains a model.
    ///
    /// # Errors
    ///
    /// The errors of [`Trainer::train`].
    pub fn train(
        mut self,
        trainer: Trainer<'_>,
        corpora: Corpora<'_>,
    ) -> dropchain::Result<(Trained, Record)> {
        let trainer = trainer.interrupt(self.job.interrupt);
        let trained = match corpora {
            Corpora::Text(corpora, template) => trainer.train(*corpora, template, &mut self)?,
            Corpora::Attributes(corpus, dev) => trainer.train_attributes(corpus, dev, &mut self)?,
        };
        Ok((trained, self.record))
    }

    /// Sends an event, unless the follower has ended training.
    fn send(&mut self, event: impl FnOnce() -> Event) {
        if self.is_followed && self.flow.is_continue() {
            self.flow = self.job.send(event());
        }
    }

    fn message(&mut self, message: String) {
        self.send(|| Event::Message(message.clone()));
        self.record.messages.push(message);
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
            if self.flow.is_continue() {
                self.flow = self.job.send(Event::Warning(warning));
            }
        }
        self.record.course.start = Some(start.clone());
        self.send(|| Event::Start(Box::new(start.clone())));
    }

    fn calibrated(&mut self, calibration: &Calibration) {
        self.send(|| Event::Calibration(calibration.clone()));
    }

    fn end(&mut self, end: &End) {
        self.send(|| Event::End(end.reason));
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
        self.send(|| Event::Iteration(Box::new(iteration.clone())));
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
    let bases = Bases::new(arguments.init.as_ref(), arguments.towards.as_ref());
    let options = bases.options(&arguments.options)?;
    let settings = TrainSettings::new(options.clone()).map_err(exception)?;
    let unlabeled = arguments.unlabeled.as_ref();
    if let Some(unlabeled) = unlabeled {
        check_unlabeled(&options, !unlabeled.get().0.is_empty())?;
    }
    let dev = arguments.dev.as_ref();
    let corpora = corpora(&arguments.labeled, dev, unlabeled, options.seed)?;
    let template = arguments.template.as_ref().map(|t| t.get().inner.clone());
    let corpora = Corpora::Text(Box::new(corpora), template);
    let memory = inputs::memory_limit(arguments.memory)?;
    let models = bases.models();
    let mut trainer = Trainer::with_settings(settings.clone()).memory(memory);
    trainer = models.init.into_iter().fold(trainer, Trainer::init);
    trainer = models.towards.into_iter().fold(trainer, Trainer::towards);
    trainer = checkpoints(&arguments)?.into_iter().fold(trainer, Trainer::checkpoints);
    let is_followed = arguments.observer.is_some();
    let work = |job: &Job<'_, Event>| Recorder::new(job, is_followed).train(trainer, corpora);
    let threads = inputs::count("threads", arguments.threads, 1)?;
    let handle = |event| match (event, &arguments.observer) {
        (Event::Warning(text), _) => warn(py, &text, 2).map(|()| ControlFlow::Continue(())),
        (event, Some(observer)) => observe(observer, event),
        _ => Ok(ControlFlow::Continue(())),
    };
    let mut finished = job::run(py, threads, work, handle)?;
    if let Ok((trained, _)) = &mut finished.result
        // A model is not lost for its record.
        && let Ok(recorded) = trained.model.with_config(&arguments.config()?)
    {
        trained.model = recorded;
    }
    outcome(py, finished, &settings)
}

/// Returns the warnings in what is said of the reading of training data.
pub fn warnings(reading: &[String]) -> impl Iterator<Item = String> + '_ {
    reading.iter().filter_map(|line| line.strip_prefix("warning: ")).map(str::to_owned)
}

/// Returns the result of training as a dict; without a model, raises the exception that ended it.
///
/// # Errors
///
/// The exception that was raised.
pub fn outcome<'py>(
    py: Python<'py>,
    finished: Finished<(Trained, Record)>,
    settings: &TrainSettings,
) -> PyResult<Bound<'py, PyDict>> {
    let (trained, record) = match finished.result {
        Ok(done) => done,
        Err(error) => return Err(finished.exception.unwrap_or_else(|| exception(error))),
    };
    let result = end_fields(py, &trained.end)?;
    let has_exact_gradient = settings.regularization().noise.has_exact_gradient();
    let fails = trained.end.reason == StopReason::LineSearch;
    result.set_item("converged", !(fails && has_exact_gradient) && is_finite(&trained.end))?;
    let (own, mut record) = (trained.end.record(), record);
    result.set_item("noise_iterations", own.noisy_iterations().unwrap_or(0))?;
    result.set_item("regularization", &own.regularization)?;
    let warning = own.warning_of_noise();
    let warning = warning.map(|warning| in_python(&warning));
    record.messages.extend(warning.clone());
    result.set_item("warning", warning)?;
    record.add_to(&result, trained.is_first_pass, &trained.end)?;
    result.set_item("is_first_pass", trained.is_first_pass)?;
    result.set_item("tagger", PyTagger::of(py, trained.model))?;
    result.set_item("exception", finished.exception)?;
    result.set_item("options", serde_text(settings))?;
    Ok(result)
}

/// Copies corpora; a share of the labeled sentences is held out by the seed.
///
/// # Errors
///
/// `ValueError`: the share is not between 0 and 1, or is of too few sentences.
pub fn corpora(
    labeled: &Bound<'_, PyCorpus>,
    dev: Option<&DevData<'_>>,
    unlabeled: Option<&Bound<'_, PyCorpus>>,
    seed: u64,
) -> PyResult<TrainingCorpora> {
    let unlabeled = unlabeled.map(|corpus| corpus.get().to_corpus("unlabeled"));
    let mut corpora = TrainingCorpora {
        labeled: labeled.get().to_corpus("data"),
        unlabeled: unlabeled.unwrap_or_default(),
        ..TrainingCorpora::default()
    };
    match dev {
        None => {}
        Some(DevData::Corpus(dev)) => corpora.dev = Some(dev.get().to_corpus("dev")),
        Some(DevData::Share(share)) => {
            let held_out = HoldOut::new(*share).and_then(|share| corpora.hold_out(share, seed));
            corpora = held_out.map_err(exception)?;
        }
    }
    Ok(corpora)
}

/// Rejects unlabeled text where training cannot learn from it.
///
/// # Errors
///
/// `ValueError` that says why.
pub fn check_unlabeled(options: &AnyOptions, has_unlabeled: bool) -> PyResult<()> {
    let name = options.method.name();
    let noise = options.method.regularization().noise;
    let is_sampled = noise.kind.is_sampled();
    let reason = if !has_unlabeled {
        return Ok(());
    } else if ![Lbfgs::NAME, Sgd::NAME].contains(&name) {
        format!("algorithm {name} learns from labels alone; expected lbfgs or sgd")
    } else if name == Sgd::NAME && is_sampled {
        format!("algorithm {name} with sampled noise learns from labels alone; expected lbfgs")
    } else if !noise.is_on() {
        "without noise it teaches nothing; expected dropout above 0".to_owned()
    } else {
        return Ok(());
    };
    Err(PyValueError::new_err(format!("unlabeled text: {reason}")))
}

fn checkpoints(arguments: &Arguments<'_>) -> PyResult<Option<Checkpoints>> {
    let Some(path) = &arguments.checkpoint else { return Ok(None) };
    let mut checkpoints = Checkpoints::new(path);
    let name = "checkpoint_every";
    if let Some(count) = inputs::count(name, arguments.checkpoint_iterations, 1)? {
        checkpoints = checkpoints.every(CheckpointInterval::Iterations(count));
    }
    if let Some(seconds) = arguments.checkpoint_seconds {
        let time = Duration::try_from_secs_f64(seconds).map_err(|_| {
            PyValueError::new_err(format!("{name} of {seconds} s; expected a time above 0"))
        })?;
        checkpoints = checkpoints.every(CheckpointInterval::Time(time));
    }
    Ok(Some(if arguments.resume { checkpoints.resume() } else { checkpoints }))
}

/// Calls the observer with the kind of an event and its content. It returns False to end training.
pub fn observe(observer: &Bound<'_, PyAny>, event: Event) -> PyResult<ControlFlow<()>> {
    let py = observer.py();
    let reply = match event {
        Event::Start(start) => {
            let dict = start_fields(py, &start)?;
            dict.set_item("weights", start.model.weights)?;
            observer.call1(("start", dict))?
        }
        Event::Calibration(calibration) => {
            let dict = PyDict::new(py);
            fields!(dict, calibration, [sentences, initial, trials, rate]);
            observer.call1(("calibration", dict))?
        }
        Event::Iteration(iteration) => {
            let dict = iteration_fields(py, &iteration)?;
            let (weights, details) = (&iteration.weights, iteration.dev_details.as_ref());
            dict.set_item("weight_norm", weights.norm)?;
            dict.set_item("nonzero_weights", weights.nonzero_weights)?;
            dict.set_item("step", iteration.optimizer.step)?;
            if let Some(scores) = details.and_then(|details| details.label_scores.as_ref()) {
                let labels = scores.labels.iter();
                let labels = labels.map(|(name, c)| (name, c.correct, c.predicted, c.gold));
                dict.set_item("label_scores", labels.collect::<Vec<_>>())?;
                dict.set_item("sentences", (scores.correct_sentences, scores.sentences))?;
            }
            observer.call1(("iteration", dict))?
        }
        Event::End(reason) => observer.call1(("end", reason.name()))?,
        Event::Message(message) => observer.call1(("message", message))?,
        Event::Warning(_) => return Ok(ControlFlow::Continue(())),
    };
    Ok(flow(&reply))
}

/// Converts what an observer returns: False ends the work.
pub fn flow(reply: &Bound<'_, PyAny>) -> ControlFlow<()> {
    match reply.extract::<bool>() {
        Ok(false) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    }
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
    fields.set_item("dev_score", iteration.dev.map(DevScore::value))?;
    fields.set_item("metric", iteration.dev.map(metric))?;
    Ok(fields)
}

/// Returns the name of a score.
fn metric(score: DevScore) -> &'static str {
    match score {
        DevScore::F1(_) => "f1",
        DevScore::Accuracy(_) => "accuracy",
    }
}

fn end_fields<'py>(py: Python<'py>, end: &End) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("end_reason", end.reason.name())?;
    fields!(fields, end, [iterations, warm_up, best_iteration, dev_mean, recall_bias]);
    fields.set_item("seconds", end.time.as_secs_f64())?;
    fields.set_item("dev_score", end.dev.map(DevScore::value))?;
    fields.set_item("metric", end.dev.map(metric))?;
    fields.set_item("has_learned", end.has_result())?;
    Ok(fields)
}

fn is_finite(end: &End) -> bool {
    end.reason != StopReason::NonFinite
}

impl Record {
    /// Adds what happened to the result, of the model that it has: `is_first_pass` says which.
    fn add_to(&self, result: &Bound<'_, PyDict>, is_first_pass: bool, end: &End) -> PyResult<()> {
        let py = result.py();
        let course = self.first_pass.as_ref().filter(|_| is_first_pass).unwrap_or(&self.course);
        let start = course.start.as_ref();
        let start =
            start.map_or_else(|| Ok(PyDict::new(py).into_any()), |start| start_fields(py, start));
        result.set_item("start", start?)?;
        let history = course.history.iter().map(|iteration| iteration_fields(py, iteration));
        result.set_item("history", history.collect::<PyResult<Vec<_>>>()?)?;
        result.set_item("messages", &self.messages)?;
        result.set_item("log", course.log(end)?)?;
        let pruned = self.pruned.map(|pruned| (pruned.before, pruned.after));
        result.set_item("pruned", pruned)
    }
}

/// Returns the options as JSON.
pub fn serde_text(settings: &TrainSettings) -> String {
    serde_json::to_string(settings).unwrap_or_else(|_| "{}".to_owned())
}
