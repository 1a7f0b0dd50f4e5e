//! Runtime SIMD dispatch.
//!
//! A portable x86-64 binary is compiled for SSE2, which has vectors of two `f64`, while nearly
//! every processor has AVX2, with four. [`dispatch`] compiles a [`Kernel`] for both and chooses at
//! run time, depending on the processor. On other architectures it is an ordinary call.
//!
//! The result has the same bits either way: kernels are plain Rust that the compiler
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

/// Runs `kernel`, compiled for AVX2 if the processor supports it.
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn with_avx2<K: Kernel>(kernel: K) -> K::Output {
            kernel.run()
        }
        // SAFETY: the processor supports AVX2.
        #[allow(unsafe_code)]
        return unsafe { with_avx2(kernel) };
    }
    kernel.run()
}
