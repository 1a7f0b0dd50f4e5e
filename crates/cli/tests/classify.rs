//! Classification of documents.

use crate::support::{NER_CORPUS, TestDir};

const TRAIN: [(&str, &str); 8] = [
    ("pos", "a great , funny film"),
    ("neg", "a dull film"),
    ("pos", "great fun , says Ann"),
    ("neg", "dull , slow and \"long\""),
    ("pos", "funny from the first minute"),
    ("neg", "slow from the first minute"),
    ("pos", "what a film !"),
    ("neg", "what a bore !"),
];

fn labeled(documents: &[(&str, &str)]) -> String {
    let lines = documents.iter();
    lines.map(|(class, text)| format!("{class}\t{text}\n")).collect()
}

fn dir() -> TestDir {
    let dir = TestDir::new(&[]);
    dir.write("train.txt", labeled(&TRAIN));
    dir
}

fn train(dir: &TestDir, line: &str) {
    dir.run(&format!("classify train {line} --quiet")).success();
}

#[test]
fn documents_are_classified_as_they_come() {
    let dir = dir();
    train(&dir, "train.txt --model m");
    let run = dir.run_with_stdin("classify predict m", "great , funny\n\nso dull and slow\n");
    let output = run.success();
    let lines: Vec<Vec<&str>> = output.lines().map(|line| line.split('\t').collect()).collect();
    let classes: Vec<&str> = lines.iter().map(|cells| cells[0]).collect();
    assert_eq!((classes.len(), classes[0], classes[2]), (3, "pos", "neg"));
    assert!(lines.iter().all(|cells| cells[1].parse::<f64>().unwrap() >= 0.5));
    // A file with classes is texts, too, and a warning; with one text without, it is none.
    let is_doubted = |text: &str| {
        dir.run_with_stdin("classify predict m", text).stderr.contains("begin with a class")
    };
    assert!(is_doubted("pos\tgreat\nneg\tdull\n") && !is_doubted("pos\tgreat\nso\tdull\n"));
    dir.write("new.csv", "body\n\"funny,\nbut dull\"\n");
    let line = "classify predict m new.csv --text body --output jsonl --top 2";
    let found = &dir.run(line).json_lines()[0];
    assert_eq!((&found["file"], &found["line"]), (&"new.csv".into(), &2.into()));
    let probabilities = found["probabilities"].as_object().unwrap();
    let sum: f64 = probabilities.values().map(|p| p.as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9 && probabilities.len() == 2);
}

#[test]
fn a_classifier_is_scored() {
    let dir = dir();
    train(&dir, "train.txt --model m");
    train(&dir, "train.txt --dropout 0 --l2 100 --ngrams 0 --chars 1 --model worse");
    let text = dir.run("classify eval m train.txt --confusion --calibration").success();
    assert!(text.starts_with("8 documents; accuracy 100.00% (100.00–100.00); macro-F1"), "{text}");
    let report = dir.run("classify eval m train.txt --json --against worse").json();
    assert_eq!((&report["accuracy"], &report["documents"]), (&1.0.into(), &8.into()));
    assert_eq!(report["classes"][0]["support"], 4);
    assert!(report["log_loss"].as_f64().unwrap() < 0.69);
    assert_eq!(report["against"]["accuracy"]["scores"][0], 1.0);
    dir.write("other.txt", "mixed\tgreat , dull\npos\tgreat\n");
    let text = dir.run("classify eval m other.txt").success();
    assert!(text.contains("1 document is of a class that the model does not have"), "{text}");
    let line = "classify eval m train.txt --json --delete 0..0.9";
    let rates = dir.run(line).json();
    let rates = rates.as_array().unwrap();
    assert_eq!((rates.len(), &rates[0]["accuracy"]), (10, &report["accuracy"]));
    assert!(rates[9]["log_loss"].as_f64() > rates[0]["log_loss"].as_f64());
    let table = dir.run("classify eval m train.txt --delete 0,0.5").success();
    assert_eq!(table.lines().count(), 3);
}

#[test]
fn the_log_has_the_objective_and_the_accuracy_of_every_iteration() {
    let dir = dir();
    train(&dir, "train.txt --dev train.txt --loss hinge --dropout 0.3 --model m --log log");
    let log = dir.json_lines("log");
    let iterations: Vec<_> = log.iter().filter(|line| line["event"] == "iteration").collect();
    // At w = 0 every document misses the margin by all of it.
    let first = iterations[0]["objective"].as_f64().unwrap();
    assert!((8.0..8.5).contains(&first), "{first}");
    let has_fields = |line: &&serde_json::Value| {
        line["dev_accuracy"].is_number() && line["log_likelihood"].is_null()
    };
    assert!(iterations.len() > 3 && iterations.iter().all(has_fields));
}

#[test]
fn parameters_are_searched_by_folds_and_on_development_documents() {
    let dir = dir();
    dir.write("one.txt", format!("{}odd\tone of a kind\n", labeled(&TRAIN)));
    let grid = "--dropout 0,0.5 --l2 0.1,1 --model m";
    let run = dir.run(&format!("classify tune one.txt --folds 3 {grid} --json"));
    assert!(run.stderr.contains("one.txt:9: the class 'odd' has 1 document; with 3 folds"));
    let result = run.json();
    assert_eq!(result["configurations"].as_array().unwrap().len(), 4);
    dir.run("classify eval m train.txt").success();
    dir.run(&format!("classify tune train.txt --dev train.txt {grid}")).success();
    dir.run(&format!("classify tune train.txt --folds 9 {grid} --quiet"))
        .fails_with("--folds 9: there are 8 documents");
}

#[test]
fn the_options_of_the_best_configuration_are_those_of_train() {
    let dir = dir();
    for options in ["", "--unlabeled train.txt --unlabeled-weight 0.2,1"] {
        let line = format!(
            "classify tune train.txt --folds 2 --dropout 0.3,0.5 --l2 0.1,1 --model m \
             {options}"
        );
        let run = dir.run(&line);
        assert!(run.stderr.contains("retrained on all data for"), "{run:?}");
        let text = run.success();
        assert!(text.starts_with("dropout   L2"), "{text}");
        let best = text.lines().find_map(|line| line.strip_prefix("best: "));
        let unlabeled = if options.is_empty() { "" } else { "--unlabeled train.txt" };
        train(&dir, &format!("train.txt {} {unlabeled} --model n", best.unwrap()));
    }
}

#[test]
fn faults_are_told_with_their_place_and_an_old_model_stays() {
    let dir = dir();
    train(&dir, "train.txt --model m");
    let before = dir.bytes("m");
    dir.write("tagged.conll", NER_CORPUS);
    dir.run("train tagged.conll --template minimal --quiet --model tagger").success();
    for command in ["tag m train.txt", "eval m train.txt", "explain m train.txt", "inspect m"] {
        let message = dir.run(command).failure();
        let expected = "the model classifies documents; expected a tagger";
        assert!(message.contains(expected), "{message}");
    }
    dir.write("a.csv", b"text,label\n\xff,pos\n");
    dir.run("classify train a.csv --quiet --model m").fails_with("a.csv:2: the text is not UTF-8");
    assert!(dir.bytes("m") == before);
    dir.write("more.txt", "x\n");
    for (line, expected) in [
        ("train train.txt --model train.txt", "this is the input file train.txt"),
        ("train train.txt --ngrams 0 --model n", "there are no features"),
        (
            "train train.txt --loss hinge --unlabeled more.txt --model n",
            "--unlabeled: --loss hinge learns from labels alone",
        ),
        ("train train.txt --loss hinge --memory 1000 --quiet --model n", "memory"),
        ("train train.txt --format folder --quiet --model n", "expected a folder of documents"),
        ("predict m train.txt --format svmlight", "train.txt:1: found 'a'; expected index:value"),
        ("eval m missing.txt", "missing.txt: No such file"),
        ("eval tagger train.txt", "the model is a tagger; expected a classifier"),
    ] {
        dir.run(&format!("classify {line}")).fails_with(expected);
    }
}
