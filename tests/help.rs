//! What the program says of itself.

use std::collections::BTreeSet;

use crate::support::Folder;

const COMMANDS: [&str; 9] = [
    "train", "tune", "tag", "eval", "compare", "inspect", "cluster", "demo", "bench",
];

/// What scripts may use, by command; names here are a promise.
const FLAGS: [(&str, &[&str]); 9] = [
    (
        "train",
        &[
            "--template",
            "--model",
            "--dev",
            "--format",
            "--columns",
            "--label",
            "--comments",
            "--scheme",
            "--order",
            "--boundary",
            "--states",
            "--precision",
            "--prune",
            "--l2",
            "--l1",
            "--dropout",
            "--edge-dropout",
            "--noise",
            "--gradient",
            "--samples",
            "--seed",
            "--unlabeled",
            "--unlabeled-format",
            "--unlabeled-weight",
            "--discover",
            "--collapse",
            "--min-count",
            "--max-iterations",
            "--patience",
            "--recall-bias",
            "--warm-up",
            "--threads",
            "--log",
            "--quiet",
        ],
    ),
    (
        "tune",
        &[
            "--template",
            "--model",
            "--dev",
            "--folds",
            "--dropout",
            "--edge-dropout",
            "--l2",
            "--l1",
            "--unlabeled-weight",
            "--random",
            "--seed",
            "--halving",
            "--first-rung",
            "--warm-start",
            "--memory",
            "--format",
            "--columns",
            "--label",
            "--comments",
            "--scheme",
            "--order",
            "--boundary",
            "--states",
            "--precision",
            "--prune",
            "--noise",
            "--gradient",
            "--samples",
            "--warm-up",
            "--collapse",
            "--recall-bias",
            "--min-count",
            "--max-iterations",
            "--patience",
            "--unlabeled",
            "--unlabeled-format",
            "--discover",
            "--threads",
            "--log",
            "--json",
            "--quiet",
        ],
    ),
    (
        "tag",
        &[
            "--format",
            "--output",
            "--columns",
            "--comments",
            "--marginals",
            "--nbest",
            "--constrain",
            "--scheme",
            "--threads",
        ],
    ),
    (
        "eval",
        &[
            "--predictions",
            "--format",
            "--columns",
            "--label",
            "--comments",
            "--constrain",
            "--per-label",
            "--confusion",
            "--json",
            "--threads",
        ],
    ),
    (
        "compare",
        &[
            "--samples",
            "--seed",
            "--format",
            "--columns",
            "--label",
            "--comments",
            "--json",
            "--threads",
        ],
    ),
    ("inspect", &["--top", "--template", "--json"]),
    (
        "cluster",
        &[
            "--clusters",
            "--min-count",
            "--output",
            "--format",
            "--columns",
            "--comments",
            "--threads",
            "--quiet",
        ],
    ),
    ("demo", &["--label"]),
    (
        "bench gradients",
        &[
            "--template",
            "--dev",
            "--format",
            "--columns",
            "--label",
            "--comments",
            "--scheme",
            "--order",
            "--boundary",
            "--states",
            "--dropout",
            "--edge-dropout",
            "--l2",
            "--collapse",
            "--min-count",
            "--max-iterations",
            "--patience",
            "--engines",
            "--weights",
            "--seed",
            "--repeat",
            "--limit",
            "--train",
            "--threads",
            "--json",
            "--quiet",
        ],
    ),
];

fn help(command: &str) -> String {
    Folder::new(&[])
        .run(&format!("{command} --help"))
        .succeeded()
}

/// The flags that a text names.
fn flags(text: &str) -> BTreeSet<&str> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '-';
    text.split(|c| !word(c))
        .filter(|word| word.len() > 2 && word.starts_with("--"))
        .collect()
}

/// What stands before and after the heading of the examples.
fn parts(help: &str) -> (&str, &str) {
    help.split_once("\nExamples:\n")
        .unwrap_or_else(|| panic!("no examples in {help}"))
}

#[test]
fn every_promised_flag_is_explained() {
    for (command, promised) in FLAGS {
        let help = help(command);
        let explained = flags(parts(&help).0);
        for flag in promised {
            assert!(explained.contains(flag), "{command} {flag}");
        }
    }
}

#[test]
fn every_command_shows_examples_with_flags_that_exist() {
    for (command, _) in FLAGS {
        let help = help(command);
        let (before, examples) = parts(&help);
        assert!(
            examples.contains(&format!("dropchain {command}")),
            "{command}"
        );
        let own = examples
            .lines()
            .filter(|line| line.contains(&format!("dropchain {command}")));
        for line in own {
            // What stands behind a pipe belongs to others.
            let (_, line) = line.split_once(&format!("dropchain {command}")).unwrap();
            let line = line.split(['|', '>', '#']).next().unwrap_or_default();
            for flag in flags(line) {
                assert!(
                    flags(before).contains(flag),
                    "{command}: {flag} in an example"
                );
            }
        }
    }
}

#[test]
fn the_program_lists_its_commands() {
    let help = Folder::new(&[]).run("--help").succeeded();
    for command in COMMANDS {
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
    }
    assert!(help.contains("\nExamples:\n"));
}
