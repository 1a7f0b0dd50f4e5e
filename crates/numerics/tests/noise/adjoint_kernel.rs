//! Bit-identity across instruction sets, and sums over sentences.

use dropchain_numerics::testing::internal::{AdjointKernel, EdgeMatrices};
use dropchain_numerics::testing::{Lcg, assert_same_bits};

use super::{SentenceBuffers, TestSentence, ValueAndGradient};

fn run(sentence: &TestSentence) -> ValueAndGradient {
    let buffers = SentenceBuffers::new(sentence, false);
    let mut result = ValueAndGradient::zeros(sentence);
    let mut out = result.derivatives();
    let input = buffers.input(0.7);
    assert!(AdjointKernel::supports(input, &out));
    let (mut kernel, mut edges) = (AdjointKernel::default(), EdgeMatrices::default());
    kernel.begin(buffers.context());
    result.value = kernel.regularize(input, &mut out);
    edges.begin(buffers.context());
    kernel.finish(buffers.context(), &mut edges);
    (result.trans, result.trans_variance) = (edges.score_sums, edges.variance_sums);
    result
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    let mut numbers = Lcg(1);
    for labels in [1, 5, 8, 9, 17, 22, 26, 33, 41, 49, 60] {
        let sentence = TestSentence::new(7, labels, &mut numbers);
        assert_same_bits(|| {
            let result = run(&sentence);
            let mut numbers = vec![result.value];
            numbers.extend(result.gradient());
            numbers.extend(result.variances());
            numbers
        });
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
            kernel.regularize(buffers.input(weight), &mut result.derivatives());
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
