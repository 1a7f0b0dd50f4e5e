//! The search space: a grid of configurations, or random draws.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::axis::{Axis, Scale};
use dropchain::error::{Error, Result};
use dropchain::kernel::noise::Engine;
use dropchain::train::{Defaults, NoiseOptions, Regularization, TrainSettings};

/// Maximum number of configurations; more is a typo.
const MAX_CONFIGURATIONS: usize = 1000;

/// Maximum number of draws per requested configuration: a draw may repeat an earlier one.
const MAX_DRAWS: u64 = 1000;

/// A parameter that is searched. In a grid, the last one changes fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Parameter {
    /// Index of the template.
    Template,
    /// Engine for the gradient of the noise term: an index.
    Gradient,
    /// Strength of the L1 penalty.
    L1,
    /// Strength of the L2 penalty.
    L2,
    /// Amount of noise.
    Dropout,
    /// Weight α of unlabeled sentences.
    UnlabeledWeight,
    /// Amount of noise on edges.
    EdgeDropout,
    /// Number of warm-up iterations.
    WarmUp,
}

impl Parameter {
    /// All parameters, as tables and commands have them.
    pub const ALL: [Self; 8] = [
        Self::Template,
        Self::Dropout,
        Self::EdgeDropout,
        Self::L2,
        Self::L1,
        Self::UnlabeledWeight,
        Self::WarmUp,
        Self::Gradient,
    ];

    /// Returns the name in messages and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Template => "template",
            Self::Gradient => "gradient",
            Self::L1 => "L1",
            Self::L2 => "L2",
            Self::Dropout => "dropout",
            Self::UnlabeledWeight => "unlabeled weight",
            Self::EdgeDropout => "edge dropout",
            Self::WarmUp => "warm-up",
        }
    }

    /// Returns the name of the option of `train`.
    pub fn option(self) -> String {
        self.name().to_lowercase().replace(' ', "-")
    }

    fn scale(self) -> Scale {
        match self {
            Self::L1 | Self::L2 | Self::UnlabeledWeight => Scale::Logarithmic,
            _ => Scale::Linear,
        }
    }
}

/// The values of the parameters that are searched.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchSpace {
    axes: BTreeMap<Parameter, Axis>,
    engines: Vec<Engine>,
}

/// A point of the search space.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Configuration {
    /// Index of the template.
    pub template: usize,
    /// Amount of noise.
    pub dropout: f64,
    /// Amount of noise on edges.
    pub edge_dropout: f64,
    /// Strength of the L2 penalty.
    pub l2: f64,
    /// Strength of the L1 penalty.
    pub l1: f64,
    /// Weight α of unlabeled sentences.
    pub unlabeled_weight: f64,
    /// Number of warm-up iterations, if it is given and there is noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<usize>,
    /// Engine for the gradient of the noise term, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gradient: Option<Engine>,
}

impl Configuration {
    /// Returns the values of training parameters.
    fn of(base: &TrainSettings) -> Self {
        let own = base.regularization();
        Self {
            template: 0,
            dropout: own.noise.dropout,
            edge_dropout: own.noise.edge_noise(),
            l2: base.l2(),
            l1: own.l1,
            unlabeled_weight: own.noise.unlabeled_weight,
            warm_up: None,
            gradient: None,
        }
    }

    /// Returns the training parameters with this configuration; those that are not searched are
    /// taken from `base`.
    ///
    /// # Errors
    ///
    /// A value is out of range.
    pub fn settings(&self, base: &TrainSettings) -> Result<TrainSettings> {
        let own = base.regularization();
        base.with_regularization(Regularization {
            l1: self.l1,
            l2: Some(self.l2),
            noise: NoiseOptions {
                dropout: self.dropout,
                edge_dropout: Some(self.edge_dropout),
                unlabeled_weight: self.unlabeled_weight,
                gradient: self.gradient.unwrap_or(own.noise.gradient),
                ..own.noise.clone()
            },
            warm_up: self.warm_up.or(own.warm_up),
        })
    }

    /// Returns whether there is any noise.
    pub fn has_noise(&self) -> bool {
        self.dropout > 0.0 || self.edge_dropout > 0.0
    }

    /// Returns the value of a parameter; null if it is that of the training options.
    pub fn value(&self, parameter: Parameter) -> Value {
        match parameter {
            Parameter::Template => json!(self.template),
            Parameter::Gradient => json!(self.gradient),
            Parameter::L1 => json!(self.l1),
            Parameter::L2 => json!(self.l2),
            Parameter::Dropout => json!(self.dropout),
            Parameter::UnlabeledWeight => json!(self.unlabeled_weight),
            Parameter::EdgeDropout => json!(self.edge_dropout),
            Parameter::WarmUp => json!(self.warm_up),
        }
    }

    /// Returns the options with which `train` trains the configuration, but for its template.
    pub fn options(&self) -> impl Iterator<Item = (String, Value)> {
        let has_effect = |parameter: &Parameter| match parameter {
            Parameter::Template => false,
            Parameter::Dropout | Parameter::L2 => true,
            Parameter::EdgeDropout => self.has_noise(),
            Parameter::L1 => self.l1 > 0.0,
            Parameter::UnlabeledWeight => self.unlabeled_weight != Defaults::UNLABELED_WEIGHT,
            Parameter::WarmUp | Parameter::Gradient => !self.value(*parameter).is_null(),
        };
        let parameters = Parameter::ALL.into_iter().filter(has_effect);
        parameters.map(|parameter| (parameter.option(), self.value(parameter)))
    }

    /// Compares two configurations by strength of regularization, the stronger one first: more
    /// noise, then more noise on edges, then stronger L2, then stronger L1, then more weight on
    /// unlabeled text, then the shorter warm-up, then the engine (exact ones
    /// first), then the earlier template.
    pub fn compare_strength(&self, other: &Self) -> Ordering {
        let strengths = |c: &Self| [c.dropout, c.edge_dropout, c.l2, c.l1, c.unlabeled_weight];
        let pairs = strengths(self).into_iter().zip(strengths(other));
        let order = pairs.map(|(own, other)| other.total_cmp(&own)).find(|order| order.is_ne());
        let rest = |c: &Self| (c.warm_up, c.gradient, c.template);
        order.unwrap_or_else(|| rest(self).cmp(&rest(other)))
    }
}

impl SearchSpace {
    /// Creates a small grid around the training defaults for a number of templates. A learner
    /// without noise has neither dropout nor penalties.
    pub fn new(templates: usize, base: &TrainSettings) -> Self {
        let has_noise = base.with_regularization(Regularization {
            noise: NoiseOptions {
                dropout: Defaults::DROPOUT,
                ..base.regularization().noise.clone()
            },
            ..base.regularization().clone()
        });
        let [rates, strengths] = match has_noise {
            Ok(_) => [
                vec![0.0, 0.3, 0.5, Defaults::DROPOUT],
                vec![0.03, 0.1, Defaults::L2, Defaults::L2_WITH_NOISE],
            ],
            Err(_) => [vec![0.0], vec![0.0]],
        };
        Self { axes: BTreeMap::new(), engines: Vec::new() }
            .with(Parameter::Template, indices(templates))
            .with(Parameter::L1, Axis::from_values(&[0.0]))
            .with(Parameter::L2, Axis::from_values(&strengths))
            .with(Parameter::Dropout, Axis::from_values(&rates))
            .with(Parameter::UnlabeledWeight, Axis::from_values(&[Defaults::UNLABELED_WEIGHT]))
    }

    /// Sets the values of a parameter; those without any are not searched.
    #[must_use]
    pub fn with(mut self, parameter: Parameter, axis: Axis) -> Self {
        self.axes.insert(parameter, axis);
        self
    }

    /// Sets the engines for the gradient of the noise term to try, at least one.
    #[must_use]
    pub fn with_gradients(mut self, engines: &[Engine]) -> Self {
        self.engines = engines.to_vec();
        self.with(Parameter::Gradient, indices(engines.len()))
    }

    /// Returns all combinations of values, except those that differ only in a value that has no
    /// effect.
    ///
    /// # Errors
    ///
    /// An axis has a range; a value is out of range; there are more than 1000 combinations.
    pub fn grid(&self, base: &TrainSettings) -> Result<Vec<Configuration>> {
        self.check(base)?;
        let mut values = Vec::new();
        for (parameter, axis) in &self.axes {
            let name = parameter.name();
            values.push(axis.values().ok_or_else(|| {
                Error::parameter(format!(
                    "{name}: a range has infinitely many values; expected single numbers for a \
                     grid, or configurations drawn at random (--random N)"
                ))
            })?);
        }
        let count = values.iter().map(Vec::len).try_fold(1, usize::checked_mul);
        if count.is_none_or(|count| count > MAX_CONFIGURATIONS) {
            return Err(Error::parameter(format!(
                "the grid has {} configurations; expected at most {MAX_CONFIGURATIONS}, or a \
                 random search",
                count.map_or_else(|| "too many".to_owned(), |count| count.to_string())
            )));
        }
        let points = values.iter().fold(vec![Vec::new()], |points, axis| {
            let extend = |point: &Vec<f64>, &value| [&point[..], &[value]].concat();
            let points = points.iter();
            points.flat_map(|point| axis.iter().map(move |value| extend(point, value))).collect()
        });
        let mut configurations = Vec::new();
        points.iter().for_each(|point| self.push(point, base, &mut configurations));
        Ok(configurations)
    }

    /// Returns `count` distinct configurations drawn at random, or all if there are no more than
    /// that.
    ///
    /// # Errors
    ///
    /// A value is out of range; a log-uniform range begins at 0; `count` is 0 or more than 1000.
    pub fn random(
        &self,
        count: usize,
        seed: u64,
        base: &TrainSettings,
    ) -> Result<Vec<Configuration>> {
        self.check(base)?;
        if !(1..=MAX_CONFIGURATIONS).contains(&count) {
            return Err(Error::parameter(format!(
                "{count} random configurations; expected 1 to {MAX_CONFIGURATIONS}"
            )));
        }
        if let Ok(grid) = self.grid(base)
            && grid.len() <= count
        {
            return Ok(grid);
        }
        // The template takes one random number, every other parameter two.
        let numbers = 2 * self.axes.len() as u64 - 1;
        let mut configurations = Vec::new();
        for draw in 0..MAX_DRAWS * count as u64 {
            if configurations.len() == count {
                break;
            }
            let counters = (0..).map(|axis: u64| draw * numbers + (2 * axis).saturating_sub(1));
            let values: Vec<f64> = (self.axes.iter().zip(counters))
                .map(|((parameter, axis), counter)| axis.draw(parameter.scale(), seed, counter))
                .collect();
            self.push(&values, base, &mut configurations);
        }
        Ok(configurations)
    }

    /// Adds a configuration, with a value for each axis, unless it is a duplicate.
    fn push(&self, point: &[f64], base: &TrainSettings, configurations: &mut Vec<Configuration>) {
        let mut configuration = Configuration::of(base);
        for (&parameter, &value) in self.axes.keys().zip(point) {
            self.set(parameter, value, &mut configuration);
        }
        let given = base.regularization().noise.edge_dropout;
        if given.is_none() && !self.axes.contains_key(&Parameter::EdgeDropout) {
            configuration.edge_dropout = configuration.dropout;
        }
        if !configuration.has_noise() {
            // Only the noise term learns from unlabeled text.
            configuration.unlabeled_weight = Defaults::UNLABELED_WEIGHT;
            (configuration.warm_up, configuration.gradient) = (None, None);
        }
        if !configurations.contains(&configuration) {
            configurations.push(configuration);
        }
    }

    fn set(&self, parameter: Parameter, value: f64, of: &mut Configuration) {
        match parameter {
            Parameter::Template => of.template = value as usize,
            Parameter::Gradient => of.gradient = self.engines.get(value as usize).copied(),
            Parameter::L1 => of.l1 = value,
            Parameter::L2 => of.l2 = value,
            Parameter::Dropout => of.dropout = value,
            Parameter::UnlabeledWeight => of.unlabeled_weight = value,
            Parameter::EdgeDropout => of.edge_dropout = value,
            Parameter::WarmUp => of.warm_up = Some(value.round() as usize),
        }
    }

    /// Checks all numbers and the ends of all ranges.
    fn check(&self, base: &TrainSettings) -> Result<()> {
        for (parameter, axis) in &self.axes {
            let name = parameter.name();
            for end in axis.ends() {
                if *parameter == Parameter::WarmUp && !(end >= 0.0 && end.fract() == 0.0) {
                    return Err(Error::parameter(format!(
                        "warm-up {end}; expected a whole number of iterations"
                    )));
                }
                let mut configuration = Configuration::of(base);
                self.set(*parameter, end, &mut configuration);
                configuration.settings(base)?;
            }
            if axis.is_empty() {
                return Err(Error::parameter(format!("there is no {name} to search")));
            }
            if let Some(range) = axis.invalid_range(parameter.scale()) {
                return Err(Error::parameter(format!(
                    "{name}: the range {range} begins at 0, but numbers are drawn log-uniformly; \
                     expected a range that begins above 0 (0,0.01:1 draws 0 half of the time)"
                )));
            }
        }
        Ok(())
    }
}

/// Returns the axis of the indices of this many items.
fn indices(count: usize) -> Axis {
    Axis::from_values(&(0..count).map(|i| i as f64).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropchain::train::TrainOptions;

    fn axis(text: &str) -> Axis {
        text.parse().unwrap()
    }

    fn space(dropout: &str, l2: &str) -> SearchSpace {
        let space = SearchSpace::new(1, &base());
        space.with(Parameter::Dropout, axis(dropout)).with(Parameter::L2, axis(l2))
    }

    fn base() -> TrainSettings {
        TrainSettings::new(TrainOptions::default()).unwrap()
    }

    fn grid(space: &SearchSpace) -> Result<Vec<Configuration>> {
        space.grid(&base())
    }

    fn random(space: &SearchSpace, count: usize, seed: u64) -> Result<Vec<Configuration>> {
        space.random(count, seed, &base())
    }

    #[test]
    fn a_grid_has_every_combination_once() {
        let space = space("0,0.5", "0.1,1").with(Parameter::EdgeDropout, axis("0.3,0.6"));
        let space = space.with(Parameter::Template, indices(2));
        let grid = grid(&space).unwrap();
        assert_eq!(grid.len(), 16);
        for (i, configuration) in grid.iter().enumerate() {
            assert!(!grid[..i].contains(configuration));
        }
        assert_eq!((grid[0].template, grid[8].template), (0, 1));
    }

    #[test]
    fn warm_up_and_engine_are_searched_with_noise_only() {
        let space = space("0,0.5", "0.1").with(Parameter::WarmUp, axis("0,20"));
        let space = space.with_gradients(&[Engine::Exact, Engine::Window(2)]);
        let grid = grid(&space).unwrap();
        let found: Vec<_> = grid.iter().map(|c| (c.dropout, c.warm_up, c.gradient)).collect();
        let (adjoint, window) = (Some(Engine::Exact), Some(Engine::Window(2)));
        let noisy = |warm_up, gradient| (0.5, Some(warm_up), gradient);
        assert_eq!(
            found,
            [
                (0.0, None, None),
                noisy(0, adjoint),
                noisy(20, adjoint),
                noisy(0, window),
                noisy(20, window),
            ]
        );
        let settings = grid[3].settings(&base()).unwrap();
        assert_eq!(settings.warm_up(), 0);
        assert_eq!(settings.regularization().noise.gradient, Engine::Window(2));
        for (i, one) in grid.iter().enumerate() {
            for (j, other) in grid.iter().enumerate() {
                assert_eq!(one.compare_strength(other).is_eq(), i == j);
            }
        }
        assert_eq!(random(&space, 4, 1).unwrap().len(), 4);
        let wrong = |text| SearchSpace::new(1, &base()).with(Parameter::WarmUp, axis(text));
        for text in ["0,2.5", "-1,3", "0:7.5"] {
            let error = random(&wrong(text), 3, 1).unwrap_err().to_string();
            assert!(error.ends_with("expected a whole number of iterations"), "{error}");
        }
    }

    #[test]
    fn without_noise_the_weight_of_unlabeled_text_has_no_effect() {
        let space = space("0,0.5", "0.1").with(Parameter::UnlabeledWeight, axis("0.1,1"));
        assert_eq!(grid(&space).unwrap().len(), 3);
    }

    #[test]
    fn the_default_grid_contains_the_defaults_of_training() {
        let (settings, noise) = (base(), NoiseOptions::default());
        let grid = grid(&SearchSpace::new(1, &settings)).unwrap();
        let is_default = |c: &&Configuration| {
            c.dropout == noise.dropout
                && c.edge_dropout == noise.edge_noise()
                && c.l2 == settings.l2()
        };
        assert_eq!(grid.iter().filter(is_default).count(), 1);
    }

    #[test]
    fn random_configurations_differ_and_follow_from_the_seed() {
        let space = space("0.1:0.6", "0.01:1");
        let drawn = random(&space, 20, 1).unwrap();
        assert_eq!(drawn.len(), 20);
        assert_eq!(drawn, random(&space, 20, 1).unwrap());
        assert_ne!(drawn, random(&space, 20, 2).unwrap());
        assert_eq!(drawn[..5], random(&space, 5, 1).unwrap());
    }

    #[test]
    fn if_there_are_too_few_all_are_taken() {
        let space = space("0,0.3", "0.1,1");
        assert_eq!(random(&space, 10, 1).unwrap(), grid(&space).unwrap());
        assert_eq!(random(&space, 3, 1).unwrap().len(), 3);
    }

    #[test]
    fn errors_name_the_parameter() {
        let error = |result: Result<Vec<Configuration>>| result.unwrap_err().to_string();
        assert_eq!(
            error(grid(&space("0.1:1", "0.1"))),
            "dropout 1; expected a rate of at least 0 and below 1"
        );
        assert_eq!(
            error(grid(&space("0.1", "0.01:1"))),
            "L2: a range has infinitely many values; expected single numbers for a grid, or \
             configurations drawn at random (--random N)"
        );
        assert!(
            error(random(&space("0.1", "0:1"), 5, 1)).starts_with("L2: the range 0:1 begins at 0")
        );
        assert!(error(random(&space("0.1", "-1:1"), 5, 1)).starts_with("L2 strength -1; "));
        assert_eq!(
            error(random(&space("0.1", "1"), 0, 1)),
            "0 random configurations; expected 1 to 1000"
        );
        let many: Vec<String> = (1..60).map(|i| (f64::from(i) / 100.0).to_string()).collect();
        let message = error(grid(&space(&many.join(","), &many.join(","))));
        assert!(message.starts_with("the grid has 3481 configurations"), "{message}");
    }
}
