//! Emoticons.

use super::subtoken::SubtokenKind;
use super::text_run::TextRun;

/// Each before its own prefixes, so that the first match is the longest.
#[rustfmt::skip]
const EMOTICONS: &[&str] = &[
    "¯\\_(ツ)_/¯", ">:-(", ">:-)", ">:(", ">:)", ">_<", ">.<", ">_>", ":'-(", ":'-)", ":'(", ":')",
    ":’(", ":’)", ":-)", ":-(", ":-D", ":-P", ":-p", ":-O", ":-o", ":-/", ":-\\", ":-|", ":-*",
    ":-]", ":-[", ":-x", ":-X", ":-S", ":-s", ":)", ":(", ":D", ":P", ":p", ":O", ":o", ":/",
    ":\\", ":|", ":*", ":]", ":[", ":}", ":{", ":3", ":x", ":X", ":>", ":<", ";-)", ";-(", ";-D",
    ";-P", ";-p", ";)", ";(", ";D", ";P", ";p", ";]", ";_;", "=)", "=(", "=D", "=P", "=p", "=]",
    "=[", "=/", "=\\", "8-)", "B-)", "XD", "xD", "(:", "</3", "<3", "&lt;3", "^_^", "^.^", "^^",
    "-_-", "-.-", "\\o/", "o_O", "O_o", "O_O", "o_o", "T_T",
];

/// Final characters that may be repeated for emphasis: `:)))`, `xDDD`, `<333`.
const REPEATED: [char; 5] = [')', '(', 'D', 'P', '3'];

/// Matches an emoticon at subtoken `at`. Returns the index of the subtoken after it.
///
/// An emoticon must not be followed by a letter or digit (`:Dog`, `C:/temp`), unless it is at the
/// start of the run and ends in a symbol. One that starts or ends in a letter or digit must not be
/// preceded by a word, either.
pub(super) fn match_emoticon(run: &TextRun<'_>, at: usize) -> Option<usize> {
    let tail = run.tail(at);
    if !tail.starts_with(|c| ":;=<>^-&(8BXxOoT\\¯".contains(c)) {
        return None;
    }
    let emoticon = EMOTICONS.iter().find(|e| tail.starts_with(**e))?;
    let last = emoticon.chars().next_back()?;
    let mut length = emoticon.len();
    if REPEATED.contains(&last) {
        length += tail[length..].bytes().take_while(|&b| char::from(b) == last).count();
    }
    let end = run.index_at(at, run.start(at) + length)?;
    let word_after = run.word(end).is_some();
    let word_before = at > 0 && run.kind(at - 1) != Some(SubtokenKind::Symbol);
    let fits = if *emoticon == "(:" {
        at == 0 && end == run.len()
    } else if last.is_alphanumeric() || emoticon.starts_with(char::is_alphanumeric) {
        !word_after && !word_before
    } else {
        !word_after || at == 0
    };
    fits.then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, at: usize) -> Option<&str> {
        let run = TextRun::new(text, "");
        match_emoticon(&run, at).map(|end| &text[run.start(at)..run.start(end)])
    }

    #[test]
    fn no_emoticon_comes_after_its_own_prefix() {
        for (i, long) in EMOTICONS.iter().enumerate() {
            for short in &EMOTICONS[..i] {
                assert!(!long.starts_with(short), "{long} comes after {short}");
            }
        }
    }

    #[test]
    fn every_emoticon_is_found_by_itself() {
        for emoticon in EMOTICONS {
            assert_eq!(found(emoticon, 0), Some(*emoticon));
        }
    }

    #[test]
    fn adjacent_letters_distinguish_words_from_emoticons() {
        assert_eq!(found(":Dog", 0), None);
        assert_eq!(found("a:D", 1), None);
        assert_eq!(found("a:)", 1), Some(":)"));
        assert_eq!(found("C:/temp", 1), None);
        assert_eq!(found(":)))b", 0), Some(":)))"));
        assert_eq!(found("<30", 0), None);
        assert_eq!(found("<333", 0), Some("<333"));
    }
}
