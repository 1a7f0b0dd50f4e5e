//! Where configurations begin: weights trained without noise, along a path from strong penalties to weak
//! ones.

use std::cmp::Ordering;

use super::space::Configuration;
use crate::train::{Defaults, TrainOptions};

/// Weights without noise, to begin with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Base {
    pub template: usize,
    pub l2: f64,
    pub l1: f64,
}

/// All of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bases {
    pub all: Vec<Base>,
    /// That of each configuration.
    pub of: Vec<usize>,
    /// Paths: each base begins with the weights of the one before, the first with weights that are all 0.
    pub paths: Vec<Vec<usize>>,
    /// Iterations of the first of a path, and of the others.
    pub iterations: [usize; 2],
}

impl Base {
    fn of(configuration: &Configuration) -> Self {
        Self {
            template: configuration.template,
            l2: configuration.l2,
            l1: configuration.l1,
        }
    }

    /// The order of paths.
    fn compare(&self, other: &Self) -> Ordering {
        (self.template.cmp(&other.template))
            .then(other.l1.total_cmp(&self.l1))
            .then(other.l2.total_cmp(&self.l2))
    }

    /// The options of training: no noise.
    pub fn options(&self, options: &TrainOptions) -> TrainOptions {
        TrainOptions {
            dropout: 0.0,
            edge_dropout: Some(0.0),
            l2: self.l2,
            l1: self.l1,
            ..options.clone()
        }
    }
}

impl Bases {
    /// The bases of some configurations, a path for each template; without warm starts, for each base.
    pub fn new(configurations: &[Configuration], options: &TrainOptions, warm: bool) -> Self {
        let mut all: Vec<Base> = configurations.iter().map(Base::of).collect();
        all.sort_by(Base::compare);
        all.dedup();
        let own = |c: &Configuration| all.binary_search_by(|base| base.compare(&Base::of(c)));
        let of = configurations
            .iter()
            .map(|c| own(c).unwrap_or_else(|place| place));
        let of = of.collect();
        let numbers: Vec<usize> = (0..all.len()).collect();
        let paths = numbers.chunk_by(|&a, &b| warm && all[a].template == all[b].template);
        let first = warm_up(options);
        Self {
            of,
            paths: paths.map(<[usize]>::to_vec).collect(),
            iterations: [first, first.div_ceil(2)],
            all,
        }
    }

    /// The path up to a base, itself included.
    pub fn way_to(&self, base: usize) -> &[usize] {
        let path = self.paths.iter().find_map(|path| {
            let place = path.iter().position(|&other| other == base)?;
            Some(&path[..=place])
        });
        path.unwrap_or_default()
    }

    /// Iterations of the base at a place of its path.
    pub fn iterations_at(&self, place: usize) -> usize {
        self.iterations[usize::from(place > 0)]
    }
}

/// Iterations without noise, whether there is any or not.
pub(super) fn warm_up(options: &TrainOptions) -> usize {
    let half = options.max_iterations.map_or(usize::MAX, |n| n / 2);
    options.warm_up.unwrap_or(Defaults::WARM_UP.min(half))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configuration(template: usize, dropout: f64, l2: f64, l1: f64) -> Configuration {
        Configuration {
            template,
            dropout,
            edge_dropout: dropout,
            l2,
            l1,
            unlabeled_weight: 0.2,
        }
    }

    #[test]
    fn a_path_goes_from_strong_penalties_to_weak_ones_and_is_shared_by_noise() {
        let configurations = [
            configuration(0, 0.0, 0.1, 0.0),
            configuration(0, 0.3, 0.1, 0.0),
            configuration(0, 0.3, 1.0, 0.0),
            configuration(0, 0.3, 0.1, 0.5),
            configuration(1, 0.3, 1.0, 0.0),
        ];
        let bases = Bases::new(&configurations, &TrainOptions::default(), true);
        let strengths: Vec<_> = bases.all.iter().map(|b| (b.template, b.l2, b.l1)).collect();
        assert_eq!(
            strengths,
            [(0, 0.1, 0.5), (0, 1.0, 0.0), (0, 0.1, 0.0), (1, 1.0, 0.0)]
        );
        assert_eq!(bases.of, [2, 2, 1, 0, 3]);
        assert_eq!(bases.paths, [vec![0, 1, 2], vec![3]]);
        assert_eq!(bases.way_to(1), [0, 1]);
        assert_eq!(
            [0, 1, 2].map(|place| bases.iterations_at(place)),
            [
                Defaults::WARM_UP,
                Defaults::WARM_UP.div_ceil(2),
                Defaults::WARM_UP.div_ceil(2)
            ]
        );
        let cold = Bases::new(&configurations, &TrainOptions::default(), false);
        assert_eq!(cold.paths, [vec![0], vec![1], vec![2], vec![3]]);
    }

    #[test]
    fn few_iterations_are_shared_by_warm_up_and_noise() {
        let options = |warm_up, max_iterations| TrainOptions {
            warm_up,
            max_iterations,
            ..TrainOptions::default()
        };
        assert_eq!(warm_up(&options(None, Some(6))), 3);
        assert_eq!(warm_up(&options(Some(7), None)), 7);
    }
}
