//! `dropchain eval --delete` and `--missing`.

use serde_json::Value;

use crate::support::TestDir;

fn dir() -> TestDir {
    let dir = TestDir::with_sample_corpus();
    dir.run(
        "train train.conll --columns word,upos,ner --template ner --max-iterations 30 \
         --model ner.model --quiet",
    )
    .success();
    dir
}

fn scores(dir: &TestDir, options: &str) -> Vec<(f64, f64)> {
    let line = format!("eval ner.model dev.conll --json {options}");
    let reports: Value = serde_json::from_str(&dir.run(&line).success()).unwrap();
    let number = |report: &Value, name: &str| report[name].as_f64().unwrap();
    let reports = reports.as_array().unwrap().iter();
    reports.map(|report| (number(report, "rate"), number(report, "f1"))).collect()
}

#[test]
fn scores_fall_with_the_rate_of_damage() {
    let dir = dir();
    let line = "eval ner.model dev.conll --json";
    let whole: Value = serde_json::from_str(&dir.run(line).success()).unwrap();
    let whole = whole["f1"].as_f64().unwrap();
    let found = scores(&dir, "--delete 0,0.5,1");
    let rates: Vec<f64> = found.iter().map(|(rate, _)| *rate).collect();
    assert_eq!(rates, [0.0, 0.5, 1.0]);
    assert_eq!(found[0].1, whole);
    assert!(found[1].1 < found[0].1 && found[2].1 < found[1].1, "{found:?}");
    let again = scores(&dir, "--delete 0.5 --threads 1");
    assert_eq!(again, found[1..2]);
    assert_ne!(scores(&dir, "--delete 0.5 --seed 2"), again);
    // Without attributes, all tokens have the same scores.
    assert_eq!(scores(&dir, "--delete 1")[0].1, 0.0);
    // The template does not read this column.
    let missing = scores(&dir, "--missing upos=0..1");
    assert_eq!(missing.len(), 11);
    assert!(missing.iter().all(|(_, f1)| *f1 == whole));
}

#[test]
fn a_column_that_the_template_reads_is_missed() {
    let dir = TestDir::with_sample_corpus();
    dir.write("pos.template", "word\nupos\nupos[-1]\n");
    dir.run(
        "train train.conll --columns word,upos,ner --template pos.template --max-iterations 30 \
         --model ner.model --quiet",
    )
    .success();
    let found = scores(&dir, "--missing upos=0,1");
    assert!(found[1].1 < found[0].1, "{found:?}");
}
