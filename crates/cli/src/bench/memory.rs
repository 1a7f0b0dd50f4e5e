//! The peak memory of an evaluation, in a process of its own.

use std::fs;
use std::process::{Command, Stdio};

use dropchain::kernel::optim::Objective;

use super::problem::Problem;
use super::variant::Variant;

/// Environment variables that make glibc return freed blocks of 4 KiB and more to the system at
/// once. Other allocators ignore them.
const ALLOCATOR_ENVIRONMENT: [(&str, &str); 2] =
    [("MALLOC_MMAP_THRESHOLD_", "4096"), ("MALLOC_TRIM_THRESHOLD_", "0")];

/// Runs this program again, with the same arguments, to measure the peak memory of one evaluation
/// of engine `number`; `None` if the system does not report it.
pub fn measure(number: usize) -> Option<u64> {
    // In the Python package, the name of a script precedes those of the commands.
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let own = 1 + arguments.iter().position(|argument| argument == "gradients")?;
    let output = Command::new(std::env::current_exe().ok()?)
        .args(&arguments[..own])
        .args(["--peak-of", &number.to_string()])
        .args(&arguments[own..])
        .envs(ALLOCATOR_ENVIRONMENT)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    serde_json::from_slice(&output.stdout).ok()?
}

/// Measures the peak memory in bytes of an evaluation, excluding the training data: transposed
/// matrix, parameters, gradient, and the arrays of chunks and engine; `None` if the system does not
/// report it. Call it in a process that has only prepared the training set. The weights are 0,
/// since sizes do not depend on them.
pub fn of_evaluation(problem: &Problem, variant: Variant) -> Option<u64> {
    fs::write("/proc/self/clear_refs", "5").ok()?;
    let before = peak()?;
    let mut objective = problem.objective(variant);
    let theta = vec![0.0; objective.dimension()];
    // Not 0: pages of zeros become resident only when they are written to.
    let mut gradient = vec![f64::NAN; theta.len()];
    objective.evaluate(&theta, &mut gradient);
    Some(peak()?.saturating_sub(before))
}

/// Returns the peak resident set size of the process in bytes.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}
