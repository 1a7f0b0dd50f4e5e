//! Tests of the examples in `docs/tokenization.md`, of more, and of the guarantees for any text.

mod examples;

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::sentence::{Offsets, SourceFile};

/// The page whose table rows are tests.
const DOCUMENT: &str = include_str!("../../../docs/tokenization.md");

/// Returns the input and the expected output of each table row of the page with code, and those of
/// the further examples.
fn examples() -> Vec<(&'static str, &'static str)> {
    let cells = DOCUMENT.lines().filter(|line| line.starts_with("| `")).map(|row| {
        let mut cells = row.split('|').skip(1);
        let mut code = || code_span(cells.next().unwrap().trim());
        (code(), code())
    });
    cells.chain(examples::MORE.iter().copied()).collect()
}

/// Returns the contents of a Markdown code span: the text between equal numbers of backticks,
/// without the spaces that separate them from backticks in the text.
fn code_span(cell: &str) -> &str {
    let text = cell.trim_start_matches('`');
    let fence = &cell[..cell.len() - text.len()];
    let text = text.strip_suffix(fence).unwrap_or_else(|| panic!("{cell:?} is not code"));
    if fence.len() > 1 { text.trim() } else { text }
}

fn words<'t>(text: &'t str, tokens: &[Offsets]) -> Vec<&'t str> {
    tokens.iter().map(|t| &text[t.bytes.clone()]).collect()
}

/// Tokenizes a text; joins words with spaces and sentences with ` ‖ `.
fn format_sentences(text: &str) -> String {
    sentences(text).iter().map(|s| words(text, s).join(" ")).collect::<Vec<_>>().join(" ‖ ")
}

#[test]
fn the_examples_in_the_documentation_are_correct() {
    let examples = examples();
    assert!(examples.len() > 90, "{} examples found", examples.len());
    let wrong: Vec<String> = examples
        .iter()
        .filter(|(text, expected)| format_sentences(text) != **expected)
        .map(|(text, expected)| {
            format!("{text}\n  expected: {expected}\n  actual:   {}", format_sentences(text))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn tokenizing_is_idempotent_on_the_documented_examples() {
    for (text, _) in examples() {
        let once = words(text, &tokens(text)).join(" ");
        let twice = words(&once, &tokens(&once)).join(" ");
        assert_eq!(once, twice);
    }
}

#[test]
fn a_line_becomes_sentences_with_offsets() {
    let file = SourceFile::from("a.txt");
    let read = Tokenizer::new(1000).read_line("¡Olé! It's é.\n", &file, 7).unwrap();
    let words: Vec<Vec<&str>> =
        read.iter().map(|s| (0..s.len()).map(|t| s.cell(t, 0)).collect()).collect();
    assert_eq!(words, [vec!["¡", "Olé", "!"], vec!["It", "'s", "é", "."]]);
    let offsets = &read[1].offsets[2];
    assert_eq!((offsets.bytes.clone(), offsets.chars.clone()), (13..15, 11..12));
    assert_eq!(read[1].layout.source.as_deref(), Some("¡Olé! It's é.\n"));
    assert_eq!(read[1].place(0).to_string(), "a.txt:7");
    assert!(Arc::ptr_eq(read[0].schema(), read[1].schema()));
}

#[test]
fn a_blank_line_has_no_sentence() {
    let file = SourceFile::from("-");
    for line in ["", " \t\u{3000}\r\n"] {
        assert!(Tokenizer::new(1000).read_line(line, &file, 1).unwrap().is_empty());
    }
}

#[test]
fn an_empty_line_ends_a_sentence_and_a_line_break_does_not() {
    assert_eq!(
        format_sentences("A title\n\nwrapped\nlines\r\n \r\nlast"),
        "A title ‖ wrapped lines ‖ last"
    );
    assert_eq!(format_sentences("No. 5\n\nfive"), "No. 5 ‖ five");
    assert_eq!(format_sentences("Why?\n\n) he"), "Why ? ‖ ) he");
}

/// Checks the guarantees of [`tokens`] and [`sentences`].
fn check(text: &str) {
    use unicode_segmentation::GraphemeCursor;
    let tokens = tokens(text);
    let mut byte = 0;
    for token in &tokens {
        let gap = &text[byte..token.bytes.start];
        assert!(gap.chars().all(char::is_whitespace), "lost {gap:?}");
        let word = &text[token.bytes.clone()];
        assert!(!word.is_empty() && !word.contains(char::is_whitespace), "{word:?}");
        assert_eq!(text[..token.bytes.start].chars().count(), token.chars.start);
        assert_eq!(word.chars().count(), token.chars.len());
        let mut cursor = GraphemeCursor::new(token.bytes.start, text.len(), true);
        assert!(
            gap.len() + byte == 0 || !gap.is_empty() || cursor.is_boundary(text, 0).unwrap(),
            "{word:?} starts inside a cluster"
        );
        byte = token.bytes.end;
    }
    assert!(text[byte..].chars().all(char::is_whitespace));
    let sentences = sentences(text);
    assert!(sentences.iter().all(|s| !s.is_empty()));
    assert_eq!(sentences.concat(), tokens);
}

proptest! {
    #[test]
    fn any_text_is_covered_once_and_in_order(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn texts_made_of_rule_triggers_are_covered_once_and_in_order(
        pieces in prop::collection::vec(prop::sample::select(pieces()), 0..24)
    ) {
        check(&pieces.concat());
    }
}

/// Rule triggers and adversarial inputs, besides blanks and line ends.
const PIECES: &str = "\
    \u{a0} a A n t s é e\u{301} \u{301} ß 漢 の ไทย ק 0 5 10 90s . .. , ; : ' ’ \" “ ” ( ) [ ] < > \
    - -- _ / // \\ @ # $ % & &amp; * + = ! ? ¿ … 。 http:// www. mailto: com txt U.S Mr No etc \
    e.g ll 've n't Smith The it :) :D <3 3 D 👍🏽 👨‍👩‍👧 🇩🇪 1️⃣ \u{200d} \u{200b} \u{fe0f} \u{600} \
    \u{feff} \u{2029} क्ष \u{d4e} 한";

fn pieces() -> Vec<&'static str> {
    PIECES.split(' ').chain([" ", "\n", "\n\n"]).collect()
}

#[test]
fn repetition_of_rule_triggers_takes_linear_time() {
    let patterns = "\
        a . a. ab. a- a@ a.@ @ # #a : :) :(a ( ) (( ' n't 's http:// http://. a: // a/ www. &amp & \
        * a* a** !? -1 1, 1. J. J.J Mr. etc. e.g \u{301} a\u{301}. 👍🏽 🇩🇪 \u{200d} 👨‍👩‍👧\u{200d} 漢 \
        。 \" .) _ क् \u{600} 1️⃣ x.y-";
    let with_blanks = [". (", ". \"", "\" ", ".. ", ":) ", " ", "\n"];
    for pattern in patterns.split(' ').chain(with_blanks) {
        let text = pattern.repeat(200_000 / pattern.len());
        assert_eq!(sentences(&text).concat().is_empty(), text.trim().is_empty());
    }
}
