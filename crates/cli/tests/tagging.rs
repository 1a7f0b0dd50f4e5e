//! `tag`: all input and output formats, and all options.

use serde_json::json;

use crate::support::{NER_CORPUS, POS_CORPUS, TestDir, gzip};

fn ner_model() -> TestDir {
    TestDir::with_model(NER_CORPUS, "--template ner")
}

fn pos_model() -> TestDir {
    TestDir::with_model(POS_CORPUS, "--template pos")
}

const TEXT: &str = "Ann Lee left Rome.\n";

const CONLLU: &str = "\
# text = Ann left
1\tAnn\t_\tX\t_\t_\t0\troot\t_\t_
2-3\tleftfor\t_\t_\t_\t_\t_\t_\t_\t_
2\tleft\t_\tX\t_\t_\t1\tdep\t_\tSpaceAfter=No
3\tRome\t_\tX\t_\t_\t1\tdep\t_\t_
3.1\tempty\t_\t_\t_\t_\t_\t_\t_\t_

";

/// Two objects: with tokens, and with a text of two sentences.
const JSONL: &str = concat!(
    r#"{"id": 7, "tokens": ["Ann", "Lee"], "labels": ["O", "O"], "source": {"a": 1.50}}"#,
    "\n",
    r#"{"id": 8, "text": "Ann left. Bob left."}"#,
    "\n",
);

#[test]
fn every_input_format_has_its_own_output_format() {
    let dir = ner_model();
    dir.write("a.txt", TEXT);
    dir.write("b.txt", "Bob left.");
    dir.write("a.conll", "Ann NNP O\nleft VBD O\nRome NNP O\n\nBob NNP O\n");
    dir.write("unlabeled.conll", "Ann\tNNP\nleft\tVBD\n");
    dir.write("other.conll", "1 Ann\n2 left\n");
    dir.write("comments.conll", "-DOCSTART- -X- O\n\n# id 1\nAnn NNP O\n\n");
    dir.write("a.conll.gz", gzip("Ann NNP O\nleft VBD O\n"));
    dir.write("a.jsonl", JSONL.lines().next().unwrap());
    dir.write("a.conllu", CONLLU);
    let conllu = CONLLU
        .replace("1\tdep\t_\t_\n", "1\tdep\t_\tlabel=B-LOC\n")
        .replace("SpaceAfter=No", "SpaceAfter=No|label=O")
        .replace("root\t_\t_", "root\t_\tlabel=B-PER");
    let text = "Ann\tB-PER\nLee\tI-PER\nleft\tO\nRome\tB-LOC\n.\tO\n\n";
    let other = "1 Ann B-PER\n2 left O\n\n";
    for (input, expected) in [
        ("-", text),
        ("a.txt", text),
        ("a.txt b.txt --output inline", "[PER Ann Lee] left [LOC Rome].\n[PER Bob] left.\n"),
        ("a.conll", "Ann NNP O B-PER\nleft VBD O O\nRome NNP O B-LOC\n\nBob NNP O B-PER\n\n"),
        ("unlabeled.conll", "Ann\tNNP\tB-PER\nleft\tVBD\tO\n\n"),
        ("other.conll --columns n,word", other),
        ("other.conll --columns n,word,ner", other),
        ("comments.conll --comments", "-DOCSTART- -X- O O\n\n# id 1\nAnn NNP O B-PER\n\n"),
        ("a.conll.gz", "Ann NNP O B-PER\nleft VBD O O\n\n"),
        (
            "a.jsonl",
            "{\"id\":7,\"source\":{\"a\": 1.50},\"tokens\":[\"Ann\",\"Lee\"],\
             \"labels\":[\"B-PER\",\"I-PER\"],\"spans\":[{\"token_start\":0,\"token_end\":2,\
             \"type\":\"PER\"}]}\n",
        ),
        ("a.conllu", &conllu),
    ] {
        let tagged = dir.run_with_stdin(&format!("tag m {input}"), TEXT).success();
        assert_eq!(tagged, expected, "{input}");
    }
    for format in ["text", "conll", "conllu", "crfsuite", "jsonl"] {
        let tagged = dir.run(&format!("tag m --format {format}"));
        assert_eq!(tagged.success(), "", "--format {format}");
    }
}

#[test]
fn json_lines_with_a_text_are_tokenized_and_tagged_in_the_offsets_asked_for() {
    let dir = ner_model();
    let tagged = dir.run_with_stdin("tag m --format jsonl", JSONL).json_lines();
    assert_eq!(tagged[2]["id"], 8);
    assert_eq!(
        tagged[2]["spans"],
        json!([{
            "start": 10, "end": 13, "text": "Bob", "token_start": 0, "token_end": 1, "type": "PER"
        }])
    );
    assert_eq!(tagged[2]["text"], "Bob left.");
    assert_eq!(tagged[2]["offset"], json!([10, 19]));
    for (unit, start) in [("chars", 3), ("bytes", 6), ("utf16", 4)] {
        let tag = format!("tag m --output jsonl --offsets {unit}");
        let tagged = dir.run_with_stdin(&tag, "😀\n Ann  left ").json_lines();
        assert_eq!(tagged[1]["offsets"][0], json!([start, start + 3]), "{unit}");
    }
}

#[test]
fn the_label_column_of_conllu_is_replaced_also_by_a_single_label() {
    let dir = TestDir::new(&[]);
    dir.write("train.conllu", CONLLU.replace("\tX\t", "\tY\t"));
    let train = "train train.conllu --template pos --model m --quiet";
    // A single label, which is said.
    assert_eq!(dir.run(train).status.code(), Some(3));
    dir.write("a.conllu", CONLLU);
    let tagged = dir.run("tag m a.conllu").success();
    assert_eq!(tagged, CONLLU.replace("\tX\t", "\tY\t"));
}

#[test]
fn crfsuite_attributes_are_tagged() {
    let attributes = "B\tw=a\tn:0.5\n\nO\tw=b\n\n";
    let train = "train train.crfsuite --model m --l2 0.01 --quiet";
    let dir = TestDir::trained(&[("train.crfsuite", attributes)], train);
    dir.write("new.crfsuite", "_\tw=b\tunknown\n\n_\tw=a\tn:0.5\n");
    let tagged = dir.run("tag m new.crfsuite").success();
    assert_eq!(tagged, "_\tO\n\n_\tB\n\n");
}

#[test]
fn a_model_of_words_tags_any_format_with_words() {
    let dir = pos_model();
    dir.write("a.conllu", CONLLU);
    let line = r#"{"tokens": ["Ann", "left", "Rome"]}"#;
    dir.write("a.jsonl", line);
    dir.write("a.conll", "Ann -\nleft -\nRome -\n");
    dir.write("a.txt", "Ann left Rome\n");
    for file in ["a.conllu", "a.jsonl", "a.conll", "a.txt"] {
        let tagged = dir.run(&format!("tag m {file} --output inline"));
        assert_eq!(tagged.success(), "Ann/NNP left/VBD Rome/NNP\n", "{file}");
    }
}

#[test]
fn columns_and_json_lines_become_every_other_format() {
    let dir = ner_model();
    dir.write("a.conll", "Ann NNP O\nleft VBD O\n");
    dir.write("a.jsonl", r#"{"tokens": ["Ann", "left"], "pos": ["NNP", "VBD"]}"#);
    for (line, expected) in [
        ("a.conll --output inline", "[PER Ann] left\n"),
        (
            "a.conll --output jsonl",
            "{\"tokens\":[\"Ann\",\"left\"],\"labels\":[\"B-PER\",\"O\"],\
             \"spans\":[{\"token_start\":0,\"token_end\":1,\"type\":\"PER\"}]}\n",
        ),
        (
            "a.conll --output conllu",
            "1\tAnn\t_\t_\t_\t_\t_\t_\t_\tlabel=B-PER\n2\tleft\t_\t_\t_\t_\t_\t_\t_\tlabel=O\n\n",
        ),
        ("a.jsonl --output conll", "Ann\tNNP\tB-PER\nleft\tVBD\tO\n\n"),
    ] {
        assert_eq!(dir.run(&format!("tag m {line}")).success(), expected, "{line}");
    }
}

// Options

#[test]
fn candidates_and_probabilities_are_those_asked_for() {
    let dir = ner_model();
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
    let dir = pos_model();
    let message = dir.run_with_stdin("tag m --scheme bioes", TEXT).failure();
    assert!(message.starts_with("--scheme bioes: "), "{message}");
    let raw = dir.run_with_stdin("tag m --scheme raw", TEXT).success();
    assert_eq!(raw, dir.run_with_stdin("tag m", TEXT).success());
}
