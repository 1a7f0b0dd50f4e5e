//! Clusters, vectors and gazetteers for any template.

use dropchain::template::cluster_lines;
use serde_json::Value;

use crate::support::{NER_CORPUS, TestDir};

const TEXT: &str = "Ann left Rome. Bob left York. The bank of Rome closed. Eve met Ann in York.\n";

fn test_dir() -> TestDir {
    TestDir::new(&[
        ("train.conll", NER_CORPUS),
        ("raw.txt", TEXT),
        ("vectors.txt", "Ann 1 0.5\nBob 1 0.4\nRome -1 0.5\n"),
        ("cities.txt", "New York\nRome\n"),
    ])
}

/// Returns the template of a model.
fn template(dir: &TestDir, model: &str) -> String {
    let shown = dir.run(&format!("inspect {model} --json")).json();
    shown["template"].as_str().unwrap().to_owned()
}

#[test]
fn all_kinds_of_knowledge_are_learned_recorded_and_used() {
    let dir = test_dir();
    dir.run("cluster raw.txt train.conll --clusters 15 --output paths.txt --quiet").success();
    let arguments = "--template minimal --vectors vectors.txt --gazetteers \
                     cities.txt --threads 1 --max-iterations 3";
    let trained = dir.run(&format!(
        "train train.conll --model m --clusters raw.txt train.conll {arguments} --log log"
    ));
    let summary = "raw.txt: 15 clusters of 15 words, learned from 39 tokens of raw.txt train.conll";
    assert!(trained.stderr.contains(summary), "{}", trained.stderr);
    let template = template(&dir, "m");
    for line in [
        "cluster(\"raw.txt\", 4, 6, 10, 20)[-1]\n",
        "vector(\"vectors.txt\", first(50000), scale(0.64))[+1]\n",
        "lexicon(\"cities.txt\")[-1]\nlexicon(\"cities.txt\")[+1]\n",
        "lexicon(\"cities.txt\", lower)\n",
    ] {
        assert!(template.contains(line), "{line}: {template}");
    }
    let shown = dir.run("inspect m").success();
    // Without the counts.
    let bytes = cluster_lines(&dir.text("paths.txt"), "paths.txt").unwrap().len();
    let words: Vec<&str> = shown.split_whitespace().collect();
    assert!(words.join(" ").contains(&format!("raw.txt ({bytes} bytes)")), "{shown}");
    let start = dir.json_lines("log").swap_remove(0);
    let events = start["sources"].as_array().unwrap();
    assert_eq!(events.len(), 3, "{start}");
    assert_eq!(events[0]["role"], "clusters");
    assert_eq!(events[0]["files"], serde_json::json!(["raw.txt", "train.conll"]));
    assert_eq!(events[0]["clusters"], 15);
    assert_eq!(events[2]["bytes"], 14);
    // Tagging needs none of the files.
    for file in ["raw.txt", "vectors.txt", "cities.txt"] {
        std::fs::remove_file(dir.path(file)).unwrap();
    }
    dir.run("tag m train.conll").success();
}

#[test]
fn tune_adds_knowledge_to_every_template() {
    let dir = test_dir();
    dir.run(
        "tune train.conll --folds 2 --template minimal --template ner --dropout 0 --l2 1 \
         --model m --clusters raw.txt --quiet --log log",
    )
    .success();
    assert!(template(&dir, "m").contains("cluster(\"raw.txt\", 4, 6, 10, 20)\n"));
    let start: Value = serde_json::from_str(dir.text("log").lines().next().unwrap()).unwrap();
    assert_eq!(start["sources"][0]["name"], "raw.txt");
}

#[test]
fn files_of_knowledge_are_inputs_that_no_output_replaces() {
    let dir = test_dir();
    for (flag, file) in
        [("--clusters", "raw.txt"), ("--vectors", "vectors.txt"), ("--gazetteers", "cities.txt")]
    {
        let before = dir.text(file);
        for command in ["train", "tune --folds 2"] {
            dir.run(&format!(
                "{command} train.conll --template minimal {flag} {file} --model {file}"
            ))
            .fails_with("this is the input file");
            assert_eq!(dir.text(file), before);
        }
    }
}
