//! Throughput of each component in tokens per second: `cargo bench --bench speed`, with `-- chain`
//! for the benches whose name contains "chain".
//!
//! All benches use the same synthetic corpus ([`corpus`]) and assert their counts, so that a bug
//! cannot look like a speedup. Recorded runs are in `record/`.
#![allow(clippy::print_stdout)] // prints the sizes of what is measured

mod chain;
mod corpus;
mod extraction;
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
    tagging::benches(&mut criterion);
    criterion.final_summary();
}
