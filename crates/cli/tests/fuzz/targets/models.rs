//! Model files with valid checksums but hostile contents.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dropchain::model::{AttributeKind, Model};
use dropchain::sentence::Schema;
use dropchain::tag::{TagOptions, Tagger, Workspace};
use dropchain::{Corpus, Sentence, Template, TrainOptions, Trainer};
use tempfile::TempDir;

use crate::harness::Target;
use crate::sealing;

/// Every how many inputs the program itself opens the model as well.
const PROGRAM_EVERY: u64 = 200;

const TEMPLATES: [&str; 4] = [
    "word\nedge: word\n",
    "word\nprefix(1..3)\nshape & word[-1]\nlexicon(\"f\")\nvalue(size)\n",
    "word\nshape\npredicted\n",
    "U00:%x[0,0]\nU01:%m[-1,0,\"^.?\"]\nB\n",
];

/// Trains small models of all kinds of tables.
pub(super) fn models() -> Vec<Vec<u8>> {
    let rows = [
        ["Ann 1 B-PER", "Lee 2 I-PER", "left 3 O", "Rome 4 B-LOC"],
        ["York 5 B-LOC", "met 6 O", "Bob 7 B-PER", ". 8 O"],
    ];
    let names = ["word", "size", "label"].map(str::to_owned).to_vec();
    let schema = Arc::new(Schema::new(names, Some(2)).unwrap());
    let sentences = rows.map(|rows| {
        let mut sentence = Sentence::new(Arc::clone(&schema), "x");
        for row in rows {
            sentence.push(row.split(' '), 1).unwrap();
        }
        sentence
    });
    let mut models = Vec::new();
    for source in TEMPLATES {
        let mut load = |_: &str| Ok("Rome\nNew York\n".to_owned());
        let template = Template::parse(source, "t.tpl", &mut load).unwrap();
        let corpus: dropchain::Result<Corpus> = sentences.iter().cloned().map(Ok).collect();
        let trainer = Trainer::new(TrainOptions::default()).unwrap();
        let trained = trainer.train(corpus.unwrap(), template, &mut ()).unwrap();
        models.push(trained.model.as_bytes().to_vec());
    }
    models
}

/// A sentence with the columns of a model, numbers in each cell, so that any template applies.
fn sentence(columns: &[String], label: Option<usize>) -> Option<Sentence> {
    let schema = Schema::new(columns.to_vec(), label).ok()?;
    let mut sentence = Sentence::new(Arc::new(schema), "x");
    for word in ["Ann", "7", "left", "York", "e\u{301}|\\"] {
        let number = |c: usize| if c == 0 { word } else { "7" };
        sentence.push((0..columns.len()).map(number), 1).unwrap();
    }
    Some(sentence)
}

/// Does everything that the library offers with a model.
fn exercise(bytes: Vec<u8>) {
    let Ok(model) = Model::from_bytes(bytes) else { return };
    let header = model.header().clone();
    let k = header.labels.len();
    for kind in [AttributeKind::Node, AttributeKind::Edge] {
        let size = if kind == AttributeKind::Node { k } else { k * k };
        let mut scores = vec![0.0; size];
        for i in (0..model.attributes(kind).min(100)).chain([model.attributes(kind)]) {
            if let Ok(name) = model.attribute_name(kind, i) {
                let _ = model.add_scores(kind, name, 1.0, k, &mut scores);
            }
        }
    }
    let _ = model.verify();
    let tagger = Tagger::new(model);
    let _ = tagger.tag_words(["Ann", "Lee", "left", "Rome", "."]);
    let label = (0..header.columns.names.len()).find(|&i| header.columns.is_label(i));
    if let Some(sentence) = sentence(&header.columns.names, label) {
        tag(&tagger, &sentence, false);
    }
}

/// Tags a sentence in every way, and checks the result. A hostile model may have weights so large
/// that their rounding errors exceed all other scores: then marginals are only finite.
pub(super) fn tag(tagger: &Tagger, sentence: &Sentence, is_genuine: bool) {
    let k = tagger.model().header().labels.len();
    let mut workspace = Workspace::default();
    for constrain in [true, false] {
        let options = TagOptions { constrain, marginals: true, nbest: 3, probability: true };
        let Ok(tagging) = tagger.tag_with(sentence, options, &mut workspace) else { continue };
        let paths = tagging.nbest.iter().map(|path| &path.labels);
        for labels in [&tagging.labels].into_iter().chain(paths) {
            assert_eq!(labels.len(), sentence.len());
            assert!(labels.iter().all(|label| label.index() < k));
            assert_eq!(tagger.label_names(labels).len(), labels.len());
        }
        let marginals = tagging.marginals.unwrap();
        assert!(marginals.values().iter().all(|p| p.is_finite()), "{marginals:?}");
        for row in marginals.rows().filter(|_| is_genuine) {
            let sum: f64 = row.iter().sum();
            assert!((sum - 1.0).abs() < 1e-6, "marginals sum to {sum}");
        }
        let again = tagger.tag_with(sentence, options, &mut Workspace::default()).unwrap();
        assert_eq!(again.labels, tagging.labels);
        assert_eq!(again.marginals, Some(marginals));
    }
}

/// Lets the program open a model; it succeeds or reports an error.
fn run_program(bytes: &[u8], dir: &TempDir) {
    let model = dir.path().join("m");
    std::fs::write(&model, bytes).unwrap();
    std::fs::write(dir.path().join("text"), "Ann Lee left Rome.\n").unwrap();
    for arguments in [&["inspect", "m"][..], &["inspect", "m", "--json"], &["tag", "m", "text"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dropchain"));
        let output = command.args(arguments).current_dir(dir.path()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let ended = matches!(output.status.code(), Some(0 | 1));
        assert!(ended && !stderr.contains("panicked"), "{arguments:?}: {stderr}");
    }
}

#[test]
fn a_hostile_model_with_valid_checksums_is_an_error_or_yields_valid_labels() {
    let dir = TempDir::new().unwrap();
    let inputs = AtomicU64::new(0);
    let mut target = Target::new("sealed-models", sealing::NUMBERS);
    target.seeds = models();
    target.mutate = Some(&sealing::mutate);
    target.run(|input| {
        exercise(input.to_vec());
        if inputs.fetch_add(1, Ordering::Relaxed).is_multiple_of(PROGRAM_EVERY) {
            run_program(input, &dir);
        }
    });
}

#[test]
fn sealing_computes_the_checksums_of_the_library() {
    for model in models() {
        assert!(sealing::reseal(&model).unwrap() == model);
    }
}
