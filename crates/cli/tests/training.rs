//! `train`: the input formats, and the options that change what is trained.

use serde_json::Value;

use crate::support::{NER_CORPUS, POS_CORPUS, TestDir};

/// Whether a label has a weight of an attribute.
fn has_attribute(inspected: &Value, label: &str, name: &str) -> bool {
    let attributes = inspected["labels"][label]["attributes"].as_array().unwrap();
    attributes.iter().any(|a| a["attribute"] == name)
}

const CONLLU: &str = "\
# sent_id = 1
1\tDogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_
2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\t_

# sent_id = 2
1-2\tI'm\t_\t_\t_\t_\t_\t_\t_\t_
1\tI\tI\tPRON\tPRP\t_\t3\tnsubj\t_\t_
2\t'm\tbe\tAUX\tVBP\t_\t3\tcop\t_\t_
3\tlate\tlate\tADJ\tJJ\t_\t0\troot\t_\t_

";

const CRFSUITE: &str = "\
B-PER\tw=Ann\tcap
I-PER\tw=Lee\tcap\tlength:3
O\tw=left\tlength:0.5

O\tw=at\ttime=10\\:30
B-LOC\tw=Rome\tcap:1.0

";

const JSONL: &str = concat!(
    r#"{"id": 1, "tokens": ["Ann", "left"], "pos": ["NNP", "VBD"], "labels": ["B-PER", "O"]}"#,
    "\n",
    r#"{"id": 2, "tokens": ["Rome", "fell"], "pos": ["NNP", "VBD"], "labels": ["B-LOC", "O"]}"#,
    "\n",
);

/// A template of Wapiti, which is read unchanged.
const WAPITI: &str = "\
# words
u:w-1=%x[-1,0]
*:w0=%X[0,0]
u:suffix=%m[0,0,\".?.?$\"]
u:upper=%t[0,0,\"^\\u\"]
b
";

#[test]
fn training_data_of_every_format_and_template_language_are_memorized() {
    for (file, text, options, label, attribute) in [
        ("a.conll", NER_CORPUS, "--label -2 --template minimal", "NNP", "word[0]=Ann"),
        ("a", CONLLU, "--format conllu --template pos", "NOUN", "word[0]=Dogs"),
        ("a.crfsuite", CRFSUITE, "", "O", "time=10:30"),
        ("a.jsonl", JSONL, "--template pos.tpl", "B-PER", "pos[0]=NNP"),
        ("a.conll", NER_CORPUS, "--template wapiti.pat", "B-LOC", "u:suffix=me"),
    ] {
        let dir = TestDir::new(&[
            (file, text),
            ("pos.tpl", "word\ncolumn(\"pos\")\n"),
            ("wapiti.pat", WAPITI),
        ]);
        dir.run(&format!("train {file} {options} --model m --l2 0.01 --quiet")).success();
        let format = if file == "a" { "--format conllu" } else { "" };
        let evaluated = dir.run(&format!("eval m {file} {format} --json")).json();
        assert_eq!(evaluated["accuracy"], 1.0, "{file} {options}");
        let inspected = dir.inspect("--top 1000");
        assert!(has_attribute(&inspected, label, attribute), "{file} {options}: {inspected}");
        assert_eq!(inspected["template"].is_null(), options.is_empty());
        let edge = &inspected["edges"][0];
        let has_edges =
            ["from", "to", "attribute", "weight"].iter().all(|key| !edge[key].is_null());
        assert_eq!(has_edges, options.contains("wapiti"), "{file} {options}: {edge}");
    }
}

#[test]
fn labels_without_spans_are_scored_by_accuracy_during_training() {
    let dir = TestDir::new(&[("train.conll", POS_CORPUS)]);
    let train = "train train.conll --dev train.conll --template pos --model m --log log.jsonl";
    let notices = dir.run(train).stderr;
    assert!(notices.contains("dev accuracy "), "{notices}");
    for line in dir.json_lines("log.jsonl").iter().filter(|line| line["event"] == "iteration") {
        let score = line["dev_accuracy"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&score) && line.get("dev_f1").is_none(), "{line}");
    }
}
