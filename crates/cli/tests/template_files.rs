//! Template files and the files they name, hostile or odd.

use std::fs;

use dropchain::Template;
use serde_json::json;

use crate::support::{NER_CORPUS, TestDir};

fn dir_with(template: &str) -> TestDir {
    TestDir::new(&[("train.conll", NER_CORPUS), ("my.tpl", template)])
}

const TRAIN: &str = "train train.conll --template my.tpl --model m --quiet --max-iterations 3";

#[cfg(unix)]
#[test]
fn pipes_that_no_program_writes_to_are_errors_and_do_not_hang() {
    let dir = dir_with("lexicon(\"pipe\")\n");
    dir.make_pipe("pipe");
    assert_eq!(
        dir.run(TRAIN).failure(),
        "my.tpl:1:9: cannot read 'pipe': is empty, or a pipe that no program writes to; expected \
         a text file"
    );
    assert_eq!(
        dir.run("train train.conll --template pipe --model m").failure(),
        "pipe: is empty, or a pipe that no program writes to; expected a template"
    );
}

#[test]
fn a_model_holds_the_files_of_its_template() {
    let dir = dir_with("word\nlexicon(\"names.txt\")\n");
    dir.write("names.txt", "Ann Lee\nRome\n");
    dir.run(TRAIN).success();
    let before = dir.run_with_stdin("tag m", "Ann Lee left Rome.\n").success();
    fs::remove_file(dir.path("names.txt")).unwrap();
    #[cfg(unix)]
    dir.make_pipe("names.txt"); // opening it would hang or fail
    let after = dir.run_with_stdin("tag m", "Ann Lee left Rome.\n").success();
    assert_eq!(before, after);
}

/// Parses a template as stored in a model.
fn stored(source: &str, files: &[(&str, &str)]) -> Result<Template, String> {
    let stored = json!({
        "source": source, "file": "t.tpl", "files": files, "known_words": [],
        "caseless": false
    });
    serde_json::from_value(stored).map_err(|error| error.to_string())
}

#[test]
fn the_regular_expressions_of_a_stored_template_are_bounded_in_sum() {
    let template = |expression: fn(usize) -> String, n: usize| {
        let lines = (0..n).map(|i| format!("regex(\"{}\")\n", expression(i)));
        stored(&lines.collect::<String>(), &[])
    };
    template(|i| format!("^a{i}"), 256).unwrap();
    let error = template(|i| format!("^a{i}"), 20_000).unwrap_err();
    assert!(error.contains("t.tpl:257:7: more than 256 different"), "{error}");
    let error = template(|i| format!("\\pL{{20}}{i}"), 1).unwrap_err();
    assert!(error.contains("exceeds size limit of 262144 bytes"), "{error}");
}

#[test]
fn a_stored_template_cannot_multiply_its_files() {
    // Long words: what counts are bytes, what costs are numbers.
    let vectors: String = (0..250).map(|i| format!("{}{i} 0.1\n", "word".repeat(10_000))).collect();
    let lines = (1..).map(|n| format!("vector(\"v\", first({}))\n", 250 - n));
    let source: String = lines.take(150).collect();
    let error = stored(&source, &[("v", &vectors)]).unwrap_err();
    assert!(error.contains("too many functions read large files"), "{error}");
}

#[test]
fn templates_may_read_thousands_of_columns() {
    const COLUMNS: usize = 5_000;
    let row = vec!["a"; COLUMNS].join(" ");
    let corpus = format!("{row} X\n{row} Y\n\n");
    let template: String = (0..COLUMNS).map(|i| format!("column({i})\n")).collect();
    let dir = TestDir::new(&[("train.conll", &corpus), ("my.tpl", &template)]);
    dir.run(TRAIN).success();
    assert_eq!(dir.inspect("")["node_attributes"], COLUMNS);
}
