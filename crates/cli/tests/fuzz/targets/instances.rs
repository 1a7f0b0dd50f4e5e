//! The readers of whole documents.

use std::ffi::OsStr;
use std::fs;

use dropchain::MemoryLimit;
use dropchain::corpus::{ReadOptions, TextOptions};
use dropchain_documents::{
    Instance, InstanceContent, InstanceFormat, InstanceReadOptions, InstanceReader,
};

use crate::harness::Target;

const WORDS: &str = r#"
    text label label⇥text↵ pos⇥ "text":"a" "label": { } , "" "a↵" +1␣1:0.5␣ ␣3:-1e5 : #␣c 1.5 nan
    inf
"#;

const FORMATS: [InstanceFormat; 6] = [
    InstanceFormat::Labeled,
    InstanceFormat::Text,
    InstanceFormat::Csv,
    InstanceFormat::Tsv,
    InstanceFormat::Jsonl,
    InstanceFormat::Svmlight,
];

/// The documents, then the message of the error if there is one, which has a place.
fn read(path: &OsStr, options: &InstanceReadOptions) -> Vec<Result<Instance, String>> {
    let place = path.to_string_lossy();
    let message = |error: dropchain::Error| {
        let message = error.to_string();
        assert!(message.contains(&*place), "no place: {message}");
        message
    };
    let read = InstanceReader::open(&[path], options).unwrap();
    read.map(|instance| instance.map_err(message)).collect()
}

#[test]
fn documents_of_any_format_are_read_alike_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.tsv");
    let path = path.as_os_str();
    Target::new("instances", WORDS).run(|input| {
        fs::write(path, input).unwrap();
        for format in FORMATS.map(Some).into_iter().chain([None]) {
            for unlabeled in [false, true] {
                let options = InstanceReadOptions {
                    format,
                    needs_labels: !unlabeled,
                    read: ReadOptions {
                        limits: MemoryLimit::Bytes(1 << 30).into(),
                        text: TextOptions { lossy: unlabeled, ..TextOptions::default() },
                        ..ReadOptions::default()
                    },
                    ..InstanceReadOptions::default()
                };
                let documents = read(path, &options);
                assert!(documents.len() <= input.len() + 1);
                for document in documents.iter().flatten() {
                    assert!(document.label.is_some() || !options.needs_labels);
                    if let InstanceContent::Features(features) = &document.content {
                        assert!(features.iter().all(|(_, value)| value.is_finite()));
                    }
                }
                assert_eq!(read(path, &options), documents);
            }
        }
    });
}
