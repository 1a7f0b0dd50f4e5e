//! How much memory something takes.
//!
//! The kernel keeps the largest resident memory of a process (`VmHWM`), and sets it back on demand
//! (`5` written to `/proc/self/clear_refs`; Linux 4.0 and later). The growth of that peak over what
//! was resident before is what a piece of work takes, provided that it finds no freed memory which the
//! allocator has kept back: measure in a fresh process, and tell the allocator to keep nothing
//! ([`ALLOCATOR`]).

use std::fs;

/// Environment variables with which glibc gives freed blocks of 4 KiB and more back at once, so that
/// they are not taken for free later on. Other allocators do not know them.
pub const ALLOCATOR: [(&str, &str); 2] = [
    ("MALLOC_MMAP_THRESHOLD_", "4096"),
    ("MALLOC_TRIM_THRESHOLD_", "0"),
];

/// Does the work, and tells by how many bytes the resident memory of this process grew at its peak;
/// none where the system does not tell.
pub fn growth<T>(work: impl FnOnce() -> T) -> (T, Option<u64>) {
    let before = fs::write("/proc/self/clear_refs", "5")
        .ok()
        .and_then(|()| resident("VmHWM:"));
    let result = work();
    let grown = before.and_then(|before| Some(resident("VmHWM:")?.saturating_sub(before)));
    (result, grown)
}

/// A line of `/proc/self/status`, in bytes.
fn resident(field: &str) -> Option<u64> {
    bytes(&fs::read_to_string("/proc/self/status").ok()?, field)
}

fn bytes(status: &str, field: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_bytes() {
        let status = "Name:\tx\nVmHWM:\t    2020 kB\nVmRSS:\tmuch\n";
        assert_eq!(bytes(status, "VmHWM:"), Some(2020 * 1024));
        assert_eq!(bytes(status, "VmRSS:"), None);
        assert_eq!(bytes(status, "VmSwap:"), None);
    }

    #[test]
    fn the_result_of_the_work_comes_back() {
        assert_eq!(growth(|| 7).0, 7);
    }
}
