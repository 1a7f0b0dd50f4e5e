//! Paired bootstrap resampling: whether the difference between two taggers is significant.
//!
//! The test set of n sentences represents the population. A *sample* draws n sentences from it
//! with replacement and scores both taggers, A and B, on the same draw: d* = score(B) − score(A).
//! The distribution of d* over many samples estimates the uncertainty of d = score(B) − score(A)
//! on the test set.
//!
//! - The 95 % percentile interval: of the S sorted values of d*, the k-th and the (S + 1 − k)-th,
//!   k = ⌊0.025·(S + 1)⌋.
//! - The two-sided p-value: p = min(1, 2·(min(#{d* ≤ 0}, #{d* ≥ 0}) + 1)/(S + 1)). It is consistent
//!   with the interval, which excludes 0 if p is below 0.05. Adding 1 counts the test set itself as
//!   a sample, so that p is never 0. Half of it is the one-sided p-value.
//!
//! Sentences are drawn, not tokens, because the labels within a sentence are dependent. Each
//! sentence is reduced to counts once; a sample adds up n rows of counts: O(n·T) label comparisons,
//! then O(n) additions per sample.
//!
//! Sources: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapters 13 and 16; used
//! with 2000 samples by Wang et al. (2013), Section 5.2.

mod paired_bootstrap;
mod report;
#[cfg(test)]
mod tests;

pub use paired_bootstrap::PairedBootstrap;
pub use report::{BootstrapReport, Difference};
