//! `dropchain compare`

use crate::support::{NER_CORPUS, TestDir};

const GOLD: &str = "Ann B-PER\nleft O\n\nRome B-LOC\n\nYork B-LOC\nclosed O\n";
const A: &str = "Ann B-PER O\nleft O O\n\nRome B-LOC B-LOC\n\nYork B-LOC O\nclosed O O\n";
const B: &str = "Ann B-PER B-PER\nleft O O\n\nRome B-LOC B-LOC\n\nYork B-LOC B-PER\nclosed O O\n";

fn test_dir() -> TestDir {
    TestDir::new(&[("gold", GOLD), ("a", A), ("b", B)])
}

#[test]
fn scores_match_those_of_eval() {
    let dir = test_dir();
    let report = dir.run("compare gold a b --json").json();
    for side in ["a", "b"] {
        let evaluated = dir.run(&format!("eval --predictions {side} gold --json")).json();
        for metric in ["f1", "accuracy"] {
            let [x, y] = [&report[metric][side], &evaluated[metric]].map(|v| v.as_f64().unwrap());
            assert!((x - y).abs() < 1e-15, "{metric} of {side}: {x} {y}");
        }
    }
}

#[test]
fn the_column_of_probabilities_is_not_the_one_of_labels() {
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal --max-iterations 3");
    let tag = "tag m train.conll --columns word,pos,label";
    dir.write("a", dir.run(tag).success());
    dir.write("b", dir.run(&format!("{tag} --marginals")).success());
    let eval = |side: &str| dir.run(&format!("eval --predictions {side} train.conll")).success();
    assert_eq!(eval("b"), eval("a"));
    assert!(eval("a").contains("found: 6 phrases"), "{}", eval("a"));
    let report = dir.run("compare train.conll a b --json").json();
    assert_eq!(report["accuracy"]["difference"], 0.0);
    let other = dir.text("b").replacen("Ann", "Eve", 1);
    dir.write("b", other);
    assert!(
        dir.run("eval --predictions b train.conll")
            .failure()
            .starts_with("b:1: found the token 'Eve'; ")
    );
}
