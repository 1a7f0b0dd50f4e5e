//! What the web writes as one word: addresses, file names, @names, #tags, HTML entities.
//!
//! Each function takes a chunk and the atom to start at, and returns the atom after what it found.

use super::atom::{Chunk, Kind, is_number};

/// Furthest that a rule looks for the `@` or the top-level domain, in atoms: it keeps the time
/// linear, and real addresses are shorter.
const REACH: usize = 32;

/// Top-level domains that make a domain of `name.tld`; those that are words of a language
/// (`is it in at to so no my me us be am as do la`) need `www.`, a scheme or a path.
const DOMAINS: &[&str] = &[
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

/// A URL: `http://…`, any `scheme://…`, `mailto:…`, `www.…`.
pub(super) fn url(chunk: &Chunk<'_>, at: usize) -> Option<usize> {
    let word = chunk.word(at)?;
    let body = if chunk.text(at + 1) == ":" {
        let slashes = chunk.text(at + 2) == "/" && chunk.text(at + 3) == "/";
        if slashes && is_scheme(word) {
            at + 4
        } else if word.eq_ignore_ascii_case("mailto") {
            at + 2
        } else {
            return None;
        }
    } else if word.eq_ignore_ascii_case("www") && chunk.text(at + 1) == "." {
        at + 2
    } else {
        return None;
    };
    let end = url_end(chunk, body);
    (end > body).then_some(end)
}

fn is_scheme(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// The end of a URL whose path, or host and path, starts at `body`: sentence punctuation and
/// closing brackets and quotes at its end are not part of it, but a bracket it opened itself is.
fn url_end(chunk: &Chunk<'_>, body: usize) -> usize {
    let mut end = body;
    let (mut round, mut square) = (0_usize, 0_usize); // brackets closed without being opened
    let (mut round_open, mut square_open) = (0_usize, 0_usize);
    while end < chunk.len() && !ends_url(chunk.text(end)) {
        match chunk.text(end) {
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
        match chunk.text(end - 1) {
            ")" if round > 0 => round -= 1,
            "]" if square > 0 => square -= 1,
            "." | "," | ";" | ":" | "!" | "?" | "'" | "’" | "*" | "(" | "[" => {}
            _ if chunk.kind(end - 1) == Some(Kind::Clitic) => {}
            _ => break,
        }
        end -= 1;
    }
    end
}

/// Whether a mark cannot be in a URL.
fn ends_url(mark: &str) -> bool {
    const MARKS: &str = "<>\"“”‘«»`|{}^\\…，。、；：！？（）「」『』【】《》";
    mark.starts_with(|c| MARKS.contains(c))
}

/// An e-mail address.
pub(super) fn email(chunk: &Chunk<'_>, at: usize) -> Option<usize> {
    chunk.word(at).filter(|_| chunk.has_at)?;
    let mut sign = at + 1;
    while chunk.text(sign) != "@" {
        let local = chunk.word(sign).is_some()
            || matches!(chunk.text(sign), "." | "-" | "+" | "%" | "_" | "=");
        if !local || sign - at > REACH {
            return None;
        }
        sign += 1;
    }
    chunk.word(sign + 1)?;
    let mut end = sign + 2;
    let mut stops = 0;
    while matches!(chunk.text(end), "." | "-")
        && chunk.word(end + 1).is_some()
        && end - sign <= REACH
    {
        stops += usize::from(chunk.text(end) == ".");
        end += 2;
    }
    (stops > 0).then_some(end)
}

/// A domain without a scheme, with the path it may have (`dropbox.com/path`), or a file name.
pub(super) fn dotted_name(chunk: &Chunk<'_>, at: usize) -> Option<usize> {
    let first = chunk.word(at)?;
    let mut found = None;
    let mut stops = 0;
    let mut lower = is_lower(first);
    let mut end = at + 1;
    while matches!(chunk.text(end), "." | "-") && end - at <= REACH {
        let Some(piece) = chunk.word(end + 1) else {
            break;
        };
        let stop = chunk.text(end) == ".";
        stops += usize::from(stop);
        lower &= is_lower(piece) || is_number(piece);
        end += 2;
        if stop && is_ending(piece, DOMAINS) && (end - at > 3 || first.len() > 1) {
            found = Some((end, true));
        } else if stop && is_ending(piece, EXTENSIONS) {
            found = Some((end, false));
        }
    }
    let path = |end| chunk.text(end) == "/" && chunk.word(end + 1).is_some();
    let country = stops > 0 && chunk.text(end - 2) == "." && {
        let last = chunk.text(end - 1);
        is_lower(last) && (2..=6).contains(&last.len())
    };
    match found {
        Some((end, true)) if chunk.text(end) == "/" => Some(url_end(chunk, end + 1)),
        Some((end, _)) => Some(end),
        None if country && lower && path(end) => Some(url_end(chunk, end + 1)),
        None if stops > 1 && is_chain(chunk, at, end) => Some(end),
        None => None,
    }
}

/// Whether atom `at` is a file name extension or top-level domain and the last of the chunk but
/// for marks: `.doc`, `.com`.
pub(super) fn is_extension(chunk: &Chunk<'_>, at: usize) -> bool {
    let listed = |word| is_ending(word, EXTENSIONS) || is_ending(word, DOMAINS);
    chunk.word(at).is_some_and(listed) && chunk.word(at + 1).is_none()
}

/// Whether the pieces of a name without a known ending make one all the same: small letters with
/// stops between them, and no letter by itself, as in `e.g.the`, but the last.
fn is_chain(chunk: &Chunk<'_>, at: usize, end: usize) -> bool {
    (at..end).step_by(2).all(|i| {
        let word = chunk.text(i);
        let last = i + 1 == end;
        is_lower(word) && (last || (word.len() > 1 && chunk.text(i + 1) == "."))
    })
}

/// Whether a piece is in a list, in lower or upper case throughout.
fn is_ending(piece: &str, list: &[&str]) -> bool {
    let one_case = !piece.contains(|c: char| c.is_ascii_uppercase())
        || !piece.contains(|c: char| c.is_ascii_lowercase());
    piece.len() <= 6
        && one_case
        && list
            .binary_search(&piece.to_ascii_lowercase().as_str())
            .is_ok()
}

fn is_lower(word: &str) -> bool {
    word.bytes().all(|b| b.is_ascii_lowercase())
}

/// `@name`, `#tag` (with a letter, so not `#1`), `$TICKER`.
pub(super) fn sigil(chunk: &Chunk<'_>, at: usize) -> Option<usize> {
    let word = chunk.word(at + 1)?;
    match chunk.text(at) {
        "@" | "＠" => Some(at + 2),
        "#" | "＃" => {
            // Scripts without spaces come as one word a letter: the tag runs on over them.
            let mut end = at + 1;
            let mut letters = false;
            while let Some(word) = chunk.word(end) {
                letters |= word.contains(char::is_alphabetic);
                end += 1;
            }
            letters.then_some(end)
        }
        "$" => {
            let ticker = word.len() <= 5 && word.bytes().all(|b| b.is_ascii_uppercase());
            (ticker && chunk.kind(at + 2) != Some(Kind::Word)).then_some(at + 2)
        }
        _ => None,
    }
}

/// An HTML entity: `&amp;`, `&#39;`.
pub(super) fn entity(chunk: &Chunk<'_>, at: usize) -> Option<usize> {
    if chunk.text(at) != "&" {
        return None;
    }
    let numeric = chunk.text(at + 1) == "#";
    let name = at + 1 + usize::from(numeric);
    let word = chunk.word(name).filter(|w| w.len() <= 8)?;
    let fits = if numeric {
        let hex = word.strip_prefix(['x', 'X']);
        let digits = hex.unwrap_or(word);
        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit())
    } else {
        word.len() > 1
            && word.starts_with(|c: char| c.is_ascii_alphabetic())
            && word.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    (fits && chunk.text(name + 1) == ";").then_some(name + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rule: fn(&Chunk<'_>, usize) -> Option<usize>, text: &str) -> Option<&str> {
        let chunk = Chunk::new(text, "");
        rule(&chunk, 0).map(|end| &text[..chunk.start(end)])
    }

    #[test]
    fn lists_are_sorted() {
        assert!(DOMAINS.is_sorted());
        assert!(EXTENSIONS.is_sorted());
    }

    #[test]
    fn a_url_keeps_the_brackets_it_opened() {
        let wiki = "http://en.wikipedia.org/wiki/A_(b)";
        assert_eq!(found(url, &format!("{wiki}).")), Some(wiki));
        assert_eq!(found(url, "http://)."), None);
        assert_eq!(found(url, "www.x.org's"), Some("www.x.org"));
    }

    #[test]
    fn a_domain_needs_an_ending_that_is_one_or_a_path() {
        assert_eq!(
            found(dotted_name, "dropbox.com/a?b=c,"),
            Some("dropbox.com/a?b=c")
        );
        assert_eq!(found(dotted_name, "youtu.be/xyz"), Some("youtu.be/xyz"));
        assert_eq!(found(dotted_name, "want.to"), None);
        assert_eq!(found(dotted_name, "end.The"), None);
        assert_eq!(
            found(dotted_name, "comp.sources.unix"),
            Some("comp.sources.unix")
        );
    }

    #[test]
    fn an_entity_ends_in_a_semicolon() {
        assert_eq!(found(entity, "&amp;c"), Some("&amp;"));
        assert_eq!(found(entity, "&#x27;"), Some("&#x27;"));
        assert_eq!(found(entity, "&amp"), None);
        assert_eq!(found(entity, "&1;"), None);
    }

    #[test]
    fn an_address_has_a_local_part_and_a_domain() {
        assert_eq!(found(email, "a.b...@x-y.com."), Some("a.b...@x-y.com"));
        assert_eq!(found(email, "Rice@ENRON"), None);
    }
}
