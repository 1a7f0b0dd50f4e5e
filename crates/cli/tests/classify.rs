//! Classification of documents.

use std::fs;

use crate::support::{NER_CORPUS, TestDir, gzip};

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
fn all_formats_of_the_same_documents_give_the_same_model() {
    let dir = dir();
    train(&dir, "train.txt --model m");
    let json = TRAIN.map(|(class, text)| {
        serde_json::json!({"text": text, "label": class, "id": 1}).to_string() + "\n"
    });
    dir.write("train.jsonl", json.concat());
    let quoted =
        TRAIN.map(|(class, text)| format!("1,\"{}\",{class}\n", text.replace('"', "\"\"")));
    dir.write("train.csv", format!("id,body,topic\n{}", quoted.concat()));
    let rows = TRAIN.map(|(class, text)| format!("{text}\t{class}\n"));
    dir.write("train.tsv", format!("text\tlabel\n{}", rows.concat()));
    dir.write("train.gz", gzip(&labeled(&TRAIN)));
    for line in [
        "train.jsonl",
        "train.csv --text body --label topic",
        "train.tsv",
        "train.tsv --format tsv --threads 2",
        "train.gz",
        "train.txt --format labeled --threads 1",
    ] {
        train(&dir, &format!("{line} --model other"));
        assert!(dir.bytes("m") == dir.bytes("other"), "{line}");
    }
    // A folder has another order: class by class.
    let mut sorted = TRAIN;
    sorted.sort_by_key(|(class, _)| *class);
    dir.write("sorted.txt", labeled(&sorted));
    train(&dir, "sorted.txt --model m");
    for (number, (class, text)) in sorted.iter().enumerate() {
        fs::create_dir_all(dir.path(&format!("folder/{class}"))).unwrap();
        dir.write(&format!("folder/{class}/{number}.txt"), format!("{text}\n"));
    }
    dir.write("folder/pos/.hidden", "bore");
    train(&dir, "folder --model other");
    assert!(dir.bytes("m") == dir.bytes("other"));
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
fn three_classes_are_told_apart_either_way() {
    let dir = TestDir::new(&[]);
    let documents = [("a", "x y"), ("b", "y z"), ("c", "z x x"), ("a", "y"), ("b", "z")];
    dir.write("train.txt", labeled(&documents));
    for multiclass in ["softmax", "one-vs-rest"] {
        train(&dir, &format!("train.txt --multiclass {multiclass} --tf count --model m"));
        let report = dir.run("classify eval m train.txt --json").json();
        assert_eq!(report["accuracy"], 1.0, "{multiclass}");
        let inspected = dir.run("classify inspect m --json --top 2").json();
        assert_eq!(inspected["multiclass"], multiclass);
        assert_eq!(inspected["classes"]["c"]["features"].as_array().unwrap().len(), 2);
        let text = dir.run("classify inspect m").success();
        assert!(text.contains("words 1..2, frequency count"), "{text}");
    }
}

#[test]
fn unlabeled_documents_are_for_the_noise() {
    let dir = dir();
    dir.write("more.txt", "slow and dull\n\ngreat\n");
    train(&dir, "train.txt --model m");
    train(&dir, "train.txt --model other --unlabeled more.txt");
    assert!(dir.bytes("m") != dir.bytes("other"));
    // Without noise they have no effect, and labels in them never have.
    train(&dir, "train.txt --dropout 0 --model m");
    train(&dir, "train.txt --dropout 0 --model other --unlabeled more.txt");
    assert!(dir.run("classify inspect m").success() == dir.run("classify inspect other").success());
}

#[test]
fn sigma_points_of_many_classes_get_a_warning() {
    let texts = |classes: usize| -> String {
        let lines = (0..2 * classes).map(|i| format!("c{}\tword{i} of many\n", i % classes));
        lines.collect()
    };
    let dir = TestDir::new(&[("20.tsv", &texts(20)), ("21.tsv", &texts(21))]);
    let warning = "warning: --noise gaussian-scores with 21 classes: above about 20 it is further \
                   from dropout than --noise dropout is";
    for (line, is_warned) in [
        ("21.tsv --noise gaussian-scores", true),
        ("20.tsv --noise gaussian-scores", false),
        ("21.tsv --noise gaussian-scores --multiclass one-vs-rest", false),
        ("21.tsv --noise gaussian-scores --dropout 0", false),
        ("21.tsv --noise dropout", false),
    ] {
        let run = dir.run(&format!("classify train {line} --max-iterations 1 --model m"));
        assert_eq!(run.stderr.contains(warning), is_warned, "{line}: {}", run.stderr);
        run.success();
    }
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
    let message = dir.run(&format!("classify tune train.txt --folds 9 {grid} --quiet")).failure();
    assert!(message.contains("--folds 9: there are 8 documents"), "{message}");
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
    let cases: [(&str, &[u8], &str); 6] = [
        ("a.txt", b"pos\tx\nneg y\n", "a.txt:2: found no tab; expected a class, a tab"),
        ("a.txt", b"pos\tx\npos\ty\n", "a.txt:1: all documents are of the class 'pos'"),
        ("a.txt", b"pos\tx\nneg\t\xff\n", "a.txt:2"),
        ("a.txt", b"", "there are no documents to train on"),
        ("a.csv", b"text,kind\nx,pos\n", "a.csv:1: there is no column 'label'; found text, kind"),
        ("a.csv", b"text,label\n\xff,pos\n", "a.csv:2: the text is not UTF-8"),
    ];
    for (name, contents, expected) in cases {
        dir.write(name, contents);
        let message = dir.run(&format!("classify train {name} --quiet --model m")).failure();
        assert!(message.contains(expected), "{expected}: {message}");
        assert!(dir.bytes("m") == before, "{expected}");
    }
    for (line, expected) in [
        ("train train.txt --model train.txt", "this is the input file train.txt"),
        ("train train.txt --ngrams 0 --model n", "there are no features"),
        ("train train.txt --format folder --quiet --model n", "expected a folder of documents"),
        ("predict m train.txt --format svmlight", "train.txt:1: found 'a'; expected index:value"),
        ("eval m missing.txt", "missing.txt: No such file"),
        ("eval tagger train.txt", "the model is a tagger; expected a classifier"),
    ] {
        let message = dir.run(&format!("classify {line}")).failure();
        assert!(message.contains(expected), "{expected}: {message}");
    }
}

#[test]
fn documents_without_features_are_named() {
    let dir = dir();
    dir.write("empty.txt", format!("{}pos\t\nneg\t \n", labeled(&TRAIN)));
    let run = dir.run("classify train empty.txt --model m");
    let notice = "2 documents have no features: empty.txt:9, empty.txt:10";
    assert!(run.stderr.contains(notice), "{}", run.stderr);
    run.success();
}
