//! `tag`: candidates, probabilities and schemes.

use serde_json::json;

use crate::support::{NER_CORPUS, TestDir};

const TEXT: &str = "Ann Lee left Rome.\n";

#[test]
fn candidates_and_probabilities_are_those_asked_for() {
    let dir = TestDir::with_model(NER_CORPUS, "--template ner");
    let tag = "tag m --output jsonl --marginals --nbest 1000";
    let free = dir.run_with_stdin(&format!("{tag} --constrain off"), "Ann left").json();
    assert_eq!(free["nbest"].as_array().unwrap().len(), 25);
    // A sequence starts with one of 3 labels; I-X follows only B-X or I-X.
    let legal = dir.run_with_stdin(tag, "Ann left").json();
    assert_eq!(legal["nbest"].as_array().unwrap().len(), 3 * 3 + 2);
    assert_eq!(legal["nbest"][0]["labels"], legal["labels"]);
    assert_eq!(legal["nbest"][0]["probability"], legal["probability"]);
    let best = legal["marginals"][0].as_object().unwrap().iter().next().unwrap();
    assert!(best.0 == "B-PER" && best.1.as_f64().unwrap() > 0.5, "{best:?}");

    let tagged = dir.run_with_stdin("tag m --marginals", "Ann left").success();
    let row: Vec<&str> = tagged.lines().next().unwrap().split('\t').collect();
    assert_eq!(row[..2], ["Ann", "B-PER"]);
    assert!((0.5..=1.0).contains(&row[2].parse::<f64>().unwrap()), "{tagged}");
    let blocks = dir.run_with_stdin("tag m --nbest 2", "Ann").success();
    assert!(blocks.starts_with("# n=0 score=") && blocks.contains("\n\n# n=1 score="), "{blocks}");
}

#[test]
fn labels_and_probabilities_are_those_of_the_requested_scheme() {
    let dir = TestDir::with_model(NER_CORPUS, "--template ner --scheme bioes");
    for (scheme, expected) in [
        ("raw", "B-PER E-PER O S-LOC O"),
        ("io", "I-PER I-PER O I-LOC O"),
        ("iob1", "I-PER I-PER O I-LOC O"),
        ("iob2", "B-PER I-PER O B-LOC O"),
        ("bioes", "B-PER E-PER O S-LOC O"),
    ] {
        let tag = format!("tag m --output jsonl --marginals --scheme {scheme}");
        let tagged = dir.run_with_stdin(&tag, TEXT).json();
        let labels: Vec<&str> = expected.split(' ').collect();
        assert_eq!(tagged["labels"], json!(labels), "--scheme {scheme}");
        for (t, token) in tagged["marginals"].as_array().unwrap().iter().enumerate() {
            let token = token.as_object().unwrap();
            let sum: f64 = token.values().map(|p| p.as_f64().unwrap()).sum();
            assert!((sum - 1.0).abs() < 1e-9, "--scheme {scheme}: {sum}");
            assert_eq!(token.keys().next().unwrap(), labels[t], "--scheme {scheme}");
        }
    }
}
