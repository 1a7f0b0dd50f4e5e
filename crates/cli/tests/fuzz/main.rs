//! Fuzzing: properties of everything that reads what others wrote.
//!
//! `cargo test --test fuzz` checks the stored inputs and a few hundred random changes of them;
//! `FUZZ_ITERATIONS` (per target) makes it longer, `FUZZ_SEED` another run. An input that fails is
//! written below `target/tmp/fuzz/`; it belongs into `tests/fuzz/crashers/`, where every later run
//! checks it.

#![expect(clippy::print_stdout, reason = "reports what was tried")]

mod harness;
mod mutate;
mod sealing;
mod targets;

use peak_alloc::PeakAlloc;

/// Measures the memory that inputs take.
#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;
