//! Options of template lines in training.

use super::*;
use crate::math::assert_close;
use crate::optim::Objective;
use crate::random::Lcg;

fn settings(change: impl FnOnce(&mut TrainOptions)) -> TrainSettings {
    let mut options = options();
    change(&mut options);
    TrainSettings::new(options).unwrap()
}

fn set(source: &str, settings: &TrainSettings) -> TrainingSet {
    TrainingSet::new(corpus(NAMES), template(source), settings).unwrap()
}

/// Evaluates the L2 penalty, the noise term and the gradient at random parameters.
fn evaluate(set: &TrainingSet, settings: &TrainSettings) -> (f64, f64, Vec<f64>) {
    let theta = Lcg(5).vector(set.space().dimension());
    let mut gradient = vec![0.0; theta.len()];
    let mut objective = match settings.analytic_noise() {
        Ok(noise) => set.noisy_likelihood(settings.l2(), noise),
        Err(_) => set.likelihood(settings.l2()),
    };
    let (_, terms) = objective.evaluate(&theta, &mut gradient);
    (terms.l2, terms.noise, gradient)
}

#[test]
fn every_attribute_has_the_strengths_of_its_line() {
    for collapse in [false, true] {
        let settings =
            settings(|o| (o.method.l2, o.method.l1, o.collapse) = (Some(0.5), 0.25, collapse));
        let source = "bias l2=7 l1*=2\nword[-1]\nedge: bias if word exists l2*=4 l1=0\n";
        let set = set(source, &settings);
        let (penalty, l1) = (set.penalty(0.5), set.l1_strengths(0.25).unwrap());
        let space = set.space();
        let strengths = |classes: &crate::extract::Classes, kind: usize, id: u32| {
            let (class, block) = (classes.class(id) as usize, space.blocks()[kind]);
            let i = block.range.start + block.targets.range(class).start;
            (penalty.strength(i), l1[i] / block.scale[class])
        };
        // The attributes of the first token come first: bias, word[-1].
        assert_eq!(strengths(&set.classes[0], 0, 0), (7.0, 0.5));
        assert_eq!(strengths(&set.classes[0], 0, 1), (0.5, 0.25));
        assert_eq!(strengths(&set.classes[1], 1, 0), (2.0, 0.0));
        let transition = space.dimension() - 1;
        assert_eq!((penalty.strength(transition), l1[transition]), (0.5, 0.25));
    }
}

#[test]
fn only_attributes_of_the_same_group_are_trained_as_one() {
    let settings = settings(|_| {});
    let classes = |source: &str| set(source, &settings).classes[0].len();
    let words = classes("word\n");
    assert_eq!(classes("word\nword if word exists\n"), words);
    assert_eq!(classes("word l2=2\nword if word exists l2=2\n"), words);
    let twice = classes("word\nword if word exists l2=2\n");
    assert!(twice > words, "{twice} {words}");
    assert_eq!(twice, classes("word l2=2 dropout=0.1\nword if word exists l2=2\n"));
}

#[test]
fn options_that_change_nothing_change_nothing() {
    for noise in [NoiseKind::Dropout, NoiseKind::Gaussian, NoiseKind::Additive] {
        let settings = settings(|o| {
            (
                o.method.noise.kind,
                o.method.noise.dropout,
                o.method.noise.edge_dropout,
                o.method.l2,
            ) = (noise, 0.2, Some(0.3), Some(0.5));
        });
        let plain = set("word\nsuffix(2)\nedge: word\n", &settings);
        let source = "word l2=0.5 dropout*=1\nsuffix(2) l2=0.5 dropout*=1\n\
                      edge: word dropout=0.3 l2*=1\n";
        let (l2, term, gradient) = evaluate(&plain, &settings);
        let (own_l2, own_term, own_gradient) = evaluate(&set(source, &settings), &settings);
        assert_close(own_l2, l2, 1e-12);
        assert_close(own_term, term, 1e-12);
        assert_eq!(own_gradient.len(), gradient.len());
        for (found, expected) in own_gradient.iter().zip(&gradient) {
            assert_close(*found, *expected, 1e-11);
        }
    }
}

#[test]
fn a_line_may_be_without_noise_or_the_only_one_with_it() {
    let noise = |source: &str, edge: f64| {
        let settings = settings(|o| {
            (o.method.noise.dropout, o.method.noise.edge_dropout, o.collapse) =
                (0.2, Some(edge), false);
        });
        let set = set(source, &settings);
        evaluate(&set, &settings).1
    };
    assert_eq!(noise("word dropout=0\nsuffix(2) dropout*=0\n", 0.0), 0.0);
    let [all, none, more] = ["", "dropout=0", "dropout=0.8"]
        .map(|option| noise(&format!("word\nsuffix(2) {option}\n"), 0.1));
    assert!(0.0 < none && none < all && all < more, "{none} {all} {more}");
}

#[test]
fn a_strong_penalty_of_a_line_silences_it() {
    let model = |source: &str, l1: f64| {
        let options = changed(options(), |o| {
            o.method.l1 = l1;
            o.max_iterations = Some(40);
        });
        trained(&options, corpus(NAMES), source)
    };
    let sum = |model: &Model, prefix: &str| -> f64 {
        let names = names(model, AttributeKind::Node);
        let own = names.iter().filter(|name| name.starts_with(prefix.as_bytes()));
        let weights = own.flat_map(|name| weights(model, AttributeKind::Node, name));
        weights.map(f64::abs).sum()
    };
    let tight = model("word l2=1e5\nsuffix(2)\n", 0.0);
    assert!(sum(&tight, "word") < 1e-2 && sum(&tight, "suffix") > 1.0);
    // With L1 they are exactly 0; without --l1, too.
    for l1 in [0.0, 0.001] {
        let sparse = model("word l1=100\nsuffix(2)\n", l1);
        assert_eq!(sum(&sparse, "word"), 0.0);
        assert!(sum(&sparse, "suffix") > 1.0);
    }
    let free = model("word l1*=0\nsuffix(2)\n", 100.0);
    assert!(sum(&free, "word") > 1.0);
    assert_eq!(sum(&free, "suffix"), 0.0);
}

#[test]
fn unlabeled_text_has_the_rates_of_lines() {
    let model = |source: &str| {
        let options = changed(options(), |o| {
            o.method.noise.dropout = 0.3;
            o.max_iterations = Some(12);
            o.method.warm_up = Some(2);
        });
        let corpora = TrainingCorpora::new(corpus(NAMES)).unlabeled(corpus("Ada/O left/O"));
        let trained = Trainer::new(options).unwrap();
        trained.train(corpora, template(source), &mut ()).unwrap().model
    };
    let plain = model("word\nsuffix(2)\n").fingerprint().unwrap();
    let other = model("word dropout=0.8\nsuffix(2)\n");
    assert_ne!(plain, other.fingerprint().unwrap());
}

#[test]
fn a_rate_of_1_or_more_is_an_error_at_its_line() {
    let error = |source: &str, noise: NoiseKind| {
        let options = changed(options(), |o| {
            o.method.noise.kind = noise;
            o.method.noise.dropout = 0.3;
            o.method.noise.edge_dropout = Some(0.5);
            o.max_iterations = Some(1);
        });
        let result = train(&options, corpus(NAMES), source);
        result.err().map(|error| error.to_string())
    };
    assert_eq!(
        error("word\nlower dropout*=4\n", NoiseKind::Dropout).unwrap(),
        "t.tpl:2: dropout*=4 of `dropout` 0.3 is 1.2; expected a rate below 1"
    );
    assert_eq!(
        error("edge: word dropout*=2\n", NoiseKind::Reweighted(2)).unwrap(),
        "t.tpl:1: dropout*=2 of `edge_dropout` 0.5 is 1; expected a rate below 1"
    );
    assert_eq!(
        error("word dropout=1\n", NoiseKind::Dropout).unwrap(),
        "t.tpl:1: dropout 1; expected a rate below 1"
    );
    assert_eq!(error("word dropout=1.5\n", NoiseKind::Gaussian), None);
    assert_eq!(error("word dropout*=3\n", NoiseKind::Dropout), None);
}

#[test]
fn a_model_that_is_continued_keeps_the_options_of_its_template() {
    let source = "word l2=100\nsuffix(2)\n";
    let model = trained(&options(), corpus(NAMES), source);
    let settings = settings(|_| {}).continuing();
    let models = BaseModels { towards: Some(&model), ..BaseModels::default() };
    let set = training_set(corpus(NAMES), None, &settings, &models);
    let penalty = set.penalty(0.1);
    assert_eq!(penalty.strength(0), 100.0);
    assert_eq!(penalty.strength(set.space().dimension() - 1), 0.1);
    assert!(penalty.center(0) != 0.0);
}
