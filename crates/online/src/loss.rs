//! The loss of a sentence, −log p(Y|x) with or without noise, and its gradient. The kernel that
//! computes them from scores is that of batch training ([`SentenceKernel`]).

use dropchain::kernel::chain::{LabelWeights, Transitions};
use dropchain::kernel::extract::Target;
use dropchain::kernel::noise::{ChainContext, Derivatives, Features, LabelVariances};
use dropchain::kernel::objective::{
    BlockArrays, NoiseOptions, SentenceArrays, SentenceKernel, SentenceTask, SentenceTerms,
};

use crate::masks::{Dropout, DroppedSentence};
use crate::problem::Problem;
use crate::rows::{ColumnRates, Rows};

/// The noise of updates: at most one of both kinds.
#[derive(Clone, Debug, Default)]
pub(crate) struct OnlineNoise {
    /// The quadratic regularizer of each sentence, labeled or not.
    pub quadratic: Option<Quadratic>,
    /// Attributes are dropped at random.
    dropout: Option<Dropout>,
}

#[derive(Clone, Debug)]
pub(crate) struct Quadratic {
    noise: NoiseOptions,
    rates: ColumnRates,
    factors: [f64; 2], // of a labeled and of an unlabeled sentence
}

/// Weights a·v.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScaledWeights<'a> {
    /// v.
    pub values: &'a [f64],
    /// a.
    pub factor: f64,
}

/// Computes losses and gradients; a reusable workspace.
#[derive(Debug)]
pub(crate) struct SentenceLoss {
    noise: OnlineNoise,
    kernels: [SentenceKernel; 2], // without and with the quadratic regularizer
    label_weights: LabelWeights,
    transitions: Transitions,
    variances: LabelVariances,
    /// Scores, then derivatives with respect to them.
    scores: BlockArrays,
    score_variances: BlockArrays,
    variance_derivatives: BlockArrays,
    dropped: Option<DroppedSentence>, // the sentence, if it has masks
}

impl OnlineNoise {
    /// Prepares noise.
    pub fn new(problem: &Problem<'_>, noise: NoiseOptions, seed: u64) -> Self {
        if noise.kind.is_sampled() {
            let dropout = Dropout { rates: noise.amounts(), seed };
            return Self { quadratic: None, dropout: Some(dropout) };
        }
        let rates = [0, 1].map(|block| {
            let groups = problem.first_group(block)..problem.first_group(block + 1);
            let rate = noise.rates()[block];
            problem.members[groups].iter().map(|m| rate / m).collect()
        });
        let factors = noise.factors(problem.data.total_weights());
        let quadratic = Quadratic { noise, rates, factors };
        Self { quadratic: Some(quadratic), dropout: None }
    }
}

impl SentenceLoss {
    pub fn new(problem: &Problem<'_>, noise: OnlineNoise) -> Self {
        let transitions = Transitions::new(problem.space.labels(), problem.space.order());
        let engine = noise.quadratic.as_ref().map(|quadratic| quadratic.noise.gradient);
        Self {
            noise,
            kernels: [None, engine].map(|engine| SentenceKernel::new(&transitions, engine)),
            label_weights: LabelWeights::default(),
            transitions,
            variances: LabelVariances::default(),
            scores: BlockArrays::default(),
            score_variances: BlockArrays::default(),
            variance_derivatives: BlockArrays::default(),
            dropped: None,
        }
    }

    /// Evaluates a sentence of at least one token: with the noise that it has in an epoch, if there
    /// is one. Its derivatives are kept.
    pub fn evaluate(
        &mut self,
        rows: &Rows<'_>,
        weights: ScaledWeights<'_>,
        noisy_epoch: Option<u64>,
    ) -> SentenceTerms {
        self.set_scores(rows, weights, noisy_epoch);
        let noise_factor = noisy_epoch.and_then(|_| self.set_variances(rows, weights));
        let weight = rows.problem.data.weight(rows.sentence);
        let kernel = &mut self.kernels[usize::from(noise_factor.is_some())];
        let chain = ChainContext { transitions: &self.transitions, variances: &self.variances };
        let task = SentenceTask {
            chain,
            target: rows.problem.data.target(rows.sentence),
            weight,
            noise_weight: weight * noise_factor.unwrap_or(0.0),
            attributes: Features::default(),
        };
        let mut arrays = SentenceArrays {
            variances: self.score_variances.arrays(),
            derivatives: Derivatives {
                scores: self.scores.arrays(),
                variances: self.variance_derivatives.arrays(),
            },
        };
        kernel.begin(chain);
        let terms = kernel.evaluate(task, &mut arrays);
        kernel.finish(chain);
        terms
    }

    /// Sets the scores and the transitions of a sentence, some of which may be dropped.
    fn set_scores(
        &mut self,
        rows: &Rows<'_>,
        weights: ScaledWeights<'_>,
        noisy_epoch: Option<u64>,
    ) {
        let dropout = self.noise.dropout.as_ref().zip(noisy_epoch);
        self.dropped = dropout.map(|(dropout, epoch)| dropout.draw(rows, epoch));
        rows_left(&self.dropped, rows).score(weights.values, &mut self.scores);
        scale(&mut self.scores, weights.factor);
        let (problem, labels) = (rows.problem, &mut self.label_weights);
        problem.space.label_weights(weights.values, labels);
        for label_weights in [&mut labels.transitions, &mut labels.start, &mut labels.end] {
            label_weights.iter_mut().for_each(|w| *w *= weights.factor);
        }
        if let Some(dropped) = &self.dropped {
            dropped.mask_labels(problem, labels, &mut self.scores.edges);
        }
        self.transitions.set(&labels.transitions, &labels.start, &labels.end);
    }

    /// Sets the variances of the scores of a sentence, and returns the factor of its regularizer,
    /// if there is one.
    fn set_variances(&mut self, rows: &Rows<'_>, weights: ScaledWeights<'_>) -> Option<f64> {
        let Quadratic { noise, rates, factors, .. } = self.noise.quadratic.as_ref()?;
        self.variances.set(noise.rates()[1], &self.transitions);
        rows.variances(weights.values, rates, &mut self.score_variances);
        scale(&mut self.score_variances, weights.factor * weights.factor);
        self.variance_derivatives.reset(rows.tokens.len(), rows.problem.space);
        Some(factors[usize::from(rows.sentence >= rows.problem.data.labeled())])
    }

    /// Adds the derivatives of the sentence that was evaluated last with respect to the square of
    /// each weight, which a regularizer has.
    pub fn add_square_gradient(&self, rows: &Rows<'_>, squares: &mut [f64]) {
        if let Some(Quadratic { rates, .. }) = &self.noise.quadratic {
            rows.add_square_gradient(&self.variance_derivatives, rates, squares);
        }
    }

    /// Adds the other derivatives of that sentence, times `factor`, to the weights. A class of m
    /// attributes gets those of all members.
    pub fn add_gradient(
        &mut self,
        rows: &Rows<'_>,
        noisy_epoch: Option<u64>,
        factor: f64,
        weights: &mut [f64],
    ) {
        let Problem { data, space, .. } = rows.problem;
        let quadratic = self.noise.quadratic.as_ref().filter(|_| noisy_epoch.is_some());
        rows_left(&self.dropped, rows).add_gradient(&self.scores, factor, weights);
        let sums = &mut self.kernels[usize::from(quadratic.is_some())].sums;
        if let Some(dropped) = &self.dropped {
            dropped.unmask_labels(&self.scores.edges, sums);
        } else if let Target::Gold(labels) = data.target(rows.sentence) {
            for pair in labels.windows(2) {
                let position = pair[0].index() * space.stride() + pair[1].index();
                sums.pairs[position] -= data.weight(rows.sentence);
            }
        }
        if let Some(Quadratic { noise, .. }) = quadratic {
            sums.add_variances(noise.rates()[1], self.transitions.label_scores());
        }
        for sums in [&mut sums.pairs, &mut sums.first, &mut sums.last] {
            sums.iter_mut().for_each(|sum| *sum *= factor);
        }
        space.add_label_gradient([&sums.pairs, &sums.first, &sums.last], weights);
    }
}

/// Returns the rows of a sentence, of which some entries may be dropped.
fn rows_left<'a>(dropped: &'a Option<DroppedSentence>, whole: &Rows<'a>) -> Rows<'a> {
    dropped.as_ref().map_or_else(|| whole.clone(), |dropped| dropped.rows(whole))
}

/// Multiplies the numbers by a factor.
fn scale(arrays: &mut BlockArrays, factor: f64) {
    if factor != 1.0 {
        let numbers = arrays.nodes.iter_mut().chain(&mut *arrays.edges);
        numbers.for_each(|x| *x *= factor);
    }
}
