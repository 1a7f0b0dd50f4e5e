//! Translation of Wapiti's regular expressions to the syntax of the `regex` crate.
//!
//! Wapiti (`src/pattern.c`) has a small dialect: characters, `.`, the classes
//! `\d \a \w \l \u \p \s` and their upper-case complements, `*` and `?` after a single character,
//! `^` at the start and `$` at the end. Its `*` is lazy. Its backtracking matcher explores
//! alternatives in the `regex` crate's order of preference, so both find the same match.

/// Translates a Wapiti expression to the syntax of the `regex` crate.
///
/// # Errors
///
/// A message if a repetition operator has no operand or the expression ends in a backslash.
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
                    "'{c}' has nothing to repeat in \"{source}\"; expected a character before \
                     it, or \\{c}"
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
    use super::*;

    #[test]
    fn a_repetition_of_nothing_is_an_error() {
        assert_eq!(
            translate("*a").unwrap_err(),
            r#"'*' has nothing to repeat in "*a"; expected a character before it, or \*"#
        );
        assert!(translate("a**").is_err());
        assert!(translate("a\\").is_err());
    }
}
