//! Files that templates refer to, each loaded once and stored with the template, and their regular
//! expressions.

use std::any::Any;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use hashbrown::HashMap;
use regex::{Regex, RegexBuilder};

use super::syntax::Location;
use super::text::lower;
use crate::error::{Error, Result};

/// Maximum size of all files of a template, in bytes. They are stored in the header of a model,
/// which is limited to 256 MiB.
const MAX_BYTES: usize = 192 << 20;

/// Maximum size of what is parsed, in bytes. A file that is used with several options, such as in
/// lower case and verbatim, is parsed for each.
const MAX_PARSED: usize = 4 * MAX_BYTES;

/// Maximum number of files of a template.
const MAX_FILES: usize = 1000;

/// Maximum size of a compiled regular expression, in bytes. All of a template together take at most
/// 64 MiB.
const MAX_EXPRESSION: usize = 256 << 10;

/// Maximum number of distinct regular expressions of a template.
const MAX_EXPRESSIONS: usize = 256;

/// Size limit of the states that matching caches, for each expression and thread, in bytes.
const CACHE_LIMIT: usize = 256 << 10;

/// A file name in a template, with its location.
pub(super) struct FileReference<'a> {
    pub name: String,
    pub at: Location<'a>,
}

/// The columns of a file of words that are read, and their normalization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Selection {
    /// Whether to fold words to lower case.
    pub lower: bool,
    /// Number of words to read; `None` for all.
    pub first: Option<usize>,
}

impl Selection {
    /// Returns words as they are looked up.
    pub(super) fn fold(self, words: &str) -> Cow<'_, str> {
        if self.lower { lower(words).into() } else { words.into() }
    }
}

/// What is parsed from a file.
pub(super) trait Resource: Any + Send + Sync + Sized {
    /// Parses the text of `file`.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] at a line that is invalid.
    fn parse(text: &str, file: &str, selection: Selection) -> Result<Self>;

    /// Returns the text to store and parse of what was read from `file`.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] at a line that is invalid.
    fn normalized(text: String, _file: &str) -> Result<String> {
        Ok(text)
    }

    /// Returns the length of the prefix of the text that is used.
    fn bytes_used(&self, text: &str) -> usize {
        text.len()
    }
}

/// Returns the text of a file, given its name in the template.
pub(super) type Load<'a> = &'a mut dyn FnMut(&str) -> Result<String>;

/// The files loaded so far, as text and parsed.
pub(super) struct Resources<'a> {
    /// The base of relative file names, for messages.
    directory: &'a Path,
    load: Load<'a>,
    is_stored: bool, // whether `load` returns texts as templates store them
    /// The regular expressions compiled so far.
    pub(super) expressions: Expressions,
    files: Vec<ResourceFile>,
    bytes_parsed: usize,
}

/// The text of a file, and what is parsed of it.
struct ResourceFile {
    name: String,
    text: Arc<str>,
    used: usize, // length of the prefix of the text that the template uses, in bytes
    parsed: Vec<(Selection, Arc<dyn Any + Send + Sync>)>,
}

impl<'a> Resources<'a> {
    /// Number of bytes of a file to read: of a file that is longer, at least one more than can be
    /// used.
    pub(super) const READ_LIMIT: usize = MAX_BYTES + (1 << 20);

    /// Creates an empty set; `load` returns a text that a template stores.
    pub(super) fn stored(load: Load<'a>) -> Self {
        Self { is_stored: true, ..Self::new(Path::new(""), load) }
    }

    /// Creates an empty set; `load` returns the text of a file.
    pub(super) fn new(directory: &'a Path, load: Load<'a>) -> Self {
        Self {
            directory,
            load,
            is_stored: false,
            expressions: Expressions::default(),
            files: Vec::new(),
            bytes_parsed: 0,
        }
    }

    /// Returns the names and the used prefixes of all files, in order of first reference.
    pub(super) fn into_files(self) -> Vec<(String, Arc<str>)> {
        let used_prefix = |file: ResourceFile| match file.text.get(..file.used) {
            Some(prefix) if prefix.len() < file.text.len() => (file.name, prefix.into()),
            _ => (file.name, file.text),
        };
        self.files.into_iter().map(used_prefix).collect()
    }

    /// Loads and parses a file, unless it was with the same selection.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] at the template if the file cannot be read, and in the file if it is
    /// invalid.
    pub(super) fn load<T: Resource>(
        &mut self,
        reference: &FileReference<'_>,
        selection: Selection,
    ) -> Result<Arc<T>> {
        let error = |message: String| reference.at.error(message);
        let i = self.find::<T>(reference, selection)?;
        let path = self.path(&reference.name);
        let file = &mut self.files[i];
        let mut same = file.parsed.iter().filter(|(other, _)| *other == selection);
        if let Some(parsed) = same.find_map(|(_, parsed)| parsed.clone().downcast().ok()) {
            return Ok(parsed);
        }
        if selection.first.is_none() {
            check_size(file.text.len()).map_err(error)?;
        }
        let parsed = Arc::new(T::parse(&file.text, &path, selection)?);
        let used = parsed.bytes_used(&file.text);
        file.used = file.used.max(used);
        file.parsed.push((selection, parsed.clone()));
        check_size(self.files.iter().map(|file| file.used).sum()).map_err(error)?;
        self.bytes_parsed += used;
        if self.bytes_parsed > MAX_PARSED {
            let message = "too many functions read large files with different arguments";
            return Err(reference.at.error(message));
        }
        Ok(parsed)
    }

    /// Returns the index of a file, whose text is loaded unless it was.
    fn find<T: Resource>(
        &mut self,
        reference: &FileReference<'_>,
        selection: Selection,
    ) -> Result<usize> {
        let name = &reference.name;
        if let Some(i) = self.files.iter().position(|file| file.name == *name) {
            return Ok(i);
        }
        if self.files.len() == MAX_FILES {
            let message = format!("more than {MAX_FILES} files in a template");
            return Err(reference.at.error(message));
        }
        let text = match (self.load)(name) {
            Ok(text) if self.is_stored => text,
            // What is beyond the limit was not read.
            Ok(text) if selection.first.is_none() && text.len() > MAX_BYTES => text,
            Ok(text) => T::normalized(text, &self.path(name))?,
            Err(error) => {
                let reason = match &error {
                    Error::Io { source, .. } => source.to_string(),
                    other => other.to_string(),
                };
                let path = self.path(name);
                return Err(reference.at.error(format!("cannot read '{path}': {reason}")));
            }
        };
        self.files.push(ResourceFile {
            name: name.clone(),
            text: text.into(),
            used: 0,
            parsed: Vec::new(),
        });
        Ok(self.files.len() - 1)
    }

    fn path(&self, name: &str) -> String {
        self.directory.join(name).display().to_string()
    }
}

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
        let regex = builder.size_limit(MAX_EXPRESSION).dfa_size_limit(CACHE_LIMIT).build();
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

/// Checks that a model can store this many bytes of files.
fn check_size(bytes: usize) -> Result<(), String> {
    if bytes <= MAX_BYTES {
        return Ok(());
    }
    let fault = format!("with this file, the template adds {bytes} bytes or more to the model");
    let hint = "vector(\"…\", first(N)) reads only the first N words";
    Err(format!("{fault}; at most {MAX_BYTES} are allowed ({hint})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_must_fit_in_a_model() {
        assert_eq!(check_size(MAX_BYTES), Ok(()));
        assert_eq!(
            check_size(MAX_BYTES + 1).unwrap_err(),
            "with this file, the template adds 201326593 bytes or more to the model; at most \
             201326592 are allowed (vector(\"…\", first(N)) reads only the first N words)"
        );
    }

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
