//! Regular expressions together with their source.

use regex::{Regex, RegexBuilder};

use super::wapiti_regex::translate;

/// Size limit of one compiled regular expression, in bytes.
const SIZE_LIMIT: usize = 1 << 20;

/// A compiled regular expression and its source as the user wrote it.
#[derive(Clone, Debug)]
pub(super) struct SourceRegex {
    pub source: String,
    pub regex: Regex,
}

impl SourceRegex {
    /// Compiles a regular expression in the syntax of the `regex` crate.
    ///
    /// # Errors
    ///
    /// A message that quotes `source` if the expression is invalid or too large.
    pub(super) fn new(source: &str) -> Result<Self, String> {
        Self::compile(source, source)
    }

    /// Compiles a regular expression in Wapiti's syntax.
    ///
    /// # Errors
    ///
    /// Those of [`SourceRegex::new`].
    pub(super) fn from_wapiti(source: &str) -> Result<Self, String> {
        Self::compile(&translate(source)?, source)
    }

    fn compile(translated: &str, source: &str) -> Result<Self, String> {
        let built = RegexBuilder::new(translated).size_limit(SIZE_LIMIT).build();
        let regex = built.map_err(|error| {
            let message = error.to_string();
            let reason = message.lines().last().unwrap_or("").trim();
            let reason = reason.strip_prefix("error: ").unwrap_or(reason);
            format!("the regular expression \"{source}\" is invalid: {reason}")
        })?;
        Ok(Self {
            source: source.to_owned(),
            regex,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find<'a>(expression: &str, text: &'a str) -> Option<&'a str> {
        let expression = SourceRegex::from_wapiti(expression).unwrap();
        expression.regex.find(text).map(|found| found.as_str())
    }

    #[test]
    fn wapiti_expressions_match_as_in_wapiti() {
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
            assert_eq!(find(expression, text), expected, "{expression} on {text}");
        }
    }
}
