//! Invalid options: exit code 1 and a message that names the option and what was expected.

use crate::bad_input::option_error;
use crate::support::{NER_CORPUS, POS_CORPUS, TestDir};

#[test]
fn invalid_parameters_are_reported() {
    for (options, expected) in [
        ("--l2 -1", "L2 strength -1; expected a finite number that is not negative"),
        ("--l1 -0.5", "L1 strength -0.5; expected a finite number that is not negative"),
        ("--l2 nan", "L2 strength NaN; expected a finite number that is not negative"),
        ("--l1 inf", "L1 strength inf; expected a finite number that is not negative"),
        ("--min-count 0", "minimum count 0; expected 1 or more"),
    ] {
        assert_eq!(option_error(&format!("--template minimal {options}")), expected);
    }
}

#[test]
fn invalid_noise_options_are_reported() {
    let cases = [
        ("--dropout 1", "dropout 1; expected a rate of at least 0 and below 1"),
        ("--dropout=-0.1", "dropout -0.1; expected a rate of at least 0 and below 1"),
        (
            "--dropout 0.2 --edge-dropout 1.5",
            "edge dropout 1.5; expected a rate of at least 0 and below 1",
        ),
        (
            "--noise gaussian --dropout=-1",
            "dropout -1; expected a variance: a finite number that is not negative",
        ),
        (
            "--dropout 0.2 --unlabeled train.conll --unlabeled-weight=-2",
            "unlabeled weight -2; expected a finite number that is not negative",
        ),
        (
            "--dropout 0.2 --gradient window",
            "gradient 'window'; expected window=R with a whole number R, for example window=2",
        ),
        (
            "--dropout 0.2 --gradient adjoint",
            "gradient 'adjoint'; expected exact, message, window=R or local",
        ),
        (
            "--dropout 0 --gradient local",
            "--gradient local: requires noise; expected --dropout above 0",
        ),
        (
            "--noise monte-carlo --dropout 0.2 --gradient local",
            "gradient 'local' with monte-carlo noise; expected --gradient exact, since this noise \
             has only one gradient",
        ),
        ("--noise gaussian --dropout 0", "--noise: requires noise; expected --dropout above 0"),
        (
            "--dropout 0 --unlabeled train.conll",
            "--unlabeled: requires noise; expected --dropout above 0",
        ),
    ];
    for (options, expected) in cases {
        let message = option_error(&format!("--template minimal {options}"));
        assert_eq!(message.trim_end(), expected, "{options}");
    }
}

#[test]
fn gold_labels_that_the_model_does_not_know_cause_a_warning() {
    let dir = TestDir::with_model(NER_CORPUS, "--template ner");
    dir.write("words.conll", "Ann NNP\nleft VBD\n");
    dir.write("names.conll", "Ann NNP B-PER\nleft VBD O\n");
    let output = dir.run("eval m words.conll --columns word,pos --label pos");
    assert!(output.status.success());
    assert!(output.stderr.contains("the model knows none of the gold labels"), "{}", output.stderr);
    assert_eq!(dir.run("eval m names.conll").stderr, "names.conll: read as IOB2, 2 labels\n");
}

#[test]
fn the_weight_of_unlabeled_text_requires_it() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
    let train = "train train.conll --template minimal --model m --unlabeled-weight 1";
    let error = dir.run(train).exits(2);
    assert!(error.contains("--unlabeled <FILE>..."), "{error}");
}

#[test]
fn a_scheme_needs_spans() {
    for scheme in ["io", "iob1", "bioes"] {
        let dir = TestDir::new(&[("train.conll", POS_CORPUS)]);
        let train = "train train.conll --template minimal --model m --quiet --scheme";
        let message = dir.run(&format!("{train} {scheme}")).failure();
        assert!(message.starts_with(&format!("--scheme {scheme}: ")), "{message}");
    }
}

#[test]
fn a_log_cannot_overwrite_the_model() {
    for command in ["train", "tune"] {
        let dir = TestDir::new(&[("train.conll", NER_CORPUS), ("dev.conll", NER_CORPUS)]);
        let options = "train.conll --dev dev.conll --template minimal --model m --quiet --log ./m";
        let message = dir.run(&format!("{command} {options}")).failure();
        assert_eq!(
            message.trim_end(),
            "--log ./m: this is the model file; expected a different file"
        );
    }
}

#[test]
fn a_failed_training_run_leaves_the_log_alone() {
    let dir = TestDir::new(&[("train.conll", POS_CORPUS), ("log", "an older log\n")]);
    dir.run("train train.conll --template minimal --scheme io --model m --quiet --log log")
        .failure();
    assert_eq!(dir.text("log"), "an older log\n");
}
