//! Damaged and crafted files give an error, never a panic or an absurd allocation.

use xxhash_rust::xxh3::xxh3_64;

use super::*;
use crate::error::{Error, Result};
use crate::model::container::{assemble, preamble_sum, sections};
use crate::model::format::{BLOCK, FIRST_PASS, LENGTHS_AT, PREAMBLE, SUM_AT};
use crate::sentence::JoinedColumns;

/// Opens a model and verifies every block.
fn read(bytes: Vec<u8>) -> Result<Model> {
    let model = Model::from_bytes(bytes)?;
    model.verify()?;
    Ok(model)
}

fn error_message(bytes: Vec<u8>) -> String {
    let error = read(bytes).expect_err("a damaged model");
    assert!(matches!(error, Error::Model { .. }));
    error.to_string()
}

/// The part of the error message that says what is wrong with a damaged model.
fn damage(bytes: Vec<u8>) -> String {
    let message = error_message(bytes);
    let what = message.strip_prefix("model in memory: the model is damaged: ");
    let what = what.and_then(|what| what.strip_suffix("; retrain it or restore a copy"));
    what.unwrap_or(&message).to_owned()
}

/// Recomputes all checksums; `None` if the sections are too broken to have any.
fn reseal(mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    let sections = sections("".as_ref(), &bytes).ok()?;
    let [header, sums] = [0, 1].map(|i| sections[i].clone());
    let blocks = bytes.get(sums.end..)?.chunks(BLOCK);
    let fresh: Vec<u8> = blocks.flat_map(|block| xxh3_64(block).to_le_bytes()).collect();
    let old = bytes.get_mut(sums.clone())?;
    if old.len() != fresh.len() {
        return None;
    }
    old.copy_from_slice(&fresh);
    let sum = preamble_sum(&bytes[..SUM_AT], bytes.get(header)?, &fresh);
    bytes[SUM_AT..PREAMBLE].copy_from_slice(&sum.to_le_bytes());
    Some(bytes)
}

/// Copies of a model with one byte changed and valid checksums.
pub(crate) fn crafted(model: &Model) -> impl Iterator<Item = Vec<u8>> {
    let original = model.as_bytes().to_vec();
    (0..original.len()).flat_map(move |i| {
        let byte = original[i];
        let values = [0, 1, 0x7f, 0xfb, 0xff, byte ^ 1, byte ^ 0x80];
        let original = original.clone();
        values.into_iter().filter_map(move |value| {
            let mut bytes = original.clone();
            bytes[i] = value;
            reseal(bytes)
        })
    })
}

/// The byte range of section `i`.
fn section(model: &Model, i: usize) -> std::ops::Range<usize> {
    model.file.sections[i].clone()
}

/// The model with bytes of section `i` replaced, from `offset` on, and valid checksums.
fn replaced(model: &Model, i: usize, offset: usize, new: &[u8]) -> Vec<u8> {
    let mut bytes = model.as_bytes().to_vec();
    let start = section(model, i).start + offset;
    bytes[start..start + new.len()].copy_from_slice(new);
    reseal(bytes).unwrap()
}

const SLOTS: usize = 2;
const WEIGHTS: usize = 3;
const ENDS: usize = 4;
const NAMES: usize = 5;
const EDGE_WEIGHTS: usize = 7;

/// A model, and one of two passes.
fn one_pass_and_two() -> [Model; 2] {
    let model = small_model();
    let two = Model::combine(&model, &model).unwrap();
    [model, two]
}

#[test]
fn every_flipped_byte_is_detected() {
    for model in one_pass_and_two() {
        let bytes = model.as_bytes();
        for i in 0..bytes.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut damaged = bytes.to_vec();
                damaged[i] ^= flip;
                assert!(read(damaged).is_err(), "byte {i} of {}", bytes.len());
            }
        }
    }
}

#[test]
fn every_truncation_is_detected() {
    for model in one_pass_and_two() {
        let bytes = model.as_bytes();
        for length in 0..bytes.len() {
            assert!(read(bytes[..length].to_vec()).is_err(), "{length} bytes");
        }
        let longer = [bytes, &[0]].concat();
        let (found, said) = (longer.len(), bytes.len());
        assert_eq!(
            damage(longer),
            format!("it has {found} bytes; according to its preamble, {said}")
        );
    }
}

#[test]
fn damage_is_detected_on_access_and_not_before() {
    let mut table = TableBuilder::new(AttributeKind::Node, 3, Precision::F32);
    for i in 0..5000 {
        let weights = (0..3).map(|position| (position, 1.0));
        table.push(format!("attribute {i}").as_bytes(), weights).unwrap();
    }
    let edges = TableBuilder::new(AttributeKind::Edge, 3, Precision::F32);
    let model = Model::build(header(&LABELS, "word", Precision::F32), [table, edges]).unwrap();
    let mut bytes = model.as_bytes().to_vec();
    let end = bytes.len();
    bytes[end - 1] ^= 1; // the last block holds names, which scores do not need
    assert!(section(&model, 5).len() > 1 && section(&model, WEIGHTS).len() > 2 * BLOCK);
    let damaged = Model::from_bytes(bytes).unwrap();
    let mut scores = [0.0; 3];
    assert!(damaged.add_scores(AttributeKind::Node, b"attribute 7", 1.0, 3, &mut scores).unwrap());
    for error in
        [damaged.attribute_name(AttributeKind::Node, 0).unwrap_err(), damaged.verify().unwrap_err()]
    {
        assert!(error.to_string().contains("do not match their checksum"));
    }
}

#[test]
fn other_files_are_not_mistaken_for_models() {
    let expected =
        "model in memory: this is not a dropchain model (it does not begin with DROPCRF)";
    for bytes in [&b""[..], b"DROPCRF", b"LCRF\x01\x02\x03\x04 and so on"] {
        assert_eq!(error_message(bytes.to_vec()), expected);
    }
    assert_eq!(damage(b"DROPCRF\n".to_vec()), "it ends within its first 112 bytes");
}

#[test]
fn the_error_for_another_version_names_it() {
    let mut bytes = small_model().as_bytes().to_vec();
    bytes[8] = 2;
    assert_eq!(
        error_message(bytes),
        "model in memory: the model has format version 2; this dropchain reads version 1, so \
         another dropchain is needed, or the model is damaged"
    );
}

#[test]
fn crafted_files_never_make_reading_panic() {
    let few_bits = model(header(&LABELS, "word", Precision::F16), &dense_nodes(), &sparse_edges());
    let mut opened = 0;
    for bytes in [small_model(), few_bits].iter().flat_map(crafted) {
        let Ok(model) = read(bytes) else { continue };
        opened += 1;
        let k = model.header().labels.len();
        for (kind, lines) in [(AttributeKind::Node, 1), (AttributeKind::Edge, k)] {
            let mut scores = vec![0.0; lines * k];
            for i in 0..model.attributes(kind) {
                if let Ok(name) = model.attribute_name(kind, i) {
                    let _ = model.add_scores(kind, name, 1.0, k, &mut scores);
                }
            }
            let _ = model.add_scores(kind, b"word[0]=a", 1.0, k, &mut scores);
        }
    }
    assert!(opened > 100, "only {opened} crafted files were opened");
}

#[test]
fn absurd_lengths_allocate_no_memory() {
    // A list of one label, whose name has 2²⁸, 2³⁴ or 2⁶³ bytes.
    for exponent in [28, 34, 63] {
        let mut header = vec![1, 253];
        header.extend_from_slice(&(1_u64 << exponent).to_le_bytes());
        assert_eq!(
            Header::decode(&header).unwrap_err(),
            "the header cannot be read: LimitExceeded"
        );
    }
}

#[test]
fn headers_of_every_size_can_be_decoded() {
    for length in [0, 0xffff, 0x10_0000, 0x100_0000] {
        let mut header = header(&LABELS, "word", Precision::F32);
        header.provenance.options = "x".repeat(length);
        let decoded = Header::decode(&header.encode().unwrap()).unwrap();
        assert_eq!(decoded.provenance.options.len(), length);
    }
}

#[test]
fn a_header_that_contradicts_itself_is_damaged() {
    let error = |change: fn(&mut Header)| {
        let mut header = header(&LABELS, "word", Precision::F32);
        change(&mut header);
        Header::decode(&header.encode().unwrap()).unwrap_err()
    };
    assert_eq!(error(|header| header.labels = LabelSet::new()), "the model has no labels");
    let many = error(|header| {
        let labels = (0..5000).map(|i| i.to_string()).collect::<Vec<_>>();
        header.labels = LabelSet::try_from(labels).unwrap();
    });
    assert_eq!(many, "the model has 5000 labels; at most 4096 can be trained");
    let more = error(|header| header.label_weights.transitions.push(1.0));
    assert_eq!(more, "the number of transition or boundary weights does not match the labels");
    let nan = error(|header| header.label_weights.end[0] = f64::NAN);
    assert_eq!(nan, "a transition or boundary weight is not a number");
    let missing = error(|header| header.columns.label = LabelSource::Column(2));
    assert_eq!(missing, "the label column does not exist");
}

#[test]
fn joined_labels_that_do_not_fit_their_columns_are_damage() {
    let joined = |header: &mut Header| {
        let labels = ["a+b", "a+_+c"].map(str::to_owned).to_vec();
        header.labels = LabelSet::try_from(labels).unwrap();
        header.label_weights.start.truncate(2);
        header.label_weights.end.truncate(2);
        header.label_weights.transitions.truncate(4);
        (header.labeling, header.corpus_labeling) = Default::default();
        header.columns.names = ["word", "x", "y"].map(str::to_owned).to_vec();
        let joined = JoinedColumns::new(&header.columns.names, vec![1, 2]);
        header.columns.label = LabelSource::Joined(joined.unwrap());
    };
    let decode = |change: fn(&mut Header)| {
        let mut header = header(&LABELS, "word", Precision::F32);
        joined(&mut header);
        change(&mut header);
        Header::decode(&header.encode().unwrap())
    };
    let decoded = decode(|_| {}).unwrap();
    assert_eq!(decoded.columns.label_name(), Some("x+y"));
    assert_eq!(decoded.columns.before_label(), Some(1));
    let error = |change: fn(&mut Header)| decode(change).unwrap_err();
    assert_eq!(
        error(|header| {
            let labels = ["a+b", "a+"].map(str::to_owned).to_vec();
            header.labels = LabelSet::try_from(labels).unwrap();
        }),
        "the label 'a+' does not consist of values of 2 columns (x+y)"
    );
    assert_eq!(
        error(|header| header.columns.names.truncate(2)),
        "column 2 does not exist: there are 2 columns"
    );
    assert_eq!(
        error(|header| header.columns.names[2] = "y+z".to_owned()),
        "the column 'y+z' cannot be joined with others: expected a name without '+'"
    );
    assert_eq!(
        error(|header| header.labeling = Scheme::Iob2.into()),
        "the labels join columns, but encode spans"
    );
    assert_eq!(
        error(|header| header.columns.names.swap(1, 2)),
        "the columns that the labels join do not exist"
    );
}

#[test]
fn a_table_of_another_size_than_its_header_says_is_damaged() {
    let mut bytes = small_model().as_bytes().to_vec();
    // The slots lose a byte to the weights.
    for (at, change) in [(SLOTS, -1_i64), (WEIGHTS, 1)] {
        let at = LENGTHS_AT + 8 * at;
        let number = i64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        bytes[at..at + 8].copy_from_slice(&(number + change).to_le_bytes());
    }
    assert_eq!(damage(reseal(bytes).unwrap()), "the size of a table does not match the header");
}

#[test]
fn sections_beyond_the_file_are_damaged() {
    let bytes = small_model().as_bytes().to_vec();
    for at in (LENGTHS_AT..SUM_AT).step_by(8) {
        for number in [5, u64::MAX, 1 << 62] {
            let mut bytes = bytes.clone();
            bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
            assert!(read(bytes).is_err());
        }
    }
}

/// The first error of adding the scores of every node attribute of a crafted model.
fn score_error(bytes: Vec<u8>) -> String {
    let model = Model::from_bytes(bytes).unwrap();
    let mut scores = [0.0; 9];
    let errors = dense_nodes().into_iter().map(|(name, _)| {
        model.add_scores(AttributeKind::Node, name.as_bytes(), 1.0, 3, &mut scores[..3])
    });
    let errors: Vec<String> = errors.filter_map(Result::err).map(|e| e.to_string()).collect();
    errors.first().expect("an error").clone()
}

#[test]
fn locations_out_of_bounds_are_damage() {
    let model = small_model();
    let mut bytes = model.as_bytes().to_vec();
    for at in section(&model, SLOTS).step_by(8) {
        if bytes[at..at + 8] != [0; 8] {
            bytes[at] |= 7; // three bits are enough for the four attributes
        }
    }
    let error = score_error(reseal(bytes).unwrap());
    assert!(error.contains("the weights of an attribute are out of bounds"), "{error}");
}

#[test]
fn unterminated_weights_are_damage() {
    let model = small_model();
    for offset in [8, 16] {
        let bytes = replaced(&model, EDGE_WEIGHTS, offset, &5_u32.to_le_bytes());
        let model = Model::from_bytes(bytes).unwrap();
        let name = b"edge:word[0]=c";
        let error = model.add_scores(AttributeKind::Edge, name, 1.0, 3, &mut [0.0; 9]);
        match offset {
            16 => assert!(error.unwrap_err().to_string().contains("out of bounds")),
            _ => assert!(error.unwrap()),
        }
    }
}

#[test]
fn a_table_without_an_empty_slot_is_damage() {
    let model = small_model();
    let mut bytes = model.as_bytes().to_vec();
    for at in section(&model, SLOTS).step_by(8) {
        bytes[at..at + 8].fill(1);
    }
    let model = Model::from_bytes(reseal(bytes).unwrap()).unwrap();
    let error = model.add_scores(AttributeKind::Node, b"word[0]=a", 1.0, 3, &mut [0.0; 3]);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("a hash table has too few empty slots"), "{error}");
}

#[test]
fn a_weight_without_a_label_is_damage() {
    let model = small_model();
    for position in [9_u32, 0xffff, u32::MAX] {
        let bytes = replaced(&model, EDGE_WEIGHTS, 0, &position.to_le_bytes());
        let model = Model::from_bytes(bytes).unwrap();
        let name = b"edge:word[0]=a";
        let error = model.add_scores(AttributeKind::Edge, name, 1.0, 3, &mut [0.0; 9]);
        assert!(
            error.unwrap_err().to_string().contains("a weight is for a label that does not exist")
        );
    }
}

#[test]
fn names_that_cannot_be_decoded_are_damage() {
    let model = small_model();
    let mut last_names = 0;
    for (section_number, expected) in [(ENDS, "the lengths of its names"), (NAMES, "its names")] {
        let length = section(&model, section_number).len();
        for i in 0..length {
            let bytes = replaced(&model, section_number, i, &[0xff]);
            let model = Model::from_bytes(bytes).unwrap();
            // Some bytes are not part of what is decoded, or stand for another name.
            let Err(error) = model.attribute_name(AttributeKind::Node, 1) else { continue };
            assert!(error.to_string().contains(expected), "{error}");
            last_names += 1;
        }
    }
    assert!(last_names > 4, "{last_names}");
}

#[test]
fn a_first_pass_of_two_passes_is_damage() {
    let model = small_model();
    let two = Model::combine(&model, &model).unwrap();
    assert_eq!(two.first_pass().unwrap().as_bytes(), model.as_bytes());
    let sections = |model: &Model| -> Vec<Vec<u8>> {
        let data = model.file.sections[2..].iter();
        data.map(|section| model.as_bytes()[section.clone()].to_vec()).collect()
    };
    let header = two.as_bytes()[section(&two, 0)].to_vec();
    let mut nested = sections(&model);
    nested[FIRST_PASS - 2] = two.as_bytes().to_vec();
    assert_eq!(damage(assemble(&header, nested)), "its first pass has two passes");
    let mut text = sections(&model);
    text[FIRST_PASS - 2] = b"text".to_vec();
    let error = error_message(assemble(&header, text));
    assert!(error.contains("this is not a dropchain model"), "{error}");
}
