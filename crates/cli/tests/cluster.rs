//! `dropchain cluster`

use crate::support::{NER_CORPUS, TestDir};

const TEXT: &str = "the dog runs. a cat sleeps. the cat runs. a dog sleeps. the dog sleeps.\n";

fn test_dir() -> TestDir {
    TestDir::new(&[("raw.txt", TEXT), ("names.conll", NER_CORPUS)])
}

#[test]
fn templates_read_the_clusters() {
    let dir = test_dir();
    dir.run("cluster raw.txt names.conll --clusters 4 --output paths.txt").success();
    dir.write("my.tpl", "word\ncluster(\"paths.txt\", 1, 2)\ncluster(\"paths.txt\")\n");
    dir.run("train names.conll --template my.tpl --model m --quiet").success();
    let shown = dir.run("inspect m --json --top 100").success();
    assert!(shown.contains("cluster(\\\"paths.txt\\\", 1, 2)[0]="), "{shown}");
}

#[test]
fn every_line_has_a_path_a_word_and_its_count() {
    let dir = test_dir();
    dir.run("cluster raw.txt names.conll --clusters 3 --output paths.txt --quiet").success();
    let text = dir.text("paths.txt");
    for line in text.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        assert_eq!(cells.len(), 3, "{line}");
        assert!(!cells[0].is_empty() && cells[0].bytes().all(|b| matches!(b, b'0' | b'1')));
        assert!(cells[2].parse::<u64>().unwrap() > 0, "{line}");
    }
    assert!(text.lines().any(|line| line.ends_with("\tAnn\t2")), "{text}");
    assert!(!text.contains("B-PER") && !text.contains("NNP"), "{text}");
}

#[test]
fn rare_words_are_ignored() {
    let dir = test_dir();
    dir.run("cluster raw.txt --clusters 2 --min-count 3 --output paths.txt --quiet").success();
    let text = dir.text("paths.txt");
    let mut words: Vec<&str> = text.lines().filter_map(|l| l.split('\t').nth(1)).collect();
    words.sort_unstable();
    assert_eq!(words, [".", "dog", "sleeps", "the"]);
}

#[test]
fn progress_goes_to_stderr_and_nothing_to_stdout() {
    let dir = test_dir();
    let output = dir.run("cluster raw.txt --clusters 100 --output paths.txt");
    assert!(output.stderr.contains("fewer words than 100 clusters"), "{output:#?}");
    assert!(output.stderr.contains("wrote paths.txt: 7 clusters"), "{output:#?}");
    assert_eq!(output.success(), "");
    let output = dir.run("cluster raw.txt --output paths.txt --quiet");
    assert_eq!((output.stderr.as_str(), output.stdout.as_str()), ("", ""));
}

#[test]
fn clusters_do_not_depend_on_the_number_of_threads() {
    let dir = test_dir();
    for threads in [1, 3] {
        let options = format!("--clusters 4 --threads {threads} --output paths{threads} --quiet");
        dir.run(&format!("cluster raw.txt names.conll {options}")).success();
    }
    assert_eq!(dir.text("paths1"), dir.text("paths3"));
}

#[test]
fn standard_input_is_raw_text() {
    let dir = test_dir();
    dir.run_with_stdin("cluster - --clusters 3 --output piped --quiet", TEXT).success();
    dir.run("cluster raw.txt --clusters 3 --output read --quiet").success();
    assert_eq!(dir.text("piped"), dir.text("read"));
}

#[test]
fn errors_leave_no_file() {
    let dir = test_dir();
    dir.write("empty.txt", "\n");
    dir.write("ready.crfsuite", "O\tw=a\n\n");
    for (line, expected) in [
        (
            "cluster empty.txt --output paths.txt --quiet",
            "the text has 0 different words that occur 1 times or more; expected at least 2",
        ),
        (
            "cluster ready.crfsuite --output paths.txt --quiet",
            "ready.crfsuite:1: found pre-extracted attributes; expected words (raw text, CoNLL, \
             CoNLL-U or JSON lines)",
        ),
    ] {
        assert_eq!(dir.run(line).failure(), expected);
    }
    let message = dir.run("cluster none.txt --output paths.txt --quiet").failure();
    assert!(message.starts_with("none.txt: "), "{message}");
    assert!(!dir.path("paths.txt").exists());
    for line in [
        "cluster raw.txt --clusters 1 --output paths.txt",
        "cluster - - --output paths.txt",
        "cluster raw.txt",
    ] {
        assert_eq!(dir.run(line).status.code(), Some(2), "{line}");
    }
}
