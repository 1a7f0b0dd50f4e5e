//! The learners in the trainer.

use std::ops::ControlFlow;

use dropchain::corpus::{Corpus, Format, ReadOptions, Supervision};
use dropchain::kernel::chain::Order;
use dropchain::kernel::optim::LbfgsOptions;
use dropchain::kernel::score::{Boundary, States};
use dropchain::kernel::train::{AnyLearner, AnyOptions, Learner, Regularization, Request};
use dropchain::label::Scheme;
use dropchain::model::Precision;
use dropchain::sentence::LineRules;
use dropchain::train::{
    BaseRole, Calibration, CheckpointInterval, Checkpoints, Iteration, Lbfgs, NoiseKind,
    NoiseOptions, Observer, ObserverError, TrainOptions, TrainSettings, Trained, Trainer,
};
use dropchain::{Result, Template};
use dropchain_online::{
    Arow, Method, MistakeRule, PassiveAggressive, Perceptron, Sgd, WarmStarted,
};
use tempfile::TempDir;

const TEXT: &str = "Ada B-PER\nleft O\nLondon B-LOC\n\nshe O\ndied O\nin O\nMarylebone B-LOC\n\n\
                    Charles B-PER\nBabbage I-PER\nleft O\nLondon B-LOC\n\n\
                    they O\nmet O\nAda B-PER\n";

fn learners() -> Vec<AnyLearner> {
    let sgd = |noise| Sgd { noise, warm_up: Some(2), ..Sgd::default() };
    let lbfgs = Lbfgs { warm_up: Some(3), ..Lbfgs::default() };
    let sampled = Lbfgs { noise: sampled(0.3), ..lbfgs.clone() };
    vec![
        sgd(NoiseOptions::none()).into(),
        sgd(NoiseOptions::dropout(0.3)).into(),
        Perceptron::default().into(),
        PassiveAggressive::default().into(),
        Arow::default().into(),
        WarmStarted { lbfgs }.into(),
        sampled.into(),
    ]
}

/// Monte-Carlo noise of this rate.
fn sampled(rate: f64) -> NoiseOptions {
    NoiseOptions { kind: NoiseKind::MonteCarlo(4), ..NoiseOptions::dropout(rate) }
}

fn options(learner: AnyLearner) -> AnyOptions {
    let mut options = TrainOptions::new(learner);
    options.max_iterations = Some(8);
    options.storage.precision = Precision::F64;
    options
}

/// Keeps the objective of the last iteration.
#[derive(Default)]
struct Last(f64);

impl Observer for Last {
    fn iteration(
        &mut self,
        iteration: &Iteration,
    ) -> std::result::Result<ControlFlow<()>, ObserverError> {
        self.0 = iteration.objective;
        Ok(ControlFlow::Continue(()))
    }
}

/// Ends training after an iteration.
struct Ender(usize);

impl Observer for Ender {
    fn iteration(
        &mut self,
        iteration: &Iteration,
    ) -> std::result::Result<ControlFlow<()>, ObserverError> {
        Ok(match iteration.number >= self.0 {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    }
}

fn train(
    options: AnyOptions,
    checkpoints: Option<Checkpoints>,
    observer: &mut dyn Observer,
) -> Result<Trained> {
    train_with("word\nword[-1]\nsuffix(2)\n", options, checkpoints, observer)
}

fn train_with(
    template: &str,
    options: AnyOptions,
    checkpoints: Option<Checkpoints>,
    observer: &mut dyn Observer,
) -> Result<Trained> {
    train_on(TEXT, template, options, checkpoints, observer)
}

fn train_on(
    text: &str,
    template: &str,
    options: AnyOptions,
    checkpoints: Option<Checkpoints>,
    observer: &mut dyn Observer,
) -> Result<Trained> {
    let read = ReadOptions {
        format: Some(Format::Conll),
        lines: LineRules { comments: true, header: false },
        supervision: Supervision { partial_labels: true, ..Supervision::default() },
        ..ReadOptions::default()
    };
    let corpus = Corpus::parse(text, "x.conll", &read)?;
    let template: Template = template.parse()?;
    let mut trainer = Trainer::new(options)?;
    if let Some(checkpoints) = checkpoints {
        trainer = trainer.checkpoints(checkpoints);
    }
    trainer.train(corpus, template, observer)
}

#[test]
fn monte_carlo_noise_needs_one_process() {
    let learner = Lbfgs { noise: sampled(0.3), ..Lbfgs::default() };
    let error = learner.check(Request::Ranks).unwrap_err().to_string();
    assert!(error.starts_with("`noise` monte-carlo is for comparison only"));
}

#[test]
fn an_interrupted_run_resumes_to_the_same_bits() {
    let dir = TempDir::new().unwrap();
    for (number, learner) in learners().into_iter().enumerate() {
        let whole = train(options(learner.clone()), None, &mut ()).unwrap();
        for at in [1, 2, 3, 6] {
            let path = dir.path().join(format!("{number}-{at}"));
            let every = CheckpointInterval::Iterations(1);
            let written = Some(Checkpoints::new(&path).every(every));
            train(options(learner.clone()), written, &mut Ender(at)).unwrap();
            let resumed = Some(Checkpoints::new(&path).resume());
            let resumed = train(options(learner.clone()), resumed, &mut ()).unwrap();
            assert!(
                resumed.model.as_bytes() == whole.model.as_bytes(),
                "{} after {at}",
                learner.name()
            );
        }
    }
}

#[test]
fn the_seed_determines_the_model_and_threads_do_not() {
    for learner in learners() {
        let model = |seed, threads| {
            let options = AnyOptions { seed, ..options(learner.clone()) };
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let trained = pool.install(|| train(options, None, &mut ()));
            trained.unwrap().model.fingerprint().unwrap()
        };
        let one = model(1, 1);
        assert_eq!(model(1, 3), one, "{}", learner.name());
        assert_ne!(model(2, 1), one, "{}", learner.name());
    }
}

/// A change of options.
type Change = fn(&mut AnyOptions);

#[test]
fn the_minimum_is_the_same_after_passes_for_every_kind_of_data_and_model() {
    let without_noise = Lbfgs {
        noise: NoiseOptions::none(),
        l2: Some(0.5),
        optimizer: LbfgsOptions {
            improvement_tolerance: Some(1e-9),
            gradient_tolerance: 1e-7,
            ..LbfgsOptions::default()
        },
        ..Lbfgs::default()
    };
    let weighted = TEXT.replacen("\n\n", "\n\n# weight = 2.5\n", 1);
    let partial = TEXT.replacen("B-PER", "B-PER|O", 1);
    let lines = "word\nword[-1]\nsuffix(2)\n";
    let cases: [(&str, &str, Change); 8] = [
        (TEXT, lines, |_| {}),
        (TEXT, lines, |o| o.structure.order = Order::Zero),
        (TEXT, lines, |o| {
            (o.structure.boundary, o.structure.states) = (Boundary::Off, Some(States::Observed));
        }),
        (TEXT, lines, |o| o.labels.scheme = Scheme::Bioes),
        (TEXT, lines, |o| o.attributes.caseless = 0.5),
        (TEXT, "word\nedge: word\n", |_| {}),
        (&weighted, lines, |_| {}),
        (&partial, lines, |_| {}),
    ];
    for (number, (text, template, change)) in cases.into_iter().enumerate() {
        let end = |learner: AnyLearner| {
            let mut options = AnyOptions { max_iterations: None, ..options(learner) };
            change(&mut options);
            let mut last = Last::default();
            train_on(text, template, options, None, &mut last).unwrap();
            last.0
        };
        let [off, online] = [
            end(without_noise.clone().into()),
            end(WarmStarted { lbfgs: without_noise.clone() }.into()),
        ];
        assert!((online / off - 1.0).abs() < 1e-5, "{number}: {online}, {off}");
    }
}

#[test]
fn the_record_names_the_algorithm_and_its_options() {
    let record = |learner| serde_json::to_value(TrainSettings::new(options(learner)).unwrap());
    let sgd = record(Sgd::default().into()).unwrap();
    assert_eq!(sgd["algorithm"], "sgd");
    assert_eq!((&sgd["l2"], &sgd["eta"]), (&0.1.into(), &0.1.into()));
    let warm = record(WarmStarted::default().into()).unwrap();
    assert_eq!((&warm["algorithm"], &warm["warm_start"]), (&"lbfgs".into(), &"online".into()));
    for name in Method::NAMES {
        let method = Method::of_name(name).unwrap();
        assert_eq!(AnyLearner::from(method).name(), name);
    }
    let arow = Method::Mistakes(MistakeRule::Arow(Arow { gamma: 2.0, epsilon: 0.0 }));
    assert_eq!("arow=2".parse::<Method>().unwrap(), arow);
    for wrong in ["ap=1", "sgd=", "pa=x", "crf", "lbfgs=1"] {
        assert!(wrong.parse::<Method>().is_err(), "{wrong}");
    }
}

#[test]
fn penalties_and_noise_that_a_learner_does_not_have_are_refused() {
    let refused = |learner: &dyn Learner, change: fn(&mut Regularization)| {
        let mut regularization = Regularization::none();
        change(&mut regularization);
        learner.with_regularization(regularization).unwrap_err().to_string()
    };
    let ap = AnyLearner::from(Perceptron::default());
    assert_eq!(
        refused(&*ap, |r| r.noise.dropout = 0.3),
        "algorithm ap with dropout 0.3; expected 0, since it learns from the best labels and \
         computes no likelihood (`dropout` 0)"
    );
    assert!(refused(&*ap, |r| r.l2 = Some(1.0)).starts_with("algorithm ap with L2 strength 1;"));
    assert_eq!(
        refused(&Sgd::default(), |r| r.l1 = 0.5),
        "algorithm sgd with L1 strength 0.5; expected no L1 penalty (`l1` 0), or `algorithm` \
         lbfgs, which alone has one"
    );
    let ranks = ap.check(Request::Ranks).unwrap_err().to_string();
    assert!(ranks.starts_with("`algorithm` ap updates weights by sentence"), "{ranks}");
    let warm = WarmStarted::default();
    let ranks = warm.check(Request::Ranks).unwrap_err().to_string();
    assert!(ranks.starts_with("`warm_start` online updates weights by sentence"), "{ranks}");
    let start = warm.check(Request::Start(BaseRole::Init, "a.model")).unwrap_err().to_string();
    assert!(start.starts_with("`warm_start` online, but training starts at `init` a.model"));
}

/// Keeps what learners found before the first iteration.
#[derive(Default)]
struct Found(Vec<Calibration>);

impl Observer for Found {
    fn calibrated(&mut self, calibration: &Calibration) {
        self.0.push(calibration.clone());
    }
}

#[test]
fn the_calibration_of_sgd_is_reported_once() {
    let mut found = Found::default();
    train(options(Sgd::default().into()), None, &mut found).unwrap();
    let [calibration] = &found.0[..] else {
        panic!("found {} calibrations", found.0.len());
    };
    assert_eq!(calibration.sentences, 4);
    assert!(calibration.initial > 0.0);
    let best = (calibration.trials.iter()).min_by(|x, y| x.1.total_cmp(&y.1)).unwrap();
    assert_eq!(calibration.rate, best.0);
    assert_eq!(calibration.trials[0].0, 0.1);
}
