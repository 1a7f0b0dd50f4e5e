//! Text in other encodings, and with hard line breaks.

use crate::support::{NER_CORPUS, TestDir};

/// Encodes text in windows-1252.
fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect()
}

/// The corpus with a name beyond ASCII.
fn corpus() -> String {
    NER_CORPUS.replace("Ann ", "Zoë ")
}

#[test]
fn tag_and_eval_decode_their_input_too() {
    let dir = TestDir::with_model(&corpus(), "--template minimal");
    let text = dir.run_with_stdin("tag m --output inline", "Zoë Lee left.\n").success();
    assert_eq!(text, "[PER Zoë Lee] left.\n");
    let decoded = "tag m --output inline --encoding latin1";
    assert_eq!(dir.run_with_stdin(decoded, latin1("Zoë Lee left.\n")).success(), text);
    let gzip = crate::support::gzip("Zoë Lee left.\n");
    assert_eq!(dir.run_with_stdin("tag m --output inline", gzip).success(), text);
    dir.write("gold", latin1(&corpus()));
    let report = dir.run("eval m gold --encoding latin1").success();
    assert_eq!(report, dir.run("eval m train.conll").success());
    let tagged = dir.run("tag m gold --format conll --encoding latin1").success();
    assert!(tagged.starts_with("Zoë NNP B-PER B-PER\n"), "{tagged}");
}

#[test]
fn what_is_no_text_is_an_error_that_names_both_options_or_replaced_and_counted() {
    let dir = TestDir::with_model(&corpus(), "--template minimal");
    let bytes = latin1("Zoë Lee left.\nAnn left.\n");
    dir.write("x.txt", &bytes);
    let error = dir.run("tag m x.txt").failure();
    assert!(error.starts_with("x.txt:1:3: byte 0xEB is not UTF-8; "), "{error}");
    assert!(error.contains("--encoding") && error.contains("utf-8-lossy"), "{error}");
    let run = dir.run("tag m x.txt --output inline --encoding utf-8-lossy");
    assert!(run.stderr.contains("1 place is no text: U+FFFD stands there"), "{}", run.stderr);
    assert!(run.success().contains('\u{fffd}'));

    dir.write("x.txt", b"ab\n\x82\xa0\xff\n");
    dir.run("tag m x.txt --encoding shift_jis")
        .fails_at("x.txt:2: the next bytes are not Shift_JIS; ");
    let run = dir.run("tag m x.txt --encoding shift_jis-lossy --output inline");
    assert!(run.success().contains("あ\u{fffd}"));
    let error = dir.run("tag m x.txt --encoding klingon").exits(2);
    assert!(error.contains("unknown encoding 'klingon'"), "{error}");
}
