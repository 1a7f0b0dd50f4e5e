//! Arrays that begin at a cache line, and large ones in memory of huge pages.

use std::ops::{Deref, DerefMut};

/// Numbers in a vector that begins at a cache line, so that no SIMD vector of a row over labels is
/// in two of them: loads of AVX-512 then take half of the time.
#[derive(Debug, Default)]
pub struct Aligned {
    numbers: Vec<f64>,
    start: usize, // of the first number at the beginning of a line
}

/// Bytes of a cache line.
const LINE: usize = 64;

/// Numbers of a cache line.
const LINE_NUMBERS: usize = LINE / size_of::<f64>();

impl Aligned {
    /// Creates this many zeros.
    pub fn zeros(length: usize) -> Self {
        let mut zeros = Self::default();
        zeros.resize(length);
        zeros
    }

    /// Makes these this many numbers: drops the last ones, or adds zeros.
    pub fn resize(&mut self, length: usize) {
        if self.start + length > self.numbers.capacity() {
            let capacity = length.max(2 * self.len());
            let mut numbers = zeros::<f64>(capacity + LINE_NUMBERS);
            // Alignment only affects the speed.
            let start = numbers.as_ptr().align_offset(LINE).min(LINE_NUMBERS);
            numbers[start..start + self.len()].copy_from_slice(self);
            *self = Self { numbers, start };
        }
        self.numbers.resize(self.start + length, 0.0);
    }

    /// Makes these this many zeros.
    pub fn set_zeros(&mut self, length: usize) {
        self.resize(length);
        self.fill(0.0);
    }
}

impl Deref for Aligned {
    type Target = [f64];

    #[inline(always)]
    fn deref(&self) -> &[f64] {
        &self.numbers[self.start..]
    }
}

impl DerefMut for Aligned {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.numbers[self.start..]
    }
}

impl Clone for Aligned {
    fn clone(&self) -> Self {
        let mut copy = Self::zeros(self.len());
        copy.copy_from_slice(self);
        copy
    }
}

/// Bytes from which huge pages are asked for: two of them.
#[cfg(target_os = "linux")]
const LARGE: usize = 4 << 20;

/// Returns zeros, in huge pages where the system has them. Rows at random places of a large array
/// are then found without looking up an address in memory first.
pub fn zeros<T: Copy + Default>(length: usize) -> Vec<T> {
    let zeros = vec![T::default(); length];
    #[cfg(target_os = "linux")]
    advise(&zeros);
    zeros
}

/// Asks for huge pages for whole pages of memory that nothing was written to yet.
#[cfg(target_os = "linux")]
fn advise<T>(array: &[T]) {
    const PAGE: usize = 4096; // of x86-64, else the call may fail, which does no harm
    let skipped = array.as_ptr().cast::<u8>().align_offset(PAGE);
    let length = size_of_val(array).saturating_sub(skipped) / PAGE * PAGE;
    if size_of_val(array) >= LARGE {
        let start = array.as_ptr().cast::<u8>().wrapping_add(skipped);
        // SAFETY: these are pages of the array; the advice does not change what they hold.
        #[allow(unsafe_code)]
        let _ = unsafe { libc::madvise(start.cast_mut().cast(), length, libc::MADV_HUGEPAGE) };
    }
}
