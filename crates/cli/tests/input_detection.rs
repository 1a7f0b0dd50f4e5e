//! Input whose format nobody says: `tag` and `eval` know what the model was trained on.

use std::io::{BufRead, BufReader, Write};

use crate::support::{TestDir, finish};

const CORPUS: &str = "\
Ann NNP B-PER
left VBD O
Rome NNP B-LOC
. . O

Bob NNP B-PER
saw VBD O
Ann NNP B-PER
. . O

";

/// A directory with a model of three columns, whose template reads the first.
fn trained() -> TestDir {
    TestDir::with_model(CORPUS, "--columns word,pos,ner --template minimal")
}

/// The first cells and the last cells of the tokens.
fn outer_cells(tagged: &str) -> Vec<(&str, &str)> {
    let lines = tagged.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split([' ', '\t']).collect();
            (cells[0], cells[cells.len() - 1])
        })
        .collect()
}

#[test]
fn columns_as_in_training_are_read_as_columns() {
    let dir = trained();
    let expected = dir.run("tag m train.conll").success();
    assert_eq!(outer_cells(&expected)[0], ("Ann", "B-PER"));
    dir.write("test.txt", CORPUS);
    dir.write("test.b", format!("-DOCSTART- -X- O\n\n{CORPUS}"));
    dir.write("untagged.tabs", CORPUS.replace(' ', "\t").replace("\tB-", "\tI-"));
    for name in ["test.txt", "test.b", "untagged.tabs"] {
        let run = dir.run(&format!("tag m {name}"));
        let notices = format!(
            "{name}: read as columns (word pos ner); --format text reads raw text\n{name}: its \
             labels (ner) are ignored; --forced ner keeps them"
        );
        assert_eq!(run.stderr.trim_end(), notices);
        let tagged = run.success();
        assert!(outer_cells(&tagged).ends_with(&outer_cells(&expected)), "{tagged}");
    }
    let from_pipe = dir.run_with_stdin("tag m", CORPUS);
    assert!(from_pipe.stderr.starts_with("standard input: read as columns"));
    assert_eq!(from_pipe.success(), expected);
}

#[test]
fn other_text_stays_text_and_is_answered_at_once() {
    let dir = trained();
    let run = dir.run_with_stdin("tag m --output inline", "Ann left Rome.\n");
    assert_eq!(run.stderr, "");
    let mut child = dir.command("tag m --output inline").spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdin.write_all(b"Ann left Rome\n").unwrap();
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap(); // before more is written
    assert_eq!(line, "[PER Ann] left [LOC Rome]\n");
    drop(stdin);
    finish(child, "tag m").success();
}

#[test]
fn columns_that_the_template_does_not_read_may_be_missing() {
    let dir = trained();
    let words: String = CORPUS
        .lines()
        .map(|line| line.split(' ').next().unwrap_or_default().to_owned() + "\n")
        .collect();
    dir.write("words.conll", words);
    let tagged = dir.run("tag m words.conll").success();
    assert_eq!(outer_cells(&tagged)[0], ("Ann", "B-PER"));
    dir.write("labeled.conll", CORPUS.replace(" NNP", "").replace(" VBD", "").replace(" . ", " "));
    let report = dir.run("eval m labeled.conll --json").json();
    assert_eq!(report["f1"], 1.0);
}
