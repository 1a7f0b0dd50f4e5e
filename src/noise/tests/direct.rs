//! The direct part alone: R with fixed marginals.

use super::*;

/// Returns what the enumeration gives, without derivatives through μ.
fn expected(sentence: &TestSentence) -> ValueAndGradient {
    let mut expected = Paths::new(sentence).derivatives(0);
    expected.node.fill(0.0);
    expected.trans.fill(0.0);
    expected.edge.iter_mut().flatten().for_each(|x| *x = 0.0);
    expected
}

#[test]
fn value_and_direct_part_agree_with_the_enumeration() {
    for sentence in sentences() {
        let found = evaluate(&sentence, NoiseTerm::Reweighted(3));
        assert_agrees(&found, &expected(&sentence), 1e-13);
    }
}

#[test]
fn the_direct_part_is_that_of_the_local_engine() {
    for sentence in sentences() {
        let local = evaluate(&sentence, NoiseTerm::Quadratic(Engine::Local));
        let direct = evaluate(&sentence, NoiseTerm::Reweighted(3));
        assert_all_close(&[direct.value], &[local.value], 1e-13);
        assert_all_close(&direct.variances(), &local.variances(), 1e-13);
        assert!(direct.gradient().iter().all(|&x| x == 0.0));
    }
}

#[test]
fn with_fixed_marginals_r_is_the_sum_of_variances_times_their_derivatives() {
    // Σ V·∂R/∂V = R, since R is linear in V: a weighted L2 penalty in the weights.
    for sentence in sentences() {
        let found = evaluate(&sentence, NoiseTerm::Reweighted(3));
        let (labels, stride) = (sentence.chain.labels, padded(sentence.chain.labels));
        let mut sum = 0.0;
        for b in 0..labels {
            for (t, row) in sentence.node.iter().enumerate() {
                sum += row[b] * found.node_variance[t * stride + b];
            }
            if sentence.chain.order == Order::Zero {
                continue;
            }
            for a in 0..labels {
                sum += sentence.trans[a][b] * found.trans_variance[a * stride + b];
                let Some((edge, derivatives)) =
                    sentence.edge.as_ref().zip(found.edge_variance.as_ref())
                else {
                    continue;
                };
                for (t, matrix) in edge.iter().enumerate() {
                    sum += matrix[a][b] * derivatives[(t * labels + a) * stride + b];
                }
            }
        }
        assert_all_close(&[sum], &[found.value], 1e-12);
    }
}
