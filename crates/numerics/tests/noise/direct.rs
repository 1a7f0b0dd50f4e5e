//! The direct part of the gradient, through V.

use super::*;

#[test]
fn with_fixed_marginals_r_is_the_sum_of_variances_times_their_derivatives() {
    // Σ V·∂R/∂V = R, since R is linear in V: a weighted L2 penalty in the weights.
    for (sentence, engine) in sentences()
        .into_iter()
        .flat_map(|s| [Engine::Exact, Engine::Window(0)].map(|engine| (s.clone(), engine)))
    {
        let found = evaluate(&sentence, engine);
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
