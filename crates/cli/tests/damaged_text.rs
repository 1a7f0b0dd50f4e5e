//! `dropchain eval --delete` and `--missing`.

use serde_json::Value;

use crate::support::TestDir;

#[test]
fn scores_fall_with_the_rate_of_damage() {
    let dir = TestDir::with_sample_corpus();
    dir.write("pos.template", "word\nupos\nupos[-1]\n");
    let train = "train train.conll --columns word,upos,ner --template pos.template";
    dir.run(&format!("{train} --max-iterations 20 --dropout 0 --model m --quiet")).success();
    let whole = dir.run("eval m dev.conll --json").json()["f1"].as_f64().unwrap();
    let scores = |options: &str| -> Vec<(f64, f64)> {
        let reports = dir.run(&format!("eval m dev.conll --json {options}")).json();
        let number = |report: &Value, name: &str| report[name].as_f64().unwrap();
        let reports = reports.as_array().unwrap().iter();
        reports.map(|report| (number(report, "rate"), number(report, "f1"))).collect()
    };
    let found = scores("--delete 0,0.5,1");
    let rates: Vec<f64> = found.iter().map(|(rate, _)| *rate).collect();
    assert_eq!(rates, [0.0, 0.5, 1.0]);
    // Without attributes, all tokens have the same scores.
    assert_eq!((found[0].1, found[2].1), (whole, 0.0));
    assert!(found[1].1 < found[0].1 && found[2].1 < found[1].1, "{found:?}");
    let again = scores("--delete 0.5 --threads 1");
    assert_eq!(again, found[1..2]);
    assert_ne!(scores("--delete 0.5 --seed 2"), again);
    let missing = scores("--missing upos=0..1");
    assert_eq!((missing.len(), missing[0].1), (11, whole));
    assert!(missing[10].1 < whole, "{missing:?}");
}
