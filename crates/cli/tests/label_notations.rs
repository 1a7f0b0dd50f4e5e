//! Labels of other notations than `B-PER`: recognized, said, kept, scored and convertible.

use crate::support::{NER_CORPUS, TestDir};

/// The corpus of named entities with other labels, given as functions of tag and type; `O` has no
/// type.
fn corpus(write: impl Fn(&str, &str) -> String) -> String {
    let mut text = String::new();
    for line in NER_CORPUS.lines() {
        match line.rsplit_once(' ') {
            Some((cells, label)) => {
                let (tag, kind) = label.split_once('-').unwrap_or((label, ""));
                text.push_str(&format!("{cells} {}\n", write(tag, kind)));
            }
            None => text.push('\n'),
        }
    }
    text
}

/// A corpus of BIOES with other letters.
fn bioes(letters: [&str; 4]) -> String {
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal");
    let tagged = dir.run("tag m train.conll --scheme bioes").success();
    let mut text = String::new();
    for line in tagged.lines() {
        let Some((cells, label)) = line.rsplit_once([' ', '\t']) else {
            text.push('\n');
            continue;
        };
        let (word_pos, _) = cells.rsplit_once([' ', '\t']).unwrap();
        let label = match label.split_once('-') {
            Some((tag, kind)) => {
                let i = "BIES".find(tag).unwrap();
                format!("{}-{kind}", letters[i])
            }
            None => label.to_owned(),
        };
        text.push_str(&format!("{word_pos} {label}\n"));
    }
    text
}

/// Trains on the corpus, and checks that its labels are read so, come back as they are, and are
/// scored as spans.
#[track_caller]
fn check(corpus: &str, read_as: &str) {
    let dir = TestDir::new(&[("train.conll", corpus)]);
    let run = dir.run("train train.conll --model m --l2 0.01 --template minimal");
    let line = format!("read as {read_as}, ");
    assert!(run.stderr.contains(&line), "{}", run.stderr);
    assert!(!run.stderr.contains("warning"), "{}", run.stderr);
    run.success();
    assert_eq!(dir.inspect("")["labels_read_as"], read_as);
    let tagged = dir.run("tag m train.conll").success();
    for line in tagged.lines().filter(|line| !line.is_empty()) {
        let cells: Vec<&str> = line.split([' ', '\t']).collect();
        assert_eq!(cells[2], cells[3], "{line}");
    }
    let whole = "with 6 phrases; found: 6 phrases; correct: 6";
    for command in ["eval m train.conll", "eval --predictions train.conll train.conll"] {
        let report = dir.run(command);
        assert!(report.stdout.contains(whole), "{report:?}");
        assert!(report.stderr.contains(&line), "{report:?}");
    }
    let sentence = &dir.run("tag m train.conll --output jsonl").json_lines()[0];
    assert_eq!(sentence["spans"].as_array().unwrap().len(), 2, "{sentence}");
    assert_eq!(sentence["spans"][0]["token_end"], 2, "{sentence}");
    let canonical = dir.run("tag m train.conll --scheme iob2").success();
    let lower = canonical.to_uppercase();
    assert!(lower.contains("B-") && lower.contains("I-"), "{canonical}");
    let checked = dir.run("check train.conll").stdout;
    assert!(checked.contains(&format!("\nLabels\n{read_as}, ")), "{checked}");
}

#[test]
fn separators_suffixes_and_case_are_kept() {
    check(
        &corpus(|tag, kind| match tag {
            "O" => "o".to_owned(),
            _ => format!("{}-{kind}", tag.to_lowercase()),
        }),
        "IOB2 written b-X, outside 'o'",
    );
}

#[test]
fn other_letters_are_kept() {
    check(&bioes(["B", "M", "E", "W"]), "BMEWO");
}

#[test]
fn the_label_outside_is_given() {
    let dir = TestDir::new(&[("plain.conll", "a X\nb X\nc X\nd Y\ne NIL\n")]);
    let eval = "eval --predictions plain.conll plain.conll";
    assert!(!dir.run(eval).stdout.contains("phrases"));
    let given = dir.run(&format!("{eval} --plain-labels spans --outside NIL"));
    assert!(given.stdout.contains("with 2 phrases"), "{given:?}");
}

#[test]
fn where_only_the_first_token_is_marked_it_begins_a_span() {
    // Of two adjacent spans, the second is marked.
    let dir = TestDir::new(&[("a.conll", "a I-<x>\nb <x>\nc I-<x>\nd <other>\ne I-<y>\nf <y>\n")]);
    let report = dir.run("eval --predictions a.conll a.conll").success();
    assert!(report.contains("with 3 phrases; found: 3 phrases; correct: 3"));
}

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
fn labels_of_no_scheme_are_said_and_scored_by_accuracy_alone() {
    for corpus in ["a B-X\nb NN\nc I-X\nd VB\n", "a B_X\nb O\nc NN\nd I_X\ne XY\n"] {
        let dir = TestDir::new(&[("a.conll", corpus)]);
        let report = dir.run("eval --predictions a.conll a.conll");
        assert!(report.stdout.starts_with("accuracy: 100.00%"), "{report:?}");
        let said = "has no tag such as B-, unlike others: no spans are read";
        assert!(report.stderr.contains(said), "{report:?}");
    }
}

#[test]
fn only_whole_spans_of_bioes_count() {
    // As with seqeval's mode='strict', scheme=IOBES.
    let gold = "a B-X\nb I-X\nc E-X\nd O\ne S-Y\nf B-X\ng E-X\n";
    let predicted = "a B-X\nb I-X\nc I-X\nd O\ne S-Y\nf I-X\ng E-X\n";
    let dir = TestDir::new(&[("gold", gold), ("predicted", predicted)]);
    let report = dir.run("eval --predictions predicted gold").success();
    assert!(report.contains("with 3 phrases; found: 1 phrases; correct: 1"), "{report}");
    // conlleval's rules read every sequence of IOB.
    let gold = "a B-X\nb I-X\nd O\ne B-Y\n";
    let predicted = "a I-X\nb I-X\nd O\ne I-Y\n";
    let dir = TestDir::new(&[("gold", gold), ("predicted", predicted)]);
    let report = dir.run("eval --predictions predicted gold").success();
    assert!(report.contains("with 2 phrases; found: 2 phrases; correct: 2"), "{report}");
}

#[test]
fn what_leaves_nothing_to_learn_or_to_score_is_said() {
    let dir = TestDir::new(&[
        ("outside.conll", "a O\nb O\n\nc O\n"),
        ("tags.conll", "a NN\nb NN\n"),
        ("gold.conll", "a B-PER\nb O\n"),
        ("other.conll", "a B-person\nb O\n"),
        ("long.conll", &"a B-X\nb O\n".repeat(501)),
    ]);
    for corpus in ["outside.conll", "tags.conll"] {
        let run = dir.run(&format!("train {corpus} --model m --template minimal"));
        assert_eq!(run.status.code(), Some(3), "{run:?}");
        assert!(run.stderr.contains("nothing could be learned"), "{run:?}");
    }
    let run = dir.run("eval --predictions outside.conll outside.conll");
    assert!(run.stderr.contains("warning: no token is in a span"), "{run:?}");
    let run = dir.run("eval --predictions other.conll gold.conll");
    let types = "warning: no type of the predictions (person) is one of the gold labels (PER)";
    assert!(run.stderr.contains(types), "{run:?}");
    let run = dir.run("train long.conll --model m --template minimal --max-iterations 2");
    let long = "warning: long.conll:1: a sentence of 1002 tokens; are the blank lines between";
    assert!(run.stderr.contains(long), "{run:?}");
}
