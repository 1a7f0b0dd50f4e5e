//! Stochastic gradient descent on the penalized likelihood, with or without noise.
//!
//! The objective of N sentences is the sum of the terms of a sentence and (λ/2)‖θ‖², λ = 2·c2/N:
//!
//! ```text
//! J(θ) = Σ_i ( −log p(y|x) + λ_noise·R(x) + (λ/2)‖θ‖² )
//! ```
//!
//! A step descends along the gradient of one sentence's term. The kernel that computes it is that
//! of batch training ([`SentenceKernel`]).
//!
//! # One rate for all weights
//!
//! ```text
//! η_t = η/(1 + ηλt)      θ ← (1 − η_t λ)·θ − η_t·g
//! ```
//!
//! is the schedule of Pegasos and of CRFsuite's `l2sgd`. All weights decay by the same factor, so
//! θ = a·v: the decay changes the number a, and a sentence only the v of its own attributes.
//!
//! # One rate per weight: AdaGrad
//!
//! ```text
//! θ ← exp(−λη/√G)·θ − ηg/√G      G = Σ g²
//! ```
//!
//! elementwise. G of a weight does not change while its attribute does not occur, so the decay of n
//! steps is exp(−nλη/√G), applied when the attribute occurs next.
//!
//! # One rate per weight: curvature
//!
//! ```text
//! θ ← exp(−λη/H)·θ − ηg/H      H = 1 + Σ ∂²ℓ/∂θ²
//! ```
//!
//! with the second derivatives at the weights of each step, without those of the noise: descent
//! with the quadratic dropout regularizer in place of the distance to the last weights (Wager et
//! al. 2013, eqs. 16 and 17, where the sum begins at 0 and first steps may be of any size). An
//! attribute of value x has x²·μ(1 − μ) for the marginal μ of each label, a label pair the sum over
//! tokens of the same; that two tokens of a sentence depend on one another is left out. For a
//! quadratic loss, features that do not occur together, and η = 1, the steps are those of recursive
//! least squares: the weights minimize ½Σ(θx − y)² + ½θ² after each.
//!
//! Penalties that differ from weight to weight, or pull towards other weights than 0, are applied
//! in the same way, with one rate for all weights as well.
//!
//! # Calibration
//!
//! η is the one, of those around its initial value, with the lowest objective after one pass over
//! some sentences (`learner.rs`).
//!
//! # Sources
//!
//! - S. Shalev-Shwartz, Y. Singer, N. Srebro: Pegasos. ICML 2007.
//! - L. Bottou: <https://leon.bottou.org/projects/sgd>, for the calibration and the lazy decay.
//! - J. Duchi, E. Hazan, Y. Singer: Adaptive subgradient methods for online learning and stochastic
//!   optimization. JMLR 12, 2011.
//! - S. Wager, S. Wang, P. Liang: Dropout training as adaptive regularization. NIPS 2013,
//!   section 5.

use super::algorithm::StepRule;
use super::kernels::{
    AdagradStep, AddProducts, CurvatureStep, Decay, DecayBlock, DecayEntries, DecaySlots,
    DecreasingStep, Derivatives, Descend, DescendLabels, Step,
};
use super::masks::{MaskedValues, Masks};
use super::problem::{Chain, Problem};
use dropchain::chain::{LANES, Order, Transitions};
use dropchain::extract::Target;
use dropchain::math::add;
use dropchain::objective::{
    AttributeNoise, BlockArrays, ChainParameters, LabelVariances, Noise, NoiseTerm, Penalty,
    SentenceArrays, SentenceAttributes, SentenceKernel, SentenceTask, SentenceTerms,
};
use dropchain::score::NoiseRates;
use dropchain::simd;

/// The noise of stochastic gradient descent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OnlineNoise {
    /// The kind, and the amounts where single attributes have no others.
    pub kind: OnlineNoiseKind,
    /// The amounts on single attributes.
    pub amounts: AttributeNoise,
}

/// The kind of noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum OnlineNoiseKind {
    /// The quadratic regularizer of each sentence.
    Analytic(Noise),
    /// Attributes are dropped at random.
    Sampled {
        /// Rates of node attributes, and of all other features.
        rates: [f64; 2],
        /// The seed of the masks.
        seed: u64,
    },
}

/// The weights as stochastic gradient descent keeps them.
#[derive(Clone, Debug, Default)]
pub(super) struct SgdWeights {
    /// v, `[slots]`.
    pub values: Vec<f64>,
    /// a.
    pub decay: f64,
    /// G for AdaGrad, H² for curvature, `[slots]`, or empty.
    pub squares: Vec<f64>,
    /// Unless all weights decay alike: Σ η of the steps of this epoch, and its value when each row
    /// and each single weight was decayed last, of nodes and of edges.
    elapsed: f64,
    last_decay: [[Vec<f64>; 2]; 2],
    /// Number of steps.
    pub steps: u64,
}

/// Takes steps; a reusable workspace.
#[derive(Debug)]
pub(super) struct SgdStepper {
    rule: StepRule,
    /// The number of steps over which the rate falls to 0 in addition, if it does.
    pub cooling: Option<u64>,
    pub penalty: SentencePenalty,
    noise: Option<OnlineNoiseKind>,
    rates: [NoiseRates; 2], // of nodes and edges: ρ or, if attributes are dropped, δ
    noise_factors: [f64; 2], // of a labeled and of an unlabeled sentence
    kernels: [SentenceKernel; 2], // without and with the quadratic regularizer
    chain: Chain,
    free_chain: Chain, // with masked boundaries and no transitions
    variances: LabelVariances,
    scores: BlockArrays,
    score_variances: BlockArrays,
    variance_derivatives: BlockArrays,
    masked: [MaskedValues; 2],
    pairs: Vec<f64>, // [K][S]
    curvature: SentenceCurvature,
}

/// The second derivatives of −log p with respect to the scores of a sentence; empty unless the
/// steps need them.
#[derive(Debug, Default)]
struct SentenceCurvature {
    scores: BlockArrays,
    pairs: Vec<f64>,           // [K][S]
    boundaries: [Vec<f64>; 2], // [S] of the first and of the last label
}

/// What a step depends on besides the weights.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepInput {
    pub sentence: usize,
    pub epoch: u64,
    /// The learning rate η.
    pub eta: f64,
    /// Whether the noise is on.
    pub has_noise: bool,
}

/// The penalty of one sentence: (λ/2)·(w − c)² of each weight.
#[derive(Clone, Debug)]
pub(super) struct SentencePenalty {
    /// λ = 2·c2/N of all weights, or its mean: it determines the schedule of the learning rate.
    pub strength: f64,
    strengths: Vec<f64>, // [slots] λ of each weight, or empty
    centers: Vec<f64>,   // [slots] c of each weight, or empty
}

impl SentencePenalty {
    /// Divides a penalty among `sentences` sentences.
    pub fn new(problem: &Problem<'_>, penalty: &Penalty, sentences: usize) -> Self {
        let (space, layout) = (problem.space, &problem.layout);
        let factor = 2.0 / sentences.max(1) as f64;
        let parameters = 0..space.dimension();
        let strengths = if penalty.uniform_strength().is_some() {
            Vec::new()
        } else {
            let strengths = parameters.clone().map(|i| factor * penalty.strength(i));
            layout.spread(space, &strengths.collect::<Vec<f64>>())
        };
        let centers = if penalty.has_centers() {
            let centers: Vec<f64> = parameters.map(|i| penalty.center(i)).collect();
            layout.weights(space, &centers)
        } else {
            Vec::new()
        };
        let mean = || {
            let all = (0..space.dimension()).map(|i| penalty.strength(i));
            all.sum::<f64>() / space.dimension().max(1) as f64
        };
        Self {
            strength: factor * penalty.uniform_strength().unwrap_or_else(mean),
            strengths,
            centers,
        }
    }

    /// Returns whether all weights decay towards 0 alike.
    fn is_plain(&self) -> bool {
        self.strengths.is_empty() && self.centers.is_empty()
    }

    fn decay<'a>(&'a self, squares: &'a [f64]) -> Decay<'a> {
        Decay {
            strength: self.strength,
            strengths: &self.strengths,
            centers: &self.centers,
            squares,
        }
    }
}

impl SgdWeights {
    /// Creates weights from slots.
    pub fn new(
        problem: &Problem<'_>,
        values: Vec<f64>,
        rule: StepRule,
        penalty: &SentencePenalty,
    ) -> Self {
        let mut weights = Self { decay: 1.0, values, ..Self::default() };
        if let Some(first) = rule.first_square() {
            weights.squares = vec![first; problem.layout.slots()];
        }
        if !weights.squares.is_empty() || !penalty.is_plain() {
            weights.last_decay = [0, 1].map(|block: usize| {
                problem.layout.blocks[block].counts.map(|count| vec![0.0; count])
            });
        }
        weights
    }

    /// Makes the values the weights themselves, after the steps so far.
    pub fn complete(&mut self, problem: &Problem<'_>, penalty: &SentencePenalty) {
        let decay = std::mem::replace(&mut self.decay, 1.0);
        if decay != 1.0 {
            self.values.iter_mut().for_each(|w| *w *= decay);
        }
        let now = std::mem::take(&mut self.elapsed);
        if now > 0.0 {
            for (slots, last) in problem.layout.blocks.iter().zip(&mut self.last_decay) {
                simd::dispatch(DecayBlock {
                    decay: penalty.decay(&self.squares),
                    slots,
                    weights: &mut self.values,
                    last,
                    now,
                });
            }
        }
    }
}

impl SgdStepper {
    pub fn new(
        problem: &Problem<'_>,
        rule: StepRule,
        penalty: SentencePenalty,
        noise: Option<OnlineNoise>,
    ) -> Self {
        let space = problem.space;
        let chain = Chain::new(space);
        let kind = noise.as_ref().map(|noise| noise.kind);
        let (mut engine, mut noise_factors) = (None, [0.0; 2]);
        let amounts = match kind {
            None => [0.0; 2],
            Some(OnlineNoiseKind::Sampled { rates, .. }) => rates,
            Some(OnlineNoiseKind::Analytic(noise)) => {
                if let NoiseTerm::Quadratic(exact) = noise.term {
                    engine = Some(exact);
                }
                noise_factors = noise.factors(problem.data.total_weights());
                [noise.node, noise.edge]
            }
        };
        let convert = |amount| match kind {
            Some(OnlineNoiseKind::Analytic(noise)) => noise.distribution.rate(amount),
            _ => amount,
        };
        let own = noise.map_or_else(AttributeNoise::default, |noise| noise.amounts);
        let rates = own.rates(amounts, convert, space);
        Self {
            rule,
            cooling: None,
            penalty,
            noise: kind,
            rates,
            noise_factors,
            kernels: [None, engine].map(|e| SentenceKernel::new(&chain.transitions, e)),
            chain,
            free_chain: Chain::new(space),
            variances: LabelVariances::default(),
            scores: BlockArrays::default(),
            score_variances: BlockArrays::default(),
            variance_derivatives: BlockArrays::default(),
            masked: Default::default(),
            pairs: vec![0.0; space.labels() * space.stride()],
            curvature: SentenceCurvature::default(),
        }
    }

    /// Takes a step and returns the terms of the sentence before it, without the penalty.
    pub fn step(
        &mut self,
        problem: &Problem<'_>,
        weights: &mut SgdWeights,
        input: StepInput,
    ) -> SentenceTerms {
        let eta = self.penalize(problem, weights, input);
        if problem.data.sentence(input.sentence).is_empty() {
            return SentenceTerms::default();
        }
        let noise = self.noise.filter(|_| input.has_noise);
        let terms = match noise {
            Some(OnlineNoiseKind::Sampled { rates, seed }) => {
                let masks = Masks::new(rates[1], seed, input.epoch, input.sentence);
                self.evaluate_masked(problem, weights, input.sentence, masks)
            }
            Some(OnlineNoiseKind::Analytic(noise)) => {
                self.evaluate(problem, weights, input.sentence, Some(noise))
            }
            None => self.evaluate(problem, weights, input.sentence, None),
        };
        let is_masked = matches!(noise, Some(OnlineNoiseKind::Sampled { .. }));
        match self.rule {
            StepRule::Decreasing => {
                let gain = eta / weights.decay;
                let step = DecreasingStep { gain, eta };
                self.descend(problem, weights, input.sentence, is_masked, step);
            }
            StepRule::Adagrad => {
                let step = AdagradStep { eta };
                self.descend(problem, weights, input.sentence, is_masked, step);
            }
            StepRule::Curvature => {
                let weight = problem.data.weight(input.sentence);
                let kernel = &self.kernels[usize::from(noise.is_some())];
                let chain = &self.chain.transitions;
                self.curvature.set(weight, kernel, chain, &self.scores);
                let step = CurvatureStep { eta };
                self.descend(problem, weights, input.sentence, is_masked, step);
            }
        }
        terms
    }

    /// Applies the penalty of one sentence; returns the learning rate.
    fn penalize(&self, problem: &Problem<'_>, weights: &mut SgdWeights, input: StepInput) -> f64 {
        let strength = self.penalty.strength;
        let eta = self.rate(input.eta, weights.steps);
        weights.steps += 1;
        if weights.last_decay.iter().flatten().all(Vec::is_empty) {
            weights.decay *= 1.0 - eta * strength;
            return eta;
        }
        weights.elapsed += eta;
        let decay = self.penalty.decay(&weights.squares);
        for (i, slots) in problem.layout.blocks.iter().enumerate() {
            simd::dispatch(DecayEntries {
                decay,
                entries: problem.columns[i].sentence(input.sentence),
                slots,
                weights: &mut weights.values,
                last: &mut weights.last_decay[i],
                now: weights.elapsed,
            });
        }
        for slots in problem.layout.label_ranges() {
            simd::dispatch(DecaySlots { decay, weights: &mut weights.values, slots, elapsed: eta });
        }
        eta
    }

    /// Returns the learning rate of a step, given the calibrated one and the number of steps
    /// before.
    pub fn rate(&self, eta: f64, steps: u64) -> f64 {
        let left = (self.cooling).map_or(1.0, |all| 1.0 - steps.min(all) as f64 / all as f64);
        left * self.rule.rate(eta, self.penalty.strength, steps)
    }

    /// Returns −log p(y|x) of a sentence.
    pub fn loss(&mut self, problem: &Problem<'_>, weights: &SgdWeights, sentence: usize) -> f64 {
        if problem.data.sentence(sentence).is_empty() {
            return 0.0;
        }
        self.evaluate(problem, weights, sentence, None).loss
    }

    /// Evaluates a sentence: its scores become derivatives.
    fn evaluate(
        &mut self,
        problem: &Problem<'_>,
        weights: &SgdWeights,
        sentence: usize,
        noise: Option<Noise>,
    ) -> SentenceTerms {
        self.chain.set(problem, &weights.values, weights.decay);
        problem.score(sentence, &weights.values, &mut self.scores);
        if weights.decay != 1.0 {
            scale(&mut self.scores, weights.decay);
        }
        if let Some(noise) = &noise {
            let (space, rates) = (problem.space, &Default::default());
            self.variances.set(noise, rates, space, &[], &self.chain.transitions);
            self.add_variances(problem, weights, sentence);
        }
        let is_unlabeled = sentence >= problem.data.labeled();
        let factor = self.noise_factors[usize::from(is_unlabeled)];
        let task = task(problem, sentence, factor);
        let chain =
            ChainParameters { transitions: &self.chain.transitions, variances: &self.variances };
        let kernel = &mut self.kernels[usize::from(noise.is_some())];
        let arrays = SentenceArrays {
            scores: self.scores.arrays(),
            variances: self.score_variances.arrays(),
            variance_derivatives: self.variance_derivatives.arrays(),
        };
        let terms = evaluate_alone(kernel, chain, task, arrays);
        let stride = problem.space.stride();
        if let Target::Gold(labels) = task.target {
            for pair in labels.windows(2) {
                kernel.sums.pairs[pair[0].index() * stride + pair[1].index()] -= task.weight;
            }
        }
        if let Some(noise) = &noise {
            let weights = self.chain.transitions.label_scores();
            kernel.sums.add_variances(noise.rates()[1], weights);
        }
        self.pairs.copy_from_slice(&kernel.sums.pairs);
        terms
    }

    /// Computes the variances of the scores of a sentence.
    fn add_variances(&mut self, problem: &Problem<'_>, weights: &SgdWeights, sentence: usize) {
        let tokens = problem.data.sentence(sentence).len();
        self.score_variances.reset(tokens, problem.space);
        self.variance_derivatives.reset(tokens, problem.space);
        let arrays = &mut self.score_variances;
        for (i, variances) in [&mut arrays.nodes, &mut arrays.edges].into_iter().enumerate() {
            if variances.is_empty() {
                continue;
            }
            simd::dispatch(AddProducts::<true> {
                entries: problem.columns[i].sentence(sentence),
                slots: &problem.layout.blocks[i],
                weights: &weights.values,
                rates: &self.rates[i],
                sums: variances,
            });
            let factor = weights.decay * weights.decay;
            variances.iter_mut().for_each(|v| *v *= factor);
        }
    }

    /// Evaluates a sentence with some of its features dropped: its scores become derivatives.
    ///
    /// The transitions into each token have a factor of their own, so they are part of the edge
    /// scores.
    fn evaluate_masked(
        &mut self,
        problem: &Problem<'_>,
        weights: &SgdWeights,
        sentence: usize,
        masks: Masks,
    ) -> SentenceTerms {
        let (k, stride) = (problem.space.labels(), problem.space.stride());
        self.chain.set(problem, &weights.values, weights.decay);
        let tokens = problem.data.sentence(sentence).len();
        self.scores.reset(tokens, problem.space);
        let scores = [&mut self.scores.nodes, &mut self.scores.edges];
        for (i, (scores, masked)) in scores.into_iter().zip(&mut self.masked).enumerate() {
            if !scores.is_empty() {
                simd::dispatch(AddProducts::<false> {
                    entries: masks.apply(
                        i,
                        problem.columns[i].sentence(sentence),
                        &self.rates[i],
                        masked,
                    ),
                    slots: &problem.layout.blocks[i],
                    weights: &weights.values,
                    rates: &self.rates[i],
                    sums: scores,
                });
            }
        }
        scale(&mut self.scores, weights.decay);
        let has_edges = problem.space.order() == Order::One;
        if has_edges {
            self.scores.edges.resize(tokens * k * stride, 0.0);
            let matrices = self.scores.edges.chunks_exact_mut(k * stride);
            for (token, matrix) in matrices.enumerate().skip(1) {
                let factor = masks.transition(token);
                for (x, w) in matrix.iter_mut().zip(self.chain.transitions.scores()) {
                    *x += factor * w;
                }
            }
        }
        let boundaries = masks.boundaries();
        let (free, full) = (&mut self.free_chain, &self.chain.weights);
        free.weights.transitions.clear();
        free.weights.transitions.resize(k * k, 0.0);
        for ((to, from), factor) in
            [(&mut free.weights.start, &full.start), (&mut free.weights.end, &full.end)]
                .into_iter()
                .zip(boundaries)
        {
            to.clear();
            to.extend(from.iter().map(|w| factor * w));
        }
        free.update();
        let task = task(problem, sentence, 0.0);
        let chain = ChainParameters { transitions: &free.transitions, variances: &self.variances };
        let kernel = &mut self.kernels[0];
        let arrays = SentenceArrays {
            scores: self.scores.arrays(),
            variances: self.score_variances.arrays(),
            variance_derivatives: self.variance_derivatives.arrays(),
        };
        let terms = evaluate_alone(kernel, chain, task, arrays);
        for (sums, factor) in
            [&mut kernel.sums.first, &mut kernel.sums.last].into_iter().zip(boundaries)
        {
            sums.iter_mut().for_each(|x| *x *= factor);
        }
        self.pairs.fill(0.0);
        if has_edges {
            let matrices = self.scores.edges.chunks_exact(k * stride);
            for (token, matrix) in matrices.enumerate().skip(1) {
                let factor = masks.transition(token);
                for (sum, x) in self.pairs.iter_mut().zip(matrix) {
                    *sum += factor * x;
                }
            }
        }
        terms
    }

    /// Moves the weights of a sentence against the derivatives of the last evaluation.
    fn descend<S: Step>(
        &mut self,
        problem: &Problem<'_>,
        weights: &mut SgdWeights,
        sentence: usize,
        is_masked: bool,
        step: S,
    ) {
        let has_variances = !self.variance_derivatives.nodes.is_empty();
        let scores = [&self.scores.nodes, &self.scores.edges];
        let variances = [&self.variance_derivatives.nodes, &self.variance_derivatives.edges];
        let curvatures = &self.curvature.scores;
        let curvatures = [&curvatures.nodes[..], &curvatures.edges];
        for (i, scores) in scores.into_iter().enumerate() {
            if problem.space.blocks()[i].is_empty() {
                continue;
            }
            let mut entries = problem.columns[i].sentence(sentence);
            if is_masked {
                entries = self.masked[i].entries(entries);
            }
            simd::dispatch(Descend {
                entries,
                slots: &problem.layout.blocks[i],
                masks: &problem.layout.masks,
                weights: &mut weights.values,
                sums: &mut weights.squares,
                derivatives: Derivatives {
                    scores,
                    variances: if has_variances { variances[i] } else { &[] },
                    curvatures: curvatures[i],
                },
                rates: &self.rates[i],
                step,
            });
        }
        let kernel = &self.kernels[usize::from(has_variances)];
        let derivatives = [&self.pairs, &kernel.sums.first, &kernel.sums.last];
        let SentenceCurvature { pairs, boundaries: [first, last], .. } = &self.curvature;
        let curvatures = [pairs, first, last];
        let ranges = problem.layout.label_ranges().into_iter();
        for (range, (derivatives, curvatures)) in
            ranges.zip(derivatives.into_iter().zip(curvatures))
        {
            let sums = if weights.squares.is_empty() {
                &mut []
            } else {
                &mut weights.squares[range.clone()]
            };
            let masks = range.start / LANES..range.end / LANES;
            simd::dispatch(DescendLabels {
                masks: &problem.layout.masks[masks],
                weights: &mut weights.values[range],
                sums,
                derivatives,
                curvatures,
                step,
            });
        }
        self.variance_derivatives.nodes.clear();
        self.variance_derivatives.edges.clear();
    }
}

impl SentenceCurvature {
    /// Sets the second derivatives of a sentence that a kernel has just evaluated; `scores` have
    /// the shape of those of its attributes.
    fn set(
        &mut self,
        weight: f64,
        kernel: &SentenceKernel,
        transitions: &Transitions,
        scores: &BlockArrays,
    ) {
        let lattice = kernel.lattice();
        let variance = |marginal: f64| weight * (marginal * (1.0 - marginal)).max(0.0);
        let variances = |out: &mut Vec<f64>, marginals: &[f64]| {
            out.clear();
            out.extend(marginals.iter().map(|&marginal| variance(marginal)));
        };
        let (k, stride) = (transitions.labels(), transitions.stride());
        let nodes = lattice.node_marginals();
        variances(&mut self.scores.nodes, nodes);
        variances(&mut self.boundaries[0], &nodes[..stride]);
        variances(&mut self.boundaries[1], &nodes[nodes.len() - stride..]);
        self.pairs.clear();
        self.pairs.resize(k * stride, 0.0);
        self.scores.edges.clear();
        self.scores.edges.resize(scores.edges.len(), 0.0);
        if transitions.order() == Order::Zero {
            return;
        }
        let mut marginals = vec![0.0; k * stride];
        for t in 1..nodes.len() / stride {
            lattice.edge_marginals(transitions, t, &mut marginals);
            marginals.iter_mut().for_each(|x| *x = variance(*x));
            add(&mut self.pairs, &marginals);
            let matrix = self.scores.edges.chunks_exact_mut(k * stride).nth(t);
            if let Some(matrix) = matrix {
                matrix.copy_from_slice(&marginals);
            }
        }
    }
}

/// Returns what to evaluate of a sentence whose noise term has this factor.
fn task<'a>(problem: &'a Problem<'_>, sentence: usize, noise_factor: f64) -> SentenceTask<'a> {
    let weight = problem.data.weight(sentence);
    SentenceTask {
        target: problem.data.target(sentence),
        weight,
        noise_weight: weight * noise_factor,
        attributes: SentenceAttributes::default(),
    }
}

/// Evaluates a sentence whose sums are not added to those of others.
fn evaluate_alone(
    kernel: &mut SentenceKernel,
    chain: ChainParameters<'_>,
    task: SentenceTask<'_>,
    arrays: SentenceArrays<'_>,
) -> SentenceTerms {
    kernel.begin(chain);
    let terms = kernel.evaluate(chain, task, arrays);
    kernel.finish(chain);
    terms
}

/// Multiplies the numbers by a factor.
fn scale(arrays: &mut BlockArrays, factor: f64) {
    let numbers = arrays.nodes.iter_mut().chain(&mut arrays.edges);
    numbers.for_each(|x| *x *= factor);
}
