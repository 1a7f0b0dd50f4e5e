//! A model file of the format, which must stay readable.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::TestDir;

const CORPUS: &str = "\
Dr. 3 B-PER
Ann 3 I-PER
O'Neill 7 I-PER
left 4 O
Köln 4 B-LOC
in 2 O
1998 4 O
. 1 O

the 3 O
Bank 4 B-ORG
of 2 I-ORG
Köln 4 I-ORG
met 3 O
Ann 3 B-PER
at 2 O
10:30 5 O
. 1 O

@ann 4 O
left 4 O
東京 2 B-LOC
for 3 O
São 3 B-LOC
Paulo 5 I-LOC
\u{1f600} 1 O
";

const TEMPLATE: &str = r#"# Something of everything that a model stores
bias
word
lower[-1]
lower[+1] & shape(dan2)
affixes(2..4)
shape(collapsed)[-1] & shape(collapsed)
regex("^[@#].")
regex("([0-9]+)[:.]")
value(length) & start
value(size)
bag(lower, 1..2)
title
occurrence
word[-2] & shape if length(word[-1]) <= 3
edge: shape(collapsed)
edge: lower & capitalization
"#;

/// Input in columns: known and unknown words, values, sentence boundaries.
const TEXT: &str = "\
Dr. 3
Bob 3
O'Neill 7
met 3
Ann 3
in 2
Köln 4
. 1

東京 2
Bank 4
of 2
São 3
Paulo 5

@bob 4
10:45 5
";

fn fixture(name: &str) -> PathBuf {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    root.join("tests/data/models").join(name)
}

const TAG: &str = "tag m text.conll --output jsonl --marginals --nbest 3";

/// Returns true if two values are equal up to rounding.
fn is_close(x: &Value, y: &Value) -> bool {
    match (x, y) {
        (Value::Number(x), Value::Number(y)) => {
            let [x, y] = [x, y].map(|number| number.as_f64().unwrap());
            (x - y).abs() <= 1e-9 * x.abs().max(1.0)
        }
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| is_close(x, y))
        }
        (Value::Object(x), Value::Object(y)) => {
            let same = |(key, value)| y.get(key).is_some_and(|other| is_close(value, other));
            x.len() == y.len() && x.iter().all(same)
        }
        _ => x == y,
    }
}

/// Tags the text with a fixture and compares the output with the recorded one.
fn assert_tags_as_recorded(version: &str) {
    let dir = TestDir::new(&[("text.conll", TEXT)]);
    dir.write("m", fs::read(fixture(&format!("{version}.model"))).unwrap());
    let expected = fs::read(fixture(&format!("{version}.expected"))).unwrap();
    dir.write("expected", expected);
    let tagged = dir.run(TAG).json_lines();
    let expected = dir.json_lines("expected");
    assert_eq!(tagged.len(), expected.len());
    for (found, expected) in tagged.iter().zip(&expected) {
        assert!(is_close(found, expected), "{found}\ninstead of\n{expected}");
    }
    let inspected = dir.inspect("");
    assert_eq!(inspected["format_version"], version[1..].parse::<u64>().unwrap());
    assert_eq!(inspected["template"], TEMPLATE);
    assert!(inspected["node_attributes"].as_u64().unwrap() > 0);
    assert!(inspected["edge_attributes"].as_u64().unwrap() > 0);
}

#[test]
fn a_version_1_model_tags_as_recorded() {
    assert_tags_as_recorded("v1");
}

#[test]
#[ignore = "overwrites the fixture; see tests/data/models/README.md"]
fn write_the_model_fixture() {
    let dir = TestDir::new(&[("train.conll", CORPUS), ("my.tpl", TEMPLATE), ("text.conll", TEXT)]);
    let train = "train train.conll --columns word,size,ner --template my.tpl --l2 0.05 \
                 --model m --quiet";
    dir.run(train).success();
    fs::write(fixture("v1.model"), dir.bytes("m")).unwrap();
    fs::write(fixture("v1.expected"), dir.run(TAG).success()).unwrap();
}
