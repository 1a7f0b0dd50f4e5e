//! Tests of the formats of texts.

use std::sync::{Arc, Mutex};

use dropchain::Sentence;
use dropchain::corpus::{Format, OutputFormat, Tagged, WriteFormat, WriteOptions, Writer};
use dropchain::sentence::OffsetUnit;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{label_studio, one, read};
use crate::{TextFormat, TextWriter};

const PRODIGY: TextFormat = TextFormat::Spans;
const DOCCANO: TextFormat = TextFormat::Doccano;

/// Options with spans.
fn spans(format: impl WriteFormat + 'static) -> WriteOptions {
    WriteOptions::new(format)
}

/// Options for labels that encode no spans.
fn tags(format: TextFormat) -> WriteOptions {
    WriteOptions { spans: false, ..spans(format) }
}

/// Writes all sentences of `text`, labeled by `label`.
fn all(
    options: &WriteOptions,
    format: Format,
    text: &str,
    label: impl Fn(&str) -> &'static str,
) -> String {
    let sentences = read(format, text);
    let labels = |sentence: &Sentence| -> Vec<&'static str> {
        sentence.words().unwrap().map(&label).collect()
    };
    let tagged: Vec<Tagged> =
        sentences.iter().map(|sentence| Tagged::new(sentence, labels(sentence))).collect();
    super::written(options, &tagged).unwrap()
}

fn names(word: &str) -> &'static str {
    match word {
        "Ann" | "Bob" => "B-PER",
        "Lee" => "I-PER",
        "Rome" => "B-LOC",
        _ => "O",
    }
}

#[test]
fn a_line_of_raw_text_is_one_object_whatever_its_sentences() {
    let text = " Ann  Lee left. Bob stayed.\n\nRome\n";
    let out = all(&spans(PRODIGY), Format::Text, text, names);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(
        lines[0],
        concat!(
            r#"{"text":" Ann  Lee left. Bob stayed.","tokens":["#,
            r#"{"text":"Ann","start":1,"end":4,"id":0,"ws":true,"sent_start":true},"#,
            r#"{"text":"Lee","start":6,"end":9,"id":1,"ws":true},"#,
            r#"{"text":"left","start":10,"end":14,"id":2,"ws":false},"#,
            r#"{"text":".","start":14,"end":15,"id":3,"ws":true},"#,
            r#"{"text":"Bob","start":16,"end":19,"id":4,"ws":true,"sent_start":true},"#,
            r#"{"text":"stayed","start":20,"end":26,"id":5,"ws":false},"#,
            r#"{"text":".","start":26,"end":27,"id":6,"ws":false}],"spans":["#,
            r#"{"start":1,"end":9,"label":"PER","token_start":0,"token_end":1},"#,
            r#"{"start":16,"end":19,"label":"PER","token_start":4,"token_end":4}]}"#
        )
    );
}

#[test]
fn words_without_a_text_are_joined_by_spaces() {
    let out = all(&spans(DOCCANO), Format::Conll, "é\nAnn\nLee\n", names);
    assert_eq!(out, "{\"text\":\"é Ann Lee\",\"label\":[[2,9,\"PER\"]]}\n");
    let json = r#"{"tokens": ["New York", "Rome"]}"#;
    let out = all(&spans(DOCCANO), Format::Jsonl, json, names);
    assert_eq!(out, "{\"text\":\"New York Rome\",\"label\":[[9,13,\"LOC\"]]}\n");
}

#[test]
fn offsets_count_what_is_asked_for() {
    for (offsets, expected) in
        [(OffsetUnit::Chars, [4, 7]), (OffsetUnit::Utf16, [5, 8]), (OffsetUnit::Bytes, [8, 11])]
    {
        let options = WriteOptions { offsets, ..spans(DOCCANO) };
        let out = all(&options, Format::Text, "😀 é Ann", names);
        let out: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(out["label"], json!([[expected[0], expected[1], "PER"]]), "{offsets}");
    }
}

#[test]
fn the_other_members_of_an_object_are_kept() {
    let text = r#"{"id": 7, "text": "Ann left.", "meta": {"a" : 1.50}, "title": "T", "spans": []}"#;
    let written = |format| all(&spans(format), Format::Jsonl, text, names);
    let kept = r#"{"id":7,"meta":{"a" : 1.50},"title":"T","text":"Ann left.","#;
    assert!(written(PRODIGY).starts_with(kept));
    assert!(written(DOCCANO).starts_with(kept));
    let data = format!("[\n{{\"data\":{}}}", kept.trim_end_matches(','));
    assert!(written(label_studio()).starts_with(&data));
    let out: Value = serde_json::from_str(&written(TextFormat::Displacy)).unwrap();
    assert_eq!(
        out,
        json!({
            "text": "Ann left.",
            "ents": [{"start": 0, "end": 3, "label": "PER"}],
            "title": "T"
        })
    );
}

#[test]
fn tasks_are_an_array_with_different_ids() {
    let options = spans(label_studio());
    let out = all(&options, Format::Text, "Ann met Bob.\nRome\n", names);
    let tasks: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(tasks.as_array().unwrap().len(), 2);
    let prediction = &tasks[0]["predictions"][0];
    assert_eq!(prediction["model_version"], "ner");
    assert_eq!(
        prediction["result"][1],
        json!({
            "id": "1-2", "from_name": "label", "to_name": "text", "type": "labels",
            "value": {"start": 8, "end": 11, "text": "Bob", "labels": ["PER"]}
        })
    );
    assert_eq!(tasks[1]["predictions"][0]["result"][0]["id"], "2-1");
    let nothing = super::written(&options, &[]).unwrap();
    assert_eq!(nothing, "[]\n");
}

#[test]
fn annotations_of_raw_text_refer_to_the_file() {
    let text = "\u{feff}é Ann\tLee\r\n \r\n\nBob. Rome\n";
    let out = all(&spans(TextFormat::Brat), Format::Text, text, names);
    assert_eq!(out, "T1\tPER 3 10\tAnn\tLee\nT2\tPER 16 19\tBob\nT3\tLOC 21 25\tRome\n");
    let file: Vec<char> = text.chars().collect();
    assert_eq!(file[16..19].iter().collect::<String>(), "Bob");
}

#[test]
fn annotations_of_other_input_refer_to_the_texts_one_after_the_other() {
    let text = Arc::new(Mutex::new(Vec::new()));
    let objects = concat!(r#"{"text": "Ann\nLee left"}"#, "\n", r#"{"text": "In Rome. Bob"}"#);
    let sentences = read(Format::Jsonl, objects);
    let writer = TextWriter::new(TextFormat::Brat, &WriteOptions::new(TextFormat::Brat));
    let writer = writer.with_text(Box::new(Shared(Arc::clone(&text))));
    let mut writer = Writer::with(Vec::new(), "out", Box::new(writer));
    for sentence in &sentences {
        let labels = sentence.words().unwrap().map(names).collect();
        writer.write(&Tagged::new(sentence, labels)).unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(
        String::from_utf8(writer.into_inner()).unwrap(),
        "T1\tPER 0 3;4 7\tAnn Lee\nT2\tLOC 16 20\tRome\nT3\tPER 22 25\tBob\n"
    );
    let text = String::from_utf8(text.lock().unwrap().clone()).unwrap();
    assert_eq!(text, "Ann\nLee left\nIn Rome. Bob\n");
}

/// A buffer that the test can look at.
struct Shared(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_label_with_white_space_cannot_be_an_annotation_of_brat() {
    let sentences = read(Format::Conll, "Ann\n");
    let tagged = Tagged::new(&sentences[0], vec!["B-A B"]);
    let error = super::written(&spans(TextFormat::Brat), &[tagged]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "x:1: the label \"A B\" cannot be written as BRAT: it contains ' '; use JSON lines"
    );
}

#[test]
fn labels_without_spans_mark_every_token() {
    let out = one(&tags(DOCCANO), Format::Text, "I left.", &["O", "VBD", "."]);
    assert_eq!(out, "{\"text\":\"I left.\",\"label\":[[0,1,\"O\"],[2,6,\"VBD\"],[6,7,\".\"]]}\n");
}

#[test]
fn spans_without_a_type_get_one() {
    let out = one(&spans(DOCCANO), Format::Conll, "a\nb\n", &["B", "I"]);
    assert_eq!(out, "{\"text\":\"a b\",\"label\":[[0,3,\"SPAN\"]]}\n");
}

#[test]
fn probabilities_are_those_of_the_marks() {
    let sentences = read(Format::Text, "Ann left. Bob stayed.");
    let tagged = |i: usize, labels, marks, probability| Tagged {
        mark_probabilities: Some(marks),
        probability: Some(probability),
        ..Tagged::new(&sentences[i], labels)
    };
    let both = [
        tagged(0, vec!["B-PER", "O", "O"], vec![0.5], 0.5),
        tagged(1, vec!["B-PER", "O", "O"], vec![0.25], 0.25),
    ];
    let out = super::written(&spans(label_studio()), &both).unwrap();
    let tasks: Value = serde_json::from_str(&out).unwrap();
    let prediction = &tasks[0]["predictions"][0];
    assert_eq!(prediction["score"], 0.125);
    assert_eq!(prediction["result"][1]["score"], 0.25);
    let out = super::written(&spans(TextFormat::Html), &both).unwrap();
    assert!(
        out.contains("title=\"PER: probability 0.250\" class=\"unsure\">Bob<b>\u{a0}PER 25 %</b>"),
        "{out}"
    );
    let out = super::written(&spans(TextFormat::Brat), &both).unwrap();
    assert!(out.ends_with("#2\tAnnotatorNotes T2\tprobability 0.250000\n"), "{out}");
    let wrong = tagged(0, vec!["B-PER", "O", "O"], vec![0.5, 0.5], 0.5);
    assert_eq!(
        super::written(&spans(PRODIGY), &[wrong]).unwrap_err().to_string(),
        "x:1: 2 probabilities for 1 marks"
    );
}

#[test]
fn a_page_has_one_beginning_and_one_end() {
    let mut sentences = read(Format::Conll, "Ann\n\n-DOCSTART-\n\nRome\n");
    assert!(sentences[1].layout.document_start);
    let tagged: Vec<Tagged> = sentences
        .iter()
        .map(|sentence| Tagged::new(sentence, vec!["B-LOC"; sentence.len()]))
        .collect();
    let out = super::written(&spans(TextFormat::Html), &tagged).unwrap();
    for once in ["<!DOCTYPE html>", "<title>x</title>", "<h1>x</h1>", "<hr>", "</html>\n"] {
        assert_eq!(out.matches(once).count(), 1, "{once} in {out}");
    }
    assert!(out.ends_with("</html>\n"));
    sentences.clear();
    let nothing = super::written(&spans(TextFormat::Html), &[]).unwrap();
    assert!(nothing.contains("<title>Tagged text</title>") && nothing.ends_with("</html>\n"));
}

#[test]
fn a_text_is_written_with_its_last_sentence() {
    let sentences = read(Format::Text, "Ann left. Bob stayed.\n");
    let mut writer = Writer::new(Vec::new(), "out", &spans(PRODIGY)).unwrap();
    let mut write = |i: usize| {
        let labels = vec!["O"; sentences[i].len()];
        writer.write(&Tagged::new(&sentences[i], labels)).unwrap();
    };
    write(0);
    write(1);
    let out = writer.into_inner();
    assert!(out.ends_with(b"\n"), "no end of the text was needed");
    assert_eq!(out.iter().filter(|byte| **byte == b'\n').count(), 1);
}

/// The part of a text at positions in a unit.
fn slice(text: &str, unit: OffsetUnit, start: u64, end: u64) -> String {
    let [start, end] = [start, end].map(|offset| offset as usize);
    match unit {
        OffsetUnit::Chars => text.chars().skip(start).take(end - start).collect(),
        OffsetUnit::Bytes => text[start..end].to_owned(),
        OffsetUnit::Utf16 => {
            let units: Vec<u16> = text.encode_utf16().collect();
            String::from_utf16(&units[start..end]).unwrap()
        }
    }
}

proptest! {
    #[test]
    fn positions_lead_to_the_tokens_of_any_text(
        text in "(\u{feff})?(\\PC|[a-z😀]|e\u{301}|\r\n|[\n\t \r\u{b}\u{2028}]){0,60}"
    ) {
        for unit in OffsetUnit::ALL {
            let options = |format| WriteOptions { offsets: unit, ..format };
            let out = all(&options(tags(PRODIGY)), Format::Text, &text, |_| "X");
            for line in out.lines() {
                let object: Value = serde_json::from_str(line).unwrap();
                let own = object["text"].as_str().unwrap();
                let tokens = object["tokens"].as_array().unwrap();
                for (token, span) in tokens.iter().zip(object["spans"].as_array().unwrap()) {
                    let [start, end] = ["start", "end"].map(|key| span[key].as_u64().unwrap());
                    prop_assert_eq!(slice(own, unit, start, end), token["text"].as_str().unwrap());
                }
            }
            let json_lines = options(WriteOptions::new(OutputFormat::Jsonl));
            for line in all(&json_lines, Format::Text, &text, |_| "B-X").lines() {
                let object: Value = serde_json::from_str(line).unwrap();
                let covered = |start: &Value, end: &Value| {
                    slice(&text, unit, start.as_u64().unwrap(), end.as_u64().unwrap())
                };
                let offset = &object["offset"];
                prop_assert_eq!(covered(&offset[0], &offset[1]), object["text"].as_str().unwrap());
                for (t, token) in object["tokens"].as_array().unwrap().iter().enumerate() {
                    let (token, span) = (token.as_str().unwrap(), &object["spans"][t]);
                    let place = &object["offsets"][t];
                    prop_assert_eq!(covered(&place[0], &place[1]), token);
                    prop_assert_eq!(covered(&span["start"], &span["end"]), token);
                    prop_assert_eq!(&span["text"], token);
                }
            }
        }
        let words: Vec<String> = read(Format::Text, &text)
            .iter()
            .flat_map(|sentence| sentence.words().unwrap().map(str::to_owned).collect::<Vec<_>>())
            .collect();
        let out = all(&tags(TextFormat::Brat), Format::Text, &text, |_| "X");
        let found: Vec<String> = out
            .lines()
            .map(|line| {
                let place: Vec<u64> = line.split(['\t', ' '])
                    .skip(2)
                    .take(2)
                    .map(|number| number.parse().unwrap())
                    .collect();
                slice(&text, OffsetUnit::Chars, place[0], place[1])
            })
            .collect();
        prop_assert_eq!(found, words);
    }
}
