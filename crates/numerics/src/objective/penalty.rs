//! The L2 penalty c2·Σ(θ_i − θ0_i)².
//!
//! By default all centers θ0_i are 0. Others are a prior from earlier data: a Gaussian whose mean
//! is an earlier model (Chelba and Acero, *Adaptation of maximum entropy capitalizer*, EMNLP
//! 2004).
//!
//! Parameters are those of attribute classes. A class of m attributes has φ = √m·θ, and
//! m·c2·(θ − θ0)² = c2·(φ − φ0)² with φ0 = √m·θ0: the strength is that of single attributes,
//! centers are scaled like the parameters.

use std::sync::Arc;

use rayon::prelude::*;

use crate::math::dot;

/// Parameters per task.
pub(super) const PARAMETER_CHUNK: usize = 1 << 14;

/// The L2 penalty c2·Σ(θ_i − θ0_i)².
///
/// A number converts to the penalty with this strength and centers 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Penalty {
    /// The strength c2.
    pub strength: f64,
    centers: Option<Arc<[f64]>>, // [n]
}

impl From<f64> for Penalty {
    fn from(strength: f64) -> Self {
        Self { strength, ..Self::default() }
    }
}

impl Penalty {
    /// Sets a center for each parameter, `[n]`.
    #[must_use]
    pub fn with_centers(mut self, centers: impl Into<Arc<[f64]>>) -> Self {
        self.centers = Some(centers.into());
        self
    }

    /// Returns the center θ0_i of parameter `i`.
    #[inline]
    pub fn center(&self, i: usize) -> f64 {
        self.centers.as_ref().map_or(0.0, |centers| centers[i])
    }

    /// Returns the penalty at θ.
    pub fn value(&self, theta: &[f64]) -> f64 {
        let Some(centers) = &self.centers else { return self.strength * dot(theta, theta) };
        theta.iter().zip(&**centers).map(|(w, center)| self.strength * (w - center).powi(2)).sum()
    }

    /// Returns the penalty at θ, and adds its gradient to `gradient`.
    pub fn add(&self, theta: &[f64], gradient: &mut [f64]) -> f64 {
        let c2 = self.strength;
        let Some(centers) = &self.centers else {
            let squares = sum_chunks(theta, gradient, |_, theta, gradient| {
                let mut sum = 0.0;
                for (g, &w) in gradient.iter_mut().zip(theta) {
                    *g += 2.0 * c2 * w;
                    sum += w * w;
                }
                sum
            });
            return c2 * squares;
        };
        sum_chunks(theta, gradient, |first, theta, gradient| {
            let mut sum = 0.0;
            for ((g, &w), center) in gradient.iter_mut().zip(theta).zip(&centers[first..]) {
                let distance = w - center;
                *g += 2.0 * c2 * distance;
                sum += c2 * distance * distance;
            }
            sum
        })
    }
}

/// Calls `work(index of the first parameter, θ, gradient)` for each chunk of parameters, in
/// parallel, and adds the results in order.
pub(super) fn sum_chunks(
    theta: &[f64],
    gradient: &mut [f64],
    work: impl Fn(usize, &[f64], &mut [f64]) -> f64 + Sync,
) -> f64 {
    let partial: Vec<f64> = theta
        .par_chunks(PARAMETER_CHUNK)
        .zip(gradient.par_chunks_mut(PARAMETER_CHUNK))
        .enumerate()
        .map(|(chunk, (theta, gradient))| work(chunk * PARAMETER_CHUNK, theta, gradient))
        .collect();
    partial.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::assert_close;
    use crate::testing::Lcg;

    /// More than one chunk.
    const N: usize = PARAMETER_CHUNK + 100;

    fn evaluate(penalty: &Penalty, theta: &[f64]) -> (f64, Vec<f64>) {
        let mut gradient = vec![0.0; theta.len()];
        let value = penalty.add(theta, &mut gradient);
        (value, gradient)
    }

    #[test]
    fn every_parameter_has_its_center() {
        let mut numbers = Lcg(1);
        let [theta, centers] = [(); 2].map(|()| numbers.vector(N));
        let penalty = Penalty::from(0.3);
        let cases = [(penalty.clone(), false), (penalty.with_centers(centers.clone()), true)];
        for (penalty, has_centers) in &cases {
            let (value, gradient) = evaluate(penalty, &theta);
            let mut expected = 0.0;
            for i in 0..N {
                let center = if *has_centers { centers[i] } else { 0.0 };
                expected += 0.3 * (theta[i] - center).powi(2);
                assert_close(gradient[i], 2.0 * 0.3 * (theta[i] - center), 1e-14);
                assert_eq!(penalty.center(i), center);
            }
            assert_close(value, expected, 1e-12);
        }
    }

    #[test]
    fn at_its_center_a_parameter_has_exactly_no_gradient() {
        let theta = Lcg(2).vector(N);
        let penalty = Penalty::from(0.1).with_centers(theta.clone());
        let (value, gradient) = evaluate(&penalty, &theta);
        assert_eq!(value, 0.0);
        assert!(gradient.iter().all(|&g| g == 0.0));
    }

    #[test]
    fn centers_of_0_are_the_uniform_penalty() {
        let theta = Lcg(3).vector(N);
        let (value, gradient) = evaluate(&Penalty::from(0.25), &theta);
        let general = Penalty::from(0.25).with_centers(vec![0.0; N]);
        let (other, other_gradient) = evaluate(&general, &theta);
        assert_close(other, value, 1e-14);
        assert_eq!(other_gradient, gradient);
    }
}
