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

// Input formats, each with its default output format

#[test]
fn text_is_output_as_words_with_labels() {
    let tagged = ner_model().run_with_stdin("tag m", TEXT).success();
    assert_eq!(tagged, "Ann\tB-PER\nLee\tI-PER\nleft\tO\nRome\tB-LOC\n.\tO\n\n");
}

#[test]
fn a_dash_is_standard_input() {
    let dir = ner_model();
    let tagged = dir.run_with_stdin("tag m -", TEXT).success();
    assert_eq!(tagged, dir.run_with_stdin("tag m", TEXT).success());
}

#[test]
fn text_files_are_tagged_one_after_the_other() {
    let dir = ner_model();
    dir.write("a.txt", "Rome closed.");
    dir.write("b.txt", "Bob left.");
    let tagged = dir.run("tag m a.txt b.txt --output inline").success();
    assert_eq!(tagged, "[LOC Rome] closed.\n[PER Bob] left.\n");
}

#[test]
fn columns_are_output_with_the_label_appended() {
    let dir = ner_model();
    dir.write("labeled.conll", "Ann NNP O\nleft VBD O\nRome NNP O\n\nBob NNP O\n");
    let tagged = dir.run("tag m labeled.conll").success();
    assert_eq!(tagged, "Ann NNP O B-PER\nleft VBD O O\nRome NNP O B-LOC\n\nBob NNP O B-PER\n\n");
}

#[test]
fn columns_may_lack_the_label() {
    let dir = ner_model();
    dir.write("unlabeled.conll", "Ann\tNNP\nleft\tVBD\n");
    let tagged = dir.run("tag m unlabeled.conll").success();
    assert_eq!(tagged, "Ann\tNNP\tB-PER\nleft\tVBD\tO\n\n");
}

#[test]
fn columns_other_than_those_of_training_can_be_named() {
    let dir = ner_model();
    dir.write("other.conll", "1 Ann\n2 left\n");
    for columns in ["n,word", "n,word,ner"] {
        let tag = format!("tag m other.conll --columns {columns}");
        assert_eq!(dir.run(&tag).success(), "1 Ann B-PER\n2 left O\n\n", "{columns}");
    }
}

#[test]
fn comments_are_kept_on_request() {
    let dir = ner_model();
    dir.write("a.conll", "# id 1\nAnn NNP O\n\n");
    let tagged = dir.run("tag m a.conll --comments").success();
    assert_eq!(tagged, "# id 1\nAnn NNP O B-PER\n\n");
}

#[test]
fn document_boundaries_are_kept() {
    let dir = ner_model();
    dir.write("a.conll", "-DOCSTART- -X- O\n\nAnn NNP O\n\n");
    let tagged = dir.run("tag m a.conll").success();
    assert_eq!(tagged, "-DOCSTART- -X- O O\n\nAnn NNP O B-PER\n\n");
}

const CONLLU: &str = "\
# text = Ann left
1\tAnn\t_\tX\t_\t_\t0\troot\t_\t_
2-3\tleftfor\t_\t_\t_\t_\t_\t_\t_\t_
2\tleft\t_\tX\t_\t_\t1\tdep\t_\tSpaceAfter=No
3\tRome\t_\tX\t_\t_\t1\tdep\t_\t_
3.1\tempty\t_\t_\t_\t_\t_\t_\t_\t_

";

#[test]
fn conllu_is_output_with_its_label_column_replaced() {
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
fn conllu_stores_a_label_without_a_column_in_the_last_one() {
    let dir = TestDir::with_model(NER_CORPUS, "--template ner --columns word,pos,ner");
    dir.write("a.conllu", CONLLU);
    let tagged = dir.run("tag m a.conllu").success();
    let expected = CONLLU
        .replace("1\tdep\t_\t_\n", "1\tdep\t_\tner=B-LOC\n")
        .replace("SpaceAfter=No", "SpaceAfter=No|ner=O")
        .replace("root\t_\t_", "root\t_\tner=B-PER");
    assert_eq!(tagged, expected);
}

#[test]
fn json_lines_keep_their_other_keys() {
    let line =
        r#"{"id": 7, "tokens": ["Ann", "Lee"], "labels": ["O", "O"], "source": {"a": 1.50}}"#;
    let tagged = ner_model().run_with_stdin("tag m --format jsonl", line).success();
    assert_eq!(
        tagged,
        "{\"id\":7,\"source\":{\"a\": 1.50},\"tokens\":[\"Ann\",\"Lee\"],\
         \"labels\":[\"B-PER\",\"I-PER\"],\"spans\":[{\"token_start\":0,\"token_end\":2,\
         \"type\":\"PER\"}]}\n"
    );
}

#[test]
fn json_lines_with_a_text_are_tokenized_and_tagged() {
    let line = r#"{"id": 8, "text": "Ann left. Bob left."}"#;
    let tagged = ner_model().run_with_stdin("tag m --format jsonl", line).json_lines();
    assert_eq!(tagged.len(), 2);
    assert_eq!(tagged[1]["id"], 8);
    assert_eq!(
        tagged[1]["spans"],
        json!([{
            "start": 10, "end": 13, "text": "Bob", "token_start": 0, "token_end": 1, "type": "PER"
        }])
    );
    assert_eq!(tagged[1]["offsets"][0], json!([10, 13]));
    assert_eq!(tagged[1]["text"], "Bob left.");
    assert_eq!(tagged[1]["offset"], json!([10, 19]));
}

#[test]
fn crfsuite_attributes_are_tagged() {
    let attributes = "B\tw=a\tn:0.5\n\nO\tw=b\n\n";
    let dir = TestDir::new(&[("train.crfsuite", attributes)]);
    let train = "train train.crfsuite --model m --l2 0.01 --quiet";
    dir.run(train).success();
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

// Output formats

#[test]
fn text_becomes_conllu() {
    let tagged = TestDir::with_model(POS_CORPUS, "--template pos --columns form,xpos")
        .run_with_stdin("tag m --output conllu", "Ann left Rome.")
        .success();
    assert_eq!(
        tagged,
        "# text = Ann left Rome.\n\
         1\tAnn\t_\t_\tNNP\t_\t_\t_\t_\t_\n\
         2\tleft\t_\t_\tVBD\t_\t_\t_\t_\t_\n\
         3\tRome\t_\t_\tNNP\t_\t_\t_\t_\tSpaceAfter=No\n\
         4\t.\t_\t_\t.\t_\t_\t_\t_\t_\n\n"
    );
}

#[test]
fn text_becomes_json_with_offsets() {
    let dir = ner_model();
    for (options, before) in
        [("", 3), (" --offsets chars", 3), (" --offsets bytes", 6), (" --offsets utf16", 4)]
    {
        let tag = format!("tag m --output jsonl{options}");
        let tagged = dir.run_with_stdin(&tag, "😀\n Ann  left ").json_lines();
        let at = |start: usize, end: usize| json!([before + start, before + end]);
        assert_eq!(
            tagged[1],
            json!({
                "tokens": ["Ann", "left"],
                "labels": ["B-PER", "O"],
                "spans": [{
                    "start": before, "end": before + 3, "text": "Ann",
                    "token_start": 0, "token_end": 1, "type": "PER"
                }],
                "offsets": [at(0, 3), at(5, 9)],
                "text": "Ann  left",
                "offset": at(0, 9)
            }),
            "{options}"
        );
    }
}

#[test]
fn text_is_marked_up_inline() {
    let tagged = ner_model().run_with_stdin("tag m --output inline", TEXT).success();
    assert_eq!(tagged, "[PER Ann Lee] left [LOC Rome].\n");
}

#[test]
fn columns_become_every_other_format() {
    let dir = ner_model();
    dir.write("a.conll", "Ann NNP O\nleft VBD O\n");
    for (output, expected) in [
        ("inline", "[PER Ann] left\n"),
        (
            "jsonl",
            "{\"tokens\":[\"Ann\",\"left\"],\"labels\":[\"B-PER\",\"O\"],\
             \"spans\":[{\"token_start\":0,\"token_end\":1,\"type\":\"PER\"}]}\n",
        ),
        (
            "conllu",
            "1\tAnn\t_\t_\t_\t_\t_\t_\t_\tlabel=B-PER\n2\tleft\t_\t_\t_\t_\t_\t_\t_\tlabel=O\n\n",
        ),
    ] {
        let tagged = dir.run(&format!("tag m a.conll --output {output}"));
        assert_eq!(tagged.success(), expected, "--output {output}");
    }
}

#[test]
fn json_becomes_columns() {
    let line = r#"{"tokens": ["Ann", "left"], "pos": ["NNP", "VBD"]}"#;
    let tagged = ner_model().run_with_stdin("tag m --format jsonl --output conll", line).success();
    assert_eq!(tagged, "Ann\tNNP\tB-PER\nleft\tVBD\tO\n\n");
}

#[test]
fn parts_of_speech_have_no_spans() {
    let tagged = pos_model().run_with_stdin("tag m --output jsonl", "Ann left").json();
    assert_eq!(tagged["labels"], json!(["NNP", "VBD"]));
    assert!(tagged.get("spans").is_none());
}

#[test]
fn no_input_gives_no_output() {
    let dir = ner_model();
    for format in ["text", "conll", "conllu", "crfsuite", "jsonl"] {
        let tagged = dir.run(&format!("tag m --format {format}"));
        assert_eq!(tagged.success(), "", "--format {format}");
    }
}

// Options

#[test]
fn marginals_are_the_probabilities_of_all_labels_best_first() {
    let tagged = ner_model().run_with_stdin("tag m --output jsonl --marginals", "Ann left").json();
    for (t, token) in tagged["marginals"].as_array().unwrap().iter().enumerate() {
        let token = token.as_object().unwrap();
        let probabilities: Vec<f64> = token.values().map(|p| p.as_f64().unwrap()).collect();
        assert_eq!(probabilities.len(), 5);
        assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(probabilities.is_sorted_by(|a, b| a >= b));
        assert_eq!(token.keys().next().unwrap(), &tagged["labels"][t]);
    }
    let probability = tagged["probability"].as_f64().unwrap();
    assert!(0.5 < probability && probability < 1.0, "{probability}");
}

#[test]
fn marginals_are_an_additional_column() {
    let tagged = ner_model().run_with_stdin("tag m --marginals", "Ann left").success();
    let row: Vec<&str> = tagged.lines().next().unwrap().split('\t').collect();
    assert_eq!(row[..2], ["Ann", "B-PER"]);
    let probability: f64 = row[2].parse().unwrap();
    assert!(0.5 < probability && probability <= 1.0);
}

#[test]
fn candidates_are_distinct_and_best_first() {
    let dir = ner_model();
    let tagged = dir.run_with_stdin("tag m --output jsonl --nbest 5", "Ann left").json();
    let candidates = tagged["nbest"].as_array().unwrap();
    assert_eq!(candidates.len(), 5);
    assert_eq!(candidates[0]["labels"], tagged["labels"]);
    assert_eq!(candidates[0]["probability"], tagged["probability"]);
    for pair in candidates.windows(2) {
        assert!(pair[0]["score"].as_f64() >= pair[1]["score"].as_f64());
        assert_ne!(pair[0]["labels"], pair[1]["labels"]);
    }
}

#[test]
fn there_are_no_more_candidates_than_label_sequences() {
    let dir = ner_model();
    let tag = "tag m --output jsonl --nbest 1000";
    let free = dir.run_with_stdin(&format!("{tag} --constrain off"), "Ann left").json();
    assert_eq!(free["nbest"].as_array().unwrap().len(), 25);
    // A sequence starts with one of 3 labels; I-X follows only B-X or I-X.
    let legal = dir.run_with_stdin(tag, "Ann left").json();
    assert_eq!(legal["nbest"].as_array().unwrap().len(), 3 * 3 + 2);
}

#[test]
fn candidates_are_blocks_of_columns() {
    let tagged = ner_model().run_with_stdin("tag m --nbest 2", "Ann").success();
    let lines: Vec<&str> = tagged.lines().collect();
    assert!(lines[0].starts_with("# n=0 score="), "{tagged}");
    assert_eq!(lines[1], "Ann\tB-PER");
    assert_eq!(lines[2], "");
    assert!(lines[3].starts_with("# n=1 score="), "{tagged}");
    assert_eq!(lines.len(), 6);
}

#[test]
fn predictions_are_valid_unless_constraints_are_off() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS), ("word.tpl", "word\n")]);
    let train = "train train.conll --template word.tpl --order 0 --boundary off --l2 0.01 \
                 --model m --quiet";
    dir.run(train).success();
    let free = dir.run_with_stdin("tag m --constrain off", "Lee").success();
    assert_eq!(free, "Lee\tI-PER\n\n");
    let legal = dir.run_with_stdin("tag m", "Lee").success();
    assert!(!legal.contains("I-"), "{legal}");
}

#[test]
fn labels_without_spans_cannot_be_converted() {
    let dir = pos_model();
    let message = dir.run_with_stdin("tag m --scheme bioes", TEXT).failure();
    assert!(message.starts_with("--scheme bioes: "), "{message}");
    let raw = dir.run_with_stdin("tag m --scheme raw", TEXT).success();
    assert_eq!(raw, dir.run_with_stdin("tag m", TEXT).success());
}

#[test]
fn labels_are_output_in_the_requested_scheme() {
    let dir = TestDir::with_model(NER_CORPUS, "--template ner --scheme bioes");
    for (scheme, expected) in [
        ("raw", "B-PER E-PER O S-LOC O"),
        ("io", "I-PER I-PER O I-LOC O"),
        ("iob1", "I-PER I-PER O I-LOC O"),
        ("iob2", "B-PER I-PER O B-LOC O"),
        ("bioes", "B-PER E-PER O S-LOC O"),
    ] {
        let tagged = dir.run_with_stdin(&format!("tag m --output jsonl --scheme {scheme}"), TEXT);
        let labels: Vec<&str> = expected.split(' ').collect();
        assert_eq!(tagged.json()["labels"], json!(labels), "--scheme {scheme}");
    }
}

#[test]
fn marginals_are_those_of_the_output_labels() {
    for scheme in ["raw", "iob2", "bioes"] {
        let dir = TestDir::with_model(NER_CORPUS, "--template ner --scheme bioes");
        let tagged =
            dir.run_with_stdin(&format!("tag m --marginals --scheme {scheme}"), TEXT).success();
        for row in tagged.lines().filter(|line| !line.is_empty()) {
            let probability: f64 = row.rsplit('\t').next().unwrap().parse().unwrap();
            assert!(probability > 0.5, "--scheme {scheme}: {row}");
        }
    }
}

#[test]
fn marginals_sum_to_1_in_every_scheme() {
    let dir = TestDir::with_model(NER_CORPUS, "--template ner --scheme bioes");
    for scheme in ["raw", "io", "iob1", "iob2", "bioes"] {
        let tag = format!("tag m --output jsonl --marginals --scheme {scheme}");
        let tagged = dir.run_with_stdin(&tag, TEXT).json();
        for (t, token) in tagged["marginals"].as_array().unwrap().iter().enumerate() {
            let token = token.as_object().unwrap();
            let sum: f64 = token.values().map(|p| p.as_f64().unwrap()).sum();
            assert!((sum - 1.0).abs() < 1e-9, "--scheme {scheme}: {sum}");
            let best = token.keys().next().unwrap();
            assert_eq!(best, &tagged["labels"][t], "--scheme {scheme}");
        }
    }
}

#[test]
fn a_gzip_file_is_tagged_in_the_format_of_its_name() {
    let dir = ner_model();
    dir.write("a.conll.gz", gzip("Ann NNP O\nleft VBD O\n"));
    let tagged = dir.run("tag m a.conll.gz").success();
    assert_eq!(tagged, "Ann NNP O B-PER\nleft VBD O O\n\n");
}
