//! Tokens of web text: URLs, e-mail addresses, file names, @names, #tags, HTML entities,
//! emoticons.
//!
//! Each matcher takes a run and the index of a subtoken, and returns the index after the match.

use super::text_run::{SubtokenKind, TextRun, is_number};

/// Maximum lookahead for the `@` or the top-level domain, in subtokens. It keeps the time linear;
/// real addresses are shorter.
const MAX_LOOKAHEAD: usize = 32;

/// Top-level domains recognized in `name.tld`. Those that are words of some language
/// (`is it in at to so no my me us be am as do la`) need `www.`, a scheme or a path.
const TOP_LEVEL_DOMAINS: &[&str] = &[
    "ae", "ai", "app", "ar", "au", "biz", "blog", "br", "ca", "cat", "cc", "ch", "cl", "cn", "co",
    "com", "cz", "de", "dev", "dk", "edu", "es", "eu", "fi", "fm", "fr", "gg", "gl", "gov", "gr",
    "hk", "hu", "ie", "il", "info", "int", "io", "jp", "ke", "kr", "ly", "mil", "mobi", "mx",
    "net", "ng", "nl", "nz", "online", "org", "ph", "pl", "pro", "pt", "ro", "ru", "sa", "se",
    "sg", "site", "th", "travel", "tv", "tw", "ua", "uk", "vn", "ws", "xyz", "za",
];

/// File name extensions.
const EXTENSIONS: &[&str] = &[
    "7z", "apk", "asp", "aspx", "avi", "bak", "bmp", "bz2", "cfg", "conf", "cpp", "css", "csv",
    "dat", "db", "dll", "dmg", "doc", "docx", "eml", "epub", "exe", "flac", "gif", "gz", "htm",
    "html", "ico", "ics", "ini", "iso", "java", "jpeg", "jpg", "js", "json", "jsp", "lnk", "log",
    "md", "mkv", "mov", "mp3", "mp4", "msg", "odt", "ogg", "pdf", "php", "png", "ppt", "pptx",
    "ps", "pst", "py", "rar", "rs", "rst", "rtf", "sh", "sql", "svg", "tar", "tex", "tgz", "tif",
    "tiff", "toml", "ts", "tsv", "txt", "url", "wav", "webm", "webp", "xls", "xlsx", "xml", "yaml",
    "yml", "zip",
];

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
pub(super) fn emoticon(run: &TextRun<'_>, at: usize) -> Option<usize> {
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

/// Matches a URL: `http://…`, any `scheme://…`, `mailto:…`, `www.…`.
pub(super) fn url(run: &TextRun<'_>, at: usize) -> Option<usize> {
    let word = run.word(at)?;
    let body = match [1, 2, 3].map(|i| run.text(at + i)) {
        [":", "/", "/"] if is_scheme(word) => at + 4,
        [":", ..] if word.eq_ignore_ascii_case("mailto") => at + 2,
        [".", ..] if word.eq_ignore_ascii_case("www") => at + 2,
        _ => return None,
    };
    let end = url_end(run, body);
    (end > body).then_some(end)
}

fn is_scheme(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// Returns the end of a URL whose path, or host and path, starts at `body`. Trailing sentence
/// punctuation, closing brackets and quotes do not belong to it, unless the bracket is opened
/// inside.
fn url_end(run: &TextRun<'_>, body: usize) -> usize {
    let mut end = body;
    let (mut round, mut square) = (0_usize, 0_usize); // closed but not opened
    let (mut round_open, mut square_open) = (0_usize, 0_usize);
    while end < run.len() && !ends_url(run.text(end)) {
        match run.text(end) {
            "(" => round_open += 1,
            "[" => square_open += 1,
            ")" if round_open > 0 => round_open -= 1,
            "]" if square_open > 0 => square_open -= 1,
            ")" => round += 1,
            "]" => square += 1,
            _ => {}
        }
        end += 1;
    }
    while end > body {
        match run.text(end - 1) {
            ")" if round > 0 => round -= 1,
            "]" if square > 0 => square -= 1,
            "." | "," | ";" | ":" | "!" | "?" | "'" | "’" | "*" | "(" | "[" => {}
            _ if run.kind(end - 1) == Some(SubtokenKind::Clitic) => {}
            _ => break,
        }
        end -= 1;
    }
    end
}

/// Returns whether a symbol cannot be part of a URL.
fn ends_url(symbol: &str) -> bool {
    const SYMBOLS: &str = "<>\"“”‘«»`|{}^\\…，。、；：！？（）「」『』【】《》";
    symbol.starts_with(|c| SYMBOLS.contains(c))
}

/// Matches an e-mail address.
pub(super) fn email(run: &TextRun<'_>, at: usize) -> Option<usize> {
    run.word(at).filter(|_| run.has_at)?;
    let mut sign = at + 1;
    while run.text(sign) != "@" {
        let local =
            run.word(sign).is_some() || matches!(run.text(sign), "." | "-" | "+" | "%" | "_" | "=");
        if !local || sign - at > MAX_LOOKAHEAD {
            return None;
        }
        sign += 1;
    }
    run.word(sign + 1)?;
    let mut end = sign + 2;
    let mut dots = 0;
    while matches!(run.text(end), "." | "-")
        && run.word(end + 1).is_some()
        && end - sign <= MAX_LOOKAHEAD
    {
        dots += usize::from(run.text(end) == ".");
        end += 2;
    }
    (dots > 0).then_some(end)
}

/// Matches a domain without a scheme, with an optional path (`dropbox.com/path`), or a file name.
pub(super) fn dotted_name(run: &TextRun<'_>, at: usize) -> Option<usize> {
    let first = run.word(at)?;
    let mut found = None;
    let mut dots = 0;
    let mut lower = is_lower(first);
    let mut end = at + 1;
    while matches!(run.text(end), "." | "-") && end - at <= MAX_LOOKAHEAD {
        let Some(part) = run.word(end + 1) else { break };
        let dot = run.text(end) == ".";
        dots += usize::from(dot);
        lower &= is_lower(part) || is_number(part);
        end += 2;
        if dot && is_known_ending(part, TOP_LEVEL_DOMAINS) && (end - at > 3 || first.len() > 1) {
            found = Some((end, true));
        } else if dot && is_known_ending(part, EXTENSIONS) {
            found = Some((end, false));
        }
    }
    let path = |end| run.text(end) == "/" && run.word(end + 1).is_some();
    let plausible_domain = dots > 0 && run.text(end - 2) == "." && {
        let last = run.text(end - 1);
        is_lower(last) && (2..=6).contains(&last.len())
    };
    match found {
        Some((end, true)) if run.text(end) == "/" => Some(url_end(run, end + 1)),
        Some((end, _)) => Some(end),
        None if plausible_domain && lower && path(end) => Some(url_end(run, end + 1)),
        None if dots > 1 && is_dotted_chain(run, at, end) => Some(end),
        None => None,
    }
}

/// Returns whether subtoken `at` is a file name extension or top-level domain with no word directly
/// after it: `.doc`, `.com`.
pub(super) fn is_extension(run: &TextRun<'_>, at: usize) -> bool {
    let listed =
        |word| is_known_ending(word, EXTENSIONS) || is_known_ending(word, TOP_LEVEL_DOMAINS);
    run.word(at).is_some_and(listed) && run.word(at + 1).is_none()
}

/// Returns whether a name without a known ending is still a dotted name: lower-case words
/// joined by dots, none but the last of which is a single letter (as in `e.g.the`).
fn is_dotted_chain(run: &TextRun<'_>, at: usize, end: usize) -> bool {
    (at..end).step_by(2).all(|i| {
        let word = run.text(i);
        let last = i + 1 == end;
        is_lower(word) && (last || (word.len() > 1 && run.text(i + 1) == "."))
    })
}

/// Returns whether a word is in `list`, entirely in lower or entirely in upper case.
fn is_known_ending(word: &str, list: &[&str]) -> bool {
    let one_case = !word.contains(|c: char| c.is_ascii_uppercase())
        || !word.contains(|c: char| c.is_ascii_lowercase());
    word.len() <= 6 && one_case && list.binary_search(&word.to_ascii_lowercase().as_str()).is_ok()
}

fn is_lower(word: &str) -> bool {
    word.bytes().all(|b| b.is_ascii_lowercase())
}

/// Matches `@name`, `#tag` (with a letter, so not `#1`) and `$TICKER`.
pub(super) fn sigil(run: &TextRun<'_>, at: usize) -> Option<usize> {
    let word = run.word(at + 1)?;
    match run.text(at) {
        "@" | "＠" => Some(at + 2),
        "#" | "＃" => {
            // In scripts without spaces every letter is a word: the tag includes them all.
            let end = (at + 1..).find(|&i| run.word(i).is_none())?;
            let has_letter = |i| run.text(i).contains(char::is_alphabetic);
            (at + 1..end).any(has_letter).then_some(end)
        }
        "$" => {
            let ticker = word.len() <= 5 && word.bytes().all(|b| b.is_ascii_uppercase());
            (ticker && run.kind(at + 2) != Some(SubtokenKind::Word)).then_some(at + 2)
        }
        _ => None,
    }
}

/// Matches an HTML entity: `&amp;`, `&#39;`.
pub(super) fn entity(run: &TextRun<'_>, at: usize) -> Option<usize> {
    if run.text(at) != "&" {
        return None;
    }
    let numeric = run.text(at + 1) == "#";
    let name = at + 1 + usize::from(numeric);
    let word = run.word(name).filter(|w| w.len() <= 8)?;
    let fits = if numeric {
        let hex = word.strip_prefix(['x', 'X']);
        let digits = hex.unwrap_or(word);
        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit())
    } else {
        word.len() > 1
            && word.starts_with(|c: char| c.is_ascii_alphabetic())
            && word.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    (fits && run.text(name + 1) == ";").then_some(name + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(matcher: fn(&TextRun<'_>, usize) -> Option<usize>, text: &str) -> Option<&str> {
        let run = TextRun::new(text, "");
        matcher(&run, 0).map(|end| &text[..run.start(end)])
    }

    #[test]
    fn lists_are_sorted() {
        assert!(TOP_LEVEL_DOMAINS.is_sorted());
        assert!(EXTENSIONS.is_sorted());
    }

    #[test]
    fn a_url_keeps_the_brackets_it_opened() {
        let wiki = "http://en.wikipedia.org/wiki/A_(b)";
        assert_eq!(find(url, &format!("{wiki}).")), Some(wiki));
        assert_eq!(find(url, "http://)."), None);
        assert_eq!(find(url, "www.x.org's"), Some("www.x.org"));
    }

    #[test]
    fn a_domain_needs_a_known_ending_or_a_path() {
        assert_eq!(find(dotted_name, "dropbox.com/a?b=c,"), Some("dropbox.com/a?b=c"));
        assert_eq!(find(dotted_name, "youtu.be/xyz"), Some("youtu.be/xyz"));
        assert_eq!(find(dotted_name, "want.to"), None);
        assert_eq!(find(dotted_name, "end.The"), None);
        assert_eq!(find(dotted_name, "comp.sources.unix"), Some("comp.sources.unix"));
    }

    #[test]
    fn an_entity_ends_in_a_semicolon() {
        assert_eq!(find(entity, "&amp;c"), Some("&amp;"));
        assert_eq!(find(entity, "&#x27;"), Some("&#x27;"));
        assert_eq!(find(entity, "&amp"), None);
        assert_eq!(find(entity, "&1;"), None);
    }

    #[test]
    fn an_address_has_a_local_part_and_a_domain() {
        assert_eq!(find(email, "a.b...@x-y.com."), Some("a.b...@x-y.com"));
        assert_eq!(find(email, "Rice@ENRON"), None);
    }

    fn found(text: &str, at: usize) -> Option<&str> {
        let run = TextRun::new(text, "");
        emoticon(&run, at).map(|end| &text[run.start(at)..run.start(end)])
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
