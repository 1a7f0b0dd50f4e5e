//! The widest vectors that the processor has, for loops that are worth it.
//!
//! A binary is built for every processor of its kind, which on x86-64 means two numbers at a time.
//! Nearly all of them can do four (AVX2). What is run through [`dispatch`] is compiled for both, and
//! which of them is taken is decided when it is called.
//!
//! The result has the same bits either way: the compiler neither reorders sums nor fuses
//! multiplications into them, it only does more of what is independent at once.

/// A computation to be compiled for several processors.
pub trait Kernel {
    /// What comes out of it.
    type Output;

    /// Computes it. Both this and all that it calls in its loops must be `#[inline(always)]`: what is
    /// not inlined is compiled for the least processor alone.
    fn run(self) -> Self::Output;
}

/// Runs `kernel` in the widest vectors there are.
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn with_avx2<K: Kernel>(kernel: K) -> K::Output {
            kernel.run()
        }
        // SAFETY: the processor has AVX2.
        #[allow(unsafe_code)]
        return unsafe { with_avx2(kernel) };
    }
    kernel.run()
}
