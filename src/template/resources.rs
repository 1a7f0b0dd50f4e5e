//! Files that a template names, read once and kept with it.

use std::path::Path;
use std::sync::Arc;

use super::lexer::Spot;
use super::lexicon::{Clusters, Lexicon};
use super::vectors::{Extent, Vectors};
use crate::error::{Error, Result};

/// Most bytes of files that a template brings into a model, whose header holds 256 MiB.
const MAX_BYTES: usize = 192 << 20;

/// Files named so far, as text and as what was made of them.
pub(super) struct Resources<'a> {
    /// Where relative names start; for messages only.
    directory: &'a Path,
    load: &'a mut dyn FnMut(&str) -> Result<String>,
    files: Vec<File>,
    lexica: Vec<(String, bool, Arc<Lexicon>)>,
    clusters: Vec<(String, bool, Arc<Clusters>)>,
    vectors: Vec<(String, Extent, Arc<Vectors>)>,
}

/// A file, of which only the beginning may be needed.
struct File {
    name: String,
    text: Arc<str>,
    needed: usize,
}

impl<'a> Resources<'a> {
    /// No files yet; `load` gives the text of a file.
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

    /// Names and texts of all files, as far as they are needed, in order of first mention.
    pub(super) fn into_files(self) -> Vec<(String, Arc<str>)> {
        let kept = |file: File| match file.text.get(..file.needed) {
            Some(beginning) if beginning.len() < file.text.len() => (file.name, beginning.into()),
            _ => (file.name, file.text),
        };
        self.files.into_iter().map(kept).collect()
    }

    /// The lexicon in the file `name`, which the template names at `column`.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] at the template where the file cannot be read, in the file where it is
    /// faulty.
    pub(super) fn lexicon(
        &mut self,
        name: &str,
        lower: bool,
        spot: Spot<'_>,
        column: u64,
    ) -> Result<Arc<Lexicon>> {
        if let Some(lexicon) = find(&self.lexica, name, lower) {
            return Ok(lexicon);
        }
        let text = self.file(name, spot, column)?;
        let lexicon = Arc::new(Lexicon::parse(&text, &self.path(name), lower)?);
        self.need(name, text.len(), spot, column)?;
        self.lexica.push((name.to_owned(), lower, lexicon.clone()));
        Ok(lexicon)
    }

    /// The clusters in the file `name`, as [`Resources::lexicon`].
    pub(super) fn clusters(
        &mut self,
        name: &str,
        lower: bool,
        spot: Spot<'_>,
        column: u64,
    ) -> Result<Arc<Clusters>> {
        if let Some(clusters) = find(&self.clusters, name, lower) {
            return Ok(clusters);
        }
        let text = self.file(name, spot, column)?;
        let clusters = Arc::new(Clusters::parse(&text, &self.path(name), lower)?);
        self.need(name, text.len(), spot, column)?;
        self.clusters
            .push((name.to_owned(), lower, clusters.clone()));
        Ok(clusters)
    }

    /// The word vectors in the file `name`, as [`Resources::lexicon`].
    pub(super) fn vectors(
        &mut self,
        name: &str,
        extent: Extent,
        spot: Spot<'_>,
        column: u64,
    ) -> Result<Arc<Vectors>> {
        let known = |(n, e, _): &&(String, Extent, Arc<Vectors>)| n == name && *e == extent;
        if let Some((_, _, vectors)) = self.vectors.iter().find(known) {
            return Ok(vectors.clone());
        }
        let text = self.file(name, spot, column)?;
        let vectors = Arc::new(Vectors::parse(&text, &self.path(name), extent)?);
        self.need(name, vectors.read, spot, column)?;
        self.vectors
            .push((name.to_owned(), extent, vectors.clone()));
        Ok(vectors)
    }

    /// Notes that the first `bytes` of a file go into the model.
    fn need(&mut self, name: &str, bytes: usize, spot: Spot<'_>, column: u64) -> Result<()> {
        for file in self.files.iter_mut().filter(|file| file.name == name) {
            file.needed = file.needed.max(bytes);
        }
        check_size(self.files.iter().map(|file| file.needed).sum())
            .map_err(|message| spot.fault(column, message))
    }

    fn path(&self, name: &str) -> String {
        self.directory.join(name).display().to_string()
    }

    fn file(&mut self, name: &str, spot: Spot<'_>, column: u64) -> Result<Arc<str>> {
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
                return Err(spot.fault(column, format!("cannot read '{path}': {reason}")));
            }
        };
        self.files.push(File {
            name: name.to_owned(),
            text: text.clone(),
            needed: 0,
        });
        Ok(text)
    }
}

/// Whether a model can carry files of so many bytes.
fn check_size(bytes: usize) -> Result<(), String> {
    if bytes <= MAX_BYTES {
        return Ok(());
    }
    Err(format!(
        "with this file the template brings {bytes} bytes into the model; at most {MAX_BYTES} are \
         allowed (vector(\"…\", first(N)) takes the first N words alone)"
    ))
}

fn find<T>(made: &[(String, bool, Arc<T>)], name: &str, lower: bool) -> Option<Arc<T>> {
    let found = made.iter().find(|(n, l, _)| n == name && *l == lower);
    found.map(|(_, _, thing)| thing.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_must_fit_a_model() {
        assert_eq!(check_size(MAX_BYTES), Ok(()));
        assert_eq!(
            check_size(MAX_BYTES + 1).unwrap_err(),
            "with this file the template brings 201326593 bytes into the model; at most 201326592 are \
             allowed (vector(\"…\", first(N)) takes the first N words alone)"
        );
    }
}
