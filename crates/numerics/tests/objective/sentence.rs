//! The sentence kernel alone, from numbers to numbers.

use dropchain_numerics::chain::padded;
use dropchain_numerics::data::Target;
use dropchain_numerics::ids::LabelId;
use dropchain_numerics::math::assert_close;
use dropchain_numerics::noise::{ChainContext, Derivatives, Engine, Features, LabelVariances};
use dropchain_numerics::objective::{
    ScoreArrays, SentenceArrays, SentenceKernel, SentenceTask, SentenceTerms,
};
use dropchain_numerics::testing::{Chain, Lcg};

const LABELS: usize = 3; // K
const TOKENS: usize = 4; // T
const STRIDE: usize = padded(LABELS);
const WEIGHT: f64 = 0.7;

/// A sentence with edge scores and random variances.
#[derive(Clone)]
struct Case {
    chain: Chain,
    gold: Vec<LabelId>,
    nodes: Vec<f64>,          // [T][stride]
    edges: Vec<f64>,          // [T][K][stride]
    node_variances: Vec<f64>, // [T][stride]
    edge_variances: Vec<f64>, // [T][K][stride]
    variances: LabelVariances,
}

/// The output of the kernel.
struct Evaluated {
    terms: SentenceTerms,
    nodes: Vec<f64>,
    edges: Vec<f64>,
    node_variances: Vec<f64>,
    edge_variances: Vec<f64>,
}

impl Case {
    fn new(seed: u64) -> Self {
        let mut numbers = Lcg(seed);
        let mut chain = Chain::new(TOKENS, LABELS, || numbers.next());
        chain = chain.with_edges(|| numbers.next());
        let (nodes, edges) =
            chain.scores(0.0, |scores| (scores.node.to_vec(), scores.edge.unwrap().to_vec()));
        let mut positive = |n: usize| numbers.vector(n).iter().map(|x| x.abs()).collect();
        Self {
            node_variances: positive(nodes.len()),
            edge_variances: positive(edges.len()),
            variances: LabelVariances {
                pairs: positive(LABELS * STRIDE),
                start: positive(STRIDE),
                end: positive(STRIDE),
                node: Vec::new(),
            },
            gold: [0, 2, 1, 1].map(LabelId).to_vec(),
            chain,
            nodes,
            edges,
        }
    }

    fn evaluate(&self, labels: &[LabelId], engine: Option<Engine>) -> Evaluated {
        let transitions = self.chain.transitions();
        let parameters = ChainContext { transitions: &transitions, variances: &self.variances };
        let task = SentenceTask {
            chain: parameters,
            target: match labels {
                [] => Target::Unlabeled,
                labels => Target::Gold(labels),
            },
            weight: 1.0,
            noise_weight: WEIGHT,
            attributes: Features::default(),
        };
        let [mut nodes, mut edges] = [&self.nodes, &self.edges].map(Clone::clone);
        let variances = [&self.node_variances, &self.edge_variances];
        let [mut node_input, mut edge_input] = variances.map(Clone::clone);
        let [mut node_variances, mut edge_variances] = variances.map(|v| vec![0.0; v.len()]);
        let mut kernel = SentenceKernel::new(&transitions, engine);
        kernel.begin(parameters);
        let derivatives = Derivatives {
            scores: ScoreArrays { nodes: &mut nodes, edges: &mut edges },
            variances: ScoreArrays { nodes: &mut node_variances, edges: &mut edge_variances },
        };
        let variances = ScoreArrays { nodes: &mut node_input, edges: &mut edge_input };
        let terms = kernel.evaluate(task, &mut SentenceArrays { variances, derivatives });
        kernel.finish(parameters);
        Evaluated { terms, nodes, edges, node_variances, edge_variances }
    }

    /// The derivative of loss + noise with respect to a number of the case, by central differences.
    fn difference(&self, at: impl Fn(&mut Self) -> &mut f64) -> f64 {
        let step = 1e-5;
        let [above, below] = [step, -step].map(|step| {
            let mut case = self.clone();
            *at(&mut case) += step;
            let terms = case.evaluate(&case.gold, Some(Engine::Exact)).terms;
            terms.loss + terms.noise
        });
        (above - below) / (2.0 * step)
    }
}

#[test]
fn loss_and_derivatives_without_noise_match_the_enumeration_of_all_paths() {
    let case = Case::new(1);
    let oracle = case.chain.enumerate();
    let found = case.evaluate(&case.gold, None);
    let expected = oracle.log_partition() - case.chain.score(&case.gold);
    assert_close(found.terms.loss, expected, 1e-12);
    assert_eq!(found.terms.noise, 0.0);
    let marginals = oracle.node_marginals();
    for t in 0..TOKENS {
        for b in 0..LABELS {
            let gold = f64::from(u8::from(case.gold[t].index() == b));
            let i = t * STRIDE + b;
            assert_close(found.nodes[i], marginals[i] - gold, 1e-12);
        }
    }
}

#[test]
fn derivatives_with_noise_match_central_differences() {
    let case = Case::new(2);
    let found = case.evaluate(&case.gold, Some(Engine::Exact));
    assert!(found.terms.noise > 0.0);
    for t in 0..TOKENS {
        for b in 0..LABELS {
            let i = t * STRIDE + b;
            let by_score = case.difference(|case| &mut case.nodes[i]);
            assert_close(found.nodes[i], by_score, 1e-7);
            let by_variance = case.difference(|case| &mut case.node_variances[i]);
            assert_close(found.node_variances[i], by_variance, 1e-7);
            for a in (0..LABELS).filter(|_| t > 0) {
                let i = (t * LABELS + a) * STRIDE + b;
                let by_score = case.difference(|case| &mut case.edges[i]);
                assert_close(found.edges[i], by_score, 1e-7);
                let by_variance = case.difference(|case| &mut case.edge_variances[i]);
                assert_close(found.edge_variances[i], by_variance, 1e-7);
            }
        }
    }
}

#[test]
fn an_unlabeled_sentence_has_a_noise_term_and_no_loss() {
    let case = Case::new(3);
    let unlabeled = case.evaluate(&[], Some(Engine::Exact));
    let labeled = case.evaluate(&case.gold, Some(Engine::Exact));
    assert_eq!(unlabeled.terms.loss, 0.0);
    assert_eq!(unlabeled.terms.noise, labeled.terms.noise);
    assert_eq!(unlabeled.node_variances, labeled.node_variances);
}
