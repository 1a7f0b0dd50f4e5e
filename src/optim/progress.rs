//! What counts as progress, and when there is none any more.
//!
//! Two tests: CRFsuite's, by which F has to fall by a fraction of its size over a number of
//! iterations; and one against rounding, by which F has to fall beyond its noise, or the gradient
//! has to shrink, at least now and then. The second ends a search whatever the tolerances.
//!
//! Values of different functions, as an objective that draws samples has them, compare only on the
//! average. There, a point's value is the one that the next function gives it, which has not been
//! minimized yet, and one test replaces both: the mean of these values over a period of iterations has
//! to fall by a fraction of its size from that of the period before. It ends a search
//! when progress no longer stands out from the noise of the samples: once the mean stands still, chance
//! raises it sooner or later.

use std::collections::VecDeque;
use std::ops::Range;

use super::LbfgsOptions;
use super::line_search::Start;

/// Values of F that differ by less than this fraction count as equal. A sum of 10⁵ to 10⁸ terms has
/// a rounding error of 10⁻¹⁵ to 10⁻¹³ of its size.
const NOISE: f64 = 1e-12;

/// After so many iterations without progress the search has arrived. As long as some
/// are allowed, a poor step at the noise level does not end the convergence of the gradient.
const MAX_IDLE: usize = 20;

/// The gradient has made progress when its norm falls below this fraction of its mark.
const GRADIENT_PROGRESS: f64 = 0.9;

/// How F and the norm of its gradient came down.
pub(super) struct Progress {
    recent: VecDeque<f64>, // values of the last `period` + 1 points, oldest first
    lowest: f64,
    mark: f64, // value when it last fell noticeably
    gradient_mark: f64,
    idle: usize,            // iterations since one of the marks was set
    renewed: VecDeque<f64>, // values that new functions gave to the last 2·`period` points
}

impl Progress {
    pub(super) fn new(value: f64, gradient_norm: f64) -> Self {
        Self {
            recent: VecDeque::from([value]),
            lowest: value,
            mark: value,
            gradient_mark: gradient_norm,
            idle: 0,
            renewed: VecDeque::new(),
        }
    }

    /// Takes note of what the current point is worth to a new function.
    pub(super) fn renew(&mut self, value: f64, period: usize) {
        if self.renewed.len() / 2 >= period {
            self.renewed.pop_front();
        }
        self.renewed.push_back(value);
        self.lowest = value;
    }

    /// Values no further apart than this count as equal.
    fn noise(&self) -> f64 {
        NOISE * self.lowest.abs()
    }

    /// What a line search has to know.
    pub(super) fn start(&self, value: f64, slope: f64) -> Start {
        Start {
            value,
            slope,
            lowest: self.lowest,
            noise: self.noise(),
        }
    }

    /// Takes note of an accepted point.
    pub(super) fn note(&mut self, value: f64, gradient_norm: f64, period: usize) {
        if self.recent.len() > period {
            self.recent.pop_front();
        }
        self.recent.push_back(value);
        self.lowest = self.lowest.min(value);
        self.idle += 1;
        if value < self.mark - self.noise() {
            self.mark = value;
            self.idle = 0;
        }
        if gradient_norm < GRADIENT_PROGRESS * self.gradient_mark {
            self.gradient_mark = gradient_norm;
            self.idle = 0;
        }
    }

    /// Whether one of the two tests holds.
    pub(super) fn has_ended(&self, options: &LbfgsOptions) -> bool {
        if !self.renewed.is_empty() {
            return self.means_have_settled(options);
        }
        if self.idle >= MAX_IDLE {
            return true;
        }
        let (Some(old), Some(new)) = (self.recent.front(), self.recent.back()) else {
            return false;
        };
        self.recent.len() > options.period
            && options.improvement_tolerance > 0.0
            && old - new < options.improvement_tolerance * new.abs()
    }

    /// Whether the mean over a period fell by less than the tolerance from that of the period before.
    fn means_have_settled(&self, options: &LbfgsOptions) -> bool {
        if self.renewed.len() / 2 < options.period {
            return false;
        }
        let mean =
            |values: Range<usize>| self.renewed.range(values).sum::<f64>() / options.period as f64;
        let old = mean(0..options.period);
        let new = mean(options.period..2 * options.period);
        old - new <= options.improvement_tolerance * new.abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of the iteration with which a sequence of (value, gradient norm) ends.
    fn end(options: &LbfgsOptions, sequence: impl Fn(usize) -> (f64, f64)) -> Option<usize> {
        let (value, norm) = sequence(0);
        let mut progress = Progress::new(value, norm);
        (1..=1000).find(|&k| {
            let (value, norm) = sequence(k);
            progress.note(value, norm, options.period);
            progress.has_ended(options)
        })
    }

    fn options(improvement_tolerance: f64) -> LbfgsOptions {
        LbfgsOptions {
            improvement_tolerance,
            period: 4,
            ..LbfgsOptions::default()
        }
    }

    #[test]
    fn the_improvement_is_measured_over_the_period_relative_to_the_value() {
        // falls by 8 in 4 iterations, 1.01 % of the value 792 after them
        let line = |k: usize| (800.0 - 2.0 * k as f64, 1.0);
        assert_eq!(end(&options(0.0102), line), Some(4));
        assert_eq!(end(&options(0.01), |k| (0.5f64.powi(k as i32), 1.0)), None);
        // falls by 11 for 10 iterations, then by 1
        let bend = |k: usize| (1000.0 - k.min(10) as f64 * 10.0 - k as f64, 1.0);
        assert_eq!(end(&options(0.01), bend), Some(14));
    }

    #[test]
    fn values_within_the_noise_end_the_search_after_twenty_iterations() {
        assert_eq!(end(&options(0.0), |_| (1.0, 1.0)), Some(20));
        assert_eq!(
            end(&options(0.0), |k| (1.0 - 1e-14 * k as f64, 1.0)),
            Some(20)
        );
    }

    #[test]
    fn a_slow_fall_of_the_value_beyond_the_noise_is_progress() {
        assert_eq!(end(&options(0.0), |k| (1.0 - 1e-13 * k as f64, 1.0)), None);
    }

    /// Number of the function with which a search ends whose values at new functions are given.
    fn renewed_end(tolerance: f64, value: impl Fn(usize) -> f64) -> Option<usize> {
        let options = options(tolerance);
        let mut progress = Progress::new(value(0), 1.0);
        (1..=1000).find(|&k| {
            progress.renew(value(k), options.period);
            progress.note(0.5 * value(k), 1.0, options.period);
            progress.has_ended(&options)
        })
    }

    #[test]
    fn values_of_new_functions_are_compared_by_their_means_over_two_periods() {
        // falls by 8 from one mean to the next, 1.01 % of the mean 789 of the functions 5 to 8
        let line = |k: usize| 802.0 - 2.0 * k as f64;
        assert_eq!(renewed_end(0.0102, line), Some(8));
        assert_eq!(renewed_end(0.01, |k| 1000.0 * 0.9_f64.powi(k as i32)), None);
        // noise that is far above the tolerance does not end a search that makes way
        let noise = |k: usize| 10.0 * ((k * 7 % 13) as f64 - 6.0);
        assert_eq!(
            renewed_end(1e-5, |k| 1e6 - 100.0 * k as f64 + noise(k)),
            None
        );
    }

    #[test]
    fn noise_about_a_steady_mean_ends_the_search() {
        let noise = |k: usize| (k * 7 % 13) as f64;
        for tolerance in [1e-5, 0.0] {
            assert!(renewed_end(tolerance, |k| 1e3 + noise(k)).is_some_and(|k| k < 20));
        }
    }

    #[test]
    fn a_gradient_that_shrinks_is_progress() {
        assert_eq!(end(&options(0.0), |k| (1.0, 0.99f64.powi(k as i32))), None);
    }
}
