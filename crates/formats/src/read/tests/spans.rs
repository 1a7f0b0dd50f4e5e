//! Tests of JSON with spans of characters.

use dropchain::corpus::{ReadOptions, Reader, TextOptions};
use dropchain::{Result, Sentence};
use dropchain_numerics::testing::rows;

use crate::read::span_options::{DROPPED, EXPANDED, OVERLAPPING};
use crate::read::spans::{REJECTED, SEVERAL_LABELS};
use crate::{InputFormat, Misaligned, Overlaps, SpanOffsets, SpanOptions};

fn spans() -> ReadOptions {
    spans_with(SpanOptions::default())
}

fn spans_with(options: SpanOptions) -> ReadOptions {
    InputFormat::Spans.apply(options, ReadOptions::default())
}

fn sentences(text: &str, options: &ReadOptions) -> Result<Vec<Sentence>> {
    let input = std::io::Cursor::new(text.to_owned());
    Reader::from_read(Box::new(input), "x", options).collect()
}

fn error(text: &str, options: &ReadOptions) -> String {
    sentences(text, options).unwrap_err().to_string()
}

/// The words with their labels.
fn read(text: &str, options: &ReadOptions) -> Vec<String> {
    let read = sentences(text, options).unwrap();
    let pairs = |s: &Sentence| {
        let cells: Vec<String> =
            (0..s.len()).map(|t| s.cells(t).collect::<Vec<_>>().join("/")).collect();
        cells.join(" ")
    };
    read.iter().map(pairs).collect()
}

#[test]
fn the_objects_of_all_tools_are_read() {
    let expected = ["Ann/B-PER Lee/I-PER left/O ./O"];
    for text in [
        r#"{"text":"Ann Lee left.","spans":[{"start":0,"end":7,"label":"PER"}]}"#,
        r#"{"text":"Ann Lee left.","label":[[0,7,"PER"]],"id":1}"#,
        r#"{"text":"Ann Lee left.","labels":[[0,7,"PER"]]}"#,
        concat!(
            r#"{"text":"Ann Lee left.","entities":[{"id":3,"start_offset":0,"end_offs"#,
            r#"et":7,"label":"PER"}],"relations":[]}"#
        ),
        concat!(
            r#"[{"id":1,"data":{"text":"Ann Lee left."},"annotations":[{"was_cancelle"#,
            r#"d":true,"result":[]},{"result":[{"value":{"start":0,"end":7,"text":"An"#,
            r#"n Lee","labels":["PER"]},"from_name":"label","to_name":"text","type":""#,
            r#"labels"},{"type":"relation","from_id":"a","to_id":"b"},{"value":{"choi"#,
            r#"ces":["x"]},"type":"choices"}]}]}]"#
        ),
        "[\n {\n \"text\": \"Ann Lee left.\",\n \"label\": \
             [{\"start\": 0, \"end\": 7, \"labels\": [\"PER\"]}]\n }\n]\n",
    ] {
        assert_eq!(read(text, &spans()), expected, "{text}");
    }
}

#[test]
fn a_sentence_ends_with_its_line_or_paragraph_but_not_inside_a_span() {
    let text = concat!(
        r#"{"text":"Ann left. Bob\nstayed at St. Paul Inc. Then","spans":[{"start"#,
        r#"":24,"end":37,"label":"ORG"}]}"#
    );
    let found = read(text, &spans());
    assert_eq!(found[1], "Bob/O");
    assert!(found[2].starts_with("stayed/O at/O St./B-ORG Paul/I-ORG Inc."), "{found:?}");
    let paragraphs =
        ReadOptions { text: TextOptions { paragraphs: true, ..TextOptions::default() }, ..spans() };
    assert!(read(text, &paragraphs)[1].starts_with("Bob/O stayed/O"));
    let across = r#"{"text":"New\nYork","spans":[{"start":0,"end":8,"label":"LOC"}]}"#;
    assert_eq!(read(across, &spans()), ["New/B-LOC York/I-LOC"]);
}

/// An object with this text, as JSON, and spans of the kind X: offsets, and the text that
/// should be there, if it is known.
fn object(text: &str, spans: &[(u64, u64, &str)]) -> String {
    let span = |(start, end, text): &(u64, u64, &str)| {
        let text = if text.is_empty() { String::new() } else { format!(",\"text\":{text:?}") };
        format!("{{\"start\":{start},\"end\":{end},\"label\":\"X\"{text}}}")
    };
    let spans: Vec<String> = spans.iter().map(span).collect();
    format!("{{\"text\":{text:?},\"spans\":[{}]}}\n", spans.join(","))
}

#[test]
fn offsets_count_what_is_chosen_or_else_where_the_texts_of_the_spans_are() {
    const TEXT: &str = "😀 é\r\nZoë X";
    for (unit, start, end) in [
        (SpanOffsets::Chars, 5, 8),
        (SpanOffsets::Utf16, 6, 9),
        (SpanOffsets::Lines, 4, 7),
        (SpanOffsets::Utf16Lines, 5, 8),
        (SpanOffsets::Bytes, 9, 13),
    ] {
        let options = |offsets| spans_with(SpanOptions { offsets, ..SpanOptions::default() });
        let expected = ["😀/O é/O", "Zoë/B-X X/O"];
        assert_eq!(read(&object(TEXT, &[(start, end, "")]), &options(Some(unit))), expected);
        if unit == SpanOffsets::Utf16Lines {
            continue; // the last of the text, or it is that of another unit as well
        }
        let found = options(None);
        let with_text = object(TEXT, &[(start, end, "Zoë")]);
        assert_eq!(read(&(with_text.clone() + &with_text), &found).len(), 4, "{unit}");
        let warnings = found.report.unexpected();
        match unit {
            SpanOffsets::Chars => assert!(warnings.is_empty(), "{warnings:?}"),
            _ => {
                assert!(warnings[0].contains("x:1: 2 texts have offsets "), "{warnings:?}");
            }
        }
    }
    // What was found holds for texts whose spans do not repeat theirs.
    let rest = object("Mira saw\r\nKai", &[(9, 12, "")]);
    let text = object("Ann\r\nLee\r\nran", &[(4, 7, "Lee"), (8, 11, "ran")]) + &rest;
    assert_eq!(read(&text, &spans())[3..], ["Mira/O saw/O", "Kai/B-X"]);
    let nowhere = object("😀 Zoë X", &[(2, 5, "Zoë"), (3, 6, "Zoë")]);
    assert_eq!(
        error(&nowhere, &spans()),
        "x:1: the span 3–6 (X) has the text 'Zoë', but there is 'oë ' (offsets count \
         characters; is it the text that was annotated?)"
    );
}

#[test]
fn spans_without_their_texts_that_cut_tokens_after_crlf_are_doubted() {
    let text = object("Mira saw\r\nKai", &[(9, 12, "")]);
    let hint = "`offsets` lines finds the spans";
    assert!(error(&text, &spans()).contains(hint), "{}", error(&text, &spans()));
    let options = |offsets, misaligned| {
        spans_with(SpanOptions { offsets, misaligned, ..SpanOptions::default() })
    };
    let expand = options(None, Misaligned::Expand);
    assert_eq!(read(&text, &expand)[1], "Kai/B-X");
    assert!(expand.report.unexpected()[0].contains("x:1: 1 span cuts a token after a line"));
    // Before a line end, after LF alone, or with a unit that was chosen: nothing to doubt.
    let before = object("Mira saw\r\nKai", &[(0, 3, "")]);
    for text in [before, object("Mira saw\nKai", &[(10, 12, "")])] {
        assert!(!error(&text, &spans()).contains(hint));
    }
    let chosen = options(Some(SpanOffsets::Chars), Misaligned::Error);
    assert!(!error(&text, &chosen).contains(hint));
}

const CUT: &str = concat!(
    r#"{"text":"in London today","spans":[{"start":3,"end":7,"label":"LOC"}]}"#,
    "\n",
    r#"{"text":"Ann","spans":[{"start":0,"end":3,"label":"PER"}]}"#,
    "\n",
    r#"{"text":"Ann Lee","spans":[{"start":4,"end":6,"label":"PER"}]}"#,
    "\n",
);

#[test]
fn all_spans_that_cut_tokens_are_listed() {
    assert_eq!(
        error(CUT, &spans()),
        "x:1: the span 'Lond' (LOC, 3–7) cuts the token 'London'\n\
         x:3: the span 'Le' (PER, 4–6) cuts the token 'Lee'\n\
         expected spans of whole tokens (`misaligned` expand extends those that cut tokens, \
         `misaligned` drop leaves them out)"
    );
}

#[test]
fn spans_that_cut_tokens_can_be_extended_or_left_out() {
    let expand =
        spans_with(SpanOptions { misaligned: Misaligned::Expand, ..SpanOptions::default() });
    assert_eq!(read(CUT, &expand), ["in/O London/B-LOC today/O", "Ann/B-PER", "Ann/O Lee/B-PER"]);
    assert_eq!(expand.report.count(&EXPANDED), 2);
    let drop = spans_with(SpanOptions { misaligned: Misaligned::Drop, ..SpanOptions::default() });
    assert_eq!(read(CUT, &drop), ["in/O London/O today/O", "Ann/B-PER", "Ann/O Lee/O"]);
    assert_eq!(drop.report.count(&DROPPED), 2);
    // Both in one token.
    let both = object("London", &[(0, 2, ""), (3, 6, "")]);
    assert!(error(&both, &expand).contains("'don' (X, 3–6), extended to whole tokens, overlap"));
}

#[test]
fn blanks_at_the_ends_of_a_span_are_no_part_of_it() {
    let text = r#"{"text":"in London today","spans":[{"start":2,"end":10,"label":"LOC"}]}"#;
    assert_eq!(read(text, &spans()), ["in/O London/B-LOC today/O"]);
}

#[test]
fn overlapping_spans_are_listed_or_one_of_them_is_read() {
    let overlaps = |spans: &str, overlaps| {
        let text = format!(r#"{{"text":"New York City Hall","spans":[{spans}]}}"#);
        let options = spans_with(SpanOptions { overlaps, ..SpanOptions::default() });
        let read = match sentences(&text, &options) {
            Ok(_) => read(&text, &options).concat(),
            Err(error) => error.to_string(),
        };
        (read, options.report)
    };
    let crossing = r#"[4,13,"B"],[0,8,"A"],[9,18,"C"]"#;
    for (spans, choice, expected) in [
        (
            crossing,
            Overlaps::Error,
            "x:1: the span 'New York' (A, 0–8) and the span 'York City' (B, 4–13) overlap\n\
             x:1: the span 'York City' (B, 4–13) and the span 'City Hall' (C, 9–18) overlap\n\
             expected spans that do not overlap (`overlaps` longest keeps the longest of them, \
             `overlaps` first the one that is listed first)",
        ),
        (crossing, Overlaps::First, "New/O York/B-B City/I-B Hall/O"),
        (crossing, Overlaps::Longest, "New/O York/B-B City/I-B Hall/O"),
        // Nested, in either order.
        (r#"[0,3,"B"],[0,8,"A"]"#, Overlaps::First, "New/B-B York/O City/O Hall/O"),
        (r#"[0,3,"B"],[0,8,"A"]"#, Overlaps::Longest, "New/B-A York/I-A City/O Hall/O"),
        (
            r#"[0,8,"A"],[4,8,"B"],[9,13,"B"]"#,
            Overlaps::Longest,
            "New/B-A York/I-A City/B-B Hall/O",
        ),
        // Two labels of one span.
        (r#"[0,8,"B"],[0,8,"A"]"#, Overlaps::Longest, "New/B-B York/I-B City/O Hall/O"),
        // Exact duplicates are no overlap.
        (r#"[0,3,"A"],[0,3,"A"],[0,4,"A"]"#, Overlaps::Error, "New/B-A York/O City/O Hall/O"),
    ] {
        let (read, report) = overlaps(spans, choice);
        assert_eq!(read, expected, "{spans} {choice}");
        if choice != Overlaps::Error {
            assert!(report.count(&OVERLAPPING) > 0);
        }
    }
    let (_, report) = overlaps(r#"[0,3,"A"],[0,3,"A"],[0,3,"A"]"#, Overlaps::Error);
    assert!(report.notices()[0].ends_with("spans are there twice with one label: read once"));
    let many: Vec<String> = (1..=30).map(|end| format!("[0,18,\"{end}\"]")).collect();
    let (error, _) = overlaps(&many.join(","), Overlaps::Error);
    assert!(error.contains("\n… and 9 more\nexpected spans that do not"), "{error}");
}

#[test]
fn texts_without_spans_may_lack_their_key_where_others_have_it() {
    let ann = r#"{"text":"Ann","spans":[[0,3,"PER"]]}"#;
    for (text, options) in [
        (r#"{"text":"b"}"#, spans()),
        (r#"{"text":"b","spans":null}"#, spans()),
        (r#"{"text":"b","annotations":[]}"#, spans()),
        (r#"{"text":"b","names":null}"#, ReadOptions { label: Some("names".into()), ..spans() }),
    ] {
        let ann = ann.replace("spans", options.label.as_deref().unwrap_or("spans"));
        assert_eq!(read(&format!("{text}\n{ann}\n"), &options), ["b/O", "Ann/B-PER"], "{text}");
        assert_eq!(read(&format!("{ann}\n{text}\n"), &options), ["Ann/B-PER", "b/O"], "{text}");
    }
    // Alone, only null and what was accepted say so.
    for text in [r#"{"text":"b","spans":null}"#, r#"{"text":"b","answer":"accept"}"#] {
        assert_eq!(read(text, &spans()), ["b/O"], "{text}");
    }
    let options = spans();
    read(&format!("{{\"text\":\"b\"}}\n{ann}\n{{\"text\":\"c\"}}"), &options);
    let notice = "x:1: 2 texts have no key of spans: read as texts without spans, as others \
                  have it";
    assert_eq!(options.report.notices(), [notice]);
    let other = "{\"text\":\"b\",\"ents\":[]}\n{\"text\":\"c\",\"ents\":[]}";
    assert!(error(other, &spans()).starts_with("x:1: found no spans; expected an array of"));
}

#[test]
fn annotations_of_doccano_have_names_or_are_explained() {
    let object = |label: &str| {
        format!(
            r#"{{"text":"Ann left","annotations":[{{"label":{label},"start_offset":0,{}}}]}}"#,
            r#""end_offset":3,"user":1"#
        )
    };
    assert_eq!(read(&object("\"PER\""), &spans()), ["Ann/B-PER left/O"]);
    let number = "x:1: key \"annotations\", item 1: the label is the number 5, whose name is \
                  elsewhere; expected the name (of doccano: export JSONL with text labels)";
    assert_eq!(error(&object("5"), &spans()), number);
    assert!(error(&object("[5]"), &spans()).ends_with("expected \"label\" with a string"));
    let entities = r#"{"text":"Ann","entities":[{"label":7,"start_offset":0,"end_offset":3}]}"#;
    assert!(error(entities, &spans()).contains("the label is the number 7"));
}

#[test]
fn known_tokens_are_kept() {
    let text = concat!(
        r#"{"text":"don't go","tokens":[{"text":"don't","start":0,"end":5,"id":0,"#,
        r#""ws":true},{"start":6,"end":8}],"spans":[{"start":0,"end":5,"label":"X"#,
        r#"","token_start":0}]}"#
    );
    assert_eq!(read(text, &spans()), ["don't/B-X go/O"]);
    let unordered =
        r#"{"text":"ab","tokens":[{"start":1,"end":2},{"start":0,"end":1}],"spans":[]}"#;
    assert_eq!(
        error(unordered, &spans()),
        "x:1: the token 0–1 begins before the end of the token before it"
    );
}

#[test]
fn known_tokens_have_the_sentences_of_raw_text_unless_they_say_where_these_begin() {
    let text = "Ann left. Rome-based Bob.\nYes";
    let tokens = |starts: &[usize]| {
        let words = ["Ann", "left.", "Rome-based", "Bob", ".", "Yes"];
        let tokens = words.iter().enumerate().map(|(i, word)| {
            let start = text.find(word).filter(|_| *word != ".").unwrap_or(24);
            let end = start + word.len();
            let is_start = if starts.contains(&i) { ",\"sent_start\":true" } else { "" };
            format!("{{\"start\":{start},\"end\":{end}{is_start}}}")
        });
        tokens.collect::<Vec<_>>().join(",")
    };
    let object = |starts: &[usize], spans: &str| {
        let text = text.replace('\n', "\\n");
        let tokens = tokens(starts);
        format!("{{\"text\":\"{text}\",\"tokens\":[{tokens}],\"spans\":[{spans}]}}")
    };
    assert_eq!(
        read(&object(&[], ""), &spans()),
        ["Ann/O left./O", "Rome-based/O Bob/O ./O", "Yes/O"]
    );
    assert_eq!(
        read(&object(&[0, 3], ""), &spans()),
        ["Ann/O left./O Rome-based/O", "Bob/O ./O Yes/O"]
    );
    // No sentence ends inside a span.
    assert_eq!(
        read(&object(&[0, 3], r#"{"start":10,"end":24,"label":"X"}"#), &spans()),
        ["Ann/O left./O Rome-based/B-X Bob/I-X ./O Yes/O"]
    );
    let odd = r#"{"text":"a","tokens":[{"start":0,"end":1,"sent_start":1}],"spans":[]}"#;
    assert_eq!(
        error(odd, &spans()),
        "x:1: key \"tokens\", item 1: invalid type: integer `1`, expected a boolean"
    );
}

#[test]
fn rejected_and_unannotated_texts_are_left_out_and_counted() {
    let options = spans();
    let text = concat!(
        r#"{"text":"a","spans":[],"answer":"reject"}"#,
        "\n",
        r#"{"text":"b","spans":[],"answer":"accept"}"#,
        "\n",
        r#"{"data":{"text":"c"},"annotations":[]}"#,
        "\n",
    );
    assert_eq!(read(text, &options), ["b/O"]);
    assert_eq!(options.report.count(&REJECTED), 2);
    let unlabeled = ReadOptions { unlabeled: true, ..spans() };
    assert_eq!(read(text, &unlabeled), ["a", "b", "c"]);
}

#[test]
fn the_text_may_have_another_key() {
    let options = ReadOptions { columns: Some(vec!["body".to_owned()]), ..spans() };
    let annotation =
        r#""annotations":[{"result":[{"value":{"start":0,"end":3,"labels":["PER"]}}]}]"#;
    for text in [
        r#"{"body":"Ann left","text":"x","label":[{"start":0,"end":3,"labels":["PER"]}]}"#,
        &format!(r#"{{"data":{{"body":"Ann left","file":"a.txt"}},{annotation}}}"#),
    ] {
        assert_eq!(read(text, &options), ["Ann/B-PER left/O"]);
    }
    let other = format!(r#"{{"data":{{"r":"Ann left","file":"a.txt"}},{annotation}}}"#);
    assert_eq!(
        error(&other, &options),
        "x:1: expected the key \"body\" with the text (of Label Studio: in \"data\"), found \
         strings under \"r\", \"file\" (`columns` KEY)"
    );
}

#[test]
fn spans_with_several_labels_are_left_out() {
    let text = concat!(
        r#"{"text":"Ann in Rome","spans":[{"start":0,"end":3,"labels":["PER","ACTOR"]},"#,
        r#"{"start":7,"end":11,"labels":["LOC"]}]}"#
    );
    let options = spans();
    assert_eq!(read(text, &options), ["Ann/O in/O Rome/B-LOC"]);
    assert_eq!(options.report.count(&SEVERAL_LABELS), 1);
}

#[test]
fn hostile_objects_are_errors_with_their_line() {
    let deep = format!(r#"{{"text":"a","spans":{}1{}}}"#, "[".repeat(9000), "]".repeat(9000));
    let table = r#"
        {"text":"é b","spans":[{"start":-1,"end":1,"label":"X"}]} → key "spans", item 1: expected an
            offset, a whole number from 0, found -1
        {"text":"é b","spans":[{"start":0,"end":1e99,"label":"X"}]} → key "spans", item 1: expected
            an offset, a whole number from 0, found 1e99
        {"text":"é b","spans":[[0.5,1,"X"]]} → key "spans", item 1: expected an offset, a whole
            number from 0, found 0.5
        {"text":"é b","spans":[[2,1,"X"]]} → the span 2–1 (X) is empty or reversed; expected an end
            after the start
        {"text":"é b","spans":[[0,9,"X"]]} → the span 0–9 (X) ends beyond the text, which has 3
            characters
        {"text":"é b","spans":[[0,1,""]]} → the span 0–1 () has no label
        {"text":"é b","spans":[{"start":0,"end":1}]} → key "spans", item 1: found no label; expected
            "label" with a string
        {"text":"é b","spans":[{"start":0,"start":1,"end":2,"label":"X"}]} → key "spans", item 1:
            duplicate field `start`
        {"text":"é b","spans":[3]} → key "spans", item 1: invalid type: integer `3`, expected an
            object with "start", "end" and "label"
        {"text":3,"spans":[]} → key "text": expected a string, found a number
        {"spans":[],"body":"a","id":"7"} → expected the key "text" with the text (of Label Studio:
            in "data"), found strings under "body", "id" (`columns` KEY)
        {"text":"é b","spans":[{"value":{"start":"/p[1]","end":"/p[1]","hypertextlabels":["A"]}}]} →
            key "spans", item 1: found a region of HTML (hypertextlabels); expected spans of text,
            which alone are read
        {"text":"a"} → found no spans; expected an array of them under "spans", "label", "labels",
            "entities" or "annotations"
        {"text":"a","spans":{}} → key "spans": invalid type: map, expected a sequence
        {"text":"a", → the JSON object that begins here does not end
        [ → the array that begins here does not end
    "#;
    for (text, message) in rows(table) {
        assert_eq!(error(text, &spans()), format!("x:1: {message}"), "{text}");
    }
    assert!(error(&deep, &spans()).starts_with("x:1"), "{}", error(&deep, &spans()));
    assert!(error("3\n", &spans()).starts_with("x:1:1: expected a JSON object"));
    assert!(error("{\n\"text\": \"a\",\n!}\n", &spans()).starts_with("x:3:1: not valid JSON"));
}

#[test]
fn a_span_inside_a_surrogate_pair_is_an_error() {
    let text = r#"{"text":"😀","spans":[[0,1,"X"]]}"#;
    let options =
        spans_with(SpanOptions { offsets: Some(SpanOffsets::Utf16), ..SpanOptions::default() });
    assert!(error(text, &options).contains("inside a character"));
}
