//! Damaged and foreign model files: an error that says so, never a crash, never a wrong answer.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dropchain::model::{AttributeKind, Model};
use dropchain::tag::Tagger;
use xxhash_rust::xxh3::xxh3_64;

use crate::support::{Folder, NAMES, sample};

/// Where the numbers stand that lead to the parts of a model file.
const VERSION_AT: usize = 8;
const LENGTH_AT: usize = 16;
const SECTIONS_AT: usize = 24;
const SUM_AT: usize = 184;
const HEADER_AT: usize = 192;

/// Bytes that a checksum of the tables covers.
const BLOCK: usize = 16 << 10;

/// A small model with node and edge attributes.
fn small() -> Folder {
    let folder = Folder::new(&[("train.conll", NAMES), ("my.tpl", "word\nedge: word\n")]);
    let train = "train train.conll --template my.tpl --model m --quiet";
    folder.run(train).succeeded();
    folder
}

/// The bytes of a model with several blocks.
fn large() -> Vec<u8> {
    let folder = Folder::new(&[("train.conll", &sample("dev"))]);
    let train = "train train.conll --template ner --max-iterations 5 --model m --quiet";
    folder.run(train).succeeded();
    folder.bytes("m")
}

/// Opens a model, checks all of it, and says what is wrong with it.
fn complaint(bytes: &[u8]) -> Option<String> {
    let model = Model::from_bytes(bytes.to_vec());
    let checked = model.and_then(|model| model.verify());
    checked.err().map(|error| error.to_string())
}

fn flipped(bytes: &[u8], at: usize, mask: u8) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= mask;
    bytes
}

fn number(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}

/// Brings all checksums up to date, as whoever means harm would.
fn seal(bytes: &mut [u8]) {
    let sums = number(bytes, SECTIONS_AT + 16);
    let data = sums + number(bytes, SECTIONS_AT + 24);
    let blocks: Vec<u8> = bytes[data..]
        .chunks(BLOCK)
        .flat_map(|block| xxh3_64(block).to_le_bytes())
        .collect();
    bytes[sums..data].copy_from_slice(&blocks);
    let covered = [&bytes[..SUM_AT], &bytes[HEADER_AT..data]].concat();
    let sum = xxh3_64(&covered).to_le_bytes();
    bytes[SUM_AT..HEADER_AT].copy_from_slice(&sum);
}

/// Does everything with a model that can be done, whatever comes of it.
fn use_all(bytes: Vec<u8>) {
    let Ok(model) = Model::from_bytes(bytes) else {
        return;
    };
    let labels = model.header().labels.len();
    for kind in [AttributeKind::Node, AttributeKind::Edge] {
        let mut scores = vec![
            0.0;
            if kind == AttributeKind::Node {
                labels
            } else {
                labels * labels
            }
        ];
        // A table may claim any number of attributes; they are asked for, not believed.
        for i in (0..model.attributes(kind).min(300)).chain([model.attributes(kind)]) {
            if let Ok(name) = model.attribute_name(kind, i) {
                let _ = model.add_scores(kind, name, 1.0, labels, &mut scores);
            }
        }
    }
    let _ = model.verify();
    let _ = Tagger::new(model).tag_words(["Ann", "Lee", "left", "Rome", "."]);
}

#[test]
fn any_flipped_byte_is_detected() {
    let bytes = small().bytes("m");
    assert_eq!(complaint(&bytes), None);
    for at in 0..bytes.len() {
        for mask in [0x01, 0x80, 0xff] {
            let complaint = complaint(&flipped(&bytes, at, mask));
            assert!(
                complaint.is_some(),
                "byte {at} xor {mask:#x} goes unnoticed"
            );
        }
    }
}

#[test]
fn any_flipped_byte_of_many_blocks_is_detected() {
    let bytes = large();
    assert!(bytes.len() > 5 * BLOCK, "{} bytes", bytes.len());
    for at in (0..bytes.len()).step_by(997).chain([bytes.len() - 1]) {
        let complaint = complaint(&flipped(&bytes, at, 0x10));
        assert!(complaint.is_some(), "byte {at} goes unnoticed");
    }
}

#[test]
fn a_cut_at_any_place_is_detected() {
    let bytes = small().bytes("m");
    for length in 0..bytes.len() {
        let complaint = complaint(&bytes[..length]);
        assert!(complaint.is_some(), "{length} bytes go unnoticed");
    }
    assert!(complaint(&[&bytes[..], b"\0"].concat()).is_some());
}

#[test]
fn the_program_complains_of_flipped_bytes() {
    let folder = small();
    let bytes = folder.bytes("m");
    let text = "Ann Lee left Rome.\n";
    let tagged = folder.run_with("tag m", text).succeeded();
    for at in (0..bytes.len()).step_by(1 + bytes.len() / 50) {
        folder.write("bad", flipped(&bytes, at, 0xff));
        let message = folder.run("inspect bad").failed();
        assert!(message.starts_with("bad: "), "byte {at}: {message}");
        let output = folder.run_with("tag bad", text);
        // Tagging looks at no more than it needs.
        if output.status.success() {
            assert_eq!(output.succeeded(), tagged, "byte {at}");
        } else {
            let message = output.failed();
            assert!(message.starts_with("bad: "), "byte {at}: {message}");
        }
    }
}

#[test]
fn the_program_complains_of_models_that_are_cut_short() {
    let folder = small();
    let bytes = folder.bytes("m");
    for length in [
        0,
        1,
        7,
        8,
        20,
        191,
        192,
        300,
        bytes.len() / 2,
        bytes.len() - 1,
    ] {
        folder.write("bad", &bytes[..length]);
        for line in ["inspect bad", "tag bad", "eval bad train.conll"] {
            let message = folder.run(line).failed();
            assert!(message.starts_with("bad: "), "{length}, {line}: {message}");
        }
    }
}

#[test]
fn other_files_are_no_models() {
    let folder = small();
    for line in [
        "inspect train.conll",
        "tag train.conll",
        "eval my.tpl train.conll",
    ] {
        let message = folder.run(line).failed();
        assert!(
            message.contains(": this is not a dropchain model"),
            "{line}: {message}"
        );
    }
}

#[test]
fn models_of_the_future_are_told_from_damage() {
    let folder = small();
    let mut bytes = folder.bytes("m");
    bytes[VERSION_AT] = 3;
    seal(&mut bytes);
    folder.write("m", &bytes);
    for line in ["inspect m", "tag m"] {
        let message = folder.run(line).failed();
        assert!(
            message.starts_with(
                "m: the model has format version 3; this dropchain reads versions 1 and 2"
            ),
            "{line}: {message}"
        );
    }
}

#[test]
fn sealing_is_what_the_program_does() {
    let bytes = large();
    let mut sealed = bytes.clone();
    seal(&mut sealed);
    assert!(sealed == bytes);
}

#[test]
fn no_byte_makes_a_sealed_model_crash_the_program() {
    survive_flips(&small().bytes("m"), 1);
}

#[test]
fn no_byte_makes_a_sealed_model_of_version_1_crash_the_program() {
    // It is larger than the other: a sample will do.
    survive_flips(include_bytes!("data/models/v1.model"), 23);
}

/// Uses models with a byte flipped, every `step`th in turn.
fn survive_flips(bytes: &[u8], step: usize) {
    let end = number(bytes, LENGTH_AT);
    assert_eq!(end, bytes.len());
    let sums = number(bytes, SECTIONS_AT + 16);
    let data = sums + number(bytes, SECTIONS_AT + 24);
    let all = (VERSION_AT..SUM_AT).chain(HEADER_AT..sums).chain(data..end);
    for at in all.step_by(step) {
        for mask in [0x01, 0x40, 0x80, 0xff] {
            let mut bad = flipped(bytes, at, mask);
            // Sections that lie elsewhere cannot be sealed: they are refused as they are.
            if at >= HEADER_AT {
                seal(&mut bad);
            }
            let used = catch_unwind(AssertUnwindSafe(|| use_all(bad)));
            assert!(used.is_ok(), "byte {at} xor {mask:#x}");
        }
    }
}
