//! Completions of shells and manual pages.

use std::process::{Command, Stdio};

use crate::support::TestDir;

/// Whether a program can be run.
fn exists(program: &str) -> bool {
    let mut command = Command::new(program);
    let status = command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    status.status().is_ok()
}

/// Completes the last word of a command line in bash.
fn complete(dir: &TestDir, line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let last = words.len() - 1;
    let script = format!(
        "source ./completion.bash; COMP_WORDS=({line}); COMP_CWORD={last}; \
         _dropchain dropchain '{}' '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words[last],
        words[last - 1]
    );
    let mut command = Command::new("bash");
    let command = command.args(["--norc", "-c", &script]);
    let output = command.current_dir(dir.path("")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
#[expect(clippy::print_stdout, reason = "reports a skipped test")]
fn bash_completes_commands_options_and_values() {
    if !exists("bash") {
        println!("skipped: there is no bash");
        return;
    }
    let dir = TestDir::new(&[]);
    dir.write("completion.bash", dir.run("completions bash").success());
    assert_eq!(complete(&dir, "dropchain ins"), ["inspect"]);
    assert_eq!(complete(&dir, "dropchain train --max"), ["--max-iterations"]);
    assert_eq!(complete(&dir, "dropchain train --scheme iob"), ["iob1", "iob2"]);
    assert_eq!(complete(&dir, "dropchain bench gr"), ["gradients"]);
    dir.write("ner.model", "");
    assert_eq!(complete(&dir, "dropchain train --model ner"), ["ner.model"]);
}

#[test]
fn every_shell_has_a_script_with_all_commands() {
    let dir = TestDir::new(&[]);
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = dir.run(&format!("completions {shell}")).success();
        for word in ["train", "cluster", "recall-bias", "completions"] {
            assert!(script.contains(word), "{word} in {shell}");
        }
    }
}

/// Formats a manual page; its warnings are errors.
fn format_page(page: &str) -> Option<String> {
    use std::io::Write;
    let mut command = Command::new("groff");
    let command = command.args(["-k", "-man", "-Tutf8", "-ww", "-P-cbou"]);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
    child.stdin.take()?.write_all(page.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
#[expect(clippy::print_stdout, reason = "reports a skipped test")]
fn manual_pages_are_formatted_without_warnings() {
    if !exists("groff") {
        println!("skipped: there is no groff");
        return;
    }
    let dir = TestDir::new(&[]);
    dir.run("man --output-dir a/man1").success();
    let mut pages = 0;
    for entry in std::fs::read_dir(dir.path("a/man1")).unwrap() {
        let page = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let text = format_page(&page).unwrap();
        assert!(text.contains("SYNOPSIS") && text.contains("Examples:"), "{text}");
        pages += 1;
    }
    assert!(pages >= 13, "{pages}");
    let text = format_page(&dir.run("man train").success()).unwrap();
    assert!(text.contains("\n         dropchain train --config ner.options\n"), "{text}");
    // Lines are filled.
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    // An option that `-h` leaves out, and characters beyond ASCII.
    for part in ["How often: after N iterations", "c2·‖θ‖²"] {
        assert!(text.contains(part), "{part:?} in {text}");
    }
}

#[test]
fn a_page_is_there_for_every_command() {
    let dir = TestDir::new(&[]);
    dir.run("man --output-dir man").success();
    let help = dir.run("--help").success();
    let commands = help.split_once("Commands:\n").unwrap().1;
    let commands = commands.lines().take_while(|line| !line.is_empty());
    let names = commands.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let mut found = 0;
    for name in names.filter(|name| !name.is_empty() && *name != "help") {
        let page = dir.text(&format!("man/dropchain-{name}.1"));
        assert_eq!(dir.run(&format!("man {name}")).success(), page);
        found += 1;
    }
    assert!(found >= 12, "{found}");
    assert_eq!(
        dir.run("man bench gradients").success(),
        dir.text("man/dropchain-bench-gradients.1")
    );
}
