//! `train`: all input formats and options, checked with `eval` and `inspect`.

use serde_json::{Value, json};

use crate::support::{NER_CORPUS, POS_CORPUS, TestDir, gzip, sample_corpus};

/// Returns the first sentences of the sample corpus.
fn first_sentences(count: usize) -> String {
    let corpus = sample_corpus("train");
    let mut sentences: Vec<&str> = corpus.split("\n\n").collect();
    sentences.truncate(count);
    sentences.join("\n\n") + "\n"
}

/// Trains on [`NER_CORPUS`] with `options` and returns the output of `inspect --json`.
fn inspected(options: &str) -> Value {
    TestDir::with_model(NER_CORPUS, &format!("--template minimal {options}")).inspect("")
}

fn labels(inspected: &Value) -> Vec<&str> {
    let labels = inspected["labels"].as_object().unwrap();
    labels.keys().map(String::as_str).collect()
}

/// Returns the weights of all node attributes of the model `m`.
fn weights(dir: &TestDir) -> Vec<f64> {
    let inspected = dir.inspect("--top 1000");
    let labels = inspected["labels"].as_object().unwrap().values();
    let attributes = labels.flat_map(|label| label["attributes"].as_array().unwrap());
    attributes.map(|a| a["weight"].as_f64().unwrap()).collect()
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

// Input formats

#[test]
fn conll_training_data_is_memorized() {
    let dir = TestDir::with_model(NER_CORPUS, "--template ner");
    let evaluated = dir.run("eval m train.conll").success();
    assert_eq!(
        evaluated,
        "processed 19 tokens with 6 phrases; found: 6 phrases; correct: 6.\n\
         accuracy: 100.00%; precision: 100.00%; recall: 100.00%; FB1: 100.00\n\
         \x20             LOC: precision: 100.00%; recall: 100.00%; FB1: 100.00  3\n\
         \x20             PER: precision: 100.00%; recall: 100.00%; FB1: 100.00  3\n"
    );
}

#[test]
fn conllu_training_data_is_memorized() {
    let dir = TestDir::new(&[("train.conllu", CONLLU)]);
    let train = "train train.conllu --template pos --model m --l2 0.01 --quiet";
    dir.run(train).success();
    let evaluated = dir.run("eval m train.conllu").success();
    assert_eq!(evaluated, "accuracy: 100.00%  (5 of 5 tokens)\n");
}

#[test]
fn the_label_column_of_conllu_is_chosen_by_name_and_index() {
    let dir = TestDir::new(&[("train.conllu", CONLLU)]);
    for (label, expected) in [("xpos", "NNS"), ("4", "NNS"), ("upos", "NOUN")] {
        let train = format!("train train.conllu --label {label} --template pos --model m --quiet");
        dir.run(&train).success();
        let inspected = dir.inspect("");
        assert_eq!(labels(&inspected)[0], expected, "--label {label}");
    }
}

#[test]
fn crfsuite_training_data_is_memorized_without_a_template() {
    let dir = TestDir::new(&[("train.crfsuite", CRFSUITE)]);
    let train = "train train.crfsuite --model m --l2 0.01 --quiet";
    dir.run(train).success();
    let evaluated = dir.run("eval m train.crfsuite --json").json();
    assert_eq!(evaluated["f1"], 1.0);
    let inspected = dir.inspect("");
    assert_eq!(inspected["template"], Value::Null);
    let attributes = &inspected["labels"]["O"]["attributes"];
    let names = attributes.as_array().unwrap().iter();
    assert!(names.into_iter().any(|a| a["attribute"] == "time=10:30"));
}

#[test]
fn json_training_data_is_memorized_with_its_own_columns() {
    let dir = TestDir::new(&[("train.jsonl", JSONL), ("pos.tpl", "word\ncolumn(\"pos\")\n")]);
    let train = "train train.jsonl --template pos.tpl --model m --l2 0.01 --quiet";
    dir.run(train).success();
    let evaluated = dir.run("eval m train.jsonl --json").json();
    assert_eq!(evaluated["f1"], 1.0);
}

#[test]
fn a_gzip_file_trains_the_same_weights() {
    let plain = TestDir::with_model(NER_CORPUS, "--template ner");
    let gzipped = TestDir::new(&[]);
    gzipped.write("train.conll.gz", gzip(NER_CORPUS));
    let train = "train train.conll.gz --template ner --model m --l2 0.01 --quiet";
    gzipped.run(train).success();
    assert_eq!(weights(&gzipped), weights(&plain));
}

#[test]
fn several_files_are_one_corpus() {
    let (first, rest) = NER_CORPUS.split_once("\n\n").unwrap();
    let dir = TestDir::new(&[("a.conll", first), ("b.conll", rest)]);
    let train = "train a.conll b.conll --template ner --model m --l2 0.01 --quiet";
    dir.run(train).success();
    let inspected = dir.inspect("");
    assert_eq!(inspected["files"], json!(["a.conll", "b.conll"]));
    assert_eq!(inspected["sentences"], 3);
    let whole = TestDir::with_model(NER_CORPUS, "--template ner");
    assert_eq!(weights(&dir), weights(&whole));
}

#[test]
fn a_dash_is_standard_input() {
    let dir = TestDir::new(&[]);
    let train = "train - --template ner --model m --l2 0.01 --quiet";
    dir.run_with_stdin(train, NER_CORPUS).success();
    assert_eq!(weights(&dir), weights(&TestDir::with_model(NER_CORPUS, "--template ner")));
}

#[test]
fn the_format_can_be_specified() {
    let dir = TestDir::new(&[("train", CONLLU)]);
    let train = "train train --format conllu --template pos --model m --quiet";
    dir.run(train).success();
    let evaluated = dir.run("eval m train --format conllu --json").json();
    assert_eq!(evaluated["tokens"], 5);
}

#[test]
fn comment_lines_are_skipped_on_request() {
    let commented = format!("# the first file\n{NER_CORPUS}");
    let dir = TestDir::with_model(&commented, "--template ner --comments");
    let inspected = dir.inspect("");
    assert_eq!(inspected["tokens"], 19);
}

#[test]
fn document_boundaries_are_skipped() {
    let corpus = format!("-DOCSTART- -X- O\n\n{NER_CORPUS}");
    let dir = TestDir::with_model(&corpus, "--template ner");
    let inspected = dir.inspect("");
    assert_eq!(inspected["tokens"], 19);
}

// Columns and labels

#[test]
fn named_columns_are_available_to_the_template() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS), ("my.tpl", "word\ntag & word[-1]\n")]);
    let train = "train train.conll --columns word,tag,ner --template my.tpl --model m --quiet";
    dir.run(train).success();
    let inspected = dir.inspect("");
    assert_eq!(inspected["columns"], json!(["word", "tag", "ner"]));
}

#[test]
fn the_label_column_is_chosen_by_name_and_index() {
    for label in ["tag", "1", "-2"] {
        let inspected = inspected(&format!("--columns word,tag,ner --label {label}"));
        assert_eq!(labels(&inspected), ["NNP", "VBD", ".", "DT", "NN", "IN"], "--label {label}");
    }
}

#[test]
fn rare_attributes_are_ignored() {
    let all = inspected("")["node_attributes"].as_u64().unwrap();
    let frequent = inspected("--min-count 2")["node_attributes"].as_u64().unwrap();
    assert!(0 < frequent && frequent < all, "{frequent} of {all}");
}

// Schemes

#[test]
fn each_scheme_trains_its_own_labels() {
    for (scheme, expected) in [
        ("raw", &["B-PER", "I-PER", "O", "B-LOC", "I-LOC"][..]),
        ("io", &["I-PER", "O", "I-LOC"]),
        ("iob1", &["I-PER", "O", "I-LOC"]),
        ("iob2", &["B-PER", "I-PER", "O", "B-LOC", "I-LOC"]),
        ("bioes", &["B-PER", "E-PER", "O", "S-LOC", "S-PER", "B-LOC", "E-LOC"]),
    ] {
        let inspected = inspected(&format!("--scheme {scheme}"));
        assert_eq!(labels(&inspected), expected, "--scheme {scheme}");
        assert_eq!(inspected["corpus_scheme"], "iob2", "--scheme {scheme}");
    }
}

#[test]
fn predictions_are_in_the_scheme_of_the_corpus() {
    for scheme in ["raw", "io", "iob1", "iob2", "bioes"] {
        let options = format!("--template ner --scheme {scheme}");
        let dir = TestDir::with_model(NER_CORPUS, &options);
        let tagged = dir.run("tag m train.conll").success();
        let expected: String = NER_CORPUS
            .lines()
            .map(|line| match line.rsplit_once(' ') {
                Some((_, label)) => format!("{line} {label}\n"),
                None => "\n".to_owned(),
            })
            .collect();
        assert_eq!(tagged, expected + "\n", "--scheme {scheme}");
        let evaluated = dir.run("eval m train.conll --json").json();
        assert_eq!(evaluated["f1"], 1.0, "--scheme {scheme}");
    }
}

// Model structure

#[test]
fn a_model_of_order_0_has_no_transitions() {
    let inspected = inspected("--order 0");
    for (label, weights) in inspected["labels"].as_object().unwrap() {
        let transitions = weights["transitions"].as_object().unwrap().values();
        assert!(transitions.into_iter().all(|w| w == 0.0), "{label}: {weights}");
    }
    assert_eq!(inspected["options"]["order"], "0");
}

#[test]
fn a_model_of_order_1_has_transitions() {
    let transitions = &inspected("--order 1")["labels"]["B-PER"]["transitions"];
    assert!(transitions["I-PER"].as_f64().unwrap() > 0.0);
    assert!(transitions["I-LOC"].as_f64().unwrap() < 0.0);
}

#[test]
fn boundary_weights_exist_unless_switched_off() {
    let start = |inspected: &Value| inspected["labels"]["O"]["start"].as_f64().unwrap();
    assert_ne!(start(&inspected("")), 0.0);
    assert_ne!(start(&inspected("--boundary on")), 0.0);
    assert_eq!(start(&inspected("--boundary off")), 0.0);
}

#[test]
fn observed_states_have_fewer_weights() {
    let weights = |options: &str| {
        let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
        dir.run(&format!(
            "train train.conll --template minimal --model m --log log.jsonl --quiet {options}"
        ))
        .success();
        dir.json_lines("log.jsonl")[0]["weights"].as_u64().unwrap()
    };
    let [all, default, observed] = ["--states all", "", "--states observed"].map(weights);
    assert_eq!(default, all);
    assert!(0 < observed && observed < all, "{observed} of {all}");
}

#[test]
fn transitions_are_observed_or_all_apart_from_states() {
    let pairs = |options: &str| {
        let inspected = inspected(options);
        let labels = inspected["labels"].as_object().unwrap();
        let transitions = labels.values().flat_map(|label| {
            let transitions = label["transitions"].as_object().unwrap();
            transitions.values().map(|weight| weight.as_f64().unwrap())
        });
        transitions.filter(|&weight| weight != 0.0).count()
    };
    let (all, observed) = (pairs(""), pairs("--states observed"));
    assert_eq!(all, 25);
    assert!(observed < 15, "{observed}");
    assert_eq!(pairs("--states observed --transitions all"), all);
    assert_eq!(pairs("--transitions observed"), observed);
}

#[test]
fn attributes_of_label_pairs_come_with_crfsuites_format() {
    let text = "X\ta\nY\tb\tedge:same\nX\ta\tedge:other:0.5\n\nY\tb\nX\ta\tedge:same\n\n";
    let dir = TestDir::new(&[("train.crfsuite", text)]);
    let train = "train train.crfsuite --model m --quiet";
    dir.run(train).success();
    let inspected = dir.inspect("");
    assert_eq!(inspected["edge_attributes"], 2);
    let tagged = dir.run("tag m train.crfsuite").success();
    assert_eq!(tagged, "X\tX\nY\tY\nX\tX\n\nY\tY\nX\tX\n\n");
}

#[test]
fn the_tolerance_of_lbfgs_has_an_effect() {
    let end = |options: &str| {
        let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
        let train = "train train.conll --template minimal --model m --dropout 0 --quiet";
        dir.run(&format!("{train} --log log.jsonl {options}")).success();
        let log = dir.json_lines("log.jsonl");
        let last = log.iter().rev().find(|line| line["event"] == "iteration");
        last.unwrap().clone()
    };
    let default = end("");
    let differs = |options: &str| {
        let changed = end(options);
        ["iteration", "evaluations", "objective"]
            .iter()
            .any(|field| changed[field] != default[field])
    };
    for options in ["--epsilon 1", "--epsilon 1e-9"] {
        assert!(differs(options), "{options}");
    }
    assert!(!differs("--epsilon 1e-5"));
}

#[test]
fn l1_leaves_fewer_weights() {
    let [dense, sparse] = ["", "--l1 0.5"].map(|options| {
        let dir = TestDir::with_model(NER_CORPUS, &format!("--template ner {options}"));
        assert_eq!(dir.run("eval m train.conll --json").json()["tokens"], 19);
        let inspected = dir.inspect("");
        inspected["weights"].as_u64().unwrap()
    });
    assert!(0 < sparse && 4 * sparse < dense, "{sparse} of {dense}");
}

#[test]
fn double_precision_makes_a_larger_model_with_the_same_weights() {
    let single = TestDir::with_model(NER_CORPUS, "--template ner --precision f32");
    let double = TestDir::with_model(NER_CORPUS, "--template ner --precision f64");
    assert!(double.bytes("m").len() > single.bytes("m").len());
    // The order of equal weights may differ.
    let sorted = |dir| {
        let mut weights = weights(dir);
        weights.sort_by(f64::total_cmp);
        weights
    };
    let (single, double) = (sorted(&single), sorted(&double));
    assert_eq!(single.len(), double.len());
    for (x, y) in single.iter().zip(&double) {
        assert!((x - y).abs() < 1e-6, "{x} and {y}");
    }
}

#[test]
fn training_stops_after_the_maximum_number_of_iterations() {
    let dir = TestDir::with_model(NER_CORPUS, "--template ner --max-iterations 3 --log log.jsonl");
    let log = dir.json_lines("log.jsonl");
    let end = log.last().unwrap();
    assert_eq!(end["stop_reason"], "max_iterations");
    assert_eq!(end["iterations"], 3);
}

#[test]
fn training_stops_when_patience_runs_out_and_keeps_the_best_model() {
    let dir = TestDir::new(&[
        ("train.conll", &first_sentences(60)),
        ("dev.conll", &sample_corpus("dev")),
    ]);
    let train = "train train.conll --dev dev.conll --template ner --l2 0.01 --patience 2 \
                 --model m --log log.jsonl --quiet";
    dir.run(train).success();
    let log = dir.json_lines("log.jsonl");
    let end = log.last().unwrap();
    assert_eq!(end["stop_reason"], "patience");
    let best = end["best_iteration"].as_u64().unwrap();
    assert_eq!(end["iterations"].as_u64().unwrap(), best + 2);
    let of_best =
        log.iter().find(|line| line["event"] == "iteration" && line["iteration"] == best).unwrap();
    let evaluated = dir.run("eval m dev.conll --json").json();
    let [logged, evaluated] = [&of_best["dev_f1"], &evaluated["f1"]].map(|v| v.as_f64().unwrap());
    assert!((logged - evaluated).abs() < 1e-9, "{logged}, {evaluated}");
}

// Templates

#[test]
fn every_built_in_template_trains() {
    for name in ["minimal", "pos", "ner", "ner-finkel", "ner-finkel-edges", "pos-sancl", "chunk"] {
        let dir = TestDir::with_model(NER_CORPUS, &format!("--template {name}"));
        assert_eq!(dir.run("eval m train.conll --json").json()["accuracy"], 1.0, "{name}");
    }
}

#[test]
fn a_file_takes_precedence_over_a_built_in_template() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS), ("ner", "word\n")]);
    dir.run("train train.conll --template ner --model m --quiet").success();
    let inspected = dir.inspect("");
    assert_eq!(inspected["template"], "word\n");
}

#[test]
fn a_directory_does_not_take_precedence_over_a_built_in_template() {
    let dir = TestDir::new(&[("train.conll", POS_CORPUS)]);
    std::fs::create_dir(dir.path("minimal")).unwrap();
    dir.run("train train.conll --template minimal --model m --quiet").success();
}

#[test]
fn crfpp_templates_are_read_unchanged() {
    let template = "# Unigram\nU00:%x[-1,0]\nU01:%x[0,0]\nU02:%x[0,0]/%x[0,1]\n\n# Bigram\nB\n";
    let dir = TestDir::new(&[("train.conll", NER_CORPUS), ("template", template)]);
    dir.run("train train.conll --template template --model m --l2 0.01 --quiet").success();
    let inspected = dir.inspect("--top 1000");
    let attributes = inspected["labels"]["B-LOC"]["attributes"].as_array().unwrap();
    assert!(attributes.iter().any(|a| a["attribute"] == "U02:Rome/NNP"));
    assert_eq!(dir.run("eval m train.conll --json").json()["f1"], 1.0);
}

#[test]
fn wapiti_templates_are_read_unchanged() {
    let template = "\
# words
u:w-1=%x[-1,0]
*:w0=%X[0,0]
u:suffix=%m[0,0,\".?.?$\"]
u:upper=%t[0,0,\"^\\u\"]
b
";
    let dir = TestDir::new(&[("train.conll", NER_CORPUS), ("wapiti.pat", template)]);
    dir.run("train train.conll --template wapiti.pat --model m --l2 0.01 --quiet").success();
    let inspected = dir.inspect("");
    assert!(inspected["edge_attributes"].as_u64().unwrap() > 0);
    assert_eq!(dir.run("eval m train.conll --json").json()["f1"], 1.0);
}

#[test]
fn edge_attributes_are_printed_with_both_labels() {
    let dir = TestDir::with_model(NER_CORPUS, "--template ner-finkel-edges");
    let inspected = dir.inspect("");
    let edge = &inspected["edges"][0];
    for key in ["from", "to", "attribute", "weight"] {
        assert!(!edge[key].is_null(), "{key} in {edge}");
    }
    let text = dir.run("inspect m").success();
    assert!(text.contains("\nstrongest edge attributes\n"), "{text}");
}

#[test]
fn labels_without_spans_are_scored_by_accuracy_during_training() {
    let dir = TestDir::new(&[("train.conll", POS_CORPUS)]);
    let train = "train train.conll --dev train.conll --template pos --model m --log log.jsonl";
    let notices = dir.run(train).stderr;
    assert!(notices.contains("dev accuracy "), "{notices}");
    let log = dir.json_lines("log.jsonl");
    assert!(log[1]["dev_accuracy"].is_f64() && log[1].get("dev_f1").is_none());
}
