//! Documents: marks, windows, and templates that look at them.

use dropchain::Template;

use crate::support::{Session, TestDir};

/// The label of a word that occurs once in its document is `O`, of one that recurs `R`.
const CORPUS: &str = "\
-DOCSTART- O

Ann R
left O

Rome O
saw O
Ann R

-DOCSTART- O

Ann O
stayed O

Bob O
left O
";

#[test]
fn at_a_terminal_sentences_are_answered_at_once_if_they_are_documents() {
    // The template sees nothing but whether a word recurs.
    let train = "train train.conll --template doc.tpl --model m --quiet --dropout 0 --l2 0.01";
    let files = [("train.conll", CORPUS), ("doc.tpl", "mention(order)\n")];
    let dir = TestDir::trained(&files, train);
    let mut tag = Session::start(&dir, "tag m - --document sentence");
    tag.exchange("Ann Ann\n", "Ann\tR\nAnn\tR\n");
    tag.exchange("\nleft\n", "\nleft\tO\n");
    tag.finish_after_output();
    // A document is answered when the next one begins.
    let mut tag = Session::start(&dir, "tag m - --format conll --columns word");
    tag.exchange("Ann\n\nAnn\n\n-DOCSTART-\n\n", "Ann R\n\nAnn R\n");
    tag.finish_after_output();
}

#[test]
fn ner_looks_at_documents_where_they_are_marked() {
    let dir = TestDir::new(&[("marked.conll", CORPUS)]);
    dir.write("plain.conll", CORPUS.replace("-DOCSTART- O\n\n", ""));
    for (options, expected) in [
        ("marked.conll", "ner-document"),
        ("plain.conll", "ner"),
        ("plain.conll --document file", "ner-document"),
        ("marked.conll --document sentence", "ner"),
    ] {
        let run = dir.run(&format!("train {options} --template ner --max-iterations 1 --model m"));
        let is_said = run.stderr.contains(": template ner-document");
        assert_eq!(is_said, expected == "ner-document", "{}", run.stderr);
        let shipped = Template::shipped(expected).unwrap().unwrap();
        let template = dir.inspect("")["template"].as_str().unwrap().to_owned();
        assert!(template.starts_with(shipped.source()), "{options}: {template}");
    }
}
