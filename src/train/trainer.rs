//! The course of training.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::development::Development;
use super::events::{DevScore, End, Observer, Pruned, Start};
use super::expand;
use super::optimize::Optimizer;
use super::options::TrainOptions;
use super::prepare::{Prepared, is_text, prepare};
use super::recall_bias::Search;
use super::watch::{Watch, Watching};
use crate::chain::Order;
use crate::error::{Error, Result};
use crate::model::{Header, Model, Provenance};
use crate::objective::Likelihood;
use crate::optim;
use crate::score::{LabelWeights, ParameterSpace};
use crate::sentence::Sentence;
use crate::template::Template;

/// Trains models with checked parameters.
#[derive(Clone, Debug)]
pub struct Trainer<'a> {
    options: TrainOptions,
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
        Ok(Self {
            options,
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
        let source = Source::of(&sentences);
        let mut prepared = prepare(sentences, unlabeled, template.as_ref(), &self.options)?;
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
        prepared.close();
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
        let space = prepared.space(&self.options, transitions);
        let development = development.map(|mut development| {
            development.collapse(prepared);
            development
        });
        let development = development.as_ref();
        let search = Search::new(&self.options, &prepared.labels)?;
        let mut watch = Watch::new(Watching {
            clock,
            development,
            space: &space,
            patience: self.options.patience,
            l1: self.options.l1 > 0.0,
            search,
        });
        let objective = Likelihood::new(&prepared.data, &space, self.options.l2);
        observer.start(&self.start(prepared, development, &space, &objective));
        let optimizer = Optimizer {
            options: &self.options,
            space: &space,
            interrupt: self.interrupt,
        };
        let outcome = optimizer.run(objective, &mut watch, observer)?;
        let (mut theta, end) = watch.finish(outcome)?;
        observer.end(&end);
        if self.options.prune > 0.0 {
            let bias = [end.recall_bias];
            let score = |theta: &[f64]| -> Result<Option<DevScore>> {
                let scores = development.map(|d| d.score(&space, theta, &bias));
                Ok(scores
                    .transpose()?
                    .and_then(|scores| scores.first().copied()))
            };
            let before = score(&theta)?;
            let weights = expand::prune(prepared, &space, &mut theta, self.options.prune);
            observer.pruned(&Pruned {
                before: weights[0],
                after: weights[1],
                dev: before.zip(score(&theta)?).map(|(b, a)| [b, a]),
            });
        }
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
            2 * optim::Options::default().memory + 5 + 2 * usize::from(self.options.l1 > 0.0);
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
        prepared
            .labels
            .add_recall_bias(run.end.recall_bias, &mut label_weights);
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
        Model::build(header, &nodes, &edges)
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
