//! The regular expressions of a template.

use hashbrown::HashMap;
use regex::{Regex, RegexBuilder};

/// Maximum size of a compiled regular expression, in bytes. All of a template together take at most
/// 64 MiB.
const MAX_SIZE: usize = 256 << 10;

/// Maximum number of distinct regular expressions of a template.
const MAX_EXPRESSIONS: usize = 256;

/// Size limit of the states that matching caches, for each expression and thread, in bytes.
const CACHE_LIMIT: usize = 256 << 10;

/// The regular expressions of a template, each compiled once, of bounded total size.
#[derive(Debug, Default)]
pub(super) struct Expressions(HashMap<String, Regex>); // by text

impl Expressions {
    /// Compiles a regular expression in the syntax of the `regex` crate, which was translated from
    /// `source` if that has another syntax.
    ///
    /// # Errors
    ///
    /// A message that quotes `source` if the expression is invalid or too large, or if the template
    /// has too many expressions.
    pub(super) fn compile(&mut self, text: &str, source: &str) -> Result<Regex, String> {
        if let Some(regex) = self.0.get(text) {
            return Ok(regex.clone());
        }
        if self.0.len() == MAX_EXPRESSIONS {
            let limit = format!("more than {MAX_EXPRESSIONS} different regular expressions");
            return Err(format!("{limit} in a template"));
        }
        let mut builder = RegexBuilder::new(text);
        let regex = builder.size_limit(MAX_SIZE).dfa_size_limit(CACHE_LIMIT).build();
        let regex = regex.map_err(|error| {
            let message = error.to_string();
            let last = message.lines().last().unwrap_or("").trim();
            let reason = last.strip_prefix("error: ").unwrap_or(last);
            format!("the regular expression \"{source}\" is invalid: {reason}")
        })?;
        self.0.insert(text.to_owned(), regex.clone());
        Ok(regex)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_compiled_once() {
        let mut expressions = Expressions::default();
        for _ in 0..2 * MAX_EXPRESSIONS {
            expressions.compile(r"\w\d", "").unwrap();
        }
        assert_eq!(expressions.0.len(), 1);
    }

    #[test]
    fn the_number_and_the_size_of_expressions_are_bounded() {
        let mut expressions = Expressions::default();
        for i in 0..MAX_EXPRESSIONS {
            expressions.compile(&format!("a{i}"), "").unwrap();
        }
        let error = expressions.compile("b", "b").unwrap_err();
        assert_eq!(error, "more than 256 different regular expressions in a template");
        let huge = Expressions::default().compile(r"\pL{1000}", r"\pL{1000}").unwrap_err();
        assert!(huge.ends_with("exceeds size limit of 262144 bytes."), "{huge}");
    }
}
