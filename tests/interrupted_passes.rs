//! Training in two passes that is interrupted.

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStderr};

use dropchain::internals::model::Model;

use crate::support::{TestDir, finish, send};
use crate::two_passes::{TEMPLATE, corpus};

/// The template that the first pass has.
const FIRST: &str = "word[-1]\n";

fn directory(documents: usize) -> TestDir {
    TestDir::new(&[
        ("train.conll", &corpus(0..documents)),
        ("dev.conll", &corpus(documents..documents + 50)),
        ("two.tpl", TEMPLATE),
        ("one.tpl", FIRST),
    ])
}

/// A run and the lines of its progress that were not read yet.
struct Run {
    child: Child,
    progress: Lines<BufReader<ChildStderr>>,
    line: String,
}

impl Run {
    /// Starts a command and reads its progress up to lines that begin so.
    fn until(dir: &TestDir, line: &str, beginnings: &[&str]) -> Self {
        let mut child = dir.command(line).spawn().unwrap();
        let mut progress = BufReader::new(child.stderr.take().unwrap()).lines();
        for beginning in beginnings {
            let found = progress.any(|line| line.unwrap().starts_with(beginning));
            assert!(found, "{line}: no line {beginning}");
        }
        Self {
            child,
            progress,
            line: line.to_owned(),
        }
    }

    /// Interrupts the run, and returns the rest of its progress.
    fn interrupt(mut self) -> String {
        send("INT", &mut self.child);
        finish(self.child, &self.line).exits(130);
        let lines: Result<Vec<String>, _> = self.progress.collect();
        lines.unwrap().join("\n")
    }
}

const IN_A_FOLD: &[&str] = &["first pass without fold 2 of 5", "iteration    1"];
const IN_THE_SECOND_PASS: &[&str] = &["second pass", "iteration    2"];
const BEFORE_THE_SECOND_PASS: &[&str] = &["second pass"];

const TRAIN: &str = "train train.conll --template two.tpl --dropout 0 --l2 1e-7 --epsilon 0 \
                     --delta 0 --max-iterations 30 --model m --log log";

#[test]
fn an_interrupt_before_the_second_pass_has_a_result_saves_the_first_pass() {
    let dir = directory(2000);
    let options = "--dropout 0 --l2 1e-7 --epsilon 0 --delta 0 --max-iterations 30 --quiet";
    dir.run(&format!(
        "train train.conll --template one.tpl --model one {options}"
    ))
    .success();
    let expected = dir.run("tag one dev.conll").success();
    for moment in [IN_A_FOLD, BEFORE_THE_SECOND_PASS] {
        let message = Run::until(&dir, TRAIN, moment).interrupt();
        let expected_message = "interrupted by SIGINT before the second pass had a result; m has \
                                the first pass alone, with its weights of iteration ";
        assert!(message.contains(expected_message), "{message}");
        let log = dir.json_lines("log");
        let end = log.last().unwrap();
        assert_eq!(
            (&end["event"], &end["stop_reason"]),
            (&"end".into(), &"interrupted".into())
        );

        // It is a model of one pass, for every command that reads models.
        let model = Model::open(dir.path("m")).unwrap();
        assert!(model.version() == 2 && model.first_pass().is_none());
        assert_eq!(dir.run("tag m dev.conll").success(), expected);
        let shown = dir.run("inspect m").success();
        assert!(!shown.contains("two passes"), "{shown}");
        dir.run("train dev.conll --init m --model more --quiet --max-iterations 3")
            .success();
        let line = "train dev.conll --init m --template two.tpl --model more --quiet";
        let error = dir.run(line).failure();
        assert!(
            error.contains("the training of the second was interrupted"),
            "{error}"
        );
    }
}

#[test]
fn an_interrupt_of_the_first_pass_or_with_development_data_saves_the_first_pass() {
    let dir = directory(1000);
    let moments: [&[&str]; 2] = [&["first pass", "iteration    1"], IN_A_FOLD];
    for moment in moments {
        let line = format!("{TRAIN} --dev dev.conll");
        let message = Run::until(&dir, &line, moment).interrupt();
        assert!(message.contains("m has the first pass alone"), "{message}");
        let of_dev = dir.json_lines("log");
        let best = |line: &serde_json::Value| line["dev_f1"].as_f64();
        let first = of_dev.iter().skip(1).take_while(|l| l["event"] != "pass");
        let best = first.filter_map(best).fold(0.0, f64::max);
        let evaluated = dir.run("eval m dev.conll --json").json();
        assert!((evaluated["f1"].as_f64().unwrap() - best).abs() < 1e-9);
    }
}

#[test]
fn an_interrupt_of_the_second_pass_saves_both() {
    let dir = directory(500);
    let message = Run::until(&dir, TRAIN, IN_THE_SECOND_PASS).interrupt();
    assert!(
        message.contains("m has the weights of iteration"),
        "{message}"
    );
    assert_eq!(Model::open(dir.path("m")).unwrap().version(), 3);
    dir.run("tag m dev.conll").success();
    dir.run("train dev.conll --init m --model more --quiet --max-iterations 3")
        .success();
    assert_eq!(Model::open(dir.path("more")).unwrap().version(), 3);
}

#[test]
fn a_model_that_is_continued_in_place_keeps_both_passes() {
    let dir = directory(1000);
    dir.run("train dev.conll --template two.tpl --model m --quiet")
        .success();
    let old = dir.bytes("m");
    let line = format!("{TRAIN} --init m");
    let message = Run::until(&dir, &line, IN_A_FOLD).interrupt();
    assert!(
        message.contains("m was not written, since it has both passes"),
        "{message}"
    );
    assert!(dir.bytes("m") == old);
    // Another file has the first pass.
    let line = line.replace("--model m", "--model new");
    let message = Run::until(&dir, &line, IN_A_FOLD).interrupt();
    assert!(
        message.contains("new has the first pass alone"),
        "{message}"
    );
    assert_eq!(Model::open(dir.path("new")).unwrap().version(), 2);
}

#[test]
fn a_model_that_needs_no_iteration_keeps_both_passes() {
    let dir = directory(20);
    dir.run("train train.conll --template two.tpl --model m --quiet --dropout 0")
        .success();
    dir.run("train train.conll --init m --model same --quiet --dropout 0 --max-iterations 0")
        .success();
    assert_eq!(Model::open(dir.path("same")).unwrap().version(), 3);
}
