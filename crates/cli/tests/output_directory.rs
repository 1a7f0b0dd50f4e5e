//! `tag --output-dir`: a file for each input file, and no file lost.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;

use crate::support::{NER_CORPUS, TestDir, gzip};

fn ner_model() -> TestDir {
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal");
    dir.write("a.txt", "\u{feff}Ann left.\r\n\r\nBob too.\r\n");
    dir.write("b.conll", "Ann NNP O\nleft VBD O\n\nRome NNP O\n");
    dir
}

#[test]
fn each_input_gets_a_file_with_the_extension_of_the_format() {
    let dir = ner_model();
    dir.write("c.txt.gz", gzip("Rome closed.\n"));
    dir.run("tag m a.txt c.txt.gz --output inline --output-dir new/out").success();
    assert_eq!(dir.text("new/out/a.txt"), "[PER Ann] left.\n[PER Bob] too.\n");
    assert_eq!(dir.text("new/out/c.txt"), "[LOC Rome] closed.\n");
    for (format, name) in
        [("conll", "b.conll"), ("jsonl", "b.jsonl"), ("html", "b.html"), ("label-studio", "b.json")]
    {
        dir.run(&format!("tag m b.conll --output {format} --output-dir {format}")).success();
        let names: Vec<_> = fs::read_dir(dir.path(format)).unwrap().collect();
        assert_eq!(names.len(), 1, "no temporary file is left");
        assert!(!dir.text(&format!("{format}/{name}")).is_empty());
    }
    let all = dir.run("tag m b.conll --output conll").success();
    assert_eq!(dir.text("conll/b.conll"), all);
}

#[test]
fn brats_directory_has_the_text_byte_for_byte() {
    let dir = ner_model();
    dir.write("c.txt.gz", gzip("\r\nRome"));
    dir.write("d.jsonl", "{\"text\": \"Ann\\nLee\"}\n{\"tokens\": []}\n{\"text\": \"in Rome\"}\n");
    dir.run("tag m a.txt b.conll c.txt.gz d.jsonl --output brat --output-dir out").success();
    assert_eq!(dir.bytes("out/a.txt"), dir.bytes("a.txt"));
    assert_eq!(dir.text("out/a.ann"), "T1\tPER 1 4\tAnn\nT2\tPER 14 17\tBob\n");
    assert_eq!(dir.text("out/b.txt"), "Ann left\nRome\n");
    assert_eq!(dir.text("out/b.ann"), "T1\tPER 0 3\tAnn\nT2\tLOC 9 13\tRome\n");
    assert_eq!(dir.text("out/c.txt"), "\r\nRome");
    assert_eq!(dir.text("out/c.ann"), "T1\tLOC 2 6\tRome\n");
    assert_eq!(dir.text("out/d.txt"), "Ann\nLee\nin Rome\n");
    assert!(dir.text("out/d.ann").ends_with("LOC 11 15\tRome\n"));
}

#[test]
fn annotations_may_be_written_beside_their_text() {
    let dir = ner_model();
    let before = dir.bytes("a.txt");
    dir.run("tag m a.txt --output brat --output-dir .").success();
    assert_eq!(dir.bytes("a.txt"), before);
    assert!(dir.text("a.ann").starts_with("T1\tPER 1 4\tAnn\n"));
    // Columns are not the text that annotations refer to.
    dir.write("columns.txt", NER_CORPUS);
    let refused =
        dir.run("tag m columns.txt --format conll --output brat --output-dir . --force --quiet");
    refused.fails_with("columns.txt would replace columns.txt");
    assert_eq!(dir.text("columns.txt"), NER_CORPUS);
    assert!(!dir.path("columns.ann").exists());
}

#[test]
fn an_output_file_is_never_an_input() {
    let dir = ner_model();
    fs::create_dir(dir.path("out")).unwrap();
    dir.write("out/a.conll", NER_CORPUS);
    dir.write("out/c.d", NER_CORPUS);
    for line in [
        "tag m b.conll --output conll --output-dir . --force",
        "tag m out/a.conll out/c.d --output conll --output-dir out --force",
    ] {
        dir.run(line).fails_with("this is the input file");
    }
    assert_eq!(dir.text("out/a.conll"), NER_CORPUS);
    // The model is an input, too, and so is a file behind a link.
    fs::copy(dir.path("m"), dir.path("out/b.html")).unwrap();
    let line = "tag out/b.html b.conll --output html --output-dir out --force";
    assert!(dir.run(line).failure().contains("this is the input file"));
    assert_eq!(dir.bytes("out/b.html"), dir.bytes("m"));
    #[cfg(unix)]
    {
        symlink("../b.conll", dir.path("out/b.conll")).unwrap();
        let line = "tag m b.conll --output conll --output-dir out --force";
        assert!(dir.run(line).failure().contains("this is the input file"));
        assert!(dir.text("b.conll").starts_with("Ann NNP O\n"));
    }
}

#[test]
fn a_file_that_exists_is_replaced_only_by_force() {
    let dir = ner_model();
    fs::create_dir(dir.path("out")).unwrap();
    dir.write("out/a.txt", "");
    dir.write("out/b.ann", "T1\tPER 0 3\tAnn\n");
    let line = "tag m a.txt b.conll --output brat --output-dir out";
    dir.run(line).fails_at("--output-dir out/b.ann: this file exists");
    assert_eq!(dir.text("out/a.txt"), "", "nothing was written before the check");
    assert!(!dir.path("out/a.ann").exists());
    dir.run(&format!("{line} --force")).success();
    assert!(dir.text("out/b.ann").contains("LOC"));
}

#[test]
fn a_batch_goes_on_after_errors_and_where_it_ended() {
    let dir = ner_model();
    fs::create_dir_all(dir.path("in/deeper")).unwrap();
    for (name, text) in [
        ("a.txt", &b"Ann left.\n"[..]),
        ("b.txt", b"Bob \xff left.\n"),
        ("c.txt", b"Rome closed.\n"),
    ] {
        dir.write(&format!("in/{name}"), text);
    }
    dir.write("in/.hidden", "Ann left.\n");
    dir.write("in/deeper/x.ann", "");
    assert!(dir.run("tag m in/deeper").failure().contains("expected --format brat, or files"));
    let line = "tag m in d.conll --output-dir out --keep-going";
    let error = dir.run(line).exits(1);
    assert!(error.contains("in: 3 files (2 left out: hidden, or folders)"), "{error}");
    assert!(error.contains("tagged 2 files: 2 sentences, 6 tokens"), "{error}");
    assert!(error.contains("2 of 4 files failed"), "{error}");
    assert!(error.contains("in/b.txt:1:") && error.contains("d.conll: "), "{error}");
    assert_eq!(dir.text("out/a.conll"), "Ann\tB-PER\nleft\tO\n.\tO\n\n");
    assert!(dir.path("out/c.conll").exists() && !dir.path("out/b.conll").exists());
    // Repaired, just what is missing is done.
    dir.write("in/b.txt", "Bob left.\n");
    dir.write("d.conll", "Ann NNP O\n");
    dir.write("out/a.conll", "as it was");
    let notices = dir.run(&format!("{line} --skip-existing")).exits(0);
    assert!(notices.contains("tagged 2 files: 2 sentences, 4 tokens"), "{notices}");
    assert!(notices.contains("2 skipped, whose output exists"), "{notices}");
    assert_eq!(dir.text("out/a.conll"), "as it was");
    assert_eq!(fs::read_dir(dir.path("out")).unwrap().count(), 4);
}

#[test]
fn an_input_with_an_error_leaves_no_files_of_its_own() {
    let dir = ner_model();
    dir.write("bad.conll", "Ann NNP O\nleft\n");
    dir.run("tag m a.txt bad.conll --output brat --output-dir out --quiet")
        .fails_at("bad.conll:2: ");
    let names = fs::read_dir(dir.path("out")).unwrap();
    let mut names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["a.ann", "a.txt"]);
    // An old file stays, whatever may be replaced.
    dir.write("out/bad.ann", "T1\tPER 0 3\tAnn\n");
    let line = "tag m bad.conll --output brat --output-dir out --force --quiet";
    dir.run(line).failure();
    assert_eq!(dir.text("out/bad.ann"), "T1\tPER 0 3\tAnn\n");
    assert!(!dir.path("out/bad.txt").exists());
}
