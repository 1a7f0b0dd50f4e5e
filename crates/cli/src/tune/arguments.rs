//! The arguments of `dropchain tune` that define the search.

use std::str::FromStr;

use clap::Args;
use dropchain::Result;
use dropchain::train::{Algorithm, Engine, TrainOptions};
use dropchain_options::{parse_gradient, set_gradient};
use dropchain_tune::{Axis, Schedule, SearchSpace, warm_up_iterations};

use crate::arguments::Switch;

/// The search space.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Search space")]
pub struct SpaceArguments {
    /// Amount of feature noise; 0 for none [default: several rates around the default of `train`]
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    dropout: Option<Axis>,
    /// Noise on transitions, boundary weights and edge attributes [default: twice --dropout]
    ///
    /// The default is at most 0.9; with Gaussian noise it is the value of --dropout.
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    pub edge_dropout: Option<Axis>,
    /// Strength of the L2 penalty [default: several strengths around the defaults of `train`]
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    l2: Option<Axis>,
    /// Strength of the L1 penalty [default: 0]
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    l1: Option<Axis>,
    /// Weight of an unlabeled sentence, relative to a labeled one [default: that of `train`]
    #[arg(
        long,
        value_name = "VALUES",
        allow_hyphen_values = true,
        requires = "unlabeled"
    )]
    unlabeled_weight: Option<Axis>,
    /// Warm-up iterations without noise [default: 20, or half of --max-iterations if less]
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    warm_up: Option<Axis>,
    /// How to compute the gradient of the noise term: one engine or several [default: exact]
    ///
    /// Those of `train`, for example `exact,window=2`.
    #[arg(long, value_name = "ENGINES", value_delimiter = ',')]
    pub gradient: Vec<String>,
}

impl SpaceArguments {
    /// Returns the search space, with defaults for unspecified axes.
    ///
    /// # Errors
    ///
    /// An engine is unknown.
    pub fn to_space(&self, templates: usize, algorithm: &Algorithm) -> Result<SearchSpace> {
        let axes = self.clone();
        let mut default = SearchSpace::default();
        if !algorithm.is_probabilistic() {
            let zero = || Axis::from_values(&[0.0]);
            (default.dropout, default.l2) = (zero(), zero());
        }
        Ok(SearchSpace {
            templates,
            dropout: axes.dropout.unwrap_or(default.dropout),
            edge_dropout: axes.edge_dropout.or(default.edge_dropout),
            l2: axes.l2.unwrap_or(default.l2),
            l1: axes.l1.unwrap_or(default.l1),
            unlabeled_weight: axes.unlabeled_weight.unwrap_or(default.unlabeled_weight),
            warm_up: axes.warm_up.filter(|axis| axis.single().is_none()),
            gradients: match self.gradients()? {
                engines if engines.len() > 1 => engines,
                _ => Vec::new(),
            },
        })
    }

    /// Sets the training options that are given as one value: nothing is searched then.
    ///
    /// # Errors
    ///
    /// An engine is unknown; a number of iterations is not whole.
    pub fn apply(&self, options: &mut TrainOptions) -> Result<()> {
        if let [engine] = self.gradients()?[..] {
            set_gradient(engine, options)?;
        }
        if let Some(iterations) = self.warm_up.as_ref().and_then(Axis::single) {
            options.warm_up = Some(warm_up_iterations(iterations)?);
        }
        Ok(())
    }

    /// Returns the engines in the order given, without duplicates.
    fn gradients(&self) -> Result<Vec<Engine>> {
        let mut engines = Vec::new();
        for name in &self.gradient {
            let engine = parse_gradient(name)?;
            if !engines.contains(&engine) {
                engines.push(engine);
            }
        }
        Ok(engines)
    }
}

/// The search strategy.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Search strategy")]
pub struct StrategyArguments {
    /// Sample N random configurations [default: try all combinations]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub random: Option<usize>,
    /// Random seed for configurations, folds, sampled noise, online algorithms and hidden units
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Successive halving: keep the best 1/ETA at each rung (on: ETA = 3); off: train all fully
    #[arg(
        long,
        default_value = "on",
        value_name = "ETA",
        allow_hyphen_values = true
    )]
    pub halving: HalvingFactor,
    /// Iterations of the first rung
    #[arg(long, default_value_t = Schedule::FIRST, value_name = "N")]
    pub first_rung: usize,
    /// Initialize each configuration with the weights of its neighbor with stronger L1 and L2
    #[arg(long, value_enum, default_value = "on")]
    pub warm_start: Switch,
}

/// Factor by which each rung reduces the number of configurations; `None` to train all to the end.
#[derive(Clone, Copy, Debug)]
pub struct HalvingFactor(pub Option<usize>);

impl FromStr for HalvingFactor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "on" => Ok(Self(Some(Schedule::ETA))),
            "off" => Ok(Self(None)),
            number => match number.parse() {
                Ok(eta) => Ok(Self(Some(eta))),
                Err(_) => Err("expected on, off, or an integer of at least 2".to_owned()),
            },
        }
    }
}
