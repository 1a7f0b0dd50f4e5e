//! Training with attributes in temporary files.

use crate::support::{TestDir, gzip, sample_corpus};

/// Trains with and without `--spill`; both models must be the same.
fn assert_same_model(dir: &TestDir, line: &str) {
    dir.run(&format!("{line} --quiet --force --model m"))
        .success();
    dir.run(&format!("{line} --quiet --force --model spilled --spill d"))
        .success();
    assert!(dir.bytes("m") == dir.bytes("spilled"), "{line}");
}

fn with_directory() -> TestDir {
    let dir = TestDir::with_sample_corpus();
    std::fs::create_dir(dir.path("d")).unwrap();
    dir
}

#[test]
fn the_model_is_that_of_training_in_memory() {
    let dir = with_directory();
    dir.write(
        "text.txt",
        "Grace Hopper left London.\nWe met her in Paris.\n",
    );
    dir.write("train.gz", gzip(&sample_corpus("train")));
    for line in [
        "train train.conll --columns word,upos,ner --template ner --document sentence \
         --dev dev.conll --max-iterations 8",
        "train train.conll dev.conll --columns word,upos,ner --template minimal --min-count 2 \
         --scheme bioes --unlabeled text.txt dev.conll --max-iterations 8 --threads 2",
        "train train.gz --format conll --columns word,upos,ner --template pos --label upos+ner \
         --states observed --dropout 0 --l1 0.1 --max-iterations 8",
    ] {
        assert_same_model(&dir, line);
    }
    assert_eq!(std::fs::read_dir(dir.path("d")).unwrap().count(), 0);
}

#[test]
fn what_readers_replaced_is_counted_once() {
    let dir = with_directory();
    dir.write("text.txt", b"We met \xff in Paris.\n");
    let line = "train train.conll --columns word,upos,ner --template minimal \
                --lossy --unlabeled text.txt --max-iterations 2 --force --model m";
    let notice = "1 place is no text: U+FFFD stands there";
    for options in ["", "--spill d"] {
        let run = dir.run(&format!("{line} {options}"));
        assert!(run.stderr.contains(notice), "{options}: {}", run.stderr);
    }
}

#[test]
fn what_needs_all_text_in_memory_is_refused_before_work_begins() {
    let dir = with_directory();
    let marked = format!("-DOCSTART- X O\n\n{}", sample_corpus("train"));
    dir.write("train.conll", marked);
    let line = "train train.conll --columns word,upos,ner --quiet --spill d --model m";
    for (options, found) in [
        (
            "--template ner",
            ": --spill: the corpus marks documents, so the template ner would be",
        ),
        (
            "--template ner-two-passes",
            "--spill: a template that reads documents: needs all",
        ),
        (
            "--template minimal --algorithm ap",
            "--spill: an online algorithm: needs all",
        ),
        (
            "--template minimal --caseless",
            "--spill: copies of sentences without case: needs all",
        ),
        (
            "--template minimal --gradient message",
            "--spill: the gradient by messages: needs all",
        ),
        (
            "--template minimal --spill missing",
            "the argument '--spill <DIR>' cannot be used",
        ),
    ] {
        let message = dir.run(&format!("{line} {options}"));
        assert!(!message.status.success());
        assert!(
            message.stderr.contains(found),
            "{options}: {}",
            message.stderr
        );
        assert!(!dir.path("m").exists());
    }
    let message = dir.run(&line.replace("--spill d", "--template minimal --spill missing"));
    assert!(
        message
            .failure()
            .starts_with("missing: No such file or directory")
    );
    let stdin = line.replace("train.conll", "-");
    let message = dir.run(&format!("{stdin} --template minimal")).failure();
    assert!(
        message.contains("standard input can be read only once"),
        "{message}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_directory_without_space_is_named_and_an_old_model_stays() {
    let dir = with_directory();
    dir.write("m", "old");
    let line = "ulimit -f 64; $D train train.conll --quiet --columns word,upos,ner \
                --template minimal --spill d --force --model m";
    let message = dir.shell(line).failure();
    let (error, needed) = message.split_once("; ").unwrap();
    assert!(error.contains("d: File too large"), "{message}");
    assert_eq!(needed, "a temporary file needs at least 1 MB");
    assert_eq!(dir.text("m"), "old");
    assert_eq!(std::fs::read_dir(dir.path("d")).unwrap().count(), 0);
}
