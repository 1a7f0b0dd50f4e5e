//! Training with feature noise.

use serde_json::Value;

use crate::support::{NER_CORPUS, TestDir, sample_corpus};

/// Trains with `options` and returns the last iteration in the log.
fn last_iteration(dir: &TestDir, options: &str) -> Value {
    let train = "train train.conll --template minimal --model m --quiet --log log --l2 0.1";
    dir.run(&format!("{train} {options}")).success();
    let log = dir.json_lines("log");
    let last = log.iter().rfind(|line| line["event"] == "iteration");
    last.unwrap().clone()
}

fn number(value: &Value, field: &str) -> f64 {
    value[field].as_f64().unwrap()
}

#[test]
fn approximate_engines_end_where_no_step_is_lower_and_say_so() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
    let exact = last_iteration(&dir, "--dropout 0.3 --warm-up 5");
    for engine in ["local", "window=1"] {
        let last = last_iteration(&dir, &format!("--dropout 0.3 --warm-up 5 --gradient {engine}"));
        let log = dir.json_lines("log");
        let with_noise =
            |line: &&Value| line["event"] == "iteration" && number(line, "dropout") > 0.0;
        let first = log.iter().find(with_noise).unwrap();
        assert!(number(&last, "objective") < number(first, "objective"), "{engine}");
        // Their directions do not lead to the minimum, but the value is exact: never below it.
        let [found, minimum] = [&last, &exact].map(|line| number(line, "objective"));
        assert!(found > minimum * (1.0 + 1e-6), "{engine}: {found} {minimum}");
        let end = log.last().unwrap();
        assert_eq!(end["event"], "end");
        assert_eq!(end["stop_reason"], "line_search", "{engine}");
        assert_eq!(end["iterations"], last["iteration"]);
    }
}

#[test]
fn unlabeled_text_of_any_format_changes_the_model() {
    let dir = TestDir::new(&[
        ("train.conll", NER_CORPUS),
        ("raw.txt", "Ada met Bob in London.\nBob met Ada.\n"),
        ("more.jsonl", "{\"tokens\": [\"Ada\", \"met\", \"Bob\"]}\n"),
    ]);
    let without = last_iteration(&dir, "--dropout 0.3");
    let with = last_iteration(&dir, "--dropout 0.3 --unlabeled raw.txt more.jsonl");
    assert_ne!(with["objective"], without["objective"]);
    // --format holds for names that do not tell another.
    let columns =
        [("columns.conll", ""), ("columns.txt", "--format conll")].map(|(name, options)| {
            dir.write(name, "Ada O\nmet O\nBob O\n\n");
            let options = format!("--dropout 0.3 --unlabeled {name} more.jsonl {options}");
            last_iteration(&dir, &options)["objective"].clone()
        });
    assert_eq!(columns[0], columns[1]);
    let options = "--template minimal --max-iterations 1 --model m";
    let notice = "--clusters of the same files usually gains more";
    for (clusters, is_said) in [("", true), ("--clusters raw.txt", false)] {
        let line = format!("train train.conll --unlabeled raw.txt {clusters} {options}");
        assert_eq!(dir.run(&line).stderr.contains(notice), is_said);
    }
}

#[test]
fn a_model_that_saw_no_noise_says_so() {
    let dir = TestDir::new(&[("train.conll", &sample_corpus("train"))]);
    dir.write("dev.conll", sample_corpus("train"));
    let train = "train train.conll --dev dev.conll --template minimal --model m --log log";
    let line = format!("{train} --dropout 0.99 --l2 0.001 --warm-up 30 --max-iterations 25");
    let output = dir.run(&line);
    let stderr = output.stderr.clone();
    output.success();
    let end = dir.json_lines("log").pop().unwrap();
    let expected = format!(
        "kept iteration {}, before the noise began: dropout has no part in this model, only L2 \
         0.001; --dropout 0 with the same penalties does the same",
        end["best_iteration"],
    );
    assert!(stderr.contains(&format!("warning: {expected}\n")), "{stderr}");
    assert_eq!(end["regularization"], "L2 0.001");
    assert_eq!(end["noise"]["iterations"], 0);
    let model = dir.inspect("");
    assert_eq!(model["training"]["noise"], end["noise"]);
    assert_eq!(model["training"]["regularization"], "L2 0.001");
    let text = dir.run("inspect m").success();
    assert!(text.contains("\nwarning      kept"), "{text}");
    dir.run("report log --model m --gold dev.conll --output page").success();
    let page = dir.text("page");
    assert_eq!(page.matches("dropout has no part in this model").count(), 2);
    assert!(page.contains("class=\"shade\""));
    assert_eq!(dir.run(&format!("{line} --quiet")).stderr, "");
    // Without noise, the kept weights are the same.
    let without = line.replace("--dropout 0.99", "--dropout 0 --quiet");
    dir.run(&without.replace("--warm-up 30", "")).success();
    assert_eq!(dir.inspect("")["fingerprint"], model["fingerprint"]);
}

#[test]
fn a_model_that_saw_noise_says_how_much() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
    for (options, iterations, regularization) in [
        ("--warm-up 2 --max-iterations 6", "4", "dropout 0.3, L2 0.1"),
        ("--l1 0.01 --warm-up 0 --max-iterations 3", "3", "dropout 0.3, L1 0.01, L2 0.1"),
        ("--algorithm sgd --warm-up 1 --max-iterations 3", "2", "dropout 0.3, L2 0.1"),
        ("--algorithm ap --max-iterations 2", "null", "no penalty"),
    ] {
        let line = format!("train train.conll --template minimal --model m --quiet {options}");
        dir.run(&line).success();
        let record = &dir.inspect("")["training"];
        assert_eq!(record["regularization"], regularization, "{options}");
        assert_eq!(record["noise"]["iterations"].to_string(), iterations, "{options}");
    }
}
