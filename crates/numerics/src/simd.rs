//! Runtime SIMD dispatch.
//!
//! A portable x86-64 binary is compiled for SSE2, which has vectors of two `f64` and no fused
//! multiply-add, while processors since 2013 have AVX2 and FMA, with four, and many have AVX-512,
//! with eight. [`dispatch`] compiles a [`Kernel`] for all of them and chooses at run time,
//! depending on the processor. On other architectures it is an ordinary call.
//!
//! The result has the same bits in any case: kernels are plain Rust that the compiler
//! auto-vectorizes. It does not reorder floating-point sums, but only processes more independent
//! elements at once; and where a kernel says [`f64::mul_add`], the result is rounded once. A
//! processor without such an instruction calls a function instead, which takes many times as long
//! ([`has_fused_multiply_add`]).

use std::sync::atomic::{AtomicU8, Ordering};

/// A computation that is compiled for several instruction sets.
///
/// A struct with a method takes the place of a closure because closures do not inherit the target
/// features of the function that calls them.
pub trait Kernel {
    /// The result of the computation.
    type Output;

    /// Runs the computation. Mark the implementation, and every function that it calls in a loop,
    /// `#[inline(always)]`: code that is not inlined is compiled for the baseline only.
    ///
    /// `SUMS` is how many sums fit in the vector registers, 128 or 48, or 0 where a multiply-add
    /// is a function and nothing is gained by shapes: kernels choose by it how many sums they have
    /// at once, as long as the bits do not depend on it.
    fn run<const SUMS: usize>(self) -> Self::Output;
}

/// Runs `kernel`, compiled for the widest vectors that the processor supports.
#[inline]
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    match InstructionSet::selected() {
        InstructionSet::Avx512 => {
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
            fn with_avx512<K: Kernel>(kernel: K) -> K::Output {
                kernel.run::<128>()
            }
            // SAFETY: the processor supports AVX-512 and FMA.
            #[allow(unsafe_code)]
            return unsafe { with_avx512(kernel) };
        }
        InstructionSet::Avx2 => {
            #[target_feature(enable = "avx2,fma")]
            fn with_avx2<K: Kernel>(kernel: K) -> K::Output {
                kernel.run::<48>()
            }
            // SAFETY: the processor supports AVX2 and FMA.
            #[allow(unsafe_code)]
            return unsafe { with_avx2(kernel) };
        }
        InstructionSet::Baseline => {}
    }
    with_baseline(kernel)
}

/// Runs `kernel`, compiled for the baseline. Not inlined: on x86-64 this is where multiply-adds are
/// calls, and `.ci/fused` checks that no other function has any.
#[inline(never)]
fn with_baseline<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<{ if BASELINE_HAS_MULTIPLY_ADD { 48 } else { 0 } }>()
}

/// Fetches `B` blocks of `L` numbers from `start` on into the cache, those that there are, like
/// [`prefetch`].
#[inline(always)]
pub fn prefetch_row<const L: usize, const B: usize>(numbers: &[f64], start: usize) {
    for line in 0..=(B * L - 1).div_ceil(8) {
        prefetch(numbers, start + (8 * line).min(B * L - 1));
    }
}

/// Fetches what is at `index`, if anything, and its neighbors into the cache. Call it some time
/// before they are needed; on other architectures than x86-64 it does nothing.
#[inline(always)]
pub fn prefetch<T>(values: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint to the processor, without effect on the program, whatever the address.
        #[allow(unsafe_code)]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().wrapping_add(index).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, index);
}

/// Whether every processor of the target has instructions for fused multiply-adds.
const BASELINE_HAS_MULTIPLY_ADD: bool =
    !cfg!(any(target_arch = "x86", target_arch = "x86_64", target_family = "wasm"));

/// Returns whether fused multiply-adds, which all training kernels consist of, are instructions.
pub fn has_fused_multiply_add() -> bool {
    BASELINE_HAS_MULTIPLY_ADD || InstructionSet::selected() != InstructionSet::Baseline
}

/// The instruction sets that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InstructionSet {
    /// The instructions that every processor of the target has.
    Baseline,
    /// AVX2 and FMA: vectors of four `f64`.
    Avx2,
    /// AVX-512 (F, BW, DQ, VL): vectors of eight `f64`.
    Avx512,
}

/// The instruction set that [`dispatch`] chooses, plus 1; 0: not known yet.
static SELECTED: AtomicU8 = AtomicU8::new(0);

impl InstructionSet {
    /// All, the widest vectors first.
    pub const ALL: [Self; 3] = [Self::Avx512, Self::Avx2, Self::Baseline];

    /// Returns the widest of this processor.
    pub fn of_processor() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            let wide = has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl");
            return match has!("avx2") && has!("fma") {
                true if wide => Self::Avx512,
                true => Self::Avx2,
                false => Self::Baseline,
            };
        }
        #[allow(unreachable_code)] // there
        Self::Baseline
    }

    /// Makes [`dispatch`] choose this one, or the widest of this processor if it does not have this
    /// one, for all threads: for tests and measurements. Results do not depend on it.
    pub fn select(self) {
        SELECTED.store(self.min(Self::of_processor()) as u8 + 1, Ordering::Relaxed);
    }

    /// Returns the one that [`dispatch`] chooses.
    #[inline]
    pub fn selected() -> Self {
        let number = SELECTED.load(Ordering::Relaxed);
        Self::ALL.into_iter().find(|set| *set as u8 + 1 == number).unwrap_or_else(|| {
            Self::of_processor().select();
            Self::of_processor()
        })
    }
}
