//! The course of training.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::development::Development;
use super::events::{DevScore, End, EndReason, Iteration, Observer, Start};
use super::expand;
use super::options::TrainOptions;
use super::prepare::{Prepared, is_text, prepare};
use crate::chain::Order;
use crate::error::{Error, Result};
use crate::model::{Header, Model, Provenance};
use crate::objective::{Likelihood, Terms};
use crate::optim::{self, Outcome, Settings, StopReason, minimize};
use crate::score::{LabelWeights, ParameterSpace, SpaceOptions};
use crate::sentence::Sentence;
use crate::template::Template;

/// Trains models with checked parameters.
#[derive(Clone, Debug)]
pub struct Trainer<'a> {
    options: TrainOptions,
    settings: Settings,
    interrupt: Option<&'a AtomicBool>,
    unlabeled: &'a [Sentence],
}

/// A model and how training it ended.
#[derive(Debug)]
pub struct Trained {
    /// The model.
    pub model: Model,
    /// How training ended.
    pub end: End,
}

impl<'a> Trainer<'a> {
    /// A trainer with these parameters.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`](crate::Error::Parameter) naming the parameter that has no meaning.
    pub fn new(options: TrainOptions) -> Result<Self> {
        options.check()?;
        let settings = Settings::new(optim::Options {
            max_iterations: options.max_iterations,
            ..optim::Options::default()
        })?;
        Ok(Self {
            options,
            settings,
            interrupt: None,
            unlabeled: &[],
        })
    }

    /// A flag that ends training at the next evaluation when it is set; the best model so far
    /// is kept.
    #[must_use]
    pub fn interrupt(mut self, flag: &'a AtomicBool) -> Self {
        self.interrupt = Some(flag);
        self
    }

    /// Unlabeled sentences, from which the noise term learns too (labels that they may have are not
    /// looked at). Without noise they change nothing.
    #[must_use]
    pub fn unlabeled(mut self, sentences: &'a [Sentence]) -> Self {
        self.unlabeled = sentences;
        self
    }

    /// Trains on labeled sentences.
    ///
    /// Attributes come from `template`, or from the sentences themselves if there is none
    /// ([`Sentence::attributes`]). With development sentences, training stops when their score
    /// no longer rises, and the model is that of the best score. Document boundaries
    /// ([`Layout::document_start`](crate::sentence::Layout)) are passed over.
    ///
    /// # Errors
    ///
    /// No sentences; no labels; a template that reads columns which are not there; a cell that should be
    /// a number and is not.
    pub fn train(
        &self,
        mut sentences: Vec<Sentence>,
        mut dev: Option<Vec<Sentence>>,
        mut template: Option<Template>,
        observer: &mut dyn Observer,
    ) -> Result<Trained> {
        for corpus in [Some(&mut sentences), dev.as_mut()].into_iter().flatten() {
            corpus.retain(is_text);
        }
        if let Some(template) = &mut template {
            template.learn(sentences.iter());
        }
        let noise = self.options.noise();
        let unlabeled = if noise.is_some() { self.unlabeled } else { &[] };
        let mut prepared = prepare(&sentences, unlabeled, template.as_ref(), &self.options)?;
        let edges = self.options.order == Order::One;
        let development = match dev {
            None => None,
            Some(dev) => {
                let alphabets = std::mem::take(&mut prepared.alphabets);
                let (development, alphabets) =
                    Development::new(&dev, template.as_ref(), alphabets, edges, &prepared.labels)?;
                prepared.alphabets = alphabets;
                Some(development)
            }
        };
        let source = Source::of(&sentences);
        drop(sentences);
        let transitions = template.as_ref().is_none_or(Template::transitions);
        let run = self.optimize(&mut prepared, development, transitions, observer)?;
        prepared.drop_matrices();
        let model = self.model(&prepared, template, source, &run)?;
        Ok(Trained {
            model,
            end: run.end,
        })
    }

    fn optimize(
        &self,
        prepared: &mut Prepared,
        development: Option<Development>,
        transitions: bool,
        observer: &mut dyn Observer,
    ) -> Result<Run> {
        let clock = Instant::now();
        if self.options.collapse {
            prepared.collapse();
        }
        let space = ParameterSpace::new(
            prepared.labels.set.len(),
            &prepared.data,
            &prepared.node_classes,
            &prepared.edge_classes,
            SpaceOptions {
                order: self.options.order,
                boundary: self.options.boundary,
                states: self.options.states,
                transitions,
            },
        );
        let development = development.map(|mut development| {
            development.collapse(prepared);
            development
        });
        let mut objective = Likelihood::new(&prepared.data, &space, self.options.l2);
        if let Some(noise) = self.options.noise() {
            objective = objective.with_noise(noise);
        }
        let development = development.as_ref();
        observer.start(&self.start(prepared, development, &space, &objective));
        let mut watch = Watch {
            clock,
            scoring: Duration::ZERO,
            development,
            space: &space,
            patience: self.options.patience,
            l1: self.options.l1 > 0.0,
            best: None,
            impatient: false,
            fault: None,
        };
        let l1 = (self.options.l1 > 0.0).then(|| space.l1_strengths(self.options.l1));
        let outcome = minimize(
            &mut objective,
            vec![0.0; space.dimension()],
            l1.as_deref(),
            &self.settings,
            self.interrupt,
            &mut |iteration| watch.iteration(iteration, observer),
        )?;
        if let Some(fault) = watch.fault {
            return Err(fault);
        }
        let time = watch.time();
        let (impatient, best) = (watch.impatient, watch.best);
        drop(objective);
        if outcome.stop_reason == StopReason::NonFinite && outcome.iterations == 0 {
            return Err(Error::parameter(
                "the objective is not finite where training begins; expected smaller values of \
                 attributes, or less noise",
            ));
        }
        let (theta, end) = finish(outcome, best, impatient, time);
        observer.end(&end);
        Ok(Run { space, theta, end })
    }

    /// What is known before the first iteration.
    fn start(
        &self,
        prepared: &Prepared,
        development: Option<&Development>,
        space: &ParameterSpace,
        objective: &Likelihood<'_>,
    ) -> Start<'_> {
        Start {
            options: &self.options,
            sentences: prepared.data.labeled(),
            tokens: prepared.data.labels.len(),
            unlabeled_sentences: prepared.data.unlabeled(),
            dev_sentences: development.map_or(0, Development::len),
            labels: space.labels(),
            attributes: prepared.attributes(),
            collapsed: prepared.node_classes.len() + prepared.edge_classes.len(),
            parameters: space.dimension(),
            per_token: prepared.per_token,
            memory: self.memory(prepared, space, objective),
        }
    }

    /// Bytes that training is about to take, all told.
    fn memory(
        &self,
        prepared: &Prepared,
        space: &ParameterSpace,
        objective: &Likelihood<'_>,
    ) -> usize {
        let vectors =
            2 * self.settings.options().memory + 5 + 2 * usize::from(self.options.l1 > 0.0);
        prepared.memory()
            + objective.memory()
            + space.nodes.memory()
            + space.edges.memory()
            + vectors * 8 * space.dimension()
    }

    fn model(
        &self,
        prepared: &Prepared,
        template: Option<Template>,
        source: Source,
        run: &Run,
    ) -> Result<Model> {
        let precision = self.options.precision;
        let [nodes, edges] = expand::tables(prepared, &run.space, &run.theta, precision)?;
        let mut label_weights = LabelWeights::default();
        run.space.label_weights(&run.theta, &mut label_weights);
        let options = serde_json::to_string(&self.options)
            .map_err(|e| Error::parameter(format!("cannot write the options as JSON: {e}")))?;
        let provenance = Provenance {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            files: source.files,
            sentences: prepared.data.labeled() as u64,
            tokens: prepared.data.labels.len() as u64,
            options,
        };
        let header = Header {
            labels: prepared.labels.set.clone(),
            scheme: prepared.labels.scheme,
            corpus_scheme: prepared.labels.corpus_scheme,
            columns: source.columns,
            label_column: source.label_column,
            template,
            order: self.options.order,
            label_weights,
            precision,
            provenance,
            tables: Default::default(),
        };
        Model::build(header, nodes, edges)
    }
}

/// Where training data come from.
struct Source {
    files: Vec<String>,
    columns: Vec<String>,
    label_column: Option<u32>,
}

impl Source {
    fn of(sentences: &[Sentence]) -> Self {
        let mut files: Vec<String> = Vec::new();
        for file in sentences.iter().map(Sentence::file) {
            if files.last().is_none_or(|last| **last != **file) {
                files.push(file.to_string());
            }
        }
        let schema = sentences.first().map(Sentence::schema);
        Self {
            files,
            columns: schema.map_or_else(Vec::new, |s| s.names().to_vec()),
            label_column: schema.and_then(|s| s.label()).map(|c| c as u32),
        }
    }
}

/// The result of optimization.
struct Run {
    space: ParameterSpace,
    theta: Vec<f64>,
    end: End,
}

/// The best iterate on development data.
struct Best {
    iteration: usize,
    score: DevScore,
    theta: Vec<f64>,
}

/// Watches the optimizer: keeps the time, scores development data, loses patience.
struct Watch<'a> {
    clock: Instant,
    scoring: Duration,
    development: Option<&'a Development>,
    space: &'a ParameterSpace,
    patience: usize,
    l1: bool,
    best: Option<Best>,
    impatient: bool,
    fault: Option<Error>,
}

impl Watch<'_> {
    fn time(&self) -> Duration {
        self.clock.elapsed().saturating_sub(self.scoring)
    }

    fn iteration(
        &mut self,
        iteration: &optim::Iteration<'_, Terms>,
        observer: &mut dyn Observer,
    ) -> ControlFlow<()> {
        let time = self.time();
        let dev = match self.score(iteration) {
            Ok(dev) => dev,
            Err(fault) => {
                self.fault = Some(fault);
                return ControlFlow::Break(());
            }
        };
        let terms = iteration.detail;
        let smooth = terms.l2 + terms.noise - terms.log_likelihood;
        observer.iteration(&Iteration {
            number: iteration.number,
            objective: iteration.value,
            log_likelihood: terms.log_likelihood,
            noise: terms.noise,
            l2: terms.l2,
            // What the optimizer has added to the smooth terms.
            l1: if self.l1 {
                iteration.value - smooth
            } else {
                0.0
            },
            gradient_norm: iteration.gradient_norm,
            evaluations: iteration.evaluations,
            nonzero: iteration.nonzero,
            time,
            dev,
        });
        // Early iterations may predict no span at all: nothing has been lost while the score is 0.
        self.impatient = self.best.as_ref().is_some_and(|best| {
            best.score.value() > 0.0 && iteration.number - best.iteration >= self.patience
        });
        if self.impatient {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn score(&mut self, iteration: &optim::Iteration<'_, Terms>) -> Result<Option<DevScore>> {
        let Some(development) = self.development else {
            return Ok(None);
        };
        let started = Instant::now();
        let score = development.score(self.space, iteration.x)?;
        // As long as nothing is right, later weights are at least nearer to the minimum: those of the
        // start are all 0.
        let is_best = self
            .best
            .as_ref()
            .is_none_or(|best| score.value() > best.score.value() || best.score.value() == 0.0);
        if is_best {
            // The old best is written over, so that only one copy of the weights is ever kept.
            let mut theta = self.best.take().map_or_else(Vec::new, |b| b.theta);
            theta.clear();
            theta.extend_from_slice(iteration.x);
            self.best = Some(Best {
                iteration: iteration.number,
                score,
                theta,
            });
        }
        self.scoring += started.elapsed();
        Ok(Some(score))
    }
}

/// The weights to keep and the report of how training ended.
fn finish(
    outcome: Outcome<Terms>,
    best: Option<Best>,
    impatient: bool,
    time: Duration,
) -> (Vec<f64>, End) {
    let reason = match outcome.stop_reason {
        StopReason::Interrupted if impatient => EndReason::Patience,
        reason => EndReason::Optimizer(reason),
    };
    let (best_iteration, dev, theta) = match best {
        Some(best) => (best.iteration, Some(best.score), best.theta),
        None => (outcome.iterations, None, outcome.x),
    };
    let end = End {
        reason,
        iterations: outcome.iterations,
        best_iteration,
        time,
        dev,
    };
    (theta, end)
}
