//! The help texts.

use std::collections::BTreeSet;

use crate::support::TestDir;

const COMMANDS: &str = "\
    train tune tag eval check compare explain inspect convert cluster demo report serve bench \
    completions man";

/// Returns the help with all options.
fn help(command: &str) -> String {
    let dir = TestDir::new(&[]);
    let help = dir.run(&format!("{command} --help")).success();
    match help.contains("--help-all") {
        true => dir.run(&format!("{command} --help-all")).success(),
        false => help,
    }
}

/// Returns the flags that occur in a text.
fn flags(text: &str) -> BTreeSet<&str> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '-';
    text.split(|c| !word(c)).filter(|word| word.len() > 2 && word.starts_with("--")).collect()
}

/// Splits a help text at the heading of the examples.
fn split_examples(help: &str) -> (&str, &str) {
    help.split_once("\nExamples:\n").unwrap_or_else(|| panic!("no examples in {help}"))
}

#[test]
fn every_command_shows_examples_with_flags_that_exist() {
    for command in COMMANDS.split(' ').map(|command| command.replace("bench", "bench gradients")) {
        let help = help(&command);
        let (before, examples) = split_examples(&help);
        assert!(examples.contains(&format!("dropchain {command}")), "{command}");
        let own = examples.lines().filter(|line| line.contains(&format!("dropchain {command}")));
        for line in own {
            // Flags after a pipe belong to other programs.
            let (_, line) = line.split_once(&format!("dropchain {command}")).unwrap();
            let line = line.split(['|', '>', '#']).next().unwrap_or_default();
            for flag in flags(line) {
                assert!(flags(before).contains(flag), "{command}: {flag} in an example");
            }
        }
    }
}

#[test]
fn the_help_of_the_program_lists_its_commands() {
    let help = TestDir::new(&[]).run("--help").success();
    for command in COMMANDS.split(' ') {
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
    }
    assert!(help.contains("\nExamples:\n"));
}

#[test]
fn short_help_fits_a_screen_and_says_where_the_rest_is() {
    let dir = TestDir::new(&[]);
    for command in ["train", "tag", "eval", "cluster"] {
        let [short, long] = ["-h", "--help"].map(|h| dir.run(&format!("{command} {h}")).success());
        assert!(short.lines().count() <= 46, "{short}");
        assert!(short.contains("see more with '--help'"), "{short}");
        assert!(long.lines().count() > 55, "{long}");
        for help in [&short, &long] {
            assert!(help.contains("Examples:\n"), "{help}");
        }
    }
    let short = dir.run("train -h").success();
    assert!(short.contains("--template") && !short.contains("--epsilon"), "{short}");
}

/// Returns the number of options that a help text lists.
fn listed(help: &str) -> usize {
    let (options, _) = split_examples(help);
    let names = options.lines().map(str::trim_start);
    let is_option = |name: &&str| {
        let mut words = name.split([' ', ',']).filter(|word| !word.is_empty());
        match words.next() {
            Some(word) if word.starts_with("--") => !name.contains(", --") && name.len() < 100,
            Some(word) => word.len() == 2 && word.starts_with('-'),
            None => false,
        }
    };
    names.filter(is_option).count()
}

#[test]
fn options_of_single_algorithms_are_in_the_help_of_all_options_alone() {
    let dir = TestDir::new(&[]);
    let [short, long, all] =
        ["-h", "--help", "--help-all"].map(|option| dir.run(&format!("train {option}")).success());
    for option in ["--epsilon", "--warm-start"] {
        let line = format!("\n      {option} ");
        assert!(!long.contains(&line) && all.contains(&line), "{option}");
    }
    assert!(listed(&short) <= 16, "{short}");
    assert!(listed(&long) <= 50, "{}", listed(&long));
    assert!((55..=62).contains(&listed(&all)), "{}", listed(&all));
}

#[test]
fn help_has_100_columns_and_examples_are_not_broken() {
    let dir = TestDir::new(&[]);
    let commands = COMMANDS.split(' ').chain(["bench gradients", ""]);
    for (command, option) in commands.flat_map(|c| [(c, "-h"), (c, "--help")]) {
        let help = dir.run(&format!("{command} {option}")).success();
        let long = help.lines().find(|line| line.chars().count() > 100);
        assert_eq!(long, None, "{command}");
        // A line that was too long goes on with the indentation of its beginning.
        let mut before = "";
        for line in help.lines().skip_while(|line| *line != "Examples:").skip(1) {
            let begins = ["  dropchain ", "  echo ", "  # "];
            let begins = begins.iter().any(|begin| line.starts_with(begin));
            let goes_on = before.ends_with('\\') && line.starts_with("      ");
            let is_text = !line.starts_with(' ') && !before.starts_with(' ');
            assert!(
                line.is_empty() || begins || goes_on || is_text,
                "{command} {option}: {before} / {line}"
            );
            before = line;
        }
    }
    let narrow = dir.command("train --help").env("COLUMNS", "60").output().unwrap();
    let narrow = String::from_utf8(narrow.stdout).unwrap();
    let (options, _) = split_examples(&narrow);
    let long = options.lines().find(|line| line.chars().count() > 60);
    assert_eq!(long, None);
}
