//! Comparison with CRFsuite: the same attributes and penalty must give the same optimum.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::TestDir;

/// The attributes of CRFsuite's chunking example: column and offset of each part.
const TEMPLATES: [&[(&str, isize)]; 19] = [
    &[("w", -2)],
    &[("w", -1)],
    &[("w", 0)],
    &[("w", 1)],
    &[("w", 2)],
    &[("w", -1), ("w", 0)],
    &[("w", 0), ("w", 1)],
    &[("pos", -2)],
    &[("pos", -1)],
    &[("pos", 0)],
    &[("pos", 1)],
    &[("pos", 2)],
    &[("pos", -2), ("pos", -1)],
    &[("pos", -1), ("pos", 0)],
    &[("pos", 0), ("pos", 1)],
    &[("pos", 1), ("pos", 2)],
    &[("pos", -2), ("pos", -1), ("pos", 0)],
    &[("pos", -1), ("pos", 0), ("pos", 1)],
    &[("pos", 0), ("pos", 1), ("pos", 2)],
];

/// Number of sentences of CoNLL-2000 to train on in debug builds, where all would take too long.
const FEW: usize = 800;

/// Relative tolerance by which CRFsuite's objective may be lower: both programs stop when the
/// objective hardly changes.
const TOLERANCE: f64 = 3e-4;

/// Returns the training file of CoNLL-2000, if it is present.
fn conll2000() -> Option<PathBuf> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    ["../shared/corpora", "corpora/public"]
        .map(|dir| root.join(dir).join("conll2000/train.txt"))
        .into_iter()
        .find(|file| file.exists())
}

/// Extracts the attribute of a template at token `t`, if all its parts lie in the sentence.
fn attribute(sentence: &[Vec<&str>], t: usize, template: &[(&str, isize)]) -> Option<String> {
    let mut names = Vec::new();
    let mut values = Vec::new();
    for &(column, offset) in template {
        let token = sentence.get(t.checked_add_signed(offset)?)?;
        names.push(format!("{column}[{offset}]"));
        values.push(token[usize::from(column == "pos")]);
    }
    let attribute = format!("{}={}", names.join("|"), values.join("|"));
    Some(attribute.replace('\\', "\\\\").replace(':', "\\:"))
}

/// Converts a corpus of words, parts of speech and labels to CRFsuite's format.
fn to_crfsuite(corpus: &str, sentences: usize) -> String {
    let mut out = String::new();
    for sentence in corpus.split("\n\n").take(sentences) {
        let tokens: Vec<Vec<&str>> = sentence.lines().map(|l| l.split(' ').collect()).collect();
        for (t, token) in tokens.iter().enumerate() {
            out.push_str(token[2]);
            for template in TEMPLATES {
                if let Some(attribute) = attribute(&tokens, t, template) {
                    let _ = write!(out, "\t{attribute}");
                }
            }
            if t == 0 {
                out.push_str("\t__BOS__");
            }
            if t + 1 == tokens.len() {
                out.push_str("\t__EOS__");
            }
            out.push('\n');
        }
        out.push('\n');
    }
    out
}

/// Trains with python-crfsuite and returns the final objective; `None` if it is not installed.
fn crfsuite_objective(dir: &TestDir, l2: &str) -> Option<f64> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peer/crfsuite.py");
    let run = Command::new("python3")
        .arg(script)
        .arg(dir.path("train.crfsuite"))
        .arg(l2)
        .arg(dir.path("peer.crfsuite"))
        .output()
        .ok()?;
    if run.status.code() == Some(3) {
        return None;
    }
    assert!(run.status.success(), "{run:?}");
    let text = String::from_utf8(run.stdout).unwrap();
    Some(text.trim().parse().unwrap())
}

/// Trains with dropchain and returns the final objective.
fn dropchain_objective(dir: &TestDir, l2: &str) -> f64 {
    let line = format!(
        "train train.crfsuite --states observed --boundary off --dropout 0 --l2 {l2} \
         --model m --log log.jsonl --quiet"
    );
    // Without a timeout: training on all sentences takes minutes.
    let mut child = dir.command(&line).spawn().unwrap();
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    let log = dir.json_lines("log.jsonl");
    log[log.len() - 2]["objective"].as_f64().unwrap()
}

#[test]
#[expect(clippy::print_stdout, reason = "reports a skipped test")]
fn training_reaches_the_objective_of_crfsuite() {
    let Some(corpus) = conll2000() else {
        println!("skipped: corpus not found");
        return;
    };
    let all = cfg!(not(debug_assertions)) || std::env::var("DROPCHAIN_SLOW_TESTS").is_ok();
    let sentences = if all { usize::MAX } else { FEW };
    let corpus = fs::read_to_string(corpus).unwrap();
    let dir = TestDir::new(&[("train.crfsuite", &to_crfsuite(&corpus, sentences))]);
    let Some(peer) = crfsuite_objective(&dir, "1") else {
        println!("skipped: python-crfsuite not found");
        return;
    };
    let ours = dropchain_objective(&dir, "1");
    println!("objective {ours:.3}, CRFsuite's {peer:.3}");
    assert!(ours <= peer * (1.0 + TOLERANCE), "{ours} instead of {peer}");
    assert!(ours >= peer * (1.0 - 10.0 * TOLERANCE), "{ours}: not the objective of {peer}");
}
