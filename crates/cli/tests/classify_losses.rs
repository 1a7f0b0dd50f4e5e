//! Classification of documents with losses of y·score: support vector machines, logistic and
//! least-squares regression under noise.

use std::fmt::Write as _;

use crate::support::TestDir;

const LOSSES: [&str; 3] = ["hinge", "logistic", "squared"];

/// Documents of words that say something of the class, and of others.
fn documents(classes: &[&str], count: usize, seed: usize) -> String {
    let mut text = String::new();
    for i in 0..count {
        let class = (i * 7 + i / 3) % classes.len();
        let number = |k: usize| (i * 31 + k * 17 + seed * 101 + i * i * k) % 23;
        let sign = if number(5) == 0 { (class + 1) % classes.len() } else { class };
        let name = classes[class];
        let _ = writeln!(text, "{name}\tw{} s{sign} w{} w{}", number(1), number(2), number(3));
    }
    text
}

fn dir() -> TestDir {
    let dir = TestDir::new(&[]);
    dir.write("train.txt", documents(&["pos", "neg"], 60, 1));
    dir.write("dev.txt", documents(&["pos", "neg"], 30, 2));
    dir.write("three.txt", documents(&["a", "b", "c"], 90, 1));
    dir
}

#[test]
fn models_of_every_loss_classify_and_record_it() {
    let dir = dir();
    for loss in LOSSES {
        let line = format!("classify train train.txt --loss {loss} --dropout 0.5 --model m");
        let run = dir.run(&line);
        assert!(run.stderr.contains("60 documents, 2 classes"), "{}", run.stderr);
        run.success();
        let report = dir.run("classify eval m dev.txt --json").json();
        assert!(report["accuracy"].as_f64().unwrap() > 0.85, "{loss}: {report}");
        let inspected = dir.run("classify inspect m --json --top 1").json();
        assert_eq!(inspected["loss"], loss);
        let text = dir.run("classify inspect m").success();
        assert!(text.contains(&format!("loss: {loss}")), "{text}");
        let run = dir.run_with_stdin("classify predict m --output jsonl --top 2", "s0 w1\n");
        let predicted = &run.json_lines()[0];
        assert_eq!(predicted["label"], "pos", "{loss}");
        let other = predicted["probabilities"]["neg"].as_f64().unwrap();
        let sum = predicted["probabilities"]["pos"].as_f64().unwrap() + other;
        assert!((sum - 1.0).abs() < 1e-9);
    }
}

#[test]
fn the_logged_objective_falls_and_development_documents_are_scored() {
    let dir = dir();
    let line = "classify train train.txt --dev dev.txt --loss hinge --dropout 0.3 \
                --model m --log log --quiet";
    dir.run(line).success();
    let log = dir.text("log");
    let events: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let iterations: Vec<_> = events.iter().filter(|e| e["event"] == "iteration").collect();
    let values: Vec<f64> = iterations.iter().map(|e| e["objective"].as_f64().unwrap()).collect();
    assert!(values.len() > 3);
    assert!(values.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-12)), "{values:?}");
    // At w = 0 every document misses the margin by all of it.
    assert!((60.0..61.5).contains(&values[0]), "{}", values[0]);
    assert!(
        iterations.iter().all(|e| e["dev_accuracy"].is_number() && e["log_likelihood"].is_null())
    );
}

#[test]
fn what_does_not_fit_a_loss_is_refused_and_an_old_model_stays() {
    let dir = dir();
    dir.write("one.txt", "a\tx\na\ty\n");
    dir.write("more.txt", "x\n");
    dir.run("classify train train.txt --model m --quiet").success();
    let before = dir.bytes("m");
    for (line, expected) in [
        (
            "train train.txt --hidden 3",
            "the softmax loss with --hidden units; expected --loss hinge, logistic or",
        ),
        (
            "train train.txt --loss hinge --noise monte-carlo",
            "the hinge loss with --noise of this kind",
        ),
        (
            "train train.txt --loss hinge --unlabeled more.txt",
            "--unlabeled: --loss hinge learns from labels alone",
        ),
        ("train one.txt --loss hinge", "one.txt:1: all documents are of the class 'a'"),
        ("train train.txt --loss hinge --memory 1000", "memory"),
    ] {
        let message = dir.run(&format!("classify {line} --model m --quiet")).failure();
        assert!(message.contains(expected), "{expected}: {message}");
        assert!(dir.bytes("m") == before, "{expected}");
    }
}

#[test]
fn hidden_units_are_trained_inspected_and_searched() {
    let dir = dir();
    let options = "--loss logistic --hidden 3 --dropout 0.3 --l2 0.03";
    dir.run(&format!("classify train train.txt {options} --model m --quiet")).success();
    let report = dir.run("classify eval m dev.txt --json").json();
    assert!(report["accuracy"].as_f64().unwrap() > 0.8, "{report}");
    let inspected = dir.run("classify inspect m --json --top 2").json();
    let units = inspected["hidden_units"].as_array().unwrap();
    assert_eq!(units.len(), 3);
    assert_eq!(units[0]["features"].as_array().unwrap().len(), 2);
    let text = dir.run("classify inspect m").success();
    assert!(text.contains("hidden unit 3: "), "{text}");
    dir.run("classify train three.txt --loss hinge --hidden 2 --model t --quiet").success();
    let inspected = dir.run("classify inspect t --json").json();
    assert_eq!(inspected["hidden_units"].as_array().unwrap().len(), 6);
    assert_eq!(inspected["classes"].as_object().unwrap().len(), 3);
    dir.run(
        "classify tune train.txt --folds 3 --loss logistic --hidden 2 --dropout 0,0.3 --l2 0.1 \
         --model u --quiet",
    )
    .success();
    dir.run("classify eval u dev.txt --against m").success();
}
