//! Which code an input reaches, if the tests are compiled to count it (`.ci/fuzz`).
//!
//! `-C instrument-coverage` makes the compiler count how often each region runs, on the stable
//! toolchain. The counters are one array in the program, between two symbols of the runtime
//! (LLVM, `compiler-rt/lib/profile/InstrProfiling.h`). Without it there are no counters, and no
//! coverage ever grows.

#![cfg_attr(fuzz_coverage, allow(unsafe_code))]

/// The counters that some input has reached.
#[derive(Default)]
pub struct Coverage {
    reached: Vec<u8>, // bit b: the counter was once in bucket b
}

impl Coverage {
    /// Sets all counters to 0, before an input.
    pub fn clear(&self) {
        counters().fill(0);
    }

    /// Adds the counters since [`Coverage::clear`]; returns whether one has not been as high.
    pub fn has_grown(&mut self) -> bool {
        let counters = counters();
        self.reached.resize(counters.len(), 0);
        let mut grown = false;
        for (reached, &count) in self.reached.iter_mut().zip(counters.iter()) {
            if count > 0 {
                // Once, twice, several times, often: as in AFL.
                let bucket = 1 << count.ilog2().min(6).div_ceil(2);
                grown |= *reached & bucket == 0;
                *reached |= bucket;
            }
        }
        grown
    }

    /// The number of counters that were reached, and that of all; `None` without counters.
    pub fn reached(&self) -> Option<(usize, usize)> {
        let reached = self.reached.iter().filter(|&&buckets| buckets > 0);
        (!self.reached.is_empty()).then(|| (reached.count(), self.reached.len()))
    }
}

#[cfg(not(fuzz_coverage))]
fn counters() -> &'static mut [u64] {
    &mut []
}

#[cfg(fuzz_coverage)]
fn counters() -> &'static mut [u64] {
    // SAFETY: the runtime of `-C instrument-coverage` defines both, with these types.
    unsafe extern "C" {
        fn __llvm_profile_begin_counters() -> *mut u64;
        fn __llvm_profile_end_counters() -> *mut u64;
    }
    // SAFETY: the two symbols delimit one array of u64, which lives as long as the program. Other
    // code only increments its elements; `.ci/fuzz` runs one target on one thread, so none runs
    // while the slice is used.
    unsafe {
        let begin = __llvm_profile_begin_counters();
        let end = __llvm_profile_end_counters();
        std::slice::from_raw_parts_mut(begin, end.offset_from_unsigned(begin))
    }
}
