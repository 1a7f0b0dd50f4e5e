//! What a newcomer types: names, templates and the order of files that the program decides itself.

use crate::support::{NER_CORPUS, POS_CORPUS, TestDir};

const CHUNKS: &str = "\
He PRP B-NP
slept VBD B-VP
. . O

The DT B-NP
cat NN I-NP
sat VBD B-VP

";

/// Returns the template of a model.
fn template(dir: &TestDir, model: &str) -> String {
    let text = dir.run(&format!("inspect {model} --template")).success();
    let (_, text) = text.split_once("\ntemplate\n").unwrap();
    text.trim_end().to_owned()
}

#[test]
fn a_corpus_is_enough_to_train_a_model() {
    for (corpus, chosen) in [
        (NER_CORPUS, "the labels are spans: template ner\n"),
        (POS_CORPUS, "the labels are tags: template pos\n"),
        (CHUNKS, "the labels are phrases: template chunk\n"),
    ] {
        let dir = TestDir::new(&[("train.conll", corpus)]);
        let run = dir.run("train train.conll --max-iterations 3");
        assert!(run.stderr.contains(chosen), "{}", run.stderr);
        assert!(run.stderr.contains("wrote train.model\n"), "{}", run.stderr);
        let name = chosen.trim_end().rsplit(' ').next().unwrap();
        let named = format!("train train.conll -t {name} -m m -q --max-iterations 3");
        dir.run(&named).success();
        let [decided, named] = ["train.model", "m"].map(|model| template(&dir, model));
        assert_eq!(decided, named);
    }
}

#[test]
fn the_model_has_the_name_of_the_first_training_file_in_this_folder() {
    let dir = TestDir::new(&[]);
    std::fs::create_dir(dir.path("data")).unwrap();
    for (file, model) in [("data/en-train.txt", "en-train.model"), ("plain", "plain.model")] {
        dir.write(file, NER_CORPUS);
        dir.run(&format!("train {file} -q --max-iterations 2")).success();
        assert!(dir.path(model).is_file(), "{model}");
    }
    dir.run_with_stdin("train - -q --max-iterations 2", NER_CORPUS).success();
    assert!(dir.path("dropchain.model").is_file());
}

#[test]
fn an_empty_file_and_a_model_of_another_version_are_replaced_if_named() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
    let named = "train train.conll -m train.model -q --max-iterations 2";
    for old in ["", "DROPCRF\nof another version"] {
        dir.write("train.model", old);
        dir.run(named).success();
        assert_ne!(dir.bytes("train.model"), old.as_bytes());
    }
}

#[test]
fn a_search_chooses_a_template_too_and_a_seed_that_nothing_uses_is_noted() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
    let tune = "tune train.conll --folds 2 --dropout 0 --l2 0.1 --max-iterations 3 -m a";
    let stderr = dir.run(tune).exits(0);
    assert!(stderr.contains("the labels are spans: template ner\n"), "{stderr}");
    let train = "train train.conll -m m --max-iterations 2 --seed 4";
    let note = "note: --seed 4 has no effect";
    for (option, has_note) in [("", true), ("--algorithm ap", false), ("-q", false)] {
        let stderr = dir.run(&format!("{train} {option}")).exits(0);
        assert_eq!(stderr.contains(note), has_note, "{option}: {stderr}");
    }
}

#[test]
fn text_in_place_of_a_file_is_told_where_it_belongs() {
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal");
    for command in ["tag", "explain"] {
        let mut run = dir.command(&format!("{command} m"));
        let output = run.arg("Ann's in Rome.").output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        let expected = format!(
            "error: Ann's in Rome.: no such file; to {command} this text: echo \
             'Ann'\\''s in Rome.' | dropchain {command} m\n"
        );
        assert_eq!(message, expected);
    }
}
