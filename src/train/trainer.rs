//! The trainer: from corpora to a model.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::agreement::{Agreement, agreed, check_ranks, check_same};
use super::base_models::BaseModels;
use super::checkpoint::{
    AlgorithmState, Checkpoints, OpenCheckpoints, PassCheckpoints, TrainingState,
};
use super::corpora::TrainingCorpora;
use super::events::{End, Observer};
use super::extracted::ExtractedCorpora;
use super::first_template::first_template;
use super::model_match::ModelMatch;
use super::monitor::Monitor;
use super::optimize::{Optimizer, Watch};
use super::options::{TrainOptions, WarmStart};
use super::settings::TrainSettings;
use super::trained::Trained;
use super::training_set::TrainingSet;
use super::warm_start::WarmStartPasses;
use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::extract::AttributeCorpus;
use crate::memory::MemoryLimit;
use crate::model::Model;
use crate::objective::{PenalizedLikelihood, Terms};
use crate::optim::{self, Outcome, StopReason};
use crate::ranks::Ranks;
use crate::template::Template;

/// Trains models.
#[derive(Clone, Debug)]
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
    pub fn new(options: TrainOptions) -> Result<Self> {
        TrainSettings::new(options).map(Self::with_settings)
    }

    /// Creates a trainer with checked parameters.
    #[must_use]
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
    /// Online algorithms, a warm start and sampled noise cannot be divided: training with them is
    /// an error.
    #[must_use]
    pub fn ranks(mut self, ranks: Ranks) -> Self {
        self.ranks = Some(ranks);
        self
    }

    /// Sets a flag that stops training at the next evaluation once it is true; the result is the
    /// best model so far. If [`End::best_iteration`] is 0, that is the model before training. Of
    /// two passes it may be the first alone ([`Trained::is_first_pass`]).
    #[must_use]
    pub fn interrupt(mut self, flag: &'a AtomicBool) -> Self {
        self.interrupt = Some(flag);
        self
    }

    /// Limits the memory of training; by default to most of the available memory. Results do not
    /// depend on it.
    #[must_use]
    pub fn memory(mut self, limit: MemoryLimit) -> Self {
        self.memory = limit;
        self
    }

    /// Writes checkpoints, from which an interrupted run resumes to the same bits. The last one
    /// remains after training; delete it once the model is saved.
    #[must_use]
    pub fn checkpoints(mut self, checkpoints: Checkpoints) -> Self {
        self.checkpoints = Some(checkpoints);
        self
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
    #[must_use]
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
    #[must_use]
    pub fn towards(mut self, model: &'a Model) -> Self {
        self.models.towards = Some(model);
        self.settings = self.settings.continuing();
        self
    }

    /// Returns the checked parameters.
    #[must_use]
    pub fn settings(&self) -> &TrainSettings {
        &self.settings
    }

    /// Trains a model on a [`Corpus`], or on [`TrainingCorpora`] to add development data and
    /// unlabeled text.
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
    /// another structure or labels of another kind, or there is a warm start besides.
    pub fn train(
        &self,
        corpora: impl Into<TrainingCorpora>,
        template: impl Into<Option<Template>>,
        observer: &mut dyn Observer,
    ) -> Result<Trained> {
        let corpora = corpora.into();
        let template = template.into();
        if self.ranks.is_some() {
            check_ranks(self.settings.options())?;
        }
        if let Some(template) = template.as_ref().or_else(|| self.models.template())
            && let Some(first) = first_template(template, &corpora.labeled)?
        {
            return self.train_two_passes(corpora, &template.clone(), first, observer);
        }
        let mut checkpoints = self.open_checkpoints(1)?;
        let checkpoints = checkpoints.as_mut().map(OpenCheckpoints::of_run);
        self.train_pass(corpora, template, checkpoints, observer)
    }

    /// Opens the checkpoints of a run with 1 or 2 passes, if there are to be any.
    pub(super) fn open_checkpoints(&self, passes: usize) -> Result<Option<OpenCheckpoints>> {
        let Some(checkpoints) = &self.checkpoints else {
            return Ok(None);
        };
        let open = match &self.ranks {
            None => checkpoints.open(&self.settings, passes),
            Some(ranks) => checkpoints.open_by_rank_0(&self.settings, passes, ranks),
        };
        open.map(Some)
    }

    /// Trains a model on the columns that the corpora have.
    pub(super) fn train_pass(
        &self,
        mut corpora: TrainingCorpora,
        template: Option<Template>,
        checkpoints: Option<PassCheckpoints<'_>>,
        observer: &mut dyn Observer,
    ) -> Result<Trained> {
        if !self.settings.options().has_noise() {
            corpora.unlabeled = Corpus::new();
        }
        let extracted = ExtractedCorpora::within_memory(
            corpora,
            template,
            &self.settings,
            &self.models,
            self.memory,
        );
        let extracted = agreed(self.ranks.as_ref(), extracted)?;
        self.train_extracted(extracted, checkpoints, observer)
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
        corpus: &AttributeCorpus,
        dev: impl Into<Option<&'c AttributeCorpus>>,
        observer: &mut dyn Observer,
    ) -> Result<Trained> {
        let mut checkpoints = self.open_checkpoints(1)?;
        let checkpoints = checkpoints.as_mut().map(OpenCheckpoints::of_run);
        let extracted =
            ExtractedCorpora::from_attributes(corpus, dev.into(), &self.settings, &self.models)?;
        self.train_extracted(extracted, checkpoints, observer)
    }

    fn train_extracted(
        &self,
        extracted: ExtractedCorpora,
        checkpoints: Option<PassCheckpoints<'_>>,
        observer: &mut dyn Observer,
    ) -> Result<Trained> {
        extracted.check_line_options(&self.settings)?;
        let matches = extracted.matches();
        let clock = Instant::now();
        let set = extracted.into_training_set(&self.settings);
        if let Some(ranks) = &self.ranks {
            check_same(ranks, set.fingerprint(), || {
                "other training or development data than rank 0; expected the same on all machines"
                    .to_owned()
            })?;
        }
        let (mut theta, end) = self.optimize(&set, &matches, checkpoints, clock, observer)?;
        if let Some(pruned) = set.prune(&self.settings, &mut theta, end.recall_bias)? {
            observer.pruned(&pruned);
        }
        if let Some(rounded) = set.round(&self.settings, &mut theta, end.recall_bias)? {
            observer.rounded(&rounded);
        }
        let record = end.record();
        let model = set.into_model(&self.settings, &theta, end.recall_bias, Some(&record))?;
        Ok(Trained {
            model,
            end,
            is_first_pass: false,
        })
    }

    fn optimize(
        &self,
        set: &TrainingSet,
        matches: &[ModelMatch],
        checkpoints: Option<PassCheckpoints<'_>>,
        clock: Instant,
        observer: &mut dyn Observer,
    ) -> Result<(Vec<f64>, End)> {
        let mut monitor = Monitor::new(set, &self.settings, clock)?;
        let memory = set.memory_to_train(&self.settings);
        observer.start(&set.start_event(&self.settings, memory));
        matches.iter().for_each(|found| observer.matched(found));
        agreed(
            self.ranks.as_ref(),
            set.check_memory(&self.settings, self.memory),
        )?;
        let (mut checkpointer, mut resumed) = (None, None);
        if let Some(checkpoints) = checkpoints {
            let (started, state) = checkpoints.start(|| set.fingerprint())?;
            if let Some(state) = &state {
                observer.resumed(state.monitor.iterations);
            }
            (checkpointer, resumed) = (Some(started), state);
        }
        let agreement = self.ranks.as_ref();
        let agreement = agreement.map(|ranks| Agreement::new(ranks, self.interrupt));
        let mut watch = Watch {
            monitor: &mut monitor,
            observer: &mut *observer,
            warm_up: (resumed.as_ref()).map_or(self.settings.warm_up(), |state| state.warm_up),
            checkpointer,
            agreement: agreement.as_ref(),
        };
        let outcome = if self.settings.options().algorithm.is_online() {
            self.learn(set, resumed, &mut watch)
        } else {
            self.descend(set, resumed, &mut watch)
        };
        if let Some(failure) = self.ranks.as_ref().and_then(Ranks::take_failure) {
            return Err(failure);
        }
        let outcome = outcome?;
        let (theta, end) = monitor.finish(outcome)?;
        observer.end(&end);
        Ok((theta, end))
    }

    /// Trains with L-BFGS, if asked for from a warm start.
    fn descend(
        &self,
        set: &TrainingSet,
        resumed: Option<TrainingState<'static>>,
        watch: &mut Watch<'_, '_>,
    ) -> Result<Outcome<Terms>> {
        let settings = &self.settings;
        let algorithm = resumed.map(|state| {
            watch.monitor.restore(state.monitor);
            state.algorithm
        });
        let is_warm = settings.options().warm_start == WarmStart::Online;
        let start = match algorithm {
            Some(AlgorithmState::Batch(state)) => optim::Start::State(Box::new(state)),
            Some(AlgorithmState::Online(_)) if !is_warm => {
                return Err(Error::parameter(
                    "the checkpoint is of an online algorithm; expected one of L-BFGS",
                ));
            }
            None if !is_warm => optim::Start::Point(set.start()),
            earlier => {
                let passes = WarmStartPasses {
                    settings,
                    set,
                    interrupt: self.interrupt,
                };
                let learner = match earlier {
                    Some(AlgorithmState::Online(state)) => Some(state),
                    _ => None,
                };
                let outcome = passes.run(learner, watch)?;
                let is_last = settings.options().max_iterations == Some(outcome.iterations);
                if outcome.stop_reason == StopReason::Interrupted || is_last {
                    return Ok(outcome);
                }
                watch.monitor.end_fixed_run(&outcome);
                optim::Start::Point(outcome.x)
            }
        };
        let agreed = watch.agreement.map(|agreement| &agreement.is_interrupted);
        let optimizer = Optimizer {
            settings,
            set,
            interrupt: agreed.or(self.interrupt),
        };
        let objective = match &self.ranks {
            None => set.likelihood(settings.l2()),
            Some(ranks) => {
                let penalty = set.penalty(settings.l2());
                PenalizedLikelihood::divided(set.data(), set.space(), penalty, ranks)
            }
        };
        optimizer.run(objective, start, watch)
    }

    /// Trains online.
    fn learn(
        &self,
        set: &TrainingSet,
        resumed: Option<TrainingState<'static>>,
        watch: &mut Watch<'_, '_>,
    ) -> Result<Outcome<Terms>> {
        let settings = &self.settings;
        let mut training = set.online(settings, set.start(), self.interrupt)?;
        if settings.options().has_noise() {
            watch.monitor.start_patience(settings.warm_up());
        }
        if let Some(state) = resumed {
            let AlgorithmState::Online(learner) = state.algorithm else {
                return Err(Error::parameter(
                    "the checkpoint is of L-BFGS; expected one of an online algorithm",
                ));
            };
            watch.monitor.restore(state.monitor);
            training.restore(learner)?;
        }
        training.run(settings.max_iterations(), watch)
    }
}
