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

use crate::math::dot;
use crate::optim::vector::{by_chunks, dot_chunk};

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
        let Some(centers) = self.centers.as_deref() else {
            let [squares] = by_chunks!([theta], [gradient], {
                gradient.iter_mut().zip(theta).for_each(|(g, w)| *g += 2.0 * c2 * w);
                [dot_chunk(theta, theta)]
            });
            return c2 * squares;
        };
        by_chunks!([theta, centers], [gradient], {
            let mut sum = 0.0;
            for ((g, &w), center) in gradient.iter_mut().zip(theta).zip(centers) {
                let distance = w - center;
                *g += 2.0 * c2 * distance;
                sum += c2 * distance * distance;
            }
            [sum]
        })[0]
    }
}
