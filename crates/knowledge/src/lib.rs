//! External resources: word clusters, word vectors and gazetteers, added to any template.
//!
//! [`Knowledge::read`] reads the files, or learns clusters from text, and [`Knowledge::attach`]
//! adds lines to a template that look words up in them. The template stores the contents, so the
//! model needs none of the files. `docs/knowledge.md` is a guide.
//!
//! ```
//! use dropchain::Template;
//! use dropchain_knowledge::{Knowledge, KnowledgeFiles, KnowledgeOptions};
//!
//! # fn main() -> dropchain::Result<()> {
//! # let directory = tempfile::tempdir().unwrap();
//! # let names = directory.path().join("rivers.txt");
//! # std::fs::write(&names, "Rio Grande\nElbe\n").unwrap();
//! let files = KnowledgeFiles { gazetteers: vec![names], ..KnowledgeFiles::default() };
//! let knowledge = Knowledge::read(&files, &KnowledgeOptions::default(), &mut |_| ())?;
//! let template = knowledge.attach(&"word\nword[-1]\n".parse()?)?;
//! assert!(template.source().contains("lexicon(\"rivers.txt\")"));
//! # Ok(())
//! # }
//! ```

pub mod cluster;
mod cluster_text;
mod options;
mod part;
#[cfg(test)]
mod tests;

use std::path::Path;

use cluster_text::learn_clusters;
#[doc(hidden)]
pub use cluster_text::{in_tenths, read_cluster_text};
use dropchain::kernel::input_file::{TextFile, read_text, read_text_prefix};
use dropchain::template::{ResourceKind, Template, cluster_lines, phrase_lines};
use dropchain::{Error, Place, Result};
pub use options::{KnowledgeFiles, KnowledgeOptions};
pub use part::{KnowledgeKind, KnowledgePart};

/// Maximum number of bytes of a file, decompressed; a template holds fewer. Of longer files of
/// vectors, the first words are used.
const MAX_BYTES: usize = (192 << 20) + (1 << 20);

/// Memory for a byte of short words of clusters, and of phrases (verbatim and in lower case).
const CLUSTERS_IN_MEMORY: u64 = 10;
const PHRASES_IN_MEMORY: u64 = 50;

/// Files that have been read, and the lines of a template that use them.
#[derive(Clone, Debug, Default)]
pub struct Knowledge {
    parts: Vec<KnowledgePart>,
}

impl Knowledge {
    /// Reads all files, and learns clusters from those that are text. `progress` is called with
    /// what is being done.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a file cannot be read, and [`Error::Input`] if it is not what it should be;
    /// [`Error::Parameter`] if a number is out of range, or memory does not suffice to learn
    /// clusters.
    pub fn read(
        files: &KnowledgeFiles,
        options: &KnowledgeOptions,
        progress: &mut dyn FnMut(String),
    ) -> Result<Self> {
        if options.vectors == 0 {
            return Err(Error::parameter("0 vectors; expected a number above 0"));
        }
        let mut knowledge = Self::default();
        let (mut finished, mut texts) = (Vec::new(), Vec::new());
        for file in &files.clusters {
            match is_cluster_file(file)? {
                true => finished.push(file.as_path()),
                false => texts.push(file.as_path()),
            }
        }
        if let Some(first) = texts.first() {
            let name = knowledge.name(first);
            let part = learn_clusters(&texts, name, options, progress)?;
            knowledge.parts.push(part);
        }
        let finished = finished.into_iter().map(|f| (KnowledgeKind::Clusters, f));
        let vectors = files.vectors.iter().map(|f| (KnowledgeKind::Vectors, f.as_path()));
        let gazetteers = files.gazetteers.iter().map(|f| (KnowledgeKind::Gazetteer, f.as_path()));
        for (kind, file) in finished.chain(vectors).chain(gazetteers) {
            let name = knowledge.name(file);
            let part = read_part(kind, name, file, options)?;
            knowledge.parts.push(part);
        }
        Ok(knowledge)
    }

    /// Returns the name of a file in the template: without its directory, and numbered if another
    /// file has the same name.
    fn name(&self, file: &Path) -> String {
        let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
        let is_taken = |name: &String| self.parts.iter().any(|part| part.name == *name);
        let numbered = (2..).map(|number| format!("{name}#{number}"));
        [name.clone()].into_iter().chain(numbered).find(|name| !is_taken(name)).unwrap_or(name)
    }

    /// Returns what was read.
    pub fn parts(&self) -> &[KnowledgePart] {
        &self.parts
    }

    /// Adds lines to a template that look words up in the files.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the template has the syntax of CRF++ or Wapiti, or reads a file of
    /// the same name; [`Error::Input`] at the line of a file that is not what it should be.
    pub fn attach(&self, template: &Template) -> Result<Template> {
        if self.parts.is_empty() {
            return Ok(template.clone());
        }
        if template.is_pattern_file() {
            return Err(Error::parameter(
                "clusters, vectors and gazetteers cannot be added to a CRF++ or Wapiti template; \
                 expected one in dropchain's own language",
            ));
        }
        let taken =
            self.parts.iter().find(|part| template.file_names().any(|name| name == part.name));
        if let Some(part) = taken {
            return Err(Error::parameter(format!(
                "the template reads a file '{}' already; expected {} of another name, or none",
                part.name,
                part.kind.description()
            )));
        }
        let mut lines = String::new();
        for part in &self.parts {
            lines.push_str(&part.lines());
        }
        let files = self.parts.iter();
        let files: Vec<(&str, &str)> = files.map(|p| (p.name.as_str(), p.text.as_str())).collect();
        let sources = self.parts.iter().flat_map(|part| part.sources.iter().cloned());
        Ok(template.with_lines(&lines, &files)?.with_sources(sources))
    }
}

/// Reads a file, as it is to be stored.
fn read_part(
    kind: KnowledgeKind,
    name: String,
    file: &Path,
    options: &KnowledgeOptions,
) -> Result<KnowledgePart> {
    let TextFile { text, source } = match kind {
        KnowledgeKind::Vectors => read_text_prefix(file, MAX_BYTES, "a text file")?,
        KnowledgeKind::Clusters => read_text(file, MAX_BYTES, "a file of clusters")?,
        KnowledgeKind::Gazetteer => read_text(file, MAX_BYTES, "a list of phrases")?,
    };
    let (text, note) = match kind {
        KnowledgeKind::Vectors => (text, String::new()),
        KnowledgeKind::Clusters => (cluster_lines(&text, &source)?, String::new()),
        KnowledgeKind::Gazetteer => {
            let note = ResourceKind::of(&text).note();
            (phrase_lines(text, &source)?, note)
        }
    };
    // A word takes more in memory than in the file.
    let needed = match kind {
        KnowledgeKind::Vectors => 0,
        KnowledgeKind::Clusters => CLUSTERS_IN_MEMORY * text.len() as u64,
        KnowledgeKind::Gazetteer => PHRASES_IN_MEMORY * text.len() as u64,
    };
    options.read.limits.memory.check(needed, 0).map_err(|over| {
        Error::input(Place::file(file.to_string_lossy()), format!("{over}; expected fewer words"))
    })?;
    let part = KnowledgePart::new(kind, name, vec![source], text, options.vectors);
    Ok(KnowledgePart { note, ..part })
}

/// Returns whether a file holds clusters, by its beginning.
fn is_cluster_file(file: &Path) -> Result<bool> {
    if file == Path::new("-") {
        return Err(Error::parameter(
            "clusters cannot be learned from standard input here; expected a file",
        ));
    }
    // If it is no text at all, reading it as such will tell.
    let beginning = read_text_prefix(file, 1 << 16, "text or a cluster file");
    Ok(beginning.is_ok_and(|beginning| ResourceKind::of(&beginning.text).has_clusters()))
}
