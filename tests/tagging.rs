//! `tag` from every input format to every output format, with its options.

use serde_json::json;

use crate::support::{Folder, NAMES, WORDS};

fn names() -> Folder {
    Folder::trained(NAMES, "--template ner")
}

fn words() -> Folder {
    Folder::trained(WORDS, "--template pos")
}

const TEXT: &str = "Ann Lee left Rome.\n";

// Input formats, each with its own output format

#[test]
fn text_comes_back_as_words_with_labels() {
    let tagged = names().run_with("tag m", TEXT).succeeded();
    assert_eq!(
        tagged,
        "Ann\tB-PER\nLee\tI-PER\nleft\tO\nRome\tB-LOC\n.\tO\n\n"
    );
}

#[test]
fn a_dash_is_standard_input() {
    let folder = names();
    let tagged = folder.run_with("tag m -", TEXT).succeeded();
    assert_eq!(tagged, folder.run_with("tag m", TEXT).succeeded());
}

#[test]
fn text_files_are_tagged_one_after_the_other() {
    let folder = names();
    folder.write("a.txt", "Rome closed.");
    folder.write("b.txt", "Bob left.");
    let tagged = folder.run("tag m a.txt b.txt --output inline").succeeded();
    assert_eq!(tagged, "[LOC Rome] closed.\n[PER Bob] left.\n");
}

#[test]
fn columns_come_back_with_the_label_as_one_more() {
    let folder = names();
    folder.write(
        "labeled.conll",
        "Ann NNP O\nleft VBD O\nRome NNP O\n\nBob NNP O\n",
    );
    let tagged = folder.run("tag m labeled.conll").succeeded();
    assert_eq!(
        tagged,
        "Ann NNP O B-PER\nleft VBD O O\nRome NNP O B-LOC\n\nBob NNP O B-PER\n\n"
    );
}

#[test]
fn columns_may_lack_the_label() {
    let folder = names();
    folder.write("unlabeled.conll", "Ann\tNNP\nleft\tVBD\n");
    let tagged = folder.run("tag m unlabeled.conll").succeeded();
    assert_eq!(tagged, "Ann\tNNP\tB-PER\nleft\tVBD\tO\n\n");
}

#[test]
fn other_columns_than_those_of_training_can_be_named() {
    let folder = names();
    folder.write("other.conll", "1 Ann\n2 left\n");
    for columns in ["n,word", "n,word,ner"] {
        let tag = format!("tag m other.conll --columns {columns}");
        assert_eq!(
            folder.run(&tag).succeeded(),
            "1 Ann B-PER\n2 left O\n\n",
            "{columns}"
        );
    }
}

#[test]
fn comments_come_back_where_asked_for() {
    let folder = names();
    folder.write("a.conll", "# id 1\nAnn NNP O\n\n");
    let tagged = folder.run("tag m a.conll --comments").succeeded();
    assert_eq!(tagged, "# id 1\nAnn NNP O B-PER\n\n");
}

#[test]
fn document_boundaries_come_back() {
    let folder = names();
    folder.write("a.conll", "-DOCSTART- -X- O\n\nAnn NNP O\n\n");
    let tagged = folder.run("tag m a.conll").succeeded();
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
fn conllu_comes_back_with_its_label_column_replaced() {
    let folder = Folder::new(&[]);
    folder.write("train.conllu", CONLLU.replace("\tX\t", "\tY\t"));
    let train = "train train.conllu --template pos --model m --quiet";
    folder.run(train).succeeded();
    folder.write("a.conllu", CONLLU);
    let tagged = folder.run("tag m a.conllu").succeeded();
    assert_eq!(tagged, CONLLU.replace("\tX\t", "\tY\t"));
}

#[test]
fn conllu_keeps_a_label_that_has_no_column_as_a_key_of_the_last() {
    let folder = Folder::trained(NAMES, "--template ner --columns word,pos,ner");
    folder.write("a.conllu", CONLLU);
    let tagged = folder.run("tag m a.conllu").succeeded();
    let expected = CONLLU
        .replace("1\tdep\t_\t_\n", "1\tdep\t_\tner=B-LOC\n")
        .replace("SpaceAfter=No", "SpaceAfter=No|ner=O")
        .replace("root\t_\t_", "root\t_\tner=B-PER");
    assert_eq!(tagged, expected);
}

#[test]
fn json_lines_come_back_with_their_other_keys() {
    let line =
        r#"{"id": 7, "tokens": ["Ann", "Lee"], "labels": ["O", "O"], "source": {"a": 1.50}}"#;
    let tagged = names().run_with("tag m --format jsonl", line).succeeded();
    assert_eq!(
        tagged,
        "{\"id\":7,\"source\":{\"a\": 1.50},\"tokens\":[\"Ann\",\"Lee\"],\
         \"labels\":[\"B-PER\",\"I-PER\"],\"spans\":[{\"start\":0,\"end\":2,\"type\":\"PER\"}]}\n"
    );
}

#[test]
fn json_lines_with_a_text_are_cut_and_tagged() {
    let line = r#"{"id": 8, "text": "Ann left. Bob left."}"#;
    let tagged = names().run_with("tag m --format jsonl", line).json_lines();
    assert_eq!(tagged.len(), 2);
    assert_eq!(tagged[1]["id"], 8);
    assert_eq!(
        tagged[1]["spans"],
        json!([{"start": 0, "end": 1, "type": "PER", "text": "Bob"}])
    );
    assert_eq!(tagged[1]["offsets"][0]["chars"], json!([10, 13]));
}

#[test]
fn crfsuite_attributes_are_tagged() {
    let attributes = "B\tw=a\tn:0.5\n\nO\tw=b\n\n";
    let folder = Folder::new(&[("train.crfsuite", attributes)]);
    let train = "train train.crfsuite --model m --l2 0.01 --quiet";
    folder.run(train).succeeded();
    folder.write("new.crfsuite", "_\tw=b\tunknown\n\n_\tw=a\tn:0.5\n");
    let tagged = folder.run("tag m new.crfsuite").succeeded();
    assert_eq!(tagged, "_\tO\n\n_\tB\n\n");
}

#[test]
fn a_model_of_words_tags_any_format_with_words() {
    let folder = words();
    folder.write("a.conllu", CONLLU);
    let line = r#"{"tokens": ["Ann", "left", "Rome"]}"#;
    folder.write("a.jsonl", line);
    folder.write("a.conll", "Ann -\nleft -\nRome -\n");
    folder.write("a.txt", "Ann left Rome\n");
    for file in ["a.conllu", "a.jsonl", "a.conll", "a.txt"] {
        let tagged = folder.run(&format!("tag m {file} --output inline"));
        assert_eq!(tagged.succeeded(), "Ann/NNP left/VBD Rome/NNP\n", "{file}");
    }
}

// Output formats

#[test]
fn text_becomes_conllu() {
    let tagged = Folder::trained(WORDS, "--template pos --columns form,xpos")
        .run_with("tag m --output conllu", "Ann left Rome.")
        .succeeded();
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
    let tagged = names()
        .run_with("tag m --output jsonl", "  Ann  left ")
        .json();
    assert_eq!(
        tagged,
        json!({
            "tokens": ["Ann", "left"],
            "labels": ["B-PER", "O"],
            "spans": [{"start": 0, "end": 1, "type": "PER", "text": "Ann"}],
            "offsets": [
                {"bytes": [2, 5], "chars": [2, 5]},
                {"bytes": [7, 11], "chars": [7, 11]}
            ],
            "text": "  Ann  left "
        })
    );
}

#[test]
fn text_is_marked_in_place() {
    let tagged = names().run_with("tag m --output inline", TEXT).succeeded();
    assert_eq!(tagged, "[PER Ann Lee] left [LOC Rome].\n");
}

#[test]
fn columns_become_every_other_format() {
    let folder = names();
    folder.write("a.conll", "Ann NNP O\nleft VBD O\n");
    for (output, expected) in [
        ("inline", "[PER Ann] left\n"),
        (
            "jsonl",
            "{\"tokens\":[\"Ann\",\"left\"],\"labels\":[\"B-PER\",\"O\"],\
             \"spans\":[{\"start\":0,\"end\":1,\"type\":\"PER\"}]}\n",
        ),
        (
            "conllu",
            "1\tAnn\t_\t_\t_\t_\t_\t_\t_\tlabel=B-PER\n2\tleft\t_\t_\t_\t_\t_\t_\t_\tlabel=O\n\n",
        ),
    ] {
        let tagged = folder.run(&format!("tag m a.conll --output {output}"));
        assert_eq!(tagged.succeeded(), expected, "--output {output}");
    }
}

#[test]
fn json_becomes_columns() {
    let line = r#"{"tokens": ["Ann", "left"], "pos": ["NNP", "VBD"]}"#;
    let tagged = names()
        .run_with("tag m --format jsonl --output conll", line)
        .succeeded();
    assert_eq!(tagged, "Ann\tNNP\tB-PER\nleft\tVBD\tO\n\n");
}

#[test]
fn parts_of_speech_have_no_spans() {
    let tagged = words().run_with("tag m --output jsonl", "Ann left").json();
    assert_eq!(tagged["labels"], json!(["NNP", "VBD"]));
    assert!(tagged.get("spans").is_none());
}

#[test]
fn no_input_gives_no_output() {
    let folder = names();
    for format in ["text", "conll", "conllu", "crfsuite", "jsonl"] {
        let tagged = folder.run(&format!("tag m --format {format}"));
        assert_eq!(tagged.succeeded(), "", "--format {format}");
    }
}

// Marginals and candidates

#[test]
fn marginals_are_probabilities_of_all_labels_best_first() {
    let tagged = names()
        .run_with("tag m --output jsonl --marginals", "Ann left")
        .json();
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
fn marginals_are_a_further_column() {
    let tagged = names()
        .run_with("tag m --marginals", "Ann left")
        .succeeded();
    let row: Vec<&str> = tagged.lines().next().unwrap().split('\t').collect();
    assert_eq!(row[..2], ["Ann", "B-PER"]);
    let probability: f64 = row[2].parse().unwrap();
    assert!(0.5 < probability && probability <= 1.0);
}

#[test]
fn candidates_are_different_and_best_first() {
    let folder = names();
    let tagged = folder
        .run_with("tag m --output jsonl --nbest 5", "Ann left")
        .json();
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
    let folder = names();
    let tag = "tag m --output jsonl --nbest 1000";
    let free = folder
        .run_with(&format!("{tag} --constrain off"), "Ann left")
        .json();
    assert_eq!(free["nbest"].as_array().unwrap().len(), 25);
    // A sequence begins with one of 3 labels; I-X follows only B-X and I-X.
    let legal = folder.run_with(tag, "Ann left").json();
    assert_eq!(legal["nbest"].as_array().unwrap().len(), 3 * 3 + 2);
}

#[test]
fn candidates_are_blocks_of_columns() {
    let tagged = names().run_with("tag m --nbest 2", "Ann").succeeded();
    let lines: Vec<&str> = tagged.lines().collect();
    assert!(lines[0].starts_with("# n=0 score="), "{tagged}");
    assert_eq!(lines[1], "Ann\tB-PER");
    assert_eq!(lines[2], "");
    assert!(lines[3].starts_with("# n=1 score="), "{tagged}");
    assert_eq!(lines.len(), 6);
}

#[test]
fn predictions_are_legal_unless_constraints_are_off() {
    let folder = Folder::new(&[("train.conll", NAMES), ("word.tpl", "word\n")]);
    let train = "train train.conll --template word.tpl --order 0 --boundary off --l2 0.01 --model m --quiet";
    folder.run(train).succeeded();
    let free = folder.run_with("tag m --constrain off", "Lee").succeeded();
    assert_eq!(free, "Lee\tI-PER\n\n");
    let legal = folder.run_with("tag m", "Lee").succeeded();
    assert!(!legal.contains("I-"), "{legal}");
}

#[test]
fn labels_that_write_no_spans_have_no_other_scheme() {
    let folder = words();
    let message = folder.run_with("tag m --scheme bioes", TEXT).failed();
    assert!(message.starts_with("--scheme bioes: "), "{message}");
    let raw = folder.run_with("tag m --scheme raw", TEXT).succeeded();
    assert_eq!(raw, folder.run_with("tag m", TEXT).succeeded());
}

#[test]
fn labels_come_in_the_scheme_that_is_asked_for() {
    let folder = Folder::trained(NAMES, "--template ner --scheme bioes");
    for (scheme, expected) in [
        ("raw", "B-PER E-PER O S-LOC O"),
        ("io", "I-PER I-PER O I-LOC O"),
        ("iob1", "I-PER I-PER O I-LOC O"),
        ("iob2", "B-PER I-PER O B-LOC O"),
        ("bioes", "B-PER E-PER O S-LOC O"),
    ] {
        let tagged = folder.run_with(&format!("tag m --output jsonl --scheme {scheme}"), TEXT);
        let labels: Vec<&str> = expected.split(' ').collect();
        assert_eq!(tagged.json()["labels"], json!(labels), "--scheme {scheme}");
    }
}

#[test]
fn marginals_are_those_of_the_labels_that_are_shown() {
    for scheme in ["raw", "iob2", "bioes"] {
        let folder = Folder::trained(NAMES, "--template ner --scheme bioes");
        let tagged = folder
            .run_with(&format!("tag m --marginals --scheme {scheme}"), TEXT)
            .succeeded();
        for row in tagged.lines().filter(|line| !line.is_empty()) {
            let probability: f64 = row.rsplit('\t').next().unwrap().parse().unwrap();
            assert!(probability > 0.5, "--scheme {scheme}: {row}");
        }
    }
}

#[test]
fn marginals_sum_to_1_in_every_scheme() {
    let folder = Folder::trained(NAMES, "--template ner --scheme bioes");
    for scheme in ["raw", "io", "iob1", "iob2", "bioes"] {
        let tag = format!("tag m --output jsonl --marginals --scheme {scheme}");
        let tagged = folder.run_with(&tag, TEXT).json();
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
fn a_packed_file_is_tagged_as_what_its_name_says() {
    use std::io::Write;

    let folder = names();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(b"Ann NNP O\nleft VBD O\n").unwrap();
    folder.write("a.conll.gz", packed.finish().unwrap());
    let tagged = folder.run("tag m a.conll.gz").succeeded();
    assert_eq!(tagged, "Ann NNP O B-PER\nleft VBD O O\n\n");
}
