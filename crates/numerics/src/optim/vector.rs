//! Parallel vector operations with the same bits on any number of threads.
//!
//! A vector is split into chunks of a fixed length. One thread processes a chunk and returns its
//! sums, and those are added in chunk order. Each operation of the optimizer is fused into one
//! pass, so that a vector goes through the caches once. Vectors of a single chunk bypass the thread
//! pool.

use serde::{Deserialize, Serialize};

use crate::math::add;
use crate::parallel::in_pool;
use crate::simd::{self, Kernel};

/// Entries per chunk: 128 KiB, so that the chunks of all vectors of a pass fit in the L2 cache, and
/// long enough to make the scheduling overhead negligible.
pub const CHUNK: usize = 16_384;

/// Independent partial sums within a chunk, which hide the latency of multiply-adds.
const LANES: usize = 32;

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

/// An element that is converted to `f64` in sums.
pub trait Scalar: Copy + Into<f64> + Sync {}

impl Scalar for f32 {}
impl Scalar for f64 {}

/// Evaluates an expression of type `[f64; N]` on each chunk of the named vectors, and adds up the
/// results.
///
/// Within the expression the names refer to the chunks instead of the vectors.
macro_rules! by_chunks {
    ([$first:ident $(, $read:ident)*], [$($write:ident),*], $body:expr) => {{
        if $first.len() <= $crate::optim::vector::CHUNK {
            $body
        } else {
            let chunk = $crate::optim::vector::CHUNK;
            $(let mut $read = $read.chunks(chunk);)*
            $(let mut $write = $write.chunks_mut(chunk);)*
            let work = $first.chunks(chunk).map(|first| {
                $(let $read = $read.next().unwrap_or_default();)*
                $(let $write = $write.next().unwrap_or_default();)*
                (first, $($read,)* $($write,)*)
            });
            let sums = $crate::parallel::map(work, |($first, $($read,)* $($write,)*)| $body);
            $crate::optim::vector::total(&sums)
        }
    }};
}
pub(crate) use by_chunks;

/// Returns f(), several passes over vectors of n entries: in the pool, unless they bypass it.
pub(crate) fn passes<R: Send>(n: usize, f: impl FnOnce() -> R + Send) -> R {
    if n <= CHUNK { f() } else { in_pool(f) }
}

/// Adds the sums of the chunks in order.
pub(crate) fn total<const N: usize>(chunks: &[[f64; N]]) -> [f64; N] {
    let mut total = [0.0; N];
    chunks.iter().for_each(|sums| add(&mut total, sums));
    total
}

/// Returns a·b.
pub fn dot<A: Scalar, B: Scalar>(a: &[A], b: &[B]) -> f64 {
    by_chunks!([a, b], [], [dot_chunk(a, b)])[0]
}

/// Returns x·x, g·g, and the number of nonzero entries of x.
pub fn norms(x: &[f64], g: &[f64]) -> [f64; 3] {
    by_chunks!([x, g], [], norms_of_chunk(x, g))
}

/// out = a + factor·d
pub fn step(a: &[f64], factor: f64, d: &[f64], out: &mut [f64]) {
    by_chunks!([a, d], [out], {
        for ((o, a), d) in out.iter_mut().zip(a).zip(d) {
            *o = a + factor * d;
        }
        []
    });
}

/// out = −a; returns out·b.
pub fn negate<B: Scalar>(a: &[f64], b: &[B], out: &mut [f64]) -> f64 {
    by_chunks!([a, b], [out], [map_chunk(out, a, b, |_, a| -a)])[0]
}

/// out += factor·v; returns out·w.
pub fn update<W: Scalar>(out: &mut [f64], factor: f64, v: &[f32], w: &[W]) -> f64 {
    by_chunks!([v, w], [out], [map_chunk(out, v, w, |o, v| o + factor * v)])[0]
}

/// out = factor·P·out with P = diag(p); returns out·w.
pub fn scale<W: Scalar>(out: &mut [f64], factor: f64, p: &[f32], w: &[W]) -> f64 {
    by_chunks!([p, w], [out], [map_chunk(out, p, w, |o, p| o * (factor * p))])[0]
}

/// Returns vᵀ·P·v with P = diag(p).
pub fn weighted_square(v: &[f32], p: &[f32]) -> f64 {
    let add = |sum: f64, v: f64, p: f64| (p * v).mul_add(v, sum);
    by_chunks!([v, p], [], [simd::dispatch(Sum { a: v, b: p, add })])[0]
}

/// s = x₁ − x₀ and y = g₁ − g₀ of two points, rounded; returns s·s, y·y and s·y of the rounded
/// vectors, and the [`norms`] of the second point.
pub fn difference<D>(from: &Point<D>, to: &Point<D>, s: &mut [f32], y: &mut [f32]) -> [f64; 6] {
    let [x0, g0, x1, g1] = [&from.x, &from.gradient, &to.x, &to.gradient].map(Vec::as_slice);
    by_chunks!([x0, g0, x1, g1], [s, y], {
        for ((s, x1), x0) in s.iter_mut().zip(x1).zip(x0) {
            *s = (x1 - x0) as f32;
        }
        for ((y, g1), g0) in y.iter_mut().zip(g1).zip(g0) {
            *y = (g1 - g0) as f32;
        }
        let [xx, gg, nonzero] = norms_of_chunk(x1, g1);
        [dot_chunk(s, s), dot_chunk(y, y), dot_chunk(s, y), xx, gg, nonzero]
    })
}

fn norms_of_chunk(x: &[f64], g: &[f64]) -> [f64; 3] {
    let nonzero = x.iter().filter(|x| **x != 0.0).count();
    [dot_chunk(x, x), dot_chunk(g, g), nonzero as f64]
}

/// Sets out[i] = f(out[i], v[i]) in one chunk; returns out·w.
fn map_chunk<V: Scalar, W: Scalar>(
    out: &mut [f64],
    v: &[V],
    w: &[W],
    f: impl Fn(f64, f64) -> f64,
) -> f64 {
    simd::dispatch(Map { out, v, w, f })
}

struct Map<'a, V, W, F> {
    out: &'a mut [f64],
    v: &'a [V],
    w: &'a [W],
    f: F,
}

impl<V: Scalar, W: Scalar, F: Fn(f64, f64) -> f64> Kernel for Map<'_, V, W, F> {
    type Output = f64;

    #[inline(always)]
    fn run<const SUMS: usize>(self) -> f64 {
        let (out, rest) = self.out.as_chunks_mut::<LANES>();
        let (v, v_rest) = self.v.as_chunks::<LANES>();
        let (w, w_rest) = self.w.as_chunks::<LANES>();
        let mut lanes = [0.0; LANES];
        for ((out, v), w) in out.iter_mut().zip(v).zip(w) {
            // By value: what is read and what is written do not alias.
            let mut block = *out;
            for (o, &v) in block.iter_mut().zip(v) {
                *o = (self.f)(*o, v.into());
            }
            for ((lane, &o), &w) in lanes.iter_mut().zip(&block).zip(w) {
                *lane = o.mul_add(w.into(), *lane);
            }
            *out = block;
        }
        for ((o, &v), &w) in rest.iter_mut().zip(v_rest).zip(w_rest) {
            *o = (self.f)(*o, v.into());
            lanes[0] += *o * w.into();
        }
        lanes.iter().sum()
    }
}

/// Returns a·b of one chunk.
pub(crate) fn dot_chunk<A: Scalar, B: Scalar>(a: &[A], b: &[B]) -> f64 {
    simd::dispatch(Sum { a, b, add: |sum: f64, a: f64, b: f64| a.mul_add(b, sum) })
}

/// A sum over the entries of one chunk of two vectors.
struct Sum<'a, A, B, F> {
    a: &'a [A],
    b: &'a [B],
    add: F, // returns a sum with the term of two entries
}

impl<A: Scalar, B: Scalar, F: Fn(f64, f64, f64) -> f64> Kernel for Sum<'_, A, B, F> {
    type Output = f64;

    #[inline(always)]
    fn run<const SUMS: usize>(self) -> f64 {
        let (a, a_rest) = self.a.as_chunks::<LANES>();
        let (b, b_rest) = self.b.as_chunks::<LANES>();
        let mut lanes = [0.0; LANES];
        for (a, b) in a.iter().zip(b) {
            for (lane, (&a, &b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
                *lane = (self.add)(*lane, a.into(), b.into());
            }
        }
        for (&a, &b) in a_rest.iter().zip(b_rest) {
            lanes[0] = (self.add)(lanes[0], a.into(), b.into());
        }
        lanes.iter().sum()
    }
}
