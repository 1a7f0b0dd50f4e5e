//! The objective of training in parts, for optimizers and machines of one's own.

use super::corpora::TrainingCorpora;
use super::extracted::ExtractedCorpora;
use super::options::WarmStart;
use super::settings::{NoiseTerm, TrainSettings};
use super::training_set::TrainingSet;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::objective::{PenalizedLikelihood, Terms};
use crate::optim::Objective;
use crate::template::Template;

/// The objective of training as a sum over shards of the sentences and a penalty:
///
/// ```text
/// J(θ) = Σ_shards ( −Σ log p(y|x) + λ·Σ R(x) ) + c2·‖θ‖²
/// ```
///
/// The shards own their sentences (the layout of θ is shared), so they can be
/// [taken](Self::take_shards) and evaluated by other threads or machines. With all shards in place,
/// this is an [`Objective`] itself:
///
/// ```
/// use std::ops::ControlFlow;
///
/// use dropchain::optim::{LbfgsSettings, Objective, minimize};
/// use dropchain::train::{ShardedObjective, TrainSettings};
/// use dropchain::{Corpus, Result, Sentence, Template, TrainOptions};
///
/// # fn main() -> Result<()> {
/// let rows = [("Ada left", "B-PER O"), ("she met Grace", "O O B-PER")];
/// let corpus = rows
///     .into_iter()
///     .map(|(text, labels)| Sentence::from_words(text.split(' ')).with_labels(labels.split(' ')))
///     .collect::<Result<Corpus>>()?;
/// let template: Template = "word\nshape\n".parse()?;
/// let settings = TrainSettings::new(TrainOptions::default())?;
/// let mut objective = ShardedObjective::new(corpus, template, settings, 2)?;
///
/// let start = objective.start();
/// let settings = LbfgsSettings::default();
/// let outcome = minimize(&mut objective, start, None, &settings, None, &mut |_| {
///     ControlFlow::Continue(())
/// })?;
/// let model = objective.into_model(&outcome.x)?;
/// # assert_eq!(model.header().labels.len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ShardedObjective {
    set: TrainingSet,
    settings: TrainSettings,
    shards: Vec<Shard>,
}

/// The part of the objective of training that belongs to some of the sentences: −Σ log p(y|x) +
/// λ·Σ R(x), without penalties.
#[derive(Debug)]
pub struct Shard {
    likelihood: PenalizedLikelihood,
}

impl Shard {
    /// Returns the number of parameters n.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.likelihood.dimension()
    }

    /// Returns the value at θ and overwrites `gradient`; both slices are `[n]`. Runs on all threads
    /// of the current rayon pool; the bits do not depend on their number.
    ///
    /// # Panics
    ///
    /// If a slice has another length.
    pub fn evaluate(&mut self, theta: &[f64], gradient: &mut [f64]) -> f64 {
        let lengths = [theta.len(), gradient.len()];
        assert_eq!(lengths, [self.dimension(); 2], "θ and the gradient are [n]");
        self.likelihood.evaluate(theta, gradient).0
    }
}

impl ShardedObjective {
    /// Extracts the attributes of corpora and divides the sentences into `shards` shards of
    /// consecutive sentences, the labeled and the unlabeled ones each as evenly as possible. A
    /// shard may be empty.
    ///
    /// # Errors
    ///
    /// Those of [`Trainer::train`](super::Trainer::train); [`Error::Parameter`] if there are to be
    /// no shards, the noise is sampled, or the algorithm is an online one.
    pub fn new(
        corpora: impl Into<TrainingCorpora>,
        template: impl Into<Option<Template>>,
        settings: TrainSettings,
        shards: usize,
    ) -> Result<Self> {
        if shards == 0 {
            return Err(Error::parameter("0 shards; expected 1 or more"));
        }
        let algorithm = settings.options().algorithm;
        if algorithm.is_online() {
            return Err(Error::parameter(format!(
                "shards with algorithm {}; expected lbfgs, the objective of which they compute",
                algorithm.name()
            )));
        }
        if settings.options().warm_start != WarmStart::Off {
            return Err(Error::parameter(
                "shards with an online warm start; expected none, since their optimizer chooses \
                 where to start",
            ));
        }
        let noise = match settings.noise() {
            None => None,
            Some(NoiseTerm::Quadratic(noise)) if noise.engine.round().is_some() => {
                return Err(Error::parameter(format!(
                    "shards with gradient '{}'; expected one without rounds, such as adjoint, \
                     since only the optimizer of training begins them",
                    noise.engine
                )));
            }
            Some(NoiseTerm::Quadratic(noise)) => Some(noise),
            Some(NoiseTerm::MonteCarlo(_)) => {
                return Err(Error::parameter(
                    "shards with monte-carlo noise; expected noise with a quadratic regularizer",
                ));
            }
        };
        let mut corpora = corpora.into();
        if noise.is_none() {
            corpora.unlabeled = Default::default();
        }
        let extracted = ExtractedCorpora::new(corpora, template.into(), &settings)?;
        extracted.check_line_options(&settings)?;
        let set = extracted.into_training_set(&settings);
        let totals = [set.data().labeled(), set.data().unlabeled()];
        let shard = |index: usize| {
            let cut = |n: usize, i: usize| n * i / shards;
            let [labeled, unlabeled] = totals.map(|n| cut(n, index)..cut(n, index + 1));
            let unlabeled = unlabeled.map(|i| totals[0] + i);
            let sentences: Vec<usize> = labeled.chain(unlabeled).collect();
            let data = set.data().select(&sentences, None);
            let mut likelihood = PenalizedLikelihood::new(&data, set.space(), 0.0)
                .with_total_weights(set.data().total_weights());
            if let Some(noise) = noise {
                let amounts = set.attribute_noise(&NoiseTerm::Quadratic(noise));
                likelihood = likelihood.with_attribute_noise(noise, amounts);
            }
            Shard { likelihood }
        };
        Ok(Self {
            shards: (0..shards).map(shard).collect(),
            set,
            settings,
        })
    }

    /// Returns the parameters where training starts.
    #[must_use]
    pub fn start(&self) -> Vec<f64> {
        self.set.start()
    }

    /// Returns the shards. [`Objective::evaluate`] then is the penalty alone.
    pub fn take_shards(&mut self) -> Vec<Shard> {
        std::mem::take(&mut self.shards)
    }

    /// Returns the L2 penalty and overwrites `gradient` with its gradient. The optimizer adds the
    /// L1 penalty, with these [strengths](Self::l1_strengths).
    pub fn penalty(&self, theta: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        self.set.penalty(self.settings.l2()).add(theta, gradient)
    }

    /// Returns the strengths of the L1 penalty, `[n]`; `None` if there is none.
    #[must_use]
    pub fn l1_strengths(&self) -> Option<Vec<f64>> {
        self.set.l1_strengths(self.settings.options().l1)
    }

    /// Builds the model with the parameters θ.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if θ does not have n entries or one is too large for the precision of
    /// the model.
    pub fn into_model(self, theta: &[f64]) -> Result<Model> {
        let dimension = self.set.space().dimension();
        if theta.len() != dimension {
            return Err(Error::parameter(format!(
                "{} parameters; expected {dimension}",
                theta.len()
            )));
        }
        let bias = self.settings.options().recall_bias.unwrap_or(0.0);
        self.set.into_model(&self.settings, theta, bias, None)
    }
}

impl Objective for ShardedObjective {
    type Detail = Terms;

    fn dimension(&self) -> usize {
        self.set.space().dimension()
    }

    fn evaluate(&mut self, theta: &[f64], gradient: &mut [f64]) -> (f64, Terms) {
        let mut terms = Terms {
            l2: self.penalty(theta, gradient),
            ..Terms::default()
        };
        let mut value = terms.l2;
        let mut part = vec![0.0; gradient.len()];
        for shard in &mut self.shards {
            let (partial, detail) = shard.likelihood.evaluate(theta, &mut part);
            value += partial;
            terms.log_likelihood += detail.log_likelihood;
            terms.noise += detail.noise;
            gradient.iter_mut().zip(&part).for_each(|(g, p)| *g += p);
        }
        (value, terms)
    }
}
