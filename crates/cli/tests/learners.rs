//! The online learners: `--algorithm sgd|ap|pa|arow`.

use crate::support::{NER_CORPUS, TestDir};

/// Every online algorithm with some of its options, and the dropout of sgd.
const LEARNERS: [&str; 5] = [
    "--algorithm sgd --dropout 0 --l2 0.01",
    "--algorithm sgd --dropout 0.3 --noise monte-carlo --warm-up 1",
    "--algorithm ap --states observed",
    "--algorithm pa --pa-c 0.5",
    "--algorithm arow --gamma 0.5",
];

#[test]
fn every_learner_reproduces_its_training_data_and_keeps_its_best_epoch() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
    for learner in LEARNERS {
        let train =
            "train train.conll --dev train.conll --template ner --model m --log log --quiet";
        dir.run(&format!("{train} --max-iterations 30 {learner}")).success();
        let report = dir.run("eval m train.conll --json").json();
        assert_eq!(report["f1"], 1.0, "{learner}");
        let log = dir.json_lines("log");
        let (first, end) = (&log[1], &log[log.len() - 1]);
        assert_eq!((&first["event"], &first["iteration"]), (&"iteration".into(), &1.into()));
        assert!(first["gradient_norm"].is_null(), "{learner}");
        let is_sgd = learner.contains("sgd");
        assert_eq!(first["log_likelihood"].is_number(), is_sgd, "{learner}");
        assert_eq!(first.get("learning_rate").is_some(), is_sgd, "{learner}");
        assert_eq!(end["dev_f1"], 1.0, "{learner}");
    }
}

#[test]
fn a_search_with_folds_trains_an_online_learner_for_as_many_epochs() {
    let dir = TestDir::with_sample_corpus();
    let options = "--template chunk --quiet --recall-bias 0 --algorithm arow";
    let tune = format!("tune train.conll --folds 2 --model m --json --max-iterations 4 {options}");
    let epochs = &dir.run(&tune).json()["iterations_on_all_data"];
    let tagged = dir.run("tag m dev.conll").success();
    let train = format!("train train.conll --model m --max-iterations {epochs} {options}");
    dir.run(&train).success();
    assert_eq!(dir.run("tag m dev.conll").success(), tagged);
}

#[test]
fn options_that_do_not_go_together_are_rejected_before_the_corpus_is_read() {
    let dir = TestDir::new(&[]);
    for (options, message) in [
        (
            "--algorithm ap --dropout 0.3",
            "algorithm ap with dropout 0.3; expected 0, since it learns from the best labels and \
             computes no likelihood (--dropout 0)",
        ),
        (
            "--algorithm arow --l2 1",
            "algorithm arow with L2 strength 1; expected 0, since it learns from the best labels \
             and computes no likelihood (--l2 0)",
        ),
        (
            "--algorithm pa --unlabeled u.txt",
            "--unlabeled: --algorithm pa learns from labels alone; expected --algorithm lbfgs, or \
             sgd with --noise dropout",
        ),
        (
            "--algorithm sgd --noise monte-carlo --unlabeled u.txt",
            "--unlabeled: --algorithm sgd --noise monte-carlo drops attributes at random, which \
             teaches nothing without labels; expected --algorithm lbfgs, or sgd with --noise \
             dropout",
        ),
        (
            "--algorithm sgd --l1 0.5",
            "algorithm sgd with L1 strength 0.5; expected no L1 penalty (--l1 0), or --algorithm \
             lbfgs, which alone has one",
        ),
        (
            "--algorithm sgd --gradient local",
            "algorithm sgd with gradient 'local'; expected the default (--gradient exact)",
        ),
        (
            "--algorithm ap --gradient local",
            "--gradient local: requires noise; --algorithm ap has none",
        ),
        ("--algorithm ap --noise gaussian", "--noise: requires noise; --algorithm ap has none"),
        (
            "--algorithm sgd --noise additive",
            "algorithm sgd with additive noise; expected another kind (--noise), which changes a \
             few weights at a time",
        ),
        (
            "--algorithm sgd --noise monte-carlo=2",
            "algorithm sgd with monte-carlo=2 noise; expected no number of samples, since \
             attributes are dropped once per update",
        ),
        (
            "--algorithm sgd --pa-c 1",
            "--pa-c: has no meaning for --algorithm sgd; expected --algorithm pa",
        ),
        ("--eta 1", "--eta: has no meaning for --algorithm lbfgs; expected --algorithm sgd"),
        ("--algorithm sgd --eta 0", "learning rate 0; expected a finite number above 0"),
        ("--algorithm pa --pa-c -1", "aggressiveness -1; expected a finite number above 0"),
        ("--algorithm arow --gamma 0", "gamma 0; expected a finite number above 0"),
        (
            "--algorithm ap --epsilon nan",
            "epsilon NaN; expected a finite number that is not negative",
        ),
    ] {
        let line = format!("train missing.conll --template ner --model m {options}");
        assert_eq!(dir.run(&line).failure(), message, "{options}");
    }
}

#[test]
fn weights_that_overflow_end_training_and_leave_an_old_model() {
    let corpus = "A\tx:1e30\ty:1e30\nB\tx:1e30\tz:-1e30\n\nB\tx:1e30\nA\tz:1e30\n\n";
    let dir = TestDir::new(&[("train.crfsuite", corpus)]);
    dir.write("m", "old");
    let line = "train train.crfsuite --model m --quiet --algorithm sgd --dropout 0 --eta 1e300";
    let message = dir.run(line).exits(4);
    let expected = "dropchain: the loss is not finite in epoch 1; expected smaller attribute \
                    values, or smaller steps\n";
    assert_eq!(message, expected);
    assert_eq!(dir.bytes("m"), b"old");
}
