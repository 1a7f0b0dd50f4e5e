//! Text without case: scores on copies in lower case and in capitals do not collapse.

use std::fs;
use std::path::{Path, PathBuf};

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
    let train = "train train.conll --dev dev.conll --template ner --quiet --max-iterations 40";
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
#[expect(clippy::print_stdout, reason = "reports a skipped test")]
fn scores_of_public_corpora_do_not_collapse_without_case() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let file = |name: &str| -> Option<PathBuf> {
        let mut places = ["../shared/corpora", "corpora/public"].iter();
        places.find_map(|place| {
            let path = root.join(place).join("conll2002-esp").join(name);
            path.exists().then_some(path)
        })
    };
    let (Some(train), Some(dev)) = (file("esp.train"), file("esp.testa")) else {
        println!("skipped: the Spanish corpus of CoNLL-2002 is not here");
        return;
    };
    // A part of it, for the sake of time.
    let head = |path: &Path, lines: usize| {
        let bytes = fs::read(path).unwrap();
        let text: String = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => error.into_bytes().into_iter().map(char::from).collect(),
        };
        let mut part: String = text.split_inclusive('\n').take(lines).collect();
        part.truncate(part.rfind("\n\n").map_or(part.len(), |end| end + 2));
        part
    };
    let dir = TestDir::new(&[("train.conll", &head(&train, 12_000))]);
    dir.run(
        "train train.conll --template minimal --model m --quiet --max-iterations 25 --dropout 0 \
         --caseless",
    )
    .success();
    let [plain, lower, upper] = scores(&dir, "m", &head(&dev, 12_000));
    assert!(plain > 30.0, "{plain} {lower} {upper}");
    assert!(lower > 0.5 * plain, "{plain} {lower} {upper}");
    assert!(upper > 0.5 * plain, "{plain} {lower} {upper}");
}

#[test]
fn lower_case_and_capitals_are_the_same_to_the_model() {
    let dir = TestDir::with_sample_corpus();
    let train = "train train.conll --template ner --quiet --max-iterations 10 --model m";
    dir.run(&format!("{train} --caseless=0.5")).success();
    let labels = |text: &str| {
        dir.write("text.conll", text.replace(' ', "\n") + "\n\n");
        let tagged = dir.run("tag m text.conll --columns word").success();
        let cells = tagged.lines().map(|line| line.rsplit([' ', '\t']).next().unwrap());
        cells.map(str::to_owned).collect::<Vec<_>>()
    };
    let lower = labels("mr smith met ann lee in new york .");
    assert_eq!(lower, labels("MR SMITH MET ANN LEE IN NEW YORK ."));
    let inspected = dir.run("inspect m --json --top 3").json();
    assert_eq!(inspected["options"]["caseless"], 0.5);
}

#[test]
fn models_without_copies_are_the_same_and_bad_weights_are_errors() {
    let dir = TestDir::with_sample_corpus();
    let train = "train train.conll --template minimal --quiet --max-iterations 5 --model";
    dir.run(&format!("{train} a")).success();
    dir.run(&format!("{train} b --caseless=0")).success();
    let weights = |model: &str| dir.run(&format!("tag {model} dev.conll --marginals")).success();
    assert!(weights("a") == weights("b"));
    let error = dir.run(&format!("{train} c --caseless=-1")).failure();
    assert!(error.contains("weight of copies without case -1"), "{error}");
    dir.write("a.crfsuite", "B-PER\tw=a\nO\tw=b\n");
    let error = dir.run("train a.crfsuite --caseless --model c --quiet").failure();
    assert!(error.contains("needs a template"), "{error}");
}

#[test]
fn folds_keep_copies_with_their_sentences() {
    let dir = TestDir::with_sample_corpus();
    let tune = "tune train.conll --folds 2 --template minimal --dropout 0 --l2 1 --quiet --json \
                --model m --max-iterations 15";
    let plain = dir.run(tune).json();
    let caseless = dir.run(&format!("{tune} --caseless")).json();
    let score = |json: &serde_json::Value| json["configurations"][0]["mean_f1"].as_f64().unwrap();
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
