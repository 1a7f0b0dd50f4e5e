//! The kernels by label pairs against those with all pairs.

use super::*;
use dropchain_numerics::chain::LabelPairs;

/// Sentences in which about every third label pair has a weight, of ordinary size or large and
/// negative, and the positions of these pairs.
fn sparse_sentences() -> Vec<(TestSentence, Vec<u32>)> {
    let mut numbers = Lcg(77);
    let mut sentences = Vec::new();
    for i in 0..90 {
        let (labels, tokens) = (1 + i % 21, 1 + i % 37);
        let mut sentence = TestSentence::new(tokens, labels, &mut numbers);
        sentence.weight = [1.0, 0.3][i % 2];
        let mut positions = Vec::new();
        for a in 0..labels {
            for b in 0..labels {
                if numbers.below(3) == 0 {
                    positions.push((a * padded(labels) + b) as u32);
                    if i % 3 == 0 && numbers.below(4) == 0 {
                        sentence.chain.trans[a][b] -= 9.0;
                    }
                } else {
                    sentence.chain.trans[a][b] = 0.0;
                    sentence.trans[a][b] = 0.0;
                }
            }
        }
        sentences.push((sentence, positions));
    }
    sentences
}

/// Runs an engine by pairs; derivatives of other pairs are 0.
fn evaluate_by_pairs(
    sentence: &TestSentence,
    positions: &[u32],
    engine: Engine,
    in_log_space: bool,
) -> ValueAndGradient {
    let chain = &sentence.chain;
    let mut transitions = Transitions::with_pairs(chain.labels, positions.to_vec());
    transitions.set(&chain.trans.concat(), &chain.start, &chain.end);
    let mut buffers = SentenceBuffers::with_transitions(sentence, transitions, in_log_space);
    let pairs = buffers.transitions.pairs().unwrap();
    let at_pair = |&position: &u32| buffers.variances.pairs[position as usize];
    buffers.variances.pairs = positions.iter().map(at_pair).collect();
    let mut result = ValueAndGradient::zeros(sentence);
    let matrices = [&mut result.trans, &mut result.trans_variance];
    let [mut trans, mut trans_variance] = matrices.map(|m| std::mem::replace(m, zeros(pairs)));
    buffers.run(&mut *engine.regularizer(), sentence.weight, &mut result);
    for (i, &position) in positions.iter().enumerate() {
        trans[position as usize] = result.trans[i];
        trans_variance[position as usize] = result.trans_variance[i];
    }
    ValueAndGradient { trans, trans_variance, ..result }
}

fn zeros(pairs: &LabelPairs) -> Vec<f64> {
    vec![0.0; pairs.len()]
}

/// Clears the derivatives of pairs without weights.
fn at_pairs(mut result: ValueAndGradient, positions: &[u32]) -> ValueAndGradient {
    for matrix in [&mut result.trans, &mut result.trans_variance] {
        for (i, x) in matrix.iter_mut().enumerate() {
            if positions.binary_search(&(i as u32)).is_err() {
                *x = 0.0;
            }
        }
    }
    result
}

#[test]
fn results_by_pairs_are_those_with_all_pairs() {
    for engine in [Engine::Exact] {
        for (sentence, positions) in sparse_sentences() {
            let expected = at_pairs(evaluate(&sentence, engine), &positions);
            for in_log_space in [false, true] {
                let found = evaluate_by_pairs(&sentence, &positions, engine, in_log_space);
                let scale = sentence.error_scale() * sentence.node.len() as f64;
                assert_agrees(&found, &expected, 1e-13 * scale);
            }
        }
    }
}
