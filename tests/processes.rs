//! The program beside others: pipes that stay open, readers that go away, Ctrl-C.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::marker::PhantomData;
use std::process::{Child, ChildStdin, Command};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use crate::support::{Folder, NAMES, eventually, finish, wait};

/// A run that is talked with.
struct Conversation<'a> {
    folder: PhantomData<&'a Folder>, // goes away last
    child: Child,
    stdin: ChildStdin,
    answers: Receiver<String>,
}

impl<'a> Conversation<'a> {
    fn begin(folder: &'a Folder, line: &str) -> Self {
        let mut child = folder.command(line).spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, answers) = channel();
        thread::spawn(move || {
            for line in stdout.lines() {
                if send.send(line.unwrap()).is_err() {
                    break;
                }
            }
        });
        Self {
            folder: PhantomData,
            child,
            stdin,
            answers,
        }
    }

    /// Says something and checks the answer, line by line, before anything else is said.
    fn say(&mut self, text: &str, answer: &str) {
        self.stdin.write_all(text.as_bytes()).unwrap();
        self.stdin.flush().unwrap();
        for expected in answer.lines() {
            match self.answers.recv_timeout(Duration::from_secs(60)) {
                Ok(line) => assert_eq!(line, expected),
                Err(_) => {
                    self.child.kill().unwrap();
                    panic!("no answer to {text:?}");
                }
            }
        }
    }

    fn end(mut self) {
        drop(self.stdin);
        assert!(wait(&mut self.child, "tag").success());
        assert!(self.answers.recv().is_err(), "more than was asked for");
    }
}

fn names() -> Folder {
    Folder::trained(NAMES, "--template ner")
}

// Streaming

#[test]
fn a_line_of_text_is_answered_before_the_next_comes() {
    let folder = names();
    let mut tag = Conversation::begin(&folder, "tag m --output inline");
    tag.say("Ann Lee left Rome.\n", "[PER Ann Lee] left [LOC Rome].\n");
    tag.say(
        "Bob left. Ann left.\n",
        "[PER Bob] left.\n[PER Ann] left.\n",
    );
    tag.end();
}

#[test]
fn columns_are_answered_at_the_blank_line() {
    let folder = names();
    let mut tag = Conversation::begin(&folder, "tag m --format conll");
    tag.say("Ann NNP\nleft VBD\n\n", "Ann NNP B-PER\nleft VBD O\n\n");
    tag.say("Bob NNP\n\n", "Bob NNP B-PER\n\n");
    tag.end();
}

#[test]
fn a_json_line_is_answered_before_the_next_comes() {
    let folder = names();
    let mut tag = Conversation::begin(&folder, "tag m --format jsonl");
    for id in 0..3 {
        tag.say(
            &format!("{{\"id\":{id},\"tokens\":[\"Ann\"]}}\n"),
            &format!(
                "{{\"id\":{id},\"tokens\":[\"Ann\"],\"labels\":[\"B-PER\"],\
                 \"spans\":[{{\"start\":0,\"end\":1,\"type\":\"PER\"}}]}}\n"
            ),
        );
    }
    tag.end();
}

#[test]
fn what_came_before_a_fault_is_answered() {
    let folder = names();
    let output = folder.run_with("tag m --format conll", "Ann NNP\n\nBob\n");
    assert_eq!(output.stdout, "Ann NNP B-PER\n\n");
    assert_eq!(output.failed(), "-:3: expected 2 columns (word 1), found 1");
}

#[test]
fn a_fault_ends_the_program_while_its_input_stays_open() {
    let folder = names();
    let mut child = folder.command("tag m --format conll").spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"Ann NNP\n\nBob\n").unwrap();
    let message = finish(child, "tag m").failed();
    assert!(message.starts_with("-:3: "), "{message}");
    drop(stdin);
}

// Readers that go away

/// Closes standard output after a line; the program must end well and say nothing.
fn assert_ends_quietly_without_a_reader(folder: &Folder, line: &str, stdin: Option<&str>) {
    let mut child = folder.command(line).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let text = stdin.unwrap_or_default().to_owned();
    let mut first = String::new();
    let writer = thread::spawn(move || {
        // Once the program has gone there is no one to write to.
        while !text.is_empty() && input.write_all(text.as_bytes()).is_ok() {}
    });
    output.read_line(&mut first).unwrap();
    assert!(!first.is_empty(), "{line}");
    drop(output);
    let output = finish(child, line);
    assert_eq!(output.stderr, "", "{line}");
    output.succeeded();
    writer.join().unwrap();
}

#[test]
fn a_reader_that_goes_away_ends_tagging_quietly() {
    let folder = names();
    for line in ["tag m", "tag m --output jsonl", "tag m --threads 1"] {
        assert_ends_quietly_without_a_reader(&folder, line, Some("Ann Lee left Rome.\n"));
    }
}

#[test]
fn a_reader_that_goes_away_ends_tagging_while_the_input_stays_open() {
    let folder = names();
    let mut child = folder.command("tag m --output inline").spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdin.write_all(b"Ann left.\n").unwrap();
    let mut answer = String::new();
    stdout.read_line(&mut answer).unwrap();
    assert_eq!(answer, "[PER Ann] left.\n");
    drop(stdout);
    stdin.write_all(b"Bob left.\n").unwrap();
    let output = finish(child, "tag m");
    assert_eq!(output.stderr, "");
    output.succeeded();
    drop(stdin);
}

#[test]
fn a_reader_that_goes_away_ends_every_command_quietly() {
    let folder = names();
    for line in ["inspect m --json", "eval m train.conll", "--help"] {
        let mut child = folder.command(line).spawn().unwrap();
        drop(child.stdout.take());
        let output = finish(child, line);
        assert_eq!(output.stderr, "", "{line}");
        output.succeeded();
    }
}

// Ctrl-C

/// A corpus that takes long to learn: labels without rhyme or reason.
fn noise(sentences: usize) -> String {
    let mut state = 1_u64;
    let mut number = move |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    let mut corpus = String::new();
    for _ in 0..sentences {
        for _ in 0..20 {
            let _ = writeln!(corpus, "w{} L{}", number(5000), number(12));
        }
        corpus.push('\n');
    }
    corpus
}

/// Trains until the log has some iterations, and sends Ctrl-C.
fn interrupted(options: &str) -> Folder {
    let folder = Folder::new(&[("train.conll", &noise(1500)), ("dev.conll", &noise(20))]);
    let line = format!(
        "train train.conll --template minimal --l2 0.0001 --model m --log log.jsonl {options}"
    );
    let child = folder.command(&line).spawn().unwrap();
    let id = child.id().to_string();
    let log = folder.path("log.jsonl");
    eventually("the third iteration", || {
        let log = std::fs::read_to_string(&log).unwrap_or_default();
        log.contains("\"iteration\":3,")
    });
    let kill = Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert!(kill.success());
    let output = finish(child, &line);
    assert!(output.stderr.contains("interrupted"), "{}", output.stderr);
    output.succeeded();
    folder
}

#[test]
fn ctrl_c_ends_training_with_a_usable_model() {
    let folder = interrupted("");
    let log = folder.json_lines("log.jsonl");
    let end = log.last().unwrap();
    assert_eq!(end["event"], "end");
    assert_eq!(end["stop_reason"], "interrupted");
    assert_eq!(end["iterations"], log[log.len() - 2]["iteration"]);
    folder.run("inspect m").succeeded();
    let tagged = folder.run("tag m dev.conll").succeeded();
    assert_eq!(tagged.lines().count(), 20 * 21);
}

#[test]
fn ctrl_c_keeps_the_best_model_on_development_data() {
    let folder = interrupted("--dev dev.conll --patience 1000000");
    let log = folder.json_lines("log.jsonl");
    let (end, rest) = log.split_last().unwrap();
    assert_eq!(end["stop_reason"], "interrupted");
    let scores = rest[1..]
        .iter()
        .map(|line| line["dev_accuracy"].as_f64().unwrap());
    let scores: Vec<f64> = scores.collect();
    let best = scores.iter().copied().fold(0.0, f64::max);
    let first = scores.iter().position(|&score| score == best).unwrap();
    assert_eq!(end["best_iteration"], first);
    let evaluated = folder.run("eval m dev.conll --json").json();
    assert!((evaluated["accuracy"].as_f64().unwrap() - best).abs() < 1e-9);
}
