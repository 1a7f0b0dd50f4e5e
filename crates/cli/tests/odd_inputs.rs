//! Odd and hostile corpora, and threads that cannot be started.

use std::fs;

use crate::support::{NER_CORPUS, TestDir, finish};

/// How the models that tag are trained.
const MODEL: &str = "--columns word,pos,label --template minimal";

#[cfg(target_os = "linux")]
#[test]
fn threads_that_cannot_be_started_are_an_error() {
    let dir = TestDir::with_model(NER_CORPUS, MODEL);
    for command in [
        "train --quiet train.conll --template minimal --model new",
        "tune --quiet train.conll --template minimal --folds 2 --model new",
        // Its input does not end: workers whose input has ended make room for others.
        "tag m --format conll",
        "eval m train.conll",
        "compare train.conll train.conll train.conll",
        "cluster --quiet train.conll --output paths",
    ] {
        // 600 MB of address space are not enough for the stacks of 1024 threads.
        let line = format!("ulimit -v 600000 && exec \"$D\" {command} --threads 1024");
        let child = dir.shell_command(&line).spawn().unwrap();
        let output = finish(child, command);
        assert_eq!(output.status.code(), Some(1), "{output:#?}");
        assert!(
            output.stderr.starts_with("error: cannot start threads: ")
                && output.stderr.contains("expected fewer of them (--threads)"),
            "{output:#?}"
        );
    }
    assert_eq!(dir.names(), ["m", "train.conll"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_line_without_an_end_is_an_error_within_the_address_space() {
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal");
    for command in [
        "tag m /dev/zero --threads 1",
        "eval m /dev/zero",
        "train /dev/zero --template minimal --model new --quiet",
        "train /dev/zero --format spans --template minimal --model new --quiet",
        "eval --predictions /dev/zero train.conll",
    ] {
        let line = format!("ulimit -v 200000 && exec \"$D\" {command}");
        dir.shell(&line).fails_at("/dev/zero:1: the ");
    }
    assert_eq!(dir.names(), ["m", "train.conll"]);
}

#[cfg(unix)]
#[test]
fn files_of_a_folder_that_are_no_regular_ones_are_named_and_not_opened() {
    let dir = TestDir::new(&[]);
    for folder in ["brat", "classes", "classes/a"] {
        fs::create_dir(dir.path(folder)).unwrap();
    }
    dir.make_pipe("brat/a.txt");
    dir.make_pipe("classes/a/b");
    for (command, file) in [
        ("train brat --format brat --template minimal --model m --quiet", "brat/a.txt"),
        ("classify train classes --model m --quiet", "classes/a/b"),
    ] {
        dir.run(command).fails_at(format!("{file}: is no regular file"));
    }
}

#[test]
fn text_of_files_cannot_control_a_terminal() {
    let corpus = "Ann\u{1b}[2J B-P\u{1b}[31mX\nleft\u{9b} O\nRo\u{202e}me\u{2066} B-\u{2067}L\n\n";
    let dir = TestDir::new(&[("odd.conll", corpus), ("other.conll", "Ann B-P\u{1b}\n")]);
    dir.run("train odd.conll --template minimal --model m --quiet").success();
    for command in [
        "inspect m",
        "inspect m --json",
        "inspect m --config",
        "eval m odd.conll --errors",
        "eval m odd.conll --json",
        "explain m odd.conll",
        "check odd.conll",
        "check odd.conll --json",
        "tag m odd.conll --output inline",
        "eval m other.conll --columns word",
    ] {
        let output = dir.run(command);
        for text in [output.stdout, output.stderr] {
            let turns = |c: &char| "\u{202e}\u{2066}\u{2067}".contains(*c);
            let is_control = |c: &char| (c.is_control() && !"\n\t\r".contains(*c)) || turns(c);
            let control = text.chars().find(is_control);
            assert_eq!(control, None, "{command}: {text}");
        }
    }
}
