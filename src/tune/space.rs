//! What is searched: a grid of configurations, or some drawn at random.

use std::cmp::Ordering;

use serde::Serialize;

use super::axis::{Axis, Scale};
use crate::error::{Error, Result};
use crate::random::uniform;
use crate::train::{Defaults, TrainOptions, Trainer};

/// Most configurations of a search; more is a typing error.
const MOST_CONFIGURATIONS: usize = 1000;

/// Draws that may come to nothing new, for each configuration that is asked for.
const DRAWS: u64 = 1000;

/// The parameters that are searched, with their values.
#[derive(Clone, Debug, PartialEq)]
pub struct Space {
    /// Number of templates.
    pub templates: usize,
    /// How much noise there is.
    pub dropout: Axis,
    /// The same for edges; none: what [`TrainOptions::edge_noise`] makes of it.
    pub edge_dropout: Option<Axis>,
    /// Strengths of the L2 penalty.
    pub l2: Axis,
    /// Strengths of the L1 penalty.
    pub l1: Axis,
    /// Weights α of unlabeled sentences.
    pub unlabeled_weight: Axis,
}

impl Default for Space {
    /// A small grid around the defaults of training.
    fn default() -> Self {
        Self {
            templates: 1,
            dropout: Axis::of(&[0.0, 0.3, 0.5, Defaults::DROPOUT]),
            edge_dropout: None,
            l2: Axis::of(&[0.03, 0.1, Defaults::L2, Defaults::L2_WITH_NOISE]),
            l1: Axis::of(&[0.0]),
            unlabeled_weight: Axis::of(&[Defaults::UNLABELED_WEIGHT]),
        }
    }
}

/// A point of the space.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Configuration {
    /// Which template, from 0.
    pub template: usize,
    /// How much noise.
    pub dropout: f64,
    /// The same for edges.
    pub edge_dropout: f64,
    /// Strength of the L2 penalty.
    pub l2: f64,
    /// Strength of the L1 penalty.
    pub l1: f64,
    /// Weight α of unlabeled sentences.
    pub unlabeled_weight: f64,
}

impl Configuration {
    /// The options of training with this configuration; what is not searched is as in `options`.
    #[must_use]
    pub fn options(&self, options: &TrainOptions) -> TrainOptions {
        TrainOptions {
            dropout: self.dropout,
            edge_dropout: Some(self.edge_dropout),
            l2: self.l2,
            l1: self.l1,
            unlabeled_weight: self.unlabeled_weight,
            ..options.clone()
        }
    }

    /// Whether there is any noise.
    #[must_use]
    pub fn has_noise(&self) -> bool {
        self.dropout > 0.0 || self.edge_dropout > 0.0
    }

    /// Which is regularized more strongly ([`Ordering::Less`]: `self`): by more noise, then more noise
    /// on edges, then stronger L2, then L1, then more weight on unlabeled text; then the template that was
    /// named first.
    #[must_use]
    pub fn by_strength(&self, other: &Self) -> Ordering {
        let strengths = |c: &Self| [c.dropout, c.edge_dropout, c.l2, c.l1, c.unlabeled_weight];
        let pairs = strengths(self).into_iter().zip(strengths(other));
        pairs
            .map(|(own, other)| other.total_cmp(&own))
            .find(|order| order.is_ne())
            .unwrap_or_else(|| self.template.cmp(&other.template))
    }
}

impl Space {
    /// Every combination of all values, without those that differ only in what has no effect.
    ///
    /// # Errors
    ///
    /// A range; values that training refuses; more than 1000 combinations.
    pub fn grid(&self, options: &TrainOptions) -> Result<Vec<Configuration>> {
        self.check(options)?;
        let mut axes = Vec::new();
        for (name, axis, _) in self.axes() {
            axes.push(axis.values().ok_or_else(|| {
                Error::parameter(format!(
                    "{name}: a range has no end of values; expected single numbers in a grid, or \
                     configurations drawn at random (--random N)"
                ))
            })?);
        }
        let count = axes
            .iter()
            .try_fold(self.templates, |n, axis| n.checked_mul(axis.len()));
        if count.is_none_or(|count| count > MOST_CONFIGURATIONS) {
            return Err(Error::parameter(format!(
                "the grid has {} configurations; expected at most {MOST_CONFIGURATIONS}, or a random search",
                count.map_or_else(|| "too many".to_owned(), |count| count.to_string())
            )));
        }
        let mut found = Vec::new();
        for place in 0..count.unwrap_or(0) {
            let mut rest = place;
            // The last axis changes fastest.
            let mut values: Vec<f64> = (axes.iter().rev())
                .map(|axis| {
                    let value = axis[rest % axis.len()];
                    rest /= axis.len();
                    value
                })
                .collect();
            values.reverse();
            self.push(rest, &values, options, &mut found);
        }
        Ok(found)
    }

    /// `count` different configurations drawn at random, or all where there are no more.
    ///
    /// # Errors
    ///
    /// Values that training refuses; a range from 0 where numbers are drawn by their logarithm; no
    /// configurations, or more than 1000.
    pub fn random(
        &self,
        count: usize,
        seed: u64,
        options: &TrainOptions,
    ) -> Result<Vec<Configuration>> {
        self.check(options)?;
        if !(1..=MOST_CONFIGURATIONS).contains(&count) {
            return Err(Error::parameter(format!(
                "{count} random configurations; expected 1 to {MOST_CONFIGURATIONS}"
            )));
        }
        if let Ok(grid) = self.grid(options)
            && grid.len() <= count
        {
            return Ok(grid);
        }
        let axes = self.axes();
        let numbers = 1 + 2 * axes.len() as u64; // of a draw
        let mut found = Vec::new();
        for draw in 0..DRAWS * count as u64 {
            if found.len() == count {
                break;
            }
            let first = draw * numbers;
            let template = (1.0 - uniform(seed, first)) * self.templates as f64;
            let places = (0..).map(|axis| first + 1 + 2 * axis);
            let values: Vec<f64> = (axes.iter().zip(places))
                .map(|((_, axis, scale), place)| axis.draw(*scale, seed, place))
                .collect();
            self.push(template as usize, &values, options, &mut found);
        }
        Ok(found)
    }

    /// The axes, named as options of the command line are, in the order L1, L2, noise, noise on edges, α.
    fn axes(&self) -> Vec<(&'static str, &Axis, Scale)> {
        let mut axes = vec![
            ("L1", &self.l1, Scale::Logarithmic),
            ("L2", &self.l2, Scale::Logarithmic),
            ("dropout", &self.dropout, Scale::Linear),
            (
                "unlabeled weight",
                &self.unlabeled_weight,
                Scale::Logarithmic,
            ),
        ];
        if let Some(edge) = &self.edge_dropout {
            axes.push(("edge dropout", edge, Scale::Linear));
        }
        axes
    }

    /// Adds a configuration that is not there yet.
    fn push(
        &self,
        template: usize,
        values: &[f64],
        options: &TrainOptions,
        found: &mut Vec<Configuration>,
    ) {
        let noise = TrainOptions {
            dropout: values[2],
            edge_dropout: values.get(4).copied().or(options.edge_dropout),
            ..options.clone()
        };
        let mut configuration = Configuration {
            template,
            dropout: values[2],
            edge_dropout: noise.edge_noise(),
            l2: values[1],
            l1: values[0],
            unlabeled_weight: values[3],
        };
        if !configuration.has_noise() {
            // Only noise learns from unlabeled text.
            configuration.unlabeled_weight = Defaults::UNLABELED_WEIGHT;
        }
        if !found.contains(&configuration) {
            found.push(configuration);
        }
    }

    /// Tries all numbers, and the ends of all ranges, on the options.
    fn check(&self, options: &TrainOptions) -> Result<()> {
        if self.templates == 0 {
            return Err(Error::parameter("there is no template to search"));
        }
        for (name, axis, scale) in self.axes() {
            for end in axis.ends() {
                let mut options = options.clone();
                match name {
                    "L1" => options.l1 = end,
                    "L2" => options.l2 = end,
                    "dropout" => options.dropout = end,
                    "edge dropout" => options.edge_dropout = Some(end),
                    _ => options.unlabeled_weight = end,
                }
                Trainer::new(options)?;
            }
            if let Some(range) = axis.beyond(scale) {
                return Err(Error::parameter(format!(
                    "{name}: the range {range} begins at 0, and numbers are drawn by their logarithm; expected one that begins above 0 (0,0.01:1 draws 0 every second time)"
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(text: &str) -> Axis {
        text.parse().unwrap()
    }

    fn space(dropout: &str, l2: &str) -> Space {
        Space {
            dropout: axis(dropout),
            l2: axis(l2),
            ..Space::default()
        }
    }

    fn grid(space: &Space) -> Result<Vec<Configuration>> {
        space.grid(&TrainOptions::default())
    }

    fn random(space: &Space, count: usize, seed: u64) -> Result<Vec<Configuration>> {
        space.random(count, seed, &TrainOptions::default())
    }

    #[test]
    fn a_grid_has_every_combination_once() {
        let space = Space {
            templates: 2,
            edge_dropout: Some(axis("0.3,0.6")),
            ..space("0,0.5", "0.1,1")
        };
        let grid = grid(&space).unwrap();
        assert_eq!(grid.len(), 16);
        for (i, configuration) in grid.iter().enumerate() {
            assert!(!grid[..i].contains(configuration));
        }
        assert_eq!((grid[0].template, grid[8].template), (0, 1));
    }

    #[test]
    fn without_noise_the_weight_of_unlabeled_text_is_no_choice() {
        let space = Space {
            unlabeled_weight: axis("0.1,1"),
            ..space("0,0.5", "0.1")
        };
        assert_eq!(grid(&space).unwrap().len(), 3);
    }

    #[test]
    fn the_default_grid_contains_the_defaults_of_training() {
        let defaults = TrainOptions::default();
        let grid = grid(&Space::default()).unwrap();
        let is_default = |c: &&Configuration| {
            c.dropout == defaults.dropout
                && c.edge_dropout == defaults.edge_noise()
                && c.l2 == defaults.l2
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
    fn where_there_are_not_so_many_all_are_taken() {
        let space = space("0,0.3", "0.1,1");
        assert_eq!(random(&space, 10, 1).unwrap(), grid(&space).unwrap());
        assert_eq!(random(&space, 3, 1).unwrap().len(), 3);
    }

    #[test]
    fn faults_name_the_parameter() {
        let fault = |result: Result<Vec<Configuration>>| result.unwrap_err().to_string();
        assert_eq!(
            fault(grid(&space("0.1:1", "0.1"))),
            "dropout 1; expected a rate from 0 up to, not including, 1"
        );
        assert_eq!(
            fault(grid(&space("0.1", "0.01:1"))),
            "L2: a range has no end of values; expected single numbers in a grid, or configurations \
             drawn at random (--random N)"
        );
        assert!(
            fault(random(&space("0.1", "0:1"), 5, 1)).starts_with("L2: the range 0:1 begins at 0")
        );
        assert!(fault(random(&space("0.1", "-1:1"), 5, 1)).starts_with("L2 strength -1; "));
        assert_eq!(
            fault(random(&space("0.1", "1"), 0, 1)),
            "0 random configurations; expected 1 to 1000"
        );
        let many: Vec<String> = (1..60)
            .map(|i| (f64::from(i) / 100.0).to_string())
            .collect();
        let message = fault(grid(&space(&many.join(","), &many.join(","))));
        assert!(
            message.starts_with("the grid has 3481 configurations"),
            "{message}"
        );
    }
}
