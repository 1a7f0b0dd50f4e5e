//! What a newcomer types: names, templates and the order of files that the program decides itself.

use dropchain::Template;

use crate::support::{NER_CORPUS, POS_CORPUS, TestDir};

const CHUNKS: &str = "\
He PRP B-NP
slept VBD B-VP
. . O

The DT B-NP
cat NN I-NP
sat VBD B-VP

";

#[test]
fn a_corpus_is_enough_to_train_a_model() {
    for (corpus, chosen) in [
        (NER_CORPUS, "the labels are spans: template ner\n"),
        (POS_CORPUS, "the labels are tags: template pos\n"),
        (CHUNKS, "the labels are phrases: template chunk\n"),
    ] {
        let dir = TestDir::new(&[]);
        std::fs::create_dir(dir.path("data")).unwrap();
        dir.write("data/en.conll", corpus);
        let run = dir.run("train data/en.conll --max-iterations 2 --seed 4");
        let note = "note: --seed 4 has no effect";
        for said in [chosen, "wrote en.model\n", note] {
            assert!(run.stderr.contains(said), "{said} in {}", run.stderr);
        }
        let name = chosen.trim_end().rsplit(' ').next().unwrap();
        let shipped = Template::shipped(name).unwrap().unwrap();
        let model = dir.run("inspect en.model --json").json();
        assert_eq!(model["template"], shipped.source());
    }
}

#[test]
fn an_empty_file_and_a_model_of_another_version_are_replaced_if_named() {
    let dir = TestDir::new(&[]);
    for old in ["", "DROPCRF\nof another version"] {
        dir.write("dropchain.model", old);
        let named = "train - -m dropchain.model -q --max-iterations 2";
        dir.run_with_stdin(named, NER_CORPUS).success();
        assert_ne!(dir.bytes("dropchain.model"), old.as_bytes());
    }
}

#[test]
fn a_search_chooses_a_template_and_standard_input_has_a_model_too() {
    let dir = TestDir::new(&[]);
    let tune = "tune - --folds 2 --dropout 0 --l2 0.1 --max-iterations 3";
    let stderr = dir.run_with_stdin(tune, NER_CORPUS).exits(0);
    assert!(stderr.contains("the labels are spans: template ner\n"), "{stderr}");
    assert!(dir.path("dropchain.model").is_file());
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
