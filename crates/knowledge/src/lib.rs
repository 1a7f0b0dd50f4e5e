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
use dropchain::kernel::input_file::read_text_prefix;
use dropchain::template::Template;
use dropchain::{Error, Result};
pub use options::{KnowledgeFiles, KnowledgeOptions};
pub use part::{KnowledgeKind, KnowledgePart};

/// Number of bytes of a file to read; a template holds fewer.
const READ_LIMIT: usize = (192 << 20) + (1 << 20);

/// Lines from which a cluster file is recognized.
const INSPECTED_LINES: usize = 20;

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
        let vectors = files.vectors.iter();
        let vectors = vectors.map(|f| (KnowledgeKind::Vectors, f.as_path()));
        let gazetteers = files.gazetteers.iter();
        let gazetteers = gazetteers.map(|f| (KnowledgeKind::Gazetteer, f.as_path()));
        for (kind, file) in finished.chain(vectors).chain(gazetteers) {
            let text = read_text_prefix(file, READ_LIMIT, "a text file")?;
            let name = knowledge.name(file);
            let part = KnowledgePart::new(kind, name, &[file], text, options.vectors);
            knowledge.parts.push(part);
        }
        Ok(knowledge)
    }

    /// Returns the name of a file in the template: without its directory, and numbered if another
    /// file has the same name.
    fn name(&self, file: &Path) -> String {
        let name = file.file_name().unwrap_or(file.as_os_str());
        let name = name.to_string_lossy().into_owned();
        let is_taken = |name: &String| self.parts.iter().any(|part| part.name == *name);
        let numbered = (2..).map(|number| format!("{name}#{number}"));
        let mut names = [name.clone()].into_iter().chain(numbered);
        names.find(|name| !is_taken(name)).unwrap_or(name)
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
        template.with_lines(&lines, &files)
    }
}

/// Returns whether a file holds clusters: its first lines have a path of bits, a tab, a word, and
/// perhaps another tab and a count.
fn is_cluster_file(file: &Path) -> Result<bool> {
    if file == Path::new("-") {
        return Err(Error::parameter(
            "clusters cannot be learned from standard input here; expected a file",
        ));
    }
    let Ok(beginning) = read_text_prefix(file, 1 << 16, "text or a cluster file") else {
        // Compressed, or not readable at all, which reading it as text will tell.
        return Ok(false);
    };
    let complete = beginning.rsplit_once('\n').map_or(&*beginning, |(l, _)| l);
    let mut lines =
        complete.lines().filter(|line| !line.trim().is_empty()).take(INSPECTED_LINES).peekable();
    Ok(lines.peek().is_some() && lines.all(is_cluster_line))
}

fn is_cluster_line(line: &str) -> bool {
    let mut fields = line.split('\t');
    let path = fields.next().unwrap_or_default();
    let is_path = !path.is_empty() && path.bytes().all(|bit| matches!(bit, b'0' | b'1'));
    let has_word = fields.next().is_some_and(|word| !word.is_empty());
    let is_count = |field: &str| field.trim().parse::<u64>().is_ok();
    is_path && has_word && fields.next().is_none_or(is_count) && fields.next().is_none()
}
