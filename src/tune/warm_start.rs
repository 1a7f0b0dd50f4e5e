//! Warm starts: weights trained without noise, along a path from strong penalties to weak ones.

use std::cmp::Ordering;

use super::space::Configuration;
use crate::error::Result;
use crate::train::{TrainOptions, TrainSettings};

/// Weights trained without noise, from which configurations start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WarmStart {
    pub template: usize,
    pub l2: f64,
    pub l1: f64,
}

/// The warm starts of a search.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WarmStarts {
    pub all: Vec<WarmStart>,
    /// Index of the warm start of each configuration.
    pub by_configuration: Vec<usize>,
    /// Regularization paths: each warm start begins with the weights of the one before, the first
    /// with θ = 0.
    pub paths: Vec<Vec<usize>>,
    first_iterations: usize, // of the first warm start of a path
    next_iterations: usize,  // of the others
}

/// Returns the number of iterations of the first warm start of a path. Online algorithms have none:
/// from weights alone they would not continue as they began.
pub(super) fn warm_start_iterations(settings: &TrainSettings) -> usize {
    if settings.options().algorithm.is_online() {
        0
    } else {
        settings.warm_up()
    }
}

impl WarmStart {
    fn new(configuration: &Configuration) -> Self {
        Self {
            template: configuration.template,
            l2: configuration.l2,
            l1: configuration.l1,
        }
    }

    /// Compares by position along a path: strong penalties first.
    fn compare(&self, other: &Self) -> Ordering {
        (self.template.cmp(&other.template))
            .then(other.l1.total_cmp(&self.l1))
            .then(other.l2.total_cmp(&self.l2))
    }

    /// Returns the settings, without noise.
    ///
    /// # Errors
    ///
    /// The penalties are out of range.
    pub fn settings(&self, base: &TrainSettings) -> Result<TrainSettings> {
        TrainSettings::new(TrainOptions {
            dropout: 0.0,
            edge_dropout: Some(0.0),
            l2: Some(self.l2),
            l1: self.l1,
            ..base.options().clone()
        })
    }
}

impl WarmStarts {
    /// Creates the warm starts of `configurations`, with one path per template; if `is_warm` is
    /// false, with one path per warm start.
    pub fn new(configurations: &[Configuration], base: &TrainSettings, is_warm: bool) -> Self {
        let mut all: Vec<WarmStart> = configurations.iter().map(WarmStart::new).collect();
        all.sort_by(WarmStart::compare);
        all.dedup();
        let index = |c: &Configuration| {
            let index = all.binary_search_by(|start| start.compare(&WarmStart::new(c)));
            index.unwrap_or_else(|position| position)
        };
        let by_configuration = configurations.iter().map(index).collect();
        let numbers: Vec<usize> = (0..all.len()).collect();
        let paths = numbers.chunk_by(|&a, &b| is_warm && all[a].template == all[b].template);
        let first_iterations = warm_start_iterations(base);
        Self {
            by_configuration,
            paths: paths.map(<[usize]>::to_vec).collect(),
            first_iterations,
            next_iterations: first_iterations.div_ceil(2),
            all,
        }
    }

    /// Returns the path up to and including a warm start.
    pub fn path_to(&self, start: usize) -> &[usize] {
        let path = self.paths.iter().find_map(|path| {
            let position = path.iter().position(|&other| other == start)?;
            Some(&path[..=position])
        });
        path.unwrap_or_default()
    }

    /// Returns the number of iterations of the warm start at a position of its path.
    pub fn iterations_at(&self, position: usize) -> usize {
        if position == 0 {
            self.first_iterations
        } else {
            self.next_iterations
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::Defaults;

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
        let base = TrainSettings::new(TrainOptions::default()).unwrap();
        let starts = WarmStarts::new(&configurations, &base, true);
        let strengths: Vec<_> = (starts.all.iter())
            .map(|s| (s.template, s.l2, s.l1))
            .collect();
        assert_eq!(
            strengths,
            [(0, 0.1, 0.5), (0, 1.0, 0.0), (0, 0.1, 0.0), (1, 1.0, 0.0)]
        );
        assert_eq!(starts.by_configuration, [2, 2, 1, 0, 3]);
        assert_eq!(starts.paths, [vec![0, 1, 2], vec![3]]);
        assert_eq!(starts.path_to(1), [0, 1]);
        assert_eq!(
            [0, 1, 2].map(|position| starts.iterations_at(position)),
            [
                Defaults::WARM_UP,
                Defaults::WARM_UP.div_ceil(2),
                Defaults::WARM_UP.div_ceil(2)
            ]
        );
        let cold = WarmStarts::new(&configurations, &base, false);
        assert_eq!(cold.paths, [vec![0], vec![1], vec![2], vec![3]]);
    }
}
