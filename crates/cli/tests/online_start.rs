//! `train --warm-start online`: passes of stochastic updates before L-BFGS.

use serde_json::Value;

use crate::support::TestDir;

fn train(options: &str) -> String {
    format!("train train.conll --template ner --quiet --model m --log log {options}")
}

/// Trains and returns the iterations in the log.
fn iterations(dir: &TestDir, line: &str) -> Vec<Value> {
    dir.run(line).success();
    let mut lines = dir.json_lines("log");
    lines.retain(|line| line["event"] == "iteration");
    lines
}

fn number(line: &Value, field: &str) -> f64 {
    line[field].as_f64().unwrap_or_else(|| panic!("{field} in {line}"))
}

#[test]
fn l_bfgs_reaches_a_loss_in_fewer_evaluations_after_the_passes() {
    let dir = TestDir::with_sample_corpus();
    let [off, online] = ["off", "online"]
        .map(|start| iterations(&dir, &train(&format!("--dropout 0 --warm-start {start}"))));
    let minimum = number(off.last().unwrap(), "objective");
    let gap = number(online.last().unwrap(), "objective") / minimum - 1.0;
    assert!(gap.abs() < 1e-3, "the minimum differs by {gap}");
    for distance in [1.1, 1.01] {
        let evaluations = |log: &[Value]| {
            // The objective of a pass is a sum over weights that change.
            let mut batch = log.iter().filter(|it| it["learning_rate"].is_null());
            let at = batch.find(|it| number(it, "objective") <= distance * minimum);
            number(at.unwrap(), "evaluations")
        };
        let [of_off, of_online] = [&off, &online].map(|log| evaluations(log));
        // A pass counts as an evaluation and costs about two.
        assert!(of_online + 2.0 < 0.8 * of_off, "{of_online} and {of_off}");
    }
}

#[test]
fn passes_are_iterations_with_a_learning_rate() {
    let dir = TestDir::with_sample_corpus();
    let line = train("--warm-start online --dropout 0 --dev dev.conll --max-iterations 5");
    let log = iterations(&dir, &line);
    let numbers: Vec<&Value> = log.iter().map(|it| &it["iteration"]).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    for (it, is_pass) in log.iter().zip([true, true, false, false, false]) {
        assert_eq!(it["learning_rate"].is_number(), is_pass, "{it}");
        assert_eq!(it["gradient_norm"].is_null(), is_pass, "{it}");
        assert!(number(it, "dev_f1") > 0.0);
        let terms = number(it, "l2") - number(it, "log_likelihood");
        assert!((terms / number(it, "objective") - 1.0).abs() < 1e-9);
    }
    assert!(number(&log[1], "objective") < number(&log[0], "objective"));
    for limit in 0..2 {
        let line = train(&format!("--warm-start online --max-iterations {limit}"));
        assert_eq!(iterations(&dir, &line).len(), limit);
    }
}

#[test]
fn attributes_of_any_size_have_the_same_passes() {
    let dir = TestDir::new(&[]);
    let corpus = |value: &str| {
        let line = |label: &str, word: &str| format!("{label}\tw={word}:{value}\tall:{value}\n");
        (0..40).fold(String::new(), |text, i| {
            let word = ["Ann", "left", "Rome"][i % 3];
            let label = ["B-PER", "O", "B-LOC"][i % 3];
            text + &line(label, word) + &line("O", ["fell", "rose"][i % 2]) + "\n"
        })
    };
    let last = |value: &str, l2: &str| {
        dir.write("train.crfsuite", corpus(value));
        let line = format!(
            "train train.crfsuite --quiet --model m --log log --dropout 0 --l2 {l2} \
             --warm-start online --max-iterations 2"
        );
        let log = iterations(&dir, &line);
        number(&log[1], "log_likelihood")
    };
    // Weights of attributes a thousand times larger are a thousand times smaller.
    let [one, large] = [last("1", "1e-3"), last("1000", "1e-3")];
    assert!(one > -60.0 && large > -60.0, "{one} and {large}");
}
