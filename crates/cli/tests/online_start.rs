//! `train --warm-start online`: passes of stochastic updates before L-BFGS.

use serde_json::Value;

use crate::support::{NER_CORPUS, TestDir};

fn train(options: &str) -> String {
    format!("train train.conll --template ner --quiet --model m --log log {options}")
}

/// Trains and returns the iterations in the log.
fn iterations(dir: &TestDir, line: &str) -> Vec<Value> {
    dir.run(line).success();
    let mut lines = dir.json_lines("log");
    lines.retain(|line| line["event"] == "iteration");
    lines
}

fn number(line: &Value, field: &str) -> f64 {
    line[field].as_f64().unwrap_or_else(|| panic!("{field} in {line}"))
}

#[test]
fn l_bfgs_reaches_a_loss_in_fewer_evaluations_after_the_passes() {
    let dir = TestDir::with_sample_corpus();
    for options in ["", "--states observed --l2 1"] {
        let [off, online] = ["off", "online"].map(|start| {
            let options = format!("--dropout 0 --warm-start {start} {options}");
            iterations(&dir, &train(&options))
        });
        let minimum = number(off.last().unwrap(), "objective");
        let gap = number(online.last().unwrap(), "objective") / minimum - 1.0;
        assert!(gap.abs() < 1e-3, "the minimum differs by {gap}");
        for distance in [1.1, 1.01] {
            let evaluations = |log: &[Value]| {
                // The objective of a pass is a sum over weights that change.
                let mut batch = log.iter().filter(|it| it["learning_rate"].is_null());
                let at = batch.find(|it| number(it, "objective") <= distance * minimum);
                number(at.unwrap(), "evaluations")
            };
            let [of_off, of_online] = [&off, &online].map(|log| evaluations(log));
            // A pass counts as an evaluation and costs about two.
            assert!(of_online + 2.0 < 0.8 * of_off, "{of_online} and {of_off}");
        }
    }
}

#[test]
fn the_minimum_is_the_same_for_every_kind_of_data_and_model() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS), ("dev.conll", NER_CORPUS)]);
    let weighted = NER_CORPUS.replacen("\n\n", "\n\n# weight = 2.5\n", 1);
    dir.write("weighted.conll", weighted);
    dir.write("partial.conll", NER_CORPUS.replacen("B-PER", "B-PER|O", 1));
    for (files, options) in [
        ("train.conll", "--template minimal"),
        ("train.conll", "--template minimal --order 0"),
        ("train.conll", "--template minimal --boundary off --states observed"),
        ("train.conll", "--template minimal --scheme bioes"),
        ("train.conll", "--template minimal --l1 0.1"),
        ("train.conll", "--template minimal --caseless"),
        ("train.conll", "--template ner-finkel-edges"),
        ("weighted.conll", "--template minimal --comments"),
        ("partial.conll", "--template minimal --partial-labels"),
    ] {
        let [off, online] = ["off", "online"].map(|start| {
            let line = format!(
                "train {files} {options} --quiet --model m --log log --dropout 0 --l2 0.5 \
                 --epsilon 1e-9 --warm-start {start}"
            );
            number(iterations(&dir, &line).last().unwrap(), "objective")
        });
        assert!((online / off - 1.0).abs() < 1e-5, "{options}: {online}, {off}");
    }
}

#[test]
fn with_noise_the_passes_and_the_warm_up_have_none() {
    let dir = TestDir::with_sample_corpus();
    dir.write("u.txt", "Ada left .\n");
    for options in ["--warm-up 3", "--warm-up 3 --unlabeled u.txt --noise monte-carlo"] {
        let log =
            iterations(&dir, &train(&format!("--warm-start online --max-iterations 8 {options}")));
        let noisy: Vec<f64> = (log.iter())
            .filter(|it| number(it, "dropout") > 0.0)
            .map(|it| number(it, "iteration"))
            .collect();
        assert_eq!(noisy, [6.0, 7.0, 8.0], "{options}");
    }
    let default = iterations(&dir, &train("--warm-start online --max-iterations 30"));
    let first = default.iter().find(|it| number(it, "dropout") > 0.0);
    assert_eq!(first.unwrap()["iteration"], 13); // 2 passes, 10 iterations
}

#[test]
fn passes_are_iterations_with_a_learning_rate() {
    let dir = TestDir::with_sample_corpus();
    let line = train("--warm-start online --dropout 0 --dev dev.conll --max-iterations 5");
    let log = iterations(&dir, &line);
    let numbers: Vec<&Value> = log.iter().map(|it| &it["iteration"]).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    for (it, is_pass) in log.iter().zip([true, true, false, false, false]) {
        assert_eq!(it["learning_rate"].is_number(), is_pass, "{it}");
        assert_eq!(it["gradient_norm"].is_null(), is_pass, "{it}");
        assert!(number(it, "dev_f1") > 0.0);
        let terms = number(it, "l2") - number(it, "log_likelihood");
        assert!((terms / number(it, "objective") - 1.0).abs() < 1e-9);
    }
    assert!(number(&log[1], "objective") < number(&log[0], "objective"));
    for limit in 0..2 {
        let line = train(&format!("--warm-start online --max-iterations {limit}"));
        assert_eq!(iterations(&dir, &line).len(), limit);
    }
}

#[test]
fn threads_change_no_bit_and_the_seed_does() {
    let dir = TestDir::with_sample_corpus();
    for options in ["--dropout 0", "--dev dev.conll --warm-up 2 --l1 0.1"] {
        let model = |more: &str| {
            let line = train(&format!("--warm-start online --max-iterations 6 {options} {more}"));
            dir.run(&line).success();
            dir.bytes("m")
        };
        let one = model("--threads 1");
        for threads in [2, 3] {
            assert!(model(&format!("--threads {threads}")) == one, "{threads}");
        }
        let fingerprint = || dir.inspect("")["fingerprint"].clone();
        let of_default = fingerprint();
        model("--seed 1");
        assert_eq!(fingerprint(), of_default);
        model("--seed 2");
        assert_ne!(fingerprint(), of_default);
    }
}

#[test]
fn attributes_of_any_size_have_the_same_passes() {
    let dir = TestDir::new(&[]);
    let corpus = |value: &str| {
        let line = |label: &str, word: &str| format!("{label}\tw={word}:{value}\tall:{value}\n");
        (0..40).fold(String::new(), |text, i| {
            let word = ["Ann", "left", "Rome"][i % 3];
            let label = ["B-PER", "O", "B-LOC"][i % 3];
            text + &line(label, word) + &line("O", ["fell", "rose"][i % 2]) + "\n"
        })
    };
    let last = |value: &str, l2: &str| {
        dir.write("train.crfsuite", corpus(value));
        let line = format!(
            "train train.crfsuite --quiet --model m --log log --dropout 0 --l2 {l2} \
             --warm-start online --max-iterations 2"
        );
        let log = iterations(&dir, &line);
        number(&log[1], "log_likelihood")
    };
    // Weights of attributes a thousand times larger are a thousand times smaller.
    let [one, large] = [last("1", "1e-3"), last("1000", "1e-3")];
    assert!(one > -60.0 && large > -60.0, "{one} and {large}");
}

#[test]
fn what_has_another_start_is_refused_before_work_begins() {
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal");
    let model = dir.bytes("m");
    for (options, expected) in [
        (
            "--algorithm sgd",
            "--warm-start: has no meaning for --algorithm sgd; expected --algorithm lbfgs",
        ),
        (
            "--algorithm ap",
            "--warm-start: has no meaning for --algorithm ap; expected --algorithm lbfgs",
        ),
        (
            "--init m",
            "--warm-start online, but training starts at --init m; expected --warm-start off, \
             since the passes would move its weights away from there",
        ),
        (
            "--towards m",
            "--warm-start online, but training starts at --towards m; expected --warm-start off, \
             since the passes would move its weights away from there",
        ),
    ] {
        // The training file does not exist: nothing was read.
        let line = format!("train none.conll --quiet --model new --warm-start online {options}");
        let message = dir.run(&line).failure();
        assert_eq!(message.trim_end(), expected, "{options}");
        assert!(!dir.path("new").exists());
    }
    assert!(dir.bytes("m") == model);
}

#[test]
fn a_model_records_its_warm_start_and_a_checkpoint_belongs_to_it() {
    let dir = TestDir::with_sample_corpus();
    let line = train("--warm-start online --max-iterations 3");
    dir.run(&format!("{line} --checkpoint c --checkpoint-every 1")).success();
    let model = dir.bytes("m");
    let config = dir.run("inspect m --config").success();
    assert!(config.contains("--warm-start=online\n"), "{config}");
    dir.write("run.options", config);
    dir.run("train --config run.options --quiet --model again").success();
    assert!(dir.bytes("again") == model);
    dir.run(&train("--max-iterations 3")).success();
    assert!(!dir.run("inspect m --config").success().contains("warm-start"));
}
