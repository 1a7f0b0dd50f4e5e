//! Files as CRFsuite writes them, and crafted ones.

use dropchain::kernel::ids::LabelId;
use dropchain::model::Precision;
use dropchain::{Model, Result};

use crate::{from_bytes, open};

/// The contents of a file.
#[derive(Clone)]
struct Contents {
    labels: Vec<Vec<u8>>,
    attributes: Vec<Vec<u8>>,
    features: Vec<[u32; 3]>, // kind, source, label
    weights: Vec<f64>,
}

impl Default for Contents {
    /// Two labels and three attributes, the last without features.
    fn default() -> Self {
        let bytes = |names: &[&str]| names.iter().map(|name| name.as_bytes().to_vec()).collect();
        Self {
            labels: bytes(&["Ö", "B"]),
            attributes: bytes(&["a", "", "none"]),
            features: vec![[0, 0, 1], [0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1]],
            weights: vec![0.5, 0.1, -3.0, 2.0, 7.25],
        }
    }
}

/// Offsets of the fields of the header that locate the sections.
const FEATURES_AT: usize = 28;
const LABELS_AT: usize = 32;
const ATTRIBUTES_AT: usize = 36;
const OF_LABELS_AT: usize = 40;
const OF_ATTRIBUTES_AT: usize = 44;

fn put(bytes: &mut [u8], at: usize, number: usize) {
    bytes[at..at + 4].copy_from_slice(&(number as u32).to_le_bytes());
}

fn get(bytes: &[u8], at: usize) -> usize {
    super::file::number(bytes, at).unwrap() as usize
}

fn push(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend((number as u32).to_le_bytes());
}

impl Contents {
    /// Writes a file, without the hash tables of names, which are not read.
    fn write(&self) -> Vec<u8> {
        let mut file = vec![0; 48];
        file[..4].copy_from_slice(b"lCRF");
        file[8..12].copy_from_slice(b"FOMC");
        put(&mut file, 12, 100);
        put(&mut file, 20, self.labels.len());
        put(&mut file, 24, self.attributes.len());

        let start = file.len();
        put(&mut file, FEATURES_AT, start);
        file.extend(b"FEAT");
        push(&mut file, 12 + 20 * self.features.len());
        push(&mut file, self.features.len());
        for (feature, weight) in self.features.iter().zip(&self.weights) {
            for &field in feature {
                push(&mut file, field as usize);
            }
            file.extend(weight.to_le_bytes());
        }
        for (field, names) in [(LABELS_AT, &self.labels), (ATTRIBUTES_AT, &self.attributes)] {
            let start = file.len();
            put(&mut file, field, start);
            file.extend(database(names));
        }
        file.resize(file.len().next_multiple_of(4), 0);
        self.write_lists(OF_LABELS_AT, b"LFRF", 1, self.labels.len() + 2, &mut file);
        self.write_lists(OF_ATTRIBUTES_AT, b"AFRF", 0, self.attributes.len(), &mut file);
        let length = file.len();
        put(&mut file, 4, length);
        file
    }

    fn write_lists(&self, field: usize, magic: &[u8], kind: u32, count: usize, file: &mut Vec<u8>) {
        let start = file.len();
        put(file, field, start);
        file.extend(magic);
        push(file, 0);
        push(file, count);
        let offsets = file.len();
        file.resize(offsets + 4 * count, 0);
        let sources = if kind == 1 { self.labels.len() } else { count };
        for source in 0..sources {
            let at = file.len();
            put(file, offsets + 4 * source, at);
            let of_source = |i: &usize| self.features[*i][..2] == [kind, source as u32];
            let list: Vec<usize> = (0..self.features.len()).filter(of_source).collect();
            push(file, list.len());
            for feature in list {
                push(file, feature);
            }
        }
        let length = file.len() - start;
        put(file, start + 4, length);
    }

    fn open(&self) -> Result<Model> {
        from_bytes(self.write())
    }

    /// The error of a file after a change to its bytes.
    fn fault_after(&self, change: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut file = self.write();
        change(&mut file);
        fault(file)
    }
}

/// A database of names.
fn database(names: &[Vec<u8>]) -> Vec<u8> {
    let mut database = vec![0; 2072];
    database[..4].copy_from_slice(b"CQDB");
    put(&mut database, 12, 0x6244_5371);
    put(&mut database, 16, names.len());
    let mut offsets = Vec::new();
    for (id, name) in names.iter().enumerate() {
        push(&mut offsets, database.len());
        push(&mut database, id);
        push(&mut database, name.len() + 1);
        database.extend(name);
        database.push(0);
    }
    if !names.is_empty() {
        let at = database.len();
        put(&mut database, 20, at);
    }
    database.extend(offsets);
    let length = database.len();
    put(&mut database, 4, length);
    database
}

/// The message of the error that a file causes, without the name of the file.
fn fault(file: Vec<u8>) -> String {
    let message = from_bytes(file).unwrap_err().to_string();
    let message = message.strip_prefix("model in memory: ").unwrap();
    let message = message.strip_prefix("the model is damaged: ").unwrap_or(message);
    let message = message.strip_suffix("; retrain it or restore a copy");
    message.map_or_else(String::new, str::to_owned)
}

/// The whole message of the error that a file causes.
fn refusal(file: Vec<u8>) -> String {
    from_bytes(file).unwrap_err().to_string()
}

#[test]
fn labels_attributes_and_weights_are_those_of_the_file() {
    let model = Contents::default().open().unwrap();
    let header = model.header();
    assert_eq!(header.labels.names(), ["Ö", "B"]);
    assert_eq!(header.label_weights.transitions, [0.0, 2.0, 0.0, 7.25]);
    assert_eq!(header.label_weights.start, [0.0; 2]);
    assert_eq!(header.label_weights.end, [0.0; 2]);
    assert_eq!(header.precision, Precision::F64);
    let nodes: Vec<_> = model.node_weights().map(Result::unwrap).collect();
    let [o, b] = [LabelId(0), LabelId(1)];
    let expected: Vec<(&[u8], _)> = vec![(b"a", vec![(o, 0.1), (b, 0.5)]), (b"", vec![(o, -3.0)])];
    assert_eq!(nodes, expected);
    assert_eq!(model.edge_weights().count(), 0);
    model.verify().unwrap();
    // What is saved is a model of its own format.
    let copy = Model::from_bytes(model.as_bytes().to_vec()).unwrap();
    assert_eq!(copy.fingerprint().unwrap(), model.fingerprint().unwrap());
}

#[test]
fn a_file_without_attributes_or_features_is_a_model() {
    let contents = Contents { attributes: Vec::new(), features: Vec::new(), ..Contents::default() };
    let model = contents.open().unwrap();
    assert_eq!(model.node_weights().count(), 0);
    assert_eq!(model.header().label_weights.transitions, [0.0; 4]);
}

#[test]
fn attributes_are_bytes_and_labels_are_text_that_may_be_empty() {
    let mut contents = Contents::default();
    contents.attributes[0] = b"\xff\n\xe2".to_vec();
    contents.labels[1].clear();
    let model = contents.open().unwrap();
    assert_eq!(model.node_weights().next().unwrap().unwrap().0, b"\xff\n\xe2");
    assert_eq!(model.header().labels.names(), ["Ö", ""]);
    contents.labels[1] = b"B\xfc".to_vec();
    assert_eq!(
        refusal(contents.write()),
        "model in memory: the name of label 1, 'B\\xfc', is not UTF-8; expected labels in UTF-8, \
         so convert the training corpus and retrain the model"
    );
}

#[test]
fn names_are_unique() {
    let mut contents = Contents::default();
    contents.attributes[1] = b"a".to_vec();
    assert_eq!(fault(contents.write()), "attribute 'a' occurs twice; expected each attribute once");
    contents.labels[1] = contents.labels[0].clone();
    assert_eq!(fault(contents.write()), "two labels have the name 'Ö'");
}

#[test]
fn a_model_needs_labels_and_not_too_many() {
    let fault = |count: usize| {
        let contents = Contents {
            labels: (0..count).map(|i| format!("{i}").into_bytes()).collect(),
            attributes: Vec::new(),
            features: Vec::new(),
            weights: Vec::new(),
        };
        refusal(contents.write())
    };
    for count in [0, 4097] {
        let expected = format!(
            "model in memory: a CRFsuite model of {count} labels; expected at least one and at \
             most 4096"
        );
        assert_eq!(fault(count), expected);
    }
}

#[test]
fn features_are_checked() {
    let with = |i: usize, feature: [u32; 3], weight: f64| {
        let mut contents = Contents::default();
        contents.features[i] = feature;
        contents.weights[i] = weight;
        fault(contents.write())
    };
    assert_eq!(with(0, [0, 0, 1], f64::NAN), "feature 0 has the weight NaN");
    assert_eq!(with(4, [1, 1, 1], f64::NEG_INFINITY), "feature 4 has the weight -inf");
    assert_eq!(with(0, [0, 0, 2], 1.0), "feature 0 is for a label that does not exist");
    assert_eq!(with(0, [0, 0, 0], 1.0), "there are two features for the same label");
    assert_eq!(with(3, [1, 1, 1], 1.0), "there are two features for the same label");
    let unused = "it has 5 features; its labels and attributes have 4";
    for feature in [[0, 3, 0], [1, 2, 0], [2, 0, 0]] {
        assert_eq!(with(2, feature, 1.0), unused, "{feature:?}");
    }
}

#[test]
fn lists_of_features_are_checked() {
    let contents = Contents::default();
    let change_list = |i: usize, list: &[usize]| {
        contents.fault_after(|file| {
            let lists = get(file, OF_ATTRIBUTES_AT);
            let at = get(file, lists + 12 + 4 * i);
            for (j, &number) in list.iter().enumerate() {
                put(file, at + 4 * j, number);
            }
        })
    };
    let another = |i: usize| format!("feature {i} is that of another attribute or label");
    assert_eq!(change_list(0, &[2, 5]), "feature 5 does not exist");
    assert_eq!(change_list(0, &[2, 1, 2]), another(2));
    assert_eq!(change_list(0, &[2, 3]), another(3));
    assert_eq!(change_list(0, &[2, 1, 1]), "there are two features for the same label");
    let few = "it has 5 features; its labels and attributes have 4";
    assert_eq!(change_list(0, &[1]), few);
    let many = "an attribute or label has more features than there are labels";
    assert_eq!(change_list(0, &[3]), many);
    for length in [4, u32::MAX as usize] {
        let outside = "the features of attribute 2 lie outside of the file";
        assert_eq!(change_list(2, &[length]), outside);
    }
    let outside = contents.fault_after(|file| {
        let lists = get(file, OF_LABELS_AT);
        put(file, lists + 16, u32::MAX as usize);
    });
    assert_eq!(outside, "the features of label 1 lie outside of the file");
}

#[test]
fn features_of_the_ends_of_sequences_are_not_supported() {
    let mut file = Contents::default().write();
    let lists = get(&file, OF_LABELS_AT);
    let first = get(&file, lists + 12);
    put(&mut file, lists + 12 + 4 * 3, first);
    assert_eq!(
        refusal(file),
        "model in memory: the model has features for the first or last label of a sequence, as \
         those of CRFsuite before 0.12; expected one without, so retrain it"
    );
}

#[test]
fn names_are_checked() {
    let contents = Contents::default();
    let name = |record: &dyn Fn(&mut [u8])| {
        contents.fault_after(|file| {
            let database = get(file, ATTRIBUTES_AT);
            record(&mut file[database + 2072..]);
        })
    };
    let missing = "the name of attribute 0 is not where it should be";
    assert_eq!(name(&|record| put(record, 0, 1)), missing); // another id
    assert_eq!(name(&|record| put(record, 4, 0)), missing); // no zero byte
    assert_eq!(name(&|record| put(record, 4, 3)), missing); // continues into the next record
    assert_eq!(name(&|record| put(record, 4, u32::MAX as usize)), missing);
    assert_eq!(name(&|record| record[8] = 0), missing);
    for offset in [0, 2071, u32::MAX as usize] {
        let fault = contents.fault_after(|file| {
            let database = get(file, LABELS_AT);
            let offsets = get(file, database + 20);
            put(file, database + offsets + 4, offset);
        });
        assert_eq!(fault, "the name of label 1 is not where it should be");
    }
    let field = |at: usize, number: usize| {
        contents.fault_after(|file| {
            let database = get(file, LABELS_AT);
            put(file, database + at, number);
        })
    };
    let outside = "the names of labels lie outside of the file";
    assert_eq!(field(0, 0), outside);
    assert_eq!(field(4, 2071), outside);
    assert_eq!(field(4, u32::MAX as usize), outside);
    assert_eq!(field(12, 0x7153_4462), "the names of labels have another byte order");
    assert_eq!(field(16, 3), "there are 3 names of 2 labels");
    assert_eq!(field(20, u32::MAX as usize), outside);
}

#[test]
fn sections_lie_within_the_file() {
    let contents = Contents::default();
    for (field, expected) in [
        (FEATURES_AT, "its features lie outside of the file"),
        (LABELS_AT, "the names of labels lie outside of the file"),
        (ATTRIBUTES_AT, "the names of attributes lie outside of the file"),
        (OF_LABELS_AT, "its lists of features lie outside of the file"),
        (OF_ATTRIBUTES_AT, "its lists of features lie outside of the file"),
    ] {
        let length = contents.write().len();
        for at in [0, 4, length - 4, length, length + 1, u32::MAX as usize] {
            let fault = contents.fault_after(|file| put(file, field, at));
            assert_eq!(fault, expected, "{at}");
        }
    }
    let of_features = contents.fault_after(|file| {
        let at = get(file, FEATURES_AT);
        put(file, at + 8, u32::MAX as usize);
    });
    assert_eq!(of_features, "its features lie outside of the file");
    let lists = contents.fault_after(|file| {
        let at = get(file, OF_ATTRIBUTES_AT);
        put(file, at + 8, 2);
    });
    assert_eq!(lists, "there are 2 lists of features; expected 3");
}

#[test]
fn a_file_that_ends_early_or_late_is_an_error() {
    let file = Contents::default().write();
    for length in 4..48 {
        let fault = fault(file[..length].to_vec());
        assert_eq!(fault, "it ends within its first 48 bytes", "{length}");
    }
    for length in (48..file.len()).chain([file.len() + 1]) {
        let mut other = file.clone();
        other.resize(length, 0);
        let expected = format!("it has {length} bytes; according to its preamble, {}", file.len());
        assert_eq!(fault(other.clone()), expected);
        // With the length of what there is, something is missing.
        if length < file.len() {
            put(&mut other, 4, length);
            fault(other);
        }
    }
}

#[test]
fn other_types_and_versions_are_named() {
    for (at, bytes, what) in [
        (8, b"FOMD", "type 'FOMD', version 100"),
        (12, &[101, 0, 0, 0], "type 'FOMC', version 101"),
        (8, b"\x00\xffxx", "type '\\x00\\xffxx', version 100"),
    ] {
        let mut file = Contents::default().write();
        file[at..at + 4].copy_from_slice(bytes);
        assert_eq!(
            refusal(file),
            format!(
                "model in memory: a CRFsuite model of {what}; expected type FOMC, version 100, as \
                 CRFsuite 0.12 and later write it"
            )
        );
    }
}

#[test]
fn the_path_is_that_of_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("old.crfsuite");
    std::fs::write(&path, Contents::default().write()).unwrap();
    assert_eq!(open(&path).unwrap().path(), path);
    std::fs::write(&path, &Contents::default().write()[..3000]).unwrap();
    let error = open(&path).unwrap_err().to_string();
    assert!(error.starts_with(&path.display().to_string()), "{error}");
}

#[test]
fn labels_that_all_have_prefixes_are_of_spans() {
    for (labels, expected) in [
        (&["B-PER", "I-PER", "O"][..], "IOB2, not strictly"),
        (&["S-A", "O", "E-A", "B-A"], "BIOES, not strictly"),
        (&["PER_B", "PER_I", "0"], "IOB2 written X_B, not strictly, outside '0'"),
        (&["B-X", "I-X", "B-Y", ".", "O"], "tags"),
        (&["PER", "O"], "tags"),
        (&["NN", "VB"], "tags"),
    ] {
        let labels = labels.iter().map(|label| label.as_bytes().to_vec()).collect();
        let model = from_bytes(Contents { labels, ..Contents::default() }.write()).unwrap();
        assert_eq!(model.header().corpus_labeling.to_string(), expected);
    }
}
