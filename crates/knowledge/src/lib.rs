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
mod part;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use cluster::{Clusters, InternedText};
use dropchain::corpus::{Format, ReadOptions, Reader, Supervision};
use dropchain::kernel::input_file::{TextFile, read_text, read_text_prefix};
use dropchain::kernel::memory::input_over_limit;
use dropchain::sentence::SourceFile;
use dropchain::template::{ResourceKind, Template, cluster_lines, phrase_lines};
use dropchain::{Error, Place, Result};
pub use part::{KnowledgeKind, KnowledgePart};

/// Maximum number of bytes of a file, decompressed; a template holds fewer. Of longer files of
/// vectors, the first words are used.
const MAX_BYTES: usize = (192 << 20) + (1 << 20);

/// Memory for a byte of short words of clusters, and of phrases (verbatim and in lower case).
const CLUSTERS_IN_MEMORY: u64 = 10;
const PHRASES_IN_MEMORY: u64 = 50;

/// The files that the user has.
#[derive(Clone, Debug, Default)]
pub struct KnowledgeFiles {
    /// Text to learn Brown clusters from, all of it together; or finished cluster files of any
    /// [`ResourceKind`], each by itself.
    pub clusters: Vec<PathBuf>,
    /// Word vectors in the formats of word2vec and GloVe.
    pub vectors: Vec<PathBuf>,
    /// Lists of names of any [`ResourceKind`].
    pub gazetteers: Vec<PathBuf>,
}

impl KnowledgeFiles {
    /// Returns all files.
    pub fn iter(&self) -> impl Iterator<Item = &Path> {
        self.clusters.iter().chain(&self.vectors).chain(&self.gazetteers).map(PathBuf::as_path)
    }
}

/// How files become lines of a template.
#[derive(Clone, Debug)]
pub struct KnowledgeOptions {
    /// Number of clusters to learn from text, 2 to 10,000.
    pub clusters: usize,
    /// Number of words to read from the beginning of each file of vectors.
    pub vectors: usize,
    /// How to read the text that clusters are learned from. Without a format, `.txt` is raw text.
    pub read: ReadOptions,
}

impl Default for KnowledgeOptions {
    fn default() -> Self {
        Self { clusters: 1000, vectors: 50_000, read: ReadOptions::default() }
    }
}

/// Files that have been read, and the lines of a template that use them.
#[derive(Clone, Debug, Default)]
pub struct Knowledge {
    /// What was read.
    pub parts: Vec<KnowledgePart>,
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
            knowledge.parts.push(learn_clusters(&texts, name, options, progress)?);
        }
        let finished = finished.into_iter().map(|f| (KnowledgeKind::Clusters, f));
        let vectors = files.vectors.iter().map(|f| (KnowledgeKind::Vectors, f.as_path()));
        let gazetteers = files.gazetteers.iter().map(|f| (KnowledgeKind::Gazetteer, f.as_path()));
        for (kind, file) in finished.chain(vectors).chain(gazetteers) {
            let name = knowledge.name(file);
            knowledge.parts.push(read_part(kind, name, file, options)?);
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
        let is_taken = |part: &&KnowledgePart| template.file_names().any(|name| name == part.name);
        if let Some(part) = self.parts.iter().find(is_taken) {
            return Err(Error::parameter(format!(
                "the template reads a file '{}' already; expected {} of another name, or none",
                part.name,
                part.kind.description()
            )));
        }
        let lines: String = self.parts.iter().map(KnowledgePart::lines).collect();
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
    let mut note = String::new();
    // A word takes more in memory than in the file.
    let (text, source, per_byte) = match kind {
        KnowledgeKind::Vectors => {
            let TextFile { text, source } = read_text_prefix(file, MAX_BYTES, "a text file")?;
            (text, source, 0)
        }
        KnowledgeKind::Clusters => {
            let TextFile { text, source } = read_text(file, MAX_BYTES, "a file of clusters")?;
            (cluster_lines(&text, &source)?, source, CLUSTERS_IN_MEMORY)
        }
        KnowledgeKind::Gazetteer => {
            let TextFile { text, source } = read_text(file, MAX_BYTES, "a list of phrases")?;
            note = ResourceKind::of(&text).note();
            (phrase_lines(text, &source)?, source, PHRASES_IN_MEMORY)
        }
    };
    let needed = per_byte * text.len() as u64;
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

/// Learns clusters from the text of all files together.
///
/// # Errors
///
/// A file cannot be read or holds pre-extracted attributes; there are too few words, or too little
/// memory.
fn learn_clusters(
    files: &[&Path],
    name: String,
    options: &KnowledgeOptions,
    progress: &mut dyn FnMut(String),
) -> Result<KnowledgePart> {
    let (text, sources) = read_cluster_text(files, &options.read, progress)?;
    let (tokens, words) = (text.tokens(), text.words(1));
    let (held, needed) = (text.memory(), text.memory_to_cluster(options.clusters));
    options.read.limits.memory.check(needed as u64, held as u64).map_err(|over| {
        Error::parameter(format!(
            "learning clusters: {over}; expected fewer clusters, less text or a larger limit"
        ))
    })?;
    let learned = Clusters::learn(text, options.clusters, 1, &mut in_tenths(progress))?;
    let text = cluster_lines(&learned.text(), &name)?;
    Ok(KnowledgePart {
        clusters: Some(learned.count),
        words: Some(words),
        tokens: Some(tokens),
        ..KnowledgePart::new(KnowledgeKind::Clusters, name, sources, text, 0)
    })
}

/// Returns an observer of [`Clusters::learn`] that reports progress in steps of 10 %.
#[doc(hidden)]
pub fn in_tenths(mut progress: impl FnMut(String)) -> impl FnMut(usize, usize) {
    let mut reported = 0;
    move |done, total| {
        let tenths = 10 * done / total.max(1);
        if tenths > reported {
            reported = tenths;
            progress(format!("clustered {done} of {total} words"));
        }
    }
}

/// Streams the sentences of all files, and returns their words and the files that were read. Their
/// format is guessed unless the options have one.
///
/// # Errors
///
/// A file cannot be read or holds pre-extracted attributes; the text takes more memory than the
/// options allow.
#[doc(hidden)]
pub fn read_cluster_text<P: AsRef<Path>>(
    files: &[P],
    options: &ReadOptions,
    progress: &mut dyn FnMut(String),
) -> Result<(InternedText, Vec<SourceFile>)> {
    let (mut text, mut sources) = (InternedText::default(), Vec::new());
    let limit = options.limits.memory.bytes(0);
    for file in files {
        let name = file.as_ref().to_string_lossy();
        progress(format!("reading {name}"));
        let format = options.format.unwrap_or_else(|| Format::guess_unlabeled(&name));
        let options = ReadOptions {
            format: Some(format),
            unlabeled: true,
            supervision: Supervision { weights: false, ..Supervision::default() },
            ..options.clone()
        };
        for sentence in Reader::open(&[file.as_ref().as_os_str()], &options)? {
            let sentence = sentence?;
            if sources.last() != Some(sentence.file()) {
                sources.push(sentence.file().clone());
            }
            if !sentence.layout.document_start {
                let words = sentence.words().filter(|_| sentence.attributes.is_none());
                text.add(words.ok_or_else(|| {
                    let message = "found pre-extracted attributes; expected words (raw text, \
                                   CoNLL, CoNLL-U or JSON lines)";
                    Error::input(sentence.place(0), message)
                })?)?;
            }
            if text.memory() as u64 > limit {
                let what = "the text up to here needs";
                let place = sentence.place(0);
                return Err(input_over_limit(place, what, limit, "less text"));
            }
        }
    }
    Ok((text, sources))
}
