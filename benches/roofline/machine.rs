//! What plain loops reach on this machine: bandwidth by level of the memory hierarchy, and peaks of
//! arithmetic; on one thread and on two at once.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

use dropchain::kernel::simd::{self, Kernel};

use crate::corpus::Numbers;

/// Repetitions of every measurement, of which the fastest counts.
const REPETITIONS: usize = 40;

/// Bytes that one repetition reads and writes at least.
const LEAST_BYTES: usize = 1 << 24;

/// The largest arrays of a thread, in bytes.
const MOST_BYTES: usize = 1 << 29;

/// Names of the levels, fastest first.
pub const LEVELS: [&str; 4] = ["L1", "L2", "L3", "memory"];

/// A number for each level.
pub type ByLevel = [f64; LEVELS.len()];

/// A number for one thread and one for two.
pub type ByThreads = [f64; 2];

/// The machine.
pub struct Machine {
    pub processor: String,
    /// Bytes that fit into a level; infinite for memory.
    pub capacity: ByLevel,
    /// a = b + s·c, bytes per second of all threads, 24 bytes per element.
    pub triad: [ByThreads; LEVELS.len()],
    /// Σ a, bytes per second of all threads.
    pub sum: [ByThreads; LEVELS.len()],
    /// Fused multiply-adds in `f64`, dispatched like the kernels of the library: operations per
    /// second of all threads, two for each.
    pub peak: ByThreads,
}

impl Machine {
    /// Measures the machine.
    pub fn measure() -> Self {
        let sizes = cache_sizes();
        let mut capacity = [f64::INFINITY; LEVELS.len()];
        for (capacity, size) in capacity.iter_mut().zip(sizes) {
            *capacity = size as f64;
        }
        let [l1, l2, l3] = sizes;
        // Half of a private cache; of the shared one, more than the private ones hold.
        let bytes = [l1 / 2, l2 / 2, (8 * l2).min(l3 / 2), (4 * l3).min(MOST_BYTES)];
        Self {
            processor: processor(),
            capacity,
            triad: bytes.map(|bytes| by_threads(|threads| triad(bytes, threads))),
            sum: bytes.map(|bytes| by_threads(|threads| sum(bytes, threads))),
            peak: by_threads(|threads| arithmetic(threads, |n| simd::dispatch(Chains(n)))),
        }
    }

    /// Returns the level that holds a working set of some bytes.
    pub fn level(&self, bytes: f64) -> usize {
        let fits = self.capacity.iter().position(|&capacity| bytes <= capacity);
        fits.unwrap_or(LEVELS.len() - 1)
    }

    /// Returns the bandwidth of a level: that of the faster of both loops.
    pub fn bandwidth(&self, level: usize, threads: usize) -> f64 {
        self.triad[level][threads - 1].max(self.sum[level][threads - 1])
    }
}

fn by_threads(measure: impl Fn(usize) -> f64) -> ByThreads {
    [1, 2].map(measure)
}

/// Returns the sizes of the caches of data in bytes; common ones where the system does not tell.
fn cache_sizes() -> [usize; 3] {
    let mut sizes = [32 << 10, 1 << 20, 16 << 20];
    for index in 0..8 {
        let read = |name: &str| {
            let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{name}");
            std::fs::read_to_string(path).ok()
        };
        let (Some(level), Some(kind), Some(size)) = (read("level"), read("type"), read("size"))
        else {
            continue;
        };
        let (level, size): (Option<usize>, Option<usize>) =
            (level.trim().parse().ok(), size.trim().trim_end_matches('K').parse().ok());
        if let (Some(level @ 1..=3), Some(size), true) = (level, size, kind != "Instruction\n") {
            sizes[level - 1] = size << 10;
        }
    }
    sizes
}

fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find(|line| line.starts_with("model name"));
    let name = name.and_then(|line| line.split_once(": "));
    name.map_or("unknown", |(_, name)| name).to_owned()
}

/// Runs what `prepare` returns on `threads` threads at once, `REPETITIONS` times; returns the mean
/// over the threads of the seconds of the fastest repetition.
fn fastest<R: FnMut()>(threads: usize, prepare: impl Fn() -> R + Sync) -> f64 {
    let barrier = Barrier::new(threads);
    let run = || {
        let mut repetition = prepare();
        repetition(); // touches the pages
        let mut best = f64::INFINITY;
        for _ in 0..REPETITIONS {
            barrier.wait();
            let clock = Instant::now();
            repetition();
            best = best.min(clock.elapsed().as_secs_f64());
        }
        best
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        let seconds = running.into_iter().map(|thread| thread.join().unwrap());
        seconds.sum::<f64>() / threads as f64
    })
}

fn numbers(length: usize) -> Vec<f64> {
    let mut numbers = Numbers(1);
    (0..length).map(|_| numbers.score()).collect()
}

/// Returns the rate of the triad on three arrays of `bytes` bytes together, on each thread.
fn triad(bytes: usize, threads: usize) -> f64 {
    let length = bytes / (3 * size_of::<f64>());
    let passes = LEAST_BYTES.div_ceil(bytes);
    let seconds = fastest(threads, || {
        let [mut a, b, c] = [(); 3].map(|()| numbers(length));
        move || {
            for _ in 0..passes {
                simd::dispatch(Triad(black_box(&mut a), black_box(&b), black_box(&c)));
            }
        }
    });
    (threads * passes * length * 3 * size_of::<f64>()) as f64 / seconds
}

/// a = b + s·c, with a, b and c.
struct Triad<'a>(&'a mut [f64], &'a [f64], &'a [f64]);

impl Kernel for Triad<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const SUMS: usize>(self) {
        for ((a, b), c) in self.0.iter_mut().zip(self.1).zip(self.2) {
            *a = b + 0.75 * c;
        }
    }
}

/// Returns the rate of reading an array of `bytes` bytes on each thread.
fn sum(bytes: usize, threads: usize) -> f64 {
    let length = bytes / size_of::<f64>();
    let passes = LEAST_BYTES.div_ceil(bytes);
    let seconds = fastest(threads, || {
        let a = numbers(length);
        move || {
            for _ in 0..passes {
                black_box(simd::dispatch(Sum(black_box(&a))));
            }
        }
    });
    (threads * passes * length * size_of::<f64>()) as f64 / seconds
}

/// Σ a, in as many partial sums as hide the latency of additions.
struct Sum<'a>(&'a [f64]);

impl Kernel for Sum<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<const SUMS: usize>(self) -> f64 {
        let mut sums = [0.0; 32];
        for chunk in self.0.as_chunks::<32>().0 {
            for (sum, x) in sums.iter_mut().zip(chunk) {
                *sum += x;
            }
        }
        sums.iter().sum()
    }
}

/// Steps of the chains in one repetition.
const STEPS: usize = 100_000;

/// Independent chains in `f64`: twelve vectors, which hide the latency of a step and fit in the
/// registers of AVX-512 and of AVX2.
const CHAINS: [usize; 2] = [12 * 8, 12 * 4];

/// Returns operations per second, given what runs a number of steps and returns the number of
/// operations of each.
fn arithmetic(threads: usize, run: impl Fn(usize) -> usize + Sync) -> f64 {
    let seconds = fastest(threads, || {
        || {
            black_box(run(black_box(STEPS)));
        }
    });
    (threads * STEPS * run(1)) as f64 / seconds
}

/// Independent chains of fused multiply-adds; returns the number of operations of a step of all.
struct Chains(usize);

impl Kernel for Chains {
    type Output = usize;

    #[inline(always)]
    fn run<const SUMS: usize>(self) -> usize {
        match SUMS == 128 {
            true => chains::<{ CHAINS[0] }>(self.0),
            false => chains::<{ CHAINS[1] }>(self.0),
        }
    }
}

#[inline(always)]
fn chains<const N: usize>(steps: usize) -> usize {
    let [factor, term]: [f64; 2] = black_box([0.5, 1.0]);
    let mut chains = [term; N];
    for _ in 0..steps {
        for x in &mut chains {
            *x = x.mul_add(factor, term);
        }
    }
    black_box(chains);
    2 * N
}
