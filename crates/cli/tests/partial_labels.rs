//! Training on labels that are not fully known.

use std::fmt::Write;

use crate::support::{NER_CORPUS, TestDir, keys, sample_corpus};

const TRAIN: &str = "train train.conll --model m --quiet --template minimal";

/// Trains on columns and returns the error message.
fn error(text: &str, options: &str) -> String {
    let dir = TestDir::new(&[("train.conll", text)]);
    dir.run(&format!("{TRAIN} --partial-labels {options}")).failure()
}

/// Returns the labels of the model `m`.
fn labels(dir: &TestDir) -> Vec<String> {
    let tag = "tag m --format conll --columns word,1,label --output jsonl --marginals";
    let tagged = dir.run_with_stdin(tag, "Ann NNP O\n").json_lines();
    let labels = keys(&tagged[0]["marginals"][0]);
    labels.into_iter().map(str::to_owned).collect()
}

/// Hides the labels of the tokens for which `hide` holds, given their number and label.
fn hidden(corpus: &str, hide: impl Fn(usize, &str) -> bool) -> String {
    let mut text = String::new();
    for (i, line) in corpus.lines().enumerate() {
        let start = line.rfind([' ', '\t']).map_or(0, |i| i + 1);
        let (rest, label) = line.split_at(start);
        let label = if hide(i, label) && start > 0 { "_" } else { label };
        writeln!(text, "{rest}{label}").unwrap();
    }
    text
}

#[test]
fn the_examples_of_the_documentation_print_what_it_says() {
    let page = include_str!("../../../docs/partial-labels.md");
    let blocks: Vec<&str> = page.split("```").skip(1).step_by(2).collect();
    let corpus = blocks[0].strip_prefix("conll\n").unwrap();
    let dir = TestDir::new(&[("names.conll", corpus)]);
    let console = blocks[1..].iter().map(|block| block.strip_prefix("console\n").unwrap());
    let mut commands = 0;
    for entry in console.flat_map(|block| block.split("$ ").skip(1)) {
        let (command, output) = entry.split_once('\n').unwrap();
        match command.split_once(' ').unwrap() {
            ("cat", file) => dir.write(file, output),
            ("dropchain", arguments) => {
                let found = dir.run(arguments).success();
                assert_eq!(found.trim_end(), output.trim_end(), "{command}");
                commands += 1;
            }
            _ => panic!("{command}"),
        }
    }
    assert_eq!(commands, 4);
}

#[test]
fn a_model_learns_from_the_labels_that_are_known() {
    // Every second token of the sample corpus; its tokens are those of the complete corpus.
    let train = sample_corpus("train");
    let dir = TestDir::new(&[
        ("train.conll", &hidden(&train, |i, _| i % 2 == 0)),
        ("dev.conll", &sample_corpus("dev")),
    ]);
    let run = dir.run("train train.conll --model m --template ner --partial-labels --log log");
    let stderr = run.stderr.clone();
    run.success();
    let log = dir.json_lines("log");
    let (tokens, partial) = (&log[0]["tokens"], &log[0]["partial_tokens"]);
    assert!(
        stderr.contains(&format!("{tokens} tokens ({partial} with partial labels)")),
        "{stderr}"
    );
    let share = partial.as_f64().unwrap() / tokens.as_f64().unwrap();
    assert!((share - 0.5).abs() < 0.05, "{share}");
    assert!(!labels(&dir).contains(&"_".to_owned()));
    let score = dir.run("eval m dev.conll --json").json();
    assert!(score["f1"].as_f64().unwrap() > 0.4, "{score}");
}

#[test]
fn without_the_option_the_labels_are_ordinary_and_a_note_says_so() {
    let text = hidden(NER_CORPUS, |i, _| i == 2);
    let dir = TestDir::new(&[("train.conll", &text)]);
    let run = dir.run("train train.conll --model m --template minimal");
    let stderr = run.stderr.clone();
    run.success();
    assert!(stderr.contains("note: '_' is trained as a label like any other"), "{stderr}");
    assert!(labels(&dir).contains(&"_".to_owned()));
    let text = NER_CORPUS.replace("York NNP B-LOC", "York NNP B-LOC|B-PER");
    let dir = TestDir::new(&[("train.conll", &text)]);
    let run = dir.run("train train.conll --model m --template minimal");
    assert!(run.stderr.contains("note: 'B-LOC|B-PER' is trained"), "{run:?}");
    let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
    let run = dir.run("train train.conll --model m --template minimal --partial-labels");
    assert!(!run.stderr.contains("note:"), "{run:?}");
}

#[test]
fn fully_known_labels_give_the_same_model_with_the_option() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
    // The models record the option, but nothing else differs.
    let fingerprints = ["", "--partial-labels"].map(|option| {
        dir.run(&format!("{TRAIN} {option}")).success();
        dir.inspect("")["fingerprint"].as_str().unwrap().to_owned()
    });
    assert_eq!(fingerprints[0], fingerprints[1]);
}

#[test]
fn every_format_has_partial_labels_with_the_same_meaning() {
    let rows = [("Ann", "B-X|B-Y"), ("Lee", "_"), ("left", "O"), ("Bob", "B-X"), ("Rome", "B-Y")];
    let mut conll = String::new();
    let mut conllu = String::new();
    for (i, (word, label)) in rows.iter().enumerate() {
        writeln!(conll, "{word}\t{label}").unwrap();
        writeln!(conllu, "{}\t{word}\t_\t_\t{label}\t_\t_\t_\t_\t_", i + 1).unwrap();
    }
    let text = r#"{"tokens":["Ann","Lee","left","Bob","Rome"],"labels":"#;
    let strings = r#"["B-X|B-Y","_","O","B-X","B-Y"]}"#;
    let values = r#"[["B-Y","B-X"],null,"O",["B-X"],"B-Y"]}"#;
    let crfsuite: String =
        rows.iter().map(|(word, label)| format!("{label}\tword[0]={word}\n")).collect();
    let dir = TestDir::new(&[
        ("x.conll", &conll),
        ("x.conllu", &conllu),
        ("strings.jsonl", &format!("{text}{strings}\n")),
        ("values.jsonl", &format!("{text}{values}\n")),
        ("x.crfsuite", &crfsuite),
        ("word.tpl", "word\n"),
    ]);
    let objectives =
        ["x.conll", "x.conllu --label xpos", "strings.jsonl", "values.jsonl", "x.crfsuite"].map(
            |file| {
                let template = if file.contains("crfsuite") { "" } else { "--template word.tpl" };
                dir.run(&format!(
                    "train {file} {template} --model m --quiet --partial-labels --log log"
                ))
                .success();
                let log = dir.json_lines("log");
                assert_eq!(log[0]["partial_tokens"], 2, "{file}");
                assert_eq!(log[0]["labels"], 3, "{file}");
                log[4]["objective"].as_f64().unwrap()
            },
        );
    for objective in objectives {
        assert!((objective - objectives[0]).abs() < 1e-9, "{objectives:?}");
    }
}

#[test]
fn sentences_without_any_label_add_nothing_to_the_likelihood() {
    let unknown = hidden(NER_CORPUS, |_, _| true);
    let dir = TestDir::new(&[]);
    let likelihood = |text: &str| {
        dir.write("train.conll", text);
        dir.run(&format!(
            "{TRAIN} --partial-labels --dropout 0 --l2 0.1 --max-iterations 2 --log log"
        ))
        .success();
        dir.json_lines("log")[1]["log_likelihood"].as_f64().unwrap()
    };
    let alone = likelihood(NER_CORPUS);
    assert_eq!(likelihood(&format!("{NER_CORPUS}\n{unknown}")), alone);
}

#[test]
fn all_noise_and_model_options_work_with_partial_labels() {
    let text =
        hidden(NER_CORPUS, |i, _| i % 4 == 1).replace("Bob NNP B-PER", "Bob NNP B-PER|B-LOC");
    let dir = TestDir::new(&[("train.conll", &text)]);
    for options in [
        "--order 0",
        "--states observed",
        "--boundary off",
        "--noise gaussian",
        "--noise additive",
        "--noise monte-carlo=1",
        "--gradient message",
        "--gradient window=3",
        "--template ner-finkel-edges --columns word,pos,label",
        "--scheme bioes",
        "--l1 0.1 --l2 0",
    ] {
        let template = if options.contains("--template") { "" } else { "--template minimal" };
        let run = dir.run(&format!(
            "train train.conll --model m --quiet {template} --partial-labels \
             --max-iterations 8 --log log {options}"
        ));
        assert!(matches!(run.status.code(), Some(0 | 3)), "{run:?}");
        let log = dir.json_lines("log");
        let partial = log[0]["partial_tokens"].as_u64().unwrap();
        // Converted labels may be sets: B-PER before an unknown label is B-PER or S-PER.
        let is_converted = options.contains("--scheme");
        assert_eq!(partial > 4, is_converted, "{options}: {partial}");
        assert!(partial >= 4, "{options}: {partial}");
        let objective = |i: usize| log[i]["objective"].as_f64().unwrap();
        assert!(objective(4) < objective(1), "{options}: {log:?}");
    }
}

#[test]
fn training_is_deterministic_and_resumes_with_partial_labels_and_weights() {
    let text = hidden(&sample_corpus("train"), |i, _| i % 3 == 0);
    let text = format!("# weight = 2.5\n{text}");
    let dir = TestDir::new(&[("train.conll", &text)]);
    let command = "train train.conll --template ner --quiet --partial-labels --comments \
                   --max-iterations 30";
    let models = [1, 4].map(|threads| {
        dir.run(&format!("{command} --model m --threads {threads}"));
        dir.bytes("m")
    });
    assert!(models[0] == models[1]);
}

#[test]
fn labels_are_converted_to_another_scheme_where_they_are_known() {
    let text = "\
Ann B-PER
Lee I-PER
left _
Rome B-LOC
. O

Bob B-PER
_ _
Lee I-PER|O
";
    let dir = TestDir::new(&[("train.conll", text)]);
    dir.run(&format!("{TRAIN} --partial-labels --scheme bioes")).success();
    assert_eq!(dir.inspect("")["scheme"], "bioes");
    let marginals = dir
        .run_with_stdin("tag m --format conll --scheme raw --output jsonl --marginals", "Ann\n")
        .json_lines();
    let labels = keys(&marginals[0]["marginals"][0]);
    assert!(labels.iter().eq(&["B-PER", "E-PER", "I-PER", "O", "S-LOC", "S-PER"]), "{labels:?}");
    // The scheme of the corpus is kept for output.
    let tagged = dir.run_with_stdin("tag m --format conll", "Ann\nLee\n").success();
    assert_eq!(tagged, "Ann B-PER\nLee I-PER\n\n");
}

#[test]
fn partial_labels_that_make_no_sense_are_errors_with_their_line() {
    let expected = "expected a label, several such as B-PER|B-ORG, or '_' for any";
    for (label, fault) in [
        ("B-X|", "a label is empty"),
        ("|", "a label is empty"),
        ("B-X|B-Y|B-X", "a label is repeated"),
        ("B-X|_", "'_', any label, is one of its parts"),
    ] {
        assert_eq!(
            error(&format!("a O\nb {label}\n"), ""),
            format!("train.conll:2: the partial label '{label}': {fault}; {expected}")
        );
    }
    let illegal = |label: &str, scheme: &str| {
        format!(
            "the label '{label}' has no place in a legal sequence, given the other labels of the \
             sentence ({scheme}); expected labels that fit together"
        )
    };
    let corpus = "a B-X\nb I-X\nc B-X\n\n".repeat(120);
    for scheme in ["", "--scheme bioes"] {
        assert_eq!(
            error(&format!("{corpus}a O\nb I-X\nc _\n"), scheme),
            format!("train.conll:482: {}", illegal("I-X", "IOB2"))
        );
    }
    assert_eq!(error("a _\nb _\n", ""), "no token of the training data has a label; expected some");
    assert_eq!(
        error("a B-X\nb _\n\nc NN\n", "--scheme bioes"),
        "--scheme bioes: the labels encode no spans (B-X, I-X, …); omit the option"
    );
    let dir = TestDir::new(&[("x.jsonl", "{\"tokens\":[\"a\",\"b\"],\"labels\":[\"O\",[]]}\n")]);
    let train = "train x.jsonl --template minimal --model m --quiet --partial-labels";
    assert_eq!(dir.run(train).failure(), "x.jsonl:1: key \"labels\", item 2: no label is allowed");
    dir.write("x.jsonl", "{\"tokens\":[\"a\"],\"labels\":[3]}\n");
    assert_eq!(
        dir.run(train).failure(),
        "x.jsonl:1: key \"labels\", item 1: expected a label, an array of labels or null, found a \
         number"
    );
    dir.write("x.jsonl", "{\"tokens\":[\"a\"],\"labels\":[null]}\n");
    let without = dir.run("train x.jsonl --template minimal --model m --quiet").failure();
    assert!(without.ends_with("but item 1 is null"), "{without}");
}

#[test]
fn an_unknown_label_may_be_one_that_the_corpus_does_not_have() {
    let dir = TestDir::new(&[("train.conll", "a _\nb I-X\nc O\n\na B-Y\nb I-Y\n")]);
    dir.run(&format!("{TRAIN} --partial-labels")).success();
    dir.run(&format!("{TRAIN} --partial-labels --scheme bioes")).success();
}

#[test]
fn development_data_need_all_labels() {
    let dir = TestDir::new(&[
        ("train.conll", NER_CORPUS),
        ("dev.conll", &hidden(NER_CORPUS, |i, _| i == 8)),
    ]);
    assert_eq!(
        dir.run(&format!("{TRAIN} --dev dev.conll --partial-labels")).failure(),
        "dev.conll:9: found the partial label '_'; development data need one label for every token"
    );
}

#[test]
fn folds_are_scored_on_the_sentences_with_all_labels() {
    let text = NER_CORPUS.repeat(3).replace(". . O\n", ". . O\n\n");
    let partial = hidden(&text, |i, _| i % 21 == 4);
    let dir = TestDir::new(&[("train.conll", &partial)]);
    let tune = "tune train.conll --template minimal --model m --quiet --partial-labels \
                --folds 2 --l2 0.1 --dropout 0.3 --max-iterations 25";
    let run = dir.run(tune);
    assert!(matches!(run.status.code(), Some(0 | 3)), "{run:?}");
    dir.write("train.conll", hidden(&text, |_, label| label == "O"));
    assert_eq!(
        dir.run(tune).failure(),
        "no sentence of fold 1 has one label for every token; expected fewer folds, or fewer \
         partial labels"
    );
}

#[test]
fn gold_labels_of_an_evaluation_are_not_partial() {
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal");
    for label in ["_", "B-PER|B-LOC"] {
        dir.write("gold.conll", NER_CORPUS.replace("left VBD O", &format!("left VBD {label}")));
        let run = dir.run("eval m gold.conll");
        let error = format!(
            "gold.conll:3: found the partial label '{label}'; evaluation needs one gold label for \
             every token"
        );
        assert!(run.stderr.contains(&error), "{run:?}");
        assert_eq!(run.status.code(), Some(1));
    }
    // An unknown label, and an ordinary one that the model has.
    dir.write("gold.conll", NER_CORPUS.replace("left VBD O", "left VBD B-Q|B-PER"));
    dir.run("eval m gold.conll").success();
    let ordinary = NER_CORPUS.replace("left VBD O", "left VBD _");
    dir.write("train.conll", &ordinary);
    dir.run("train train.conll --template minimal --model m --quiet").success();
    dir.run("eval m train.conll").success();
}
