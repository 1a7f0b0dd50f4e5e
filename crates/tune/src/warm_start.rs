//! Warm starts: weights trained without noise, along a path from strong penalties to weak ones.

use std::cmp::Ordering;

use super::space::Configuration;
use dropchain::train::{Defaults, TrainSettings};

/// The warm starts of a search.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WarmStarts {
    /// Configurations without noise; the warm-up is the number of iterations, if it is searched.
    pub all: Vec<Configuration>,
    /// Index of the warm start of each configuration.
    pub by_configuration: Vec<usize>,
    /// Regularization paths: each warm start begins with the weights of the one before, the first
    /// with θ = 0.
    pub paths: Vec<Vec<usize>>,
    default_iterations: usize, // of the first warm start of a path, if that is not searched
    is_online: bool,
}

/// Returns the number of iterations of the first warm start of a path by default. Learners
/// that do not continue from weights alone have none.
pub(super) fn warm_start_iterations(settings: &TrainSettings) -> usize {
    if !settings.learner().ends_with_weights() { 0 } else { settings.warm_up() }
}

/// Returns the warm start of a configuration: without all that only noise makes use of.
fn without_noise(configuration: &Configuration) -> Configuration {
    Configuration {
        dropout: 0.0,
        edge_dropout: 0.0,
        unlabeled_weight: Defaults::UNLABELED_WEIGHT,
        gradient: None,
        ..*configuration
    }
}

/// Returns what all warm starts of a path have in common.
fn path_of(start: &Configuration) -> (usize, Option<usize>) {
    (start.template, start.warm_up)
}

/// Compares by path, then by position along it: strong penalties first.
fn compare(a: &Configuration, b: &Configuration) -> Ordering {
    (path_of(a).cmp(&path_of(b))).then(b.l1.total_cmp(&a.l1)).then(b.l2.total_cmp(&a.l2))
}

impl WarmStarts {
    /// Creates the warm starts of `configurations`, with one path per template and number of
    /// iterations; if `is_warm` is false, with one path per warm start.
    pub fn new(configurations: &[Configuration], base: &TrainSettings, is_warm: bool) -> Self {
        let mut all: Vec<Configuration> = configurations.iter().map(without_noise).collect();
        all.sort_by(compare);
        all.dedup();
        let index = |c: &Configuration| {
            let index = all.binary_search_by(|start| compare(start, c));
            index.unwrap_or_else(|position| position)
        };
        let by_configuration = configurations.iter().map(index).collect();
        let numbers: Vec<usize> = (0..all.len()).collect();
        let paths = numbers.chunk_by(|&a, &b| is_warm && path_of(&all[a]) == path_of(&all[b]));
        Self {
            by_configuration,
            paths: paths.map(<[usize]>::to_vec).collect(),
            default_iterations: warm_start_iterations(base),
            is_online: !base.learner().ends_with_weights(),
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

    /// Returns the number of iterations of a warm start at a position of its path: those after the
    /// first have half of them.
    pub fn iterations_at(&self, start: usize, position: usize) -> usize {
        let searched = self.all[start].warm_up.filter(|_| !self.is_online);
        let first = searched.unwrap_or(self.default_iterations);
        if position == 0 { first } else { first.div_ceil(2) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropchain::train::TrainOptions;

    fn configuration(template: usize, dropout: f64, l2: f64, l1: f64) -> Configuration {
        Configuration {
            template,
            dropout,
            edge_dropout: dropout,
            l2,
            l1,
            unlabeled_weight: 0.2,
            warm_up: None,
            gradient: None,
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
        let strengths: Vec<_> = (starts.all.iter()).map(|s| (s.template, s.l2, s.l1)).collect();
        assert_eq!(strengths, [(0, 0.1, 0.5), (0, 1.0, 0.0), (0, 0.1, 0.0), (1, 1.0, 0.0)]);
        assert_eq!(starts.by_configuration, [2, 2, 1, 0, 3]);
        assert_eq!(starts.paths, [vec![0, 1, 2], vec![3]]);
        assert_eq!(starts.path_to(1), [0, 1]);
        assert_eq!(
            [0, 1, 2].map(|position| starts.iterations_at(position, position)),
            [Defaults::WARM_UP, Defaults::WARM_UP.div_ceil(2), Defaults::WARM_UP.div_ceil(2)]
        );
        let searched = [Some(8), Some(0), None, Some(8), Some(0)];
        let lengths = configurations
            .iter()
            .zip(searched)
            .map(|(c, warm_up)| Configuration { warm_up: warm_up.filter(|_| c.has_noise()), ..*c });
        let searched = WarmStarts::new(&lengths.collect::<Vec<_>>(), &base, true);
        // Without noise nothing is searched; (0, 0.1, 0.5) and (0, 0.1, 0) have 8 and 0 iterations.
        let lengths: Vec<usize> = (searched.paths.iter().flatten())
            .map(|&start| searched.iterations_at(start, 0))
            .collect();
        assert_eq!(searched.paths.len(), 4);
        assert_eq!(lengths, [Defaults::WARM_UP, Defaults::WARM_UP, 0, 8, 0]);
        let cold = WarmStarts::new(&configurations, &base, false);
        assert_eq!(cold.paths, [vec![0], vec![1], vec![2], vec![3]]);
    }
}
