//! The integration tests, in one executable: the program as its users see it, and the layering of
//! its source.

mod architecture;
mod bad_input;
mod bad_options;
mod bench;
mod cluster;
mod compare;
mod contract;
mod damaged_models;
mod determinism;
mod help;
mod model_fixture;
mod noise;
mod peer;
#[cfg(unix)]
mod processes;
mod support;
mod tagging;
mod training;
mod tune;
mod vectors;
