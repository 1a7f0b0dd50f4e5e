//! The figures of the documentation, which are drawn from the sample corpus.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The largest relative difference between errors: what other instructions of the processor may
/// change in 30 iterations of training.
const TOLERANCE: f64 = 0.01;

/// Errors below are rounding errors.
const ROUNDING: f64 = 1e-6;

fn committed(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("docs/figures").join(name)
}

/// Returns the errors of the engines that approximate the gradient.
fn errors(report: &Value) -> Vec<(String, f64)> {
    let mut errors = Vec::new();
    for row in report["engines"].as_array().unwrap() {
        let engine = row["engine"].as_str().unwrap();
        for name in ["relative_error", "relative_error_whole"] {
            let approximate = engine == "local" || engine.starts_with("window=");
            if let Some(value) = row[name].as_f64().filter(|_| approximate) {
                errors.push((format!("{name}, {engine}"), value));
            }
        }
    }
    errors
}

#[test]
fn the_errors_of_the_committed_figure_are_those_of_the_program() {
    let old: Value =
        serde_json::from_str(&fs::read_to_string(committed("gradients.json")).unwrap()).unwrap();
    // Longer than runs of other tests may take.
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpora/sample/train.conll");
    let options = "--columns word,upos,ner --template ner --repeat 1 \
                   --engines local,window=1,window=2";
    let run = Command::new(env!("CARGO_BIN_EXE_dropchain"))
        .args(["bench", "gradients", "--quiet", "--json", "-"])
        .args(options.split(' '))
        .arg(sample)
        .output()
        .unwrap();
    assert!(run.status.success(), "{run:?}");
    let new: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(old["weights"], new["weights"]);
    let (old, new) = (errors(&old), errors(&new));
    for (name, new) in new {
        let (_, old) = old.iter().find(|(other, _)| *other == name).unwrap();
        let difference = (old - new).abs();
        assert!(
            difference <= TOLERANCE * old.max(ROUNDING),
            "{name}: {old} is committed, {new} measured; draw anew with docs/figures/draw.sh"
        );
    }
}
