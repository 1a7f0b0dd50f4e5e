//! Files that a template names, read once and kept with it.

use std::path::Path;
use std::sync::Arc;

use super::lexer::Spot;
use super::lexicon::{Clusters, Lexicon};
use crate::error::{Error, Result};

/// Files named so far, as text and as what was made of them.
pub(super) struct Resources<'a> {
    /// Where relative names start; for messages only.
    directory: &'a Path,
    load: &'a mut dyn FnMut(&str) -> Result<String>,
    files: Vec<(String, Arc<str>)>,
    lexica: Vec<(String, bool, Arc<Lexicon>)>,
    clusters: Vec<(String, bool, Arc<Clusters>)>,
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
        }
    }

    /// Names and texts of all files, in order of first mention.
    pub(super) fn into_files(self) -> Vec<(String, Arc<str>)> {
        self.files
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
        self.clusters
            .push((name.to_owned(), lower, clusters.clone()));
        Ok(clusters)
    }

    fn path(&self, name: &str) -> String {
        self.directory.join(name).display().to_string()
    }

    fn file(&mut self, name: &str, spot: Spot<'_>, column: u64) -> Result<Arc<str>> {
        if let Some((_, text)) = self.files.iter().find(|(known, _)| known == name) {
            return Ok(text.clone());
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
        self.files.push((name.to_owned(), text.clone()));
        Ok(text)
    }
}

fn find<T>(made: &[(String, bool, Arc<T>)], name: &str, lower: bool) -> Option<Arc<T>> {
    let found = made.iter().find(|(n, l, _)| n == name && *l == lower);
    found.map(|(_, _, thing)| thing.clone())
}
