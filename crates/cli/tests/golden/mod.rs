//! What the program says of wrong input and odd options: one file of recorded commands for each
//! command. `DROPCHAIN_WRITE=1` records them again; the difference shows what changed.
//!
//! A file has commands after `$`, below each its exit code and what it prints, and files that they
//! read after `>`: a name and the contents. `< FILE` is the standard input of a command.

use std::fs;
use std::path::Path;

use crate::support::{NER_CORPUS, Output, POS_CORPUS, TestDir};

/// Attributes in CRFsuite's format.
const ATTRIBUTES: &str = "B-PER\tw=Ann\nO\tw=left\n\nO\tw=in\nB-LOC\tw=Rome\n\n";

/// What all commands find: corpora, a text, and models of names, of names in another scheme, of
/// parts of speech, of attributes, and of joined columns.
fn directory() -> TestDir {
    let files = [
        ("train.conll", NER_CORPUS),
        ("pos.conll", POS_CORPUS),
        ("ready.crfsuite", ATTRIBUTES),
        ("text.txt", "Ann Lee left Rome.\n"),
    ];
    let train = "--template minimal --l2 0.01 --quiet";
    let lines = [
        format!("train train.conll --model m {train}"),
        format!("train train.conll --model bioes --scheme bioes --order 0 {train}"),
        format!("train pos.conll --model pos {train}"),
        "train ready.crfsuite --model ready --quiet".to_owned(),
        format!("train train.conll --model joined --columns word,pos,ner --label pos+ner {train}"),
    ];
    TestDir::trained(&files, &lines.join(";"))
}

/// The names and contents of all files.
fn contents(dir: &TestDir) -> Vec<(String, Vec<u8>)> {
    let files = dir.names().into_iter().filter(|name| dir.path(name).is_file());
    files.map(|name| (name.clone(), dir.bytes(&name))).collect()
}

/// The exit code and what was printed, without the usage and the advice that end errors of usage.
fn record(output: &Output) -> String {
    let mut said = output.stderr.as_str();
    for end in ["\nUsage: ", "\nFor more information"] {
        said = said.split(end).next().unwrap_or_default();
    }
    let printed = format!("{}{}", output.stdout, said.trim_end());
    let code = output.status.code().unwrap();
    let mut text = String::new();
    for (i, line) in printed.trim_end().split('\n').enumerate() {
        let margin = if i == 0 { code.to_string() } else { " ".to_owned() };
        text += format!("{margin} | {line}").trim_end();
        text.push('\n');
    }
    text
}

/// Runs a recorded command. One that fails must not change a file.
fn run(dir: &TestDir, line: &str) -> String {
    let before = contents(dir);
    let (arguments, stdin) = line.split_once(" < ").unwrap_or((line, ""));
    let stdin = if stdin.is_empty() { Vec::new() } else { dir.bytes(stdin) };
    let output = dir.run_with_stdin(arguments, stdin);
    assert!(!output.stderr.contains("panicked"), "{output:#?}");
    let has_failed = matches!(output.status.code(), Some(1 | 2));
    assert!(!has_failed || before == contents(dir), "{line} changed a file");
    record(&output)
}

/// Writes a file, or creates a folder.
fn write(dir: &TestDir, name: &str, contents: &str) {
    let path = dir.path(name);
    fs::create_dir_all(if name.ends_with('/') { &path } else { path.parent().unwrap() }).unwrap();
    if !name.ends_with('/') {
        dir.write(name, contents);
    }
}

/// Runs the commands of a recorded file, and returns it with what they print now.
fn recorded_again(text: &str) -> String {
    let dir = directory();
    let mut new = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        new += &format!("{line}\n");
        let is_below = |line: &&str| {
            line.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit()).starts_with('|')
        };
        let mut below = Vec::new();
        while line.starts_with(['$', '>']) && lines.peek().is_some_and(is_below) {
            below.extend(lines.next());
        }
        if let Some(command) = line.strip_prefix("$ ") {
            new += &run(&dir, command);
        } else if let Some(name) = line.strip_prefix("> ") {
            let line = |line: &&str| line[1..].strip_prefix(' ').unwrap_or("").to_owned() + "\n";
            write(&dir, name, &below.iter().map(line).collect::<String>());
            new.extend(below.iter().map(|line| format!("{line}\n")));
        }
    }
    new
}

#[test]
fn every_command_says_what_is_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "txt") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let new = recorded_again(&text);
        count += new.lines().filter(|line| line.starts_with('$')).count();
        if std::env::var_os("DROPCHAIN_WRITE").is_some() {
            fs::write(&path, new).unwrap();
        } else {
            let pairs = text.lines().zip(new.lines()).enumerate();
            let differs = pairs.into_iter().find(|(_, (old, new))| old != new);
            assert!(text == new, "{}: {differs:#?}", path.display());
        }
    }
    assert!(count > 200, "{count} commands");
}
