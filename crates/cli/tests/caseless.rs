//! Text without case: scores on copies in lower case and in capitals do not collapse.

use crate::support::{TestDir, keys, sample_corpus};

/// Returns a corpus with other first columns.
fn recased(corpus: &str, change: impl Fn(&str) -> String) -> String {
    let line = |line: &str| {
        let end = line.find([' ', '\t']).unwrap_or(line.len());
        if line.starts_with("-DOCSTART-") {
            return line.to_owned();
        }
        format!("{}{}\n", change(&line[..end]), &line[end..])
    };
    corpus.lines().map(line).collect()
}

/// The F1 of a model on a corpus as it is, in lower case and in capitals.
fn scores(dir: &TestDir, model: &str, corpus: &str) -> [f64; 3] {
    dir.write("as-is.conll", corpus);
    dir.write("lower.conll", recased(corpus, str::to_lowercase));
    dir.write("upper.conll", recased(corpus, str::to_uppercase));
    ["as-is", "lower", "upper"].map(|name| {
        let report = dir.run(&format!("eval {model} {name}.conll --json")).json();
        100.0 * report["f1"].as_f64().unwrap()
    })
}

#[test]
fn scores_of_the_sample_corpus_do_not_collapse_without_case() {
    let dir = TestDir::with_sample_corpus();
    let train = "train train.conll --dev dev.conll --template ner --dropout 0 --quiet \
                 --max-iterations 12";
    dir.run(&format!("{train} --model plain")).success();
    dir.run(&format!("{train} --model caseless --caseless")).success();
    let dev = sample_corpus("dev");
    let plain = scores(&dir, "plain", &dev);
    let caseless = scores(&dir, "caseless", &dev);
    assert!(plain[1] < 0.6 * plain[0], "{plain:?}: names need case");
    assert!(caseless[0] > plain[0] - 4.0, "{plain:?} {caseless:?}");
    for recased in &caseless[1..] {
        assert!(*recased > 0.45 * caseless[0], "{plain:?} {caseless:?}");
    }
}

#[test]
fn folds_keep_copies_with_their_sentences() {
    let dir = TestDir::with_sample_corpus();
    let tune = "tune train.conll --folds 2 --template minimal --dropout 0 --l2 1 --quiet --json \
                --model m --max-iterations 15";
    let plain = dir.run(tune).json();
    let caseless = dir.run(&format!("{tune} --caseless")).json();
    let score = |json: &serde_json::Value| json["configurations"][0]["dev_f1"].as_f64().unwrap();
    // If copies of held-out sentences were trained on, the score would be far higher.
    assert!((score(&plain) - score(&caseless)).abs() < 0.06, "{plain} {caseless}");
}

#[test]
fn copies_without_case_keep_partial_labels() {
    let sentence = "Mr _\nSmith B-PER|B-ORG\nmet O\nAnn B-PER\nin O\nParis B-LOC\n\n";
    let dir = TestDir::new(&[("train.conll", &sentence.repeat(3))]);
    dir.run(
        "train train.conll --template minimal --partial-labels --caseless --model m --quiet \
         --max-iterations 5",
    )
    .success();
    let tag = "tag m --format conll --columns word --output jsonl --marginals";
    let tagged = dir.run_with_stdin(tag, "Ann\n").json_lines();
    let labels = keys(&tagged[0]["marginals"][0]);
    assert!(!labels.iter().any(|label| label.contains(['_', '|'])), "{labels:?}");
}
