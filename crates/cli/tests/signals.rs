//! Signals, and the exit codes of runs that end early.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::thread;
use std::time::Duration;

use crate::checkpoints::number_of_kills;
use crate::support::{
    NER_CORPUS, Output, TestDir, finish, handles_signals, send, wait_for_handlers, wait_until,
};

/// Signals and the exit codes of runs that they end.
const SIGNALS: [(&str, i32); 3] = [("INT", 130), ("TERM", 143), ("HUP", 129)];

/// Generates a corpus that takes long to train on: random words with random labels.
fn random_corpus(sentences: usize) -> String {
    let mut state = 1_u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let mut corpus = String::new();
    for _ in 0..sentences {
        for _ in 0..20 {
            let _ = writeln!(corpus, "w{} L{}", random(5000), random(12));
        }
        corpus.push('\n');
    }
    corpus
}

fn long_corpora() -> TestDir {
    TestDir::new(&[("train.conll", &random_corpus(1500)), ("dev.conll", &random_corpus(20))])
}

/// Starts training in `dir` that takes long, and waits until its log has a few iterations.
fn start_training(dir: &TestDir, options: &str) -> (Child, String) {
    let line = format!(
        "train train.conll --template minimal --l2 0.0001 --model m --log log.jsonl {options}"
    );
    let _ = fs::remove_file(dir.path("log.jsonl"));
    let child = dir.command(&line).spawn().unwrap();
    let log = dir.path("log.jsonl");
    wait_until("the third iteration", || {
        let log = fs::read_to_string(&log).unwrap_or_default();
        log.contains("\"iteration\":3,")
    });
    (child, line)
}

fn assert_no_temporary_files(dir: &TestDir) {
    let names = dir.names();
    assert!(!names.iter().any(|name| name.starts_with(".dropchain-")), "{names:?}");
}

// While there is a result

#[test]
fn interrupted_training_saves_a_usable_model_and_exits_with_the_code_of_the_signal() {
    let dir = long_corpora();
    for (signal, code) in SIGNALS {
        let _ = fs::remove_file(dir.path("m"));
        let (mut child, line) = start_training(&dir, "");
        send(signal, &mut child);
        let message = finish(child, &line).exits(code);
        assert!(message.contains(&format!("interrupted by SIG{signal} after")), "{message}");
        assert!(message.contains("; m has the weights of iteration"), "{message}");
        let log = dir.json_lines("log.jsonl");
        let end = log.last().unwrap();
        assert_eq!(end["event"], "end");
        assert_eq!(end["stop_reason"], "interrupted");
        assert_eq!(end["iterations"], log[log.len() - 2]["iteration"]);
        let tagged = dir.run("tag m dev.conll").success();
        assert_eq!(tagged.lines().count(), 20 * 21);
        assert_no_temporary_files(&dir);
    }
}

#[test]
fn signals_that_follow_at_once_count_as_one() {
    let dir = long_corpora();
    let (mut child, line) = start_training(&dir, "");
    // As `timeout` does: to the process and to its group.
    for signal in ["TERM", "TERM", "INT"] {
        send(signal, &mut child);
    }
    let message = finish(child, &line).exits(143);
    assert!(message.contains("interrupted by SIGTERM after"), "{message}");
    assert!(!message.contains("SIGINT"), "{message}");
    dir.run("inspect m").success();
}

#[cfg(target_os = "linux")]
#[test]
fn a_second_signal_after_a_second_quits_without_saving() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
    dir.run("train train.conll --template minimal --max-iterations 3 --model m").success();
    let old = dir.bytes("m");
    // The log is a pipe with room for a few iterations, which nobody reads: training gets stuck.
    dir.make_pipe("pipe");
    let hold = "exec 3<>pipe; head -c 61440 /dev/zero >&3; echo > filled; exec sleep 60";
    let mut holder = dir.shell_command(hold).spawn().unwrap();
    wait_until("the filled pipe", || dir.path("filled").exists());
    dir.write("train.conll", random_corpus(20));
    let line = "train train.conll --template minimal --model m --log pipe --l2 1e-6";
    let mut child = dir.command(line).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().starts_with("iteration    0 ")));
    thread::sleep(Duration::from_secs(3)); // until the pipe is full
    send("INT", &mut child);
    thread::sleep(Duration::from_millis(1500));
    send("TERM", &mut child);
    finish(child, line).exits(143);
    assert!(lines.any(|line| line.unwrap().contains("nothing was saved")));
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert!(dir.bytes("m") == old);
    assert_no_temporary_files(&dir);
}

// While there is none

/// Starts a command that waits for standard input, sends a signal, and returns what it printed.
fn interrupt_reading(dir: &TestDir, line: &str, signal: &str) -> Output {
    let mut child = dir.command(line).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(NER_CORPUS.as_bytes()).unwrap();
    wait_for_handlers(&child);
    send(signal, &mut child);
    finish(child, line)
}

#[test]
fn a_signal_before_the_first_iteration_keeps_the_old_model_and_the_old_log() {
    let train = "train train.conll --template minimal --max-iterations 3 --model m --log log.jsonl";
    let dir = TestDir::trained(&[("train.conll", NER_CORPUS)], train);
    let (model, log) = (dir.bytes("m"), dir.bytes("log.jsonl"));
    for (signal, code) in SIGNALS {
        for line in [
            "train - --template minimal --model m --log log.jsonl",
            "tune - --folds 2 --template minimal --model m --log log.jsonl",
        ] {
            let message = interrupt_reading(&dir, line, signal).exits(code);
            assert!(message.contains("before there was a result"), "{message}");
            assert!(message.contains("no file was changed"), "{message}");
            assert!(dir.bytes("m") == model && dir.bytes("log.jsonl") == log);
            assert_eq!(dir.names(), ["log.jsonl", "m", "train.conll"]);
        }
    }
}

#[test]
fn an_interrupted_cluster_run_or_conversion_writes_nothing() {
    let mut lines = vec!["cluster - --format conll --output m"];
    if cfg!(target_os = "linux") {
        lines.push("convert /dev/stdin --model m");
    }
    for line in lines {
        for (signal, code) in SIGNALS {
            let dir = TestDir::new(&[]);
            let mut child = dir.command(line).spawn().unwrap();
            let stdin = child.stdin.take();
            wait_for_handlers(&child);
            send(signal, &mut child);
            finish(child, line).exits(code);
            drop(stdin);
            assert!(dir.names().is_empty(), "{:?}", dir.names());
        }
    }
}

#[test]
fn tagging_and_evaluation_are_ended_by_signals_as_usual() {
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal");
    for (number, signal) in [(2, "INT"), (15, "TERM"), (1, "HUP")] {
        for line in ["tag m -", "eval m -"] {
            let mut child = dir.command(line).spawn().unwrap();
            send(signal, &mut child);
            let output = finish(child, line);
            assert_eq!(output.status.signal(), Some(number), "{line}");
        }
    }
}

#[expect(clippy::print_stdout, reason = "reports a skipped test")]
#[test]
fn a_hang_up_that_is_ignored_at_the_start_stays_ignored() {
    if !cfg!(target_os = "linux") {
        println!("skipped: only Linux tells which signals are ignored");
        return;
    }
    let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
    let line = "trap '' HUP; exec \"$D\" train - --template minimal --model m --max-iterations 3";
    let mut child = dir.shell_command(line).spawn().unwrap();
    wait_for_handlers(&child);
    send("HUP", &mut child);
    thread::sleep(Duration::from_millis(100));
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(NER_CORPUS.as_bytes()).unwrap();
    drop(stdin);
    finish(child, line).success();
    dir.run("inspect m").success();
}

#[test]
fn signals_at_any_moment_leave_the_old_model_or_a_complete_new_one() {
    let dir = TestDir::new(&[("train.conll", &random_corpus(100))]);
    let line = "train train.conll --template minimal --max-iterations 30 --model m --log log.jsonl";
    dir.run(line).success();
    let mut results = [0; 3]; // kept, interrupted, done
    let steps = number_of_kills(12);
    for step in 0..steps {
        let (signal, code) = SIGNALS[step % 3];
        let old = dir.bytes("m");
        let mut child = dir.command(line).spawn().unwrap();
        thread::sleep(Duration::from_millis(300 * step as u64 / steps as u64));
        if step == 0 {
            wait_for_handlers(&child);
        }
        let is_watching = handles_signals(&child);
        send(signal, &mut child);
        let output = finish(child, line);
        match output.status.code() {
            Some(0) => results[2] += 1,
            Some(found) => {
                assert_eq!(found, code, "{output:?}");
                if output.stderr.contains("no file was changed") {
                    assert!(dir.bytes("m") == old);
                    results[0] += 1;
                } else {
                    results[1] += 1;
                }
            }
            // Before signals were watched.
            None => assert!(!is_watching && dir.bytes("m") == old, "{output:?}"),
        }
        assert_no_temporary_files(&dir);
        dir.run("inspect m").success();
    }
    assert!(results[0] > 0, "{results:?}");
}

// Searches

#[test]
fn an_interrupted_search_writes_the_best_model_so_far() {
    let dir =
        TestDir::new(&[("train.conll", &random_corpus(300)), ("dev.conll", &random_corpus(20))]);
    let line = "tune train.conll --dev dev.conll --template minimal --dropout 0.1,0.2,0.3,0.4,0.5 \
                --l2 0.001,0.002,0.003 --patience 60 --threads 1 --model m \
                --log log.jsonl";
    let mut child = dir.command(line).spawn().unwrap();
    thread::sleep(Duration::from_millis(1500));
    send("TERM", &mut child);
    let message = finish(child, line).exits(143);
    let is_written = message.contains("; m has the best model so far");
    assert_eq!(is_written, dir.path("m").exists(), "{message}");
    if is_written {
        dir.run("inspect m").success();
    }
    assert_no_temporary_files(&dir);
}

// Training that fails

#[test]
fn a_failed_line_search_is_an_exit_code_unless_the_gradient_is_approximate() {
    let dir = TestDir::new(&[("train.conll", "a X\nb Y\n")]);
    let train = "train train.conll --template minimal --model m --log log.jsonl";
    let reason = || dir.json_lines("log.jsonl").last().unwrap()["stop_reason"].clone();
    // The squares of the penalty overflow.
    let message = dir.run(&format!("{train} --dropout 0 --l2 1e300")).exits(3);
    assert_eq!(reason(), "line_search");
    assert!(message.contains("did not converge"), "{message}");
    dir.run("inspect m").success();
    dir.run(&format!("{train} --gradient local")).success();
    assert_eq!(reason(), "line_search");
    dir.run(train).success();
    assert_eq!(reason(), "gradient");
}
