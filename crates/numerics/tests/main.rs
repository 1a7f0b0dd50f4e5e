//! The tests of the modules, from outside the library: its kernels are compiled once.

mod aligned;
mod chain;
mod data {
    mod dataset;
    mod matrix;
}
mod exact_sum;
mod math;
mod noise;
mod objective;
mod optim;
mod random;
mod ranks;
mod score;
mod simd;
