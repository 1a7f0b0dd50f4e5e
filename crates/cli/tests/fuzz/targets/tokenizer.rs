//! The tokenizer and the sentence splitter.

use dropchain::tokenize::{sentences, tokens};

use crate::harness::Target;

const PIECES: &str = "\
    Mr. U.S. e.g. etc. ... … .␣ ?␣ !␣ “ ” \" ' '' `` :-) :D <3 http:// www.a.org/b?c=d a@b.de #tag \
    @user don't 's 1,000.50 1. 10:30 $ % 。 （ \u{200d} \u{fe0f} 🇩🇪 \u{2029} A";

#[test]
fn tokens_tile_the_text_and_sentences_are_groups_of_them() {
    Target::new("tokenizer", PIECES).run(|input| {
        let text = &*String::from_utf8_lossy(input);
        let tokens = tokens(text);
        let (mut end, mut chars) = (0, 0);
        for token in &tokens {
            let bytes = token.bytes.clone();
            assert!(bytes.start >= end && bytes.end > bytes.start, "{token:?} after {end}");
            let (gap, word) = (&text[end..bytes.start], &text[bytes.clone()]);
            assert!(gap.chars().all(char::is_whitespace), "no token has {gap:?}");
            assert!(!word.contains(char::is_whitespace), "{word:?}");
            chars += gap.chars().count();
            assert_eq!(token.chars, chars..chars + word.chars().count(), "{word:?}");
            chars = token.chars.end;
            end = bytes.end;
        }
        assert!(text[end..].chars().all(char::is_whitespace), "{:?}", &text[end..]);
        let sentences = sentences(text);
        assert!(sentences.iter().all(|sentence| !sentence.is_empty()));
        assert_eq!(sentences.concat(), tokens);
    });
}
