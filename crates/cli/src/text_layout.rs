//! Lines of reports: what is at a place, and words among their neighbors.

use super::terminal;
pub use super::terminal::printable;

/// Breaks text at blanks into lines that fit the terminal and begin with `indent`, each with a line
/// end. A longer word has a line of its own.
pub fn wrap(text: &str, indent: &str) -> String {
    let options = terminal::options(terminal::columns());
    textwrap::fill(
        text,
        options.initial_indent(indent).subsequent_indent(indent),
    ) + "\n"
}

/// Puts a place and a text about it on one line if they fit, else on several.
pub fn at_place(place: &str, text: &str, indent: &str) -> String {
    if text.is_empty() {
        return format!("{indent}{place}\n");
    }
    let line = format!("{indent}{place}: {text}");
    match terminal::width(&line) <= terminal::columns() {
        true => line + "\n",
        false => format!("{indent}{place}:\n{}", wrap(text, &format!("{indent}  "))),
    }
}

/// Returns some words around tokens `start..end`, which are in brackets.
pub fn snippet(words: &[&str], start: usize, end: usize) -> String {
    const CONTEXT: usize = 6;
    const MARKED: usize = 12;
    let (first, last) = (
        start.saturating_sub(CONTEXT),
        words.len().min(end + CONTEXT),
    );
    let mut parts = Vec::new();
    if first > 0 {
        parts.push("…".to_owned());
    }
    parts.extend(words[first..start].iter().map(|word| printable(word)));
    let mut marked: Vec<String> = words[start..end]
        .iter()
        .map(|word| printable(word))
        .collect();
    if marked.len() > MARKED {
        let rest = marked.split_off(marked.len() - MARKED / 2);
        marked.truncate(MARKED / 2);
        marked.push("…".to_owned());
        marked.extend(rest);
    }
    parts.push(format!("[{}]", marked.join(" ")));
    parts.extend(words[end..last].iter().map(|word| printable(word)));
    if last < words.len() {
        parts.push("…".to_owned());
    }
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_at_blanks_and_long_words_kept() {
        let long = "x".repeat(100);
        let text = format!("{} {long} {}", "word ".repeat(20).trim(), "y");
        let wrapped = wrap(&text, "  ");
        let lines: Vec<&str> = wrapped.lines().collect();
        assert_eq!(lines.len(), 4);
        assert!(lines.iter().all(|line| line.starts_with("  ")));
        assert_eq!(lines[2].trim(), long);
        assert!(lines[0].chars().count() <= 80 && lines[0].ends_with("word"));
    }

    #[test]
    fn text_goes_beside_its_place_or_below() {
        assert_eq!(at_place("x:1", "a b", "  "), "  x:1: a b\n");
        let below = at_place(&"x".repeat(75), "a b", "  ");
        assert!(below.ends_with(":\n    a b\n"), "{below}");
    }

    #[test]
    fn snippets_mark_tokens_among_their_neighbors() {
        let words: Vec<String> = (0..30).map(|i| i.to_string()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let text = snippet(&words, 10, 12);
        assert_eq!(text, "… 4 5 6 7 8 9 [10 11] 12 13 14 15 16 17 …");
        assert_eq!(snippet(&words, 0, 30), "[0 1 2 3 4 5 … 24 25 26 27 28 29]");
        assert_eq!(snippet(&["a\u{1b}[0m"], 0, 1), "[a\\u{1b}[0m]");
    }
}
