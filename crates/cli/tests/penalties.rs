//! The path of `tune --l1`.

use serde_json::Value;

use crate::support::{TestDir, sample_corpus};

#[test]
fn the_path_of_l1_reports_weights() {
    let first = |part: &str, count: usize| {
        let text = sample_corpus(part);
        let sentences: Vec<&str> = text.split("\n\n").take(count).collect();
        sentences.join("\n\n") + "\n\n"
    };
    let dir =
        TestDir::new(&[("train.conll", &first("train", 60)), ("dev.conll", &first("dev", 30))]);
    let tune = "tune train.conll --columns word,upos,ner --template minimal --quiet --model m \
                --dropout 0 --l2 0 --l1 0.1,3,0.3,1 --max-iterations 60";
    let results = dir.run(&format!("{tune} --dev dev.conll --json --log log")).json();
    let trials = results["configurations"].as_array().unwrap();
    let mut path: Vec<(f64, u64)> = trials
        .iter()
        .map(|t| (t["l1"].as_f64().unwrap(), t["nonzero_weights"].as_u64().unwrap()))
        .collect();
    path.sort_by(|a, b| b.0.total_cmp(&a.0));
    assert!(path.windows(2).all(|pair| pair[0].1 < pair[1].1), "{path:?}");
    let log = dir.json_lines("log");
    let lines: Vec<&Value> = log.iter().filter(|l| l["event"] == "configuration").collect();
    assert_eq!(lines.len(), 4);
    assert!(lines.iter().all(|line| line["nonzero_weights"].is_u64()));
    let table = dir.run(&format!("{tune} --folds 2")).success();
    let heading: Vec<&str> = table.lines().next().unwrap().split_whitespace().collect();
    let heading = heading.join(" ");
    assert!(heading.contains("mean F1 ± mean of 5 weights kept"), "{table}");
    // Without L1 all weights count: there is nothing to report.
    let none = "tune train.conll --columns word,upos,ner --template minimal --quiet --model m \
                --dropout 0 --l2 0.1 --max-iterations 5 --folds 2 --json";
    let none = dir.run(none).json();
    assert_eq!(none["configurations"][0]["nonzero_weights"], Value::Null);
}
