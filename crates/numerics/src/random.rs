//! Counter-based random numbers: SplitMix64.
//!
//! Output `n` of the generator with a given seed is a pure function of `(seed, n)`. Nothing is
//! drawn in sequence, so results depend neither on the order of work nor on the number of threads,
//! and a random mask or sample can be recomputed instead of stored.
//!
//! Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014;
//! the finalizer is Stafford's variant 13 of that of MurmurHash3.
//!
//! Bootstrap intervals, Monte-Carlo training and the keys in model files depend on these bits: they
//! must never change.

/// The increment of the state: 2⁶⁴ divided by the golden ratio.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finalizer: a bijection of 64-bit integers in which every output bit depends on every input
/// bit.
#[inline(always)]
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns output `n`, counted from 0, of SplitMix64 with this seed.
///
/// Outputs may serve as seeds in turn: `nth(nth(seed, a), b)` indexes a tree of generators.
#[inline(always)]
pub fn nth(seed: u64, n: u64) -> u64 {
    mix(seed.wrapping_add(GAMMA.wrapping_mul(n.wrapping_add(1))))
}

/// Shuffles items as Fisher and Yates do.
pub fn shuffle<T>(items: &mut [T], seed: u64) {
    for last in (1..items.len()).rev() {
        let other = (1.0 - uniform(seed, last as u64)) * (last + 1) as f64;
        items.swap(last, (other as usize).min(last));
    }
}

/// Returns output `n` as a number in (0, 1], a multiple of 2⁻⁵³.
pub fn uniform(seed: u64, n: u64) -> f64 {
    ((nth(seed, n) >> 11) + 1) as f64 / (1_u64 << 53) as f64
}
