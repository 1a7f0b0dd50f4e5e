//! `--checkpoint F --resume` of `tune` after kills, interrupts and damage.

use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::checkpoints::{Random, number_of_kills};
#[cfg(unix)]
use crate::support::send;
use crate::support::{Output, TestDir, finish, sample_corpus, wait_until};

/// The checkpoint is `ck`, the log `l`, the model `m`.
const BASE: &str = "tune train.conll --columns word,upos,ner --template minimal --model m --log l \
                    --warm-up 4 --max-iterations 24 --patience 6 --json";

/// Searches with a different course each.
const SEARCHES: [&str; 2] = [
    "--dev dev.conll --dropout 0,0.3 --l2 0.03,0.1,0.3",
    "--folds 2 --random 3 --noise monte-carlo=2 --dropout 0:0.5 --l2 0.01:1 --l1 0.1",
];

/// Everything that must not depend on interruptions.
#[derive(Debug, PartialEq)]
struct Outcome {
    json: Value,
    log: Vec<Value>,
    model: Vec<u8>,
}

/// Creates a directory with the first sentences of the sample corpus.
fn directory(sentences: usize) -> TestDir {
    let first = |part| {
        let text = sample_corpus(part);
        let sentences: Vec<&str> = text.split("\n\n").take(sentences).collect();
        sentences.join("\n\n") + "\n\n"
    };
    TestDir::new(&[("train.conll", &first("train")), ("dev.conll", &first("dev"))])
}

fn line(search: &str, options: &str) -> String {
    format!("{BASE} {search} --checkpoint ck --resume {options}")
}

/// Removes the only field that differs between runs.
fn without_seconds(mut object: Value) -> Value {
    object.as_object_mut().unwrap().remove("seconds");
    object
}

fn log(dir: &TestDir) -> Vec<Value> {
    let lines = dir.json_lines("l").into_iter();
    lines.map(without_seconds).collect()
}

fn outcome(dir: &TestDir, output: Output) -> Outcome {
    let json = without_seconds(output.json());
    assert!(!dir.path("ck").exists(), "the checkpoint is left");
    Outcome { json, log: log(dir), model: dir.bytes("m") }
}

/// Runs a search to the end; returns its outcome and its time.
fn uninterrupted(dir: &TestDir, search: &str) -> (Outcome, Duration) {
    let started = Instant::now();
    let output = dir.run(&line(search, "--quiet --threads 2"));
    let time = started.elapsed();
    let outcome = outcome(dir, output);
    remove_outputs(dir);
    (outcome, time)
}

fn remove_outputs(dir: &TestDir) {
    for name in ["m", "l", "ck"] {
        let _ = fs::remove_file(dir.path(name));
    }
}

fn spawn(dir: &TestDir, line: &str) -> Child {
    let mut command = dir.command(line);
    command.stdin(Stdio::null());
    command.spawn().unwrap()
}

/// Returns the number of complete lines of the checkpoint; 0 if there is none.
fn checkpoint_lines(dir: &TestDir) -> usize {
    let bytes = fs::read(dir.path("ck")).unwrap_or_default();
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

/// Waits until the process has ended or the checkpoint has more lines.
fn wait_for_progress(dir: &TestDir, child: &mut Child, lines: usize) {
    wait_until("progress", || checkpoint_lines(dir) > lines || child.try_wait().unwrap().is_some());
}

/// Kills a search as soon as its checkpoint has some runs.
fn interrupted_checkpoint(dir: &TestDir, search: &str, runs: usize) -> Vec<u8> {
    let mut child = spawn(dir, &line(search, "--quiet --threads 1"));
    wait_for_progress(dir, &mut child, 1 + runs);
    child.kill().unwrap();
    child.wait().unwrap();
    dir.bytes("ck")
}

#[test]
fn a_search_killed_at_any_moment_resumes_to_the_same_bits() {
    let mut random = Random(11);
    let mut resumed = 0;
    let kills = number_of_kills(2 * SEARCHES.len()) / SEARCHES.len();
    for search in SEARCHES {
        let dir = directory(100);
        let (expected, time) = uninterrupted(&dir, search);
        for kill in 0..kills {
            let mut child = spawn(&dir, &line(search, "--quiet --threads 2"));
            // Once as soon as there is something to resume, then one in each part of the time.
            let part = (kill as f64 + random.next()) / kills as f64;
            match kill {
                0 => wait_for_progress(&dir, &mut child, 1),
                _ => thread::sleep(time.mul_f64(part)),
            }
            child.kill().unwrap();
            child.wait().unwrap();
            let output = dir.run(&line(search, &format!("--threads {}", 1 + kill % 3)));
            resumed += usize::from(output.stderr.contains("resuming: "));
            let found = outcome(&dir, output);
            assert!(same_but_threads(found, &expected), "{search}: kill {kill}");
            remove_outputs(&dir);
        }
    }
    assert!(resumed > 0, "no search was killed while it had a checkpoint");
}

/// Compares outcomes with any number of threads, which the log states.
fn same_but_threads(mut found: Outcome, expected: &Outcome) -> bool {
    found.log[0]["plan"] = expected.log[0]["plan"].clone();
    found == *expected
}

/// Sends a signal once `condition` holds, and returns how the search ended.
#[cfg(unix)]
fn signalled(
    dir: &TestDir,
    line: &str,
    signal: &str,
    mut condition: impl FnMut() -> bool,
) -> Output {
    let mut child = spawn(dir, line);
    wait_until("the moment of the signal", || condition() || child.try_wait().unwrap().is_some());
    send(signal, &mut child);
    finish(child, line)
}

#[cfg(unix)]
#[test]
fn a_signal_keeps_the_checkpoint_and_the_message_says_how_to_continue() {
    for search in &SEARCHES[..1] {
        let dir = directory(60);
        let (expected, _) = uninterrupted(&dir, search);
        let line = line(search, "--threads 2");
        for (signal, code, wants_model) in [("INT", 130, false), ("TERM", 143, true)] {
            let log = dir.path("l");
            let condition = || match wants_model {
                false => checkpoint_lines(&dir) > 2,
                true => fs::read_to_string(&log)
                    .is_ok_and(|log| log.contains("\"event\":\"configuration\"")),
            };
            let output = signalled(&dir, &line, signal, condition);
            assert_eq!(output.status.code(), Some(code), "{search}: {output:#?}");
            let how = "to continue the search from ck, repeat the command with --resume";
            assert!(output.stderr.contains(how), "{output:#?}");
            assert!(!wants_model || dir.path("m").exists(), "{output:#?}");
            let found = outcome(&dir, dir.run(&line));
            assert!(found == expected, "{search} {signal}");
            remove_outputs(&dir);
        }
    }
}

#[test]
fn a_search_starts_over_only_if_it_is_forced_to() {
    let dir = directory(100);
    let (expected, _) = uninterrupted(&dir, SEARCHES[0]);
    let checkpoint = interrupted_checkpoint(&dir, SEARCHES[0], 4);
    let start = line(SEARCHES[0], "--threads 2").replace(" --resume", "");
    dir.run(&start)
        .fails_at("--checkpoint ck: this file exists: if it is the checkpoint of an earlier run");
    assert_eq!(dir.bytes("ck"), checkpoint);
    fs::remove_file(dir.path("ck")).unwrap();
    let again = dir.run(&start);
    assert!(!again.stderr.contains("resuming"), "{again:#?}");
    assert!(outcome(&dir, again) == expected);
    // Without a checkpoint, --resume starts from the beginning and says so.
    let output = dir.run(&line(SEARCHES[0], "--threads 2"));
    assert!(output.stderr.contains("nothing to resume"), "{output:#?}");
    assert!(outcome(&dir, output) == expected);
    let output = dir.run(&start.replace(" --checkpoint ck", " --resume"));
    assert_eq!(output.status.code(), Some(2), "{output:#?}");
}
