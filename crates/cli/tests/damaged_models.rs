//! Damaged model files and files that are not models: an error, never a crash or a wrong result.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dropchain::model::{AttributeKind, Model};
use dropchain::tag::Tagger;
use xxhash_rust::xxh3::xxh3_64;

use crate::support::{NER_CORPUS, TestDir, sample_corpus};

/// Offsets in the fixed-size part of a model file.
const VERSION_AT: usize = 8;
const LENGTHS_AT: usize = 16;
const SUM_AT: usize = 104;
const HEADER_AT: usize = 112;

/// Number of bytes covered by each checksum of the tables.
const BLOCK: usize = 16 << 10;

/// Trains a small model with node and edge attributes.
fn small_model() -> TestDir {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS), ("my.tpl", "word\nedge: word\n")]);
    let train = "train train.conll --template my.tpl --model m --quiet";
    dir.run(train).success();
    dir
}

/// Returns the bytes of a model with several blocks.
fn large_model() -> Vec<u8> {
    let dir = TestDir::new(&[("train.conll", &sample_corpus("dev"))]);
    let train = "train train.conll --template ner --max-iterations 5 --model m --quiet";
    dir.run(train).success();
    dir.bytes("m")
}

/// Opens and verifies a model, and returns the error message if it is damaged.
fn damage(bytes: &[u8]) -> Option<String> {
    let model = Model::from_bytes(bytes.to_vec());
    let checked = model.and_then(|model| model.verify());
    checked.err().map(|error| error.to_string())
}

/// Returns the bytes with the byte at an offset xored with `mask`.
fn flip(bytes: &[u8], at: usize, mask: u8) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= mask;
    bytes
}

fn read_u64(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}

/// Returns the offset of a section.
fn section(bytes: &[u8], i: usize) -> usize {
    let lengths = (0..i).map(|i| read_u64(bytes, LENGTHS_AT + 8 * i));
    HEADER_AT + lengths.sum::<usize>()
}

/// Recomputes all checksums, as an attacker would.
pub fn seal(bytes: &mut [u8]) {
    let [sums, data] = [1, 2].map(|i| section(bytes, i));
    let blocks: Vec<u8> =
        bytes[data..].chunks(BLOCK).flat_map(|block| xxh3_64(block).to_le_bytes()).collect();
    bytes[sums..data].copy_from_slice(&blocks);
    let covered = [&bytes[..SUM_AT], &bytes[HEADER_AT..data]].concat();
    let sum = xxh3_64(&covered).to_le_bytes();
    bytes[SUM_AT..HEADER_AT].copy_from_slice(&sum);
}

/// Exercises everything that a model offers, ignoring errors.
fn exercise(bytes: Vec<u8>) {
    let Ok(model) = Model::from_bytes(bytes) else {
        return;
    };
    let labels = model.header().labels.len();
    for kind in [AttributeKind::Node, AttributeKind::Edge] {
        let mut scores =
            vec![0.0; if kind == AttributeKind::Node { labels } else { labels * labels }];
        // A damaged table may claim any number of attributes.
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
    let bytes = small_model().bytes("m");
    assert_eq!(damage(&bytes), None);
    for at in 0..bytes.len() {
        for mask in [0x01, 0x80, 0xff] {
            let damage = damage(&flip(&bytes, at, mask));
            assert!(damage.is_some(), "byte {at} xor {mask:#x} goes unnoticed");
        }
    }
}

#[test]
fn any_flipped_byte_of_many_blocks_is_detected() {
    let bytes = large_model();
    assert!(bytes.len() > 5 * BLOCK, "{} bytes", bytes.len());
    for at in (0..bytes.len()).step_by(997).chain([bytes.len() - 1]) {
        let damage = damage(&flip(&bytes, at, 0x10));
        assert!(damage.is_some(), "byte {at} goes unnoticed");
    }
}

#[test]
fn truncation_at_any_byte_is_detected() {
    let bytes = small_model().bytes("m");
    for length in 0..bytes.len() {
        let damage = damage(&bytes[..length]);
        assert!(damage.is_some(), "a truncation to {length} bytes goes unnoticed");
    }
    assert!(damage(&[&bytes[..], b"\0"].concat()).is_some());
}

#[test]
fn the_program_reports_flipped_bytes() {
    let dir = small_model();
    let bytes = dir.bytes("m");
    let text = "Ann Lee left Rome.\n";
    let tagged = dir.run_with_stdin("tag m", text).success();
    for at in (0..bytes.len()).step_by(1 + bytes.len() / 50) {
        dir.write("bad", flip(&bytes, at, 0xff));
        let message = dir.run("inspect bad").failure();
        assert!(message.starts_with("bad: "), "byte {at}: {message}");
        let output = dir.run_with_stdin("tag bad", text);
        // Tagging checks only the blocks that it reads.
        if output.status.success() {
            assert_eq!(output.success(), tagged, "byte {at}");
        } else {
            let message = output.failure();
            assert!(message.starts_with("bad: "), "byte {at}: {message}");
        }
    }
}

#[test]
fn the_program_reports_truncated_models() {
    let dir = small_model();
    let bytes = dir.bytes("m");
    for length in [0, 1, 7, 8, 20, 191, 192, 300, bytes.len() / 2, bytes.len() - 1] {
        dir.write("bad", &bytes[..length]);
        for line in ["inspect bad", "tag bad", "eval bad train.conll"] {
            let message = dir.run(line).failure();
            assert!(message.starts_with("bad: "), "{length}, {line}: {message}");
        }
    }
}

#[test]
fn other_files_are_not_models() {
    let dir = small_model();
    for line in ["inspect train.conll", "tag train.conll", "eval my.tpl train.conll"] {
        let message = dir.run(line).failure();
        assert!(message.contains(": this is not a dropchain model"), "{line}: {message}");
    }
}

#[test]
fn other_format_versions_are_distinguished_from_damage() {
    let dir = small_model();
    let mut bytes = dir.bytes("m");
    bytes[VERSION_AT] = 2;
    seal(&mut bytes);
    dir.write("m", &bytes);
    for line in ["inspect m", "tag m"] {
        let message = dir.run(line).failure();
        assert!(
            message
                .starts_with("m: the model has format version 2; this dropchain reads version 1"),
            "{line}: {message}"
        );
    }
}

#[test]
fn sealing_computes_the_checksums_of_the_program() {
    let bytes = large_model();
    let mut sealed = bytes.clone();
    seal(&mut sealed);
    assert!(sealed == bytes);
}

#[test]
fn no_byte_makes_a_sealed_model_crash_the_program() {
    assert_survives_flips(&small_model().bytes("m"), 1);
}

#[test]
fn no_byte_makes_a_sealed_model_of_few_bits_crash_the_program() {
    let dir = small_model();
    // Dense tables, then sparse ones.
    for l1 in ["0", "0.1"] {
        let train = "train train.conll --template my.tpl --quiet --model few";
        dir.run(&format!("{train} --precision f16 --l1 {l1}")).success();
        assert_survives_flips(&dir.bytes("few"), 3);
    }
}

/// Exercises models with one flipped byte, for every `step`th byte.
fn assert_survives_flips(bytes: &[u8], step: usize) {
    let [sums, data, end] = [1, 2, 11].map(|i| section(bytes, i));
    assert_eq!(end, bytes.len());
    let all = (VERSION_AT..SUM_AT).chain(HEADER_AT..sums).chain(data..end);
    for at in all.step_by(step) {
        for mask in [0x01, 0x40, 0x80, 0xff] {
            let mut bad = flip(bytes, at, mask);
            // With other lengths of sections the checksums cannot be recomputed: the model is
            // rejected.
            if at >= HEADER_AT {
                seal(&mut bad);
            }
            let result = catch_unwind(AssertUnwindSafe(|| exercise(bad)));
            assert!(result.is_ok(), "byte {at} xor {mask:#x}");
        }
    }
}

#[test]
fn tables_without_an_empty_slot_are_reported() {
    let dir = small_model();
    let mut bytes = dir.bytes("m");
    // The slots of the node table.
    let [start, end] = [2, 3].map(|i| section(&bytes, i));
    for slot in bytes[start..end].chunks_exact_mut(8) {
        slot.fill(1);
    }
    seal(&mut bytes);
    dir.write("bad", bytes);
    let message = dir.run_with_stdin("tag bad", "Ann Lee left Rome.\n").failure();
    assert!(
        message.starts_with("bad: the model is damaged: a hash table has too few empty slots"),
        "{message}"
    );
}
