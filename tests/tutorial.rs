//! Every command of docs/tutorial.md, in order and in one folder: it succeeds and prints what the
//! page shows.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{PROGRAM, TestDir};

/// A command, and the lines that the page shows below it.
struct Step {
    line: usize,
    command: String,
    shown: Vec<String>,
}

/// The steps in the console blocks of a page.
fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let (mut is_console, mut is_command) = (false, false);
    for (i, line) in page.lines().enumerate() {
        if line.starts_with("```") {
            is_console = line == "```console";
            is_command = false;
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| is_console) {
            steps.push(Step {
                line: i + 1,
                command: command.to_owned(),
                shown: Vec::new(),
            });
            is_command = command.ends_with('\\');
        } else if let Some(step) = steps.last_mut().filter(|_| is_console) {
            if is_command {
                step.command += &format!("\n{line}");
                is_command = line.ends_with('\\');
            } else {
                step.shown.push(line.to_owned());
            }
        }
    }
    steps
}

/// Whether `line` is `pattern`, in which `…` stands for any text.
fn matches(line: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('…');
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or("")) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Copies the whole sample corpus, as the reader of the page does.
fn copy_sample(folder: &Path) {
    let sample = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpora/sample");
    for name in ["train.conll", "dev.conll", "test.conll"] {
        fs::copy(sample.join(name), folder.join(name)).unwrap();
    }
}

#[test]
fn every_command_prints_what_the_tutorial_shows() {
    if !cfg!(unix) {
        eprintln!("skipped: the commands are for a shell of Unix");
        return;
    }
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/tutorial.md");
    let steps = steps(&fs::read_to_string(page).unwrap());
    assert!(steps.len() > 15, "only {} commands", steps.len());
    let dir = TestDir::new(&[]);
    copy_sample(&dir.path("."));
    let mut path = OsString::from(Path::new(PROGRAM).parent().unwrap());
    path.push(":");
    path.push(env::var_os("PATH").unwrap_or_default());
    for step in &steps {
        let output = Command::new("bash")
            .args(["-c", &format!("exec 2>&1\n{}", step.command)])
            .current_dir(dir.path("."))
            .env("PATH", &path)
            .env("COLUMNS", "100")
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        let place = format!("docs/tutorial.md:{}: {}", step.line, step.command);
        assert!(output.status.success(), "{place}\n{printed}");
        let mut lines = printed.lines();
        for shown in step.shown.iter().filter(|line| *line != "…") {
            assert!(
                lines.any(|line| matches(line, shown)),
                "{place}\nshown, but not printed there: {shown}\n{printed}"
            );
        }
    }
}
