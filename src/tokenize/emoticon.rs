//! Emoticons.

use super::atom::{Chunk, Kind};

/// Longer ones before their own beginnings, so that the first that fits is the longest.
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

/// Last characters that are repeated for emphasis: `:)))`, `xDDD`, `<333`.
const REPEATED: [char; 5] = [')', '(', 'D', 'P', '3'];

/// The emoticon at atom `at`: the atom after it.
///
/// An emoticon is not followed by a letter or digit (`:Dog`, `C:/temp`), unless it stands at the
/// start of the chunk and ends in a mark itself; one that ends in a letter does not follow one.
pub(super) fn end(chunk: &Chunk<'_>, at: usize) -> Option<usize> {
    let tail = chunk.tail(at);
    if !tail.starts_with(|c| ":;=<>^-&(8BXxOoT\\¯".contains(c)) {
        return None;
    }
    let emoticon = EMOTICONS.iter().find(|e| tail.starts_with(**e))?;
    let last = emoticon.chars().next_back()?;
    let mut length = emoticon.len();
    if REPEATED.contains(&last) {
        length += tail[length..]
            .bytes()
            .take_while(|&b| char::from(b) == last)
            .count();
    }
    let end = chunk.starting_at(at, chunk.start(at) + length)?;
    let word_after = chunk.word(end).is_some();
    let word_before = at > 0 && chunk.kind(at - 1) != Some(Kind::Mark);
    let fits = if *emoticon == "(:" {
        at == 0 && end == chunk.len()
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
        let chunk = Chunk::new(text, "");
        end(&chunk, at).map(|end| &text[chunk.start(at)..chunk.start(end)])
    }

    #[test]
    fn no_emoticon_hides_behind_its_own_beginning() {
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
    fn letters_at_their_sides_part_words_from_emoticons() {
        assert_eq!(found(":Dog", 0), None);
        assert_eq!(found("a:D", 1), None);
        assert_eq!(found("a:)", 1), Some(":)"));
        assert_eq!(found("C:/temp", 1), None);
        assert_eq!(found(":)))b", 0), Some(":)))"));
        assert_eq!(found("<30", 0), None);
        assert_eq!(found("<333", 0), Some("<333"));
    }
}
