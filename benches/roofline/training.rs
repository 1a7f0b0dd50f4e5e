//! The kernels of an evaluation, timed one by one in the order and on the arrays of the library:
//! sentence by sentence, block by block.
//!
//! Of every kernel and block the fastest of several rounds counts, so that other load on the
//! machine does not. On two threads each has half of the blocks, and all kernels run beside those
//! of the other thread.

use std::time::Instant;

use dropchain::kernel::aligned::Aligned;
use dropchain::kernel::chain::{EdgeSums, LabelWeights, Lattice, ScoreArrays, Scores, Transitions};
use dropchain::kernel::extract::{Dataset, Target};
use dropchain::kernel::noise::{
    ChainContext, ChainDerivatives, Derivatives, Engine, Features, LabelVariances, Regularizer,
    SentenceInput,
};
use dropchain::kernel::score::{
    BlockPartition, ForwardProduct, ParameterSpace, TransposeProduct, VarianceDerivatives,
    Variances,
};

use crate::cases::NOISE;
use crate::machine::ByThreads;

/// A number for each kernel of an evaluation: scores, chain, noise, gradient.
pub type ByKernel<T> = [T; 4];

/// What all threads share.
pub struct Evaluation<'a> {
    data: &'a Dataset,
    theta: &'a [f64],
    pub partition: BlockPartition,
    product: ForwardProduct,
    transpose: TransposeProduct,
    transitions: Transitions,
    variances: LabelVariances,
}

impl<'a> Evaluation<'a> {
    /// Prepares an evaluation at θ.
    pub fn new(data: &'a Dataset, space: &ParameterSpace, theta: &'a [f64]) -> Self {
        let partition = BlockPartition::new(data, space.stride());
        let mut product = ForwardProduct::new(&data.nodes, &space.nodes);
        product.set_weights(theta);
        let mut transitions = space.transitions();
        space.set_transitions(theta, &mut LabelWeights::default(), &mut transitions);
        let mut variances = LabelVariances::default();
        variances.set(NOISE.rates()[1], &transitions);
        Self {
            transpose: TransposeProduct::new(&data.nodes, &space.nodes, &partition),
            data,
            theta,
            partition,
            product,
            transitions,
            variances,
        }
    }

    /// Returns the seconds of each kernel, on one thread and on two: their time for all blocks,
    /// divided by the number of threads.
    pub fn seconds(&self, is_noisy: bool, rounds: usize) -> ByKernel<ByThreads> {
        let by_threads = [1, 2].map(|threads| {
            let run = |first: usize| {
                // The gradient is gathered in parallel: here, by a thread of its own.
                let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
                let blocks = (first..self.partition.blocks.len()).step_by(threads);
                pool.unwrap().install(|| Thread::new(self, is_noisy).fastest(&blocks, rounds))
            };
            std::thread::scope(|scope| {
                let running: Vec<_> =
                    (0..threads).map(|first| scope.spawn(move || run(first))).collect();
                let mut seconds = ByKernel::<f64>::default();
                for thread in running {
                    for (sum, more) in seconds.iter_mut().zip(thread.join().unwrap()) {
                        *sum += more / threads as f64;
                    }
                }
                seconds
            })
        });
        std::array::from_fn(|kernel| by_threads.map(|seconds| seconds[kernel]))
    }

    fn context(&self) -> ChainContext<'_> {
        ChainContext { transitions: &self.transitions, variances: &self.variances }
    }
}

/// The buffers of one thread.
struct Thread<'a> {
    shared: &'a Evaluation<'a>,
    regularizer: Option<Box<dyn Regularizer>>,
    lattice: Lattice,
    sums: EdgeSums,
    pairs: [Vec<f64>; 2],      // [K][stride]
    variances: Aligned,        // [T][stride] of a sentence
    derivatives: [Aligned; 2], // [tokens of a block][stride] of scores and variances
    gradient: Vec<f64>,
}

/// Adds the time since the last lap to `seconds`.
fn lap(clock: &mut Instant, seconds: &mut f64) {
    let now = Instant::now();
    *seconds += now.duration_since(*clock).as_secs_f64();
    *clock = now;
}

impl<'a> Thread<'a> {
    fn new(shared: &'a Evaluation<'a>, is_noisy: bool) -> Self {
        let stride = shared.transitions.stride();
        let rows = shared.partition.max_block_tokens() * stride;
        let pairs = shared.transitions.pair_numbers();
        Self {
            shared,
            regularizer: is_noisy.then(|| Engine::Exact.regularizer()),
            lattice: Lattice::default(),
            sums: EdgeSums::new(&shared.transitions),
            pairs: [(); 2].map(|()| vec![0.0; pairs]),
            variances: Aligned::default(),
            derivatives: [(); 2].map(|()| Aligned::zeros(rows)),
            gradient: vec![0.0; shared.theta.len()],
        }
    }

    /// Returns the seconds of each kernel for some blocks.
    fn fastest(
        &mut self,
        blocks: &(impl Iterator<Item = usize> + Clone),
        rounds: usize,
    ) -> ByKernel<f64> {
        let mut fastest: Vec<_> = blocks.clone().map(|_| [f64::INFINITY; 4]).collect();
        for _ in 0..rounds {
            for (index, fastest) in blocks.clone().zip(&mut fastest) {
                let seconds = self.run(index);
                for (fastest, seconds) in fastest.iter_mut().zip(seconds) {
                    *fastest = fastest.min(seconds);
                }
            }
        }
        std::array::from_fn(|kernel| fastest.iter().map(|seconds| seconds[kernel]).sum())
    }

    /// Runs block `index` and returns the seconds of each kernel.
    fn run(&mut self, index: usize) -> ByKernel<f64> {
        let shared = self.shared;
        let block = &shared.partition.blocks[index];
        let mut seconds = ByKernel::default();
        for chunk in &block.chunks {
            let mut clock = Instant::now();
            if let Some(regularizer) = &mut self.regularizer {
                regularizer.begin(shared.context());
            }
            lap(&mut clock, &mut seconds[2]);
            self.sums.clear();
            for i in chunk.clone() {
                self.run_sentence(i, block.tokens.start, &mut seconds);
            }
            let mut clock = Instant::now();
            let [scores, variance] = &mut self.pairs;
            self.sums.finish(&shared.transitions, scores);
            lap(&mut clock, &mut seconds[1]);
            if let Some(regularizer) = &mut self.regularizer {
                let out = ChainDerivatives { scores, variance };
                regularizer.finish(shared.context(), out);
            }
            lap(&mut clock, &mut seconds[2]);
        }
        let [scores, variances] = &self.derivatives;
        let noise = self.regularizer.is_some().then(|| VarianceDerivatives {
            values: variances,
            rate: NOISE.rates()[0],
            theta: shared.theta,
        });
        let mut clock = Instant::now();
        (shared.transpose).add_gradient(index, scores, noise, &mut self.gradient);
        lap(&mut clock, &mut seconds[3]);
        seconds
    }

    /// Runs a sentence of a block that begins at token `first`.
    fn run_sentence(&mut self, i: usize, first: usize, seconds: &mut ByKernel<f64>) {
        let shared = self.shared;
        let (transitions, tokens) = (&shared.transitions, shared.data.sentence(i));
        let stride = transitions.stride();
        let rows = (tokens.start - first) * stride..(tokens.end - first) * stride;
        let (length, is_noisy) = (rows.len(), self.regularizer.is_some());
        let [scores, by_variance] = &mut self.derivatives;
        let (scores, by_variance) = (&mut scores[rows.clone()], &mut by_variance[rows]);
        self.variances.resize(length);
        let variances =
            is_noisy.then_some(Variances { values: &mut self.variances, rate: NOISE.rates()[0] });

        let mut clock = Instant::now();
        (shared.product).write(shared.theta, tokens, scores, variances);
        lap(&mut clock, &mut seconds[0]);

        let node = &*scores;
        (self.lattice).forward_backward(transitions, Scores { node, edge: None }, None);
        (self.lattice).add_edge_expectations(transitions, &mut self.sums);
        lap(&mut clock, &mut seconds[1]);

        scores.copy_from_slice(self.lattice.node_marginals());
        if let Target::Gold(labels) = shared.data.target(i) {
            for (row, label) in scores.chunks_exact_mut(stride).zip(labels) {
                row[label.index()] -= 1.0;
            }
        }
        by_variance.fill(0.0);
        let Some(regularizer) = &mut self.regularizer else {
            return;
        };
        let arrays = |nodes| ScoreArrays { nodes, edges: &mut [] };
        let mut out = Derivatives { scores: arrays(scores), variances: arrays(by_variance) };
        let input = SentenceInput {
            chain: shared.context(),
            lattice: &self.lattice,
            variances: Scores { node: &self.variances, edge: None },
            weight: 1.0,
            features: Features::default(),
        };
        let mut clock = Instant::now();
        regularizer.regularize(input, &mut out);
        lap(&mut clock, &mut seconds[2]);
    }
}
