//! Determinism: the same bytes in every run and for any number of threads.

use crate::support::{TestDir, sample_corpus};

/// Trains on the sample corpus for a few iterations.
fn train_sample(options: &str) -> TestDir {
    let train =
        "train train.conll --template ner-finkel-edges --max-iterations 8 --model m --quiet";
    let files = [("train.conll", &*sample_corpus("train"))];
    TestDir::trained(&files, &format!("{train} {options}"))
}

#[test]
fn models_are_the_same_bytes_in_every_run_and_for_any_number_of_threads() {
    let one = train_sample("--threads 1").bytes("m");
    for threads in ["", "--threads 2", "--threads 5"] {
        let more = train_sample(threads).bytes("m");
        assert!(more == one, "{threads}");
    }
}

#[test]
fn output_is_the_same_for_any_number_of_threads() {
    let dir = train_sample("");
    dir.write("dev.conll", sample_corpus("dev"));
    let tag = "tag m dev.conll --output jsonl --marginals --nbest 3 --threads";
    let one = dir.run(&format!("{tag} 1")).success();
    let four = dir.run(&format!("{tag} 4")).success();
    assert!(one == four);
    assert_eq!(one.lines().count(), sample_corpus("dev").split("\n\n").count());
}
