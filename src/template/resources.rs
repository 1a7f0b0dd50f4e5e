//! Files that templates refer to, each loaded once and stored with the template.

use std::path::Path;
use std::sync::Arc;

use super::clusters::Clusters;
use super::lexer::LineLocation;
use super::lexicon::Lexicon;
use super::source_regex::Expressions;
use super::vectors::{VectorSelection, Vectors};
use crate::error::{Error, Result};

/// Maximum size of all files of a template, in bytes. They are stored in the header of a model,
/// which is limited to 256 MiB.
const MAX_BYTES: usize = 192 << 20;

/// Maximum size of what is parsed, in bytes. A file that is used with several options, such as in
/// lower case and verbatim, is parsed for each.
const MAX_PARSED: usize = 4 * MAX_BYTES;

/// Maximum number of files of a template.
const MAX_FILES: usize = 1000;

/// A file name in a template, with its location.
pub(super) struct FileReference<'a> {
    pub name: String,
    pub location: LineLocation<'a>,
    /// Column in the template line.
    pub column: u64,
}

impl FileReference<'_> {
    fn error(&self, message: String) -> Error {
        self.location.error(self.column, message)
    }
}

/// The files loaded so far, as text and parsed.
pub(super) struct Resources<'a> {
    /// The base of relative file names, for messages.
    directory: &'a Path,
    load: &'a mut dyn FnMut(&str) -> Result<String>,
    /// The regular expressions compiled so far.
    pub(super) expressions: Expressions,
    files: Vec<ResourceFile>,
    parsed: usize, // bytes
    lexica: Vec<(String, bool, Arc<Lexicon>)>,
    clusters: Vec<(String, bool, Arc<Clusters>)>,
    vectors: Vec<(String, VectorSelection, Arc<Vectors>)>,
}

/// The text of a file, and the length of the prefix that the template uses.
struct ResourceFile {
    name: String,
    text: Arc<str>,
    used: usize, // bytes
}

impl<'a> Resources<'a> {
    /// Number of bytes of a file to read: of a file that is longer, at least one more than can be
    /// used.
    pub(super) const READ_LIMIT: usize = MAX_BYTES + (1 << 20);

    /// Creates an empty set; `load` returns the text of a file.
    pub(super) fn new(
        directory: &'a Path,
        load: &'a mut dyn FnMut(&str) -> Result<String>,
    ) -> Self {
        Self {
            directory,
            load,
            expressions: Expressions::default(),
            files: Vec::new(),
            parsed: 0,
            lexica: Vec::new(),
            clusters: Vec::new(),
            vectors: Vec::new(),
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

    /// Loads a lexicon; `lower` folds it to lower case.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] at the template if the file cannot be read, and in the file if it is
    /// invalid.
    pub(super) fn lexicon(
        &mut self,
        reference: &FileReference<'_>,
        lower: bool,
    ) -> Result<Arc<Lexicon>> {
        if let Some(lexicon) = find(&self.lexica, &reference.name, lower) {
            return Ok(lexicon);
        }
        let parse = |text: &str, path: &str| Lexicon::parse(text, path, lower);
        let lexicon = self.load_parsed(reference, true, parse, |_, text| text.len())?;
        insert(&mut self.lexica, &reference.name, lower, &lexicon);
        Ok(lexicon)
    }

    /// Loads clusters, like [`Resources::lexicon`].
    pub(super) fn clusters(
        &mut self,
        reference: &FileReference<'_>,
        lower: bool,
    ) -> Result<Arc<Clusters>> {
        if let Some(clusters) = find(&self.clusters, &reference.name, lower) {
            return Ok(clusters);
        }
        let parse = |text: &str, path: &str| Clusters::parse(text, path, lower);
        let clusters = self.load_parsed(reference, true, parse, |_, text| text.len())?;
        insert(&mut self.clusters, &reference.name, lower, &clusters);
        Ok(clusters)
    }

    /// Loads word vectors, like [`Resources::lexicon`].
    pub(super) fn vectors(
        &mut self,
        reference: &FileReference<'_>,
        selection: VectorSelection,
    ) -> Result<Arc<Vectors>> {
        if let Some(vectors) = find(&self.vectors, &reference.name, selection) {
            return Ok(vectors);
        }
        let parse = |text: &str, path: &str| Vectors::parse(text, path, selection);
        let all = selection.first.is_none();
        let vectors = self.load_parsed(reference, all, parse, |vectors, _| vectors.bytes_read)?;
        insert(&mut self.vectors, &reference.name, selection, &vectors);
        Ok(vectors)
    }

    /// Loads and parses a file, `all` of it or a prefix; `bytes_used` returns the length that is
    /// used.
    fn load_parsed<T>(
        &mut self,
        reference: &FileReference<'_>,
        all: bool,
        parse: impl FnOnce(&str, &str) -> Result<T>,
        bytes_used: impl FnOnce(&T, &str) -> usize,
    ) -> Result<Arc<T>> {
        let text = self.load_text(reference)?;
        if all {
            check_size(text.len()).map_err(|message| reference.error(message))?;
        }
        let parsed = parse(&text, &self.path(&reference.name))?;
        let used = bytes_used(&parsed, &text);
        self.mark_used(reference, used)?;
        self.parsed += used;
        if self.parsed > MAX_PARSED {
            let message = "too many functions read large files with different arguments";
            return Err(reference.error(message.to_owned()));
        }
        Ok(Arc::new(parsed))
    }

    fn load_text(&mut self, reference: &FileReference<'_>) -> Result<Arc<str>> {
        let name = &reference.name;
        if let Some(file) = self.files.iter().find(|file| file.name == *name) {
            return Ok(file.text.clone());
        }
        if self.files.len() == MAX_FILES {
            let message = format!("more than {MAX_FILES} files in a template");
            return Err(reference.error(message));
        }
        let text: Arc<str> = match (self.load)(name) {
            Ok(text) => text.into(),
            Err(error) => {
                let reason = match &error {
                    Error::Io { source, .. } => source.to_string(),
                    other => other.to_string(),
                };
                let path = self.path(name);
                return Err(reference.error(format!("cannot read '{path}': {reason}")));
            }
        };
        self.files.push(ResourceFile {
            name: name.clone(),
            text: text.clone(),
            used: 0,
        });
        Ok(text)
    }

    /// Records that the first `bytes` of a file are used, and checks the total size.
    fn mark_used(&mut self, reference: &FileReference<'_>, bytes: usize) -> Result<()> {
        let files = self.files.iter_mut();
        for file in files.filter(|file| file.name == reference.name) {
            file.used = file.used.max(bytes);
        }
        check_size(self.files.iter().map(|file| file.used).sum())
            .map_err(|message| reference.error(message))
    }

    fn path(&self, name: &str) -> String {
        self.directory.join(name).display().to_string()
    }
}

/// Checks that a model can store this many bytes of files.
fn check_size(bytes: usize) -> Result<(), String> {
    if bytes <= MAX_BYTES {
        return Ok(());
    }
    Err(format!(
        "with this file, the template adds {bytes} bytes or more to the model; at most \
         {MAX_BYTES} are allowed (vector(\"…\", first(N)) reads only the first N words)"
    ))
}

/// Returns the file `name` as parsed with the same options.
fn find<O: Copy + PartialEq, T>(
    parsed: &[(String, O, Arc<T>)],
    name: &str,
    options: O,
) -> Option<Arc<T>> {
    let found = parsed.iter().find(|(n, o, _)| n == name && *o == options);
    found.map(|(_, _, parsed)| parsed.clone())
}

fn insert<O, T>(parsed: &mut Vec<(String, O, Arc<T>)>, name: &str, options: O, value: &Arc<T>) {
    parsed.push((name.to_owned(), options, Arc::clone(value)));
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
}
