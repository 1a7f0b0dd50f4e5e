//! The commands of the README and of pages in `docs`, in their order: they succeed and print what
//! the page shows, `…` standing for what it leaves out.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{PROGRAM, TestDir};

/// Where the sample corpus is.
const SAMPLE: &str = "corpora/sample";

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
            steps.push(Step { line: i + 1, command: command.to_owned(), shown: Vec::new() });
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
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or("")) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Whether `line` and `pattern` are the same row of the table of `demo`, but for the seconds.
fn is_row(line: &str, pattern: &str) -> bool {
    let [line, pattern] = [line, pattern].map(|row| row.split_whitespace().collect::<Vec<_>>());
    let seconds = pattern.iter().position(|word| *word == "F1").and_then(|at| at.checked_sub(1));
    seconds.is_some_and(|at| {
        let is_equal = |i: usize| i == at || line[i] == pattern[i];
        line.len() == pattern.len() && (0..line.len()).all(is_equal)
    })
}

/// A folder with the whole sample corpus where the reader of the pages has it.
struct Checkout {
    dir: TestDir,
    path: OsString,
}

impl Checkout {
    fn new() -> Self {
        let dir = TestDir::new(&[]);
        let source = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(SAMPLE);
        fs::create_dir_all(dir.path(SAMPLE)).unwrap();
        for name in ["train.conll", "dev.conll", "test.conll"] {
            fs::copy(source.join(name), dir.path(SAMPLE).join(name)).unwrap();
        }
        let mut path = OsString::from(Path::new(PROGRAM).parent().unwrap());
        path.push(":");
        path.push(env::var_os("PATH").unwrap_or_default());
        Self { dir, path }
    }

    /// Runs the commands of a page, and returns their number: those that build something are left
    /// out, but for one that runs what it builds. That is `demo`, whose table of scores is on
    /// standard error.
    fn run(&self, page: &str, folder: &str) -> usize {
        let text = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(page);
        let mut folder = self.dir.path(folder);
        let mut count = 0;
        for step in steps(&fs::read_to_string(text).unwrap()) {
            let command = step.command.replace("cargo run --", "dropchain");
            let place = format!("{page}:{}: {}", step.line, step.command);
            if ["cargo ", "pip ", "python/"].iter().any(|builder| command.contains(builder)) {
                continue;
            }
            if let Some(name) = command.strip_prefix("cd ") {
                folder = folder.join(name);
                continue;
            }
            count += 1;
            let is_demo = command != step.command;
            let streams = if is_demo { "" } else { "exec 2>&1\n" };
            let output = Command::new("bash")
                .args(["-c", &format!("{streams}{command}")])
                .current_dir(&folder)
                .env("PATH", &self.path)
                .env("COLUMNS", "100")
                .output()
                .unwrap();
            let results = String::from_utf8_lossy(&output.stdout);
            let printed = String::from_utf8_lossy(&output.stderr).into_owned() + &results;
            assert!(output.status.success(), "{place}\n{printed}");
            let is_shown = |line: &str| step.shown.iter().any(|shown| shown == line);
            assert!(!is_demo || is_shown(results.trim_end()), "{place}\n{results}");
            let mut lines = printed.lines();
            for shown in step.shown.iter().filter(|line| !["", "…"].contains(&line.as_str())) {
                assert!(
                    lines.any(|line| {
                        matches(line.trim_end(), shown) || (is_demo && is_row(line, shown))
                    }),
                    "{place}\nshown, but not printed there: {shown}\n{printed}"
                );
            }
        }
        count
    }
}

#[test]
fn the_commands_of_the_tutorial_print_what_it_shows() {
    let checkout = Checkout::new();
    assert!(checkout.run("docs/tutorial.md", SAMPLE) >= 20);
}

#[test]
fn the_commands_of_the_page_on_active_learning_print_what_it_shows() {
    let checkout = Checkout::new();
    assert!(checkout.run("docs/active-learning.md", SAMPLE) >= 8);
}

#[test]
fn the_commands_of_the_readme_print_what_it_shows() {
    let checkout = Checkout::new();
    assert!(checkout.run("README.md", ".") >= 4);
    // With the model of the README.
    assert!(checkout.run("docs/explain.md", SAMPLE) >= 1);
}

#[test]
fn the_commands_of_the_page_on_classification_print_what_it_shows() {
    let checkout = Checkout::new();
    assert!(checkout.run("docs/classification.md", ".") >= 3);
}
