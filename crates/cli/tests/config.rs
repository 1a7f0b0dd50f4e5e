//! Configuration files: `train` and `tune` with `--config`, and `inspect --config`.

use serde_json::json;

use crate::support::{NER_CORPUS, TestDir, keys};

const OPTIONS: &str = "--template minimal --l2 0.5 --dropout 0 --max-iterations 9 --boundary off";

const CONFIG: &str = "\
# A run, with options in all forms.
train.conll
--model m
--template=minimal
--quiet

--l2 = 0.5
--dropout=0
  --max-iterations 9
--boundary=off
";

fn directory() -> TestDir {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS), ("c.options", CONFIG)]);
    dir.write("dev.conll", NER_CORPUS);
    dir
}

/// Prints the configuration of a model to `repeat.options`, removes the model, runs `command` with
/// that file alone, and asserts that the model is the same.
fn assert_repeats(dir: &TestDir, model: &str, command: &str) -> String {
    let before = dir.bytes(model);
    let printed = dir.run(&format!("inspect {model} --config"));
    assert_eq!(printed.stderr, "");
    let config = printed.success();
    dir.write("repeat.options", &config);
    std::fs::remove_file(dir.path(model)).unwrap();
    dir.run(&format!("{command} --config repeat.options")).success();
    assert!(dir.bytes(model) == before, "{config}");
    config
}

#[test]
fn a_file_says_the_same_as_the_command_line() {
    let dir = directory();
    dir.run_with_stdin("train --config -", CONFIG).success();
    let from_file = dir.bytes("m");
    dir.run(&format!("train train.conll --model m --quiet {OPTIONS}")).success();
    assert!(dir.bytes("m") == from_file);
    let inspected = dir.inspect("");
    assert_eq!(inspected["options"]["l2"], 0.5);
    assert_eq!(inspected["options"]["boundary"], "off");
    assert_eq!(inspected["options"]["max_iterations"], 9);
}

#[test]
fn the_command_line_replaces_options_of_the_file_and_the_result_has_those_that_matter() {
    let dir = directory();
    dir.write("other.conll", "A X\n\nB Y\n");
    let line = "train --config c.options --l2 2 other.conll --model n --log log.jsonl";
    dir.run(&format!("{line} --threads 2 --patience 40")).success();
    assert!(!dir.path("m").exists());
    let inspected = dir.run("inspect n --json").json();
    assert_eq!(inspected["options"]["l2"], 2.0);
    assert_eq!(inspected["options"]["max_iterations"], 9);
    assert_eq!(inspected["files"][0]["name"], json!("other.conll"));
    let start = &dir.json_lines("log.jsonl")[0];
    assert_eq!(start["config"]["command"], "train");
    let logged = &start["config"]["options"];
    let expected = ["boundary", "dropout", "input", "l2", "max-iterations", "patience", "template"];
    assert_eq!(keys(logged), expected.into());
    assert_eq!((&logged["l2"], &logged["boundary"]), (&json!("2"), &json!("off")));
    assert_eq!(&inspected["config"]["options"], logged);
}

#[test]
fn a_run_with_many_options_is_repeated() {
    let dir = directory();
    dir.run(
        "train train.conll --columns word,pos,ner --label -1 --template ner --dev dev.conll \
         --dev train.conll --recall-bias 0.25 --scheme bioes --noise monte-carlo=2 \
         --seed 18446744073709551615 --prune 1e-3 --caseless --memory 2G --precision f64 \
         --max-iterations 7 --model m --quiet",
    )
    .success();
    let config = assert_repeats(&dir, "m", "train");
    for line in [
        "train.conll",
        "--columns=word,pos,ner",
        "--dev=dev.conll",
        "--dev=train.conll",
        "--recall-bias=0.25",
        "--seed=18446744073709551615",
        "--caseless=1",
        "--model=m",
    ] {
        assert!(config.lines().any(|found| found == line), "{line} in {config}");
    }
    assert!(!config.contains("memory"), "{config}");
}

#[test]
fn a_run_with_a_template_knowledge_and_unlabeled_text_is_repeated() {
    let dir = directory();
    dir.write("my.tpl", "word\nlexicon(\"names.txt\")\nregex(\"^[A-Z]'\\\\d\")\n");
    dir.write("names.txt", "Ann\nBob\n");
    dir.write("cities.txt", "New York\nRome\n");
    dir.write("clusters.txt", "0110\tAnn\t12\n0111\tBob\t3\n10\tRome\t3\n");
    dir.run(
        "train train.conll --max-iterations 12 --model m --quiet --template my.tpl \
         --clusters clusters.txt --gazetteers cities.txt --unlabeled dev.conll \
         --unlabeled-weight 0.5",
    )
    .success();
    assert_repeats(&dir, "m", "train");
    dir.write("my.tpl", "word\n");
    std::fs::remove_file(dir.path("dev.conll")).unwrap();
    let printed = dir.run("inspect m --config");
    for warning in [
        "warning: template: my.tpl is not as it was",
        "`dropchain inspect MODEL --template` prints",
        "warning: unlabeled: there is no file dev.conll\n",
    ] {
        assert!(printed.stderr.contains(warning), "{}", printed.stderr);
    }
    let config = printed.success();
    assert!(config.contains("# Warning: unlabeled: there is no file dev.conll\n"), "{config}");
}

#[test]
fn a_continued_run_is_repeated_if_its_model_is_the_same() {
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal");
    dir.write("base", dir.bytes("m"));
    dir.write("more.conll", "Bob B-PER\nsaw O\nAcme B-ORG\n");
    dir.run("train more.conll --init base --towards base --dropout 0 --model m --quiet").success();
    assert_repeats(&dir, "m", "train");
    dir.write("base", dir.bytes("m"));
    let printed = dir.run("inspect m --config");
    let warning = "warning: init: base is not as it was, and the run cannot be repeated without";
    assert!(printed.stderr.starts_with(warning), "{}", printed.stderr);
    let config = printed.success();
    assert!(config.contains("# Warning: towards: base is not as it was"), "{config}");
}

#[test]
fn a_search_is_repeated_and_its_best_configuration_trained() {
    let dir = directory();
    dir.write("train.conll", (NER_CORPUS.to_owned() + "\n").repeat(4));
    dir.run(
        "tune train.conll --folds 2 --template minimal --template ner --dropout 0,0.3 --l2 0.3 \
         --max-iterations 6 --model m --quiet",
    )
    .success();
    let best = dir.inspect("")["options"].clone();
    let config = assert_repeats(&dir, "m", "tune");
    let (tune, best_options) = config.split_once("\n# The best configuration").unwrap();
    assert!(tune.contains("\n--template=minimal\n--template=ner\n"), "{config}");
    assert!(tune.contains("\n--dropout=0,0.3\n"), "{config}");
    assert!(best_options.contains("--recall-bias="), "{config}");
    let options = best_options.lines().skip(1).map(|line| line.trim_start_matches("#   "));
    dir.write("best.options", options.collect::<Vec<_>>().join("\n"));
    dir.run("train --config best.options --model m --quiet").success();
    let trained = &dir.inspect("")["options"];
    for key in ["dropout", "l2", "l1", "noise", "gradient"] {
        assert_eq!(trained[key], best[key], "{key} in {config}");
    }
}

#[test]
fn names_that_are_odd_are_repeated() {
    let dir = directory();
    let names = ["a \"b\" 'c' \\ # é", "# b", "--l1"];
    names.iter().for_each(|name| dir.write(name, NER_CORPUS));
    let mut command = dir.command("train --model m --quiet --template minimal --dropout 0 --");
    assert!(command.args(names).status().unwrap().success());
    dir.write("repeat.options", dir.run("inspect m --config").success());
    dir.run("train --config repeat.options --quiet").success();
    let files = dir.inspect("")["files"].clone();
    for (file, name) in files.as_array().unwrap().iter().zip(names) {
        assert!(file["name"].as_str().unwrap().ends_with(name), "{files}");
    }
}
