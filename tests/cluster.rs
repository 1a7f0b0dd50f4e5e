//! `dropchain cluster`: what it writes, and what it refuses.

use crate::support::{Folder, NAMES};

const TEXT: &str = "the dog runs. a cat sleeps. the cat runs. a dog sleeps. the dog sleeps.\n";

fn folder() -> Folder {
    Folder::new(&[("raw.txt", TEXT), ("names.conll", NAMES)])
}

#[test]
fn templates_read_the_clusters() {
    let folder = folder();
    folder
        .run("cluster raw.txt names.conll --clusters 4 --output paths.txt")
        .succeeded();
    folder.write(
        "my.tpl",
        "word\ncluster(\"paths.txt\", 1, 2)\ncluster(\"paths.txt\")\n",
    );
    folder
        .run("train names.conll --template my.tpl --model m --quiet")
        .succeeded();
    let shown = folder.run("inspect m --json --top 100").succeeded();
    assert!(
        shown.contains("cluster(\\\"paths.txt\\\", 1, 2)[0]="),
        "{shown}"
    );
}

#[test]
fn every_line_has_a_path_a_word_and_its_count() {
    let folder = folder();
    folder
        .run("cluster raw.txt names.conll --clusters 3 --output paths.txt --quiet")
        .succeeded();
    let text = folder.text("paths.txt");
    for line in text.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        assert_eq!(cells.len(), 3, "{line}");
        assert!(!cells[0].is_empty() && cells[0].bytes().all(|b| matches!(b, b'0' | b'1')));
        assert!(cells[2].parse::<u64>().unwrap() > 0, "{line}");
    }
    assert!(
        text.lines().any(|line| line.ends_with("\tAnn\t2")),
        "{text}"
    );
    assert!(!text.contains("B-PER") && !text.contains("NNP"), "{text}");
}

#[test]
fn words_that_are_too_rare_are_left_out() {
    let folder = folder();
    folder
        .run("cluster raw.txt --clusters 2 --min-count 3 --output paths.txt --quiet")
        .succeeded();
    let text = folder.text("paths.txt");
    let mut words: Vec<&str> = text.lines().filter_map(|l| l.split('\t').nth(1)).collect();
    words.sort_unstable();
    assert_eq!(words, [".", "dog", "sleeps", "the"]);
}

#[test]
fn progress_goes_to_stderr_and_nothing_to_stdout() {
    let folder = folder();
    let output = folder.run("cluster raw.txt --clusters 100 --output paths.txt");
    assert!(
        output.stderr.contains("fewer words than 100"),
        "{output:#?}"
    );
    assert!(
        output.stderr.contains("wrote paths.txt: 7 clusters"),
        "{output:#?}"
    );
    assert_eq!(output.succeeded(), "");
    let output = folder.run("cluster raw.txt --output paths.txt --quiet");
    assert_eq!((output.stderr.as_str(), output.stdout.as_str()), ("", ""));
}

#[test]
fn the_clusters_do_not_depend_on_the_threads() {
    let folder = folder();
    for threads in [1, 3] {
        folder
            .run(&format!(
                "cluster raw.txt names.conll --clusters 4 --threads {threads} --output paths{threads} --quiet"
            ))
            .succeeded();
    }
    assert_eq!(folder.text("paths1"), folder.text("paths3"));
}

#[test]
fn standard_input_is_raw_text() {
    let folder = folder();
    folder
        .run_with("cluster - --clusters 3 --output piped --quiet", TEXT)
        .succeeded();
    folder
        .run("cluster raw.txt --clusters 3 --output read --quiet")
        .succeeded();
    assert_eq!(folder.text("piped"), folder.text("read"));
}

#[test]
fn faults_leave_no_file() {
    let folder = folder();
    folder.write("empty.txt", "\n");
    folder.write("ready.crfsuite", "O\tw=a\n\n");
    for (line, expected) in [
        (
            "cluster empty.txt --output paths.txt --quiet",
            "the text has 0 different words that occur 1 times or more; expected at least 2",
        ),
        (
            "cluster ready.crfsuite --output paths.txt --quiet",
            "ready.crfsuite:1: found ready-made attributes; expected words (raw text, CoNLL, CoNLL-U or JSON lines)",
        ),
    ] {
        assert_eq!(folder.run(line).failed(), expected);
    }
    let message = folder
        .run("cluster none.txt --output paths.txt --quiet")
        .failed();
    assert!(message.starts_with("none.txt: "), "{message}");
    assert!(!folder.path("paths.txt").exists());
    for line in [
        "cluster raw.txt --clusters 1 --output paths.txt",
        "cluster - - --output paths.txt",
        "cluster raw.txt",
    ] {
        assert_eq!(folder.run(line).status.code(), Some(2), "{line}");
    }
}
