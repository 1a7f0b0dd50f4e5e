//! Bit-identity across vector widths, and sums over sentences.

use super::{FlushSums, SentencePasses, *};
use crate::noise::quadratic::EdgeMatrices;
use crate::noise::tests::{SentenceBuffers, TestSentence, ValueAndGradient};
use crate::random::Lcg;
use crate::simd::{self, Kernel};

/// Runs the kernel with runtime SIMD dispatch, or compiled for the baseline.
fn run(sentence: &TestSentence, is_dispatched: bool) -> ValueAndGradient {
    let buffers = SentenceBuffers::new(sentence, false);
    let mut result = ValueAndGradient::zeros(sentence);
    let mut out = result.derivatives();
    let input = buffers.input(0.7);
    assert!(AdjointKernel::supports(input, &out));
    let (mut kernel, mut edges) = (AdjointKernel::default(), EdgeMatrices::default());
    kernel.begin(buffers.context());
    kernel.reserve(input.node_variance.len());
    let passes = SentencePasses {
        kernel: &mut kernel,
        transitions: buffers.context().transitions,
        sentence: input,
        out: &mut out,
    };
    result.value = match is_dispatched {
        true => simd::dispatch(passes),
        false => passes.run(),
    };
    if !is_dispatched {
        FlushSums(&mut kernel).run();
    }
    edges.begin(buffers.context());
    kernel.finish(buffers.context(), &mut edges);
    (result.trans, result.trans_variance) = (edges.score_sums, edges.variance_sums);
    result
}

#[test]
fn wide_vectors_give_the_same_bits_as_narrow_ones() {
    let mut numbers = Lcg(1);
    for labels in [1, 5, 8, 9, 17, 22, 49] {
        let sentence = TestSentence::new(7, labels, &mut numbers);
        let (dispatched, baseline) = (run(&sentence, true), run(&sentence, false));
        assert_eq!(dispatched.value.to_bits(), baseline.value.to_bits());
        assert_eq!(dispatched.gradient(), baseline.gradient());
        assert_eq!(dispatched.variances(), baseline.variances());
    }
}

#[test]
fn sums_over_sentences_are_weighted_sums_of_those_of_each() {
    let sentence = TestSentence::new(7, 9, &mut Lcg(2));
    let buffers = SentenceBuffers::new(&sentence, false);
    let sums = |weights: &[f64]| {
        let (mut kernel, mut edges) = (AdjointKernel::default(), EdgeMatrices::default());
        kernel.begin(buffers.context());
        for &weight in weights {
            let mut result = ValueAndGradient::zeros(&sentence);
            let transitions = buffers.context().transitions;
            kernel.regularize(transitions, buffers.input(weight), &mut result.derivatives());
        }
        edges.begin(buffers.context());
        kernel.finish(buffers.context(), &mut edges);
        [edges.score_sums, edges.variance_sums].concat()
    };
    let ones = sums(&[1.0]);
    let weights: Vec<f64> = (1..20).map(f64::from).collect();
    for (sum, one) in sums(&weights).iter().zip(ones) {
        assert!((sum - 190.0 * one).abs() <= 1e-10 * one.abs().max(1e-3));
    }
}
