//! A small model, differentiated with respect to its weights.

use super::*;

const LABELS: usize = 3;
const TOKENS: usize = 5;
const ATTRIBUTES: usize = 8;
const EDGES: usize = 4;
const RHO: f64 = 0.8;

/// The concatenated weights of node attributes, edge attributes, transitions, start and end.
struct ModelWeights(Vec<f64>);

const EDGE: usize = ATTRIBUTES * LABELS;
const TRANS: usize = EDGE + EDGES * LABELS * LABELS;
const START: usize = TRANS + LABELS * LABELS;
const END: usize = START + LABELS;
const SIZE: usize = END + LABELS;

impl ModelWeights {
    /// Returns the sentence with the scores and variances of these weights: V = ρ Σ g²θ².
    fn sentence(&self, attributes: &TestSentence) -> TestSentence {
        let w = &self.0;
        let mut sentence = attributes.clone();
        let mut variance = attributes.clone();
        for t in 0..TOKENS {
            for b in 0..LABELS {
                let node = sentence.node_attributes[t].iter();
                let terms: Vec<f64> = node.map(|&(j, g)| g * w[j as usize * LABELS + b]).collect();
                sentence.chain.node[t][b] = terms.iter().sum();
                variance.node[t][b] = RHO * terms.iter().map(|x| x * x).sum::<f64>();
                for a in 0..LABELS {
                    let edge = sentence.edge_attributes[t].iter();
                    let at = |e: u32| EDGE + (e as usize * LABELS + a) * LABELS + b;
                    let terms: Vec<f64> = edge.map(|&(e, h)| h * w[at(e)]).collect();
                    sentence.chain.edge.as_mut().unwrap()[t][a][b] = terms.iter().sum();
                    variance.edge.as_mut().unwrap()[t][a][b] =
                        RHO * terms.iter().map(|x| x * x).sum::<f64>();
                }
            }
        }
        for b in 0..LABELS {
            (sentence.chain.start[b], sentence.chain.end[b]) = (w[START + b], w[END + b]);
            variance.node[0][b] += RHO * w[START + b].powi(2);
            variance.node[TOKENS - 1][b] += RHO * w[END + b].powi(2);
            for a in 0..LABELS {
                let trans = w[TRANS + a * LABELS + b];
                sentence.chain.trans[a][b] = trans;
                variance.trans[a][b] = RHO * trans * trans;
            }
        }
        (sentence.node, sentence.trans, sentence.edge) =
            (variance.node, variance.trans, variance.edge);
        sentence
    }

    /// Returns the gradient with respect to the weights, from derivatives with respect to scores
    /// and variances.
    fn gradient(&self, sentence: &TestSentence, actual: &ValueAndGradient) -> Vec<f64> {
        let (w, stride) = (&self.0, padded(LABELS));
        let mut gradient = vec![0.0; SIZE];
        let mut add = |at: usize, g: f64, d: f64, dv: f64| {
            gradient[at] += g * d + 2.0 * RHO * g * g * w[at] * dv;
        };
        let (edge, edge_variance) =
            (actual.edge.as_ref().unwrap(), actual.edge_variance.as_ref().unwrap());
        for b in 0..LABELS {
            let last = (TOKENS - 1) * stride + b;
            add(START + b, 1.0, actual.node[b], actual.node_variance[b]);
            add(END + b, 1.0, actual.node[last], actual.node_variance[last]);
            for a in 0..LABELS {
                let from = a * stride + b;
                let at = TRANS + a * LABELS + b;
                add(at, 1.0, actual.trans[from], actual.trans_variance[from]);
            }
            for t in 0..TOKENS {
                let from = t * stride + b;
                for &(j, g) in &sentence.node_attributes[t] {
                    let at = j as usize * LABELS + b;
                    add(at, g, actual.node[from], actual.node_variance[from]);
                }
                for a in 0..LABELS {
                    let from = (t * LABELS + a) * stride + b;
                    for &(e, h) in &sentence.edge_attributes[t] {
                        let at = EDGE + (e as usize * LABELS + a) * LABELS + b;
                        add(at, h, edge[from], edge_variance[from]);
                    }
                }
            }
        }
        gradient
    }
}

/// Returns attributes, some of which fire once and some with values other than 1, and weights.
fn model() -> (TestSentence, ModelWeights) {
    let mut numbers = Lcg(13);
    let sentence = TestSentence::new(TOKENS, LABELS, &mut numbers).with_edges(&mut numbers);
    let weights = (0..SIZE).map(|_| numbers.next()).collect();
    (sentence, ModelWeights(weights))
}

fn assert_is_gradient_of_value(
    gradient: &[f64],
    attributes: &TestSentence,
    weights: &ModelWeights,
) {
    let h = 1e-5;
    assert_eq!(gradient.len(), SIZE);
    for (i, actual) in gradient.iter().enumerate() {
        let value = |h: f64| {
            let mut weights = ModelWeights(weights.0.clone());
            weights.0[i] += h;
            Paths::new(&weights.sentence(attributes)).value()
        };
        let expected = (value(h) - value(-h)) / (2.0 * h);
        assert_all_close(&[*actual], &[expected], 1e-8);
    }
}

#[test]
fn adjoint_gives_the_derivatives_by_weights() {
    let (attributes, weights) = model();
    let sentence = weights.sentence(&attributes);
    let gradient = weights.gradient(&sentence, &evaluate(&sentence, Engine::Exact));
    assert_is_gradient_of_value(&gradient, &attributes, &weights);
}

#[test]
fn message_gives_the_derivatives_by_weights() {
    let (attributes, weights) = model();
    let sentence = weights.sentence(&attributes);
    for collapse in [false, true] {
        // Boundary weights are attributes of the first and last token.
        let mut buffers = sentence.clone();
        buffers.node_attributes[0].push((100, 1.0));
        buffers.node_attributes[TOKENS - 1].push((101, 1.0));
        let mut engine = Message::new(collapse);
        let mut actual = ValueAndGradient::zeros(&sentence);
        SentenceBuffers::new(&buffers, false).run(&mut engine, 1.0, &mut actual);
        let mut gradient = weights.gradient(&sentence, &actual); // the direct part, and transitions
        for (column, row) in engine.feature_gradient().unwrap().nodes.iter() {
            let at = match column {
                100 => START,
                101 => END,
                column => column as usize * LABELS,
            };
            add(&mut gradient[at..at + LABELS], &row[..LABELS]);
        }
        for (column, matrix) in engine.feature_gradient().unwrap().edges.iter() {
            for (a, row) in matrix.chunks_exact(padded(LABELS)).enumerate() {
                let at = EDGE + (column as usize * LABELS + a) * LABELS;
                add(&mut gradient[at..at + LABELS], &row[..LABELS]);
            }
        }
        assert_is_gradient_of_value(&gradient, &attributes, &weights);
    }
}
