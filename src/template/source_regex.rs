//! Regular expressions together with their source.

use hashbrown::HashMap;
use regex::{Regex, RegexBuilder};

use super::wapiti_regex::translate;

/// Size limits of one compiled regular expression, in bytes. The least that suffices counts as its
/// size; most expressions need no more than the first.
const SIZE_LIMITS: [usize; 4] = [1 << 14, 1 << 16, 1 << 18, 1 << 20];

/// Maximum size of all compiled regular expressions of a template, in bytes.
const MAX_TOTAL_SIZE: usize = 64 << 20;

/// Maximum number of distinct regular expressions of a template.
const MAX_EXPRESSIONS: usize = 512;

/// Size limit of the states that matching caches, for each expression and thread, in bytes.
const CACHE_LIMIT: usize = 256 << 10;

/// A compiled regular expression and its source as the user wrote it.
#[derive(Clone, Debug)]
pub(super) struct SourceRegex {
    pub source: String,
    pub regex: Regex,
}

/// The regular expressions of a template, each compiled once, of bounded total size.
#[derive(Debug, Default)]
pub(super) struct Expressions {
    compiled: HashMap<String, Regex>, // by translated source
    size: usize,
}

impl Expressions {
    /// Compiles a regular expression in the syntax of the `regex` crate.
    ///
    /// # Errors
    ///
    /// A message that quotes `source` if the expression is invalid or too large, or if the template
    /// has too many expressions.
    pub(super) fn compile(&mut self, source: &str) -> Result<SourceRegex, String> {
        self.compile_translated(source, source)
    }

    /// Compiles a regular expression in Wapiti's syntax.
    ///
    /// # Errors
    ///
    /// Those of [`Expressions::compile`].
    pub(super) fn compile_wapiti(&mut self, source: &str) -> Result<SourceRegex, String> {
        self.compile_translated(&translate(source)?, source)
    }

    fn compile_translated(
        &mut self,
        translated: &str,
        source: &str,
    ) -> Result<SourceRegex, String> {
        let regex = match self.compiled.get(translated) {
            Some(regex) => regex.clone(),
            None => {
                let regex = self.compile_new(translated, source)?;
                self.compiled.insert(translated.to_owned(), regex.clone());
                regex
            }
        };
        Ok(SourceRegex {
            source: source.to_owned(),
            regex,
        })
    }

    fn compile_new(&mut self, translated: &str, source: &str) -> Result<Regex, String> {
        if self.compiled.len() == MAX_EXPRESSIONS {
            return Err(format!(
                "more than {MAX_EXPRESSIONS} different regular expressions in a template"
            ));
        }
        let mut reason = String::new();
        for size in SIZE_LIMITS {
            match RegexBuilder::new(translated)
                .size_limit(size)
                .dfa_size_limit(CACHE_LIMIT)
                .build()
            {
                Ok(regex) => {
                    self.size += size;
                    if self.size > MAX_TOTAL_SIZE {
                        return Err(format!(
                            "the regular expressions of the template take more than \
                             {MAX_TOTAL_SIZE} bytes when compiled; expected fewer or shorter ones"
                        ));
                    }
                    return Ok(regex);
                }
                Err(regex::Error::CompiledTooBig(_)) => {
                    reason = format!("it takes more than {size} bytes when compiled");
                }
                Err(error) => {
                    let message = error.to_string();
                    let last = message.lines().last().unwrap_or("").trim();
                    reason = last.strip_prefix("error: ").unwrap_or(last).to_owned();
                    break;
                }
            }
        }
        Err(format!(
            "the regular expression \"{source}\" is invalid: {reason}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find<'a>(expression: &str, text: &'a str) -> Option<&'a str> {
        let expression = Expressions::default().compile_wapiti(expression).unwrap();
        expression.regex.find(text).map(|found| found.as_str())
    }

    #[test]
    fn an_expression_is_compiled_once() {
        let mut expressions = Expressions::default();
        for _ in 0..2 * MAX_EXPRESSIONS {
            expressions.compile(r"\w\d").unwrap();
        }
        assert_eq!(expressions.compiled.len(), 1);
    }

    #[test]
    fn the_number_and_the_total_size_of_expressions_are_bounded() {
        let error = |expression: fn(usize) -> String| {
            let mut expressions = Expressions::default();
            let mut compiled = 0;
            loop {
                match expressions.compile(&expression(compiled)) {
                    Ok(_) => compiled += 1,
                    Err(message) => return (compiled, message),
                }
            }
        };
        let (compiled, message) = error(|i| format!("a{i}"));
        assert_eq!(compiled, MAX_EXPRESSIONS);
        assert!(message.starts_with("more than 512 different regular expressions"));
        let (compiled, message) = error(|i| format!("\\pL{{20}}{i}"));
        assert!(compiled < MAX_EXPRESSIONS, "{compiled}");
        assert!(
            message.contains("take more than 67108864 bytes"),
            "{message}"
        );
        let huge = Expressions::default().compile(r"\pL{1000}").unwrap_err();
        assert!(
            huge.ends_with("it takes more than 1048576 bytes when compiled"),
            "{huge}"
        );
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
