//! Interaction with other processes: open pipes, closed outputs.

use std::io::{BufRead, BufReader, Write};
use std::thread;

use crate::support::{NER_CORPUS, Session, TestDir, finish, wait_until};

fn ner_model() -> TestDir {
    TestDir::with_model(NER_CORPUS, "--template ner")
}

// Streaming

#[test]
fn a_sentence_of_any_format_is_tagged_before_the_next_arrives() {
    let dir = ner_model();
    let mut tag = Session::start(&dir, "tag m --output inline");
    tag.exchange("Ann Lee left Rome.\n", "[PER Ann Lee] left [LOC Rome].\n");
    tag.exchange("Bob left. Ann left.\n", "[PER Bob] left.\n[PER Ann] left.\n");
    // As many words as there are columns.
    tag.exchange("Ann left Rome\n", "[PER Ann] left [LOC Rome]\n");
    tag.finish();
    let mut tag = Session::start(&dir, "tag m --format conll");
    tag.exchange("Ann NNP\nleft VBD\n\n", "Ann NNP B-PER\nleft VBD O\n\n");
    tag.exchange("Bob NNP\n\n", "Bob NNP B-PER\n\n");
    tag.finish();
    let mut tag = Session::start(&dir, "tag m --format jsonl --output inline");
    for _ in 0..3 {
        tag.exchange("{\"tokens\":[\"Ann\"]}\n", "[PER Ann]\n");
    }
    tag.finish();
}

#[test]
fn an_error_ends_the_program_after_earlier_sentences_while_its_input_stays_open() {
    let dir = ner_model();
    let mut child = dir.command("tag m --format conll").spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"Ann NNP\n\nBob\n").unwrap();
    let output = finish(child, "tag m");
    assert_eq!(output.stdout, "Ann NNP B-PER\n\n");
    assert_eq!(output.failure(), "-:3: expected 2 columns (word 1), found 1");
    drop(stdin);
}

// Closed outputs

/// Closes standard output after one line: the program must succeed without a message.
fn assert_ends_quietly_when_output_closes(dir: &TestDir, line: &str, stdin: Option<&str>) {
    let mut child = dir.command(line).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let text = stdin.unwrap_or_default().to_owned();
    let mut first = String::new();
    let writer = thread::spawn(move || {
        // Writing fails once the program has ended.
        while !text.is_empty() && input.write_all(text.as_bytes()).is_ok() {}
    });
    output.read_line(&mut first).unwrap();
    assert!(!first.is_empty(), "{line}");
    drop(output);
    let output = finish(child, line);
    assert_eq!(output.stderr, "", "{line}");
    output.success();
    writer.join().unwrap();
}

#[test]
fn a_closed_output_ends_tagging_quietly() {
    let dir = ner_model();
    for line in ["tag m", "tag m --output jsonl", "tag m --threads 1"] {
        assert_ends_quietly_when_output_closes(&dir, line, Some("Ann Lee left Rome.\n"));
    }
}

#[test]
fn a_closed_output_ends_tagging_while_the_input_stays_open() {
    let dir = ner_model();
    let mut child = dir.command("tag m --output inline").spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdin.write_all(b"Ann left.\n").unwrap();
    let mut answer = String::new();
    stdout.read_line(&mut answer).unwrap();
    assert_eq!(answer, "[PER Ann] left.\n");
    drop(stdout);
    // More than once: a process that another test is just starting may still have the pipe open.
    wait_until("tag ends", || {
        let _ = stdin.write_all(b"Bob left.\n");
        child.try_wait().unwrap().is_some()
    });
    let output = finish(child, "tag m");
    assert_eq!(output.stderr, "");
    output.success();
    drop(stdin);
}

#[test]
fn a_closed_output_ends_every_command_quietly() {
    let dir = ner_model();
    for line in ["inspect m --json", "eval m train.conll --quiet", "--help"] {
        let mut child = dir.command(line).spawn().unwrap();
        drop(child.stdout.take());
        let output = finish(child, line);
        assert_eq!(output.stderr, "", "{line}");
        output.success();
    }
}
