//! Configuration files: `train` and `tune` with `--config`, and `inspect --config`.

use serde_json::{Value, json};

use crate::support::{NER_CORPUS, TestDir, keys};

const OPTIONS: &str = "--template minimal --l2 0.5 --dropout 0 --max-iterations 9 --collapse off";

const CONFIG: &str = "\
input = 'train.conll'
model = 'm'
template = 'minimal'
quiet = true
l2 = 0.5
dropout = 0
max-iterations = 9
collapse = false
";

fn directory() -> TestDir {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS), ("c.toml", CONFIG)]);
    dir.write("dev.conll", NER_CORPUS);
    dir
}

/// Prints the configuration of a model to `repeat.toml`, removes the model, runs `command` with
/// that file alone, and asserts that the model is the same.
fn assert_repeats(dir: &TestDir, model: &str, command: &str) -> String {
    let before = dir.bytes(model);
    let printed = dir.run(&format!("inspect {model} --config"));
    assert_eq!(printed.stderr, "");
    let config = printed.success();
    dir.write("repeat.toml", &config);
    std::fs::remove_file(dir.path(model)).unwrap();
    dir.run(&format!("{command} --config repeat.toml")).success();
    assert!(dir.bytes(model) == before, "{config}");
    config
}

#[test]
fn a_file_says_the_same_as_the_command_line() {
    let dir = directory();
    dir.run("train --config c.toml").success();
    let from_file = dir.bytes("m");
    dir.run(&format!("train train.conll --model m --quiet {OPTIONS}")).success();
    assert!(dir.bytes("m") == from_file);
    let inspected = dir.inspect("");
    assert_eq!(inspected["options"]["l2"], 0.5);
    assert_eq!(inspected["options"]["collapse"], false);
    assert_eq!(inspected["options"]["max_iterations"], 9);
}

#[test]
fn the_command_line_replaces_options_of_the_file() {
    let dir = directory();
    dir.write("other.conll", "A X\n\nB Y\n");
    dir.run("train --config c.toml --l2 2 other.conll --model n").success();
    assert!(!dir.path("m").exists());
    let inspected = dir.run("inspect n --json").json();
    assert_eq!(inspected["options"]["l2"], 2.0);
    assert_eq!(inspected["options"]["max_iterations"], 9);
    assert_eq!(inspected["files"], json!(["other.conll"]));
}

#[test]
fn file_names_are_relative_to_the_folder_of_the_file() {
    let dir = directory();
    std::fs::create_dir(dir.path("sub")).unwrap();
    for file in ["train.conll", "c.toml"] {
        dir.write(&format!("sub/{file}"), dir.bytes(file));
        std::fs::remove_file(dir.path(file)).unwrap();
    }
    dir.run("train --config sub/c.toml").success();
    assert_eq!(dir.names(), ["dev.conll", "sub"]);
    let inspected = dir.run("inspect sub/m --json").json();
    assert_eq!(inspected["files"], json!(["sub/train.conll"]));
    // A file with the name of a built-in template is that file.
    dir.write("sub/minimal", "shape\n");
    dir.run("train --config sub/c.toml").success();
    let inspected = dir.run("inspect sub/m --json").json();
    assert_eq!(inspected["template"], "shape\n");
    // Names on the command line are relative to the working directory.
    dir.write("my.tpl", "word\n");
    dir.run("train --config sub/c.toml --template my.tpl").success();
}

#[test]
fn mistakes_are_told_with_their_line() {
    let dir = directory();
    for (text, expected) in [
        ("max_iterations = 3", "'max_iterations' is not an option of train; see"),
        ("c2 = 1", "'c2' is not an option of train; it is '--l2 C2', the same number"),
        ("train = 'x'", "'train' is not an option of train"),
        ("config = 'x'", "'config' is not an option of train"),
        ("folds = 5", "'folds' is not an option of train"),
        ("'a\\nb' = 1", "'a\\\\nb' is not an option of train"),
        ("'' = 1", "'' is not an option of train"),
        ("dev = { a = 1 }", "dev: found a value of type table"),
        ("l2 = 1979-05-27", "l2: found a value of type datetime"),
        ("l2 = 1\nl2 = 2", "this is not TOML: duplicate key"),
        ("l2 = ", "this is not TOML: "),
    ] {
        dir.write("bad.toml", format!("# 1\nstates = 'observed'\n{text}\n"));
        let line = 3 + text.matches('\n').count();
        let error = dir.run("train --config bad.toml").failure();
        let prefix = format!("bad.toml:{line}: {expected}");
        assert!(error.starts_with(&prefix), "{error}\n{prefix}");
        assert_eq!(dir.names().len(), 4, "{text}");
    }
}

#[test]
fn values_that_no_option_has_say_where_they_are() {
    let dir = directory();
    for (text, expected) in [
        ("l2 = 'x'", "invalid value 'x' for '--l2 <C2>'"),
        ("l2 = [1, 2]", "invalid value '1,2' for '--l2 <C2>'"),
        ("max-iterations = 1.5", "invalid value '1.5' for '--max-"),
        ("max-iterations = -1", "invalid value '-1' for '--max-iter"),
        ("threads = 0", "0 is not in 1..=1024"),
        ("quiet = 1", "unexpected value '1' for '--quiet'"),
        ("collapse = 'maybe'", "[possible values: on, off]"),
        ("order = 7", "[possible values: 0, 1]"),
        ("memory = '4GB'", "expected a size such as"),
    ] {
        dir.write("bad.toml", format!("input = 'train.conll'\nmodel = 'm'\n{text}\n"));
        let error = dir.run("train --config bad.toml").exits(2);
        assert!(error.contains(expected), "{text}: {error}");
        assert!(error.contains("' is set in bad.toml:3"), "{text}: {error}");
        assert_eq!(dir.names().len(), 4, "{text}");
    }
}

#[test]
fn files_that_are_no_configuration_are_errors() {
    let dir = directory();
    let deep = format!("x = {}", "[".repeat(100_000));
    dir.write("deep.toml", &deep);
    dir.write("bytes.toml", b"l2 = 1 # \xff\n");
    dir.write("huge.toml", "# comment\n".repeat(500_000));
    for (file, expected) in [
        ("deep.toml", "deep.toml:1: this is not TOML: "),
        ("bytes.toml", "bytes.toml: is not UTF-8 text; expected options in TOML"),
        ("huge.toml", "huge.toml: has more than 4194304 bytes; expected options in TOML"),
        ("missing.toml", "missing.toml: "),
        (".", ".: is a directory; expected options in TOML"),
        ("/dev/zero", "/dev/zero: has more than 4194304 bytes"),
        ("train.conll", "train.conll:1: this is not TOML: "),
    ] {
        if file.starts_with("/dev") && cfg!(not(unix)) {
            continue;
        }
        let error = dir.run(&format!("train --config {file}")).failure();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn a_configuration_file_is_an_input_that_no_output_replaces() {
    let dir = directory();
    for output in ["--model", "--log", "--checkpoint"] {
        for command in ["train", "tune --dev dev.conll --dropout 0 --l2 1"] {
            let error =
                dir.run(&format!("{command} --config c.toml --force {output} ./c.toml")).failure();
            assert!(error.contains("this is the input file c.toml"), "{error}");
        }
    }
    assert_eq!(dir.text("c.toml"), CONFIG);
}

#[test]
fn options_that_exclude_each_other_say_where_they_are() {
    let dir = directory();
    dir.write("c.toml", format!("{CONFIG}dev = 'dev.conll'\n"));
    let error = dir.run("tune --config c.toml --folds 2").exits(2);
    assert!(error.contains("'--dev <FILE|SHARE>' cannot be used with '--folds <K>'"), "{error}");
    assert!(error.contains("'--dev' is set in c.toml:9"), "{error}");
    let error = dir.run("train --config c.toml --config c.toml").exits(2);
    assert!(error.contains("cannot be used multiple times"), "{error}");
}

#[test]
fn a_configuration_may_come_from_standard_input() {
    let dir = directory();
    dir.run_with_stdin("train --config -", CONFIG).success();
    let from_stdin = dir.bytes("m");
    dir.run("train --config c.toml").success();
    assert!(dir.bytes("m") == from_stdin);
    let error = dir.run_with_stdin("train --config - --dev -", CONFIG).exits(2);
    assert!(error.contains("standard input can be read only once"), "{error}");
}

#[test]
fn tables_hold_the_options_of_one_command() {
    let dir = directory();
    let text = CONFIG.replace("l2 = 0.5\ndropout = 0\n", "");
    dir.write(
        "c.toml",
        format!(
            "{text}dev = ['dev.conll']\n[train]\nl2 = 3\nmax-iterations = 4\n\
             [tune]\nl2 = [1, 2.5]\ndropout = 0\n"
        ),
    );
    dir.run("train --config c.toml").success();
    let options = &dir.inspect("")["options"];
    assert_eq!((&options["l2"], &options["max_iterations"]), (&json!(3.0), &json!(4)));
    let results = dir.run("tune --config c.toml --json").json();
    let strengths: Vec<&Value> = results["configurations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|configuration| &configuration["l2"])
        .collect();
    assert_eq!(strengths.len(), 2);
    assert!(strengths.contains(&&json!(2.5)), "{strengths:?}");
}

/// The long options in the help of a command.
fn long_options(dir: &TestDir, command: &str) -> Vec<String> {
    let help = dir.run(&format!("{command} --help-all")).success();
    let help = help.split_once("\nExamples:").unwrap().0.to_owned();
    let names = help.lines().filter_map(|line| {
        let line = line.trim_start();
        let line = line.strip_prefix("--").or_else(|| line.split_once(", --").map(|l| l.1));
        line.filter(|line| line.len() < 100)
    });
    let end = |c: char| !c.is_ascii_alphanumeric() && c != '-';
    names.map(|name| name.split(end).next().unwrap().to_owned()).collect()
}

#[test]
fn every_option_can_be_in_a_file() {
    let dir = directory();
    for command in ["train", "tune"] {
        let names = long_options(&dir, command);
        assert!(names.len() > 50, "{names:?}");
        for name in names
            .iter()
            .filter(|name| !["config", "help", "help-all", "version"].contains(&name.as_str()))
        {
            // An array of tables is no value of any option.
            dir.write("c.toml", format!("{name} = {{ a = 1 }}\n"));
            let error = dir.run(&format!("{command} --config c.toml")).failure();
            let expected = format!("c.toml:1: {name}: found a value of type table");
            assert!(error.starts_with(&expected), "{error}");
        }
    }
}

#[test]
fn the_log_and_the_model_have_the_options_that_matter() {
    let dir = directory();
    dir.run("train --config c.toml --log log.jsonl --threads 2 --patience 40").success();
    let start = &dir.json_lines("log.jsonl")[0];
    assert_eq!(start["config"]["command"], "train");
    let logged = &start["config"]["options"];
    let expected = ["collapse", "dropout", "input", "l2", "max-iterations", "patience", "template"];
    assert_eq!(keys(logged), expected.into());
    assert_eq!(logged["l2"], "0.5");
    assert_eq!(logged["collapse"], "off");
    let with_log = dir.bytes("m");
    dir.run("train --config c.toml --threads 1 --patience 40").success();
    assert!(dir.bytes("m") == with_log);
    assert_eq!(&dir.inspect("")["config"]["options"], logged);

    dir.run("tune --config c.toml --dev dev.conll --log tune.jsonl").success();
    let start = &dir.json_lines("tune.jsonl")[0];
    assert_eq!(start["config"]["command"], "tune");
    assert_eq!(start["config"]["options"]["dev"], json!(["dev.conll"]));
}

#[test]
fn a_run_with_many_options_is_repeated() {
    let dir = directory();
    dir.run(
        "train train.conll --columns word,pos,ner --label -1 --template ner --dev dev.conll \
         --dev train.conll --recall-bias 0.25 --scheme bioes --noise monte-carlo --samples 2 \
         --seed 18446744073709551615 --prune 1e-3 --caseless --memory 2G --precision f64 \
         --max-iterations 7 --model m --quiet",
    )
    .success();
    let config = assert_repeats(&dir, "m", "train");
    for line in [
        "input = [\"train.conll\"]",
        "columns = [\"word\", \"pos\", \"ner\"]",
        "dev = [\"dev.conll\", \"train.conll\"]",
        "recall-bias = 0.25",
        "seed = \"18446744073709551615\"",
        "caseless = 1",
        "model = \"m\"",
    ] {
        assert!(config.lines().any(|found| found == line), "{line} in {config}");
    }
    assert!(!config.contains("memory"), "{config}");
}

#[test]
fn runs_with_templates_and_knowledge_are_repeated() {
    let dir = directory();
    dir.write("my.tpl", "word\nlexicon(\"names.txt\")\n");
    dir.write("names.txt", "Ann\nBob\n");
    dir.write("cities.txt", "New York\nRome\n");
    dir.write("clusters.txt", "0110\tAnn\t12\n0111\tBob\t3\n10\tRome\t3\n");
    dir.run(
        "train train.conll --template my.tpl --clusters clusters.txt --gazetteer cities.txt \
         --max-iterations 7 --model m --quiet",
    )
    .success();
    assert_repeats(&dir, "m", "train");
    dir.run(
        "train train.conll --template minimal --unlabeled dev.conll --unlabeled-weight 0.5 \
         --max-iterations 30 --model m --quiet",
    )
    .success();
    assert_repeats(&dir, "m", "train");
}

#[test]
fn a_continued_run_is_repeated_if_its_model_is_the_same() {
    let dir = directory();
    dir.run(&format!("train train.conll --model base --quiet {OPTIONS}")).success();
    dir.write("more.conll", "Bob B-PER\nsaw O\nAcme B-ORG\n");
    dir.run("train more.conll --init base --towards base --dropout 0 --model m --quiet").success();
    assert_repeats(&dir, "m", "train");
    dir.run("train --config c.toml --model base --l2 9").success();
    let printed = dir.run("inspect m --config");
    let warning = "warning: init: base is no longer the model that training continued from";
    assert!(printed.stderr.starts_with(warning), "{}", printed.stderr);
    let config = printed.success();
    assert!(config.contains("# Warning: towards: base is no longer the model"), "{config}");
}

#[test]
fn two_passes_are_repeated() {
    let dir = TestDir::new(&[("train.conll", &(NER_CORPUS.to_owned() + "\n").repeat(6))]);
    dir.write("two.tpl", "word\npredicted\n");
    dir.run("train train.conll --template two.tpl --model m --quiet --dropout 0 --threads 1")
        .success();
    assert_repeats(&dir, "m", "train");
}

#[test]
fn a_search_is_repeated_and_its_best_configuration_trained() {
    let dir = TestDir::with_sample_corpus();
    for (validation, train) in [("--dev dev.conll", None), ("--folds 2", Some("recall-bias = "))] {
        dir.run(&format!(
            "tune train.conll {validation} --template minimal --template ner --dropout 0,0.3 \
             --l2 0.3 --max-iterations 6 --model m --quiet"
        ))
        .success();
        let best = dir.inspect("")["options"].clone();
        let config = assert_repeats(&dir, "m", "tune");
        let table = config.split_once("\n[tune]\n").unwrap().1;
        let (tune, best_options) = table.split_once("\n[train]\n").unwrap();
        assert!(tune.contains("template = [\"minimal\", \"ner\"]"), "{config}");
        assert!(tune.contains("dropout = \"0,0.3\""), "{config}");
        assert!(train.is_none_or(|key| best_options.contains(key)), "{config}");
        dir.run("train --config repeat.toml --quiet").success();
        let trained = &dir.inspect("")["options"];
        for key in ["dropout", "l2", "l1", "noise", "gradient"] {
            assert_eq!(trained[key], best[key], "{key} in {config}");
        }
    }
}

#[test]
fn a_template_that_changed_is_printed_as_text() {
    let dir = directory();
    dir.write("my.tpl", "word\nsuffix(2)\nregex(\"^[A-Z]'\\\\d\")\n");
    dir.run(&format!("train train.conll {OPTIONS} --model m --quiet").replace("minimal", "my.tpl"))
        .success();
    assert_repeats(&dir, "m", "train");
    let fingerprint = dir.inspect("")["fingerprint"].clone();
    for change in ["changed", "removed"] {
        match change {
            "changed" => dir.write("my.tpl", "word\n"),
            _ => std::fs::remove_file(dir.path("my.tpl")).unwrap(),
        }
        let printed = dir.run("inspect m --config");
        let expected = "warning: my.tpl is not there or not as it was";
        assert!(printed.stderr.starts_with(expected), "{}", printed.stderr);
        dir.write("text.toml", printed.success());
        dir.run("train --config text.toml --model n --quiet").success();
        assert_eq!(dir.run("inspect n --json").json()["fingerprint"], fingerprint);
        assert_repeats(&dir, "n", "train");
    }
    dir.write(
        "bad.toml",
        "input = 'train.conll'\nmodel = 'n'\ntemplate = '''\nlexicon('x')\n'''\n",
    );
    let error = dir.run("train --config bad.toml").failure();
    assert!(error.starts_with("template:"), "{error}");
}

#[test]
fn names_that_are_odd_are_quoted() {
    let dir = directory();
    let name = "a \"b\" 'c' \\ # é";
    std::fs::copy(dir.path("train.conll"), dir.path(name)).unwrap();
    let mut command = dir.command("train --model m --quiet --template minimal --dropout 0");
    let status = command.arg(name).status().unwrap();
    assert!(status.success());
    assert_repeats(&dir, "m", "train");
    let mut command = dir.command("train --model n --quiet --template minimal --dropout 0 --");
    std::fs::copy(dir.path("train.conll"), dir.path("--l1")).unwrap();
    assert!(command.arg("--l1").status().unwrap().success());
    let config = dir.run("inspect n --config").success();
    dir.write("n.toml", &config);
    dir.run("train --config n.toml --quiet").success();
    assert_eq!(dir.run("inspect n --json").json()["files"], json!(["./--l1"]));
}

#[test]
fn files_that_are_gone_are_told() {
    let dir = directory();
    dir.run("train --config c.toml --dev dev.conll").success();
    std::fs::remove_file(dir.path("dev.conll")).unwrap();
    let printed = dir.run("inspect m --config");
    assert_eq!(printed.stderr, "warning: dev: there is no file dev.conll\n");
    let config = printed.success();
    let expected = "# Warning: dev: there is no file dev.conll\ndev = [\"dev.conll\"]\n";
    assert!(config.contains(expected), "{config}");
}

#[test]
fn a_model_without_a_configuration_says_so() {
    let dir = directory();
    let models = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/models");
    let inspected = dir.run(&format!("inspect {models}/crfsuite.model --config"));
    let error = inspected.failure();
    let expected = "the model does not say with which options it was trained";
    assert!(error.contains(expected), "{error}");
}
