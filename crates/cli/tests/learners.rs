//! The online learners: `--algorithm sgd|ap|pa|arow`.

use serde_json::Value;

use crate::support::{NER_CORPUS, TestDir};

/// Every online algorithm with some of its options, and the dropout of sgd.
const LEARNERS: [&str; 6] = [
    "--algorithm sgd --dropout 0",
    "--algorithm sgd --dropout 0.3 --warm-up 1",
    "--algorithm sgd --dropout 0.3 --noise monte-carlo --warm-up 1",
    "--algorithm ap",
    "--algorithm pa --pa-c 0.5 --states observed",
    "--algorithm arow --gamma 0.5",
];

fn train(options: &str) -> String {
    format!("train train.conll --template ner --model m --log log --quiet {options}")
}

fn iterations(dir: &TestDir) -> Vec<Value> {
    let mut lines = dir.json_lines("log");
    lines.retain(|line| line["event"] == "iteration");
    lines
}

#[test]
fn every_learner_reproduces_its_training_data() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
    for learner in LEARNERS {
        let l2 = if learner.contains("sgd --d") { "--l2 0.01" } else { "" };
        dir.run(&train(&format!("--max-iterations 30 {l2} {learner}"))).success();
        let report = dir.run("eval m train.conll --json").json();
        assert_eq!(report["f1"], 1.0, "{learner}");
        let log = iterations(&dir);
        assert_eq!(log[0]["iteration"], 1, "{learner}");
        assert_eq!(log[0]["gradient_norm"], Value::Null);
        let is_sgd = learner.contains("sgd");
        assert_eq!(log[0]["log_likelihood"].is_number(), is_sgd, "{learner}");
        assert_eq!(log[0].get("learning_rate").is_some(), is_sgd, "{learner}");
    }
}

#[test]
fn the_seed_determines_the_model_and_threads_do_not() {
    let dir = TestDir::with_sample_corpus();
    for learner in LEARNERS {
        let line = train(&format!("--dev dev.conll --max-iterations 2 {learner}"))
            .replace("--template ner", "--template minimal");
        let model = |options: &str| {
            dir.run(&format!("{line} {options}")).success();
            dir.bytes("m")
        };
        let one = model("--threads 1");
        assert!(model("--threads 4") == one, "{learner}: other bits");
        // The file says that a seed was given.
        let fingerprint = || dir.inspect("")["fingerprint"].clone();
        let of_default = fingerprint();
        model("--seed 1");
        assert_eq!(fingerprint(), of_default, "{learner}: 1 is not the default seed");
        assert!(model("--seed 2") != one, "{learner}: the seed has no effect");
    }
}

#[test]
fn training_stops_by_patience_and_keeps_the_best_epoch() {
    let dir = TestDir::with_sample_corpus();
    for learner in LEARNERS {
        dir.run(&train(&format!("--dev dev.conll --patience 3 {learner}"))).success();
        let log = dir.json_lines("log");
        let end = &log[log.len() - 1];
        let reason = end["stop_reason"].as_str().unwrap();
        assert!(["patience", "loss"].contains(&reason), "{learner}");
        let scores: Vec<f64> =
            iterations(&dir).iter().map(|line| line["dev_f1"].as_f64().unwrap()).collect();
        let best = end["best_iteration"].as_u64().unwrap() as usize;
        let mean = |epoch: usize| {
            let recent = &scores[epoch.saturating_sub(5)..epoch];
            recent.iter().sum::<f64>() / recent.len() as f64
        };
        assert!((1..=scores.len()).all(|epoch| mean(epoch) <= mean(best)), "{learner}");
        let report = dir.run("eval m dev.conll --json").json();
        let f1 = report["f1"].as_f64().unwrap();
        assert!((f1 - scores[best - 1]).abs() < 0.003, "{learner}: {f1}");
    }
}

#[test]
fn sgd_without_dev_data_keeps_the_epoch_with_the_lowest_objective() {
    let dir = TestDir::with_sample_corpus();
    // The noise term raises the objective: what counts are the epochs with it.
    for (noise, warm_up) in [("--dropout 0", 0), ("--dropout 0.5 --warm-up 4", 4)] {
        dir.run(&train(&format!("--algorithm sgd {noise}"))).success();
        let log = dir.json_lines("log");
        let end = &log[log.len() - 1];
        assert_eq!(end["stop_reason"], "improvement");
        let objectives: Vec<f64> =
            iterations(&dir).iter().map(|line| line["objective"].as_f64().unwrap()).collect();
        assert!(objectives.len() > warm_up + 10, "{noise}");
        let best = end["best_iteration"].as_u64().unwrap() as usize;
        assert!(best > warm_up, "{noise}: epoch {best}");
        let with_noise = &objectives[warm_up..];
        assert!(with_noise.iter().all(|&o| o >= objectives[best - 1]), "{noise}");
    }
}

#[test]
fn a_small_mean_loss_ends_training() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
    for algorithm in ["ap", "pa", "arow"] {
        dir.run(&train(&format!("--algorithm {algorithm} --epsilon 0.001"))).success();
        let log = dir.json_lines("log");
        assert_eq!(log[log.len() - 1]["stop_reason"], "loss", "{algorithm}");
    }
}

#[test]
fn unlabeled_text_enters_the_noise_term_of_sgd() {
    let dir = TestDir::with_sample_corpus();
    let line = train("--algorithm sgd --max-iterations 3 --warm-up 1");
    dir.run(&line).success();
    let without = dir.bytes("m");
    dir.run(&format!("{line} --unlabeled dev.conll")).success();
    assert!(dir.bytes("m") != without);
    let log = dir.json_lines("log");
    assert!(log[0]["unlabeled_sentences"].as_u64().unwrap() > 0);
}

#[test]
fn tune_searches_with_every_learner_and_any_number_of_threads() {
    let dir = TestDir::with_sample_corpus();
    for learner in [
        "--algorithm sgd --dropout 0,0.3 --l2 0.1,1 --warm-up 1",
        "--algorithm ap --template chunk",
        "--algorithm arow --template chunk",
    ] {
        let line = format!(
            "tune train.conll --dev dev.conll --template ner --model m --quiet --json \
             --max-iterations 6 {learner}"
        );
        let result = |options: &str| dir.run(&format!("{line} {options}")).json();
        let one = result("--threads 1");
        let model = dir.bytes("m");
        let two = result("--threads 2");
        assert_eq!(two["configurations"], one["configurations"], "{learner}");
        assert!(dir.bytes("m") == model, "{learner}: other bits");
        let best = &one["configurations"][0];
        let report = dir.run("eval m dev.conll --json").json();
        let [found, expected] = [&report["f1"], &best["dev_f1"]].map(|x| x.as_f64().unwrap());
        assert!((found - expected).abs() < 0.003, "{learner}: {found} for {expected}");
    }
}

#[test]
fn the_model_of_a_cross_validation_is_that_of_training_for_as_many_epochs() {
    let dir = TestDir::with_sample_corpus();
    let options = "--template ner --quiet --recall-bias 0 --algorithm";
    for learner in ["ap", "pa", "arow"] {
        let line = format!(
            "tune train.conll --folds 3 --model m --json --max-iterations 5 \
             --template chunk {options} {learner}"
        );
        let result = dir.run(&line).json();
        let epochs = result["iterations_on_all_data"].as_u64().unwrap();
        let best = result["configurations"][0]["template"].as_str().unwrap();
        let tagged = dir.run("tag m dev.conll").success();
        let options = options.replace("ner", best);
        let line =
            format!("train train.conll --model m --max-iterations {epochs} {options} {learner}");
        dir.run(&line).success();
        assert_eq!(dir.run("tag m dev.conll").success(), tagged, "{learner}");
    }
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
