//! Losses with kinks, without noise, by dual coordinate descent.
//!
//! Without noise the least squares of a support vector machine have weights 1/|ζ|, which are
//! infinite on the margin, where many documents lie at the minimum. The dual problem has no such
//! difficulty. With one variable β per document, w = 1/(2c)·Σ β·x, bias included, it is to maximize
//!
//! ```text
//! D(β) = Σ ( y·ℓ·β )      − c·‖w‖²       0 ≤ y·β ≤ v     (hinge)
//! D(β) = Σ ( y·β − ε·|β| ) − c·‖w‖²      |β| ≤ v         (ε-insensitive)
//! ```
//!
//! D(β) ≤ J(w′), for every β and w′, with equality at the optimum. So J(w) − D(β) bounds the
//! distance from the minimum, and says when to stop. For one β alone the maximum has a closed form.
//! An epoch takes them one after another, in an order of its own; w follows every change.
//!
//! D rises with every change, but J(w) may rise too: the result is the best w at the end of an
//! epoch.
//!
//! # A bias without penalty
//!
//! It makes Σ β = 0 a condition, and with it D has the w of features alone. The method of
//! multipliers adds −κ/2·(Σ β)² to D, and the multiplier of the condition is the score b of the
//! bias: within an epoch b follows every change of a β by κ times as much, as if it had the feature
//! √(2c·κ), and after it b rises by κ·Σ β, which is 0 at the optimum. κ is the mean of ‖x‖²/(2c),
//! so that the condition weighs as much as the rest. J is that of the best b for w, and D that of
//! the β of the sign whose sum is larger made smaller by a factor until Σ β = 0.
//!
//! An epoch costs two passes over X and one for J, and another for D of a bias without penalty. It
//! is sequential.
//!
//! Source: Hsieh, Chang, Lin, Keerthi and Sundararajan, "A dual coordinate descent method for
//! large-scale linear SVM", ICML 2008; Ho and Lin, "Large-scale linear support vector regression",
//! JMLR 2012. Without shrinking.

use super::loss::Loss;
use super::problem::{Documents, dot};
use dropchain::random::uniform;

/// What determines the orders of epochs.
const SEED: u64 = 1;

/// How many epochs may gain nothing, before they are at the end of what rounding permits.
const MAX_STALLED: usize = 20;

/// The same where the bias is free: neither J nor D need improve with an epoch.
const MAX_STALLED_FREE: usize = 300;

/// The state between epochs.
#[derive(Debug)]
pub(super) struct Dual<'a> {
    documents: Documents<'a>,
    loss: Loss,
    l2: f64,
    betas: Vec<f64>,      // [N]
    curvatures: Vec<f64>, // [N] ‖x‖²/(2c)
    /// The weight of the bias follows a β by so much/(2c): its value, or what makes κ.
    pull: f64,
    order: Vec<u32>, // [N]
    /// Whether it starts at the minimum of a smoothed loss.
    pub is_continued: bool,
    /// Epochs so far.
    pub epochs: u64,
    /// w, `[D + 1]`.
    pub w: Vec<f64>,
    /// The best value of D between epochs.
    pub highest: f64,
    /// Epochs since J or D has improved.
    pub stalled: usize,
}

impl<'a> Dual<'a> {
    /// Returns the state with β = 0; `None` if values are too large.
    pub fn new(documents: Documents<'a>, loss: Loss, l2: f64) -> Option<Self> {
        let count = documents.rows.len();
        let square = |n: usize| {
            let entries = documents.rows.entries(n);
            let squares = entries.map(|(j, x)| (documents.scales[j as usize] * x).powi(2));
            squares.sum::<f64>()
        };
        let mut curvatures: Vec<f64> = (0..count).map(square).collect();
        let bias = documents.bias;
        let pull = match documents.has_free_bias() {
            true => curvatures.iter().sum::<f64>() / count as f64 / bias,
            false => bias,
        };
        for curvature in &mut curvatures {
            *curvature = (*curvature + bias * pull) / (2.0 * l2);
        }
        let is_finite = curvatures.iter().all(|q| q.is_finite());
        if !is_finite {
            return None;
        }
        let mut dual = Self {
            documents,
            loss,
            l2,
            betas: vec![0.0; count],
            curvatures,
            pull,
            order: (0..count as u32).collect(),
            is_continued: false,
            epochs: 0,
            w: vec![0.0; documents.scales.len() + 1],
            highest: 0.0,
            stalled: 0,
        };
        dual.highest = dual.value();
        Some(dual)
    }

    /// Sets the β, `[N]`, and w to that of them; a free bias is that of `w`.
    pub fn start_at(&mut self, betas: Vec<f64>, w: &[f64]) {
        let Documents { rows, scales, bias, .. } = self.documents;
        self.w.fill(0.0);
        let last = w.len() - 1;
        for (n, beta) in betas.iter().enumerate() {
            let factor = beta / (2.0 * self.l2);
            for (j, x) in rows.entries(n) {
                self.w[j as usize] += factor * (scales[j as usize] * x);
            }
            self.w[last] += factor * bias;
        }
        if self.documents.has_free_bias() {
            self.w[last] = w[last];
        }
        self.betas = betas;
        self.is_continued = true;
        self.highest = self.value();
    }

    /// Maximizes over each β once. Returns the largest change of a β times its curvature: 0 at the
    /// maximum.
    pub fn epoch(&mut self) -> f64 {
        let draws = self.epochs * self.order.len() as u64;
        for i in (1..self.order.len()).rev() {
            let other = (uniform(SEED, draws + i as u64) * (i + 1) as f64) as usize;
            self.order.swap(i, other.min(i));
        }
        self.epochs += 1;
        let Documents { rows, scales, bias, .. } = self.documents;
        let last = self.w.len() - 1;
        let mut largest = 0.0_f64;
        for &n in &self.order {
            let n = n as usize;
            let mut f = bias * self.w[last];
            for (j, x) in rows.entries(n) {
                f += scales[j as usize] * x * self.w[j as usize];
            }
            let (old, curvature) = (self.betas[n], self.curvatures[n]);
            let new = self.best(n, f);
            let change = new - old;
            if change == 0.0 {
                continue;
            }
            largest = largest.max(change.abs() * curvature);
            self.betas[n] = new;
            let factor = change / (2.0 * self.l2);
            for (j, x) in rows.entries(n) {
                self.w[j as usize] += factor * (scales[j as usize] * x);
            }
            self.w[last] += factor * self.pull;
        }
        if self.documents.has_free_bias() {
            let sum: f64 = self.betas.iter().sum();
            self.w[last] += sum * self.pull / (2.0 * self.l2);
            largest = largest.max((bias * sum * self.pull / (2.0 * self.l2)).abs());
        }
        largest
    }

    /// Returns the β of document `n` with the score `f` that maximizes D if the others stay.
    fn best(&self, n: usize, f: f64) -> f64 {
        let (y, weight) = (self.documents.targets[n], self.documents.weights[n]);
        let (old, curvature) = (self.betas[n], self.curvatures[n]);
        // Where D has no curvature, without features, the sign of its slope decides.
        let newton = |slope: f64| match curvature > 0.0 {
            true => slope / curvature,
            false if slope == 0.0 => 0.0,
            false => slope.signum() * f64::INFINITY,
        };
        match self.loss {
            Loss::Insensitive { epsilon } => {
                let [lower, upper] = [old + newton(y - f + epsilon), old + newton(y - f - epsilon)];
                // The maximum on the side of β > 0 or β < 0 where it lies there, else 0.
                let free = if upper > 0.0 {
                    upper
                } else if lower < 0.0 {
                    lower
                } else {
                    0.0
                };
                free.clamp(-weight, weight)
            }
            loss => {
                let margin = match loss {
                    Loss::Hinge { margin } => margin,
                    _ => 0.0,
                };
                y * (y * old + newton(margin - y * f)).clamp(0.0, weight)
            }
        }
    }

    /// Returns how many epochs may gain nothing.
    pub fn patience(&self) -> usize {
        match self.documents.has_free_bias() {
            true => MAX_STALLED_FREE,
            false => MAX_STALLED,
        }
    }

    /// Returns D.
    pub fn value(&self) -> f64 {
        let [positive, negative] = self.factors();
        let factor = |beta: f64| if beta > 0.0 { positive } else { negative };
        let documents = self.betas.iter().zip(self.documents.targets);
        let terms = documents.map(|(&beta, &y)| {
            let beta = factor(beta) * beta;
            match self.loss {
                Loss::Hinge { margin } => y * margin * beta,
                Loss::Insensitive { epsilon } => y * beta - epsilon * beta.abs(),
                _ => 0.0,
            }
        });
        let terms = terms.sum::<f64>();
        if !self.documents.has_free_bias() {
            return terms - self.l2 * dot(&self.w, &self.w);
        }
        let Documents { rows, scales, .. } = self.documents;
        let mut w = vec![0.0; scales.len()];
        for (n, &beta) in self.betas.iter().enumerate().filter(|(_, beta)| **beta != 0.0) {
            let beta = factor(beta) * beta / (2.0 * self.l2);
            for (j, x) in rows.entries(n) {
                w[j as usize] += beta * (scales[j as usize] * x);
            }
        }
        terms - self.l2 * dot(&w, &w)
    }

    /// Returns what positive and negative β are to be multiplied by for Σ β = 0, if the bias is
    /// free.
    fn factors(&self) -> [f64; 2] {
        if !self.documents.has_free_bias() {
            return [1.0; 2];
        }
        let sum = |sign: f64| self.betas.iter().map(|b| (sign * b).max(0.0)).sum::<f64>();
        let [positive, negative] = [sum(1.0), sum(-1.0)];
        [negative / positive, positive / negative].map(|factor| match factor < 1.0 {
            true => factor,
            false => 1.0,
        })
    }
}
