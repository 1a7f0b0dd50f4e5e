//! Throughput of the parts in tokens per second: `cargo bench`, or `cargo bench -- chain` for one.
//!
//! All benches use the same synthetic corpus ([`corpus`]) and assert their counts, so that a bug
//! cannot pass for speed. Recorded runs are in `record/`.
#![allow(clippy::print_stdout)] // what was measured belongs beside how fast it was

mod chain;
mod corpus;
mod extraction;
mod gradients;
mod objective;
mod tagging;

use std::time::Duration;

use criterion::Criterion;

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    extraction::benches(&mut criterion);
    chain::benches(&mut criterion);
    objective::benches(&mut criterion);
    gradients::benches(&mut criterion);
    tagging::benches(&mut criterion);
    criterion.final_summary();
}
