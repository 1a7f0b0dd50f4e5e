//! Parallel vector operations with the same bits on any number of threads.
//!
//! A vector is split into chunks of a fixed length. One thread processes a chunk and stores its
//! sums, and those are added in chunk order. Each operation of the optimizer is fused into one
//! pass, so that a vector goes through the caches once. Vectors of a single chunk bypass the thread
//! pool.

use serde::{Deserialize, Serialize};

use crate::simd::{self, Kernel};

/// Entries per chunk: 128 KiB, so that the chunks of all vectors of a pass fit in the L2 cache, and
/// long enough to make the scheduling overhead negligible.
pub const CHUNK: usize = 16_384;

/// Independent partial sums within a chunk, which hide the latency of multiply-adds.
const LANES: usize = 32;

/// The sums that a pass over vectors computes, or those of one chunk; unused ones are 0.
pub type ChunkSums = [f64; 3];

/// A point with the results of its evaluation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point<D> {
    /// The point, `[n]`.
    pub x: Vec<f64>,
    /// The gradient of the smooth part, `[n]`.
    pub gradient: Vec<f64>,
    /// F, with the penalty.
    pub value: f64,
    /// What the objective says of its value.
    pub detail: D,
}

/// Operations on vectors of n entries; owns the partial sums of the chunks.
#[derive(Debug)]
pub struct VectorOps {
    pub(super) partial: Vec<ChunkSums>, // [chunks]
}

/// An element that is converted to `f64` in sums.
pub trait Scalar: Copy + Into<f64> + Sync {}

impl Scalar for f32 {}
impl Scalar for f64 {}

/// Evaluates an expression of type [`ChunkSums`] on each chunk of the named vectors, and adds up
/// the results.
///
/// Within the expression the names refer to the chunks instead of the vectors.
macro_rules! by_chunks {
    ($ops:expr, [$first:ident $(, $read:ident)*], [$($write:ident),*], $body:expr) => {{
        if $first.len() <= $crate::optim::vector::CHUNK {
            $body
        } else {
            use rayon::prelude::*;
            let chunk = $crate::optim::vector::CHUNK;
            (
                $ops.partial.par_iter_mut(),
                $first.par_chunks(chunk),
                $($read.par_chunks(chunk),)*
                $($write.par_chunks_mut(chunk),)*
            )
                .into_par_iter()
                .for_each(|(sums, $first, $($read,)* $($write,)*)| *sums = $body);
            $ops.total()
        }
    }};
}
pub(super) use by_chunks;

impl VectorOps {
    /// Operations on vectors of this length.
    pub fn new(dimension: usize) -> Self {
        Self { partial: vec![ChunkSums::default(); dimension.div_ceil(CHUNK)] }
    }

    /// Adds the sums of the chunks in order.
    pub(super) fn total(&self) -> ChunkSums {
        self.partial.iter().fold(ChunkSums::default(), |mut total, sums| {
            for (t, s) in total.iter_mut().zip(sums) {
                *t += s;
            }
            total
        })
    }

    /// Returns a·b.
    pub fn dot(&mut self, a: &[f64], b: &[f64]) -> f64 {
        by_chunks!(self, [a, b], [], [dot(a, b), 0.0, 0.0])[0]
    }

    /// Returns x·x, g·g, and the number of nonzero entries of x.
    pub fn norms(&mut self, x: &[f64], g: &[f64]) -> ChunkSums {
        by_chunks!(self, [x, g], [], {
            let nonzero = x.iter().filter(|x| **x != 0.0).count();
            [dot(x, x), dot(g, g), nonzero as f64]
        })
    }

    /// out = −a; returns out·b.
    pub fn negate<B: Scalar>(&mut self, a: &[f64], b: &[B], out: &mut [f64]) -> f64 {
        by_chunks!(self, [a, b], [out], {
            for (o, a) in out.iter_mut().zip(a) {
                *o = -a;
            }
            [dot(out, b), 0.0, 0.0]
        })[0]
    }

    /// out = a + factor·d
    pub fn step(&mut self, a: &[f64], factor: f64, d: &[f64], out: &mut [f64]) {
        by_chunks!(self, [a, d], [out], {
            for ((o, a), d) in out.iter_mut().zip(a).zip(d) {
                *o = a + factor * d;
            }
            ChunkSums::default()
        });
    }

    /// out = scale·out + factor·v; returns out·w.
    pub fn update<W: Scalar>(
        &mut self,
        out: &mut [f64],
        scale: f64,
        factor: f64,
        v: &[f32],
        w: &[W],
    ) -> f64 {
        by_chunks!(self, [v, w], [out], {
            for (o, &v) in out.iter_mut().zip(v) {
                *o = scale * *o + factor * f64::from(v);
            }
            [dot(out, w), 0.0, 0.0]
        })[0]
    }

    /// out = factor·P·out with P = diag(p); returns out·w.
    pub fn scale<W: Scalar>(&mut self, out: &mut [f64], factor: f64, p: &[f32], w: &[W]) -> f64 {
        by_chunks!(self, [p, w], [out], {
            for (o, &p) in out.iter_mut().zip(p) {
                *o *= factor * f64::from(p);
            }
            [dot(out, w), 0.0, 0.0]
        })[0]
    }

    /// Returns vᵀ·P·v with P = diag(p).
    pub fn weighted_square(&mut self, v: &[f32], p: &[f32]) -> f64 {
        by_chunks!(self, [v, p], [], {
            let terms = v.iter().zip(p).map(|(&v, &p)| {
                let v = f64::from(v);
                f64::from(p) * v * v
            });
            [terms.sum(), 0.0, 0.0]
        })[0]
    }

    /// s = x₁ − x₀ and y = g₁ − g₀ of two points, rounded; returns s·s, y·y and s·y of the rounded
    /// vectors.
    pub fn difference<D>(
        &mut self,
        from: &Point<D>,
        to: &Point<D>,
        s: &mut [f32],
        y: &mut [f32],
    ) -> ChunkSums {
        let [x0, g0, x1, g1] = [&from.x, &from.gradient, &to.x, &to.gradient].map(Vec::as_slice);
        by_chunks!(self, [x0, g0, x1, g1], [s, y], {
            for ((s, x1), x0) in s.iter_mut().zip(x1).zip(x0) {
                *s = (x1 - x0) as f32;
            }
            for ((y, g1), g0) in y.iter_mut().zip(g1).zip(g0) {
                *y = (g1 - g0) as f32;
            }
            [dot(s, s), dot(y, y), dot(s, y)]
        })
    }
}

/// Returns a·b of one chunk.
pub(super) fn dot<A: Scalar, B: Scalar>(a: &[A], b: &[B]) -> f64 {
    simd::dispatch(Dot(a, b))
}

struct Dot<'a, A, B>(&'a [A], &'a [B]);

impl<A: Scalar, B: Scalar> Kernel for Dot<'_, A, B> {
    type Output = f64;

    #[inline(always)]
    fn run<const SUMS: usize>(self) -> f64 {
        let (a, a_rest) = self.0.as_chunks::<LANES>();
        let (b, b_rest) = self.1.as_chunks::<LANES>();
        let mut lanes = [0.0; LANES];
        for (a, b) in a.iter().zip(b) {
            for (lane, (&a, &b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
                *lane = a.into().mul_add(b.into(), *lane);
            }
        }
        let rest: f64 = a_rest.iter().zip(b_rest).map(|(&a, &b)| a.into() * b.into()).sum();
        lanes.iter().sum::<f64>() + rest
    }
}
