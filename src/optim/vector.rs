//! Long vectors: sums and updates that give the same bits on any number of threads.
//!
//! A vector is cut into chunks of a fixed length. A chunk is worked on by one thread, its sums go
//! to a place of their own, and those are added in the order of the chunks. Whatever a
//! step of the optimizer does to a chunk it does in one visit, so a vector passes through the
//! caches once. Vectors of a single chunk never meet the thread pool.

/// Entries per chunk: 128 KiB, so that a chunk of each of the vectors of a pass fits the
/// second-level cache, and long enough to make the cost of handing it to a thread negligible.
pub(super) const CHUNK: usize = 16_384;

/// Independent partial sums within a chunk, so that additions need not wait for each other.
const LANES: usize = 8;

/// The most sums that a pass computes.
const SUMS: usize = 3;

/// Sums of one pass, or of a chunk of it.
pub(super) type Sums = [f64; SUMS];

/// Passes over vectors of n entries; owns the place for the sums of the chunks.
#[derive(Debug)]
pub(super) struct Passes {
    pub(super) partial: Vec<Sums>, // [chunks]
}

/// A number that sums take as an `f64`.
pub(super) trait Number: Copy + Into<f64> + Sync {}

impl Number for f32 {}
impl Number for f64 {}

/// Evaluates an expression of type [`Sums`] on each chunk of the vectors named, and adds up.
///
/// The names mean the whole vectors outside of the expression and their chunks within it.
macro_rules! by_chunks {
    ($passes:expr, [$first:ident $(, $read:ident)*], [$($write:ident),*], $body:expr) => {{
        if $first.len() <= $crate::optim::vector::CHUNK {
            $body
        } else {
            use rayon::prelude::*;
            let chunk = $crate::optim::vector::CHUNK;
            (
                $passes.partial.par_iter_mut(),
                $first.par_chunks(chunk),
                $($read.par_chunks(chunk),)*
                $($write.par_chunks_mut(chunk),)*
            )
                .into_par_iter()
                .for_each(|(sums, $first, $($read,)* $($write,)*)| *sums = $body);
            $passes.total()
        }
    }};
}
pub(super) use by_chunks;

impl Passes {
    pub(super) fn new(dimension: usize) -> Self {
        Self {
            partial: vec![Sums::default(); dimension.div_ceil(CHUNK)],
        }
    }

    /// The sums of the chunks, added in their order.
    pub(super) fn total(&self) -> Sums {
        self.partial
            .iter()
            .fold(Sums::default(), |mut total, sums| {
                for (t, s) in total.iter_mut().zip(sums) {
                    *t += s;
                }
                total
            })
    }

    /// a·b
    pub(super) fn dot(&mut self, a: &[f64], b: &[f64]) -> f64 {
        by_chunks!(self, [a, b], [], [dot(a, b), 0.0, 0.0])[0]
    }

    /// x·x, g·g, and the number of entries of x that are not 0.
    pub(super) fn norms(&mut self, x: &[f64], g: &[f64]) -> Sums {
        by_chunks!(self, [x, g], [], {
            let nonzero = x.iter().filter(|x| **x != 0.0).count();
            [dot(x, x), dot(g, g), nonzero as f64]
        })
    }

    /// out = −a; returns out·b.
    pub(super) fn negate<B: Number>(&mut self, a: &[f64], b: &[B], out: &mut [f64]) -> f64 {
        by_chunks!(self, [a, b], [out], {
            for (o, a) in out.iter_mut().zip(a) {
                *o = -a;
            }
            [dot(out, b), 0.0, 0.0]
        })[0]
    }

    /// out = a + factor·d
    pub(super) fn step(&mut self, a: &[f64], factor: f64, d: &[f64], out: &mut [f64]) {
        by_chunks!(self, [a, d], [out], {
            for ((o, a), d) in out.iter_mut().zip(a).zip(d) {
                *o = a + factor * d;
            }
            Sums::default()
        });
    }

    /// out = scale·out + factor·v; returns out·w.
    pub(super) fn update<W: Number>(
        &mut self,
        out: &mut [f64],
        (scale, factor): (f64, f64),
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
    pub(super) fn scale<W: Number>(
        &mut self,
        out: &mut [f64],
        factor: f64,
        p: &[f32],
        w: &[W],
    ) -> f64 {
        by_chunks!(self, [p, w], [out], {
            for (o, &p) in out.iter_mut().zip(p) {
                *o *= factor * f64::from(p);
            }
            [dot(out, w), 0.0, 0.0]
        })[0]
    }

    /// vᵀ·P·v with P = diag(p)
    pub(super) fn weighted_square(&mut self, v: &[f32], p: &[f32]) -> f64 {
        by_chunks!(self, [v, p], [], {
            let terms = v.iter().zip(p).map(|(&v, &p)| {
                let v = f64::from(v);
                f64::from(p) * v * v
            });
            [terms.sum(), 0.0, 0.0]
        })[0]
    }

    /// s = x₁ − x₀ and y = g₁ − g₀ of two points (x, g), rounded; returns s·s, y·y and s·y of what they
    /// were rounded to.
    pub(super) fn pair(
        &mut self,
        (x0, g0): (&[f64], &[f64]),
        (x1, g1): (&[f64], &[f64]),
        s: &mut [f32],
        y: &mut [f32],
    ) -> Sums {
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

/// a·b of one chunk.
pub(super) fn dot<A: Number, B: Number>(a: &[A], b: &[B]) -> f64 {
    let product = |(&a, &b): (&A, &B)| a.into() * b.into();
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for (lane, pair) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane += product(pair);
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(product).sum();
    lanes.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(n: usize, factor: f64) -> Vec<f64> {
        (0..n).map(|i| factor * (i % 1000) as f64).collect()
    }

    #[test]
    fn a_dot_product_over_many_chunks_is_exact_on_integers() {
        for n in [0, 1, 7, 8, 9, CHUNK, CHUNK + 1, 3 * CHUNK + 5] {
            let a = ramp(n, 1.0);
            let expected: u64 = (0..n as u64).map(|i| (i % 1000) * (i % 1000)).sum();
            assert_eq!(Passes::new(n).dot(&a, &a), expected as f64, "n = {n}");
        }
    }

    #[test]
    fn sums_have_the_same_bits_on_one_two_and_eight_threads() {
        let n = 5 * CHUNK + 17;
        let a = ramp(n, 0.1);
        let b = ramp(n, 0.3);
        let sum = |threads| {
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap()
                .install(|| Passes::new(n).dot(&a, &b).to_bits())
        };
        assert_eq!(sum(1), sum(2));
        assert_eq!(sum(1), sum(8));
    }

    #[test]
    fn every_pass_gives_on_many_chunks_what_its_formula_says() {
        let n = 2 * CHUNK + 3;
        let a = ramp(n, 1.0);
        let b = ramp(n, 2.0);
        let squares = Passes::new(n).dot(&a, &a);
        let mut passes = Passes::new(n);
        let mut out = vec![0.0; n];

        assert_eq!(passes.negate(&a, &b, &mut out), -2.0 * squares);
        assert_eq!(out[n - 1], -a[n - 1]);

        passes.step(&a, 3.0, &b, &mut out);
        assert_eq!(out[n - 1], 7.0 * a[n - 1]);

        // 2·7a − 5·2a = 4a
        let rounded: Vec<f32> = b.iter().map(|&b| b as f32).collect();
        let sum = passes.update(&mut out, (2.0, -5.0), &rounded, &a);
        assert_eq!(sum, 4.0 * squares);
        assert_eq!(out[n - 1], 4.0 * a[n - 1]);

        let (mut s, mut y) = (vec![0.0; n], vec![0.0; n]);
        assert_eq!(
            passes.pair((&b, &a), (&a, &b), &mut s, &mut y),
            [squares, squares, -squares]
        );
        assert_eq!(
            (s[n - 1], y[n - 1]),
            (-rounded[n - 1] / 2.0, rounded[n - 1] / 2.0)
        );

        let halves = vec![0.5_f32; n];
        out.copy_from_slice(&a);
        assert_eq!(passes.scale(&mut out, 4.0, &halves, &a), 2.0 * squares);
        assert_eq!(out[n - 1], 2.0 * a[n - 1]);
        assert_eq!(passes.weighted_square(&rounded, &halves), 2.0 * squares);

        let zeros = a.iter().filter(|a| **a == 0.0).count();
        assert_eq!(
            passes.norms(&a, &b),
            [squares, 4.0 * squares, (n - zeros) as f64]
        );
    }
}
