//! The algorithm and its parameters.

use clap::Args;
use dropchain::kernel::train::AnyLearner;
use dropchain::train::{Lbfgs, TrainOptions};
use dropchain::{Error, Result};
use dropchain_online::{Method, WarmStarted};

/// The algorithm and its parameters.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Algorithm")]
pub struct AlgorithmOptions {
    /// How to train the weights: lbfgs, sgd[=ETA], ap, pa[=C], arow[=GAMMA]
    ///
    /// lbfgs: L-BFGS on all sentences, with --l1 OWL-QN. sgd: stochastic gradient descent with an
    /// L2 penalty; calibration of its learning rate begins with ETA (0.1). ap: averaged perceptron.
    /// pa: passive-aggressive; C (1) limits an update. arow: adaptive regularization of weights;
    /// GAMMA (1) trades the loss for the change of the weights. See docs/learners.md.
    #[arg(long, hide_short_help = true)]
    algorithm: Option<Method>,
    /// Stop below this gradient (lbfgs) [default: 1e-5] or mean loss (ap, pa, arow) [default: 0]
    ///
    /// lbfgs stops if ‖gradient‖ ≤ EPSILON · max(1, ‖θ‖), or if the objective fell by less than
    /// 1e-5 of its value in ten iterations, by less than EPSILON if that is smaller; by default,
    /// with noise and without --dev or --patience, by less than 3e-3.
    #[arg(long, hide_long_help = true)]
    epsilon: Option<f64>,
}

impl AlgorithmOptions {
    /// Sets the optimizer of L-BFGS, and the default amount of noise.
    pub fn apply(&self, options: &mut TrainOptions) {
        let lbfgs = &mut options.method;
        lbfgs.noise.dropout = self.method().default_dropout();
        if let Some(epsilon) = self.epsilon.filter(|_| matches!(self.method(), Method::Lbfgs(_))) {
            let optimizer = &mut lbfgs.optimizer;
            optimizer.gradient_tolerance = epsilon;
            optimizer.improvement_tolerance = Some(epsilon.min(1e-5));
        }
    }

    /// Returns the learner with the penalties and the noise of an L-BFGS.
    ///
    /// # Errors
    ///
    /// It does not have them; only L-BFGS has a warm start; SGD has no threshold to stop at.
    pub fn learner(&self, like: Lbfgs, is_warm: bool) -> Result<AnyLearner> {
        match self.method() {
            Method::Lbfgs(_) if is_warm => Ok(WarmStarted { lbfgs: like }.into()),
            method if is_warm => Err(Error::parameter(format!(
                "algorithm {} with an online warm start; expected `warm_start` off: it is a start \
                 of `algorithm` lbfgs",
                method.name()
            ))),
            Method::Sgd(_) if self.epsilon.is_some() => Err(Error::parameter(
                "`epsilon` has no meaning for algorithm sgd; expected lbfgs, ap, pa or arow",
            )),
            method => method.regularized(like),
        }
    }

    /// Returns the algorithm with its parameters, without penalties and noise.
    pub fn method(&self) -> Method {
        let mut method = self.algorithm.clone().unwrap_or(Method::Lbfgs(Lbfgs::default()));
        if let (Method::Mistakes(rule), Some(epsilon)) = (&mut method, self.epsilon) {
            *rule.epsilon() = epsilon;
        }
        method
    }
}
