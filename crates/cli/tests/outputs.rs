//! Output files: never an input, replaced whole or not at all.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
#[cfg(unix)]
use std::os::unix::fs::symlink;
use std::thread;
use std::time::Duration;

use crate::support::{NER_CORPUS, TestDir, finish, wait_for_handlers};

const TRAIN: &str = "train train.conll --template minimal --max-iterations 3";

/// A directory with a corpus, a template with a lexicon and clusters, and a model with its log.
fn files() -> TestDir {
    let files = [
        ("train.conll", NER_CORPUS),
        ("dev.conll", NER_CORPUS),
        ("text.txt", "Ann left Rome.\nBob left York.\n"),
        ("my.tpl", "word\nlexicon(\"names.txt\")\ncluster(\"paths.txt\", 2)\n"),
        ("names.txt", "Ann\n"),
        ("paths.txt", "0\tRome\t2\n1\tin\t3\n"),
    ];
    TestDir::trained(&files, &format!("{TRAIN} --model m --log log.jsonl"))
}

/// The names and contents of all files.
fn contents(dir: &TestDir) -> Vec<(String, Vec<u8>)> {
    let names = dir.names().into_iter();
    let names = names.filter(|name| dir.path(name).is_file());
    names.map(|name| (name.clone(), dir.bytes(&name))).collect()
}

/// Asserts that a command fails with a message and changes no file; returns the message.
fn assert_refused(dir: &TestDir, line: &str, expected: &str) {
    let before = contents(dir);
    dir.run(line).fails_with(expected);
    assert!(before == contents(dir), "{line} changed a file");
}

// Outputs that are inputs

#[test]
fn no_command_overwrites_a_file_that_it_reads() {
    let dir = files();
    let train = "train train.conll --dev dev.conll --template my.tpl --max-iterations 3";
    let tune = "tune train.conll --dev dev.conll --template my.tpl --max-iterations 3";
    let bench = "bench gradients train.conll --template my.tpl --repeat 1";
    for (line, input) in [
        (format!("{train} --model train.conll"), "train.conll"),
        (format!("{train} --model ./dev.conll"), "dev.conll"),
        (format!("{train} --model my.tpl"), "my.tpl"),
        (format!("{train} --model names.txt"), "names.txt"),
        (format!("{train} --model x --log paths.txt"), "paths.txt"),
        (format!("{train} --model x --log train.conll"), "train.conll"),
        (format!("{train} --model x --log text.txt --unlabeled text.txt"), "text.txt"),
        (format!("{tune} --model train.conll"), "train.conll"),
        (format!("{tune} --model x --log names.txt"), "names.txt"),
        ("cluster text.txt train.conll --output text.txt".to_owned(), "text.txt"),
        ("convert m --model m --precision f64".to_owned(), "m"),
        ("convert ./m --model m".to_owned(), "./m"),
        (format!("{bench} --json my.tpl"), "my.tpl"),
    ] {
        let expected = format!("this is the input file {input}; expected a different file");
        assert_refused(&dir, &line, &expected);
    }
}

#[cfg(unix)]
#[test]
fn an_input_is_recognized_under_any_name() {
    let dir = files();
    fs::hard_link(dir.path("train.conll"), dir.path("hard")).unwrap();
    symlink("train.conll", dir.path("soft")).unwrap();
    fs::create_dir(dir.path("sub")).unwrap();
    symlink("../soft", dir.path("sub/softer")).unwrap();
    for name in ["hard", "soft", "sub/softer", "sub/../train.conll"] {
        let expected = "this is the input file train.conll";
        assert_refused(&dir, &format!("{TRAIN} --model {name}"), expected);
        assert_refused(&dir, &format!("{TRAIN} --model x --log {name}"), expected);
    }
    let before = contents(&dir);
    let line = "$D train - --template minimal --model hard < train.conll";
    dir.shell(line).fails_with("this is the input file -");
    assert!(before == contents(&dir));
}

#[test]
fn the_texts_and_annotations_of_a_folder_are_no_outputs() {
    let dir = TestDir::new(&[]);
    fs::create_dir(dir.path("corpus")).unwrap();
    dir.write("corpus/a.txt", "Ann\n");
    dir.write("corpus/a.ann", "T1\tPER 0 3\tAnn\n");
    for output in ["corpus/a.txt", "corpus/a.ann"] {
        let train = "train corpus --format brat --template minimal --quiet --model";
        dir.run(&format!("{train} {output}")).failure();
        assert_eq!(dir.text("corpus/a.txt"), "Ann\n");
        assert_eq!(dir.text("corpus/a.ann"), "T1\tPER 0 3\tAnn\n");
    }
}

#[cfg(unix)]
#[test]
fn two_outputs_are_different_files() {
    let dir = files();
    symlink("m", dir.path("soft")).unwrap();
    symlink("new", dir.path("dangling")).unwrap();
    for (model, log) in [("m", "./m"), ("m", "soft"), ("new", "./new"), ("new", "dangling")] {
        assert_refused(
            &dir,
            &format!("{TRAIN} --model {model} --log {log}"),
            "this is the model file; expected a different file",
        );
    }
    dir.shell("$D train train.conll --template minimal --model m > m")
        .fails_with("standard output is redirected to this file");
}

#[test]
fn results_are_not_printed_into_an_input() {
    let dir = files();
    dir.run("tag m train.conll").success();
    for line in [
        "$D tag m train.conll >> train.conll",
        "$D tag m - < train.conll >> train.conll",
        "$D tag m train.conll 1<> train.conll",
        "$D tag m train.conll >> m",
        "$D tag m train.conll 2>> train.conll",
        "$D eval m train.conll >> train.conll",
        "$D eval --predictions dev.conll train.conll >> dev.conll",
        "$D compare train.conll dev.conll dev.conll >> dev.conll",
        "$D inspect m >> m",
    ] {
        let before = contents(&dir);
        let output = dir.shell(line);
        assert_eq!(output.status.code(), Some(1), "{line}");
        if !line.contains("2>>") {
            output.fails_with("the input file is the output file");
            assert!(before == contents(&dir), "{line}");
        }
    }
}

// Logs

#[test]
fn a_run_that_cannot_start_keeps_the_old_model_and_the_old_log() {
    let dir = files();
    let before = contents(&dir);
    for options in ["--l2 1.7e308 --dropout 0", "--l2 1.7e308"] {
        let output = dir.run(&format!("{TRAIN} {options} --model m --log log.jsonl"));
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        assert!(output.stderr.contains("not finite"), "{output:?}");
        assert!(before == contents(&dir), "{options}");
    }
    dir.write("train.conll", "Ann B-PER\nleft\n");
    let before = contents(&dir);
    dir.run(&format!("{TRAIN} --model m --log log.jsonl")).exits(1);
    assert!(before == contents(&dir));
}

#[cfg(unix)]
#[test]
fn a_log_may_go_to_a_pipe() {
    let dir = files();
    let output = dir.shell(&format!(
        "$D {TRAIN} --model m --quiet --log /dev/stdout | head -n 1; \
                  mkfifo pipe; (cat pipe > copy) & \
                  $D {TRAIN} --model m --quiet --log pipe; wait"
    ));
    assert!(output.success().starts_with("{\"event\":\"start\""));
    assert_eq!(dir.json_lines("copy").len(), 6);
    let line = format!("$D {TRAIN} --model m --quiet --log /dev/stdout > all.jsonl");
    dir.shell(&line).success();
    assert_eq!(dir.json_lines("all.jsonl").len(), 6);
}

// Standard output

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_of_tagging() {
    let dir = files();
    dir.shell("$D tag m train.conll --quiet > /dev/full").fails_at("standard output: ");
}

// Runs that cannot save their result, or are killed

#[cfg(unix)]
#[test]
fn a_model_that_cannot_be_saved_is_an_error_that_names_it() {
    let dir = files();
    fs::create_dir(dir.path("out")).unwrap();
    let line = "train - --template minimal --max-iterations 3 --model out/new --log log";
    let mut child = dir.command(line).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(NER_CORPUS.as_bytes()).unwrap();
    wait_for_handlers(&child);
    thread::sleep(Duration::from_millis(200)); // the outputs are checked
    fs::remove_dir_all(dir.path("out")).unwrap();
    drop(stdin);
    let output = finish(child, line);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stderr.contains("out/new: there is no folder out"), "{output:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_size_limit_is_an_error_that_keeps_the_old_model() {
    let dir = files();
    let before = contents(&dir);
    let line = "ulimit -f 16; $D train train.conll --template ner --max-iterations 4 --model m";
    let output = dir.shell(line);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stderr.contains("m: File too large"), "{output:?}");
    assert!(before == contents(&dir));
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_size_limit_is_an_error_of_what_is_printed() {
    let dir = files();
    for command in ["man train", "completions bash", "man --output-dir pages"] {
        let output = dir.shell(&format!("ulimit -f 1; $D {command} > printed"));
        output.fails_with("File too large");
    }
    assert_eq!(dir.shell("$D man train | true").status.code(), Some(0));
}

#[cfg(unix)]
#[expect(clippy::print_stdout, reason = "reports a skipped test")]
#[test]
fn an_unwritable_directory_is_an_error_before_anything_is_read() {
    let dir = files();
    fs::create_dir(dir.path("out")).unwrap();
    fs::copy(dir.path("m"), dir.path("out/m")).unwrap();
    let mode = |mode| {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        fs::set_permissions(dir.path("out"), permissions).unwrap();
    };
    mode(0o555);
    let output = dir.run("train none.conll --template minimal --model out/m");
    mode(0o755);
    if output.stderr.contains("none.conll") {
        println!("skipped: the superuser may write anywhere");
        return;
    }
    output.fails_at("out/m: Permission denied");
}

// Names

#[cfg(target_os = "linux")]
#[expect(clippy::print_stdout, reason = "reports a skipped test")]
#[test]
fn file_names_need_not_be_utf8() {
    use std::os::unix::ffi::OsStrExt;

    let dir = TestDir::new(&[]);
    let name = |bytes: &'static [u8]| OsStr::from_bytes(bytes);
    let path = |bytes: &'static [u8]| dir.path("").join(name(bytes));
    if fs::write(path(b"train\xff.conll"), NER_CORPUS).is_err() {
        println!("skipped: file names must be UTF-8 here");
        return;
    }
    fs::write(path(b"t\xff.tpl"), "word\n").unwrap();
    // The words in capitals are names.
    let run = |line: &str| {
        let mut command = dir.command("");
        command.args(line.split(' ').map(|word| match word {
            "TRAIN" => name(b"train\xff.conll"),
            "TEMPLATE" => name(b"t\xff.tpl"),
            "MODEL" => name(b"m\xff"),
            "LOG" => name(b"log\xff"),
            "TAGGED" => name(b"tagged\xff.conll"),
            "NEW" => name(b"new\xff"),
            "CLUSTERS" => name(b"clusters\xff"),
            "RESULTS" => name(b"results\xff"),
            word => OsStr::new(word),
        }));
        finish(command.spawn().unwrap(), line).success()
    };
    let options = "--dev TRAIN --template TEMPLATE --model MODEL --log LOG --max-iterations 3";
    run(&format!("train TRAIN {options} --unlabeled TRAIN"));
    assert!(fs::read_to_string(path(b"log\xff")).unwrap().contains("train\u{fffd}.conll"));
    run(&format!("tune TRAIN {options} --l2 1 --dropout 0"));
    fs::write(path(b"tagged\xff.conll"), run("tag MODEL TRAIN")).unwrap();
    for line in [
        "eval MODEL TRAIN",
        "eval --predictions TAGGED TRAIN",
        "compare TRAIN TAGGED TAGGED",
        "inspect MODEL",
        "convert MODEL --model NEW",
        "cluster TRAIN --clusters 2 --output CLUSTERS",
        "bench gradients TRAIN --template TEMPLATE --repeat 1 --json RESULTS",
    ] {
        run(line);
    }
}
