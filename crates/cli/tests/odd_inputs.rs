//! Odd and hostile corpora, and threads that cannot be started.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;

use crate::support::{NER_CORPUS, TestDir, finish};

/// How the models that tag are trained.
const MODEL: &str = "--columns word,pos,label --template minimal";

#[test]
fn a_corpus_of_40000_columns_is_read_like_any_other() {
    let columns = 40_000;
    let row = |word: &str, label: &str| {
        let mut row = word.to_owned();
        for column in 2..columns {
            let _ = write!(row, " c{column}");
        }
        row + " " + label + "\n"
    };
    let text = [row("a", "X"), row("b", "O"), row("c", "X")].concat();
    let dir = TestDir::new(&[("train.conll", &text)]);
    dir.write("wide.tpl", "word\nword[-1]\n");
    dir.run("train --quiet train.conll --template wide.tpl --model m --max-iterations 3").success();
    dir.run("eval m train.conll").success();
    dir.run("tag m train.conll").success();
    dir.write("ragged.conll", text + "a O\n");
    let message = dir.run("train --quiet ragged.conll --template wide.tpl --model new").failure();
    assert_eq!(
        message,
        "ragged.conll:4: expected 40000 columns (word 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 \
         18 19 … and 39980 more), found 2"
    );
}

#[test]
fn json_objects_with_very_many_keys_are_read_like_any_other() {
    let mut text = r#"{"tokens":["a","b"],"labels":["X","O"]"#.to_owned();
    for key in 0..40_000 {
        let _ = write!(text, r#","k{key}":["c","d"]"#);
    }
    text.push_str("}\n");
    let dir = TestDir::new(&[("train.jsonl", &text.repeat(2))]);
    dir.write("wide.tpl", "word\n");
    dir.run("train train.jsonl --template wide.tpl --model m --max-iterations 3").success();
    let repeated = text.replacen("\"k39999\"", "\"k0\"", 1);
    dir.write("repeated.jsonl", repeated);
    let message = dir.run("train --quiet repeated.jsonl --template wide.tpl --model m").failure();
    assert_eq!(message, "repeated.jsonl:1: the key \"k0\" occurs twice");
}

#[test]
fn deeply_nested_json_is_an_error_or_ignored() {
    let dir = TestDir::new(&[]);
    for depth in [100, 100_000] {
        let nested = "[".repeat(depth) + &"]".repeat(depth);
        dir.write("tokens.jsonl", format!("{{\"tokens\":{nested},\"labels\":[]}}\n"));
        let message = dir.run("train --quiet tokens.jsonl --template minimal --model m").failure();
        assert!(message.starts_with("tokens.jsonl:1:"), "{message}");
        dir.write(
            "other.jsonl",
            format!("{{\"tokens\":[\"a\"],\"labels\":[\"X\"],\"other\":{nested}}}\n"),
        );
        let output = dir.run("train other.jsonl --model m --template minimal");
        assert!(matches!(output.status.code(), Some(1 | 3)), "{output:#?}");
        assert!(!output.stderr.contains("panicked"), "{output:#?}");
    }
}

#[test]
fn a_token_with_a_million_attributes_is_read() {
    let mut line = "X".to_owned();
    for i in 0..1_000_000 {
        let _ = write!(line, "\ta{i}");
    }
    let dir = TestDir::new(&[("train.crfsuite", &format!("{line}\nO\tb\n"))]);
    dir.run("train train.crfsuite --model m --max-iterations 2").success();
}

#[test]
fn too_many_threads_are_a_usage_error() {
    let dir = TestDir::with_model(NER_CORPUS, MODEL);
    for command in [
        "train --quiet train.conll --template minimal --model new",
        "tune --quiet train.conll --template minimal --folds 2 --model new",
        "tag m train.conll",
        "eval m train.conll",
        "compare train.conll train.conll train.conll",
        "cluster --quiet train.conll --output paths",
        "bench gradients train.conll --template minimal",
    ] {
        for threads in ["0", "1025", "65535", "65536"] {
            let output = dir.run(&format!("{command} --threads {threads}"));
            assert_eq!(output.status.code(), Some(2), "{output:#?}");
            let expected = format!("invalid value '{threads}' for '--threads <N>'");
            assert!(output.stderr.contains(&expected), "{output:#?}");
            assert!(output.stderr.contains("1..=1024"), "{output:#?}");
        }
    }
}

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
            output.stderr.starts_with("dropchain: cannot start threads: ")
                && output.stderr.contains("expected fewer of them (--threads)"),
            "{output:#?}"
        );
    }
    assert_eq!(dir.names(), ["m", "train.conll"]);
}

#[cfg(target_os = "linux")]
#[test]
fn output_is_complete_and_in_order_behind_a_slow_reader() {
    let dir = TestDir::with_model(NER_CORPUS, MODEL);
    let text: String = (0..30_000).map(|i| format!("w{i} X\n\n")).collect();
    dir.write("in.conll", &text);
    let mut child = dir.command("tag m in.conll --threads 3 --columns word,pos").spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let (mut all, mut piece) = (Vec::new(), vec![0; 1 << 10]);
        loop {
            let n = std::io::Read::read(&mut out, &mut piece).unwrap();
            if n == 0 {
                return String::from_utf8(all).unwrap();
            }
            let _ = all.write_all(&piece[..n]);
        }
    });
    finish(child, "tag").success();
    let tagged = reader.join().unwrap();
    let words = tagged.lines().filter_map(|line| line.split(' ').next());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    assert_eq!(words.len(), 30_000);
    assert!(words.iter().enumerate().all(|(i, word)| *word == format!("w{i}")));
    assert!(fs::metadata(dir.path("in.conll")).is_ok());
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
        let line = format!("ulimit -v 300000 && exec \"$D\" {command}");
        let message = dir.shell(&line).failure();
        assert!(message.starts_with("/dev/zero:1: the "), "{message}");
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
        let message = dir.run(command).failure();
        assert!(message.starts_with(&format!("{file}: is no regular file")), "{message}");
    }
}

#[test]
fn text_of_files_cannot_control_a_terminal() {
    let corpus = "Ann\u{1b}[2J B-P\u{1b}[31mX\nleft\u{9b} O\n\n";
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
            let control = text.chars().find(|c| c.is_control() && !"\n\t\r".contains(*c));
            assert_eq!(control, None, "{command}: {text}");
        }
    }
}
