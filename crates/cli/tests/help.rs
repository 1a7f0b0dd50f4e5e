//! The help texts.

use std::collections::BTreeSet;

use crate::support::{NER_CORPUS, TestDir};

const COMMANDS: [&str; 16] = [
    "train",
    "tune",
    "tag",
    "eval",
    "check",
    "compare",
    "explain",
    "inspect",
    "convert",
    "cluster",
    "demo",
    "report",
    "serve",
    "bench",
    "completions",
    "man",
];

const INPUT: &[&str] = &["--format", "--columns", "--label", "--comments", "--header", "--memory"];

const MODEL: &[&str] = &["--scheme", "--order", "--boundary", "--states", "--min-count"];

const STRENGTHS: &[&str] =
    &["--l2", "--l1", "--dropout", "--edge-dropout", "--unlabeled-weight", "--seed"];

const STOPPING: &[&str] = &["--max-iterations", "--patience"];

/// The flags common to `train` and `tune`.
const TRAINING: &[&str] = &[
    "--template",
    "--model",
    "--dev",
    "--precision",
    "--prune",
    "--recall-bias",
    "--noise",
    "--gradient",
    "--warm-up",
    "--partial-labels",
    "--caseless",
    "--clusters",
    "--vectors",
    "--gazetteer",
    "--unlabeled",
    "--threads",
    "--log",
    "--quiet",
    "--config",
];

const SEARCH: &[&str] = &["--folds", "--random", "--json"];

const TAG: &[&str] = &[
    "--format",
    "--output",
    "--output-dir",
    "--force",
    "--offsets",
    "--color",
    "--columns",
    "--comments",
    "--header",
    "--marginals",
    "--nbest",
    "--constrain",
    "--forced",
    "--uncertain",
    "--uncertain-by",
    "--scheme",
    "--threads",
    "--max-sentence",
    "--memory",
];

const EXPLAIN: &[&str] = &[
    "--format",
    "--output",
    "--columns",
    "--comments",
    "--header",
    "--top",
    "--token",
    "--all",
    "--against",
    "--constrain",
    "--forced",
    "--threads",
    "--max-sentence",
    "--memory",
];

const EVAL: &[&str] = &[
    "--predictions",
    "--constrain",
    "--per-label",
    "--confusion",
    "--errors",
    "--max-errors",
    "--error-kind",
    "--error-type",
    "--json",
    "--threads",
];

const CHECK: &[&str] = &[
    "--dev",
    "--test",
    "--inconsistent",
    "--suspicious",
    "--template",
    "--folds",
    "--examples",
    "--strict",
    "--json",
    "--quiet",
    "--threads",
    "--partial-labels",
    "--plain-labels",
];

const COMPARE: &[&str] = &["--samples", "--seed", "--json", "--threads"];

const CLUSTER: &[&str] = &[
    "--clusters",
    "--min-count",
    "--output",
    "--format",
    "--columns",
    "--comments",
    "--header",
    "--threads",
    "--quiet",
    "--max-sentence",
    "--memory",
];

const SERVE: &[&str] = &[
    "--listen",
    "--allow-host",
    "--allow-origin",
    "--max-body",
    "--timeout",
    "--idle-timeout",
    "--queue",
    "--max-connections",
    "--threads",
    "--max-sentence",
    "--memory",
    "--document",
];

const REPORT: &[&str] = &[
    "--gold",
    "--model",
    "--predictions",
    "--train",
    "--output",
    "--title",
    "--max-errors",
    "--constrain",
    "--quiet",
    "--threads",
];

const GRADIENTS: &[&str] = &[
    "--template",
    "--dropout",
    "--edge-dropout",
    "--l2",
    "--collapse",
    "--engines",
    "--weights",
    "--seed",
    "--repeat",
    "--limit",
    "--sweep",
    "--figure",
    "--threads",
    "--json",
    "--quiet",
];

/// The flags of a command, in groups.
type FlagGroups = &'static [&'static [&'static str]];

/// The flags of each command. Scripts rely on them: none may disappear.
const FLAGS: [(&str, FlagGroups); 16] = [
    ("train", &[INPUT, MODEL, STRENGTHS, STOPPING, TRAINING]),
    ("tune", &[INPUT, MODEL, STRENGTHS, STOPPING, TRAINING, SEARCH]),
    ("tag", &[TAG]),
    ("eval", &[INPUT, EVAL]),
    ("check", &[INPUT, CHECK]),
    ("compare", &[INPUT, COMPARE]),
    ("report", &[INPUT, REPORT]),
    ("explain", &[EXPLAIN]),
    ("inspect", &[&["--top", "--attribute", "--template", "--json", "--config"]]),
    ("convert", &[&["--model", "--precision", "--prune", "--quiet"]]),
    ("cluster", &[CLUSTER]),
    ("demo", &[&["--label"]]),
    ("serve", &[SERVE]),
    ("bench gradients", &[INPUT, MODEL, GRADIENTS]),
    ("completions", &[]),
    ("man", &[&["--output-dir"]]),
];

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
fn every_promised_flag_is_documented() {
    for (command, groups) in FLAGS {
        let help = help(command);
        let documented = flags(split_examples(&help).0);
        for flag in groups.iter().copied().flatten() {
            assert!(documented.contains(flag), "{command} {flag}");
        }
    }
}

#[test]
fn every_command_shows_examples_with_flags_that_exist() {
    for (command, _) in FLAGS {
        let help = help(command);
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
    for command in COMMANDS {
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
    }
    assert!(help.contains("\nExamples:\n"));
}

#[test]
fn names_of_other_programs_are_answered_with_ours() {
    let dir = TestDir::new(&[]);
    for (line, ours) in [
        ("learn x", "it is 'dropchain train'"),
        ("dump m", "it is 'dropchain inspect'"),
        ("label m", "it is 'dropchain tag'"),
        ("train x --holdout 2", "'dropchain tune --folds N'"),
        ("train x --rho2 1", "'--l2 C2' with half of the number"),
        ("train x --lr 0.1", "L-BFGS has no learning rate"),
        ("train x --epochs 9", "it is '--max-iterations N'"),
        ("tune x --trials 9", "it is '--random N'"),
        ("train x --trials 9", "'dropchain tune --random N' tries"),
        ("train x --output y", "it is '--model FILE'"),
        ("train x -o y", "it is '--model FILE'"),
        ("tag --model m x", "without a name: MODEL"),
    ] {
        let error = dir.run(line).exits(2);
        assert!(error.contains(ours) && !error.contains("similar"), "{error}");
    }
    let error = dir.run("train x --thread 2").exits(2);
    assert!(error.contains("'--threads N'"), "{error}");
    // No tip is better than a wrong one.
    let error = dir.run("train x --encodings y --embed z").exits(2);
    assert!(error.contains("'--encoding'"), "{error}");
    let error = dir.run("train x --embed z").exits(2);
    assert!(!error.contains("tip"), "{error}");
    assert!(error.contains("\nUsage: dropchain train [OPTIONS] <TRAIN>...\n"), "{error}");
    let error = dir.run("convert m --epochs 3").exits(2);
    assert!(!error.contains("tip"), "{error}");
}

#[test]
fn errors_have_one_form_and_what_is_missing_has_an_example() {
    let dir = TestDir::new(&[]);
    let error = dir.run("train").exits(2);
    assert!(error.starts_with("dropchain: the following required"), "{error}");
    let example = "tip: for example: dropchain train train.conll --dev dev.conll\n";
    assert!(error.contains(example), "{error}");
    assert!(dir.run("tag none").exits(1).starts_with("dropchain: none: "));
    let help = dir.run("train --help");
    assert!(help.stderr.is_empty() && help.success().contains("Usage: "));
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
    assert!(short.contains("--template") && !short.contains("--eta"), "{short}");
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
    for option in ["--eta", "--pa-c", "--epsilon", "--warm-start"] {
        let line = format!("\n      {option} ");
        assert!(!long.contains(&line) && all.contains(&line), "{option}");
    }
    assert!(all.contains("\nOnly with --algorithm sgd:\n"), "{all}");
    assert!(listed(&short) <= 16, "{short}");
    assert!(listed(&long) <= 50, "{}", listed(&long));
    assert!((55..=62).contains(&listed(&all)), "{}", listed(&all));
}

#[test]
fn options_have_the_same_letter_in_all_commands() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
    dir.run("train train.conll -t minimal -m m -q -f conll -l -1 --max-iterations 3").success();
    let tagged = dir.run("tag m train.conll -f conll -o jsonl").success();
    assert!(tagged.starts_with('{'), "{tagged}");
    dir.run("eval m train.conll -l -1").success();
}

#[test]
fn help_has_100_columns_and_examples_are_not_broken() {
    let dir = TestDir::new(&[]);
    let commands = FLAGS.iter().map(|(command, _)| *command).chain([""]);
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
