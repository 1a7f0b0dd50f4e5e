//! What training minimizes, for those who want to look at it without training.

use super::extracted::{Corpora, Extracted};
use super::options::{NoiseTerm, TrainOptions};

use crate::error::{Error, Result};
use crate::extract::Dataset;
use crate::noise::Engine;
use crate::objective::{Noise, PenalizedLikelihood};
use crate::score::ParameterSpace;
use crate::sentence::Sentence;
use crate::template::Template;

/// Labeled sentences as numbers, the parameters over them, and the objectives of training.
#[derive(Debug)]
pub struct Problem {
    data: Dataset,
    space: ParameterSpace,
    noise: Noise,
    l2: f64,
}

impl Problem {
    /// Prepares the sentences as [`Trainer::train`](super::Trainer::train) does: the same attributes,
    /// classes and parameters. The options must ask for noise.
    ///
    /// # Errors
    ///
    /// Those of [`Trainer::new`](super::Trainer::new) and
    /// [`Trainer::train`](super::Trainer::train); no noise.
    pub fn new(
        sentences: Vec<Sentence>,
        template: Option<Template>,
        options: &TrainOptions,
    ) -> Result<Self> {
        options.check()?;
        let noise = match options.noise() {
            Some(NoiseTerm::Quadratic(noise)) => noise,
            Some(NoiseTerm::Sampled(_)) => {
                return Err(Error::parameter(
                    "the noise is monte-carlo; expected noise with a quadratic regularizer",
                ));
            }
            None => {
                return Err(Error::parameter(
                    "there is no noise; expected a rate above 0",
                ));
            }
        };
        let corpora = Corpora {
            sentences,
            unlabeled: &[],
            dev: None,
        };
        let material = Extracted::new(corpora, template, options)?.material(options);
        Ok(Self {
            space: material.space,
            data: material.prepared.data,
            noise,
            l2: options.l2,
        })
    }

    /// The design matrices and labels.
    #[must_use]
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// The layout of the parameters.
    #[must_use]
    pub fn space(&self) -> &ParameterSpace {
        &self.space
    }

    /// −Σ log p(y|x) alone, or with the noise term whose gradient `method` computes.
    #[must_use]
    pub fn likelihood(&self, engine: Option<Engine>) -> PenalizedLikelihood<'_> {
        self.with_l2(0.0, engine)
    }

    /// What training minimizes, L1 apart: likelihood, noise term (exact gradient) and L2 penalty.
    #[must_use]
    pub fn objective(&self) -> PenalizedLikelihood<'_> {
        self.with_l2(self.l2, Some(Engine::Adjoint))
    }

    fn with_l2(&self, l2: f64, engine: Option<Engine>) -> PenalizedLikelihood<'_> {
        let likelihood = PenalizedLikelihood::new(&self.data, &self.space, l2);
        match engine {
            None => likelihood,
            Some(engine) => likelihood.with_noise(Noise {
                engine,
                ..self.noise
            }),
        }
    }
}
