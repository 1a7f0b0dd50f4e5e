//! `--dev 10%`: development data that are a share of the training data.

use crate::support::{NER_CORPUS, TestDir, sample_corpus};

const TRAIN: &str = "train train.conll --template minimal --max-iterations 6 --model m";

fn with_sample() -> TestDir {
    TestDir::new(&[("train.conll", &sample_corpus("train"))])
}

#[test]
fn a_share_is_held_out_said_and_recorded() {
    let dir = with_sample();
    let output = dir.run(&format!("{TRAIN} --dev 10% --log log"));
    let stderr = output.stderr.clone();
    output.success();
    let start = &dir.json_lines("log")[0];
    let reading = start["reading"].as_array().unwrap();
    let line = reading.last().unwrap().as_str().unwrap();
    assert!(stderr.contains(line), "{stderr}");
    let (held_out, kept) = (&start["dev_sentences"], &start["sentences"]);
    let of = held_out.as_u64().unwrap() + kept.as_u64().unwrap();
    let expected = format!("development data: {held_out} of {of} sentences, 10 % of the ");
    assert!(line.starts_with(&expected) && line.ends_with(", seed 1"), "{line}");
    let model = dir.inspect("");
    assert_eq!(model["training"]["held_out"], line);
    assert!(model["training"]["dev_f1"].as_f64().unwrap() > 0.0);
    assert_eq!(model["sentences"], *kept);
    assert_eq!(model["config"]["options"]["dev"][0], "10%");
    let config = dir.run("inspect m --config").success();
    assert!(config.contains("--dev=10%\n") && !config.contains("Warning"), "{config}");
}

#[test]
fn the_seed_chooses_and_threads_do_not_matter() {
    let dir = with_sample();
    let train = |options: &str| {
        let line = format!("{TRAIN} --dev 20% --patience 0 --quiet {options}");
        assert_eq!(dir.run(&line).success(), "");
        dir.inspect("")["fingerprint"].clone()
    };
    let expected = train("--threads 1");
    assert!(train("--threads 3 --seed 1") == expected);
    assert!(train("--seed 2") != expected);
}

#[test]
fn what_is_no_share_is_refused_and_a_file_may_have_such_a_name() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS), ("10%", NER_CORPUS)]);
    dir.write("one.conll", "Ann B-PER\n");
    for (options, expected) in [
        ("--dev 0%", "0% of the training data; expected more than 0% and less than 100%"),
        ("--dev 100%", "100% of the training data; expected more than 0%"),
        ("--dev 10% --dev train.conll", "expected files of development data, or one share"),
    ] {
        let error = dir.run(&format!("{TRAIN} {options}")).failure();
        assert!(error.contains(expected), "{error}");
    }
    let one = TRAIN.replace("train.conll", "one.conll --quiet");
    let error = dir.run(&format!("{one} --dev 10%")).failure();
    assert!(error.contains("10 % of 1 sentences; expected at least 2"), "{error}");
    dir.run(&format!("{TRAIN} --dev ./10% --log log --quiet")).success();
    assert_eq!(dir.json_lines("log")[0]["dev_sentences"], 3);
}

#[test]
fn training_without_development_data_says_what_that_costs() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
    let train = "train train.conll --template minimal --model m";
    let stderr = |options: &str| {
        let output = dir.run(&format!("{train} {options}"));
        let stderr = output.stderr.clone();
        output.success();
        stderr.contains("no development data: trains to convergence")
    };
    assert!(stderr(""));
    assert!(!stderr("--quiet") && !stderr("--max-iterations 3") && !stderr("--dev train.conll"));
}

#[test]
fn a_fraction_of_the_training_data_leaves_the_development_data_as_they_are() {
    let dir = with_sample();
    let sizes = |fraction: &str| {
        dir.run(&format!("{TRAIN} --dev 10% --log log {fraction} --quiet")).success();
        let start = &dir.json_lines("log")[0];
        ["sentences", "tokens", "dev_sentences"].map(|name| start[name].as_u64().unwrap())
    };
    let all = sizes("");
    let half = sizes("--fraction 50%");
    assert_eq!(all[2], half[2]);
    let share = half[1] as f64 / all[1] as f64;
    assert!((0.47..0.53).contains(&share), "{share}");
    assert_eq!(sizes("--fraction 100%"), all);
    for share in ["0%", "101%", "half", "0.5"] {
        let message = dir.run(&format!("{TRAIN} --fraction {share}")).exits(2);
        assert!(message.contains("such as 25%"), "{message}");
    }
}
