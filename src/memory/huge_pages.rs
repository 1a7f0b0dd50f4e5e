//! Large arrays in memory of huge pages.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_and_small_arrays_are_zeros() {
        for length in [0, 5, 3 << 20] {
            let array = zeros::<f32>(length);
            assert!(array.len() == length && array.iter().all(|&x| x == 0.0));
        }
    }
}
