//! The parameters of training, checked.

use serde::{Serialize, Serializer};

use super::loss_options::check_loss;
use super::options::{Defaults, NoiseKind, TrainOptions, WarmStart};
use crate::chain::Order;
use crate::error::{Error, Result};
use crate::noise::{Engine, Expectation};
use crate::objective::{MonteCarlo, Noise, NoiseDistribution, NoiseSharing};
use crate::online::{Algorithm, OnlineNoiseKind, StepRule};
use crate::optim::{LbfgsOptions, LbfgsSettings};

/// Maximum number of samples per sentence. The error falls with the square root of the number while
/// the time is proportional to it: more is a typo.
const MAX_SAMPLES: u32 = 1000;

/// [`TrainOptions`] within their ranges, with the default of [`TrainOptions::l2`] resolved.
///
/// Serializes like the options, with the resolved number under `l2`.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainSettings {
    options: TrainOptions, // l2 is Some
    l2: f64,
}

/// The noise term of an objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NoiseTerm {
    /// The quadratic regularizer.
    Quadratic(Noise),
    /// Sampled dropout.
    MonteCarlo(MonteCarlo),
}

impl NoiseTerm {
    /// Returns whether every attribute has noise at every token, active or not.
    pub fn is_additive(&self) -> bool {
        match self {
            Self::Quadratic(noise) => noise.distribution == NoiseDistribution::Additive,
            Self::MonteCarlo(_) => false,
        }
    }

    /// Returns whether amounts are dropout rates, not variances.
    pub fn is_dropout(&self) -> bool {
        match self {
            Self::Quadratic(noise) => noise.distribution == NoiseDistribution::Dropout,
            Self::MonteCarlo(_) => true,
        }
    }

    /// Returns the amounts of noise on node attributes and on all other features.
    pub fn amounts(&self) -> [f64; 2] {
        match self {
            Self::Quadratic(noise) => [noise.node, noise.edge],
            Self::MonteCarlo(sampling) => [sampling.node, sampling.edge],
        }
    }
}

impl TrainSettings {
    /// Checks `options`.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] naming the option that is out of its range.
    pub fn new(mut options: TrainOptions) -> Result<Self> {
        check_not_negative("L2 strength", options.l2.unwrap_or(0.0))?;
        check_not_negative("L1 strength", options.l1)?;
        check_amount("dropout", options.dropout, options.noise)?;
        check_amount(
            "edge dropout",
            options.edge_dropout.unwrap_or(0.0),
            options.noise,
        )?;
        check_monte_carlo(&options)?;
        check_expectation(&options)?;
        check_sharing(&options)?;
        check_informativeness(&options)?;
        check_not_negative("pruning threshold", options.prune)?;
        check_not_negative("unlabeled weight", options.unlabeled_weight)?;
        check_not_negative("weight of copies without case", options.caseless)?;
        if let Some(bias) = options.recall_bias
            && !bias.is_finite()
        {
            return Err(Error::parameter(format!(
                "recall bias {bias}; expected a finite number"
            )));
        }
        if let Some(frequency) = options.min_frequency
            && !frequency.is_finite()
        {
            return Err(Error::parameter(format!(
                "minimum frequency {frequency}; expected a finite number"
            )));
        }
        for (name, is_zero) in [
            ("minimum count", options.min_count == 0),
            ("patience", options.patience == 0),
        ] {
            if is_zero {
                return Err(Error::parameter(format!("{name} 0; expected 1 or more")));
            }
        }
        if let Some(limit) = options.lbfgs.max_iterations {
            return Err(Error::parameter(format!(
                "{limit} iterations among the options of L-BFGS; expected none, since the maximum \
                 is an option of training"
            )));
        }
        LbfgsSettings::new(options.lbfgs.clone())?;
        check_algorithm(&options)?;
        check_loss(&options)?;
        let l2 = options.l2.unwrap_or(match options.algorithm {
            Algorithm::Lbfgs | Algorithm::Sgd(_) if options.has_noise() => Defaults::L2_WITH_NOISE,
            Algorithm::Lbfgs => Defaults::L2,
            Algorithm::Sgd(_) => Defaults::SGD_L2,
            Algorithm::Ap(_) | Algorithm::Pa(_) | Algorithm::Arow(_) => 0.0,
        });
        options.l2 = Some(l2);
        Ok(Self { options, l2 })
    }

    /// Returns the options, all within their ranges, with a number for `l2`.
    #[must_use]
    pub fn options(&self) -> &TrainOptions {
        &self.options
    }

    /// Returns the strength c2 of the L2 penalty.
    #[must_use]
    pub fn l2(&self) -> f64 {
        self.l2
    }

    /// Returns the number of warm-up iterations before those with noise, if there is noise.
    #[must_use]
    pub fn warm_up(&self) -> usize {
        if self.options.loss.is_some() {
            return 0; // its bounds are convex
        }
        let half = self.options.max_iterations.map_or(usize::MAX, |n| n / 2);
        let default = match self.options.algorithm {
            Algorithm::Sgd(_) => Defaults::SGD_WARM_UP,
            _ if self.options.warm_start == WarmStart::Online => Defaults::WARM_UP_AFTER_PASSES,
            _ => Defaults::WARM_UP,
        };
        self.options.warm_up.unwrap_or(default.min(half))
    }

    /// Returns the maximum number of iterations, if there is one.
    #[must_use]
    pub fn max_iterations(&self) -> Option<usize> {
        let options = &self.options;
        options
            .max_iterations
            .or(options.algorithm.max_iterations())
    }

    /// Returns the kind of noise of an online learner, if there is noise.
    pub(super) fn online_noise(&self) -> Option<OnlineNoiseKind> {
        Some(match self.noise()? {
            NoiseTerm::Quadratic(noise) => OnlineNoiseKind::Quadratic(noise),
            NoiseTerm::MonteCarlo(MonteCarlo { node, edge, .. }) => OnlineNoiseKind::Sampled {
                rates: [node, edge],
                seed: self.options.seed,
            },
        })
    }

    /// Returns the settings for training that continues from weights: without a warm-up, unless the
    /// options ask for one. Noise prevents rare attributes from gaining weight, and these have.
    #[must_use]
    pub fn continuing(mut self) -> Self {
        self.options.warm_up.get_or_insert(0);
        self
    }

    /// Returns the quadratic noise term.
    ///
    /// # Errors
    ///
    /// There is no noise, or it is Monte-Carlo noise.
    pub fn quadratic_noise(&self) -> Result<Noise> {
        match self.noise() {
            Some(NoiseTerm::Quadratic(noise)) => Ok(noise),
            Some(NoiseTerm::MonteCarlo(_)) => Err(Error::parameter(
                "the noise is monte-carlo; expected noise with a quadratic regularizer",
            )),
            None => Err(Error::parameter(
                "there is no noise; expected a rate above 0",
            )),
        }
    }

    /// Returns the noise term, if there is noise.
    pub(super) fn noise(&self) -> Option<NoiseTerm> {
        let options = &self.options;
        if !options.has_noise() {
            return None;
        }
        let (node, edge) = (options.dropout, options.edge_noise());
        let quadratic = |distribution| {
            NoiseTerm::Quadratic(Noise {
                distribution,
                node,
                edge,
                engine: options.gradient,
                sharing: options.noise_sharing,
                unlabeled_weight: options.unlabeled_weight,
            })
        };
        Some(match options.noise {
            NoiseKind::Dropout => quadratic(NoiseDistribution::Dropout),
            NoiseKind::Gaussian => quadratic(NoiseDistribution::Gaussian),
            NoiseKind::Additive => quadratic(NoiseDistribution::Additive),
            NoiseKind::MonteCarlo => NoiseTerm::MonteCarlo(MonteCarlo {
                node,
                edge,
                samples: options.samples,
                seed: options.seed,
                unlabeled_weight: options.unlabeled_weight,
            }),
        })
    }
}

impl Serialize for TrainSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.options.serialize(serializer)
    }
}

fn check_not_negative(name: &str, value: f64) -> Result<()> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(Error::parameter(format!(
        "{name} {value}; expected a finite number that is not negative"
    )))
}

/// Checks an amount of noise: a rate or a variance.
fn check_amount(name: &str, amount: f64, noise: NoiseKind) -> Result<()> {
    let (range, is_valid) = match noise {
        NoiseKind::Dropout | NoiseKind::MonteCarlo => {
            ("a rate of at least 0 and below 1", amount < 1.0)
        }
        NoiseKind::Gaussian | NoiseKind::Additive => (
            "a variance: a finite number that is not negative",
            amount.is_finite(),
        ),
    };
    if is_valid && amount >= 0.0 {
        return Ok(());
    }
    Err(Error::parameter(format!(
        "{name} {amount}; expected {range}"
    )))
}

fn check_monte_carlo(options: &TrainOptions) -> Result<()> {
    if !(1..=MAX_SAMPLES).contains(&options.samples) {
        return Err(Error::parameter(format!(
            "{} samples; expected 1 to {MAX_SAMPLES}",
            options.samples
        )));
    }
    if options.noise == NoiseKind::MonteCarlo && options.gradient != Engine::Adjoint {
        return Err(Error::parameter(format!(
            "gradient '{}' with monte-carlo noise; expected the default, since sampled \
             dropout has only one gradient, which is exact",
            options.gradient
        )));
    }
    Ok(())
}

/// Checks that Gaussian scores are those of order 0, with noise on the attributes that occur.
fn check_expectation(options: &TrainOptions) -> Result<()> {
    if options.gradient.expectation().is_none() {
        return Ok(());
    }
    let (option, expected) = if options.order == Order::One {
        (
            "order 1",
            "--order 0, at which labels are independent, or --gradient exact",
        )
    } else if options.noise == NoiseKind::Additive {
        (
            "additive noise",
            "--noise dropout or gaussian, or --gradient exact",
        )
    } else {
        return Ok(());
    };
    Err(Error::parameter(format!(
        "gradient '{}' with {option}; expected {expected}",
        options.gradient
    )))
}

/// Checks that labels share the masks of Gaussian scores only if there are two.
///
/// # Errors
///
/// [`Error::Parameter`] with the number of labels.
pub(super) fn check_labels(noise: &NoiseTerm, labels: usize) -> Result<()> {
    let NoiseTerm::Quadratic(noise) = noise else {
        return Ok(());
    };
    if labels <= 2 || noise.sharing == NoiseSharing::Weights || noise.engine.expectation().is_none()
    {
        return Ok(());
    }
    Err(Error::parameter(format!(
        "gradient '{}' with noise sharing 'inputs' and {labels} labels; expected two labels, \
         --masks weights, or --gradient exact",
        noise.engine
    )))
}

/// Checks that strengths by informativeness are positive, and that what trains can have them.
fn check_informativeness(options: &TrainOptions) -> Result<()> {
    let Some(epsilon) = options.l2_informativeness else {
        return Ok(());
    };
    if !(epsilon.is_finite() && epsilon > 0.0) {
        return Err(Error::parameter(format!(
            "L2 informativeness {epsilon}; expected a finite number above 0"
        )));
    }
    let found = if options.algorithm.is_online() {
        format!("algorithm {}", options.algorithm.name())
    } else if options.warm_start != WarmStart::Off {
        "an online warm start".to_owned()
    } else if let Some(loss) = options.loss {
        format!("the {} loss", loss.name())
    } else {
        return Ok(());
    };
    Err(Error::parameter(format!(
        "L2 strengths by informativeness with {found}; expected batch training of -log p, or \
         strengths that are all alike"
    )))
}

/// Checks that noise whose masks labels share is of a kind that has such masks.
fn check_sharing(options: &TrainOptions) -> Result<()> {
    if options.noise_sharing == NoiseSharing::Weights {
        return Ok(());
    }
    let unfit = |option: String, expected: &str| {
        Err(Error::parameter(format!(
            "noise sharing 'inputs' with {option}; expected {expected}"
        )))
    };
    let kind = match options.noise {
        NoiseKind::Dropout | NoiseKind::Gaussian => None,
        NoiseKind::Additive => Some("additive"),
        NoiseKind::MonteCarlo => Some("monte-carlo"),
    };
    if let Some(kind) = kind {
        return unfit(
            format!("{kind} noise"),
            "--noise dropout or gaussian, or --masks weights",
        );
    }
    if !matches!(
        options.gradient,
        Engine::Adjoint | Engine::Gaussian(Expectation::Best)
    ) {
        return unfit(
            format!("gradient '{}'", options.gradient),
            "--gradient exact or, of two labels, gaussian, or --masks weights",
        );
    }
    if options.algorithm.is_online() && options.has_noise() {
        return unfit(
            format!("algorithm {}", options.algorithm.name()),
            "--algorithm lbfgs, or --masks weights",
        );
    }
    Ok(())
}

/// Checks the parameters of the algorithm, and that it has what other options ask for.
fn check_algorithm(options: &TrainOptions) -> Result<()> {
    let algorithm = &options.algorithm;
    algorithm.check()?;
    let name = algorithm.name();
    let unfit = |option: String, expected: &str| {
        Err(Error::parameter(format!(
            "algorithm {name} with {option}; expected {expected}"
        )))
    };
    if !algorithm.is_online() {
        return Ok(());
    }
    if let Algorithm::Sgd(sgd) = algorithm
        && sgd.step == StepRule::Curvature
        && options.has_noise()
        && options.noise == NoiseKind::MonteCarlo
    {
        let expected = "--noise dropout, or --step adagrad";
        return unfit("step curvature and sampled noise".to_owned(), expected);
    }
    if options.warm_start == WarmStart::Online {
        let expected = "--warm-start off: it is a start of --algorithm lbfgs";
        return unfit("an online warm start".to_owned(), expected);
    }
    if options.l1 > 0.0 {
        let expected = "no L1 penalty (--l1 0), or --algorithm lbfgs, which alone has one";
        return unfit(format!("L1 strength {}", options.l1), expected);
    }
    if options.lbfgs != LbfgsOptions::default() {
        return unfit("options of L-BFGS".to_owned(), "their defaults");
    }
    if options.gradient != Engine::Adjoint {
        let expected = "the default (--gradient exact)";
        return unfit(format!("gradient '{}'", options.gradient), expected);
    }
    if options.samples != Defaults::SAMPLES {
        let expected = "the default, since attributes are dropped once per update";
        return unfit(format!("{} samples", options.samples), expected);
    }
    if algorithm.is_probabilistic() {
        if options.has_noise() && options.noise == NoiseKind::Additive {
            return unfit(
                "additive noise".to_owned(),
                "another kind (--noise), since its variances depend on all weights",
            );
        }
        return Ok(());
    }
    for (name, flag, value) in [
        ("dropout", "--dropout", options.dropout),
        ("edge dropout", "--edge-dropout", options.edge_noise()),
        ("L2 strength", "--l2", options.l2.unwrap_or(0.0)),
    ] {
        if value > 0.0 {
            return Err(Error::parameter(format!(
                "algorithm {} with {name} {value}; expected 0, since it learns from the best \
                 labels and computes no likelihood ({flag} 0)",
                algorithm.name()
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(change: impl FnOnce(&mut TrainOptions)) -> Result<TrainSettings> {
        let mut options = TrainOptions::default();
        change(&mut options);
        TrainSettings::new(options)
    }

    fn error(change: impl FnOnce(&mut TrainOptions)) -> String {
        settings(change).unwrap_err().to_string()
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        assert!(TrainSettings::new(TrainOptions::default()).is_ok());
        assert_eq!(
            error(|o| o.l2 = Some(-1.0)),
            "L2 strength -1; expected a finite number that is not negative"
        );
        assert_eq!(
            error(|o| o.l1 = f64::NAN),
            "L1 strength NaN; expected a finite number that is not negative"
        );
        assert_eq!(
            error(|o| o.recall_bias = Some(f64::INFINITY)),
            "recall bias inf; expected a finite number"
        );
        assert_eq!(
            error(|o| o.prune = f64::INFINITY),
            "pruning threshold inf; expected a finite number that is not negative"
        );
        assert_eq!(error(|o| o.patience = 0), "patience 0; expected 1 or more");
        assert_eq!(
            error(|o| o.lbfgs.memory = 0),
            "memory of 0 pairs; expected 1 to 1000"
        );
        assert_eq!(
            error(|o| o.lbfgs.max_iterations = Some(9)),
            "9 iterations among the options of L-BFGS; expected none, since the maximum is an \
             option of training"
        );
        assert_eq!(
            error(|o| o.min_count = 0),
            "minimum count 0; expected 1 or more"
        );
    }

    #[test]
    fn gaussian_scores_are_those_of_order_0_with_proportional_noise_in_batches() {
        use crate::online::SgdOptions;
        let at_0 = |change: fn(&mut TrainOptions)| {
            settings(|o| {
                (o.order, o.gradient) = (Order::Zero, Engine::Gaussian(Expectation::Best));
                change(o);
            })
        };
        let quadratic = |change| at_0(change).unwrap().quadratic_noise().unwrap();
        let engine = quadratic(|_| ()).engine;
        assert_eq!(engine.expectation(), Some(Expectation::Best));
        assert!(at_0(|o| o.noise_sharing = NoiseSharing::Inputs).is_ok());
        let error = |change| at_0(change).unwrap_err().to_string();
        assert_eq!(
            error(|o| o.order = Order::One),
            "gradient 'gaussian' with order 1; expected --order 0, at which labels are \
             independent, or --gradient exact"
        );
        assert_eq!(
            error(|o| o.noise = NoiseKind::Additive),
            "gradient 'gaussian' with additive noise; expected --noise dropout or gaussian, or \
             --gradient exact"
        );
        assert_eq!(
            error(|o| o.noise = NoiseKind::MonteCarlo),
            "gradient 'gaussian' with monte-carlo noise; expected the default, since sampled \
             dropout has only one gradient, which is exact"
        );
        assert_eq!(
            error(|o| o.algorithm = Algorithm::Sgd(SgdOptions::default())),
            "algorithm sgd with gradient 'gaussian'; expected the default (--gradient exact)"
        );
        assert_eq!(
            error(|o| {
                o.gradient = Engine::Gaussian(Expectation::Unscented);
                o.noise_sharing = NoiseSharing::Inputs;
            }),
            "noise sharing 'inputs' with gradient 'unscented'; expected --gradient exact or, of \
             two labels, gaussian, or --masks weights"
        );
    }

    #[test]
    fn masks_of_gaussian_scores_are_shared_by_two_labels_alone() {
        let settings = settings(|o| {
            (o.order, o.gradient) = (Order::Zero, Engine::Gaussian(Expectation::Best));
            o.noise_sharing = NoiseSharing::Inputs;
        });
        let noise = settings.unwrap().noise().unwrap();
        assert!(check_labels(&noise, 2).is_ok());
        assert_eq!(
            check_labels(&noise, 3).unwrap_err().to_string(),
            "gradient 'gaussian' with noise sharing 'inputs' and 3 labels; expected two labels, \
             --masks weights, or --gradient exact"
        );
    }

    #[test]
    fn labels_share_masks_of_proportional_noise_with_the_exact_gradient_alone() {
        use crate::online::SgdOptions;
        let inputs = |change: fn(&mut TrainOptions)| {
            settings(|o| {
                o.noise_sharing = NoiseSharing::Inputs;
                change(o);
            })
        };
        let sharing = |settings: TrainSettings| settings.quadratic_noise().unwrap().sharing;
        for kind in [NoiseKind::Dropout, NoiseKind::Gaussian] {
            let options = TrainOptions {
                noise: kind,
                noise_sharing: NoiseSharing::Inputs,
                ..TrainOptions::default()
            };
            let found = sharing(TrainSettings::new(options).unwrap());
            assert_eq!(found, NoiseSharing::Inputs);
        }
        assert_eq!(sharing(settings(|_| ()).unwrap()), NoiseSharing::Weights);
        let error = |change| inputs(change).unwrap_err().to_string();
        let kinds = "expected --noise dropout or gaussian, or --masks weights";
        assert_eq!(
            error(|o| o.noise = NoiseKind::Additive),
            format!("noise sharing 'inputs' with additive noise; {kinds}")
        );
        assert_eq!(
            error(|o| o.noise = NoiseKind::MonteCarlo),
            format!("noise sharing 'inputs' with monte-carlo noise; {kinds}")
        );
        for (engine, name) in [
            (Engine::Local, "local"),
            (Engine::Reweighted(20), "reweighted=20"),
        ] {
            let options = TrainOptions {
                gradient: engine,
                noise_sharing: NoiseSharing::Inputs,
                ..TrainOptions::default()
            };
            assert_eq!(
                TrainSettings::new(options).unwrap_err().to_string(),
                format!(
                    "noise sharing 'inputs' with gradient '{name}'; expected --gradient exact \
                     or, of two labels, gaussian, or --masks weights"
                )
            );
        }
        let sgd: fn(&mut TrainOptions) = |o| o.algorithm = Algorithm::Sgd(SgdOptions::default());
        assert_eq!(
            error(sgd),
            "noise sharing 'inputs' with algorithm sgd; expected --algorithm lbfgs, or \
             --masks weights"
        );
        let quiet = |o: &mut TrainOptions| {
            o.algorithm = Algorithm::Sgd(SgdOptions::default());
            o.dropout = 0.0;
        };
        assert!(inputs(quiet).is_ok());
    }

    #[test]
    fn a_dropout_rate_is_below_1_and_a_variance_is_finite() {
        let expected = "expected a rate of at least 0 and below 1";
        assert_eq!(error(|o| o.dropout = 1.0), format!("dropout 1; {expected}"));
        assert_eq!(
            error(|o| o.edge_dropout = Some(-0.5)),
            format!("edge dropout -0.5; {expected}")
        );
        assert_eq!(
            error(|o| (o.noise, o.dropout) = (NoiseKind::Additive, f64::INFINITY)),
            "dropout inf; expected a variance: a finite number that is not negative"
        );
        assert_eq!(
            error(|o| o.unlabeled_weight = -0.1),
            "unlabeled weight -0.1; expected a finite number that is not negative"
        );
    }

    #[test]
    fn monte_carlo_noise_needs_samples_and_has_one_engine() {
        assert_eq!(error(|o| o.samples = 0), "0 samples; expected 1 to 1000");
        assert_eq!(
            error(|o| o.samples = 1001),
            "1001 samples; expected 1 to 1000"
        );
        assert_eq!(
            error(|o| (o.noise, o.gradient) = (NoiseKind::MonteCarlo, Engine::Local)),
            "gradient 'local' with monte-carlo noise; expected the default, since sampled \
             dropout has only one gradient, which is exact"
        );
        assert_eq!(
            error(|o| (o.noise, o.dropout) = (NoiseKind::MonteCarlo, 1.0)),
            "dropout 1; expected a rate of at least 0 and below 1"
        );
    }

    #[test]
    fn the_default_l2_depends_on_whether_there_is_noise() {
        let l2 = |change: fn(&mut TrainOptions)| settings(change).unwrap().l2();
        assert_eq!(l2(|_| {}), Defaults::L2_WITH_NOISE);
        assert_eq!(l2(|o| o.dropout = 0.0), Defaults::L2);
        assert_eq!(
            l2(|o| (o.dropout, o.edge_dropout) = (0.0, Some(0.5))),
            Defaults::L2_WITH_NOISE
        );
        assert_eq!(l2(|o| (o.dropout, o.l2) = (0.0, Some(0.7))), 0.7);
    }

    #[test]
    fn settings_serialize_with_the_resolved_l2() {
        let settings = settings(|o| o.dropout = 0.0).unwrap();
        let json = serde_json::to_string(&settings).unwrap();
        assert!(json.contains(",\"l2\":0.3,\"l1\":0.0,"), "{json}");
        assert_eq!(
            &serde_json::from_str::<TrainOptions>(&json).unwrap(),
            settings.options()
        );
    }

    #[test]
    fn the_warm_up_is_at_most_half_of_the_iterations_by_default() {
        let warm_up = |warm_up, max_iterations| {
            let settings = settings(|o| (o.warm_up, o.max_iterations) = (warm_up, max_iterations));
            settings.unwrap().warm_up()
        };
        assert_eq!(warm_up(None, None), Defaults::WARM_UP);
        assert_eq!(warm_up(None, Some(6)), 3);
        assert_eq!(warm_up(Some(7), None), 7);
    }
}
