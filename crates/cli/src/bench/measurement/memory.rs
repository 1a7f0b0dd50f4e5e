//! Peak memory of a computation.
//!
//! Linux records the peak resident set size of a process (`VmHWM`) and resets it on demand (when
//! `5` is written to `/proc/self/clear_refs`; Linux 4.0 and later). The growth of that peak over
//! the memory resident before is the memory that the computation needs, provided that it does not
//! reuse freed memory that the allocator has kept: measure in a fresh process, and make the
//! allocator return freed memory to the system ([`ALLOCATOR_ENVIRONMENT`]).

use std::fs;

/// Environment variables that make glibc return freed blocks of 4 KiB and more to the system at
/// once. Other allocators ignore them.
pub const ALLOCATOR_ENVIRONMENT: [(&str, &str); 2] = [
    ("MALLOC_MMAP_THRESHOLD_", "4096"),
    ("MALLOC_TRIM_THRESHOLD_", "0"),
];

/// Calls `work`, and returns its result with the growth in bytes of the peak resident set size;
/// `None` if the system does not report it.
pub fn peak_growth<T>(work: impl FnOnce() -> T) -> (T, Option<u64>) {
    let before = fs::write("/proc/self/clear_refs", "5")
        .ok()
        .and_then(|()| process_status("VmHWM:"));
    let result = work();
    let growth = before.and_then(|before| Some(process_status("VmHWM:")?.saturating_sub(before)));
    (result, growth)
}

/// Returns a field of `/proc/self/status`, in bytes.
fn process_status(field: &str) -> Option<u64> {
    parse_bytes(&fs::read_to_string("/proc/self/status").ok()?, field)
}

fn parse_bytes(status: &str, field: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parsed_in_bytes() {
        let status = "Name:\tx\nVmHWM:\t    2020 kB\nVmRSS:\tmuch\n";
        assert_eq!(parse_bytes(status, "VmHWM:"), Some(2020 * 1024));
        assert_eq!(parse_bytes(status, "VmRSS:"), None);
        assert_eq!(parse_bytes(status, "VmSwap:"), None);
    }

    #[test]
    fn the_result_of_the_work_is_returned() {
        assert_eq!(peak_growth(|| 7).0, 7);
    }
}
