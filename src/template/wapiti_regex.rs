//! Wapiti's regular expressions in the syntax of the `regex` crate.
//!
//! Wapiti (`src/pattern.c`) has a small dialect of its own: characters, `.`, the classes
//! `\d \a \w \l \u \p \s` with their complements in capitals, `*` and `?` after one character,
//! `^` first and `$` last. Its matcher backtracks in the order in which the `regex` crate prefers
//! matches, so both find the same one; its `*` tries the shortest first.

/// A Wapiti expression in the syntax of the `regex` crate.
///
/// # Errors
///
/// What is wrong, where a repetition repeats nothing or a backslash stands last.
pub(super) fn translate(source: &str) -> Result<String, String> {
    let mut out = String::from("(?s)");
    let body = match source.strip_prefix('^') {
        Some(body) => {
            out.push('^');
            body
        }
        None => source,
    };
    let mut characters = body.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '$' if characters.peek().is_none() => {
                out.push('$');
                break;
            }
            '*' | '?' => {
                return Err(format!(
                    "'{c}' repeats nothing in \"{source}\"; expected a character before it, \
                     or \\{c}"
                ));
            }
            '.' => out.push('.'),
            '\\' => match characters.next() {
                Some(escaped) => push_escape(escaped, &mut out),
                None => return Err(format!("\"{source}\" ends in a backslash")),
            },
            c => push_character(c, &mut out),
        }
        if characters.next_if_eq(&'*').is_some() {
            out.push_str("*?");
        } else if characters.next_if_eq(&'?').is_some() {
            out.push('?');
        }
    }
    Ok(out)
}

fn push_escape(c: char, out: &mut String) {
    let class = match c.to_ascii_lowercase() {
        'a' => r"\p{Alphabetic}",
        'd' => r"\p{Nd}",
        'l' => r"\p{Lowercase}",
        'p' => r"\p{P}\p{S}",
        's' => r"\s",
        'u' => r"\p{Uppercase}",
        'w' => r"\p{Alphabetic}\p{Nd}",
        _ => return push_character(c, out),
    };
    out.push_str(if c.is_ascii_uppercase() { "[^" } else { "[" });
    out.push_str(class);
    out.push(']');
}

fn push_character(c: char, out: &mut String) {
    out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
}

#[cfg(test)]
mod tests {
    use super::super::functions::compile;
    use super::*;

    fn found<'a>(expression: &str, text: &'a str) -> Option<&'a str> {
        let regex = compile(&translate(expression).unwrap(), expression).unwrap();
        regex.find(text).map(|found| found.as_str())
    }

    #[test]
    fn wapiti_expressions_mean_what_they_mean_in_wapiti() {
        for (expression, text, expected) in [
            (r"^\u", "London", Some("L")),
            (r"^\u", "london", None),
            (r"^.?.?.?", "Köln", Some("Köl")),
            (r".?.?.?$", "Köln", Some("öln")),
            (r"\d*$", "ab12", Some("12")),
            (r"\d*", "12", Some("")),
            (r"^\U*$", "i7-x", Some("i7-x")),
            (r"\p", "a+b", Some("+")),
            (r"\a\A", "b2", Some("b2")),
            (r"\w*\W", "ab-c", Some("ab-")),
            (r"a$b", "a$b", Some("a$b")),
            (r"\.\*", "x.*", Some(".*")),
            (r"(a)", "(a)", Some("(a)")),
            (r"b^", "ab^", Some("b^")),
            (r"\l\s", "a\u{a0}", Some("a\u{a0}")),
            (r#"\""#, "\"", Some("\"")),
        ] {
            assert_eq!(found(expression, text), expected, "{expression} on {text}");
        }
    }

    #[test]
    fn a_repetition_of_nothing_is_a_fault() {
        assert_eq!(
            translate("*a").unwrap_err(),
            r#"'*' repeats nothing in "*a"; expected a character before it, or \*"#
        );
        assert!(translate("a**").is_err());
        assert!(translate("a\\").is_err());
    }
}
