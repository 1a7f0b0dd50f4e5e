//! Labels of other notations than `B-PER`: recognized, said, kept, scored and convertible.

use crate::support::{NER_CORPUS, TestDir};

#[test]
fn a_stray_label_is_named_and_leaves_the_scheme_as_it_is() {
    for stray in ["\"", "NE-COARSE-LIT", "comment", "B:PER"] {
        let text = format!("{NER_CORPUS}\nodd NN {stray}\nword NN O\n");
        let dir = TestDir::new(&[("train.conll", &text)]);
        let train = "train train.conll --model m --template minimal --max-iterations 5";
        let run = dir.run(train);
        let lines = text.lines().count();
        let place = format!("warning: train.conll:{}: the label '", lines - 1);
        assert!(run.stderr.contains(&place), "{}", run.stderr);
        run.success();
        assert_eq!(dir.inspect("")["scheme"], "iob2");
        let report = dir.run("eval --predictions train.conll train.conll");
        assert!(report.stdout.contains("with 6 phrases"), "{report:?}");
        assert!(report.stderr.contains(&place), "{report:?}");
        // What cannot be converted is an error, not a span.
        let converted = dir.run(&format!("{train} --scheme bioes"));
        let expected = format!("train.conll:{}: --scheme bioes: the label '", lines - 1);
        assert!(converted.stderr.contains(&expected), "{}", converted.stderr);
    }
}

#[test]
fn a_sentence_that_may_be_several_is_said() {
    let dir = TestDir::new(&[("long.conll", &"a B-X\nb O\n".repeat(501))]);
    let run = dir.run("train long.conll --model m --template minimal --max-iterations 2");
    let long = "warning: long.conll:1: a sentence of 1002 tokens; are the blank lines between";
    assert!(run.stderr.contains(long), "{run:?}");
}
