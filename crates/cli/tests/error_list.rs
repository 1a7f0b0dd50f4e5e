//! `dropchain eval --errors`.

use serde_json::{Value, json};

use crate::support::{POS_CORPUS, TestDir};

const GOLD: &str =
    "Ann B-PER\nLee I-PER\nleft O\nNew B-LOC\nYork I-LOC\n. O\n\nBob B-PER\nleft O\n";
const PREDICTED: &str =
    "Ann B-PER\nLee O\nleft O\nNew B-ORG\nYork I-ORG\n. O\n\nBob O\nleft B-LOC\n";

fn dir() -> TestDir {
    TestDir::new(&[("gold.conll", GOLD), ("pred.conll", PREDICTED)])
}

#[test]
fn errors_are_chosen_by_kind_and_type_and_limited() {
    let dir = dir();
    let json = |options: &str| -> Value {
        let line = format!("eval --predictions pred.conll gold.conll --json --errors {options}");
        serde_json::from_str(&dir.run(&line).success()).unwrap()
    };
    let counts = |options: &str| json(options)["errors"]["counts"].clone();
    assert_eq!(counts("--error-kind missed,wrong-type"), json!({"missed": 1, "wrong_type": 1}));
    assert_eq!(counts("--error-type ORG"), json!({"wrong_type": 1}));
    let all = json("");
    let first = &all["errors"]["listed"][0];
    assert_eq!(first["kind"], "wrong_boundary");
    assert_eq!((&first["file"], &first["line"]), (&json!("gold.conll"), &json!(1)));
    assert_eq!(
        first["gold"],
        json!({"token_start": 0, "token_end": 2, "type": "PER", "text": "Ann Lee"})
    );
    assert_eq!(all["errors"]["listed"].as_array().unwrap().len(), 4);
    assert!(all["f1"].is_number());
    let none = json("--max-errors 0");
    assert_eq!(none["errors"]["listed"], json!([]));
    assert_eq!(none["errors"]["counts"]["missed"], 1);
}

#[test]
fn errors_of_a_model_and_of_parts_of_speech_are_listed() {
    let dir = TestDir::with_model(POS_CORPUS, "--columns word,pos --template minimal");
    dir.write("gold.conll", "Ann NNP\nLee NNP\nleft VBZ\nRome NNP\n. .\n");
    let text = dir.run("eval m gold.conll --errors").success();
    assert!(text.contains("\nwrong label: 1\n"), "{text}");
    assert!(text.contains("  gold.conll:3: gold VBZ, predicted VBD\n"), "{text}");
    assert!(text.contains("      Ann Lee [left] Rome .\n"), "{text}");
}
