//! `--masks inputs`: noise on attributes that all labels share.

use serde_json::Value;

use crate::support::{NER_CORPUS, TestDir};

const TRAIN: &str = "train train.conll --columns word,upos,ner --template minimal --quiet --force";

fn with_directory() -> TestDir {
    let dir = TestDir::with_sample_corpus();
    std::fs::create_dir(dir.path("d")).unwrap();
    dir
}

fn iterations(dir: &TestDir) -> Vec<Value> {
    let mut lines = dir.json_lines("log");
    lines.retain(|line| line["event"] == "iteration");
    lines
}

#[test]
fn models_logs_checkpoints_and_configurations_know_what_has_noise_of_its_own() {
    let dir = with_directory();
    let line = format!("{TRAIN} --max-iterations 6 --warm-up 2 --masks");
    dir.run(&format!("{line} inputs --model m --log log")).success();
    let log = dir.json_lines("log");
    assert_eq!(log[0]["parameters"]["masks"], "inputs");
    assert!(iterations(&dir).last().unwrap()["dropout"].as_f64().unwrap() > 0.0);
    let model = dir.bytes("m");
    let inspected = dir.run("inspect m --json").json();
    assert_eq!(inspected["options"]["masks"], "inputs");
    let config = dir.run("inspect m --config").success();
    assert!(config.contains("masks = \"inputs\""), "{config}");
    dir.write("run.options", config);
    dir.run("train --config run.options --quiet --model again").success();
    assert!(dir.bytes("again") == model);

    dir.run(&format!("{line} weights --model w --log log")).success();
    assert!(dir.bytes("w") != model);
    assert!(dir.json_lines("log")[0]["parameters"]["masks"].is_null());
    let default = line.replace("--masks", "");
    dir.run(&format!("{default} --model default --log log")).success();
    assert!(dir.json_lines("log")[0]["parameters"]["masks"].is_null());

    let checkpoint = "--checkpoint c --checkpoint-every 1";
    dir.run(&format!("{line} inputs --model m {checkpoint}")).success();
    assert!(dir.bytes("m") == model);
}

#[test]
fn the_model_is_the_same_in_files_and_with_any_number_of_threads() {
    let dir = with_directory();
    dir.write("text.txt", "Grace Hopper left London.\nWe met her in Paris.\n");
    for options in [
        "--order 0 --threads 3",
        "--states observed --unlabeled text.txt --threads 2",
        "--edge-dropout 0 --collapse off --threads 2",
    ] {
        let line = format!("{TRAIN} --masks inputs --max-iterations 6 {options}");
        dir.run(&format!("{line} --model m")).success();
        let (rest, _) = options.rsplit_once(" --threads").unwrap();
        let line = format!("{TRAIN} --masks inputs --max-iterations 6 {rest} --threads 1");
        dir.run(&format!("{line} --model single")).success();
        assert!(dir.bytes("m") == dir.bytes("single"), "{options}");
    }
}

#[test]
fn what_has_no_noise_of_inputs_is_refused_before_work_begins() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
    let inputs = "masks 'inputs' with";
    let or_weights = "or --masks weights";
    for (options, found) in [
        ("--noise additive", format!("{inputs} additive noise; ")),
        ("--noise monte-carlo", format!("{inputs} monte-carlo noise; ")),
        ("--gradient message", format!("{inputs} gradient 'message'; ")),
        ("--gradient window=2", format!("{inputs} gradient 'window=2'; ")),
        ("--gradient local", format!("{inputs} gradient 'local'; ")),
        ("--noise reweighted", format!("{inputs} reweighted noise; ")),
        ("--algorithm sgd", "algorithm sgd with masks 'inputs'; ".to_owned()),
    ] {
        let line = "train train.conll --template minimal --model m --masks inputs";
        let error = dir.run(&format!("{line} {options}")).failure();
        assert!(
            error.contains(&found) && error.trim_end().ends_with(or_weights),
            "{options}: {error}"
        );
        assert!(!dir.path("m").exists());
    }
    let line = "train train.conll --template minimal --model m --masks inputs --dropout 0";
    let error = dir.run(line).failure();
    assert_eq!(error.trim_end(), "--masks: requires noise; expected --dropout above 0");
    let bench = "bench gradients train.conll --template minimal --repeat 1 --masks inputs";
    let error = dir.run(&format!("{bench} --engines exact,local")).failure();
    assert!(error.contains("--engines: masks 'inputs' with gradient 'local'; "), "{error}");
    let found = dir.run(&format!("{bench} --engines exact --json -")).json();
    assert_eq!(found["options"]["masks"], "inputs");
    assert_eq!(found["engines"][1]["engine"], "exact");
}
