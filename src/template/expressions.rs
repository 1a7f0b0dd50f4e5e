//! The regular expressions of a template.

use hashbrown::HashMap;
use regex::{Regex, RegexBuilder};

/// Size limits of one compiled regular expression, in bytes. The least that suffices counts as its
/// size; most expressions need no more than the first.
const SIZE_LIMITS: [usize; 4] = [1 << 14, 1 << 16, 1 << 18, 1 << 20];

/// Maximum size of all compiled regular expressions of a template, in bytes.
const MAX_TOTAL_SIZE: usize = 64 << 20;

/// Maximum number of distinct regular expressions of a template.
const MAX_EXPRESSIONS: usize = 512;

/// Size limit of the states that matching caches, for each expression and thread, in bytes.
const CACHE_LIMIT: usize = 256 << 10;

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
    pub(super) fn compile(&mut self, source: &str) -> Result<Regex, String> {
        self.compile_translated(source, source)
    }

    /// Compiles a regular expression that was `translated` from another syntax, like
    /// [`Expressions::compile`].
    pub(super) fn compile_translated(
        &mut self,
        translated: &str,
        source: &str,
    ) -> Result<Regex, String> {
        if let Some(regex) = self.compiled.get(translated) {
            return Ok(regex.clone());
        }
        let regex = self.compile_new(translated, source)?;
        self.compiled.insert(translated.to_owned(), regex.clone());
        Ok(regex)
    }

    fn compile_new(&mut self, translated: &str, source: &str) -> Result<Regex, String> {
        if self.compiled.len() == MAX_EXPRESSIONS {
            return Err(format!(
                "more than {MAX_EXPRESSIONS} different regular expressions in a template"
            ));
        }
        let mut reason = String::new();
        for size in SIZE_LIMITS {
            match RegexBuilder::new(translated).size_limit(size).dfa_size_limit(CACHE_LIMIT).build()
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
        Err(format!("the regular expression \"{source}\" is invalid: {reason}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(message.contains("take more than 67108864 bytes"), "{message}");
        let huge = Expressions::default().compile(r"\pL{1000}").unwrap_err();
        assert!(huge.ends_with("it takes more than 1048576 bytes when compiled"), "{huge}");
    }
}
