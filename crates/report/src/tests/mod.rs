//! The lines of a run record.

use std::time::Duration;

use super::*;
use dropchain::error::Error;
use dropchain::optim::StopReason;
use dropchain::train::{DevScore, EndReason};

fn options() -> TrainOptions {
    TrainOptions::default()
}

fn files() -> Vec<String> {
    vec!["a.conll".to_owned(), "b \"c\".conll".to_owned()]
}

fn start_event(options: &TrainOptions) -> train::Start<'_> {
    train::Start {
        options,
        sentences: 10,
        tokens: 100,
        total_weight: None,
        partial_tokens: 0,
        unlabeled_sentences: 5,
        dev_sentences: 3,
        plain_labels: false,
        labels: 9,
        attributes: 1000,
        collapsed_attributes: 700,
        parameters: 6300,
        weights: 7000,
        active_per_token: 19.25,
        collapsed_active_per_token: 15.5,
        estimated_memory: 1 << 40,
    }
}

fn iteration(dev: Option<DevScore>) -> train::Iteration {
    train::Iteration {
        number: 3,
        objective: 12.5,
        log_likelihood: -12.0,
        noise: 0.0,
        l2: 0.5,
        l1: 0.0,
        gradient_norm: 0.25,
        evaluations: 4,
        nonzero: 7,
        time: Duration::from_millis(1500),
        dev,
        recall_bias: dev.map(|_| -0.25),
        learning_rate: None,
        weight_norm: 1.5,
        step: 1.0,
        nonzero_weights: 9,
        label_scores: None,
    }
}

fn end() -> train::End {
    train::End {
        reason: EndReason::Optimizer(StopReason::MaxIterations),
        iterations: 30,
        warm_up: 0,
        time: Duration::from_millis(250),
        best_iteration: 10,
        recall_bias: 0.5,
        dev: Some(DevScore::F1(0.5)),
    }
}

fn json(record: &Record<'_>) -> String {
    serde_json::to_string(record).unwrap()
}

#[test]
fn the_first_line_has_all_parameters_and_sizes() {
    let (options, files) = (options(), files());
    let event = start_event(&options);
    let line = json(&Record::Start(Start::new(&files, &event)));
    let parameters = serde_json::to_string(&options).unwrap();
    let expected = format!(
        "{{\"event\":\"start\",\"version\":\"{}\",\"parameters\":{parameters},\
         \"files\":[\"a.conll\",\"b \\\"c\\\".conll\"],\"threads\":{},\"sentences\":10,\
         \"tokens\":100,\"unlabeled_sentences\":5,\"dev_sentences\":3,\"labels\":9,\
         \"attributes\":1000,\"collapsed_attributes\":700,\"weights\":6300,\
         \"active_per_token\":19.25,\"collapsed_active_per_token\":15.5,\
         \"estimated_memory\":1099511627776}}",
        env!("CARGO_PKG_VERSION"),
        rayon::current_num_threads()
    );
    assert_eq!(line, expected);
}

#[test]
fn an_iteration_has_the_score_on_development_data_under_the_name_of_its_metric() {
    let expected = "{\"event\":\"iteration\",\"iteration\":3,\"objective\":12.5,\
                    \"log_likelihood\":-12.0,\"dropout\":0.0,\"l2\":0.5,\"l1\":0.0,\
                    \"gradient_norm\":0.25,\"evaluations\":4,\"nonzero\":7,\"seconds\":1.5";
    for (dev, rest) in [
        (None, "}"),
        (
            Some(DevScore::F1(0.75)),
            ",\"dev_f1\":0.75,\"recall_bias\":-0.25}",
        ),
        (
            Some(DevScore::Accuracy(0.5)),
            ",\"dev_accuracy\":0.5,\"recall_bias\":-0.25}",
        ),
    ] {
        let line = json(&Record::Iteration(&iteration(dev)));
        assert_eq!(line, format!("{expected}{rest}"));
    }
}

#[test]
fn the_last_line_names_the_stop_reason() {
    assert_eq!(
        json(&Record::End(&end())),
        "{\"event\":\"end\",\"stop_reason\":\"max_iterations\",\"iterations\":30,\
         \"seconds\":0.25,\"best_iteration\":10,\"recall_bias\":0.5}"
    );
}

#[test]
fn an_old_log_is_replaced_with_the_first_iteration_and_every_line_written_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    std::fs::write(&path, "an older log\n").unwrap();
    let mut log = Log::create(&path).unwrap();
    let (options, files, iteration, end) = (options(), files(), iteration(None), end());
    let event = start_event(&options);
    let records = [
        Record::Start(Start::new(&files, &event)),
        Record::Iteration(&iteration),
        Record::End(&end),
    ];
    let mut expected = String::new();
    for record in &records {
        log.write(record).unwrap();
        expected += &format!("{}\n", json(record));
        let found = std::fs::read_to_string(&path).unwrap();
        match record {
            Record::Start(_) => assert_eq!(found, "an older log\n"),
            _ => assert_eq!(found, expected),
        }
    }
}

#[test]
fn a_log_that_cannot_be_created_names_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none/run.jsonl");
    let error = Log::create(&path).unwrap_err();
    assert!(matches!(error, Error::Io { path: named, .. } if named == path));
}
