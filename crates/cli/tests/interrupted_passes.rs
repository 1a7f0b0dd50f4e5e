//! Training in two passes that is interrupted or killed, and resumed.

use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStderr};
use std::time::Instant;

use dropchain::model::Model;

use crate::checkpoints::{Random, kill_three_times, log, number_of_kills};
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
        Self { child, progress, line: line.to_owned() }
    }

    /// Interrupts the run, and returns the rest of its progress.
    fn interrupt(mut self) -> String {
        send("INT", &mut self.child);
        finish(self.child, &self.line).exits(130);
        let lines: Result<Vec<String>, _> = self.progress.collect();
        lines.unwrap().join("\n")
    }
}

const IN_A_FOLD: &[&str] = &["first pass without fold 2 of 5", "iteration   10"];
const BEFORE_THE_SECOND_PASS: &[&str] = &["second pass"];

const TRAIN: &str = "train train.conll --template two.tpl --dropout 0 --l2 1e-7 --epsilon 0 \
                     --max-iterations 30 --model m --log log";

#[test]
fn an_interrupt_before_the_second_pass_has_a_result_saves_the_first_pass() {
    let dir = directory(2000);
    let options = "--dropout 0 --l2 1e-7 --epsilon 0 --max-iterations 30 --quiet";
    dir.run(&format!("train train.conll --template one.tpl --model one {options}")).success();
    let expected = dir.run("tag one dev.conll").success();
    for moment in [IN_A_FOLD, BEFORE_THE_SECOND_PASS] {
        let expected_message = "interrupted by SIGINT before the second pass had a result; m has \
                                the first pass alone, with its weights of iteration ";
        // On a busy machine the second pass may have a result before the signal arrives.
        let mut messages = (0..20).map(|_| Run::until(&dir, TRAIN, moment).interrupt());
        assert!(
            messages.any(|message| message.contains(expected_message)),
            "never before the second pass had a result, {moment:?}"
        );
        let log = dir.json_lines("log");
        let end = log.last().unwrap();
        assert_eq!((&end["event"], &end["stop_reason"]), (&"end".into(), &"interrupted".into()));

        // It is a model of one pass, for every command that reads models.
        let model = Model::open(dir.path("m")).unwrap();
        assert!(model.first_pass().is_none());
        assert_eq!(dir.run("tag m dev.conll").success(), expected);
        let shown = dir.run("inspect m").success();
        assert!(!shown.contains("\nfirst pass "), "{shown}");
        dir.run("train dev.conll --init m --model more --quiet --max-iterations 3").success();
        let line = "train dev.conll --init m --template two.tpl --model more --quiet";
        dir.run(line).fails_with("the training of the second was interrupted");
    }
}

#[test]
fn a_model_that_is_continued_in_place_keeps_both_passes() {
    let dir = directory(1000);
    dir.run("train dev.conll --template two.tpl --model m --quiet").success();
    let old = dir.bytes("m");
    let line = format!("{TRAIN} --init m");
    let message = Run::until(&dir, &line, IN_A_FOLD).interrupt();
    assert!(message.contains("m was not written, since it has both passes"), "{message}");
    assert!(dir.bytes("m") == old);
    // Another file has the first pass.
    let line = line.replace("--model m", "--model new");
    let message = Run::until(&dir, &line, IN_A_FOLD).interrupt();
    assert!(message.contains("new has the first pass alone"), "{message}");
    assert!(Model::open(dir.path("new")).unwrap().first_pass().is_none());
}

/// A run of a second or two, with all kinds of options that its state depends on.
const CHECKPOINTED: &str = "train train.conll --template two.tpl --warm-up 3 --max-iterations 8 \
                            --model m --log log --checkpoint state";

#[test]
fn two_passes_killed_at_any_moment_resume_to_the_same_model_and_log() {
    let dir = directory(60);
    let (mut random, mut checkpoints) = (Random(3), 0);
    let all_kills = number_of_kills(8);
    for options in ["", "--dev dev.conll"] {
        let line = format!("{CHECKPOINTED} --quiet --checkpoint-every 1 {options}");
        let begin = Instant::now();
        dir.run(&line).success();
        let duration = begin.elapsed();
        let (model, records) = (dir.bytes("m"), log(&dir));
        let mut kills = 0;
        while kills < all_kills / 2 {
            dir.write("m", "");
            dir.write("log", "");
            let counts = kill_three_times(&dir, &line, duration.mul_f64(0.6), &mut random);
            kills += counts[0];
            checkpoints += counts[1];
            let threads = 1 + kills % 3;
            dir.run(&format!("{line} --resume --threads {threads}")).success();
            assert!(dir.bytes("m") == model, "after {kills} kills");
            assert_eq!(log(&dir), records, "after {kills} kills");
            assert!(!dir.path("state").exists());
        }
    }
    assert!(checkpoints > all_kills / 4, "{checkpoints} of {all_kills} runs");
}

#[test]
fn a_checkpoint_that_cannot_be_written_after_a_pass_is_a_warning() {
    let dir = directory(400);
    let line = CHECKPOINTED.replace("--checkpoint state", "--checkpoint sub/state");
    fs::create_dir(dir.path("sub")).unwrap();
    dir.run(&line).success();
    let model = dir.bytes("m");
    let run = Run::until(&dir, &line, &["first pass", "iteration    0"]);
    fs::remove_dir_all(dir.path("sub")).unwrap();
    let output = finish(run.child, &line);
    assert_eq!(output.status.code(), Some(0));
    let warnings: Vec<String> = run
        .progress
        .map(Result::unwrap)
        .filter(|line| line.starts_with("warning: no checkpoint was written, training continues: "))
        .collect();
    assert_eq!(warnings.len(), 6); // after all passes but the last
    assert!(dir.bytes("m") == model);
}
