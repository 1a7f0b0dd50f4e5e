//! The trainer: from corpora to a model, and what is reported of a training set before training.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::agreement::Agreement;
use super::base_models::BaseModels;
use super::checkpoint::{Checkpoints, Run};
use super::corpora::{TrainingCorpora, first_template};
use super::course::{Course, CourseSettings};
use super::development::DevelopmentSet;
use super::events::{DataSizes, End, ModelSizes, Observer, Start};
use super::extraction::Source;
use super::learner::{AnyLearner, Request, fields};
use super::model_match::ModelMatch;
use super::options::TrainOptions;
use super::settings::TrainSettings;
use super::training_set::{Extracted, TrainingSet};
use crate::error::Result;
use crate::extract::{AttributeCorpus, Classes};
use crate::memory::MemoryLimit;
use crate::model::Model;
use crate::ranks::Ranks;
use crate::simd;
use crate::template::Template;

/// Trains models.
#[derive(Clone, Debug)]
#[must_use]
pub struct Trainer<'a> {
    pub(super) settings: TrainSettings,
    pub(super) interrupt: Option<&'a AtomicBool>,
    pub(super) memory: MemoryLimit,
    pub(super) checkpoints: Option<Checkpoints>,
    pub(super) models: BaseModels<'a>,
    pub(super) ranks: Option<Ranks>,
}

impl<'a> Trainer<'a> {
    /// Creates a trainer with these parameters.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`](crate::Error::Parameter) naming the option that is out of its range.
    pub fn new(options: TrainOptions<impl Into<AnyLearner>>) -> Result<Self> {
        TrainSettings::new(options).map(Self::with_settings)
    }

    /// Creates a trainer with checked parameters.
    pub fn with_settings(settings: TrainSettings) -> Self {
        Self {
            settings,
            interrupt: None,
            memory: MemoryLimit::default(),
            checkpoints: None,
            models: BaseModels::default(),
            ranks: None,
        }
    }

    /// Divides the evaluations of the objective among ranks. All of them train on the same corpora,
    /// and get the same result, with the bits of a run without ranks. Rank 0 alone reads and writes
    /// checkpoints.
    ///
    /// Training with what cannot be divided ([`Request::Ranks`]) is an error.
    pub fn ranks(self, ranks: Ranks) -> Self {
        Self { ranks: Some(ranks), ..self }
    }

    /// Sets a flag that stops training at the next evaluation once it is true; the result is the
    /// best model so far. If [`End::best_iteration`] is 0, that is the model before training. Of
    /// two passes it may be the first alone ([`Trained::is_first_pass`]).
    pub fn interrupt(self, flag: &'a AtomicBool) -> Self {
        Self { interrupt: Some(flag), ..self }
    }

    /// Limits the memory of training; by default to most of the available memory. Results do not
    /// depend on it.
    pub fn memory(self, memory: MemoryLimit) -> Self {
        Self { memory, ..self }
    }

    /// Writes checkpoints, from which an interrupted run resumes to the same bits. The last one
    /// remains after training; delete it once the model is saved.
    pub fn checkpoints(self, checkpoints: Checkpoints) -> Self {
        Self { checkpoints: Some(checkpoints), ..self }
    }

    /// Starts training at the weights of a model, whose labels and attributes are kept: new ones
    /// are added, and attributes that no labeled token has keep their weights exactly.
    ///
    /// Order, boundary weights and label scheme of the options must be those of the model
    /// ([`TrainOptions::continuing`]). Labels and attributes match by name. If training is given no
    /// template, it uses that of the model. There is no warm-up unless the options set one.
    ///
    /// ```
    /// use dropchain::{Template, train::{TrainOptions, Trainer}};
    /// # use dropchain::corpus::{Corpus, Format, ReadOptions};
    /// # fn corpus(text: &str) -> dropchain::Result<Corpus> {
    /// #     let options = ReadOptions { format: Some(Format::Conll), ..ReadOptions::default() };
    /// #     Corpus::parse(text, "x.conll", &options)
    /// # }
    ///
    /// # fn main() -> dropchain::Result<()> {
    /// let news = corpus("Ann B-PER\nleft O\nRome B-LOC\n")?;
    /// let template: Template = "word\nshape\n".parse()?;
    /// let model = Trainer::new(TrainOptions::default())?.train(news, template, &mut ())?.model;
    ///
    /// let tweets = corpus("ann B-PER\n@ O\nacme B-ORG\n")?;
    /// let trainer = Trainer::new(TrainOptions::continuing(&model))?.init(&model);
    /// let continued = trainer.train(tweets, None, &mut ())?.model;
    /// let labels = continued.header().labels.names();
    /// assert_eq!(labels, ["B-PER", "O", "B-LOC", "B-ORG"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn init(mut self, model: &'a Model) -> Self {
        self.models.init = Some(model);
        self.settings = self.settings.continuing();
        self
    }

    /// Pulls the weights towards those of a model instead of 0: the L2 penalty is c2·‖θ − θ₀‖² with
    /// the weights θ₀ of the model, 0 for what it does not have. The model is a prior from other
    /// data (Chelba and Acero 2004), and its labels and attributes are kept.
    ///
    /// Training starts there, too, unless [`init`](Self::init) gives another start. What `init`
    /// says of options, template and warm-up applies.
    pub fn towards(mut self, model: &'a Model) -> Self {
        self.models.towards = Some(model);
        self.settings = self.settings.continuing();
        self
    }

    /// Continues from models: see [`init`](Self::init) and [`towards`](Self::towards).
    pub fn models(self, models: BaseModels<'a>) -> Self {
        let trainer = models.init.into_iter().fold(self, Self::init);
        models.towards.into_iter().fold(trainer, Self::towards)
    }

    /// Returns the checked parameters.
    pub fn settings(&self) -> &TrainSettings {
        &self.settings
    }

    /// Trains a model on a [`Corpus`](crate::Corpus), or on [`TrainingCorpora`] to add development
    /// data and unlabeled text.
    ///
    /// `template` defines the attributes; without one, the sentences must come with their own
    /// ([`Sentence::attributes`](field@crate::Sentence::attributes)). With development data,
    /// training stops when the score no longer improves, and the model has the weights with the
    /// best score. `observer` receives the training events; `&mut ()` ignores them. Document
    /// boundaries ([`Layout::document_start`](crate::sentence::Layout)) are skipped.
    ///
    /// # Errors
    ///
    /// There are no sentences or no labels; the template reads a column that does not exist; a cell
    /// that must be a number is not; the memory limit is too low; the checkpoint to resume from is
    /// damaged or belongs to other options or data; a model to continue from is damaged, or has
    /// another structure or labels of another kind.
    pub fn train(
        &self,
        corpora: impl Into<TrainingCorpora>,
        template: impl Into<Option<Template>>,
        observer: &mut dyn Observer,
    ) -> Result<Trained> {
        let (corpora, template) = (corpora.into(), template.into());
        if let Some(template) = template.as_ref().or_else(|| self.models.template())
            && let Some(first) = first_template(template, &corpora.labeled)?
        {
            return self.train_two_passes(corpora, &template.clone(), first, observer);
        }
        self.train_pass(Source::Text(corpora, template), &mut self.begin(1)?, observer)
    }

    /// Trains a model on ready-made attributes in memory, with development data if there are any.
    /// Unlabeled sentences of `corpus` enter the noise term; those of `dev` are ignored.
    ///
    /// The result is the same as that of [`Trainer::train`] on sentences with these attributes.
    ///
    /// # Errors
    ///
    /// There are no labeled sentences; the memory limit is too low; the checkpoint to resume from
    /// is damaged or belongs to other options or data.
    pub fn train_attributes<'c>(
        &self,
        corpus: &'c AttributeCorpus,
        dev: impl Into<Option<&'c AttributeCorpus>>,
        observer: &mut dyn Observer,
    ) -> Result<Trained> {
        let source = Source::Attributes(corpus, dev.into());
        self.train_pass(source, &mut self.begin(1)?, observer)
    }

    /// Begins a run with 1 or 2 passes.
    pub(super) fn begin(&self, passes: usize) -> Result<Run> {
        if self.ranks.is_some() {
            self.settings.learner().check(Request::Ranks)?;
        }
        let options = serde_json::json!(self.settings).to_string();
        Run::begin(self.checkpoints.as_ref(), options, passes, self.ranks.as_ref())
    }

    /// Trains a model on the columns that the corpora have.
    pub(super) fn train_pass(
        &self,
        source: Source<'_>,
        run: &mut Run,
        observer: &mut dyn Observer,
    ) -> Result<Trained> {
        let settings = &self.settings;
        let agreement = Agreement::new(self.ranks.as_ref(), self.interrupt);
        let extracted = source.extract(settings, &self.models, self.memory);
        let extracted = agreement.outcome(extracted)?;
        let started = Instant::now();
        let set = TrainingSet::of(extracted, settings.options());
        agreement.check_same(
            || set.fingerprint(),
            "other training or development data than rank 0; expected the same on all machines",
        )?;
        let course_settings = CourseSettings {
            options: settings.options(),
            regularization: settings.regularization(),
            schedule: settings.schedule(),
        };
        let course = Course::new(&set, course_settings, run, &agreement, started, observer)?;
        course.observer.start(&set.start_event(settings));
        for found in &set.matches {
            course.observer.matched(found);
        }
        agreement.outcome(set.check_memory(settings, self.memory))?;
        if !course.run.has_two_passes() {
            course.run.set_fingerprint(|| Ok(set.fingerprint()))?;
        }
        let (theta, end) = course.train(&|stage, course| settings.learner().run(stage, course))?;
        observer.end(&end);
        let model = set.finish(settings, theta, &end, observer)?;
        Ok(Trained { model, end, is_first_pass: false })
    }
}

/// A model and the result of training it.
#[derive(Debug)]
pub struct Trained {
    /// The model.
    pub model: Model,
    /// The result of training. If the model has two passes, of the second.
    pub end: End,
    /// Whether the model is only the first of two passes, because training ended before the second
    /// had a result. It tags like a model that was trained without the lines of the template that
    /// read predictions.
    pub is_first_pass: bool,
}

impl TrainingSet {
    /// Extracts the attributes of `corpora` as [`Trainer::train`](super::Trainer::train) does.
    ///
    /// # Errors
    ///
    /// Same as [`Trainer::train`](super::Trainer::train).
    pub fn new(
        corpora: impl Into<TrainingCorpora>,
        template: impl Into<Option<Template>>,
        settings: &TrainSettings,
    ) -> Result<Self> {
        let source = Source::Text(corpora.into(), template.into());
        let extracted = source.extract(settings, &BaseModels::default(), MemoryLimit::default())?;
        Ok(Self::of(extracted, settings.options()))
    }

    /// Returns the event before the first iteration of training.
    pub(super) fn start_event(&self, settings: &TrainSettings) -> Start {
        let Extracted { data, labels, development, .. } = &self.extracted;
        let per_token = |entries: usize| entries as f64 / data.tokens().max(1) as f64;
        let [active_per_token, collapsed_active_per_token] = self.entries.map(per_token);
        let mut reading = self.extracted.reading();
        if !simd::has_fused_multiply_add() {
            reading.push(
                "warning: this processor has no fused multiply-add instructions; training gives \
                 the same model, but takes many times as long"
                    .to_owned(),
            );
        }
        if settings.options().max_iterations != Some(0) {
            reading.extend(ModelMatch::warning(&self.matches));
        }
        Start {
            options: fields(settings).into(),
            data: DataSizes {
                sentences: data.labeled(),
                tokens: data.labels.len(),
                total_weight: data.weights.is_some().then(|| data.total_weights()[0]),
                partial_tokens: data.partial_tokens(),
                unlabeled_sentences: data.len() - data.labeled(),
                dev_sentences: development.as_ref().map_or(0, |dev| dev.data.len()),
                dev_units: development.as_ref().map_or(0, DevelopmentSet::units),
                labels: labels.set.len(),
            },
            reading,
            model: ModelSizes {
                attributes: self.attributes(),
                collapsed_attributes: self.classes.iter().map(Classes::len).sum(),
                parameters: self.space.dimension(),
                weights: self.weights(),
                active_per_token,
                collapsed_active_per_token,
            },
            estimated_memory: self.memory().saturating_add(self.memory_to_train(settings)),
        }
    }
}
