//! `--dev 10%`: development data that are a share of the training data.

use crate::support::{TestDir, sample_corpus};

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
    // A fraction of the training data leaves the development data as they are.
    dir.run(&format!("{TRAIN} --dev 10% --log half --fraction 50% --quiet")).success();
    let half = &dir.json_lines("half")[0];
    assert_eq!(half["dev_sentences"], *held_out);
    let share = half["tokens"].as_f64().unwrap() / start["tokens"].as_f64().unwrap();
    assert!((0.47..0.53).contains(&share), "{share}");
}
