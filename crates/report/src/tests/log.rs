//! The lines of a log, written and read back.

use std::borrow::Cow;
use std::fs;
use std::time::Duration;

use dropchain::Error;
use dropchain::kernel::model::NoiseExposure;
use dropchain::kernel::optim::StopReason;
use dropchain::train::{
    DataSizes, DevScore, End, Iteration, ModelSizes, ObjectiveTerms, Observer, OptimizerStep, Pass,
    Start, WeightCounts,
};
use serde_json::json;

use crate::log::{Header, Log, Record, Run, Source, read_runs};

fn header() -> Header {
    Header {
        sources: vec![Source {
            role: "clusters".to_owned(),
            name: "raw.txt".to_owned(),
            files: vec!["raw.txt".to_owned()],
            bytes: 7,
            details: [("words".to_owned(), json!(3))].into_iter().collect(),
        }],
        ..Header::new(vec!["a.conll".to_owned(), "b \"c\".conll".to_owned()])
    }
}

fn start() -> Start {
    Start {
        options: json!({"l2": 0.1, "seed": 1}),
        data: DataSizes {
            sentences: 10,
            tokens: 100,
            total_weight: None,
            partial_tokens: 0,
            unlabeled_sentences: 5,
            dev_sentences: 3,
            dev_units: 7,
            labels: 9,
        },
        reading: Vec::new(),
        model: ModelSizes {
            attributes: 1000,
            collapsed_attributes: 700,
            parameters: 6300,
            weights: 0, // not in the log
            active_per_token: 19.25,
            collapsed_active_per_token: 15.5,
        },
        estimated_memory: 1 << 40,
    }
}

fn iteration(number: usize, dev: Option<DevScore>) -> Iteration {
    Iteration {
        number,
        objective: 12.5,
        terms: ObjectiveTerms { log_likelihood: -12.0, noise: 0.0, l2: 0.5, l1: 0.0 },
        optimizer: OptimizerStep {
            gradient_norm: 0.25,
            evaluations: 4,
            ..OptimizerStep::default()
        },
        weights: WeightCounts { nonzero: 7, ..WeightCounts::default() },
        time: Duration::from_millis(1500),
        dev,
        dev_mean: dev.map(|_| 0.5),
        recall_bias: dev.map(|_| -0.25),
        dev_details: None,
    }
}

fn end() -> End {
    End {
        reason: StopReason::MaxIterations,
        iterations: 30,
        warm_up: 0,
        time: Duration::from_millis(250),
        best_iteration: 10,
        recall_bias: 0.5,
        regularization: "dropout 0.3, L2 0.1".to_owned(),
        noise: Some(NoiseExposure::new("dropout".to_owned(), 10, 4)),
        dev: None,
        dev_mean: None,
    }
}

/// Writes the log of a run up to `last` iterations.
fn write(log: &mut Log, numbers: std::ops::RangeInclusive<usize>, ends: bool) {
    for number in numbers {
        let _ = log.iteration(&iteration(number, None));
    }
    if ends {
        log.end(&end());
    }
}

#[test]
fn an_event_has_the_fields_of_its_line_and_is_read_back() {
    let iteration_line = json!({
        "event": "iteration", "iteration": 3, "objective": 12.5, "log_likelihood": -12.0,
        "dropout": 0.0, "l2": 0.5, "l1": 0.0, "gradient_norm": 0.25, "evaluations": 4,
        "nonzero": 7, "seconds": 1.5,
    });
    let with = |name: &str, value: f64| {
        let mut line = iteration_line.clone();
        line[name] = json!(value);
        line["recall_bias"] = json!(-0.25);
        line["dev_mean"] = json!(0.5);
        line
    };
    let record = |dev| Record::Iteration(Cow::Owned(iteration(3, dev)));
    let start_line = json!({
        "event": "start", "version": env!("CARGO_PKG_VERSION"),
        "files": ["a.conll", "b \"c\".conll"], "threads": rayon::current_num_threads(),
        "sources": [
            {"role": "clusters", "name": "raw.txt", "files": ["raw.txt"], "bytes": 7, "words": 3}
        ],
        "parameters": {"l2": 0.1, "seed": 1}, "sentences": 10, "tokens": 100,
        "unlabeled_sentences": 5, "dev_sentences": 3, "dev_units": 7, "labels": 9,
        "attributes": 1000, "collapsed_attributes": 700, "weights": 6300, "active_per_token": 19.25,
        "collapsed_active_per_token": 15.5, "estimated_memory": 1_u64 << 40,
    });
    let end_line = json!({
        "event": "end", "stop_reason": "max_iterations", "iterations": 30, "seconds": 0.25,
        "best_iteration": 10, "recall_bias": 0.5, "regularization": "dropout 0.3, L2 0.1",
        "noise": {"kind": "dropout", "iterations": 6, "warm_up": 4, "lost": null},
    });
    for (record, expected) in [
        (Record::Start { header: Cow::Owned(header()), start: Cow::Owned(start()) }, start_line),
        (record(None), iteration_line.clone()),
        (record(Some(DevScore::F1(0.75))), with("dev_f1", 0.75)),
        (record(Some(DevScore::Accuracy(0.5))), with("dev_accuracy", 0.5)),
        (Record::End(Cow::Owned(end())), end_line),
        (
            Record::Pass(Pass::Fold { number: 2, of: 5 }),
            json!({"event": "pass", "pass": "fold", "number": 2, "of": 5}),
        ),
    ] {
        assert_eq!(json!(record), expected);
        let text = expected.to_string();
        assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record);
    }
}

#[test]
fn a_value_that_is_not_finite_is_null_and_read_as_nan() {
    let mut iteration = iteration(1, None);
    iteration.objective = f64::INFINITY;
    let text = serde_json::to_string(&iteration).unwrap();
    assert!(text.contains("\"objective\":null"), "{text}");
    let read: Iteration = serde_json::from_str(&text).unwrap();
    assert!(read.objective.is_nan());
}

#[test]
fn every_reason_is_read_back() {
    for reason in StopReason::ALL {
        let end = End { reason, ..end() };
        assert_eq!(serde_json::from_value::<End>(json!(end)).unwrap().reason, reason);
    }
}

#[test]
fn an_old_log_is_replaced_with_the_first_iteration_and_every_line_written_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    fs::write(&path, "an older log\n").unwrap();
    let read = || fs::read_to_string(&path).unwrap();
    let mut log = Log::create(&path).unwrap();
    log.set_header(header());
    log.start(&start());
    write(&mut log, 0..=0, false);
    assert_eq!(read(), "an older log\n");
    for (number, lines) in [(1, 3), (2, 4)] {
        write(&mut log, number..=number, false);
        assert_eq!(read().lines().count(), lines);
    }
    log.end(&end());
    log.finish().unwrap();
    let runs = read_runs(&read(), "run.jsonl").unwrap();
    let expected = Run {
        pass: None,
        header: header(),
        start: start(),
        iterations: (0..=2).map(|number| iteration(number, None)).collect(),
        end: Some(end()),
    };
    assert_eq!(runs, [expected]);
}

#[test]
fn a_run_without_a_result_keeps_the_old_log_and_leaves_no_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let [old, new] = ["old", "new"].map(|name| folder.path().join(name));
    fs::write(&old, "an older log\n").unwrap();
    for path in [&old, &new] {
        let mut log = Log::create(path).unwrap();
        log.start(&start());
        log.finish().unwrap();
    }
    assert_eq!(fs::read_to_string(&old).unwrap(), "an older log\n");
    assert!(!new.exists());
}

#[test]
fn a_log_that_cannot_be_created_names_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none/run.jsonl");
    let error = Log::create(&path).unwrap_err();
    assert!(matches!(error, Error::Io { path: named, .. } if named == path));
}

#[cfg(unix)]
#[test]
fn a_log_that_another_run_writes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let _log = Log::create(&path).unwrap();
    let message = Log::create(&path).unwrap_err().to_string();
    assert!(message.contains("another run is writing this file"), "{message}");
}

#[test]
fn an_error_ends_the_log_and_is_returned_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = Log::create(folder.path().join("log")).unwrap();
    log.write(&f64::NAN, true); // null
    // A map whose keys are no strings has no JSON.
    log.write(&std::collections::HashMap::from([([1], 1)]), true);
    log.write(&1, true);
    assert!(log.finish().is_err());
    assert_eq!(fs::read_to_string(folder.path().join("log")).unwrap(), "null\n");
}

#[test]
fn a_run_that_resumes_appends_and_is_read_as_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let record = |events: &mut dyn FnMut(&mut Log)| {
        let mut log = Log::create(&path).unwrap();
        log.set_header(header());
        events(&mut log);
        log.finish().unwrap();
    };
    let append = |text: &str| fs::write(&path, fs::read_to_string(&path).unwrap() + text).unwrap();
    let pass = |log: &mut Log, pass: Option<Pass>| pass.into_iter().for_each(|pass| log.pass(pass));
    for passes in [[None, None], [Some(Pass::First), Some(Pass::Second)]] {
        let is_second = passes[1].is_some();
        record(&mut |log| {
            if is_second {
                log.pass(Pass::First);
                log.start(&start());
                write(log, 0..=2, true);
            }
            pass(log, passes[1]);
            log.start(&start());
            write(log, 0..=5, false);
        });
        append("{\"event\":\"iteration\",\"itera"); // killed
        record(&mut |log| {
            pass(log, passes[1]);
            log.start(&start());
            log.resumed(3);
            write(log, 4..=7, true); // killed after the end, before the model was written
        });
        record(&mut |log| {
            pass(log, passes[1]);
            log.start(&start());
            log.resumed(6);
            write(log, 7..=8, true);
        });
        let read = || read_runs(&fs::read_to_string(&path).unwrap(), "log").unwrap();
        let runs = read();
        assert_eq!(runs.len(), 1 + usize::from(is_second));
        let last = runs.last().unwrap();
        assert_eq!((last.pass, last.end.is_some()), (passes[1], true));
        let numbers = last.iterations.iter().map(|iteration| iteration.number);
        assert_eq!(numbers.collect::<Vec<_>>(), (0..=8).collect::<Vec<_>>());
        // A pass that had no checkpoint begins again.
        record(&mut |log| {
            pass(log, passes[1]);
            log.resumed(0);
            log.start(&start());
            write(log, 0..=1, true);
        });
        let again = read();
        assert_eq!(again.len(), runs.len());
        assert_eq!(again.last().unwrap().iterations.len(), 2);
    }
}

#[test]
fn a_line_that_is_no_record_is_an_error_with_its_number() {
    let line = |record: &Record<'_>| serde_json::to_string(record).unwrap() + "\n";
    let start = line(&Record::Start { header: Cow::Owned(header()), start: Cow::Owned(start()) });
    let step = line(&Record::Iteration(Cow::Owned(iteration(0, None))));
    let bad = step.replace(":0,", ":\"x\",");
    let unknown = "{\"event\":\"of a later version\"}\n";
    for (text, expected) in [
        (step.clone(), "a.log:1: expected the line \"start\""),
        (start.clone() + &bad, "a.log:2: invalid type: string \"x\""),
        (start.clone() + "x\n" + &step, "a.log:2: found \"x\"; expected"),
        ("{\"a\":1}\n".to_owned(), "a.log:1: missing field `event` in"),
    ] {
        let message = read_runs(&text, "a.log").unwrap_err().to_string();
        assert!(message.starts_with(expected), "{message}");
    }
    // What a run that was killed, or still runs, left incomplete is none.
    let cut = start + unknown + &step + &step[..40];
    let runs = read_runs(&cut, "a.log").unwrap();
    assert_eq!(runs[0].iterations.len(), 1);
}
