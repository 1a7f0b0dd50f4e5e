//! Records: what is written down can be read back.

use super::*;

fn start() -> Record {
    Record::Start(Start {
        version: "1.2.3".to_owned(),
        parameters: serde_json::json!({"l2": 0.1, "scheme": "raw"}),
        files: vec!["a.conll".to_owned(), "b \"c\".conll".to_owned()],
        threads: 2,
        sentences: 10,
        tokens: 100,
        unlabeled_sentences: 5,
        dev_sentences: 3,
        labels: 9,
        attributes: 1000,
        collapsed_attributes: 700,
        weights: 6300,
        active_per_token: 19.3,
        collapsed_active_per_token: 15.7,
        estimated_memory: 1 << 40,
    })
}

fn iteration() -> Record {
    Record::Iteration(Iteration {
        iteration: 3,
        objective: 12.5,
        log_likelihood: -12.0,
        dropout: 0.0,
        l2: 0.5,
        l1: 0.0,
        gradient_norm: 0.25,
        evaluations: 4,
        nonzero: 7,
        seconds: 1.5,
        dev_f1: Some(0.75),
        dev_accuracy: None,
        recall_bias: None,
    })
}

fn end() -> Record {
    Record::End(End {
        stop_reason: "patience".to_owned(),
        iterations: 30,
        seconds: 1.0 / 3.0,
        best_iteration: 10,
        recall_bias: 0.5,
    })
}

#[test]
fn a_record_names_its_kind() {
    let line = serde_json::to_string(&iteration()).unwrap();
    assert_eq!(
        line,
        "{\"event\":\"iteration\",\"iteration\":3,\"objective\":12.5,\"log_likelihood\":-12.0,\
         \"dropout\":0.0,\"l2\":0.5,\"l1\":0.0,\"gradient_norm\":0.25,\"evaluations\":4,\
         \"nonzero\":7,\"seconds\":1.5,\"dev_f1\":0.75}"
    );
    assert!(
        serde_json::to_string(&start())
            .unwrap()
            .starts_with("{\"event\":\"start\",")
    );
    assert!(
        serde_json::to_string(&end())
            .unwrap()
            .starts_with("{\"event\":\"end\",")
    );
}

#[test]
fn a_log_holds_a_record_a_line_as_soon_as_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    std::fs::write(&path, "an older log\n").unwrap();
    let mut log = Log::new(&path);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "an older log\n");
    let records = [start(), iteration(), end()];
    for (i, record) in records.iter().enumerate() {
        log.write(record).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let read = text.lines().map(|line| serde_json::from_str(line).unwrap());
        assert_eq!(read.collect::<Vec<Record>>(), records[..=i]);
    }
}

#[test]
fn a_log_that_cannot_be_made_names_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none/run.jsonl");
    let fault = Log::new(&path).write(&start()).unwrap_err();
    assert!(matches!(fault, Error::Io { path: named, .. } if named == path));
}
