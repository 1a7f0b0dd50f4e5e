//! Options without meaning: exit code 1 and a message that says which and what was expected.

use crate::bad_input::training_with;
use crate::support::{Folder, NAMES, WORDS};

#[test]
fn parameters_without_meaning_are_named() {
    for (options, expected) in [
        (
            "--l2 -1",
            "L2 strength -1; expected a finite number that is not negative",
        ),
        (
            "--l1 -0.5",
            "L1 strength -0.5; expected a finite number that is not negative",
        ),
        (
            "--l2 nan",
            "L2 strength NaN; expected a finite number that is not negative",
        ),
        (
            "--l1 inf",
            "L1 strength inf; expected a finite number that is not negative",
        ),
        ("--patience 0", "patience 0; expected 1 or more"),
        ("--min-count 0", "minimum count 0; expected 1 or more"),
    ] {
        assert_eq!(
            training_with(&format!("--template minimal {options}")),
            expected
        );
    }
}

#[test]
fn noise_without_meaning_is_named() {
    let cases = [
        (
            "--dropout 1",
            "dropout 1; expected a rate from 0 up to, not including, 1",
        ),
        (
            "--dropout=-0.1",
            "dropout -0.1; expected a rate from 0 up to, not including, 1",
        ),
        (
            "--dropout 0.2 --edge-dropout 1.5",
            "edge dropout 1.5; expected a rate from 0 up to, not including, 1",
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
            "--dropout 0.2 --gradient exact",
            "gradient 'exact'; expected adjoint, message, window=R or local",
        ),
        (
            "--dropout 0 --gradient local",
            "--gradient local: there is no noise; expected --dropout above 0 with it",
        ),
        (
            "--noise monte-carlo --dropout 0.2 --gradient local",
            "gradient 'local' with monte-carlo noise; expected no choice of gradient: that of dropped features \
             is exact, and there is only one",
        ),
        (
            "--noise monte-carlo --dropout 0.2 --samples 0",
            "0 samples; expected 1 to 1000",
        ),
        (
            "--noise monte-carlo --dropout 0.2 --samples 1001",
            "1001 samples; expected 1 to 1000",
        ),
        (
            "--dropout 0.2 --samples 4",
            "--samples 4: nothing is sampled; expected --noise monte-carlo with it",
        ),
        (
            "--noise gaussian --dropout 0.2 --seed 4",
            "--seed 4: nothing is random; expected --noise monte-carlo with it",
        ),
        (
            "--noise gaussian --dropout 0",
            "--noise: there is none; expected --dropout above 0 with it",
        ),
        (
            "--dropout 0 --unlabeled train.conll",
            "--unlabeled: only noise learns from unlabeled text; expected --dropout above 0 with it",
        ),
    ];
    for (options, expected) in cases {
        let message = training_with(&format!("--template minimal {options}"));
        assert_eq!(message.trim_end(), expected, "{options}");
    }
}

#[test]
fn labels_that_the_model_does_not_have_are_warned_of() {
    let folder = Folder::trained(NAMES, "--template ner");
    folder.write("words.conll", "Ann NNP\nleft VBD\n");
    folder.write("names.conll", "Ann NNP B-PER\nleft VBD O\n");
    let output = folder.run("eval m words.conll --columns word,pos --label pos");
    assert!(output.status.success());
    assert!(
        output.stderr.contains("none of the gold labels"),
        "{}",
        output.stderr
    );
    assert_eq!(folder.run("eval m names.conll").stderr, "");
}

#[test]
fn options_for_unlabeled_text_need_some() {
    let folder = Folder::new(&[("train.conll", NAMES)]);
    for option in [
        "--discover",
        "--unlabeled-weight 1",
        "--unlabeled-format text",
    ] {
        let train = "train train.conll --template minimal --model m --dropout 0.2";
        let output = folder.run(&format!("{train} {option}"));
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert!(output.stderr.contains("--unlabeled <FILE>..."), "{option}");
    }
}

#[test]
fn a_scheme_needs_spans() {
    for scheme in ["io", "iob1", "bioes"] {
        let folder = Folder::new(&[("train.conll", WORDS)]);
        let train = "train train.conll --template minimal --model m --quiet --scheme";
        let message = folder.run(&format!("{train} {scheme}")).failed();
        assert!(
            message.starts_with(&format!("--scheme {scheme}: ")),
            "{message}"
        );
    }
}

#[test]
fn a_log_does_not_take_the_place_of_the_model() {
    for command in ["train", "tune"] {
        let folder = Folder::new(&[("train.conll", NAMES), ("dev.conll", NAMES)]);
        let options = "train.conll --dev dev.conll --template minimal --model m --quiet --log ./m";
        let message = folder.run(&format!("{command} {options}")).failed();
        assert_eq!(
            message.trim_end(),
            "--log ./m: that is where the model goes; expected another file"
        );
    }
}

#[test]
fn a_log_stays_as_it_was_when_training_fails() {
    let folder = Folder::new(&[("train.conll", WORDS), ("log", "an older log\n")]);
    folder
        .run("train train.conll --template minimal --scheme io --model m --quiet --log log")
        .failed();
    assert_eq!(folder.text("log"), "an older log\n");
}
