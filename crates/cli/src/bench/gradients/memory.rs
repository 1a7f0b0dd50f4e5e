//! Peak memory, each in a process of its own.

use std::process::{Command, Stdio};

use dropchain::Result;

use crate::bench::measurement::{self, Problem, Variant};

/// Measures the peak memory of an engine by its number, or of one of a point of a sweep:
/// AXIS:POINT:NUMBER.
pub fn of_engine(of: &str, variants: &[Variant], problem: Problem) -> Result<Option<u64>> {
    let parts: Vec<&str> = of.split(':').collect();
    let number = |text: &str| text.parse::<usize>().ok();
    let (problem, variant) = match parts[..] {
        [variant] => {
            let variant = number(variant).and_then(|i| variants.get(i).copied());
            (Some(problem), variant)
        }
        [axis, point, variant] => {
            let points = measurement::points(axis.parse()?, &problem);
            let point = number(point).and_then(|i| points.into_iter().nth(i));
            let variant = number(variant)
                .zip(point.as_ref())
                .and_then(|(i, point)| point.variants.get(i).copied());
            (point.map(|point| point.single), variant)
        }
        _ => (None, None),
    };
    Ok(problem.zip(variant).and_then(|(p, v)| measurement::peak_memory(&p, v)))
}

/// Runs this program again, with the same arguments, to measure the peak memory of one evaluation.
pub fn measure(of: &str) -> Option<u64> {
    let mut arguments = std::env::args_os().skip(1);
    let output = Command::new(std::env::current_exe().ok()?)
        .args(arguments.by_ref().take(2)) // bench gradients
        .args(["--peak-of", of])
        .args(arguments)
        .envs(measurement::ALLOCATOR_ENVIRONMENT)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    serde_json::from_slice(&output.stdout).ok()?
}
