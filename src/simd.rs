//! Runtime SIMD dispatch.
//!
//! A portable x86-64 binary is compiled for SSE2, which has vectors of two `f64`, while nearly
//! every processor has AVX2, with four, and many have AVX-512, with eight. [`dispatch`] compiles a
//! [`Kernel`] for all of them and chooses at run time, depending on the processor. On other
//! architectures it is an ordinary call.
//!
//! The result has the same bits in any case: kernels are plain Rust that the compiler
//! auto-vectorizes, and it neither reorders floating-point sums nor contracts them to fused
//! multiply-adds. It only processes more independent elements at once.

/// A computation that is compiled for several instruction sets.
///
/// A struct with a method takes the place of a closure because closures do not inherit the target
/// features of the function that calls them.
pub trait Kernel {
    /// The result of the computation.
    type Output;

    /// Runs the computation. Mark the implementation, and every function that it calls in a loop,
    /// `#[inline(always)]`: code that is not inlined is compiled for the baseline only.
    fn run(self) -> Self::Output;
}

/// Runs `kernel`, compiled for the widest vectors that the processor supports.
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    match InstructionSet::of_processor() {
        InstructionSet::Avx512 => {
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
            fn with_avx512<K: Kernel>(kernel: K) -> K::Output {
                kernel.run()
            }
            // SAFETY: the processor supports AVX-512.
            #[allow(unsafe_code)]
            return unsafe { with_avx512(kernel) };
        }
        InstructionSet::Avx2 => {
            #[target_feature(enable = "avx2")]
            fn with_avx2<K: Kernel>(kernel: K) -> K::Output {
                kernel.run()
            }
            // SAFETY: the processor supports AVX2.
            #[allow(unsafe_code)]
            return unsafe { with_avx2(kernel) };
        }
        InstructionSet::Baseline => {}
    }
    kernel.run()
}

/// The instruction sets that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionSet {
    /// The instructions that every processor of the target has.
    Baseline,
    /// AVX2: vectors of four `f64`.
    Avx2,
    /// AVX-512 (F, BW, DQ, VL): vectors of eight `f64`.
    Avx512,
}

impl InstructionSet {
    /// Returns the one that [`dispatch`] chooses on this processor.
    #[inline]
    pub fn of_processor() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
                return Self::Avx512;
            }
            if has!("avx2") {
                return Self::Avx2;
            }
        }
        Self::Baseline
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of products and of quotients, with rounding in every step.
    struct Sums<'a>(&'a [f64]);

    impl Kernel for Sums<'_> {
        type Output = [u64; 8];

        #[inline(always)]
        fn run(self) -> [u64; 8] {
            let mut sums = [0.1; 8];
            for chunk in self.0.as_chunks::<8>().0 {
                for (sum, x) in sums.iter_mut().zip(chunk) {
                    *sum = *sum * x + 1.0 / (1.0 + x * x);
                }
            }
            sums.map(f64::to_bits)
        }
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        let numbers: Vec<f64> = (0..8000).map(|i| f64::from(i).sin()).collect();
        assert_eq!(dispatch(Sums(&numbers)), Sums(&numbers).run());
    }
}
