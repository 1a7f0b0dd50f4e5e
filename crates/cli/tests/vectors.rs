//! Word vectors in templates.

use crate::support::TestDir;

const TRAIN: &str = "Ann B-PER\nsaw O\nRome B-LOC\n\nLee B-PER\nleft O\nYork B-LOC\n\n";
const VECTORS: &str = "\
9 2
Ann 1 0.1
Lee 0.9 0
Bob 1.1 0
Rome 0 1
York 0.1 0.9
Oslo 0 1.1
saw -1 -1
left -0.9 -1
met -1 -0.9
";
const TEMPLATE: &str = "bias\nvector(\"v.txt\")\n";

fn dir(vectors: &str, template: &str) -> TestDir {
    TestDir::new(&[("train.conll", TRAIN), ("v.txt", vectors), ("my.tpl", template)])
}

const LINE: &str = "train train.conll --template my.tpl --model m --l2 0.01 --quiet";

#[test]
fn unseen_words_are_labeled_by_their_vectors() {
    let dir = dir(VECTORS, TEMPLATE);
    dir.run(LINE).success();
    std::fs::remove_file(dir.path("v.txt")).unwrap();
    let tagged = dir.run_with_stdin("tag m --format conll", "Bob\nmet\nOslo\n");
    assert_eq!(tagged.success(), "Bob B-PER\nmet O\nOslo B-LOC\n\n");
}

#[test]
fn the_model_stores_only_the_requested_words() {
    let sizes = ["vector(\"v.txt\")\n", "vector(\"v.txt\", first(2))\n"].map(|template| {
        let dir = dir(VECTORS, template);
        dir.run(LINE).success();
        let model = dir.bytes("m");
        model.windows(4).filter(|bytes| bytes == b"Oslo").count()
    });
    assert_eq!(sizes, [1, 0]);
}

#[test]
fn errors_in_the_file_name_their_line() {
    let ragged = VECTORS.replace("Rome 0 1", "Rome 0");
    assert_eq!(
        dir(&ragged, TEMPLATE).run(LINE).failure(),
        "v.txt:5: found 1 numbers; expected 2, as before ('Rome 0')"
    );
    let not_a_number = VECTORS.replace("Rome 0 1", "Rome 0 nan");
    assert_eq!(
        dir(&not_a_number, TEMPLATE).run(LINE).failure(),
        "v.txt:5: found 'nan'; expected a number of at most 1e15"
    );
}
