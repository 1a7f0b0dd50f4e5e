//! Files that templates refer to, each loaded once and stored with the template.

use std::path::Path;
use std::sync::Arc;

use super::clusters::Clusters;
use super::lexer::LineLocation;
use super::lexicon::Lexicon;
use super::vectors::{VectorSelection, Vectors};
use crate::error::{Error, Result};

/// Maximum size of all files of a template, in bytes. They are stored in the header of a model,
/// which is limited to 256 MiB.
const MAX_BYTES: usize = 192 << 20;

/// The files loaded so far, as text and parsed.
pub(super) struct Resources<'a> {
    /// The base of relative file names, for messages.
    directory: &'a Path,
    load: &'a mut dyn FnMut(&str) -> Result<String>,
    files: Vec<ResourceFile>,
    lexica: Vec<(String, bool, Arc<Lexicon>)>,
    clusters: Vec<(String, bool, Arc<Clusters>)>,
    vectors: Vec<(String, VectorSelection, Arc<Vectors>)>,
}

/// The text of a file, of which a prefix may be all that is used.
struct ResourceFile {
    name: String,
    text: Arc<str>,
    used: usize, // bytes
}

impl<'a> Resources<'a> {
    /// Creates an empty set; `load` returns the text of a file.
    pub(super) fn new(
        directory: &'a Path,
        load: &'a mut dyn FnMut(&str) -> Result<String>,
    ) -> Self {
        Self {
            directory,
            load,
            files: Vec::new(),
            lexica: Vec::new(),
            clusters: Vec::new(),
            vectors: Vec::new(),
        }
    }

    /// Returns the names and the used prefixes of all files, in order of first mention.
    pub(super) fn into_files(self) -> Vec<(String, Arc<str>)> {
        let used_prefix = |file: ResourceFile| match file.text.get(..file.used) {
            Some(prefix) if prefix.len() < file.text.len() => (file.name, prefix.into()),
            _ => (file.name, file.text),
        };
        self.files.into_iter().map(used_prefix).collect()
    }

    /// Loads the lexicon in the file `name`, which the template mentions at `column`.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] at the template if the file cannot be read, and in the file if it is
    /// invalid.
    pub(super) fn lexicon(
        &mut self,
        name: &str,
        lower: bool,
        location: LineLocation<'_>,
        column: u64,
    ) -> Result<Arc<Lexicon>> {
        if let Some(lexicon) = find(&self.lexica, name, lower) {
            return Ok(lexicon);
        }
        let text = self.load_file(name, location, column)?;
        let lexicon = Arc::new(Lexicon::parse(&text, &self.path(name), lower)?);
        self.mark_used(name, text.len(), location, column)?;
        self.lexica.push((name.to_owned(), lower, lexicon.clone()));
        Ok(lexicon)
    }

    /// Loads the clusters in the file `name`, like [`Resources::lexicon`].
    pub(super) fn clusters(
        &mut self,
        name: &str,
        lower: bool,
        location: LineLocation<'_>,
        column: u64,
    ) -> Result<Arc<Clusters>> {
        if let Some(clusters) = find(&self.clusters, name, lower) {
            return Ok(clusters);
        }
        let text = self.load_file(name, location, column)?;
        let clusters = Arc::new(Clusters::parse(&text, &self.path(name), lower)?);
        self.mark_used(name, text.len(), location, column)?;
        self.clusters
            .push((name.to_owned(), lower, clusters.clone()));
        Ok(clusters)
    }

    /// Loads the word vectors in the file `name`, like [`Resources::lexicon`].
    pub(super) fn vectors(
        &mut self,
        name: &str,
        selection: VectorSelection,
        location: LineLocation<'_>,
        column: u64,
    ) -> Result<Arc<Vectors>> {
        if let Some(vectors) = find(&self.vectors, name, selection) {
            return Ok(vectors);
        }
        let text = self.load_file(name, location, column)?;
        let vectors = Arc::new(Vectors::parse(&text, &self.path(name), selection)?);
        self.mark_used(name, vectors.bytes_read, location, column)?;
        self.vectors
            .push((name.to_owned(), selection, vectors.clone()));
        Ok(vectors)
    }

    /// Records that the first `bytes` of a file are used, and checks the total size.
    fn mark_used(
        &mut self,
        name: &str,
        bytes: usize,
        location: LineLocation<'_>,
        column: u64,
    ) -> Result<()> {
        for file in self.files.iter_mut().filter(|file| file.name == name) {
            file.used = file.used.max(bytes);
        }
        check_size(self.files.iter().map(|file| file.used).sum())
            .map_err(|message| location.error(column, message))
    }

    fn path(&self, name: &str) -> String {
        self.directory.join(name).display().to_string()
    }

    fn load_file(
        &mut self,
        name: &str,
        location: LineLocation<'_>,
        column: u64,
    ) -> Result<Arc<str>> {
        if let Some(file) = self.files.iter().find(|file| file.name == name) {
            return Ok(file.text.clone());
        }
        let text: Arc<str> = match (self.load)(name) {
            Ok(text) => text.into(),
            Err(error) => {
                let reason = match &error {
                    Error::Io { source, .. } => source.to_string(),
                    other => other.to_string(),
                };
                let path = self.path(name);
                return Err(location.error(column, format!("cannot read '{path}': {reason}")));
            }
        };
        self.files.push(ResourceFile {
            name: name.to_owned(),
            text: text.clone(),
            used: 0,
        });
        Ok(text)
    }
}

/// Checks that a model can store this many bytes of files.
fn check_size(bytes: usize) -> Result<(), String> {
    if bytes <= MAX_BYTES {
        return Ok(());
    }
    Err(format!(
        "with this file, the template adds {bytes} bytes to the model; at most {MAX_BYTES} are \
         allowed (vector(\"…\", first(N)) reads only the first N words)"
    ))
}

/// Returns the parsed file loaded from `name` with the same options.
fn find<O: Copy + PartialEq, T>(
    parsed: &[(String, O, Arc<T>)],
    name: &str,
    options: O,
) -> Option<Arc<T>> {
    let found = parsed.iter().find(|(n, o, _)| n == name && *o == options);
    found.map(|(_, _, parsed)| parsed.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_must_fit_in_a_model() {
        assert_eq!(check_size(MAX_BYTES), Ok(()));
        assert_eq!(
            check_size(MAX_BYTES + 1).unwrap_err(),
            "with this file, the template adds 201326593 bytes to the model; at most 201326592 \
             are allowed (vector(\"…\", first(N)) reads only the first N words)"
        );
    }
}
