//! Regression: predicting numbers.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::support::{NER_CORPUS, TestDir};

/// A table of homes: the price depends on two numbers and on the town.
fn homes(count: usize, seed: usize) -> String {
    let mut text = "id,area,rooms,town,price\n".to_owned();
    for i in 0..count {
        let number = |k: usize| (i * 37 + k * 11 + seed * 101 + i * i * (k + 3)) % 29;
        let (area, rooms) = (20 + 3 * number(1), 1 + number(2) % 5);
        let town = ["Paris", "Lyon", "Brest"][number(3) % 3];
        let bonus = [90, 20, 0][number(3) % 3];
        let price = 3 * area + 10 * rooms + bonus + number(4) % 7;
        let _ = writeln!(text, "{i},{area},{rooms},{town},{price}");
    }
    text
}

const TABLE: &str = "--label price --columns area,rooms --categories town";

fn dir() -> TestDir {
    let dir = TestDir::new(&[]);
    dir.write("homes.csv", homes(60, 1));
    dir.write("test.csv", homes(30, 2));
    dir
}

fn train(dir: &TestDir, line: &str) {
    dir.run(&format!("regress train {line} --model m --quiet")).success();
}

#[test]
fn tables_train_predict_and_are_scored_without_naming_columns_again() {
    let dir = dir();
    let run = dir.run(&format!("regress train homes.csv {TABLE} --l2 0.01 --model m"));
    assert!(run.stderr.contains("60 documents, 5 features"), "{}", run.stderr);
    run.success();
    let report = dir.run("regress eval m test.csv --json").json();
    assert!(report["r2"].as_f64().unwrap() > 0.99, "{report}");
    assert_eq!(report["documents"], 30);
    let text = dir.run("regress eval m test.csv").success();
    assert!(text.contains("RMSE") && text.contains("R²"), "{text}");
    let rows = "town,area,rooms\nParis,50,2\nLyon,50,2\nRome,50,2\n";
    let printed = dir.run_with_stdin("regress predict m", rows).success();
    let numbers: Vec<f64> = printed.lines().map(|line| line.parse().unwrap()).collect();
    let difference = numbers[0] - numbers[1];
    assert!((difference - 70.0).abs() < 4.0, "{numbers:?}");
    assert!((numbers[1] - 193.0).abs() < 4.0, "{numbers:?}");
    let lines = dir.run_with_stdin("regress predict m --output jsonl", rows).json_lines();
    assert!((lines[0]["value"].as_f64().unwrap() - numbers[0]).abs() < 1e-4);
    assert_eq!(lines[1]["line"], 3);
    let shown = dir.run("regress inspect m --json").json();
    assert_eq!((&shown["features"], &shown["documents"]), (&5.into(), &60.into()));
    assert_eq!(shown["options"]["l2"], 0.01);
    let text = dir.run("regress inspect m --top 2").success();
    assert!(text.contains("(bias)") && text.contains("town=Paris"), "{text}");
}

#[test]
fn texts_and_svmlight_lines_have_numbers() {
    let dir = TestDir::new(&[]);
    dir.write("t.txt", "5\tgood film\n1\tbad film\n5\tgood\n1\tbad\n");
    train(&dir, "t.txt --l2 0.1 --dropout 0.3");
    let printed = dir.run_with_stdin("regress predict m", "Good !\nbad\n").success();
    let numbers: Vec<f64> = printed.lines().map(|line| line.parse().unwrap()).collect();
    assert!(numbers[0] > 3.5 && numbers[1] < 2.5, "{numbers:?}");
    dir.write("t.svm", "1.5 1:1\n2.5 1:2\n3.5 1:3 # three\n");
    train(&dir, "t.svm --l2 0");
    let printed = dir.run_with_stdin("regress predict m", "0 1:5\n").success();
    assert!((printed.trim().parse::<f64>().unwrap() - 5.5).abs() < 1e-4, "{printed}");
}

#[test]
fn what_does_not_fit_is_told_and_files_stay() {
    let dir = dir();
    for (line, expected) in [
        ("--columns all --format jsonl", "only tables have columns of features"),
        ("--epsilon 1", "--epsilon: requires --loss insensitive"),
        ("--columns price", "homes.csv:1: the column 'price' is the label"),
    ] {
        let line = format!("regress train homes.csv {TABLE} {line} --model out --quiet");
        let message = dir.run(&line).failure();
        assert!(message.contains(expected), "{line}: {message}");
    }
    let line = format!("regress train homes.csv {TABLE} --model homes.csv --quiet");
    let message = dir.run(&line).failure();
    assert!(message.contains("homes.csv"), "{message}");
    assert_eq!(dir.text("homes.csv"), homes(60, 1));
    assert!(!dir.names().contains(&"out".to_owned()));
}

#[test]
fn models_of_other_kinds_are_refused() {
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal");
    let message = dir.run("regress predict m").failure();
    assert!(message.contains("the model is a tagger; expected a regression"), "{message}");
    dir.write("homes.csv", homes(60, 1));
    train(&dir, &format!("homes.csv {TABLE}"));
    let message = dir.run_with_stdin("tag m", "a\n").failure();
    assert!(message.contains("the model predicts numbers; expected a tagger"), "{message}");
    let message = dir.run_with_stdin("classify predict m", "a\n").failure();
    assert!(message.contains("expected a classifier"), "{message}");
    let message = dir.run_with_stdin("regress predict m --format text", "a\n").failure();
    assert!(message.contains("found a text; expected features"), "{message}");
}

#[test]
#[expect(clippy::print_stdout, reason = "reports a skipped test")]
fn regressions_are_those_of_scikit_learn() {
    let dir = TestDir::new(&[]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peer/regression.py");
    let run = Command::new("python3")
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_dropchain"))
        .arg(dir.path("."))
        .output();
    match run {
        Ok(run) if run.status.code() != Some(3) => {
            let message = String::from_utf8_lossy(&run.stderr);
            assert!(run.status.success(), "{message}");
            assert!(String::from_utf8_lossy(&run.stdout).contains("svr, objective"));
        }
        _ => println!("skipped: scikit-learn not found"),
    }
}
